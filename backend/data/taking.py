"""A file, an upload or a hub set: looked at, or kept as a stored set."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from backend.data import files, hub
from backend.data.faults import Table
from backend.data.mapping import FileMapping, parse
from backend.data.messages import empty
from backend.data.scan import Scan, scan
from backend.data.sources import HUB_NAME
from backend.data.store import Store, in_words
from backend.data.uploads import ID, Uploads
from backend.errors import NotFound, Refused
from backend.paths import file_named, folder_named
from backend.text import Text

Take = Callable[[dict[str, Any], int], None]


def check(source: str | Path, mapping: Mapping[str, Any] | None, uploads: Uploads) -> dict[str, Any]:
    """The report; see service.py."""
    table, meant = _open(source, mapping, uploads)
    return {**scan(table, meant).to_json(), "source": table.name}


def store(
    store: Store,
    source: str | Path,
    name: str,
    mapping: Mapping[str, Any] | None,
    uploads: Uploads,
    *,
    replace: bool,
    needed: Collection[str],
) -> dict[str, Any]:
    """The meta of what was kept; Refused with `.report` where the report is not ok."""
    store.free(name)
    table, meant = _open(source, mapping, uploads)
    with in_words():
        return _store(store, table, meant, name, replace=replace, needed=needed)


def _store(
    store: Store, table: Table, meant: FileMapping, name: str, *, replace: bool, needed: Collection[str]
) -> dict[str, Any]:
    written = store.write()
    filled: dict[str, None] = {}

    def take(row: dict[str, Any], key: int) -> None:
        written.add(row, key)
        for column, value in row.items():
            if column not in filled and not empty(value):
                filled[column] = None

    try:
        found = scan(table, meant, take)
        if not found.ok:
            raise refusal(found)
        report = found.to_json()
        meta = {
            "kind": meant.kind,
            "different": found.counts["usable"] - found.counts["duplicate_prompts"],
            "columns": list(found.out_columns),
            "filled": [column for column in found.out_columns if column in filled],
            "source": table.name,
            "encoding": table.encoding,
            "mapping": meant.to_json(),
            "counts": report["counts"],
            "notes": report["notes"],
        }
        return store.keep(name, written, meta, replace=replace, needed=needed)
    finally:
        written.discard()


def _open(source: str | Path, values: Mapping[str, Any] | None, uploads: Uploads) -> tuple[Table, FileMapping]:
    own = {key: value for key, value in (values or {}).items() if key in hub.ARGUMENTS}
    mapping = parse({key: value for key, value in (values or {}).items() if key not in hub.ARGUMENTS})
    words = str(source)
    if ID.fullmatch(words):
        upload = uploads.get(words)
        return files.open_table(upload.path, mapping, upload.name), mapping
    path = file_named(words)
    if path is not None:
        return files.open_table(path, mapping), mapping
    plain_hub = HUB_NAME.fullmatch(words) and Path(words).suffix.lower() not in files.SUFFIXES
    if plain_hub and folder_named(words) is None:
        return hub.table(words, own), mapping
    raise NotFound(
        Text(
            f"there is no file {words}; give a path, or the name of a hub set (org/name)",
            f"{words} 파일이 없습니다. 파일 경로나 허브 데이터셋 이름(org/name)을 지정하세요",
        )
    )


def refusal(found: Scan) -> Refused:
    """Why nothing was kept: the first problems in words."""
    errors = [fault for level, fault in found.problems if level == "error"]
    errors = errors or [fault for level, fault in found.problems if level == "warn"]
    shown = [fault.refusal(found.table.name).text for fault in errors[:5]]
    more = found.counts["bad_rows"] - len(shown)
    if more > 0:
        rows = "1 more row" if more == 1 else f"{more} more rows"
        shown.append(Text(f"and {rows} that cannot be used", f"그 밖에 쓸 수 없는 행 {more}개"))
    if not shown:
        shown.append(Text("no row can be used", "쓸 수 있는 행이 없습니다"))
    error = Refused(Text("\n".join(text.en for text in shown), "\n".join(text.ko for text in shown)))
    error.report = found.to_json()  # type: ignore[attr-defined]
    return error
