"""The routes: parameters, errors in words, JSON that any reader takes."""

from __future__ import annotations

import json
import math
import threading
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from backend.errors import NotFound, Refused, WrongState
from backend.text import Text
from ui import wire
from ui.api import api_routes
from ui.wire import LARGEST_BODY, both, encode

RUN = "20261129-134500-ab2c"


class Check:
    def to_json(self, lang: str) -> dict[str, Any]:
        return {"ok": False, "errors": [{"field": "beta", "rule": {"en": "too low", "ko": "너무 작음"}[lang]}]}


class Door:
    """Services that remember what they were asked."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def runs(self):
        return [{"id": RUN, "name": "x" * 400}]

    def show(self, run_id):
        raise NotFound(Text(en=f"no run {run_id}", ko=f"{run_id} 없음"))

    def live(self, run_id, after=0, revision=-1, group_after=0):
        self.calls.append(("live", run_id, after, revision, group_after))
        return {"cursor": after, "points": [["train", "loss", 1, math.nan]]}

    def check(self, raw, preset=None):
        self.calls.append(("check", dict(raw), preset))
        return Check()

    def start(self, raw, preset=None, accept=()):
        self.calls.append(("start", accept))
        if preset == "fine":
            return SimpleNamespace(id=RUN, name="n", state="queued")
        refused = Refused(Text(en="refused", ko="거절"))
        if preset == "warned":
            refused.preflight = {"stops": [], "warns": [{"id": "slow"}]}  # type: ignore[attr-defined]
        else:
            refused.check = Check()  # type: ignore[attr-defined]
        raise refused

    def stop(self, run_id, now=False):
        self.calls.append(("stop", run_id, now))
        raise WrongState(Text(en="it has ended", ko="이미 끝났습니다"))

    def delete(self, run_id):
        raise RuntimeError("secret path /home/me")

    def samples(self, run_id, step=None, limit=8):
        self.calls.append(("samples", step, limit))
        return []


@pytest.fixture
def door() -> Door:
    return Door()


@pytest.fixture
def client(door: Door) -> TestClient:
    return TestClient(Starlette(routes=api_routes(door)))  # type: ignore[arg-type]


def test_parameters_reach_services_as_numbers(client: TestClient, door: Door) -> None:
    answer = client.get(f"/api/runs/{RUN}/live?after=7&revision=3&group_after=2")
    assert door.calls == [("live", RUN, 7, 3, 2)]
    assert answer.json() == {"cursor": 7, "points": [["train", "loss", 1, None]]}, "NaN is null"
    client.get(f"/api/runs/{RUN}/samples")
    client.get(f"/api/runs/{RUN}/samples?step=0&limit=2")
    assert door.calls[1:] == [("samples", None, 4), ("samples", 0, 2)]


@pytest.mark.parametrize("query", ["after=x", "after=-1", "after=1.5", "after=99999999999999999999"])
def test_a_bad_number_names_the_field_and_the_rule(client: TestClient, query: str) -> None:
    answer = client.get(f"/api/runs/{RUN}/live?{query}")
    assert answer.status_code == 422
    error = answer.json()["error"]
    assert query in error["en"].replace("'", "")
    assert "whole number from 0" in error["en"]
    assert "정수" in error["ko"]


@pytest.mark.parametrize("run", ["x", "..", "20261129-134500-AB2C", "20261129-134500-ab2c%0a", "app.db"])
def test_only_ids_that_the_server_makes_reach_services(client: TestClient, door: Door, run: str) -> None:
    answer = client.get(f"/api/runs/{run}/live")
    assert answer.status_code == 404
    assert answer.json()["error"]["ko"]
    assert door.calls == []


def test_errors_have_their_status_and_both_languages(client: TestClient) -> None:
    assert client.get(f"/api/runs/{RUN}").status_code == 404
    answer = client.post(f"/api/runs/{RUN}/stop", json={"now": True})
    assert (answer.status_code, answer.json()["error"]["ko"]) == (409, "이미 끝났습니다")
    for method, path in (("GET", "/api/nothing"), ("PUT", "/api/runs"), ("PATCH", f"/api/runs/{RUN}")):
        answer = client.request(method, path)
        assert answer.status_code == 404, (method, path)
        assert set(answer.json()["error"]) == {"en", "ko"}


def test_an_unforeseen_fault_tells_no_details(client: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    answer = client.delete(f"/api/runs/{RUN}")
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert "secret path" in caplog.text, "the log has it"


def test_a_refused_start_brings_the_check_in_both_languages(client: TestClient) -> None:
    answer = client.post("/api/runs", json={"values": {}, "preset": None})
    assert answer.status_code == 422
    assert answer.json()["check"]["errors"][0]["rule"] == {"en": "too low", "ko": "너무 작음"}
    fine = client.post("/api/runs", json={"values": {}, "preset": "fine"})
    assert (fine.status_code, fine.json()["run"]["id"]) == (201, RUN)


def test_a_start_that_the_preflight_refuses_brings_its_checks_and_takes_what_is_accepted(
    client: TestClient, door: Door
) -> None:
    answer = client.post("/api/runs", json={"preset": "warned"})
    assert answer.status_code == 422
    assert answer.json()["preflight"] == {"stops": [], "warns": [{"id": "slow"}]}
    assert client.post("/api/runs", json={"preset": "fine", "accept": ["slow"]}).status_code == 201
    assert door.calls == [("start", ()), ("start", ("slow",))]
    for wrong in ("slow", [1], {"slow": True}):
        assert client.post("/api/runs", json={"preset": "fine", "accept": wrong}).status_code == 422
    assert len(door.calls) == 2


@pytest.mark.parametrize("body", ["[1]", "{", "1", '{"values": []}', '{"values": {}, "preset": 5}', "\xff"])
def test_a_malformed_body_is_refused_in_words(client: TestClient, door: Door, body: str) -> None:
    answer = client.post("/api/check", content=body.encode("latin-1"))
    assert answer.status_code == 422
    assert set(answer.json()["error"]) == {"en", "ko"}
    assert door.calls == []


@pytest.mark.parametrize("depth", [101, 900, 200_000])
@pytest.mark.parametrize(("left", "right"), [("[", "]"), ('{"a":', "}")])
def test_a_body_that_is_nested_without_end_is_refused_in_words(
    client: TestClient, door: Door, depth: int, left: str, right: str
) -> None:
    nested = left * depth + "1" + right * depth
    for path in ("/api/check", "/api/runs", "/api/pasted"):
        answer = client.post(path, content=f'{{"values": {{"dataset_args": {nested}}}}}')
        assert answer.status_code == 422
        assert "nested too deeply" in answer.json()["error"]["en"]
    assert door.calls == []


def test_a_handler_that_is_led_too_deep_refuses_in_words(client: TestClient) -> None:
    answer = client.post("/api/pasted", json={"text": "[" * 5000 + "]" * 5000})
    assert answer.status_code == 422
    assert set(answer.json()["error"]) == {"en", "ko"}


def test_a_body_may_be_nested_as_deep_as_settings_are(client: TestClient, door: Door) -> None:
    nested = "[" * 90 + "]" * 90
    assert client.post("/api/check", content=f'{{"values": {{"dataset_args": {nested}}}}}').status_code == 200
    assert len(door.calls) == 1


def test_a_body_without_end_is_cut_off(client: TestClient) -> None:
    answer = client.post("/api/check", content=b" " * (LARGEST_BODY + 1))
    assert answer.status_code == 422


def test_a_space_takes_short_bodies_and_reads_long_ones_beside_the_page(
    client: TestClient, door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[str] = []
    real = wire.parsed
    monkeypatch.setattr(wire, "parsed", lambda raw: threads.append(threading.current_thread().name) or real(raw))
    for size in (10, 20_000):
        assert client.post("/api/check", json={"values": {"x": "y" * size}}).status_code == 200
    assert "worker" in threads[1].lower() or threads[0] != threads[1]
    monkeypatch.setenv("SPACE_ID", "someone/studio")
    answer = client.post("/api/check", content=b" " * (wire.LARGEST_PUBLIC + 1))
    assert (answer.status_code, "300 kB" in answer.json()["error"]["en"]) == (422, True)


def test_now_must_be_true_and_not_merely_there(client: TestClient, door: Door) -> None:
    for body, want in (({}, False), ({"now": "false"}, False), ({"now": 1}, False), ({"now": True}, True)):
        client.post(f"/api/runs/{RUN}/stop", json=body)
        assert door.calls[-1] == ("stop", RUN, want)


def test_the_same_answer_again_costs_no_body(client: TestClient) -> None:
    first = client.get("/api/runs")
    again = client.get("/api/runs", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_json_takes_what_models_write() -> None:
    value = {"text": "nul\x00 lone \ud83d 한글 🧮 \u2028", "x": [math.inf, -math.inf, math.nan, 1.5]}
    read = json.loads(encode(value).decode("utf-8"))
    assert read["x"] == [None, None, None, 1.5]
    assert read["text"] == "nul\x00 lone ? 한글 🧮 \u2028"


def test_both_pairs_only_what_differs() -> None:
    assert both({"a": "x", "b": ["y", 1]}, {"a": "x", "b": ["예", 1]}) == {"a": "x", "b": [{"en": "y", "ko": "예"}, 1]}
