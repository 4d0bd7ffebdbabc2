"""What to do after a probe: go, keep the prompts that can teach, warm up first, or mend the reward."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from backend.text import Text

Verdict = Literal["go", "filter", "warm_up", "mend"]

LIVE = 0.5  # share of live groups from which a run is worth its hours
LOW = 0.1  # base accuracy below which little happens (fourth reference document: 10 to 20%)
EASY = 0.9
FEW = 0.1  # share of completions with an answer below which the format is the problem
CUT = 0.5
FEWEST = 8  # prompts in the band worth making a set of


@dataclass(frozen=True, slots=True)
class Advice:
    verdict: Verdict
    words: Text

    def to_json(self) -> dict[str, Any]:
        return {"verdict": self.verdict, "words": self.words.to_json()}


def advise(facts: Mapping[str, Any], size: int) -> Advice:
    """From the facts of a probe's report; `size` is the run's group size."""
    accuracy, tagged, cut = facts["accuracy"]["value"], facts["tagged"], facts["truncated"]
    judged = [row for row in facts["dead"] if row["share"] is not None and row["G"] <= size]
    dead = judged[-1] if judged else None
    live = 1 - dead["share"] if dead else None
    shown = f"{live:.0%}" if live is not None else "–"
    at = dead["G"] if dead else size
    if facts["unscored"] > 0.5:
        return Advice("mend", Text(
            f"No reward gave a score for {facts['unscored']:.0%} of the completions: look at the reasons first.",
            f"답변의 {facts['unscored']:.0%}에 점수가 없습니다. 학습 전에 이유부터 확인하세요.",
        ))  # fmt: skip
    if live is not None and live >= LIVE:
        return Advice("go", Text(
            f"Go: about {shown} of the groups would be live at G = {at}; {facts['task']}: {accuracy:.0%}.",
            f"진행하세요. G = {at}에서 그룹의 약 {shown}가 살아 있고, {facts['task']} 정답률은 {accuracy:.0%}입니다.",
        ))  # fmt: skip
    if accuracy < LOW and cut > CUT:
        return Advice("mend", Text(
            f"{cut:.0%} of the completions are cut off before they end: raise max_completion_length, or ask for less.",
            f"답변의 {cut:.0%}가 끝나기 전에 잘립니다. max_completion_length를 늘리거나 더 짧은 답을 요구하세요.",
        ))  # fmt: skip
    if accuracy < LOW and tagged < FEW:
        return Advice("warm_up", Text(
            f"Only {tagged:.0%} of the completions give an answer where it is looked for. Warm up on a few hundred "
            "worked examples in the wanted format first.",
            f"정해진 자리에 답을 적은 답변이 {tagged:.0%}뿐입니다. "
            "원하는 형식의 풀이 예시 수백 개로 먼저 워밍업하세요.",
        ))  # fmt: skip
    if accuracy == 0 and tagged >= CUT:
        return Advice("mend", Text(
            f"{tagged:.0%} of the completions give an answer and none is right: audit the reward on these rows first. "
            "If it is sound, the task is too hard for this model as it stands: warm up.",
            f"답변의 {tagged:.0%}가 답을 적었는데 맞은 것이 하나도 없습니다. 먼저 보상을 점검하세요. 보상에 문제가 "
            "없다면 이 모델에는 과제가 너무 어려운 것이니 워밍업하세요.",
        ))  # fmt: skip
    after, band = facts["filtered"], facts["live_band"]["count"]
    if band >= FEWEST and after is not None and dead is not None and after["share"] < 0.6 * dead["share"]:
        return Advice("filter", Text(
            f"Only about {shown} of the groups would be live at G = {at}. Keep the {band} prompts with a solve rate "
            f"of 10 to 90%: then about {1 - after['share']:.0%} would be (at G = {after['G']}).",
            f"G = {at}에서 그룹의 약 {shown}만 살아 있습니다. 정답률 10~90%인 프롬프트 {band}개만 남기면 약 "
            f"{1 - after['share']:.0%}가 됩니다(G = {after['G']}).",
        ))  # fmt: skip
    if accuracy >= EASY:
        return Advice("filter", Text(
            f"The model is right in {accuracy:.0%} already: most groups would be all right and teach nothing. Take "
            "harder prompts.",
            f"이미 정답률이 {accuracy:.0%}라 대부분의 그룹이 모두 맞아 배울 것이 없습니다. "
            "더 어려운 프롬프트를 쓰세요.",
        ))  # fmt: skip
    return Advice("warm_up", Text(
        f"Only about {shown} of the groups would be live at G = {at}, with {accuracy:.0%} right. Below 10 to 20% "
        "little happens: warm up first, take easier prompts, or a larger group.",
        f"G = {at}에서 그룹의 약 {shown}만 살아 있고 정답률은 {accuracy:.0%}입니다. 10~20%에 못 미치면 학습이 "
        "거의 진행되지 않습니다. 먼저 워밍업하거나, 더 쉬운 프롬프트나 더 큰 그룹을 쓰세요.",
    ))  # fmt: skip
