"""Rows of a dataset on the hub, read through `datasets`, which only workers import."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from backend.data.parquet_child import plain
from backend.errors import StudioError
from backend.text import Text


def records(name: str, args: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The rows of `name` as JSON values. `args`: subset, split ("train"), revision. Null keys inside a row are left
    out, as of every columnar file.

    StudioError, in words, where the set cannot be had.
    """
    from datasets import load_dataset

    split = args.get("split") or "train"
    try:
        loaded = load_dataset(name, args.get("subset"), split=split, revision=args.get("revision"))
    except Exception as error:  # the hub, the network and the set's own files each fail in ways of their own
        said = str(error).strip().splitlines()[:1]
        raise StudioError(
            Text(
                en=f"dataset: could not load {name} (split {split}) from the hub: {' '.join(said)}",
                ko=f"dataset: 허브에서 {name}(split {split})을 불러오지 못했습니다: {' '.join(said)}",
            )
        ) from error
    for record in loaded:
        yield plain(dict(record), top=True)
