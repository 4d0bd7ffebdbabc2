"""reasoning_gym: the task's own scorer on the item that its generator made; a strict comparison beside it."""

from __future__ import annotations

import functools
import importlib.util
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from backend.errors import Refused
from backend.rewards.extract import final_answer, no_answer, reasoning
from backend.rewards.verdict import Verdict
from backend.text import Text

LABEL = {"en": "reasoning-gym task", "ko": "reasoning-gym 과제"}
HELP = {
    "en": "What the task's own scorer gives the answer, from the item that the generator stored with the row; many "
    "tasks give part of a point for a near answer. The reason shows whether the answer is also equal, letter for "
    "letter. strict: only that counts. Needs requirements-extra.txt.",
    "ko": "행에 저장된 문항으로 과제 자체의 채점 함수가 매긴 점수입니다. 비슷한 답에 부분 점수를 주는 과제가 "
    "많으므로, 답이 글자까지 같은지도 이유에 함께 보여 줍니다. strict: 완전히 같은 답만 1. requirements-extra.txt를 "
    "설치해야 합니다.",
}
BOUNDS = (0.0, 1.0)
OPTIONAL_COLUMNS = ("task",)
ISOLATED = True
PORTABLE = False

MARK = re.compile(r"<answer\s*>|\\boxed", re.IGNORECASE)


def judge(
    completion: str,
    *,
    item: object,
    task: str | None = None,
    strict: bool = False,
    prefilled: bool = False,
    limit_s: float = 5.0,
) -> Verdict:
    """`item`: what the generator made, as JSON text or an object with "question", "answer" and "metadata".

    `task`: the task's name, where the item's metadata do not name it ("source_dataset"). The answer is the last
    <answer> tag or box after the reasoning, else all that follows the reasoning; the white space around it is left
    out, since many scorers take it for part of the answer.
    """
    entry, why = _entry(item)
    if entry is None:
        return Verdict(None, reason=why)
    metadata = entry.get("metadata")
    name = (metadata.get("source_dataset") if isinstance(metadata, dict) else None) or task
    if not name:
        return Verdict(None, reason="the item does not name its task (metadata.source_dataset, or a column task)")
    scorer = _scorer(name)
    if scorer is None:
        return Verdict(None, reason=f"reasoning-gym has no task {name!r}")
    answer = _answer(completion, prefilled)
    if answer is None:
        return Verdict(0.0, reason=no_answer(completion, prefilled))
    gold = entry.get("answer")
    exact = None if gold is None else float(answer == str(gold).strip())
    if strict:
        if exact is None:
            return Verdict(None, answer, "the item has no answer to be equal to")
        return Verdict(exact, answer, "equal to the item's answer" if exact else "not the item's answer")
    score = float(scorer(answer, entry)) if answer else 0.0
    strictly = "the item has no answer to be equal to" if exact is None else f"strictly {exact:g}"
    return Verdict(score, answer, f"{name} gives {score:.3g}; {strictly}")


def _answer(completion: str, prefilled: bool) -> str | None:
    """None where there is none: an unfinished thought, or a tag or box that was cut off."""
    rest = reasoning(completion, prefilled).rest
    found = final_answer(completion, prefilled)
    if rest is None or found is None:
        return None if rest is None or MARK.search(rest) else rest.strip()
    return found.text.strip() if found.kind in ("tag", "box") else rest.strip()


def _entry(item: object) -> tuple[dict[str, Any] | None, str]:
    if isinstance(item, str):
        try:
            item = json.loads(item)
        except (ValueError, RecursionError):
            return None, "the item is no JSON"
    if not isinstance(item, dict) or "answer" not in item:
        return None, "the item is no object with an answer"
    return item, ""


@functools.cache
def _scorer(name: str) -> Callable[[str, dict[str, Any]], float] | None:
    gym = importlib.import_module("reasoning_gym")
    return gym.get_score_answer_fn(name) if name in gym.factory.DATASETS else None


def warm() -> None:
    """Import the package, which takes a second or two, before the time of a call runs."""
    importlib.import_module("reasoning_gym")


def check(args: Mapping[str, Any]) -> None:
    """Refused where the package is not installed."""
    if importlib.util.find_spec("reasoning_gym") is None:
        raise Refused(
            Text(
                en="rewards: reasoning_gym needs the package reasoning-gym, which is optional: "
                "pip install -r requirements-extra.txt (parts of it are built, which needs a C compiler)",
                ko="rewards: reasoning_gym에는 선택 패키지인 reasoning-gym이 필요합니다. "
                "pip install -r requirements-extra.txt로 설치하세요(일부를 빌드하므로 C 컴파일러가 필요합니다)",
            )
        )


def unreadable(gold: object) -> str | None:
    """Why an item cannot be judged; None where it can."""
    entry, why = _entry(gold)
    return why if entry is None else None
