"""Values from YAML as JSON can carry them."""

from __future__ import annotations

import re
from typing import Any

EXPONENT = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)[eE][+-]?\d+")  # YAML 1.1 takes 2e-5, without a point, for text


def plain(value: Any) -> Any:
    """Dates and bytes, which YAML knows, become text; numbers with an exponent, which it does not, become numbers."""
    if isinstance(value, str) and EXPONENT.fullmatch(value):
        return float(value)
    if isinstance(value, dict):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(each) for each in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
