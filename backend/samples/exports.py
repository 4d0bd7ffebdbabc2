"""Files of samples: all that a filter finds, the wrong answers, and training rows made of the best and the worst.

| what | a line is |
|---|---|
| completions | a completion that the filter finds, exact |
| wrong | a wrong answer: of training, then of the run's evaluations (phase "evaluate:after", ...) but those of the
  base and before the training |
| best | {"prompt", "completion"} for SFTTrainer: the best answer to each prompt (samples.rows) |
| pairs | {"prompt", "chosen", "rejected"} for DPOTrainer: best and worst of each live group |

For `best` and `pairs` a filter chooses groups: those with at least one completion that it finds.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from backend.errors import Refused
from backend.rewards.task import full_score
from backend.samples import lines, rows
from backend.text import Text
from storage.explore import Explorer, SampleFilter
from storage.reader import Reader
from storage.records import Run, StoredGroup

WHAT = ("completions", "wrong", "best", "pairs")
FORMS = ("jsonl", "csv")
MEDIA = {"jsonl": "application/x-ndjson", "csv": "text/csv"}
PIECE = 200  # completions, or groups, of one read
PATIENCE_S = 30.0  # of one read that looks for a text; it goes on from where it stopped
BEFORE = ("before", "base")  # evaluations of the model that was not trained yet


class NoSuch(Refused):
    """An export that cannot be, with the field that is at fault."""

    def __init__(self, field_: str, en: str, ko: str) -> None:
        super().__init__(Text(en=en, ko=ko))
        self.field = field_


@dataclass(slots=True)
class Written:
    """How many lines there are, and how many were left out since their texts are gone."""

    rows: int = 0
    gone: int = 0

    def to_json(self) -> dict[str, Any]:
        return {"rows": self.rows, "left_out": {"gone": self.gone} if self.gone else {}}

    def words(self, what: str) -> Text:
        noun_en, noun_ko = ("wrong answers", "오답") if what == "wrong" else ("completions", "답변")
        en, ko = f"{self.rows} {noun_en}", f"{noun_ko} {self.rows}개"
        if self.gone:
            en += f"; left out: {self.gone} whose texts retention has dropped"
            ko += f", 제외: 보존 한도로 본문이 지워진 것 {self.gone}개"
        return Text(en=en + ".", ko=ko + ".")


@dataclass(slots=True)
class Made:
    """A file that is written while it is read from the database; `count` is right once all pieces are taken."""

    what: str
    form: str
    pieces: Iterator[str]
    count: Written | rows.Count = field(default_factory=Written)

    @property
    def filename(self) -> str:
        return f"{self.what}.{self.form}"


def ways(run: Run, reader: Reader, explorer: Explorer) -> list[dict[str, Any]]:
    """[{"what", "forms", "refused": words or None}]: what can be exported of a run, and why not."""
    found = []
    for what in WHAT:
        refused = None
        try:
            require(run, reader, explorer, what, "jsonl", SampleFilter())
        except Refused as error:
            refused = error.text.to_json()
        found.append({"what": what, "forms": list(FORMS if what in ("completions", "wrong") else FORMS[:1]),
                      "refused": refused})  # fmt: skip
    return found


def require(run: Run, reader: Reader, explorer: Explorer, what: str, form: str, chosen: SampleFilter) -> None:
    """NoSuch, in words, for an export that cannot be; what only the reading tells (no live group) comes later."""
    if what not in WHAT:
        names = ", ".join(WHAT)
        raise NoSuch("what", f"what={what!r}: must be one of {names}.", f"what={what!r}: {names} 중 하나여야 합니다.")
    if form not in FORMS:
        raise NoSuch("form", f"form={form!r}: must be jsonl or csv.", f"form={form!r}: jsonl 또는 csv여야 합니다.")
    if what in ("best", "pairs"):
        if form == "csv":
            raise NoSuch(
                "form",
                f"{what}: training rows are JSON lines, since a prompt may be a list of messages; name a .jsonl file.",
                f"{what}: 프롬프트가 메시지 목록일 수 있어 학습 행은 JSON Lines로만 씁니다. .jsonl 파일을 지정하세요.",
            )
        if chosen.phase not in (None, "train"):
            raise NoSuch(
                "phase",
                f"phase={chosen.phase!r}: {what} are made of training only; held-out prompts must not become training "
                "rows.",
                f"phase={chosen.phase!r}: {what}은(는) 학습 샘플로만 만듭니다. 평가용 문제로 학습하면 안 됩니다.",
            )
    evaluated = what == "wrong" and any(e.when not in BEFORE for e in reader.evaluations(run.id))
    if not evaluated and not explorer.find(run.id, SampleFilter(), limit=1).hits:
        raise NoSuch(
            "run",
            f"{run.id} has no completions yet. They are stored with each step of GRPO.",
            f"{run.id}에는 아직 답변이 없습니다. 답변은 GRPO 스텝마다 저장됩니다.",
        )
    if what == "wrong" and not evaluated and full_score(run.reward_names) is None:
        names = ", ".join(run.reward_names)
        raise NoSuch(
            "what",
            f"what='wrong': which answers are wrong is not known: none of this run's rewards ({names}) decides it. "
            "Filter by a reward instead: --what completions --where reward=NAME --where high=0.",
            f"what='wrong': 어느 답변이 오답인지 알 수 없습니다. 이 실행의 보상({names})은 정답을 판정하지 않습니다. "
            "대신 보상 값으로 거르세요: --what completions --where reward=이름 --where high=0.",
        )


def make(
    run: Run, reader: Reader, explorer: Explorer, what: str, form: str, chosen: SampleFilter, every: bool = False
) -> Made:
    """The file, a piece at a time. NoSuch for one that cannot be, also where it would have no training row at all."""
    require(run, reader, explorer, what, form, chosen)
    if what in ("completions", "wrong"):
        count = Written()
        found = _lines(explorer, run.id, chosen if what == "completions" else replace(chosen, correct=False), count)
        if what == "wrong":
            found = itertools.chain(found, _items(reader, run.id, chosen, count))
        made = lines.jsonl(found) if form == "jsonl" else lines.table(found, run.reward_names)
        return Made(what, form, made, count)

    def groups() -> Iterator[StoredGroup]:
        return _groups(explorer, run.id, replace(chosen, phase="train"))

    told = rows.Count()
    make_rows = rows.best_rows(groups, told, every) if what == "best" else rows.pair_rows(groups, told)
    first = next(make_rows, None)
    if first is None:
        words = told.words(what)
        raise NoSuch("what", f"{what}: nothing to write. {words.en}", f"{what}: 쓸 행이 없습니다. {words.ko}")
    written = (json.dumps(row) + "\n" for row in itertools.chain([first], make_rows))
    return Made(what, form, written, told)


def _lines(explorer: Explorer, run_id: str, chosen: SampleFilter, count: Written) -> Iterator[lines.Line]:
    for hit in _pages(
        lambda cursor: explorer.find(run_id, chosen, cursor, PIECE, newest_first=False, budget_s=PATIENCE_S),
        lambda page: page.hits,
    ):
        if hit.group.dropped:
            count.gone += 1
            continue
        count.rows += 1
        yield lines.of_hit(hit)


def _groups(explorer: Explorer, run_id: str, chosen: SampleFilter) -> Iterator[StoredGroup]:
    return _pages(
        lambda cursor: explorer.groups(run_id, chosen, cursor, PIECE, newest_first=False, budget_s=PATIENCE_S),
        lambda page: page.groups,
    )


def _pages(read: Callable[[str | None], Any], items: Callable[[Any], Sequence[Any]]) -> Iterator[Any]:
    cursor: str | None = None
    while True:
        page = read(cursor)
        yield from items(page)
        cursor = page.cursor
        if cursor is None:
            return


def _items(reader: Reader, run_id: str, chosen: SampleFilter, count: Written) -> Iterator[lines.Line]:
    """The wrong answers of the run's evaluations that the filter can apply to: steps, phase, text, truncated. One that
    asks for what an evaluation's row does not have (kind, prompt, reward) finds none."""
    if chosen.kind or chosen.prompt_id or chosen.reward or chosen.correct is True:
        return
    wanted = (chosen.text or "").lower()
    for evaluation in reader.evaluations(run_id):
        if evaluation.when in BEFORE or not _within(chosen, evaluation.step, f"evaluate:{evaluation.when}"):
            continue
        for position, item in enumerate(reader.evaluation_items(evaluation.id)):
            if item.correct is not False or (chosen.truncated is not None and chosen.truncated is item.eos):
                continue
            if wanted and wanted not in item.completion.lower() and wanted not in item.prompt.lower():
                continue
            count.rows += 1
            yield lines.of_item(item, evaluation.when, evaluation.step, evaluation.id, position)


def _within(chosen: SampleFilter, step: int, phase: str) -> bool:
    return (
        (chosen.phase is None or chosen.phase in (phase, "evaluate"))
        and (chosen.step_from is None or step >= chosen.step_from)
        and (chosen.step_to is None or step <= chosen.step_to)
    )
