"""Answers to prompts: greedy, and sampled so that a sample depends on nothing but its own place.

A sampled token is found by inverting the cumulative distribution at a number between 0 and 1 that was drawn for (seed,
row, sample, place of the token). So both models, any batch size and any resume see the same random numbers; the answers
are then the same up to the rounding of logits, which another batch or another number of threads can change.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers import GenerationConfig, LogitsProcessor, LogitsProcessorList, StoppingCriteria, StoppingCriteriaList


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the samples beside the greedy answer are drawn."""

    seed: int
    temperature: float = 1.0
    top_p: float = 1.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """One answer: to `prompt` (token ids), greedy where `sample` is None, else sample number `sample` of row `row`."""

    prompt: Sequence[int]
    row: int = 0
    sample: int | None = None


class _StopGeneration(StoppingCriteria):
    def __init__(self, check: Callable[[], None]) -> None:
        self._check = check

    def __call__(self, input_ids: Any, scores: Any, **kwargs: Any) -> Any:
        self._check()
        return torch.zeros(input_ids.shape[0], dtype=torch.bool, device=input_ids.device)


def drawn(sampling: Sampling, row: int, sample: int, count: int) -> torch.Tensor:
    """`count` numbers in [0, 1), float64, by (seed, row, sample) alone."""
    key = hashlib.blake2b(f"{sampling.seed} {row} {sample}".encode(), digest_size=8).digest()
    generator = torch.Generator().manual_seed(int.from_bytes(key, "little") >> 1)
    return torch.rand(count, generator=generator, dtype=torch.float64)


def nucleus(probabilities: torch.Tensor, top_p: float) -> torch.Tensor:
    """[B, V] probabilities with those outside the smallest set that holds `top_p` made 0; the likeliest one stays.

    Holtzman et al. 2020 (arXiv:1904.09751), as transformers' TopPLogitsWarper.
    """
    if top_p >= 1:
        return probabilities
    ordered, places = probabilities.sort(dim=-1, descending=True)
    before = ordered.cumsum(dim=-1) - ordered
    return torch.zeros_like(probabilities).scatter(-1, places, ordered.masked_fill(before >= top_p, 0.0))


class _Draw(LogitsProcessor):
    """Leaves only the drawn token of each sampled sequence; greedy ones pass as they are. Used with do_sample=False."""

    def __init__(self, numbers: Sequence[torch.Tensor | None], width: int, sampling: Sampling, device: Any) -> None:
        self._width, self._sampling = width, sampling
        chosen = [i for i, n in enumerate(numbers) if n is not None]
        # MPS has no float64.
        self._type = torch.float32 if torch.device(device).type == "mps" else torch.float64
        self._rows = torch.tensor(chosen, device=device)
        self._numbers = torch.stack([n for n in numbers if n is not None]).to(device, self._type)

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        place = input_ids.shape[1] - self._width
        logits = scores[self._rows].to(self._type) / self._sampling.temperature
        cumulative = nucleus(torch.softmax(logits, dim=-1), self._sampling.top_p).cumsum(dim=-1)
        aim = self._numbers[:, place : place + 1] * cumulative[:, -1:]
        token = torch.searchsorted(cumulative, aim, right=True).clamp(max=scores.shape[-1] - 1)
        only = torch.full_like(scores[self._rows], float("-inf")).scatter(-1, token, 0.0)
        return scores.index_copy(0, self._rows, only)


@contextlib.contextmanager
def _own_settings_aside(model: Any, config: GenerationConfig) -> Iterator[None]:
    """Evaluation mode, and `config` in place of the model's own sampling settings, which would fill its gaps."""
    base = model.get_base_model() if hasattr(model, "get_base_model") else model
    own, training = base.generation_config, model.training
    base.generation_config = config
    model.eval()
    try:
        yield
    finally:
        base.generation_config = own
        model.train(training)


def padded(prompts: Sequence[Sequence[int]], pad: int, device: Any, more: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """(ids, mask), each [B, longest + more]: padding on the left, so that every prompt ends where its answer begins."""
    width = max(len(p) for p in prompts) + more
    gaps = [width - len(p) for p in prompts]
    ids = torch.tensor([[pad] * gap + list(p) for gap, p in zip(gaps, prompts, strict=True)], device=device)
    mask = torch.tensor([[0] * gap + [1] * (width - gap) for gap in gaps], device=device)
    return ids, mask


def generate(
    model: Any,
    tokenizer: Any,
    wanted: Sequence[Wanted],
    *,
    max_new_tokens: int,
    batch_size: int,
    eos_ids: Sequence[int],
    check_stop: Callable[[], None] = lambda: None,
    on_batch: Callable[[int], None] = lambda done: None,
    sampling: Sampling | None = None,
    more_padding: int = 0,
) -> list[list[int]]:
    """Completion token ids of each, in order, up to and with the first end token; `batch_size` at a time.

    `check_stop` is called at every token and may raise; `on_batch(done)` after every batch. `sampling` is needed where
    samples are wanted. `more_padding`: positions before the longest prompt of a batch, as a longer one would leave.
    """
    config = GenerationConfig(
        do_sample=False,
        max_new_tokens=max_new_tokens,
        eos_token_id=list(eos_ids),
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
        disable_compile=True,
    )
    found: list[list[int]] = []
    with _own_settings_aside(model, config), torch.no_grad():
        for start in range(0, len(wanted), batch_size):
            part = wanted[start : start + batch_size]
            ids, mask = padded([w.prompt for w in part], tokenizer.pad_token_id, model.device, more_padding)
            width = ids.shape[1]
            numbers = [
                None if w.sample is None or sampling is None else drawn(sampling, w.row, w.sample, max_new_tokens)
                for w in part
            ]
            draws = sampling is not None and any(n is not None for n in numbers)
            output = model.generate(
                input_ids=ids,
                attention_mask=mask,
                generation_config=config,
                stopping_criteria=StoppingCriteriaList([_StopGeneration(check_stop)]),
                logits_processor=LogitsProcessorList(
                    [_Draw(numbers, width, sampling, model.device)] if draws and sampling else []
                ),
            )
            for tokens in output[:, width:].tolist():
                end = next((at + 1 for at, token in enumerate(tokens) if token in eos_ids), len(tokens))
                found.append(tokens[:end])
            on_batch(len(found))
    return found
