"""What changed in a model: the log-probability of given completions under it, token by token, teacher-forced."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch


def pieces(tokenizer: Any, ids: Sequence[int]) -> list[str]:
    """The text that each token adds; joined they are the whole text, special tokens included.

    A token that ends inside a character adds nothing, and the one that completes it adds the character.
    """
    texts: list[str] = []
    start = done = 0  # tokens start..done are context: some tokenizers drop the blank of a text's first token
    for end in range(1, len(ids) + 1):
        known = _decode(tokenizer, ids[start:done])
        text = _decode(tokenizer, ids[start:end])
        if text.endswith("\ufffd") and end < len(ids):
            texts.append("")
            continue
        texts.append(text[len(known) :])
        start, done = done, end
    return texts


def _decode(tokenizer: Any, ids: Sequence[int]) -> str:
    return tokenizer.decode(list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False)


def completion_ids(tokenizer: Any, completion: str, ended: bool = False) -> list[int]:
    """Token ids of a stored completion's text, with the end token where the model had ended it itself.

    A text may be cut into other tokens than those it was sampled as; both models are asked about the same ones.
    """
    ids = list(tokenizer(text=completion, add_special_tokens=False)["input_ids"])
    return [*ids, tokenizer.eos_token_id] if ended and tokenizer.eos_token_id is not None else ids


@torch.no_grad()
def id_logprobs(model: Any, prompt: Sequence[int], completion: Sequence[int]) -> list[float]:
    """Log-probability (nats, temperature 1) of each token of `completion` after `prompt` and those before it.

    One sequence without padding, in evaluation mode. The log-softmax is taken in float32.
    """
    if not completion:
        return []
    ids = torch.tensor([[*prompt, *completion]], device=model.device)
    training = model.training
    model.eval()
    try:
        logits = model(input_ids=ids, attention_mask=torch.ones_like(ids), use_cache=False).logits[0]
    finally:
        model.train(training)
    # The logits at a place tell the next token: those of the completion begin at the prompt's last token.
    told = torch.log_softmax(logits[len(prompt) - 1 : -1].float(), dim=-1)
    wanted = ids[0, len(prompt) :].unsqueeze(-1)
    return told.gather(-1, wanted).squeeze(-1).cpu().tolist()
