"""Settings from the command line, and `check`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from backend import config
from backend.cli.output import Output, duration
from backend.processes import devices
from backend.settings import Settings


def values_of(args: argparse.Namespace) -> dict[str, Any]:
    """--preset, then --config, then --set: the later wins."""
    preset = config.load_preset(args.preset) if args.preset else None
    read = config.load_file(Path(args.config)) if args.config else None
    return config.merge(preset, read, config.parse_sets(args.set))


def check(args: argparse.Namespace, out: Output) -> int:
    """Exit code 2 when a rule is broken; the answer is the same document either way."""
    settings = Settings.from_environment(args.home)
    checked = config.check(values_of(args), home=settings.home, device=devices.facts(settings))
    document = checked.to_json("en")
    out.answer(document, list(_lines(document)))
    return 0 if checked.ok else 2


def _lines(document: Mapping[str, Any]) -> Any:
    for error in document["errors"]:
        would_do = f" (would do: {', '.join(map(str, error['suggest']))})" if error["suggest"] else ""
        yield f"error: {error['field']}={error['value']!r}: {error['rule']}{would_do}"
    for note in document["notes"]:
        where = f"{note['field']}: " if note.get("field") else ""
        yield f"{note['kind']}: {where}{note['text']}"
    for name, value in (document["plan"] or {}).items():
        if name == "seconds":
            yield f"time: about {duration(value)}"
        elif isinstance(value, int | float | str):
            yield f"{name}: {value}"
    if document["ok"]:
        yield "ok"
