"""Stored evaluations as the JSON that page, command line and report read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from backend import views
from backend.errors import Refused, WrongState
from backend.evaluation.request import HELD_OUT, KEYS, Request
from backend.evaluation.table import table
from backend.kept import Kept
from backend.rewards.reasons import text as in_words
from backend.text import Text
from storage.records import Evaluation, EvaluationItem, Run

if TYPE_CHECKING:
    from backend.services import Services

WHICH = ("all", "won", "lost", "both_right", "both_wrong")
KEPT = 32
TOLD = {  # events of an evaluation that belong beside its figures
    "template_differs": Text(
        en="The trained model was saved with another chat template than the base's. Both sides were asked with the "
        "base's, as in training; used with its own template it may answer otherwise.",
        ko="학습된 모델이 기준 모델과 다른 채팅 템플릿으로 저장되어 있습니다. 평가는 학습 때처럼 기준 모델의 "
        "템플릿으로 했으므로, 저장된 템플릿으로 쓰면 답이 다를 수 있습니다.",
    ),
    "chosen_rows": Text(
        en="Among these rows are some that chose the best weights, so their figures flatter it. Ask for fewer rows (n) "
        "or for another set.",
        ko="최고 가중치를 고를 때 쓴 행이 섞여 있어 수치가 실제보다 좋게 나옵니다. 행 수(n)를 줄이거나 다른 데이터셋을 "
        "쓰세요.",
    ),
    "tokenizer_differs": Text(
        en="The two sides have different tokenizers, so their prompts are not the same token by token.",
        ko="두 모델의 토크나이저가 달라 프롬프트가 토큰까지 같지는 않습니다.",
    ),
}


def is_evaluation(run: Run) -> bool:
    return views.kind_of_run(run.config) == "evaluate"


def request_of(run: Run) -> Request:
    """What an evaluation run was asked; keys of a later version are left out."""
    given = run.config.get("evaluation") or {}
    return Request(**{key: given[key] for key in KEYS if key in given})


def sides(services: Services, run: Run) -> tuple[Evaluation | None, Evaluation | None]:
    """(base, trained) of an evaluation run, as far as they are; (before, after) of a training run."""
    left, right = ("base", "trained") if is_evaluation(run) else ("before", "after")
    by = {one.when: one for one in services.reader.evaluations(run.id, begun=is_evaluation(run))}
    return by.get(left), by.get(right)  # type: ignore[call-overload]


def answers(services: Services, run: Run) -> tuple[list[EvaluationItem], list[EvaluationItem]]:
    """The items of both sides, in the order of the rows; empty for a side that has none yet."""
    left, right = sides(services, run)
    read = services.reader.evaluation_items
    return read(left.id) if left else [], read(right.id) if right else []


class Reports:
    """Reports of one home's runs. The last KEPT of ended runs, whose records change no more, are kept. Thread-safe."""

    def __init__(self) -> None:
        self._kept = Kept(KEPT)

    def of(self, services: Services, run: Run) -> dict[str, Any]:
        """See EvaluationService.report."""
        left, right = sides(services, run)
        if left is None and right is None and not is_evaluation(run):
            raise _not_evaluated(run)
        key = (run.id, run.revision, left.id if left else 0, right.id if right else 0)
        return self._kept.get(key, run.state.ended, lambda: _report(services, run, left, right))


def _not_evaluated(run: Run) -> WrongState:
    return WrongState(
        Text(
            en=f"run {run.id} has not evaluated itself: it had no held-out rows, or has not got that far. Start an "
            "evaluation of it.",
            ko=f"실행 {run.id}에는 자체 평가가 없습니다. 평가 행이 없거나 아직 그 단계가 아닙니다. 평가를 시작하세요.",
        )
    )


def _report(services: Services, run: Run, left: Evaluation | None, right: Evaluation | None) -> dict[str, Any]:
    results = services.reader.results(run.id)
    asked = request_of(run) if is_evaluation(run) else Request(run.id)
    settings = (right or left).settings if right or left else {}  # type: ignore[union-attr]
    held_out = asked.data == HELD_OUT
    facts = {
        "run": run.id,
        "evaluated": asked.run or None,
        "checkpoint": asked.checkpoint if asked.run and not asked.trained else None,
        "data": HELD_OUT if held_out else run.config.get("dataset"),
        "state": run.state.value,
        "left_out": settings.get("left_out", _left_out(services, run)),
        "weights": _weights(services, run, asked, results),
        **{name: results.get(name) for name in ("adapter", "padding", "shift")},
    }
    base, trained = answers(services, run)
    found = table(base, trained, facts)
    found |= {
        "name": run.name,
        "dataset": run.config.get("dataset"),
        "models": {"base": _model(left, asked.base, run), "trained": _model(right, asked.trained, run)},
        "seed": asked.seed if is_evaluation(run) else run.config.get("seed"),
        "temperature": asked.temperature if found["k"] else None,
        "top_p": asked.top_p if found["k"] else None,
        "settings": {"base": left.settings if left else None, "trained": right.settings if right else None},
        "seconds": {"base": left.seconds if left else None, "trained": right.seconds if right else None},
        "reason": run.reason,
    }
    found["warnings"] = [*_more(services, run, results), *found["warnings"]]
    return views.plain(found)


def _weights(services: Services, run: Run, asked: Request, results: Mapping[str, Any]) -> str | None:
    """What kind of weights the trained side has: "control" of a control's, else "adapter", "full" or "model"."""
    trained = services.reader.run(asked.run) if asked.run else run
    if trained is not None and views.kind_of_run(trained.config) == "control":
        return "control"
    told = (results.get("adapter") or {}).get("kind")
    return told or (None if trained is None else "full" if trained.config.get("peft") == "none" else "adapter")


def _model(side: Evaluation | None, asked: str, run: Run) -> str | None:
    given = side.settings.get("model") if side else None
    return given or asked or run.config.get("model")


def _left_out(services: Services, run: Run) -> int:
    """Held-out rows that a training run left out, since their prompts are too long."""
    path = services.settings.run_dir(run.id) / "data" / "left_out.json"
    try:
        return len(json.loads(path.read_text(encoding="utf-8")).get("eval", ()))
    except (OSError, ValueError, AttributeError):
        return 0


def _more(services: Services, run: Run, results: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What stands against the figures as a whole: before all other warnings."""
    found: list[dict[str, Any]] = []
    for name, bad in (("adapter", "inactive"), ("padding", "differs")):
        result = results.get(name) or {}
        if result.get("verdict") == bad or (name == "adapter" and _other_base(result)):
            found.append({"id": name, "words": result["words"]})
    if is_evaluation(run):
        kinds = {event.kind for event in services.reader.events(run.id)}
        found += [{"id": kind, "words": words.to_json()} for kind, words in TOLD.items() if kind in kinds]
    return found


def _other_base(result: Mapping[str, Any]) -> bool:
    """Whether the base was refused: nothing was compared with it."""
    return result.get("verdict") == "unknown" and result.get("prompts") == 0 and bool(result.get("base_expected"))


def items(services: Services, run: Run, which: str, offset: int, limit: int) -> dict[str, Any]:
    """See EvaluationService.items."""
    if which not in WHICH:
        raise Refused(
            Text(
                en=f"which={which!r}: must be one of {', '.join(WHICH)}",
                ko=f"which={which!r}: {', '.join(WHICH)} 중 하나여야 합니다",
            )
        )
    base, trained = answers(services, run)
    pairs = list(zip(base, trained, strict=False))
    kinds = [outcome(left, right) for left, right in pairs]
    places = [i for i, kind in enumerate(kinds) if which in ("all", kind)]
    return {
        "total": len(places),
        "counts": {name: kinds.count(name) for name in WHICH[1:]},
        "items": [_pair(i, *pairs[i], kinds[i]) for i in places[offset : offset + limit]],
    }


def outcome(base: EvaluationItem, trained: EvaluationItem) -> str | None:
    """Which of WHICH a row is; None where one of its answers could not be judged."""
    if base.correct is None or trained.correct is None:
        return None
    if base.correct == trained.correct:
        return "both_right" if base.correct else "both_wrong"
    return "won" if trained.correct else "lost"


def _pair(position: int, base: EvaluationItem, trained: EvaluationItem, kind: str | None) -> dict[str, Any]:
    shared = ("prompt", "prompt_format", "ground_truth", "columns")
    whole = views.evaluation_item_view(trained)
    return {
        "position": position,
        "outcome": kind,
        **{name: whole[name] for name in shared},
        "base": _side(base, shared),
        "trained": _side(trained, shared),
    }


def _side(item: EvaluationItem, shared: Sequence[str]) -> dict[str, Any]:
    view = views.evaluation_item_view(item)
    view["reason"] = None if item.reason is None else in_words(item.reason).to_json()
    view["samples"] = [
        views.plain({name: getattr(sample, name) for name in sample.__dataclass_fields__}) for sample in item.samples
    ]
    return {name: value for name, value in view.items() if name not in shared}


def listed(services: Services, run: Run) -> list[dict[str, Any]]:
    """See EvaluationService.of."""
    subject = request_of(run).run if is_evaluation(run) else run.id
    every = services.reader.runs()
    mine = [one for one in every if is_evaluation(one) and request_of(one).run == subject] if subject else [run]
    owner = next((one for one in every if one.id == subject), None)
    found = [_own(services, owner)] if owner is not None and all(sides(services, owner)) else []
    return found + [_entry(services, one) for one in mine]


def _own(services: Services, run: Run) -> dict[str, Any]:
    _, after = sides(services, run)
    assert after is not None
    facts = {"checkpoint": "final", "data": HELD_OUT, "n": after.n, "k": 0}
    about = {**facts, "dataset": run.config.get("dataset"), "seed": run.config.get("seed"), "temperature": None}
    return {
        "id": run.id, "kind": "own", "name": run.name, "state": run.state.value, **facts, "at": after.at,
        "evaluation": about,
    }  # fmt: skip


def _entry(services: Services, run: Run) -> dict[str, Any]:
    asked = request_of(run)
    data = HELD_OUT if asked.data == HELD_OUT else str(run.config.get("dataset"))
    facts = {"checkpoint": asked.checkpoint, "data": data, "n": asked.n, "k": asked.k}
    about = {**facts, "data": asked.data, "dataset": run.config.get("dataset"), "seed": asked.seed,
             "temperature": asked.temperature}  # fmt: skip
    return {**services.view(run.id), "kind": "run", **facts, "at": run.created_at, "evaluation": about}
