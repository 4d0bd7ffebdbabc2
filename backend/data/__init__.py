"""Data: generated sets, built-in sets, local files and hub names as rows for TRL. Torch-free."""

from backend.data.peek import FileLook, columns, look
from backend.data.sources import DataSplit, check_args, kind, load, rows, warmup_rows

__all__ = ["DataSplit", "FileLook", "check_args", "columns", "kind", "load", "look", "rows", "warmup_rows"]
