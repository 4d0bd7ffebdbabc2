"""The sandbox's SQL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def main(payload: Mapping[str, Any]) -> int:
    return 1
