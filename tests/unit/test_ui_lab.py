"""The Lab's routes and words: parameters are checked, slow calls are few, every text that a script names exists."""

from __future__ import annotations

import json
import re
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from backend.errors import Refused
from backend.text import Text
from ui.api_lab import MOST_ROWS, MOST_SLOW, routes
from ui.text_lab import TEXTS as BENCH
from ui.text_lab_runs import TEXTS as RUNS

RUN = "20261129-134500-ab2c"
TEXTS = BENCH | RUNS
SCRIPTS = Path(__file__).resolve().parents[2] / "ui" / "static" / "js" / "lab"
SOURCE = "\n".join(path.read_text(encoding="utf-8") for path in SCRIPTS.glob("*.js"))


class Lab:
    """Remembers what it was asked; an audit waits while `gate` is closed."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.gate = threading.Event()
        self.gate.set()
        self.inside = threading.Semaphore(0)

    def table(self, rewards, weights, args, rows, versions=None):
        self.calls.append(("table", rewards, weights, args, rows, versions))
        return {"rewards": rewards, "rows": []}

    def audit(self, values, rows=None, limit=32):
        self.calls.append(("audit", values, rows, limit))
        self.inside.release()
        assert self.gate.wait(30)
        return {"ok": True, "verdict": "pass", "checks": []}

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


def test_rows_come_with_the_gold_in_the_demanded_format(client: TestClient) -> None:
    answer = client.get("/api/lab/rows", params={"n": 2, "values": json.dumps({"dataset": "arithmetic"})}).json()
    assert [row["ground_truth"] for row in answer["rows"]] == ["2", "2"]
    assert answer["made"] == ["<answer>2</answer>"] * 2
    for wrong in ({"values": "[1]"}, {"values": "{"}, {"values": "[" * 5000}, {"n": "0"}, {"n": str(MOST_ROWS + 1)}):
        answer = client.get("/api/lab/rows", params=wrong)
        assert answer.status_code == 422
        assert answer.json()["error"]["ko"]


def test_what_is_asked_reaches_the_service(client: TestClient, door: SimpleNamespace) -> None:
    rows = [{"completion": "x", "ground_truth": "1"}]
    client.post("/api/lab/table", json={"rewards": ["accuracy"], "weights": [2], "args": {"format": {}}, "rows": rows})
    client.post("/api/lab/advantages", json={"rewards": [1, 0], "group_size": 2})
    client.post("/api/lab/advantages", json={"rewards": [[1, None]], "weights": [1, 2]})
    client.post("/api/lab/conflicts", json={"rewards": ["a", "b"], "groups": [[[1, 0], [0, 1]]], "weights": None})
    client.post("/api/lab/replay", json={"run": RUN, "rewards": ["a"], "scale": "none", "steps": [2, 9]})
    assert door.lab.calls == [
        ("table", ["accuracy"], [2], {"format": {}}, rows, None),
        ("advantages", [1, 0], None, 2),
        ("advantages", [[1, None]], [1, 2], None),
        ("conflicts", ["a", "b"], [[[1, 0], [0, 1]]], None),
        ("replay", RUN, ["a"], None, {}, {"scale": "none", "steps": [2, 9], "limit_groups": 200, "versions": None}),
    ]


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


def test_only_a_few_audits_run_at_once(client: TestClient, door: SimpleNamespace) -> None:
    door.lab.gate.clear()
    answers: list[int] = []
    ask = lambda: answers.append(client.post("/api/lab/audit", json={"values": {}}).status_code)  # noqa: E731
    threads = [threading.Thread(target=ask) for _ in range(MOST_SLOW)]
    for thread in threads:
        thread.start()
    for _ in threads:
        assert door.lab.inside.acquire(timeout=30)
    refused = client.post("/api/lab/audit", json={"values": {}})
    assert refused.status_code == 409
    assert refused.json()["error"]["ko"]
    door.lab.gate.set()
    for thread in threads:
        thread.join(30)
    assert answers == [200] * MOST_SLOW
    assert client.post("/api/lab/audit", json={"values": {}}).status_code == 200, "the places are free again"


def test_the_learnable_band_becomes_a_set(client: TestClient, door: SimpleNamespace) -> None:
    made = client.post(f"/api/lab/probe/{RUN}/filter", json={"name": "band"})
    assert made.json() == {"set": {"name": "band", "rows": 2}}
    assert door.data.filtered == ({"dataset": "arithmetic"}, "band", ["a", "b"])
    assert client.post(f"/api/lab/probe/{RUN}/filter", json={}).status_code == 422
    door.lab.calls = ["empty"]
    assert client.post(f"/api/lab/probe/{RUN}/filter", json={"name": "x"}).status_code == 422
    assert client.get("/api/lab/probe/..%2fx").status_code == 404


def named() -> set[str]:
    return set(re.findall(r"'(lab\.\w+)'", SOURCE))


def test_every_text_that_a_script_names_exists_and_none_is_left_over() -> None:
    assert sorted(key for key in named() if key not in TEXTS and f"{key}_1" not in TEXTS) == []
    stems = set(re.findall(r"`(lab\.\w+_)\$\{", SOURCE))
    unused = {key for key in TEXTS if key.removesuffix("_1") not in named() and not key.startswith(tuple(stems))}
    assert sorted(unused) == []


@pytest.mark.parametrize("key", sorted(TEXTS))
def test_both_languages_say_the_same_things(key: str) -> None:
    text = TEXTS[key]
    assert text.en.strip()
    assert not re.search("[가-힣]", text.en)
    assert sorted(re.findall(r"\{\w+\}", text.en)) == sorted(re.findall(r"\{\w+\}", text.ko)) or key.endswith("_1")
    assert re.search("[가-힣]", text.ko) or key == "lab.interval", "not translated"


def test_no_script_turns_text_into_html() -> None:
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", SOURCE)
