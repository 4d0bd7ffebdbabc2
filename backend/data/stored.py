"""Rows of stored sets for a run: the state that its name means now, or the one that the run was pinned to."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from backend.data import arguments, split
from backend.data.peek import FileLook
from backend.data.prompts import as_prompt, prompt_id
from backend.data.store import BUILT_IN, Store
from backend.errors import NotFound, Refused
from backend.text import Text

ARGUMENTS = ("chat", "system_prompt")


def is_stored(dataset: str, home: Path | None, sha256: str | None = None) -> bool:
    """Whether a configuration's dataset is a stored set: by its name, or by a pinned state whose name has gone."""
    if home is None or "/" in dataset or "\\" in dataset:
        return False
    store = Store(home)
    return store.has(dataset) or (sha256 is not None and _there(store, sha256))


def meta_file(dataset: str, home: Path | None) -> Path | None:
    """The file that changes when the stored set of this name does; None where there is none."""
    return Store(home).meta_file(dataset) if home is not None and dataset not in BUILT_IN else None


def names(home: Path | None, kind: str = "prompts") -> list[str]:
    """The stored sets of a kind, the newest first."""
    return [meta["name"] for meta in Store(home).metas() if meta["kind"] == kind] if home is not None else []


def _there(store: Store, sha256: str) -> bool:
    try:
        return store.path(sha256).is_file()
    except NotFound:
        return False


def state(dataset: str, home: Path, sha256: str | None, kind: str = "prompts") -> tuple[str, dict[str, Any] | None]:
    """(hash, meta) of what a run uses; no meta for a pinned state that the name does not mean any more.

    Refused for a set of the other kind.
    """
    store = Store(home)
    meta = store.meta(dataset) if store.has(dataset) else None
    if sha256 is not None and (meta is None or meta["sha256"] != sha256):
        if meta is not None and sha256 not in meta.get("states", []):
            raise Refused(
                Text(
                    f"dataset_sha256: {sha256[:12]}… was never the state of {dataset!r}; empty means the newest",
                    f"dataset_sha256: {sha256[:12]}…은(는) {dataset!r}의 상태가 아닙니다. 비워 두면 최신을 씁니다",
                )
            )
        store.path(sha256)
        return sha256, None
    if meta is None:
        meta = store.meta(dataset)
    if meta["kind"] != kind:
        if kind == "prompts":
            raise Refused(
                Text(
                    f"dataset: {dataset!r} holds rows for the warm-up; give it as sft_dataset",
                    f"dataset: {dataset!r}은(는) 워밍업 데이터입니다. sft_dataset에 지정하세요",
                )
            )
        raise Refused(
            Text(
                f"sft_dataset: {dataset!r} holds prompts without answers; import it with kind sft",
                f"sft_dataset: {dataset!r}에는 답변이 없습니다. sft 종류로 가져오세요",
            )
        )
    return meta["sha256"], meta


def check(args: Mapping[str, Any]) -> None:
    """Refused for an argument that a stored set does not take."""
    arguments.known(args, ARGUMENTS)
    arguments.flag(args, "chat", False)
    arguments.text(args, "system_prompt")


def rows(
    store: Store, sha256: str, args: Mapping[str, Any], places: Iterable[int] | None = None
) -> list[dict[str, Any]]:
    """The rows of an object (those at `places`, counted from 0), with the same columns each."""
    check(args)
    wanted = None if places is None else set(places)
    found = [_asked(row, args) for row in store.read(sha256, wanted)]
    columns = dict.fromkeys(name for row in found for name in row)
    return [{**dict.fromkeys(columns), **row} for row in found]


def _asked(row: dict[str, Any], args: Mapping[str, Any]) -> dict[str, Any]:
    """With `chat` and `system_prompt` as an imported file has them."""
    prompt, system = row["prompt"], args.get("system_prompt")
    if isinstance(prompt, str):
        if not (args.get("chat") or system):
            return row
        prompt = as_prompt(prompt, system=system)
    elif system and prompt[0]["role"] != "system":
        prompt = [{"role": "system", "content": system}, *prompt]
    else:
        return row
    return {**row, "prompt": prompt, "prompt_id": prompt_id(prompt)}


def training_places(store: Store, sha256: str, size: int, seed: int) -> list[int]:
    """Which rows `split.hold_out` would leave for training, without reading them."""
    keys = store.keys(sha256)
    held = split.draw(keys, size, seed)
    return [place for place, key in enumerate(keys) if key not in held]


def look(dataset: str, home: Path, sha256: str | None) -> FileLook:
    """What a run would find."""
    used, meta = state(dataset, home, sha256)
    return _look(home, used, tuple(meta["columns"]) if meta else None, frozenset(meta["filled"]) if meta else None)


@lru_cache(maxsize=16)
def _look(home: Path, sha256: str, columns: tuple[str, ...] | None, filled: frozenset[str] | None) -> FileLook:
    store = Store(home)
    if columns is None or filled is None:
        columns = tuple(next(store.read(sha256), {}))
        filled = frozenset(columns)
    return FileLook(tuple(store.keys(sha256)), columns, filled)


def some(found: list[dict[str, Any]], most: int, seed: int) -> list[dict[str, Any]]:
    """At most `most` of the rows, drawn by `seed`, in their order."""
    if len(found) <= most:
        return found
    chosen = sorted(random.Random(f"some {seed}").sample(range(len(found)), most))
    return [found[place] for place in chosen]
