"""Whether the trainer can call a reward at all, and what comes back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from backend.lab.audit.bench import Judged, Missed
from backend.lab.audit.derived import ignores_texts
from backend.lab.audit.golds import filled
from backend.lab.audit.inputs import changes
from backend.lab.audit.report import Check, Example, score_text
from backend.lab.audit.subject import Subject
from backend.text import Text

SANDBOX = "SandboxUnavailable"

CALL = Text(en="The first call", ko="첫 호출")
SOURCE = Text(en="The function's parameters", ko="함수의 매개변수")
STATE = Text(en="State between calls", ko="호출 사이의 상태")
INPUTS = Text(en="What it does to its inputs", ko="입력을 다루는 방식")
ERRORS = Text(en="Texts on which it raises", ko="오류가 나는 글")
SAME = Text(en="Different texts, different scores", ko="글에 따른 점수 차이")
SHAPES = Text(en="Plain and conversational completions", ko="일반 문자열과 대화형 답변")
QUOTED = re.compile(r"'[^']*'")
ODD = "", "42", "x" * 3000


def source_checks(subject: Subject) -> Iterator[Check]:
    """What the source of a custom reward says: **kwargs, columns, state, inputs. Nothing is run."""
    if subject.source is None:
        return
    from backend.custom.look import look

    named = set(subject.columns)
    there = dict.fromkeys(name for row in subject.rows for name in row)
    columns = [name for name in there if name in named or name in filled(subject.rows)]
    mapping = dict(subject.args.get("columns") or {})
    seen = look(subject.source, subject.function, subject.name, subject.level or "sandboxed", columns, mapping)
    stops = [problem for problem in seen.problems if problem.stops and problem.code != "choose"]
    if stops:
        words = Text(en="; ".join(p.text.en for p in stops), ko="; ".join(p.text.ko for p in stops))
        yield Check("signature", subject.name, "fail", SOURCE, words, stops=True)
    else:
        words = Text(en="Every column that it names is there, and it takes the others too.",
                     ko="쓰는 열이 모두 있고, 나머지 열도 받을 수 있습니다.")  # fmt: skip
        yield Check("signature", subject.name, "pass", SOURCE, words)
    state = [problem for problem in seen.problems if problem.code == "state"]
    if state:
        yield Check("state", subject.name, "warn", STATE, state[0].text)
    changed = changes(subject.source, subject.function)
    if changed:
        yield Check(
            "inputs",
            subject.name,
            "warn",
            INPUTS,
            Text(
                en=f"Line {changed[0]} changes {changed[1]}. Here each reward gets a copy, so nothing happens; in a "
                "plain TRL script the rewards after it would see the change.",
                ko=f"{changed[0]}번째 줄에서 {changed[1]}을(를) 바꿉니다. 여기서는 보상마다 사본을 받아 문제가 "
                "없지만, 일반 "
                "TRL 스크립트에서는 뒤의 보상이 바뀐 값을 보게 됩니다.",
            ),
        )


def call_checks(subject: Subject) -> Iterator[Check]:
    """The first real call, on two rows of the set and a few texts. Halts the subject where nothing can be asked."""
    bench = subject.bench
    rows = list(range(min(2, len(subject.rows))))
    asked = [(row, text) for row in rows for text in ("<answer>42</answer>", "I do not know.", *ODD)]
    judged = bench.judge(asked[:2])
    if bench.hung and all(each.failed for each in judged):
        subject.halted = True
        yield _hangs(subject, asked[:2], 2)
        return
    judged += bench.judge(asked[2:])
    failed = [(row, text, each) for (row, text), each in zip(asked, judged, strict=True) if each.failed]
    if bench.hung and failed:
        # Further texts could take as long, one after the other.
        subject.halted = True
        yield _hangs(subject, [(row, text) for row, text, _ in failed], len(asked))
    elif bench.broken:
        subject.halted = True
        kind = "sandbox" if SANDBOX in bench.broken_by else "contract"
        words = bench.broken[0]
        yield Check(kind, subject.name, "fail", CALL, words, stops=True)
    elif len(failed) == len(asked):
        subject.halted = True
        yield _raises(subject, failed, len(asked))
    elif any(each.score is not None for each in judged) and not failed:  # what is missed is told at the end
        count = sum(each.score is not None for each in judged)
        yield Check(
            "contract",
            subject.name,
            "pass",
            CALL,
            Text(
                en=f"One number or None a completion, in order: {count} of {len(asked)} odd texts scored, no error.",
                ko=f"답변마다 수 하나 또는 None을 순서대로 돌려줍니다. 특이한 글 {len(asked)}개 중 {count}개에 점수, "
                "오류 없음.",
            ),
        )


def _hangs(subject: Subject, stopped: list[tuple[int, str]], count: int) -> Check:
    limit = f"{subject.bench.reward.limit_s:.3g}"
    every = len(stopped) == count
    words = Text(
        en=f"{len(stopped)} of {count} completions took more than {limit} s and were stopped. "
        + ("It never ends, or waits for what the sandbox does not have." if every else
           "A pattern that backtracks, or a loop that depends on the text: one such answer holds up the whole step."),
        ko=f"답변 {count}개 중 {len(stopped)}개가 {limit}초를 넘겨 중단되었습니다. "
        + ("끝나지 않거나, 샌드박스에 없는 것을 기다립니다." if every else
           "되짚기가 폭발하는 패턴이거나 글에 따라 길어지는 반복문입니다. 그런 답변 하나가 스텝 전체를 멈춥니다."),
    )  # fmt: skip
    why = Text(en=f"stopped after {limit} s", ko=f"{limit}초 뒤 중단")
    examples = [Example(row, text, None, "a number or None", why) for row, text in stopped]
    return Check("hangs", subject.name, "fail", CALL, words, examples, stops=every)


def _raises(subject: Subject, failed: list[tuple[int, str, Judged]], count: int) -> Check:
    reasons = list(dict.fromkeys(each.reason or "" for _, _, each in failed))
    shape = "a list of messages" if isinstance(subject.rows[0].get("prompt"), list) else "a text"
    shape_ko = "메시지 목록" if isinstance(subject.rows[0].get("prompt"), list) else "문자열"
    raised = f"{len(failed)} of {count} completions could not be scored: {reasons[0][:300]}. "
    raised_ko = f"답변 {count}개 중 {len(failed)}개에 점수를 매기지 못했습니다: {reasons[0][:300]}. "
    words = Text(
        en=f"{raised}A completion of these rows is {shape}.", ko=f"{raised_ko}이 데이터의 답변은 {shape_ko}입니다."
    )
    why = Text(en="raised an error", ko="오류 발생")
    examples = [Example(row, text, None, "a number or None", why) for row, text, _ in failed]
    return Check("raises", subject.name, "fail", CALL, words, examples, stops=True)


def missed_checks(subject: Subject, said: Mapping[str, str]) -> Iterator[Check]:
    """Over all texts that were asked: those on which it raised. `said`: the verdict of each kind of check so far."""
    missed = list(subject.bench.missed.values())
    if not missed or any(said.get(kind) == "fail" for kind in ("raises", "hangs", "contract", "sandbox")):
        return
    first: dict[str, Missed] = {}  # one text for each thing that it says
    for each in sorted(missed, key=lambda each: len(each.text)):
        first.setdefault(QUOTED.sub("…", each.reason), each)
    for each in sorted(missed, key=lambda each: len(each.reason)):
        first.setdefault(each.reason, each)
    shown = list(first.values())
    reasons = "; ".join(each.reason[:200] for each in shown[:1])
    count = len(subject.bench.seen)
    words = Text(
        en=f"It raises on {len(missed)} of the {count} texts tried; those completions would be missing, not 0: "
        f"{reasons}. A model writes such texts; give them a score.",
        ko=f"시험한 글 {count}개 중 {len(missed)}개에서 오류가 납니다. 그런 답변은 0점이 아니라 누락이 됩니다: "
        f"{reasons}. 모델이 쓸 수 있는 글이니 점수를 주도록 고치세요.",
    )
    examples = [
        Example(each.row, each.text, None, "a number or None", Text(en=each.reason[:200], ko=each.reason[:200]))
        for each in shown
    ]
    yield Check("errors", subject.name, "warn", ERRORS, words, examples)


def same_checks(subject: Subject, said: Mapping[str, str], only: bool) -> Iterator[Check]:
    """One score, or none, for whatever was asked. `said`: the verdict of each kind of check so far; `only`: no other
    reward is there."""
    scores = subject.bench.scores
    told = any(said.get(kind) in ("warn", "fail") for kind in ("gold", "golds", "type", "raises", "hangs", "contract"))
    if not subject.custom or told or len(scores) != 1:
        return
    blind = ignores_texts(subject.used, subject.function)
    if not blind and not any(subject.answers):
        words = Text(
            en=f"All of {len(subject.bench.seen)} texts tried got the same, and what a right one would be is not known "
            "here: try some in the Lab.",
            ko=f"시험한 글 {len(subject.bench.seen)}개가 모두 같은 결과입니다. 맞는 글을 여기서는 알 수 없으니 "
            "보상 실험실에서 직접 채점해 보세요.",
        )
        yield Check("constant", subject.name, "skip", SAME, words)
        return
    count = len(subject.bench.seen) - len(subject.bench.missed)
    score = next(iter(scores))
    if score is None:
        sure = only and blind
        words = Text(
            en=f"None for every one of {count} texts, right, wrong, empty or long: it never counts, and teaches "
            "nothing.",
            ko=f"맞든 틀리든, 비었든 길든 시험한 글 {count}개 모두 None입니다. 점수가 없으니 배울 것이 없습니다.",
        )
        yield Check("constant", subject.name, "fail" if sure else "warn", SAME, words, stops=sure)
        return
    words = Text(
        en=f"Every one of {count} texts tried, right, wrong, empty or long, got the same score ({score_text(score)}). "
        "A score that never differs teaches nothing, unless it looks for something rare.",
        ko=f"맞든 틀리든, 비었든 길든 시험한 글 {count}개가 모두 같은 점수({score_text(score)})입니다. 점수가 달라지지 "
        "않으면 배울 것이 없습니다. 드문 것을 찾는 보상이라면 괜찮습니다.",
    )
    yield Check("constant", subject.name, "warn", SAME, words)


def other_shape(subject: Subject) -> Iterator[Check]:
    """Whether a custom reward would also work on the other of TRL's two shapes; a note, since these rows have one."""
    if not subject.custom or subject.halted or not subject.rows:
        return
    row = dict(subject.rows[0])
    chat = isinstance(row.get("prompt"), list)
    text = subject.form.text(subject.answers[0] or "42") if subject.form and subject.answers else "<answer>42</answer>"
    row["prompt"] = "2+2" if chat else [{"role": "user", "content": "2+2"}]
    from backend.lab.audit.bench import Bench

    bench = Bench(subject.name, subject.bench.reward, [row], subject.bench.budget)
    judged = bench.judge([(0, text)])[0]
    works = not bench.broken and not judged.failed
    other, other_ko = ("a text", "문자열") if chat else ("a list of messages", "메시지 목록")
    if works:
        words = Text(en=f"It also takes a completion that is {other}.", ko=f"답변이 {other_ko}이어도 동작합니다.")
    else:
        words = Text(
            en=f"It fails on a completion that is {other}; these rows never give one, another data set might.",
            ko=f"답변이 {other_ko}이면 실패합니다. 이 데이터에는 없지만 다른 데이터셋에는 있을 수 있습니다.",
        )
    yield Check("shapes", subject.name, "pass", SHAPES, words)
