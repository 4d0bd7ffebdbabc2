"""Data: generated sets, built-in sets, local files and hub names as rows for TRL. Torch-free."""

from backend.data.sources import DataSplit, check_args, kind, load, rows, warmup_rows

__all__ = ["DataSplit", "check_args", "kind", "load", "rows", "warmup_rows"]
