"""The events of a run that a reader of its figures must know: warnings passed over, rows left out, what failed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from backend.text import Text
from storage.records import Event

Data = Mapping[str, Any]
# What the report says in another place.
QUIET = {"state", "stage", "control", "padding", "template_differs", "tokenizer_differs"}


@dataclass(frozen=True, slots=True)
class Told:
    """`original`: the words are those of the record, in English, since this program knows no others for them."""

    at: float
    level: str
    text: Text
    times: int = 1
    original: bool = False


def told(events: Iterable[Event]) -> list[Told]:
    """Warnings and errors, oldest first; the same words again are counted, not repeated."""
    found: dict[tuple[str, str], Told] = {}
    for event in events:
        if event.kind in QUIET or event.level == "info":
            continue
        text, original = _words(event)
        key = event.kind, text.en
        known = found.get(key)
        found[key] = Told(known.at if known else event.at, event.level, text, known.times + 1 if known else 1, original)
    return list(found.values())


def _words(event: Event) -> tuple[Text, bool]:
    form = FORMS.get(event.kind)
    if form is not None:
        try:
            return form(event.data, event.message), False
        except (KeyError, TypeError, AttributeError):  # a record of an older version has other data
            pass
    return Text(en=event.message, ko=event.message), True


def _accepted(data: Data, message: str) -> Text:
    words, which = data["words"], data["id"]
    return Text(
        en=f"Started although {which} warned: {words['en']}", ko=f"{which} 경고를 알고도 시작했습니다: {words['ko']}"
    )


def _rows_dropped(data: Data, message: str) -> Text:
    held_out = " evaluation rows" in message
    en, ko = ("held-out", "평가") if held_out else ("training", "학습")
    dropped, rows, limit = data["dropped"], data["rows"], data["limit"]
    return Text(
        en=f"{dropped:,} of {rows:,} {en} rows were left out: their prompts have more than {limit:,} tokens.",
        ko=f"{ko} 데이터 {rows:,}행 중 {dropped:,}행을 제외했습니다. 프롬프트가 {limit:,}토큰을 넘습니다.",
    )


def _rows_taken(data: Data, message: str) -> Text:
    if "trained_on" in data:
        n = data["trained_on"]
        return Text(
            en=f"{n:,} rows of {data['dataset']} were left out: the run trained on them.",
            ko=f"데이터 {data['dataset']}: 학습에 쓴 {n:,}행을 제외했습니다.",
        )
    rows, left_out = data["rows"], data["left_out"]
    return Text(
        en=f"Warm-up: {rows:,} rows; {left_out:,} that ask what a held-out row asks were left out.",
        ko=f"지도 학습 워밍업: {rows:,}행. 평가 문제와 같은 문제를 묻는 {left_out:,}행은 제외했습니다.",
    )


def _skipped(data: Data, message: str) -> Text:
    return Text(
        en="There were no held-out rows to evaluate on.", ko="평가에 쓸 평가 데이터가 없어 평가하지 않았습니다."
    )


def _unjudged(data: Data, message: str) -> Text:
    rows, judged = data["rows"], data["judged"]
    return Text(
        en=f"{rows - judged:,} of {rows:,} held-out answers could not be judged; accuracy is of the other {judged:,}.",
        ko=f"평가 답변 {rows:,}개 중 {rows - judged:,}개는 채점할 수 없어 나머지 {judged:,}개로 정확도를 계산했습니다.",
    )


def _identical(data: Data, message: str) -> Text:
    return Text(
        en="All answers of one evaluation were the same text.", ko="한 평가에서 모든 답변이 똑같은 글이었습니다."
    )


def _missing(data: Data, message: str) -> Text:
    name, n, step = data["reward"], data["completions"], data["step"]
    return Text(
        en=f"The reward {name} scored none of the {n:,} completions of step {step}; they count as missing, not as 0.",
        ko=f"보상 {name}: 스텝 {step}의 답변 {n:,}개를 하나도 채점하지 않았습니다. 0점이 아니라 점수 없음입니다.",
    )


def _error(data: Data, message: str) -> Text:
    name = data["reward"]
    last = str(data.get("traceback") or "").strip().splitlines()[-1:]
    why = f": {last[0]}" if last else ""
    return Text(
        en=f"The reward {name} could not score a completion, which counts as missing{why}",
        ko=f"보상 {name}: 답변 하나를 채점하지 못해 점수 없음으로 처리했습니다{why}",
    )


def _over_budget(data: Data, message: str) -> Text:
    step = data["step"]
    return Text(
        en=f"From step {step}, evaluations while training were left out: they would have taken more than "
        "their share of the time.",
        ko=f"스텝 {step}부터 학습 중 평가를 건너뛰었습니다. 정해 둔 시간 비율을 넘기 때문입니다.",
    )


def _best_unknown(data: Data, message: str) -> Text:
    return Text(
        en="No evaluation while training had an accuracy to choose the best weights by.",
        ko="최고 가중치를 고를 정확도가 있는 학습 중 평가가 없었습니다.",
    )


def _best_dropped(data: Data, message: str) -> Text:
    return Text(
        en=f"At the resume after step {data['step']} the kept best weights were given up: {message}",
        ko=f"스텝 {data['step']} 이후 재개하면서 보관하던 최고 가중치를 버렸습니다.",
    )


def _environment(data: Data, message: str) -> Text:
    listed = ", ".join(f"{name} {old} → {new}" for name, (old, new) in data.items())
    return Text(
        en=f"A later attempt ran with another environment: {listed}", ko=f"이후 시도의 실행 환경이 다릅니다: {listed}"
    )


FORMS: dict[str, Callable[[Data, str], Text]] = {
    "accepted": _accepted,
    "rows_dropped": _rows_dropped,
    "data": _rows_taken,
    "evaluation_over_budget": _over_budget,
    "best_unknown": _best_unknown,
    "best_dropped": _best_dropped,
    "evaluation_skipped": _skipped,
    "evaluation_unjudged": _unjudged,
    "identical_answers": _identical,
    "reward_missing": _missing,
    "reward_error": _error,
    "environment": _environment,
}
