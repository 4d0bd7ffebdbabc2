"""A Parquet file as JSON lines on standard output, read in a process of its own whose memory is limited.

`python -m backend.data.parquet_child FILE MEMORY_MB [FILE ...]`. A line that begins with "!" is none of the rows: the
first of a file, {"rows", "bytes", "names", "written": the names as they stand in the file}, and its last, {"end": true}
or {"error": words}. Keys inside a row that are null are left out: a columnar file gives every struct all keys of all
rows.
"""

from __future__ import annotations

import base64
import json
import math
import os
import stat
import sys
from pathlib import Path
from typing import Any

from backend.killable.child import die_with_parent

BATCH = 64  # rows decoded at a time: a column of dictionary codes may stand for far more than the footer says


def plain(value: Any, top: bool = False) -> Any:
    """As JSON can hold it. Times and decimals as text; bytes as text where they are UTF-8; NaN as missing."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None if math.isnan(value) else str(value)
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items() if top or v is not None}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            return base64.b64encode(value).decode("ascii")
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def main(paths: list[Path], memory_mb: int) -> int:
    if stat.S_ISFIFO(os.fstat(0).st_mode):
        die_with_parent(0)  # whoever asked holds the other end; a file on a disk that is gone blocks for ever
    limit_memory(memory_mb)
    for path in paths:
        one(path)
    return 0


def one(path: Path) -> None:
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"
    os.environ["OMP_NUM_THREADS"] = "1"
    try:
        import pyarrow
        from pyarrow import parquet

        pyarrow.set_cpu_count(1)
        pyarrow.set_io_thread_count(1)
        with parquet.ParquetFile(path) as file:
            meta = file.metadata
            sizes = [meta.row_group(n).total_byte_size for n in range(meta.num_row_groups)]
            written = file.schema_arrow.names
            names = different(written)
            say({"rows": meta.num_rows, "bytes": sum(sizes), "names": names, "written": written}, "!")
            for batch in file.iter_batches(batch_size=BATCH, use_threads=False):
                for values in batch.rename_columns(names).to_pylist():
                    say(plain(values, top=True))
        say({"end": True}, "!")
    except MemoryError:
        say({"error": "memory"}, "!")
    except BrokenPipeError:
        os._exit(0)  # whoever asked has seen enough
    except Exception as error:  # what a broken file raises is pyarrow's business: ArrowInvalid, OSError, KeyError, ...
        words = str(error).splitlines()[0][:300] if str(error) else type(error).__name__
        say({"error": "memory" if "malloc" in words or "realloc" in words else words}, "!")


def different(written: list[str]) -> list[str]:
    """The names of the columns, each one once: a later one of the same name gets a number."""
    names: dict[str, None] = {}
    there = set(written)
    for name in written:
        new, number = name, 2
        while new in names or (new != name and new in there):
            new, number = f"{name}_{number}", number + 1
        names[new] = None
    return list(names)


def limit_memory(memory_mb: int) -> None:
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    try:
        resource.setrlimit(resource.RLIMIT_AS, (memory_mb << 20, memory_mb << 20))
    except (OSError, ValueError):  # macOS refuses some limits
        return


def say(value: Any, mark: str = "") -> None:
    sys.stdout.write(mark + json.dumps(value, allow_nan=False) + "\n")


if __name__ == "__main__":
    code = main([Path(name) for name in (sys.argv[1], *sys.argv[3:])], int(sys.argv[2]))
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os._exit(0)
    sys.exit(code)
