"""R3: the task reward is at its least on everything: it has never seen a right answer, or does not know one.

All completions of the latest generations (at least 64) at the minimum, and never more than 1 in 500 in the run. The
completions are read again to see why: the answer was cut off; no answer in any form; the right answer stands there and
the reward did not take it; it was taken and is unequal only by the way it is written; it is wrong. Where the reason is
plain (5% and 3 completions that are right and unread, or unequal by type, or without a ground truth; 90% cut off or
without an answer), 64 are enough; else it takes 512: at a solve rate of 1% nothing right in 64 is an even chance.

Real runs (docs/diagnosis.md): found in 6 of 6 with ground truths of another kind or another tag (step 2), the planted
cause first; a warning in none of 22 healthy ones.
"""

from __future__ import annotations

from collections import Counter

from backend.diagnosis.base import CLEAR, HOLD, Cause, Change, Reading, Ref, Rule, unknown
from backend.diagnosis.records import Sampled, Window
from backend.diagnosis.rules import _changes, _kinds
from backend.diagnosis.rules._answers import Why, golds, said, why
from backend.diagnosis.rules._settings import percent
from backend.text import Text
from storage.kinds import TOLERANCE

LEAST, SURE = 64, 512
RARE = 0.002
READ = 128  # completions that are read again
SEEN, SEEN_LEAST = 0.05, 3
MOST = 0.9

CAUSES: dict[Why, Cause] = {
    "truncated": Cause("truncated", Text(
        "The answers are cut off before they are given: raise max_completion_length",
        "답을 말하기 전에 잘립니다. max_completion_length를 늘리세요",
    )),
    "no_answer": Cause("no_answer", Text(
        "No answer is given in any form that is looked for: show the form in the prompt, or warm up on examples of it",
        "찾는 형식의 답이 없습니다. 프롬프트에 형식을 보여 주거나 그 형식의 예시로 먼저 준비하세요",
    )),
    "unread": Cause("unread", Text(
        "Right answers stand in the completions and the reward does not find them: its tag or pattern is another one",
        "맞은 답이 있는데 보상 함수가 찾지 못합니다. 태그나 정규식이 다릅니다",
    )),
    "by_type": Cause("by_type", Text(
        "Right answers are found and called unequal by the way they are written (85 against 85.0, blanks, separators)",
        "맞은 답을 찾고도 표기가 달라 다르다고 합니다(85와 85.0, 공백, 구분 기호)",
    )),
    "wrong": Cause("too_hard", Text(
        "The answers are read and they are wrong: too hard as it stands; a supervised warm-up, or easier prompts",
        "답을 제대로 읽었고 틀렸습니다. 지금은 너무 어렵습니다. 지도 학습으로 준비하거나 더 쉬운 프롬프트를 쓰세요",
    )),
    "no_gold": Cause("no_gold", Text(
        "The rows have no ground truth that can be compared with",
        "데이터에 비교할 정답이 없습니다",
    )),
}  # fmt: skip
WORDS: dict[Why, tuple[str, str]] = {
    "truncated": ("{n} cut off", "잘림 {n}"),
    "no_answer": ("{n} without an answer", "답 없음 {n}"),
    "unread": ("{n} right but not read", "맞지만 읽지 못함 {n}"),
    "by_type": ("{n} right but written otherwise", "맞지만 표기가 다름 {n}"),
    "wrong": ("{n} wrong", "틀림 {n}"),
    "no_gold": ("{n} without a ground truth", "정답 없음 {n}"),
}
TELLING: tuple[Why, ...] = ("no_gold", "by_type", "unread")  # should never be
ORDER: tuple[Why, ...] = ("no_gold", "by_type", "unread", "truncated", "no_answer", "wrong")


def check(window: Window) -> Reading | None:
    facts = window.facts
    if facts.task is None or not window.all_groups:
        return None
    groups = window.groups if window.full else window.all_groups
    low, _ = _kinds.ends(groups, window)
    near = low + TOLERANCE * max(1.0, abs(low))
    if _ever_above(window, near) or not low > float("-inf"):
        return CLEAR
    scored = [(group, i) for group in groups for i, s in enumerate(group.scores(facts.task)) if s == s]
    floor = [
        (group, i)
        for group, i in scored
        if (given := group.completions[i].rewards[facts.task]) is not None and given <= near
    ]
    if len(scored) - len(floor) > RARE * len(scored):
        return CLEAR
    if len(scored) < LEAST:
        a_step = len(scored) / max(1, len({group.step for group in groups}))
        return unknown(int(-(-(LEAST - len(scored)) // a_step)) if a_step else None)
    read = [(group, i) for group, i in floor if not group.dropped][-READ:]
    if not read:
        return HOLD  # the texts have been dropped to save room
    found: list[tuple[Why, Sampled, int]] = [
        (why(group.completions[i], group.ground_truth, facts.task), group, i) for group, i in read
    ]
    counts: Counter[Why] = Counter(each for each, _, _ in found)
    main = _main(counts)
    plain = main in TELLING or counts["truncated"] + counts["no_answer"] >= MOST * counts.total()
    seen = _seen(window)
    if not plain and seen < SURE:
        return unknown(max(1, int((SURE - seen) / max(1, len(scored)) * len({g.step for g in groups}))))
    return _fire(window, main, counts, found, seen)


def _ever_above(window: Window, near: float) -> bool:
    """Whether the task was right more than rarely before, by its logged mean."""
    facts = window.facts
    values = [v for v in window.curve(f"rewards/{facts.reward_names[facts.task or 0]}/mean").values if v == v]
    return bool(values) and sum(value - near for value in values) / len(values) > RARE


def _seen(window: Window) -> int:
    groups = window.all_groups
    return sum(len(group.completions) for group in groups[-SURE:])


def _main(counts: Counter[Why]) -> Why:
    """What explains it: a little of what should never be is enough, else the most frequent."""
    total = counts.total()
    for kind in TELLING:
        if counts[kind] >= max(SEEN_LEAST, SEEN * total):
            return kind
    return max(ORDER, key=lambda kind: counts[kind])


def _fire(window: Window, main: Why, counts: Counter[Why], found: list[tuple[Why, Sampled, int]], n: int) -> Reading:
    name = window.facts.reward_names[window.facts.task or 0]
    refs: list[Ref] = [group.ref(i) for each, group, i in reversed(found) if each == main][:5]
    listed: list[Why] = [kind for kind in ORDER if counts[kind]]
    en = ", ".join(WORDS[kind][0].format(n=counts[kind]) for kind in listed)
    ko = ", ".join(WORDS[kind][1].format(n=counts[kind]) for kind in listed)
    group, i = next((group, i) for each, group, i in reversed(found) if each == main)
    text = Text(
        f"{name} always gives its least score. Of the last {len(found)} completions: {en}",
        f"{name}이(가) 늘 최저점을 줍니다. 최근 답변 {len(found)}개: {ko}",
    )
    evidence = {
        "reward": name, "completions": n, "read_again": len(found), **{kind: counts[kind] for kind in ORDER},
        "share": percent(counts[main] / len(found)),
        "example_answer": (said(group.completions[i].text) or "")[:80], "example_gold": (group.ground_truth or "")[:80],
    }  # fmt: skip
    causes = tuple(CAUSES[kind] for kind in sorted(listed, key=lambda kind: (kind != main, -counts[kind])))
    return Reading("fire", text, evidence, tuple(refs), causes, _change(window, main, found))


def _change(window: Window, main: Why, found: list[tuple[Why, Sampled, int]]) -> tuple[Change, ...]:
    facts = window.facts
    if main == "truncated":
        length = facts.get("max_completion_length")
        return _changes.offer(facts, {"max_completion_length": int(length) * 2}) if length else ()
    if main == "by_type":
        return _other_reward(window, "math")
    if main == "unread":
        right = [(group, i) for each, group, i in found if each == main]
        letters = all(f"<answer>{gold}</answer>" in group.completions[i].text.replace("> ", ">").replace(" <", "<")
                      for group, i in right for gold in golds(group.ground_truth)[:1])  # fmt: skip
        return _other_reward(window, "accuracy" if letters else "math")
    if main == "wrong":
        return _changes.warm_up(facts) or _changes.other_difficulty(facts, harder=False)
    return _changes.warm_up(facts) if main == "no_answer" else ()


def _other_reward(window: Window, name: str) -> tuple[Change, ...]:
    """The task's reward replaced by a built-in one, its arguments dropped."""
    facts, task = window.facts, window.facts.task or 0
    rewards = list(facts.get("rewards", ()))
    if task >= len(rewards) or name in rewards:
        return ()
    old, rewards[task] = rewards[task], name
    args = {key: value for key, value in dict(facts.get("reward_args", {})).items() if key != old}
    return _changes.offer(facts, {"rewards": rewards, "reward_args": args})


RULE = Rule(
    id="R3",
    name="floor",
    title=Text("The task reward is always at its least", "과제 보상이 늘 최저점입니다"),
    severity="critical",
    means="stalled",
    check=check,
    when="step",
    symptoms=("Z1", "Z3", "A1", "A2", "Z6", "D1", "C2", "C4"),
    calibrated=True,
)
