"""reward_model: the score of a sequence classifier. Declared here; the worker loads it (workers/reward_model.py)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from backend.errors import Refused
from backend.rewards._patterns import refuse
from backend.rewards.verdict import Verdict
from backend.text import Text

LABEL = {"en": "Reward model", "ko": "보상 모델"}
HELP = {
    "en": "What a sequence classifier with one output says of prompt and completion, by its own chat template. "
    "Loaded in settings of its own beside the policy, so only a run can use it. Its scores have no bounds: watch how "
    "they spread.",
    "ko": "출력이 하나인 시퀀스 분류 모델이 자기 채팅 템플릿으로 프롬프트와 응답을 읽고 매긴 점수입니다. 정책 모델과 "
    "별도 설정으로 나란히 올리므로 학습에서만 쓸 수 있습니다. 점수에 한계가 없으니 분포를 살펴보세요.",
}
BOUNDS = None
PORTABLE = False
LOADED_BY_WORKER = True


def judge_many(
    completions: Sequence[str],
    *,
    prompt: Sequence[Any],
    model: str = "",
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "float32",
    batch_size: int = 8,
    max_length: int | None = None,
    revision: str | None = None,
) -> list[Verdict | Exception]:
    """`model`: a hub name or a folder. `max_length`: tokens kept of prompt and completion, the latest ones."""
    raise Refused(
        Text(
            en="rewards: reward_model is loaded by the worker of a run and cannot be asked here",
            ko="rewards: reward_model은 학습 프로세스에서만 불러오므로 여기서는 쓸 수 없습니다",
        )
    )


def check(args: Mapping[str, Any]) -> None:
    """Refused without a model, and for sizes that are none."""
    if not args["model"].strip():
        refuse("reward_model.model", args["model"], "a hub name or a folder", "허브 이름 또는 폴더")
    for name in ("batch_size", "max_length"):
        if args[name] is not None and args[name] < 1:
            refuse(f"reward_model.{name}", args[name], "at least 1", "1 이상")
