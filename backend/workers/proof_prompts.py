"""What both sides of an evaluation read: their tokenizers, and the rows' prompts as token ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from backend.errors import StudioError
from backend.text import Text
from backend.workers import rows as run_rows
from backend.workers import sides
from backend.workers.job import Job
from storage.reader import Reader


def tokenizers(job: Job, reader: Reader, base: sides.Side, trained: sides.Side | None) -> dict[str, Any]:
    """One for both sides where their vocabularies are the same: the base's. Where not, each its own, and told."""
    first = sides.tokenizer_of(job, base.model)
    found = {"base": first}
    if trained is None:
        return found
    own = sides.own_tokenizer(job, trained)
    same = own.get_vocab() == first.get_vocab()
    found["trained"] = first if same else own
    told = {event.kind for event in reader.events(job.run.id)}  # by an earlier attempt
    if not same and "tokenizer_differs" not in told:
        job.writer.event(
            "tokenizer_differs",
            "the two sides have different tokenizers: each reads the same messages in its own way, so their prompts "
            "are not the same token by token",
            "warn",
        )
    elif same and own.chat_template != first.chat_template and "template_differs" not in told:
        job.writer.event(
            "template_differs",
            "the trained model was saved with another chat template than the base's; both sides are asked with the "
            "base's, as in training",
            "warn",
        )
    return found


def prompts(job: Job, tokenizer: Any, rows: Sequence[run_rows.Row]) -> list[list[int]]:
    kwargs = dict(job.config.chat_template_kwargs or {})
    return [run_rows.prompt_ids(row["prompt"], tokenizer, kwargs) for row in rows]


def require_readable(side: sides.Side, model: Any, prompts: Sequence[list[int]]) -> None:
    """A tokenizer with more tokens than its model knows would end the run in an index error without a word."""
    size = model.get_input_embeddings().weight.shape[0]
    largest = max((max(prompt) for prompt in prompts if prompt), default=0)
    if largest >= size:
        raise StudioError(
            Text(
                en=f"the tokenizer saved with {side.name} does not fit its weights: a prompt has token {largest}, the "
                f"model knows {size}",
                ko=f"{side.name}에 저장된 토크나이저가 가중치와 맞지 않습니다. 프롬프트에 토큰 {largest}이(가) 있는데 "
                f"모델의 토큰은 {size}개입니다",
            )
        )
