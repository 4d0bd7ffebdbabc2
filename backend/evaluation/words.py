"""What an evaluation says, in sentences."""

from __future__ import annotations

import math
from typing import Any

from backend.text import Text

SURE = 0.05  # McNemar's p above which a change may be chance, whatever the interval says
SMALL = 50  # rows below which an interval is wider than most gains


def _half_up(value: float, digits: int) -> str:
    """6.25 as 6.3, as the page's own figures are rounded; Python alone would round it to the even 6.2."""
    return f"{math.floor(value * 10**digits + 0.5) / 10**digits:.{digits}f}"


def percent(share: float) -> str:
    """52%; one decimal below 10 and where it would hide that something is missing from 100 or 0."""
    value = 100 * share
    rounded = _half_up(value, 0)
    if 0 < value < 10 or (rounded == "100" and value < 100):
        rounded = _half_up(value, 1)
    return f"{rounded}%"


def points(difference: float) -> str:
    """+41 or −3.5: a difference of shares in percentage points, with its sign."""
    value = 100 * difference
    text = f"{abs(value):.0f}" if abs(value) >= 9.5 or value == 0 else f"{abs(value):.1f}"
    return f"{'+' if value > 0 else '−' if value < 0 else '±'}{text}"


def sentence(found: dict[str, Any]) -> Text:
    """The line on top: accuracy before and after, the interval, and what no learning would give."""
    base, trained, paired = found["base"], found["trained"], found["paired"]
    majority = found["baselines"]["majority"]
    if paired is None:
        return _unpaired(found)
    low, high = points(paired["low"]), points(paired["high"])
    change, n = points(paired["difference"]), f"{found['n']:,}"
    before, after = percent(base["paired_accuracy"]), percent(trained["paired_accuracy"])
    held_out = found["data"] in (None, "held-out")
    which = Text("held-out problems", "평가 문제") if held_out else Text("problems", "문제")
    en = f"Accuracy {before} → {after} on {n} {which.en} ({change} points, 95% interval {low} to {high})."
    ko = f"{which.ko} {n}개에서 정확도 {before} → {after} ({change}%p, 95% 구간 {low} ~ {high})."
    if paired["low"] <= 0 <= paired["high"]:
        en += " The interval contains 0: this cannot tell whether it got better."
        ko += " 구간에 0이 들어 있어 나아졌는지 알 수 없습니다."
    elif paired["p"] > SURE:
        en += f" It may be chance all the same (McNemar p = {paired['p']:.2f})."
        ko += f" 그래도 우연일 수 있습니다(McNemar p = {paired['p']:.2f})."
    elif paired["high"] < 0:
        en += " It got worse."
        ko += " 더 나빠졌습니다."
    if majority is not None:
        en += f" Always answering the commonest answer would give {percent(majority)}."
        ko += f" 가장 흔한 답만 내도 {percent(majority)}입니다."
    return Text(en=en, ko=ko)


def _unpaired(found: dict[str, Any]) -> Text:
    side = found["base"] or found["trained"]
    if side is None:
        return Text(en="Nothing has been evaluated yet.", ko="아직 평가한 것이 없습니다.")
    if found["trained"] is None or found["base"] is None:
        which = Text("the base", "기준 모델") if found["trained"] is None else Text("the trained model", "학습된 모델")
        if side["accuracy"] is None:
            return Text(
                en=f"Only {which.en} has been evaluated, and none of its answers could be judged.",
                ko=f"{which.ko}만 평가했고, 채점할 수 있는 답이 없습니다.",
            )
        return Text(
            en=f"Only {which.en} has been evaluated: accuracy {percent(side['accuracy'])} on {side['n']:,} problems.",
            ko=f"{which.ko}만 평가했습니다: 문제 {side['n']:,}개에서 정확도 {percent(side['accuracy'])}.",
        )
    return Text(
        en="No answer could be judged right or wrong: the rows have no ground truth that a reward of this run reads.",
        ko="맞고 틀림을 판정할 수 있는 답이 없습니다. 이 실행의 보상이 읽을 수 있는 정답이 행에 없습니다.",
    )


def _identical(rows: int, adapter: dict[str, Any] | None, kind: str | None) -> Text:
    """`kind`: of the trained weights where it is known: "adapter", "full" or "model"; "control" of a control."""
    en = f"Both sides gave the same answer to all {rows} problems."
    ko = f"문제 {rows}개 모두에서 양쪽 답이 똑같습니다."
    if adapter is not None and adapter.get("verdict") == "active":
        return Text(
            en=f"{en} The trained weights are active all the same; what changed does not show in these answers.",
            ko=f"{ko} 학습된 가중치는 적용되어 있습니다. 이 답들에서 드러날 만큼 달라지지 않았습니다.",
        )
    if kind == "control":
        return Text(
            en=f"{en} With its rewards shuffled a control is expected to learn little or nothing.",
            ko=f"{ko} 보상을 섞은 대조 실행에서는 배우는 것이 거의 없는 것이 정상입니다.",
        )
    if kind in ("full", "model"):
        return Text(
            en=f"{en} Did training change the weights at all?", ko=f"{ko} 학습으로 가중치가 바뀌었는지 확인하세요."
        )
    return Text(en=f"{en} Was the adapter loaded?", ko=f"{ko} 어댑터가 적용되었는지 확인하세요.")


def warnings(found: dict[str, Any], facts: dict[str, Any]) -> list[dict[str, Any]]:
    """[{"id", "words"}]: what makes the figures say less than they seem to."""
    said: list[tuple[str, Text]] = []
    trained, base, paired = found["trained"], found["base"], found["paired"]
    if facts["different_prompts"]:
        said.append(("different_prompts", Text(
            en=f"{facts['different_prompts']} rows did not have the same prompt on both sides and were left out.",
            ko=f"양쪽 프롬프트가 다른 {facts['different_prompts']}행을 제외했습니다.",
        )))  # fmt: skip
    if facts["identical"]:
        said.append(("identical", _identical(facts["identical"], found["adapter"], facts.get("weights"))))
    for name, side in (("base", base), ("trained", trained)):
        if side is not None and side["same_answer"]:
            said.append((f"one_answer_{name}", Text(
                en=f"The {name} model gave one and the same answer to every problem.",
                ko=f"{'기준' if name == 'base' else '학습된'} 모델이 모든 문제에 똑같은 답을 냈습니다.",
            )))  # fmt: skip
    majority = found["baselines"]["majority"]
    if trained is not None and trained["accuracy"] is not None and majority is not None:
        if found["baselines"]["chance"] is not None and trained["accuracy"] <= majority:
            said.append(("below_majority", Text(
                en=f"Always answering the commonest answer would do as well: {percent(majority)}.",
                ko=f"가장 흔한 답만 내도 이만큼은 됩니다: {percent(majority)}.",
            )))  # fmt: skip
        strict = trained["strict"]
        if strict is not None and trained["accuracy"] - strict > 0.1:
            said.append(("strict", Text(
                en=f"Only {percent(strict)} are the ground truth letter for letter; the scorer takes more than that.",
                ko=f"정답과 글자까지 같은 답은 {percent(strict)}뿐입니다. 채점기가 더 너그럽게 봅니다.",
            )))  # fmt: skip
    if trained is not None and trained["eos_rate"] is not None and trained["eos_rate"] < 0.9:
        said.append(("cut_off", Text(
            en=f"{percent(1 - trained['eos_rate'])} of the trained model's answers were cut off at the length limit.",
            ko=f"학습된 모델의 답 {percent(1 - trained['eos_rate'])}가 길이 제한에서 잘렸습니다.",
        )))  # fmt: skip
    if facts["fewer_samples"]:
        said.append(("fewer_samples", Text(
            en=f"{facts['fewer_samples']} rows have fewer than {found['k']} samples that could be judged; they are in "
            "no pass@k or maj@k.",
            ko=f"{facts['fewer_samples']}행은 채점할 수 있는 샘플이 {found['k']}개보다 적어 pass@k와 maj@k에서 "
            "제외했습니다.",
        )))  # fmt: skip
    if found["skipped"]:
        said.append(("skipped", Text(
            en=f"{found['skipped']} of {found['rows']} rows could not be judged; they are in no figure.",
            ko=f"{found['rows']}행 중 {found['skipped']}행은 채점할 수 없어 어느 수치에도 들어가지 않습니다.",
        )))  # fmt: skip
    if found["left_out"]:
        said.append(("left_out", Text(
            en=f"{found['left_out']} rows were left out: their prompts are too long for the model.",
            ko=f"프롬프트가 모델에 너무 길어 {found['left_out']}행을 제외했습니다.",
        )))  # fmt: skip
    if paired is not None and found["n"] < SMALL and paired["low"] <= 0 <= paired["high"]:
        said.append(("few_rows", Text(
            en=f"{found['n']} rows tell little: use a few hundred to see a gain of some points.",
            ko=f"{found['n']}행으로는 알기 어렵습니다. 몇 %p 차이를 보려면 수백 행이 필요합니다.",
        )))  # fmt: skip
    return [{"id": name, "words": words.to_json()} for name, words in said]
