"""Whether a reward says the same twice, in any order of the batch, and soon enough."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from backend.lab.audit import patterns
from backend.lab.audit.bench import Judged
from backend.lab.audit.report import Check, Example, score_text
from backend.lab.audit.subject import ALMOST, Subject
from backend.text import Text

ROWS = 6
ALONE = 3
TOO_SLOW_S = 0.1  # a completion
TOO_SLOW_CALL_S = 1.0  # a call with one completion
TOO_MUCH = 0.3  # of a step
LONG = 50_000
LONG_S = 1.0

SAME = Text(en="The same text judged twice", ko="같은 답변을 두 번 채점")
ORDER = Text(en="Order and company in the batch", ko="배치의 순서와 구성")
SPEED = Text(en="Speed", ko="속도")


def _texts(subject: Subject) -> list[tuple[int, str]]:
    rows = range(min(subject.bench.few(ROWS), len(subject.rows)))
    answers = [subject.answers[row] or "42" for row in rows]
    found = [(row, f"<answer>{answers[row]}</answer>") for row in rows]
    if subject.form is not None:
        found += [(row, subject.form.text(answers[row])) for row in rows]
    return [*found, *[(row, f"I think that it is {answers[row]}, or 7.") for row in rows]]


def steady_checks(subject: Subject) -> Iterator[Check]:
    """Determinism, then batch order. A reward that is not deterministic is asked nothing more."""
    asked = _texts(subject)
    first = subject.bench.judge(asked)
    again = subject.bench.judge(asked)
    differ = [at for at in range(len(asked)) if _differ(first[at], again[at])]
    if differ:
        subject.halted = True
        yield Check(
            "deterministic",
            subject.name,
            "fail",
            SAME,
            Text(
                en=f"Not deterministic: {len(differ)} of {len(asked)} completions got another score when they were "
                "judged again. It answers by chance, or keeps a state between calls.",
                ko=f"결정적이지 않습니다. 답변 {len(asked)}개 중 {len(differ)}개가 다시 채점했을 때 다른 점수를 "
                "받았습니다. 무작위로 "
                "점수를 주거나 호출 사이에 상태를 유지합니다.",
            ),
            [_moved(asked[at], first[at], again[at]) for at in differ],
        )
        return
    words = Text(en="Two calls with the same batch agree.", ko="같은 배치로 두 번 호출한 결과가 같습니다.")
    yield Check("deterministic", subject.name, "pass", SAME, words)
    turned = subject.bench.judge(asked[::-1])[::-1]
    alone = [subject.bench.judge([each])[0] for each in asked[: 0 if subject.bench.per_call else ALONE]]
    moved = [_moved(asked[at], first[at], turned[at]) for at in range(len(asked)) if _differ(first[at], turned[at])]
    moved += [_moved(asked[at], first[at], alone[at]) for at in range(len(alone)) if _differ(first[at], alone[at])]
    if moved:
        words = Text(
            en="A completion's score depends on the others of its batch (another order, or alone). Fine only where "
            "that is meant, such as a reward for variety.",
            ko="같은 배치의 다른 답변에 따라 점수가 달라집니다(순서를 바꾸거나 하나만 채점할 때). 다양성 보상처럼 "
            "의도한 "
            "경우에만 괜찮습니다.",
        )
        yield Check("order", subject.name, "warn", ORDER, words, moved)
    else:
        words = Text(
            en="The same scores in another order" + (" and one by one." if alone else "."),
            ko="순서를 바꾸거나 하나씩 채점해도 같습니다." if alone else "순서를 바꿔도 같습니다.",
        )
        yield Check("order", subject.name, "pass", ORDER, words)


def _differ(a: Judged, b: Judged) -> bool:
    if a.skipped or b.skipped:
        return False
    if a.score is None or b.score is None:
        return a.score is not b.score
    return abs(a.score - b.score) > max(ALMOST, 1e-6 * abs(a.score))


def _moved(asked: tuple[int, str], before: Judged, after: Judged) -> Example:
    a, b = score_text(before.score), score_text(after.score)
    return Example(asked[0], asked[1], after.score, a, Text(en=f"{a}, then {b}", ko=f"{a}, 다음에는 {b}"))


def speed_checks(subject: Subject, completions: int, step_s: float | None) -> Iterator[Check]:
    """Seconds a completion, over all calls so far. `completions` a step, `step_s` its seconds where they are known."""
    calls = subject.bench.calls[1:] or subject.bench.calls  # the first one may start a process
    each = sorted(call.seconds / call.count for call in calls)
    rate, one = subject.bench.marginal(), subject.bench.single()
    a_step = one + rate * (completions - 1)
    share = a_step / step_s if step_s else 0.0
    if subject.bench.per_call:
        told = f"{_ms(one)} a call whatever is in it, {_ms(rate)} more for each completion of a batch"
        told_ko = f"호출마다 {_ms(one)}, 배치의 답변이 하나 늘 때마다 {_ms(rate)}"
    else:
        told = f"{_ms(rate)} a completion in a batch, {_ms(one)} for one alone, {_ms(each[-1])} at most"
        told_ko = f"배치에서 답변당 {_ms(rate)}, 하나만 채점하면 {_ms(one)}, 최대 {_ms(each[-1])}"
    if rate > TOO_SLOW_S or one > TOO_SLOW_CALL_S or share > TOO_MUCH:
        words = Text(
            en=f"Slow: {told}. About {a_step:.1f} s for the {completions} completions of a step"
            + (f", {share:.0%} of a step of {step_s:.1f} s" if step_s else "")
            + ", while the GPU waits.",
            ko=f"느립니다. {told_ko}. 스텝당 답변 {completions}개에 약 {a_step:.1f}초가 걸리고"
            + (f"(스텝 {step_s:.1f}초의 {share:.0%})" if step_s else "")
            + " 그동안 GPU가 놉니다.",
        )
        yield Check("speed", subject.name, "warn", SPEED, words)
    else:
        yield Check("speed", subject.name, "pass", SPEED, Text(en=f"{told}.", ko=f"{told_ko}."))


def _ms(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"


def pattern_checks(subject: Subject) -> Iterator[Check]:
    """Patterns in the arguments and the source, tried on texts that make them backtrack. Halts the subject if one does:
    every further question could take as long."""
    found = patterns.in_args(subject.args) + (patterns.in_source(subject.used) if subject.used else [])
    for pattern in found:
        text = patterns.slow_text(pattern) if not subject.bench.budget.spent else None
        if text is not None:
            subject.halted = True
            words = Text(
                en=f"The pattern {pattern} needs more than {patterns.LIMIT_S:g} s for a text of {len(text)} "
                "characters: "
                "a repeat inside a repeat can match it in countless ways. One such completion holds up the whole step.",
                ko=f"패턴 {pattern}은(는) {len(text)}자짜리 글에 {patterns.LIMIT_S:g}초 넘게 걸립니다. 반복 안에 "
                "반복이 있어 경우의 "
                "수가 폭발합니다. 그런 답변 하나가 스텝 전체를 멈춥니다.",
            )
            why = Text(en=f"stopped after {patterns.LIMIT_S:g} s", ko=f"{patterns.LIMIT_S:g}초 뒤 중단")
            yield Check("patterns", subject.name, "fail", patterns.TITLE, words, [Example(None, text, None, "", why)])
            return
    if found:
        words = Text(en=f"{len(found)} looked at; none backtracks without end.",
                     ko=f"패턴 {len(found)}개를 살폈고, 끝없이 되짚는 것은 없습니다.")  # fmt: skip
        yield Check("patterns", subject.name, "pass", patterns.TITLE, words)


def scores_of(judged: Sequence[Judged]) -> list[float]:
    return [each.score for each in judged if each.score is not None]
