"""Whether the figures of an evaluation can be believed: the adapter is active, padding changes nothing."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import torch

from backend.evaluation.proof_words import padding_words
from backend.workers import evaluate_decoding as decoding

PROMPTS = 16  # whose logits of the two sides are compared
PADDED = 8  # rows that are answered alone and together
GAP = 8  # positions of padding before one of them at least
# By how much, relative to the largest logit, batching may move a logit by rounding alone: TF32 and half precision keep
# 10 and 7 bits. Padding on the wrong side moves logits by their own size.
ROUNDING, ROUNDING_HALF = 0.01, 0.05
# The same between two sides that are asked in the same shapes, where only what an adapter adds can turn a rounding.
# Measured with adapters of nearly nothing (lora_B from 1e-9 on) on two models: at most 2e-7 in float32, and one step of
# bfloat16, 6e-3, in half precision.
SIDES, SIDES_HALF = 1e-5, 0.01


@torch.no_grad()
def last_logits(model: Any, prompts: Sequence[Sequence[int]]) -> torch.Tensor:
    """[P, V] float32 on the CPU: the logits after the last token of each prompt, one prompt at a time."""
    found = []
    for prompt in prompts:
        ids = torch.tensor([list(prompt)], device=model.device)
        logits = model(input_ids=ids, attention_mask=torch.ones_like(ids), use_cache=False).logits
        found.append(logits[0, -1].float().cpu())
    return torch.stack(found)


@torch.no_grad()
def padded_logits(model: Any, tokenizer: Any, prompts: Sequence[Sequence[int]], more: int = 0) -> torch.Tensor:
    """[P, V]: the same of all prompts in one batch, padded (by `more` positions beyond the longest) and placed as for
    generation."""
    ids, mask = decoding.padded(prompts, tokenizer.pad_token_id, model.device, more)
    places = (mask.cumsum(dim=-1) - 1).clamp(min=0)
    base = model.get_base_model() if hasattr(model, "get_base_model") else model
    takes_places = "position_ids" in inspect.signature(base.forward).parameters
    given = {"position_ids": places} if takes_places else {}
    return model(input_ids=ids, attention_mask=mask, use_cache=False, **given).logits[:, -1].float().cpu()


def largest_difference(base: torch.Tensor, trained: torch.Tensor) -> float | None:
    """The largest absolute difference of two sides' logits, [P, V] each; None where they are not over the same
    tokens."""
    return None if base.shape != trained.shape else (base - trained).abs().max().item()


def beyond_rounding(difference: float, base: torch.Tensor, half: bool) -> bool:
    """Whether a difference between the sides' logits is more than rounding makes of nothing; `half`: where either of
    them is computed in half precision."""
    return difference > (SIDES_HALF if half else SIDES) * max(1.0, base.abs().max().item())


def in_half(model: Any) -> bool:
    """Whether any of it is computed in half precision, quantised weights included."""
    kind = model.device.type
    types = {p.dtype for p in model.parameters()}
    return torch.is_autocast_enabled(kind) or not types <= {torch.float32, torch.float64}


def spread(prompts: Sequence[Sequence[int]], count: int) -> list[int]:
    """`count` places of prompts whose lengths differ as much as they can: evenly over the order by length."""
    order = sorted(range(len(prompts)), key=lambda i: len(prompts[i]))
    if len(order) <= count:
        return order
    return [order[round(i * (len(order) - 1) / (count - 1))] for i in range(count)]


def padding(
    model: Any,
    tokenizer: Any,
    prompts: Sequence[Sequence[int]],
    *,
    max_new_tokens: int,
    eos_ids: Sequence[int],
    stop: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """The result "padding": greedy answers and logits of up to PADDED prompts of mixed lengths, alone and together.

    Where their lengths differ by less than GAP, the batch is padded by GAP positions more: prompts of one length would
    not be padded at all. It differs where a logit moves by more than rounding. A greedy token can turn over at a tie
    by rounding alone, so answers that differ without such a logit are counted and no verdict.
    """
    chosen = [prompts[i] for i in spread(prompts, PADDED)]
    wanted = [decoding.Wanted(prompt) for prompt in chosen]
    shortest, longest = min(map(len, chosen)), max(map(len, chosen))
    more = GAP if longest - shortest < GAP else 0
    alone, together = (
        decoding.generate(
            model, tokenizer, wanted, max_new_tokens=max_new_tokens, batch_size=size, eos_ids=eos_ids,
            check_stop=stop, more_padding=extra,
        )
        for size, extra in ((1, 0), (len(wanted), more))
    )  # fmt: skip
    same = sum(a == b for a, b in zip(alone, together, strict=True))
    one, many = last_logits(model, chosen), padded_logits(model, tokenizer, chosen, more)
    moved = (one - many).abs().max().item()
    share = ROUNDING_HALF if in_half(model) else ROUNDING
    differs = not moved <= share * max(1.0, one.abs().max().item())
    rows = len(chosen)
    words = padding_words(differs, rows, same, moved, (shortest, longest), more)
    return {
        "rows": rows,
        "same": same,
        "lengths": [shortest, longest],
        "more_padding": more,
        "max_logit_difference": moved,
        "verdict": "differs" if differs else "ok",
        "words": words.to_json(),
    }
