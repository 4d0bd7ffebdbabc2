"""The routes of custom rewards, over the real service."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from backend.custom.service import CustomService
from backend.settings import Settings
from tests.custom_support import NO_SANDBOX
from ui.api_custom import routes

SOURCE = "def judge(completions, answer, **kwargs):\n    return [1.0] * len(completions)\n"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    services: Any = SimpleNamespace(custom=CustomService(Settings(tmp_path)))
    with TestClient(Starlette(routes=routes(services)), client=("127.0.0.1", 50000)) as opened:
        yield opened


def test_save_open_and_delete(client: TestClient) -> None:
    overview = client.get("/api/custom").json()
    assert (overview["allowed"], overview["rewards"]) == (True, [])
    assert "as you" in overview["confirm"]["en"]
    assert {each["id"] for each in overview["templates"]} >= {"exact", "judge", "curriculum"}
    body = {"name": "mine", "source": SOURCE, "settings": {"limit_s": 5, "memory_mb": None}}
    made = client.post("/api/custom/save", json=body)
    assert (made.status_code, made.json()["version"], made.json()["settings"]) == (201, 1, {"limit_s": 5})
    assert client.post("/api/custom/save", json={**body, "source": SOURCE + "\n"}).json()["version"] == 2
    (saved,) = client.get("/api/custom").json()["rewards"]
    assert (saved["name"], saved["version"], saved["versions"], saved["error"]) == ("mine", 2, [1, 2], None)
    assert "mine" in {each["value"] for each in client.get("/api/custom").json()["choices"]}
    assert client.get("/api/custom/rewards/mine").json()["source"] == SOURCE + "\n"
    assert client.get("/api/custom/rewards/mine?version=1").json()["source"] == SOURCE
    assert client.get("/api/custom/rewards/mine?version=7").status_code == 404
    assert client.delete("/api/custom/rewards/mine").json() == {"deleted": "mine"}
    assert client.delete("/api/custom/rewards/mine").status_code == 404


@pytest.mark.parametrize("name", ["%2e%2e", "..%2f..", "a.b", "<b>", "%00"])
def test_hostile_names_are_no_names(client: TestClient, name: str) -> None:
    assert client.get(f"/api/custom/rewards/{name}").status_code in (404, 422)
    answer = client.post("/api/custom/save", json={"name": name, "source": SOURCE})
    assert answer.status_code == 422
    seen = client.post("/api/custom/look", json={"name": "<b>", "source": SOURCE}).json()
    assert [p["code"] for p in seen["problems"]] == ["name"]


def test_trusted_needs_the_confirmation(client: TestClient) -> None:
    body = {"name": "mine", "source": SOURCE, "level": "trusted"}
    for route in ("save", "test"):
        for confirmed in (False, None, "yes", 1):
            answer = client.post(f"/api/custom/{route}", json={**body, "confirmed": confirmed})
            assert answer.status_code == 422
            assert "runs code as you" in answer.json()["error"]["en"]
    assert client.post("/api/custom/save", json={**body, "confirmed": True}).status_code == 201


def test_trusted_is_for_somebody_at_the_machine(client: TestClient) -> None:
    body = {"name": "mine", "source": SOURCE, "level": "trusted", "confirmed": True}
    far = TestClient(client.app, client=("192.168.0.7", 50000))
    for route in ("save", "test"):
        answer = far.post(f"/api/custom/{route}", json=body)
        assert (answer.status_code, "on the machine" in answer.json()["error"]["en"]) == (422, True)
    assert far.post("/api/custom/look", json=body).status_code == 200
    assert far.post("/api/custom/save", json={**body, "level": "sandboxed"}).status_code == 201


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"source": 5},
        {"source": SOURCE, "level": "root"},
        {"source": SOURCE, "level": 5},
        {"source": SOURCE, "rows": "x"},
        {"source": SOURCE, "rows": [5]},
        {"source": SOURCE, "shape": "circle"},
        {"source": SOURCE, "settings": [1]},
        {"source": SOURCE, "settings": {"limit_s": "fast"}, "rows": [{"completion": "a", "answer": "b"}]},
        {"source": SOURCE, "function": 5},
    ],
)
def test_a_malformed_body_is_refused_in_words(client: TestClient, body: dict[str, Any]) -> None:
    answer = client.post("/api/custom/test", json=body)
    assert answer.status_code == 422
    assert answer.json()["error"]["ko"]


def test_the_look_tells_choices_and_problems(client: TestClient) -> None:
    two = SOURCE + "def other(completions): pass\n"
    seen = client.post("/api/custom/look", json={"source": two}).json()
    assert (seen["ok"], seen["choices"], seen["function"]) == (False, ["judge", "other"], None)
    seen = client.post("/api/custom/look", json={"source": two, "function": "other"}).json()
    assert seen["problems"][0]["offer"] == {"signature": "def other(completions, **kwargs):"}
    seen = client.post("/api/custom/look", json={"source": SOURCE, "columns": ["gold"]}).json()
    assert seen["problems"][0]["offer"] == {"columns": {"answer": "gold"}}


@pytest.mark.skipif(NO_SANDBOX, reason="no sandbox on this machine")
def test_a_test_runs_in_the_sandbox(client: TestClient) -> None:
    body = {"source": SOURCE, "rows": [{"completion": "a", "gold": "b"}], "settings": {"columns": {"answer": "gold"}}}
    report = client.post("/api/custom/test", json=body).json()
    assert (report["ok"], report["level"], report["rows"][0]["score"]) == (True, "sandboxed", 1.0)


def test_on_a_public_space_every_door_is_shut(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    client.post("/api/custom/save", json={"name": "mine", "source": SOURCE})
    monkeypatch.setenv("SPACE_ID", "me/studio")
    overview = client.get("/api/custom").json()
    assert (overview["allowed"], overview["rewards"], overview["templates"]) == (False, [], [])
    assert "Space" in overview["why"]["ko"]
    body = {"name": "mine", "source": SOURCE, "confirmed": True, "rows": [{"completion": "a", "answer": "b"}]}
    for level in ("sandboxed", "trusted"):
        for route in ("look", "test", "save"):
            answer = client.post(f"/api/custom/{route}", json={**body, "level": level})
            assert (answer.status_code, "public Space" in answer.json()["error"]["en"]) == (422, True)
    assert client.get("/api/custom/rewards/mine").status_code == 422
    assert client.delete("/api/custom/rewards/mine").status_code == 422
