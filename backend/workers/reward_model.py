"""A reward model: a sequence classifier with one output, in settings of its own, whatever the policy's are."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

from backend import rewards as registry
from backend.errors import Refused, StudioError
from backend.estimate import DeviceFacts
from backend.rewards.verdict import Verdict, completion_text
from backend.text import Text
from backend.workers.memory import is_out_of_memory

SHOWN_TOKENS = 10**9  # tokenizers without a limit say 10^30


def load(args: Mapping[str, Any] | None, device: DeviceFacts) -> registry.Reward:
    """The reward `reward_model` with its classifier on `device`. Refused, in words, for what is no such classifier."""
    described = registry.spec("reward_model")
    given = registry.check_args("reward_model", args)
    known = {argument.name: argument.default for argument in described.arguments} | given
    model = Classifier(known["model"], known["revision"], known["dtype"], known["max_length"], device)

    def judge_many(completions: Sequence[str], *, prompt: Sequence[Any], **ignored: Any) -> list[Verdict | Exception]:
        texts = [model.text(p, c) for p, c in zip(prompt, completions, strict=True)]
        return [Verdict(score, None, model.name) for score in model.scores(texts, known["batch_size"])]

    return registry.Reward(dataclasses.replace(described, judge=judge_many), given)


class Classifier:
    """`name`: a hub name or folder. `max_length`: tokens kept of a text, the latest; None: what the model takes."""

    def __init__(
        self, name: str, revision: str | None, dtype: str, max_length: int | None, device: DeviceFacts
    ) -> None:
        self.name = name
        self.device = torch.device("cpu" if device.kind == "cpu" else device.kind)
        states = torch.random.get_rng_state()
        try:
            config = AutoConfig.from_pretrained(name, revision=revision)
            if config.num_labels != 1:
                raise _unfit(name, f"{config.num_labels} outputs", f"출력이 {config.num_labels}개")
            self.tokenizer = AutoTokenizer.from_pretrained(name, revision=revision, truncation_side="left")
            model, found = AutoModelForSequenceClassification.from_pretrained(
                name, revision=revision, dtype=dtype, output_loading_info=True
            )
        except OSError as error:
            raise StudioError(
                Text(
                    en=f"reward_model: {name} cannot be loaded: {error}",
                    ko=f"reward_model: {name}을(를) 불러올 수 없습니다: {error}",
                )
            ) from error
        finally:
            torch.random.set_rng_state(states)  # the run's own draws stay what they were
        if found["missing_keys"]:
            missing = ", ".join(sorted(found["missing_keys"])[:3])
            raise _unfit(name, f"no trained head ({missing} is missing)", f"학습된 헤드 없음({missing})")
        if self.tokenizer.pad_token_id is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token
        model.config.get_text_config().pad_token_id = model.config.pad_token_id = self.tokenizer.pad_token_id
        self.model = model.to(self.device).eval().requires_grad_(False)
        limits = [max_length, getattr(config.get_text_config(), "max_position_embeddings", None)]
        limits.append(self.tokenizer.model_max_length)
        self.max_length = min((n for n in limits if n and n < SHOWN_TOKENS), default=None)

    def text(self, prompt: Any, completion: str) -> str:
        """Prompt and completion by the classifier's own chat template; where it has none, one after the other."""
        if self.tokenizer.chat_template is None:
            return (prompt if isinstance(prompt, str) else completion_text(prompt) + "\n") + completion
        messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else list(prompt)
        answer = {"role": "assistant", "content": completion}
        return str(self.tokenizer.apply_chat_template([*messages, answer], tokenize=False))

    @torch.no_grad()
    def scores(self, texts: Sequence[str], batch_size: int) -> list[float]:
        """One score a text, in order; texts of similar length share a batch. StudioError where memory is exhausted."""
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        found = [0.0] * len(texts)
        try:
            with torch.autocast(self.device.type, enabled=False):
                for start in range(0, len(order), batch_size):
                    chosen = order[start : start + batch_size]
                    batch = self.tokenizer(
                        [texts[i] for i in chosen],
                        padding=True,
                        padding_side="right",
                        truncation=self.max_length is not None,
                        max_length=self.max_length,
                        add_special_tokens=self.tokenizer.chat_template is None,
                        return_tensors="pt",
                    ).to(self.device)
                    for i, score in zip(chosen, self.model(**batch).logits[:, 0].float().tolist(), strict=True):
                        found[i] = score
        except Exception as error:
            if not is_out_of_memory(error):
                raise
            raise StudioError(
                Text(
                    en=f"reward_model: memory ran out while {self.name} scored {batch_size} texts at once; lower its "
                    "batch_size or max_length, or take a smaller dtype",
                    ko=f"reward_model: {self.name}(으)로 {batch_size}개씩 채점하다 메모리가 부족해졌습니다. "
                    "batch_size나 max_length를 줄이거나 더 작은 dtype을 쓰세요",
                )
            ) from error
        return found


def _unfit(name: str, en: str, ko: str) -> Refused:
    return Refused(
        Text(
            en=f"reward_model: {name} has {en}; a sequence classifier with one trained output is needed (num_labels=1)",
            ko=f"reward_model: {name}: {ko}. 출력이 하나인 학습된 시퀀스 분류 모델(num_labels=1)이 필요합니다",
        )
    )
