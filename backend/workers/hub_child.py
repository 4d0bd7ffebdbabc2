"""Rows of a hub set as JSON lines on standard output: `python -m backend.workers.hub_child NAME ARGUMENTS`.

ARGUMENTS: JSON with subset, split, revision. The last line is !{"end": true} or !{"error": {"en", "ko"}}.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from backend.data.parquet_child import plain, say
from backend.errors import StudioError


def main(name: str, args: dict[str, Any]) -> None:
    from backend.workers import hub_rows

    try:
        for record in hub_rows.records(name, args):
            say(plain(record, top=True))
        say({"end": True}, "!")
    except StudioError as error:
        say({"error": error.text.to_json()}, "!")


if __name__ == "__main__":
    try:
        main(sys.argv[1], json.loads(sys.argv[2]))
        sys.stdout.flush()
    except BrokenPipeError:
        os._exit(0)  # whoever asked has seen enough
