"""Rows to imitate before GRPO: from a stored set of the kind "sft", or from a file with answers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from backend.data import arguments, files, stored
from backend.data.mapping import ARGUMENTS, parse
from backend.data.store import Store
from backend.errors import NotFound, Refused
from backend.text import Text

PIN = "sha256"


def rows(dataset: str, args: Mapping[str, Any], home: Path | None, most: int, seed: int) -> list[dict[str, Any]]:
    """(prompt, completion) rows, at most `most` of them, drawn by `seed`. NotFound, Refused in words.

    `args` (sft_args): for a stored set `sha256`, the state that a run was pinned to; for a file how its columns are
    meant, as in dataset_args.
    """
    pinned = args.get(PIN)
    if home is not None and stored.is_stored(dataset, home, pinned):
        arguments.known(args, (PIN,), "sft_args")
        sha256, _ = stored.state(dataset, home, pinned, "sft")
        found = stored.rows(Store(home), sha256, {})
    elif Path(dataset).suffix.lower() in files.SUFFIXES:
        arguments.known(args, ARGUMENTS, "sft_args")
        mapping = parse(args, "sft_args", "sft")
        try:
            found = files.shape(files.open_table(Path(dataset).expanduser(), mapping), mapping)
        except (Refused, NotFound) as error:
            raise type(error)(_renamed(error.text)) from error
    else:
        there = ", ".join(stored.names(home, "sft"))
        raise NotFound(
            Text(
                f"sft_dataset: {dataset!r} is no stored set and no file; stored sets for the warm-up: {there or '-'}",
                f"sft_dataset: {dataset!r}은(는) 저장된 데이터셋도 파일도 아닙니다. 워밍업용 데이터셋: {there or '-'}",
            )
        )
    return [{"prompt": r["prompt"], "completion": r["completion"]} for r in stored.some(found, most, seed)]


def _renamed(text: Text) -> Text:
    """The words of a file's reader, which speak of the setting `dataset`."""

    def own(words: str) -> str:
        return words.replace("dataset: ", "sft_dataset: ", 1).replace("dataset_args", "sft_args")

    return Text(own(text.en), own(text.ko))
