"""The Lab's routes: parameters are checked, slow calls are few and can be stopped."""

from __future__ import annotations

import json
import threading
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from backend.errors import Refused
from backend.text import Text
from tests.support import wait_for
from ui.api_lab import MOST_ROWS, MOST_SLOW, routes

RUN = "20261129-134500-ab2c"


class Lab:
    """Remembers what it was asked; an audit waits while `gate` is closed."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.gate = threading.Event()
        self.gate.set()
        self.inside = threading.Semaphore(0)

    def table(self, rewards, weights, args, rows, versions=None):
        self.calls.append(("table", rewards, weights, args, rows, versions))
        cell = {"score": 0.0, "extracted": None, "reason": "no <answer> tag", "failed": False}
        return {"rewards": rewards, "rows": [{"cells": {name: dict(cell) for name in rewards}, "total": 0.0}]}

    def audit(self, values, rows=None, limit=32, progress=None):
        assert progress is not None
        progress(0, 2, Text(en="first", ko="첫째"))
        self.inside.release()
        assert self.gate.wait(30)
        progress(1, 2, Text(en="second", ko="둘째"))
        if values.get("break"):
            raise RuntimeError("secret path /home/me")
        if values.get("refuse"):
            raise Refused(Text(en="no rows", ko="행이 없습니다"))
        return {"ok": True, "verdict": "pass", "limit": limit}

    def made(self, values, rows):
        return [f"<answer>{row['ground_truth']}</answer>" for row in rows]

    def advantages(self, rewards, weights=None, group_size=None):
        self.calls.append(("advantages", rewards, weights, group_size))
        return {}

    def conflicts(self, names, groups, weights=None):
        self.calls.append(("conflicts", names, groups, weights))
        return {"pairs": []}

    def replay(self, run_id, rewards, weights=None, args=None, **more):
        self.calls.append(("replay", run_id, rewards, weights, args, more))
        return {"groups": 0}

    def probe_report(self, run_id):
        if self.calls == ["empty"]:
            return {"prompts": 0}
        return {"live_band": {"prompt_ids": ["a", "b"]}}


class Data:
    def __init__(self) -> None:
        self.filtered: tuple[Any, ...] = ()

    def sample(self, values, n=32):
        return [{"prompt": "1+1", "ground_truth": "2"}] * min(n, 2)

    def sets(self):
        return [{"name": "mine", "kind": "prompts", "rows": 3}, {"name": "worked", "kind": "sft", "rows": 3}]

    def filter(self, source, name, ids):
        if not name:
            raise Refused(Text(en="a set needs a name", ko="데이터셋 이름이 필요합니다"))
        self.filtered = (source, name, ids)
        return {"name": name, "rows": len(ids)}


@pytest.fixture
def door() -> SimpleNamespace:
    return SimpleNamespace(
        lab=Lab(), data=Data(), custom=SimpleNamespace(), show=lambda run: {"config": {"dataset": "arithmetic"}}
    )


@pytest.fixture
def client(door: SimpleNamespace) -> TestClient:
    return TestClient(Starlette(routes=routes(door)))  # type: ignore[arg-type]


def test_the_setup_offers_every_reward_with_typed_arguments_and_the_sets_for_training(client: TestClient) -> None:
    found = client.get("/api/lab/setup").json()
    by = {reward["name"]: reward for reward in found["rewards"]}
    assert {"accuracy", "format"} <= set(by)
    assert by["accuracy"]["columns"] == ["ground_truth"]
    for reward in found["rewards"]:
        assert reward["label"]["en"]
        assert reward["label"]["ko"]
        for argument in reward["arguments"]:
            assert set(argument) == {"name", "kind", "kinds", "default", "choices"}
    assert [one["name"] for one in found["sets"]] == ["mine"], "rows of a warm-up are no rows for a reward"


DEEP = '{"a":' * 600 + "1" + "}" * 600  # less than what the reader of JSON minds


def test_rows_come_with_the_gold_in_the_demanded_format(client: TestClient) -> None:
    answer = client.get("/api/lab/rows", params={"n": 2, "values": json.dumps({"dataset": "arithmetic"})}).json()
    assert [row["ground_truth"] for row in answer["rows"]] == ["2", "2"]
    assert answer["made"] == ["<answer>2</answer>"] * 2
    for wrong in (
        {"values": "[1]"},
        {"values": "{"},
        {"values": "[" * 5000},
        {"values": DEEP},
        {"n": "0"},
        {"n": str(MOST_ROWS + 1)},
    ):
        answer = client.get("/api/lab/rows", params=wrong)
        assert answer.status_code == 422
        assert answer.json()["error"]["ko"]


def test_what_is_asked_reaches_the_service(client: TestClient, door: SimpleNamespace) -> None:
    rows = [{"completion": "x", "ground_truth": "1"}]
    client.post("/api/lab/table", json={"rewards": ["accuracy"], "weights": [2], "args": {"format": {}}, "rows": rows})
    client.post("/api/lab/advantages", json={"rewards": [1, 0], "group_size": 2})
    client.post("/api/lab/advantages", json={"rewards": [[1, None]], "weights": [1, 2]})
    client.post("/api/lab/conflicts", json={"rewards": ["a", "b"], "groups": [[[1, 0], [0, 1]]], "weights": None})
    begun = client.post("/api/lab/replay", json={"run": RUN, "rewards": ["a"], "scale": "none", "steps": [2, 9]})
    assert ended(client, begun.json())["answer"] == {"groups": 0}
    assert door.lab.calls == [
        ("table", ["accuracy"], [2], {"format": {}}, rows, None),
        ("advantages", [1, 0], None, 2),
        ("advantages", [[1, None]], [1, 2], None),
        ("conflicts", ["a", "b"], [[[1, 0], [0, 1]]], None),
        ("replay", RUN, ["a"], None, {}, {"scale": "none", "steps": [2, 9], "limit_groups": 200, "versions": None}),
    ]


def test_reasons_come_in_both_languages(client: TestClient) -> None:
    answer = client.post("/api/lab/table", json={"rewards": ["accuracy"], "rows": [{"completion": "x"}]}).json()
    reason = answer["rows"][0]["cells"]["accuracy"]["reason"]
    assert reason["en"] == "no <answer> tag"
    assert reason["ko"] != reason["en"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("table", {"rewards": "accuracy"}),
        ("table", {"rewards": [1]}),
        ("table", {"rewards": ["accuracy"], "rows": ["x"]}),
        ("table", {"rewards": ["accuracy"], "rows": [{}] * (MOST_ROWS + 1)}),
        ("table", {"rewards": ["accuracy"], "args": []}),
        ("audit", {"limit": 0}),
        ("audit", {"limit": True}),
        ("audit", {"values": 3}),
        ("advantages", {"rewards": 1}),
        ("advantages", {"rewards": [1], "group_size": "2"}),
        ("replay", {"run": 7}),
        ("replay", {"run": RUN, "steps": [1, 2, 3]}),
    ],
)
def test_wrong_parameters_are_refused_in_both_languages(client: TestClient, path: str, body: Any) -> None:
    answer = client.post(f"/api/lab/{path}", json=body)
    assert answer.status_code == 422
    assert set(answer.json()["error"]) == {"en", "ko"}


def ended(client: TestClient, begun: dict[str, Any]) -> dict[str, Any]:
    """The job once it has ended."""

    def asked() -> dict[str, Any] | None:
        now = client.get(f"/api/lab/jobs/{begun['job']}").json()
        return None if now["state"] == "running" else now

    found = wait_for(asked)
    assert found
    return found


def test_an_audit_is_asked_about_until_it_is_done(client: TestClient, door: SimpleNamespace) -> None:
    door.lab.gate.clear()
    begun = client.post("/api/lab/audit", json={"values": {}, "limit": 5}).json()
    assert door.lab.inside.acquire(timeout=30)
    now = client.get(f"/api/lab/jobs/{begun['job']}").json()
    assert (now["state"], now["done"], now["total"], now["answer"]) == ("running", 0, 2, None)
    assert now["what"] == {"en": "first", "ko": "첫째"}
    door.lab.gate.set()
    assert ended(client, begun)["answer"] == {"ok": True, "verdict": "pass", "limit": 5}
    assert client.get("/api/lab/jobs/none").status_code == 404


def test_an_audit_that_fails_says_so_in_words_and_never_more(client: TestClient) -> None:
    found = ended(client, client.post("/api/lab/audit", json={"values": {"refuse": True}}).json())
    assert found["state"] == "failed"
    assert found["error"] == {"en": "no rows", "ko": "행이 없습니다"}
    found = ended(client, client.post("/api/lab/audit", json={"values": {"break": True}}).json())
    assert found["state"] == "failed"
    assert "secret" not in json.dumps(found)


def test_an_audit_is_stopped_between_its_steps(client: TestClient, door: SimpleNamespace) -> None:
    door.lab.gate.clear()
    begun = client.post("/api/lab/audit", json={"values": {}}).json()
    assert door.lab.inside.acquire(timeout=30)
    client.post(f"/api/lab/jobs/{begun['job']}/stop")
    door.lab.gate.set()
    assert ended(client, begun)["state"] == "stopped"


def test_only_a_few_audits_run_at_once(client: TestClient, door: SimpleNamespace) -> None:
    door.lab.gate.clear()
    begun = [client.post("/api/lab/audit", json={"values": {}}).json() for _ in range(MOST_SLOW)]
    refused = client.post("/api/lab/audit", json={"values": {}})
    assert refused.status_code == 409
    assert refused.json()["error"]["ko"]
    door.lab.gate.set()
    assert [ended(client, each)["state"] for each in begun] == ["done"] * MOST_SLOW
    again = wait_for(lambda: client.post("/api/lab/audit", json={"values": {}}).json().get("job"), what="a free place")
    ended(client, {"job": again})


def test_the_learnable_band_becomes_a_set(client: TestClient, door: SimpleNamespace) -> None:
    made = client.post(f"/api/lab/probe/{RUN}/filter", json={"name": "band"})
    assert made.json() == {"set": {"name": "band", "rows": 2}}
    assert door.data.filtered == ({"dataset": "arithmetic"}, "band", ["a", "b"])
    assert client.post(f"/api/lab/probe/{RUN}/filter", json={}).status_code == 422
    door.lab.calls = ["empty"]
    assert client.post(f"/api/lab/probe/{RUN}/filter", json={"name": "x"}).status_code == 422
    assert client.get("/api/lab/probe/..%2fx").status_code == 404
