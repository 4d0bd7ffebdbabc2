"""Data: generated sets, built-in sets, stored sets, local files and hub names as rows for TRL. Torch-free."""

from backend.data.peek import FileLook, columns
from backend.data.pinning import pin
from backend.data.sources import DataSplit, check_args, kind, load, look, rows, warmup_rows
from backend.data.stored import meta_file, names

__all__ = [
    "DataSplit",
    "FileLook",
    "check_args",
    "columns",
    "kind",
    "load",
    "look",
    "meta_file",
    "names",
    "pin",
    "rows",
    "warmup_rows",
]
