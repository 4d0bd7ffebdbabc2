"""One question, read from JSON: every value has its kind and lies within the limits, or is refused in words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from backend.chat.limits import Limits
from backend.errors import Refused
from backend.settings import RUN_ID
from backend.text import Text
from backend.views import SURROGATE

CHAT_ID = re.compile(r"[a-z0-9]{4,40}")
CHECKPOINT = re.compile(r"base|final|best|checkpoint-\d{1,12}")
ROLES = ("system", "user", "assistant")
Prompt = str | list[dict[str, str]]


@dataclass(frozen=True, slots=True)
class SideName:
    """Which weights are meant: of a run (`checkpoint`: "base", "final", "best", "checkpoint-N"), or a model's name."""

    run: str = ""
    checkpoint: str = ""
    model: str = ""

    def to_json(self) -> dict[str, str]:
        return {"run": self.run, "checkpoint": self.checkpoint} if self.run else {"model": self.model}


@dataclass(frozen=True, slots=True)
class Sampling:
    """How both sides answer. Temperature 0 is greedy; top_k 0 and top_p 1 leave all tokens in."""

    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    max_new_tokens: int = 128
    seed: int = 0
    n: int = 1

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Question:
    """`prompt` and `system` as typed, or `index`, a held-out row of `run`. `raw`: text goes in without a template."""

    left: SideName
    right: SideName | None
    prompt: Prompt | None
    system: str | None
    run: str
    index: int | None
    ground_truth: str | None
    raw: bool
    sampling: Sampling
    chat: str


def refused(field: str, value: Any, en: str, ko: str) -> Refused:
    shown = repr(value)
    shown = shown if len(shown) <= 80 else shown[:80] + "…"
    error = Refused(Text(en=f"{field}={shown}: {en}", ko=f"{field}={shown}: {ko}"))
    error.field = field  # type: ignore[attr-defined] -- the page shows it there
    return error


def read_question(body: Mapping[str, Any], limits: Limits) -> Question:
    """Refused, with its `.field`, for the first value that will not do."""
    left = read_side(body.get("left"), "left")
    right = None if body.get("right") is None else read_side(body["right"], "right")
    run = _text(body, "run") or left.run or (right.run if right else "")
    if run and not RUN_ID.fullmatch(run):
        raise refused("run", run, "it must be the id of a run", "실행 ID여야 합니다")
    index = None if body.get("index") is None else whole(body, "index", 0, 0, 10**9)
    prompt = None if index is not None else _prompt(body.get("prompt"), limits)
    if index is not None and not run:
        raise refused("index", index, "name the run whose held-out row is meant", "평가 행을 가진 실행을 지정하세요")
    system, raw = _text(body, "system") or None, body.get("raw") is True
    check_text("system", system or "", limits)
    if system and raw:
        raise refused(
            "system", system, "text without the template has no system prompt", "템플릿이 없으면 쓸 수 없습니다"
        )
    if raw and index is None and not isinstance(prompt, str):
        raise refused(
            "raw", True, "only a text can go in without the template", "텍스트만 템플릿 없이 넣을 수 있습니다"
        )
    chat = _text(body, "chat") or ""
    if chat and not CHAT_ID.fullmatch(chat):
        raise refused("chat", chat, "it is not the id of a conversation", "대화 ID가 아닙니다")
    truth = _text(body, "ground_truth")
    check_text("ground_truth", truth or "", limits)
    sampling = read_sampling(body, limits)
    return Question(left, right, prompt, system, run, index, truth, raw, sampling, chat)


def read_sampling(body: Mapping[str, Any], limits: Limits) -> Sampling:
    plain = Sampling()
    return Sampling(
        temperature=_number(body, "temperature", plain.temperature, 0.0, 10.0),
        top_p=_number(body, "top_p", plain.top_p, 0.0, 1.0, above=True),
        top_k=whole(body, "top_k", plain.top_k, 0, 10**6),
        max_new_tokens=whole(body, "max_new_tokens", min(plain.max_new_tokens, limits.max_new_tokens), 1,
                              limits.max_new_tokens),
        seed=whole(body, "seed", plain.seed, 0, 2**63 - 1),
        n=whole(body, "n", plain.n, 1, limits.n),
    )  # fmt: skip


def read_side(value: Any, field: str) -> SideName:
    """{"run", "checkpoint"} or {"model"}."""
    if isinstance(value, Mapping):
        run, model, checkpoint = value.get("run"), value.get("model"), value.get("checkpoint") or "final"
        if isinstance(run, str) and RUN_ID.fullmatch(run) and isinstance(checkpoint, str):
            if CHECKPOINT.fullmatch(checkpoint):
                return SideName(run=run, checkpoint=checkpoint)
            raise refused(
                f"{field}.checkpoint",
                checkpoint,
                "one of base, final, best, checkpoint-N",
                "base, final, best, checkpoint-N 중 하나여야 합니다",
            )
        if not run and isinstance(model, str) and model.strip() and len(model) <= 500 and "\0" not in model:
            return SideName(model=model.strip())
    raise refused(
        field,
        value,
        'it must be {"run": id, "checkpoint": name} or {"model": name}',
        '{"run": ID, "checkpoint": 이름} 또는 {"model": 이름}이어야 합니다',
    )


def _prompt(value: Any, limits: Limits) -> Prompt:
    if isinstance(value, str) and value.strip():
        check_text("prompt", value, limits)
        return value
    if isinstance(value, list) and value:
        if len(value) > limits.messages:
            most = limits.messages
            raise refused(
                "prompt",
                "…",
                f"{len(value)} messages; at most {most}",
                f"메시지가 {len(value)}개입니다. {most}개까지 됩니다",
            )
        messages = []
        for message in value:
            role = message.get("role") if isinstance(message, Mapping) else None
            content = message.get("content") if isinstance(message, Mapping) else None
            if role not in ROLES or not isinstance(content, str):
                raise refused(
                    "prompt", message, f"a message has a role ({', '.join(ROLES)}) and a text as content",
                    f"메시지에는 role({', '.join(ROLES)})과 문자열 content가 있어야 합니다",
                )  # fmt: skip
            messages.append({"role": role, "content": content})
        check_text("prompt", "".join(message["content"] for message in messages), limits)
        if messages[-1]["role"] == "assistant":
            raise refused(
                "prompt", "…", "the last message must be the user's", "마지막 메시지는 사용자 것이어야 합니다"
            )
        return messages
    raise refused("prompt", value, "write a text, or choose a row", "텍스트를 입력하거나 행을 고르세요")


def check_text(field: str, text: str, limits: Limits) -> None:
    if len(text) > limits.prompt_characters:
        most = limits.prompt_characters
        en, ko = f"{len(text)} characters; at most {most}", f"{len(text)}자입니다. {most}자까지 됩니다"
        raise refused(field, text[:20] + "…", en, ko)
    if SURROGATE.search(text):
        en, ko = "it holds half of a character (a lone surrogate)", "문자의 절반(서로게이트)만 들어 있습니다"
        raise refused(field, "…", en, ko)


def _text(body: Mapping[str, Any], name: str) -> str | None:
    value = body.get(name)
    if value is not None and not isinstance(value, str):
        raise refused(name, value, "it must be text", "문자열이어야 합니다")
    return value


def _number(
    body: Mapping[str, Any], name: str, default: float, low: float, high: float, *, above: bool = False
) -> float:
    value = body.get(name)
    if value is None:
        return default
    sound = isinstance(value, int | float) and not isinstance(value, bool)
    if not sound or not low <= value <= high or (above and value == low):  # a NaN is in no range
        least = f"above {low:g}" if above else f"{low:g}"
        raise refused(
            name,
            value,
            f"a number from {least} to {high:g}" if not above else f"a number {least}, at most {high:g}",
            f"{low:g}{' 초과' if above else ' 이상'} {high:g} 이하의 숫자여야 합니다",
        )
    return float(value)


def whole(body: Mapping[str, Any], name: str, default: int, low: int, high: int) -> int:
    """A whole number of the body; Refused outside `low` to `high`."""
    value = body.get(name)
    if value is None:
        return default
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise refused(name, value, f"a whole number from {low} to {high}", f"{low}에서 {high} 사이의 정수여야 합니다")
    return value
