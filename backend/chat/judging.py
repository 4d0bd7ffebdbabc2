"""What the rewards of a run say of the chat's answers, and where an answer ends its reasoning. Runs in the server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend import custom
from backend import rewards as registry
from backend.chat.sides import config_of
from backend.errors import StudioError
from backend.lab.table import cell, total, verdicts
from backend.rewards import effective
from backend.rewards.extract import reasoning
from backend.rewards.reasons import text as in_words
from backend.settings import Settings
from backend.text import Text
from storage.records import Run

BUDGET_S = 20.0  # for one reward and the answers of one question
LOADED_BY_WORKER = Text(
    en="not scored here: this reward is a model, which only a run loads",
    ko="보상 모델은 실행에서만 불러오므로 여기서는 채점하지 않습니다",
)
NO_RUN = Text(
    en="Not scored: neither side is of a run, so there are no rewards to score by.",
    ko="채점하지 않음: 두 쪽 모두 실행의 모델이 아니라 채점할 보상이 없습니다.",
)
NO_TRUTH = Text(
    en="Not scored: choose a held-out row, or write the right answer beside your own question.",
    ko="채점하지 않음: 평가 행을 고르거나, 직접 쓴 질문이라면 정답을 함께 적으세요.",
)


def parted(completion: str, opened: bool) -> dict[str, Any]:
    """{"reasoning", "answer"}: the text in two, by the rewards' own idea of a thought. The answer is None where the
    thought never ends; `opened`: the chat template had opened it."""
    parts = reasoning(completion, prefilled=opened)
    return {"reasoning": parts.thought, "answer": parts.rest}


class Judge:
    """The rewards of `run` over one question. `row`: its columns. Made once a question; a reward that cannot be had is
    a reason beside its name, never the end of the answer."""

    def __init__(self, settings: Settings, run: Run | None, row: Mapping[str, Any] | None) -> None:
        self.why: Text | None = NO_RUN if run is None else NO_TRUTH if row is None else None
        self._row = dict(row or {})
        self._rewards: dict[str, Any] = {}
        self._weights: dict[str, float] = {}
        self._problems: dict[str, Text] = {}
        if self.why is None and run is not None:
            try:
                self._load(settings, run)
            except StudioError as error:
                self.why = error.text

    def _load(self, settings: Settings, run: Run) -> None:
        run_dir = settings.run_dir(run.id)
        config = config_of(run)
        config = config.model_copy(update={"reward_args": effective.of_run(run_dir, config.reward_args)})
        weights = config.reward_weights or [1.0] * len(config.rewards)
        self._weights = {name: float(weight) for name, weight in zip(config.rewards, weights, strict=False)}
        for name in config.rewards:
            try:
                self._rewards[name] = _reward(run_dir, settings.home, config, name)
            except StudioError as error:
                self._problems[name] = error.text

    def scores(self, answers: Sequence[Mapping[str, Any]], *, messages: bool) -> list[dict[str, Any]]:
        """For each answer {"scores": {reward: {"score", "extracted", "reason"}}, "total"}; both empty where there is
        nothing to score by."""
        if self.why is not None:
            return [{"scores": {}, "total": None}] * len(answers)
        rows = [
            {
                **self._row,
                "completion": [{"role": "assistant", "content": answer["completion"]}]
                if messages
                else answer["completion"],
                "completion_ids": answer["ids"],
            }
            for answer in answers
        ]
        columns = {name: self._cells(name, rows) for name in self._weights}
        return [
            {
                "scores": {name: cells[at] for name, cells in columns.items()},
                "total": total([cells[at]["score"] for cells in columns.values()], list(self._weights.values())),
            }
            for at in range(len(rows))
        ]

    def _cells(self, name: str, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        if name in self._problems:
            return [_nothing(self._problems[name])] * len(rows)
        try:
            found = [cell(*each) for each in verdicts(self._rewards[name], rows, BUDGET_S)]
        except StudioError as error:
            return [_nothing(error.text)] * len(rows)
        for each in found:
            each.pop("failed")
            each["reason"] = None if each["reason"] is None else in_words(each["reason"]).to_json()
        return found


def _reward(run_dir: Path, home: Path, config: Any, name: str) -> Any:
    if name in registry.names() and registry.spec(name).loaded_by_worker:
        raise StudioError(LOADED_BY_WORKER)
    return custom.of_run(run_dir, home, config, name)


def _nothing(why: Text) -> dict[str, Any]:
    return {"score": None, "extracted": None, "reason": why.to_json()}
