"""The Evaluate page's routes and words: what is asked reaches the service, and what the scripts say exists."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from backend.errors import NotFound, Refused, WrongState
from backend.text import Text
from ui.api_evaluate import MOST_ITEMS, routes
from ui.text_evaluate import TEXTS as ABOVE
from ui.text_evaluate_proof import TEXTS as BELOW

RUN, EVALUATION, ALONE = "20261129-134500-ab2c", "20261129-140000-cd3e", "20261129-150000-ef4a"
TEXTS = ABOVE | BELOW
SCRIPTS = Path(__file__).resolve().parents[2] / "ui" / "static" / "js" / "evaluate"
SOURCE = "\n".join(path.read_text(encoding="utf-8") for path in SCRIPTS.glob("*.js"))
SAME = {"evaluate.greedy", "evaluate.p_small", "evaluate.interval", "evaluate.points"}


class Evaluation:
    """Remembers what it was asked."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def start(self, run_id: str, **asked: Any) -> SimpleNamespace:
        self.calls.append(("start", run_id, asked))
        if asked.get("k") == 99:
            error = Refused(Text(en="k=99: too many", ko="k=99: 너무 많습니다"))
            error.field = "k"  # type: ignore[attr-defined]
            raise error
        return SimpleNamespace(id=EVALUATION, name="e", state="queued")

    def report(self, run_id: str) -> dict[str, Any]:
        if run_id == ALONE:
            raise WrongState(Text(en="nothing yet", ko="아직 없습니다"))
        return {"run": run_id, "n": 20, "base": {"accuracy": float("nan")}}

    def of(self, run_id: str) -> list[dict[str, Any]]:
        return [{"id": run_id, "kind": "own"}, {"id": EVALUATION, "kind": "run", "of": run_id}]

    def items(self, run_id: str, which: str, offset: int, limit: int) -> dict[str, Any]:
        self.calls.append(("items", run_id, which, offset, limit))
        return {"total": 0, "items": []}

    def control(self, run_id: str) -> SimpleNamespace:
        return SimpleNamespace(id=ALONE, name="c", state="queued")

    def controls(self, run_id: str) -> list[dict[str, Any]]:
        return []

    def control_report(self, run_id: str) -> dict[str, Any]:
        return {"sentence": None}

    def timeline(self, run_id: str) -> dict[str, Any]:
        return {"points": []}

    def checkpoints(self, run_id: str) -> list[dict[str, Any]]:
        return [{"name": "final", "step": 60}]


def show(run_id: str) -> dict[str, Any]:
    moments = [{"when": "before"}, {"when": "after"}]
    common = {"id": run_id, "run": run_id, "metrics": {}, "events": [], "attempts": [], "evaluations": []}
    if run_id == RUN:
        return common | {"kind": "train", "config": {"eval_size": 16}, "evaluations": moments}
    if run_id in (EVALUATION, ALONE):
        return common | {"kind": "evaluate", "config": {"evaluation": {"run": RUN if run_id == EVALUATION else ""}}}
    raise NotFound(Text(en="no such run", ko="없는 실행"))


@pytest.fixture
def service() -> Evaluation:
    return Evaluation()


@pytest.fixture
def client(service: Evaluation) -> TestClient:
    return TestClient(Starlette(routes=routes(SimpleNamespace(evaluation=service, show=show))))  # type: ignore[arg-type]


def test_a_run_and_its_evaluation_open_the_same_list(client: TestClient) -> None:
    for run_id in (RUN, EVALUATION):
        found = client.get(f"/api/runs/{run_id}/evaluations").json()
        assert found["run"]["id"] == RUN
        assert found["run"]["settings"]["eval_size"] == 16
        assert "config" not in found["run"]
        assert found["own"] is True
        assert found["evaluations"] == [{"id": EVALUATION, "kind": "run", "of": RUN}]
        assert found["checkpoints"] == [{"name": "final", "step": 60}]


def test_an_evaluation_of_a_model_without_a_run_stands_alone(client: TestClient) -> None:
    found = client.get(f"/api/runs/{ALONE}/evaluations").json()
    assert found["run"] is None
    assert found["own"] is False
    assert found["evaluations"][0]["of"] == ALONE


def test_what_is_asked_reaches_the_service(client: TestClient, service: Evaluation) -> None:
    asked = {"data": "mine", "n": 50, "k": 8, "checkpoint": "best", "seed": 3, "temperature": 0.7}
    begun = client.post(f"/api/runs/{RUN}/evaluations", json={**asked, "top_p": None, "base": "/etc"})
    assert begun.status_code == 201
    assert begun.json()["run"]["id"] == EVALUATION
    client.get(f"/api/runs/{RUN}/evaluation/items", params={"which": "lost", "offset": 10, "limit": 5})
    assert service.calls == [("start", RUN, asked), ("items", RUN, "lost", 10, 5)]
    assert client.post(f"/api/runs/{RUN}/control").json()["run"]["id"] == ALONE
    assert client.get(f"/api/runs/{RUN}/control").json() == {"sentence": None}
    assert client.get(f"/api/runs/{RUN}/timeline").json() == {"points": []}


@pytest.mark.parametrize("wrong", [{"n": "x"}, {"n": 1.5}, {"k": True}, {"seed": []}, {"checkpoint": 3}, {"data": {}}])
def test_a_value_of_the_wrong_kind_is_refused_at_its_field(client: TestClient, wrong: dict[str, Any]) -> None:
    answer = client.post(f"/api/runs/{RUN}/evaluations", json=wrong)
    assert answer.status_code == 422
    assert answer.json()["field"] == next(iter(wrong))
    assert answer.json()["error"]["ko"] != answer.json()["error"]["en"]


def test_the_service_s_refusal_keeps_its_field_and_words(client: TestClient) -> None:
    answer = client.post(f"/api/runs/{RUN}/evaluations", json={"k": 99})
    assert answer.status_code == 422
    assert answer.json() == {"error": {"en": "k=99: too many", "ko": "k=99: 너무 많습니다"}, "field": "k"}


def test_a_report_has_no_nan_and_one_that_is_not_there_says_why(client: TestClient) -> None:
    assert client.get(f"/api/runs/{RUN}/evaluation").json()["base"]["accuracy"] is None
    answer = client.get(f"/api/runs/{ALONE}/evaluation")
    assert answer.status_code == 409
    assert answer.json()["error"]["ko"] == "아직 없습니다"


@pytest.mark.parametrize("wrong", [{"which": "all"}, {"limit": 0}, {"limit": MOST_ITEMS + 1}, {"offset": -1}])
def test_pages_of_items_have_bounds(client: TestClient, wrong: dict[str, Any]) -> None:
    assert client.get(f"/api/runs/{RUN}/evaluation/items", params=wrong).status_code == 422


def test_a_run_that_is_not_there(client: TestClient) -> None:
    for run_id in ("20200101-000000-aaaa", "..%2fx"):
        assert client.get(f"/api/runs/{run_id}/evaluations").status_code == 404


def test_every_text_that_a_script_names_exists_and_none_is_left_over() -> None:
    named = set(re.findall(r"'(evaluate\.\w+)'", SOURCE))
    assert sorted(named - TEXTS.keys()) == []
    stems = set(re.findall(r"`(evaluate\.\w*)\$\{", SOURCE))
    bare = "evaluate." in stems
    short = {"base", "trained", "difference", "best", "last", "run_gain", "control_gain"}
    short |= {"won", "lost", "both_right", "both_wrong"}
    built = tuple(stems - {"evaluate."})
    unused = {
        key
        for key in TEXTS
        if key not in named and not key.startswith(built) and not (bare and key.removeprefix("evaluate.") in short)
    }
    assert sorted(unused) == []


@pytest.mark.parametrize("key", sorted(TEXTS))
def test_both_languages_say_the_same_things(key: str) -> None:
    text = TEXTS[key]
    assert text.en.strip()
    assert not re.search("[가-힣]", text.en)
    assert sorted(set(re.findall(r"\{\w+\}", text.en))) == sorted(set(re.findall(r"\{\w+\}", text.ko)))
    measure = re.match(r"evaluate\.m_(pass|maj)", key)
    assert re.search("[가-힣]", text.ko) or key in SAME or measure, "not translated"
