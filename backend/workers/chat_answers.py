"""One question to both sides: the same prompt, sampling and seed, streamed as it comes, one side after the other."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from transformers import GenerationConfig, StoppingCriteria, StoppingCriteriaList

from backend.chat import words
from backend.errors import Refused
from backend.workers import shift
from backend.workers.chat_sides import Side, Sides
from backend.workers.rows import prompt_ids

Tell = Callable[..., None]
TELL_S = 0.06  # between two looks at what has come
COMPARED = 64  # places at the end of the prompt whose logits are compared


class Stopped(Exception):
    """Nobody wants the answer any more."""


class Prompt:
    """A question as one side reads it: `ids`, the text that they stand for, whether it ends in an opened thought."""

    def __init__(self, side: Side, request: Mapping[str, Any], template_kwargs: dict[str, Any]) -> None:
        prompt, tokenizer = request["prompt"], side.tokenizer
        if not isinstance(prompt, str) and not tokenizer.chat_template:
            raise Refused(words.NO_TEMPLATE)
        self.ids = prompt_ids(prompt, tokenizer, template_kwargs)
        self.rendered = tokenizer.decode(self.ids, skip_special_tokens=False, clean_up_tokenization_spaces=False)
        self.opened = self.rendered.rstrip().endswith("<think>")


def asked(request: Mapping[str, Any], sides: Sides, tell: Tell, stopped: Callable[[], bool]) -> None:
    """Tell all of one question: loading, start, text and answer of each side, done. Raises Stopped, or Refused."""
    specs = {name: request[name] for name in ("left", "right") if request[name]}
    found = _loaded(specs, sides, tell, stopped)
    sampling = request["settings"]
    prompts = {name: Prompt(side, request, specs[name]["template_kwargs"]) for name, side in found.items()}
    for name, prompt in prompts.items():
        _require_room(prompt, sampling["max_new_tokens"], found[name].context)
    texts: dict[str, list[str]] = {}
    first: dict[str, float] = {}
    speed: dict[str, float] = {}
    for name, side in found.items():
        facts = {**side.facts(), **{k: specs[name][k] for k in ("checkpoint", "run")}, "model": specs[name]["name"]}
        prompt = prompts[name]
        tell("start", side=name, **facts, rendered=prompt.rendered, prompt_tokens=len(prompt.ids), opened=prompt.opened)
        answers = Answers(name, side, prompt, sampling, tell, stopped)
        try:
            answers.generate()
        except RuntimeError as error:
            if "probability tensor contains" not in str(error):
                raise
            raise Refused(words.NOT_NUMBERS) from error
        texts[name] = answers.texts
        first[name], speed[name] = answers.first_s, answers.tokens_per_s
        if answers.was_stopped:
            raise Stopped
    difference, warnings = _compared(found, prompts, texts, sampling)
    tell("done", max_logit_difference=difference, warnings=warnings, first_token_s=first, tokens_per_s=speed)


def _loaded(
    specs: Mapping[str, Mapping[str, Any]], sides: Sides, tell: Tell, stopped: Callable[[], bool]
) -> dict[str, Side]:
    done = 0

    def loading(name: str, spec: Mapping[str, Any]) -> None:
        nonlocal done
        tell("loading", side=name, model=spec["name"], checkpoint=spec["checkpoint"], done=done, total=len(specs))
        done += 1

    def check() -> None:
        if stopped():
            raise Stopped

    found = sides.get(specs, loading, check)
    check()
    return found


def _require_room(prompt: Prompt, answer: int, context: int | None) -> None:
    if context is not None and len(prompt.ids) + answer > context:
        raise Refused(words.too_long(len(prompt.ids), answer, context))


def logprobs(request: Mapping[str, Any], sides: Sides, tell: Tell, stopped: Callable[[], bool]) -> None:
    """Tell the log-probability (nats, temperature 1) of each token of one completion under both sides.

    `ids`: the very tokens that were sampled; without them the left side's tokenizer cuts `completion`.
    """
    specs = {name: request[name] for name in ("left", "right") if request[name]}
    found = _loaded(specs, sides, tell, stopped)
    left = found["left"]
    ids = request.get("ids") or shift.completion_ids(left.tokenizer, request["completion"])
    columns: dict[str, list[float]] = {}
    for name, side in found.items():
        if stopped():
            raise Stopped
        prompt = Prompt(side, request, specs[name]["template_kwargs"])
        _require_room(prompt, len(ids), side.context)
        if ids and max(ids) >= side.model.config.get_text_config().vocab_size:
            raise Refused(words.OTHER_PROMPT)
        columns[name] = shift.id_logprobs(side.model, prompt.ids, ids)
    pieces = shift.pieces(left.tokenizer, ids)
    tokens = [
        {"text": text, **{name: values[at] for name, values in columns.items()}} for at, text in enumerate(pieces)
    ]
    tell("logprobs", tokens=tokens, weights={name: side.weights[:12] for name, side in found.items()})


class _EveryToken(StoppingCriteria):
    """Called after each token; true for all rows when nobody wants more."""

    def __init__(self, look: Callable[[Any], bool]) -> None:
        self._look = look

    def __call__(self, input_ids: Any, scores: Any, **kwargs: Any) -> Any:
        return torch.full((input_ids.shape[0],), self._look(input_ids), dtype=torch.bool, device=input_ids.device)


class Answers:
    """The n answers of one side. Deltas are told on the way; `answer` events, with the exact text, at the end."""

    def __init__(
        self,
        name: str,
        side: Side,
        prompt: Prompt,
        sampling: Mapping[str, Any],
        tell: Tell,
        stopped: Callable[[], bool],
    ) -> None:
        self.name, self.side, self.prompt, self.sampling = name, side, prompt, sampling
        self._tell, self._stopped = tell, stopped
        self.was_stopped = False
        self.texts: list[str] = []
        self.first_s = self.tokens_per_s = 0.0
        self._began = self._told_at = 0.0
        self._shown = [""] * sampling["n"]

    def generate(self) -> None:
        n, width = self.sampling["n"], len(self.prompt.ids)
        model = self.side.model
        ids = torch.tensor([self.prompt.ids] * n, device=model.device)
        torch.manual_seed(self.sampling["seed"])  # of the CPU and of every accelerator
        self._began = time.perf_counter()
        with torch.no_grad():
            output = model.generate(
                input_ids=ids,
                attention_mask=torch.ones_like(ids),
                generation_config=self._settings(),
                stopping_criteria=StoppingCriteriaList([_EveryToken(self._look)]),
            )
        seconds = time.perf_counter() - self._began
        rows = [self._ended(tokens) for tokens in output[:, width:].tolist()]
        self.tokens_per_s = sum(len(row) for row in rows) / max(seconds, 1e-9)
        for sample, tokens in enumerate(rows):
            self._finish(sample, tokens, seconds)

    def _settings(self) -> GenerationConfig:
        chosen = self.sampling
        tokenizer = self.side.tokenizer
        pad = tokenizer.pad_token_id
        kwargs: dict[str, Any] = {"do_sample": False}
        if chosen["temperature"] > 0:
            kwargs = {
                "do_sample": True,
                "temperature": chosen["temperature"],
                "top_p": chosen["top_p"],
                "top_k": chosen["top_k"],
            }
        return GenerationConfig(
            **kwargs,
            max_new_tokens=chosen["max_new_tokens"],
            eos_token_id=self.side.eos_ids or None,
            pad_token_id=pad if pad is not None else (self.side.eos_ids or [0])[0],
            bos_token_id=tokenizer.bos_token_id,
            disable_compile=True,
        )

    def _ended(self, tokens: list[int]) -> list[int]:
        """Up to and with the first end token; what follows it is padding."""
        end = next((at + 1 for at, token in enumerate(tokens) if token in self.side.eos_ids), len(tokens))
        return tokens[:end]

    def _look(self, ids: Any) -> bool:
        now = time.perf_counter()
        if not self.first_s:
            self.first_s = now - self._began
        if self._stopped():
            self.was_stopped = True
            return True
        if now - self._told_at >= TELL_S:
            self._told_at = now
            for sample, tokens in enumerate(ids[:, len(self.prompt.ids) :].tolist()):
                # Half of a character at the end waits for its other half.
                self._show(sample, self._decoded(self._ended(tokens)).rstrip("\ufffd"))
        return False

    def _decoded(self, tokens: Sequence[int]) -> str:
        return self.side.tokenizer.decode(list(tokens), skip_special_tokens=True)

    def _show(self, sample: int, text: str, *, last: bool = False) -> None:
        """Tell what is new. A tokenizer that takes back what it had decoded is heard again at the end."""
        shown = self._shown[sample]
        if text == shown:
            return
        if text.startswith(shown):
            self._tell("text", side=self.name, sample=sample, text=text[len(shown) :])
        elif last:
            self._tell("text", side=self.name, sample=sample, text=text, replace=True)
        else:
            return
        self._shown[sample] = text

    def _finish(self, sample: int, tokens: list[int], seconds: float) -> None:
        text = self._decoded(tokens)
        self._show(sample, text, last=True)
        self.texts.append(text)
        eos = bool(tokens) and tokens[-1] in self.side.eos_ids
        more = {"stopped": True} if self.was_stopped and not eos else {}
        self._tell(
            "answer",
            side=self.name,
            sample=sample,
            completion=text,
            tokens=len(tokens),
            ids=tokens,
            eos=eos,
            seconds=seconds,
            opened=self.prompt.opened,
            **more,
        )


def _compared(
    sides: Mapping[str, Side],
    prompts: Mapping[str, Prompt],
    texts: Mapping[str, list[str]],
    sampling: Mapping[str, Any],
) -> tuple[float | None, list[dict[str, Any]]]:
    """The largest difference of the sides' logits on the prompt (None where there is nothing to compare), and what
    speaks against the comparison."""
    warnings = [("base_changed", words.BASE_CHANGED)] if any(s.base == "differs" for s in sides.values()) else []
    difference = None
    if len(sides) == 2 and sides["left"] is not sides["right"]:
        if prompts["left"].ids != prompts["right"].ids:
            warnings.append(("other_prompt", words.OTHER_PROMPT))
        else:
            difference = max_logit_difference(sides["left"].model, sides["right"].model, prompts["left"].ids)
        if difference is not None and not math.isfinite(difference):
            warnings.append(("not_numbers", words.NOT_NUMBERS))
            difference = None
        if difference == 0:
            warnings.append(("no_difference", words.NO_DIFFERENCE))
        if sampling["temperature"] > 0 and texts["left"] == texts["right"]:
            warnings.append(("identical", words.IDENTICAL))
    return difference, [{"id": name, "words": text.to_json()} for name, text in warnings]


@torch.no_grad()
def max_logit_difference(left: Any, right: Any, ids: Sequence[int]) -> float | None:
    """The largest absolute difference, in float32, over the whole vocabulary at the last COMPARED places of the
    prompt; None for vocabularies of different sizes."""
    found = []
    for model in (left, right):
        given = torch.tensor([list(ids)], device=model.device)
        logits = model(input_ids=given, attention_mask=torch.ones_like(given), use_cache=False).logits[0, -COMPARED:]
        found.append(logits.float().cpu())
    return float((found[0] - found[1]).abs().max()) if found[0].shape == found[1].shape else None
