"""The rows a run trains on: taken once, kept in the run's folder, and handed to TRL without changing a value."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backend import data
from backend.data import split
from backend.errors import StudioError
from backend.text import Text
from backend.workers.capture import PROMPT_ID, stable_id

if TYPE_CHECKING:
    from datasets import Dataset

    from backend.workers.job import Job

WARMUP = "warmup.jsonl"
Row = dict[str, Any]


def _write(path: Path, rows: Sequence[Row]) -> None:
    part = path.with_suffix(".part")
    with part.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=True, default=str) + "\n")
    part.replace(path)


def read(path: Path) -> list[Row]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def with_ids(rows: Sequence[Row]) -> list[Row]:
    """The rows with the same columns each (None where a row has none) and a stable `prompt_id`."""
    columns = dict.fromkeys(name for row in rows for name in row)
    found = []
    for row in rows:
        whole = {name: row.get(name) for name in columns}
        whole[PROMPT_ID] = str(whole.get(PROMPT_ID) or stable_id(row["prompt"], row.get("ground_truth")))
        found.append(whole)
    return found


def snapshot(folder: Path, load: Callable[[], tuple[Sequence[Row], Sequence[Row]]]) -> tuple[list[Row], list[Row]]:
    """(train, held-out) rows of the run. `load` is called only once in a run's life; a resume reads what it gave.

    What the run uses is always what the files hold, so that an attempt cannot differ from the one before.
    """
    train, held_out = folder / "train.jsonl", folder / "eval.jsonl"
    if not (train.is_file() and held_out.is_file()):
        folder.mkdir(parents=True, exist_ok=True)
        loaded_train, loaded_eval = load()
        _write(held_out, with_ids(loaded_eval))
        _write(train, with_ids(loaded_train))
    return read(train), read(held_out)


def warmup(job: Job, held_out: Sequence[Row]) -> list[Row]:
    """Rows (prompt, completion) to imitate. Those of `sft_dataset` are taken once in a run's life and kept in its
    folder, without those that ask what an evaluation row asks."""
    if not job.config.sft_dataset:
        return data.warmup_rows(job.config, job.settings.home)
    path = job.run_dir / "data" / WARMUP
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        loaded = data.warmup_rows(job.config, job.settings.home)
        left = split.without(loaded, held_out)
        _write(path, left)
        dropped = len(loaded) - len(left)
        also = f"; {dropped} that ask what a held-out row asks were left out" if dropped else ""
        job.writer.event(
            "data",
            f"warm-up: {len(left)} rows of {job.config.sft_dataset}{also}",
            "warn" if dropped else "info",
            {"dataset": job.config.sft_dataset, "rows": len(left), "left_out": dropped},
        )
    return read(path)


LEFT_OUT = "left_out.json"


def note_left_out(folder: Path, name: str, indices: Sequence[int]) -> None:
    """Write down which rows of the snapshot ('train' or 'eval') are too long to be used, for whoever exports them."""
    path = folder / LEFT_OUT
    known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    part = path.with_suffix(".part")
    part.write_text(json.dumps({**known, name: list(indices)}), encoding="utf-8")
    part.replace(path)


def kept(folder: Path) -> tuple[list[Row], list[Row]]:
    """(train, held-out) rows of a snapshot without those that the run left out; all where it has not got that far."""
    path = folder / LEFT_OUT
    left_out = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}

    def rows(name: str) -> list[Row]:
        out = set(left_out.get(name, ()))
        return [row for i, row in enumerate(read(folder / f"{name}.jsonl")) if i not in out]

    return rows("train"), rows("eval")


def token_counts(rows: Sequence[Row], tokenizer: Any, template_kwargs: dict[str, Any]) -> list[int]:
    """Tokens of each prompt as the trainer will feed it."""
    return [len(prompt_ids(row["prompt"], tokenizer, template_kwargs)) for row in rows]


def prompt_ids(prompt: Any, tokenizer: Any, template_kwargs: dict[str, Any]) -> list[int]:
    """Token ids of a prompt, by the same call as TRL's: the chat template for messages, plain text otherwise."""
    if isinstance(prompt, str):
        return tokenizer(text=prompt)["input_ids"]
    return tokenizer.apply_chat_template(
        conversation=prompt, add_generation_prompt=True, tokenize=True, return_dict=True, **template_kwargs
    )["input_ids"]


def drop_long(rows: list[Row], counts: list[int], limit: int | None) -> tuple[list[Row], int]:
    """The rows whose prompt has at most `limit` tokens, and how many were dropped. TRL truncates no prompt."""
    if limit is None:
        return rows, 0
    kept = [row for row, count in zip(rows, counts, strict=True) if count <= limit]
    return kept, len(rows) - len(kept)


def require(rows: Sequence[Row], needed: int, dropped: int = 0) -> None:
    """Refuse a training set that cannot fill one generation: TRL would end after 0 steps without a word."""
    if len(rows) >= needed:
        return
    long_en = f" ({dropped} were left out because their prompts are too long)" if dropped else ""
    long_ko = f"(프롬프트가 너무 길어 {dropped}개 제외)" if dropped else ""
    raise StudioError(
        Text(
            en=f"dataset: {len(rows)} usable training rows{long_en}, but one generation needs {needed} different "
            "prompts (generation batch / num_generations). Use more rows or shorter prompts, a larger "
            "num_generations, or a smaller batch.",
            ko=f"dataset: 쓸 수 있는 학습 행이 {len(rows)}개인데{long_ko} 생성 한 번에 서로 다른 프롬프트가 "
            f"{needed}개 필요합니다(생성 배치 / num_generations). 행을 늘리거나 프롬프트를 줄이거나, num_generations를 "
            "키우거나 배치를 줄이세요.",
        )
    )


def as_dataset(rows: Sequence[Row]) -> Dataset:
    """A datasets.Dataset that gives each row's own Python values.

    Columns in Arrow would be forced to one type and filled with null keys (datasets#7617): a reward would see keys
    that nobody wrote. So Arrow holds only row numbers, and nested values are copied, for a reward may change them.
    """
    from datasets import Dataset

    columns = list(rows[0]) if rows else []

    def take(batch: dict[str, list[int]]) -> dict[str, list[Any]]:
        chosen = [rows[i] for i in batch["row"]]
        return {
            name: [copy.deepcopy(v) if isinstance(v := row[name], (list, dict)) else v for row in chosen]
            for name in columns
        }

    return Dataset.from_dict({"row": list(range(len(rows)))}).with_transform(take)
