"""The routes of the chat: events as lines, errors in words, ids that the server makes, the export as a file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from backend.errors import NotFound, Refused, WrongState
from backend.text import Text
from ui.api import api_routes


class Chat:
    def __init__(self) -> None:
        self.calls: list[Any] = []
        self.closed = False

    def ask(self, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
        if body.get("prompt") == "refused":
            raise Refused(Text(en="no", ko="아니요"))
        return self._events(body)

    def _events(self, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
        try:
            yield {"type": "text", "text": "half \ud800 and \x00", "logit": float("nan")}
            if body.get("prompt") == "broken":
                raise RuntimeError("secret path /home/me")
            yield {"type": "done"}
        finally:
            self.closed = True

    def stop(self, number: int) -> dict[str, Any]:
        self.calls.append(("stop", number))
        return {"state": "ready"}

    def chat(self, chat: str) -> dict[str, Any]:
        self.calls.append(("chat", chat))
        raise NotFound(Text(en="none", ko="없음"))

    def export(self, chat: str) -> Iterator[str]:
        return iter([json.dumps({"id": 1, "prompt": "\ud800"}) + "\n", "{}\n"])

    def forget(self, chat: str) -> int:
        return 2

    def free(self) -> dict[str, Any]:
        raise WrongState(Text(en="busy", ko="사용 중"))

    def problem(self, run: str, index: int) -> dict[str, Any]:
        return {"run": run, "index": index}


@pytest.fixture
def chat() -> Chat:
    return Chat()


@pytest.fixture
def client(chat: Chat) -> TestClient:
    return TestClient(Starlette(routes=api_routes(SimpleNamespace(chat=chat))))  # type: ignore[arg-type]


def test_events_are_lines_that_any_reader_takes(client: TestClient, chat: Chat) -> None:
    answer = client.post("/api/chat/ask", json={"prompt": "x"})
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    first, last = map(json.loads, answer.text.splitlines())
    assert (first["logit"], last) == (None, {"type": "done"})
    assert chat.closed


def test_what_is_refused_is_no_stream(client: TestClient) -> None:
    answer = client.post("/api/chat/ask", json={"prompt": "refused"})
    assert (answer.status_code, answer.json()) == (422, {"error": {"en": "no", "ko": "아니요"}})
    assert client.post("/api/chat/ask", content=b"[" * 5000).status_code == 422
    assert client.post("/api/chat/ask", content=b"x" * 2_000_001).status_code == 422


def test_an_unforeseen_fault_ends_the_stream_without_details(client: TestClient, chat: Chat) -> None:
    answer = client.post("/api/chat/ask", json={"prompt": "broken"})
    assert json.loads(answer.text.splitlines()[-1])["type"] == "error"
    assert "secret" not in answer.text
    assert chat.closed


@pytest.mark.parametrize("ask", [None, "7", 1.5, True, [7]])
def test_a_stop_names_a_question(client: TestClient, chat: Chat, ask: Any) -> None:
    assert client.post("/api/chat/stop", json={"ask": ask}).status_code == 422
    assert chat.calls == []
    assert client.post("/api/chat/stop", json={"ask": 7}).json() == {"state": "ready"}


@pytest.mark.parametrize("chat_id", ["..", "ABCD", "a", "x" * 41, "abcd%0a", "a.b.c"])
def test_only_ids_of_conversations_reach_services(client: TestClient, chat: Chat, chat_id: str) -> None:
    for method, path in (("GET", ""), ("DELETE", ""), ("GET", "/export")):
        assert client.request(method, f"/api/chat/chats/{chat_id}{path}").status_code == 404
    assert chat.calls == []


def test_the_history_is_read_exported_and_forgotten(client: TestClient, chat: Chat) -> None:
    assert client.get("/api/chat/chats/abcd12").status_code == 404
    assert chat.calls == [("chat", "abcd12")]
    answer = client.get("/api/chat/chats/abcd12/export")
    assert answer.headers["content-disposition"] == 'attachment; filename="chat-abcd12.jsonl"'
    assert [json.loads(line) for line in answer.text.splitlines()] == [{"id": 1, "prompt": "\ud800"}, {}]
    assert client.delete("/api/chat/chats/abcd12").json() == {"deleted": "abcd12", "turns": 2}
    assert client.post("/api/chat/free").status_code == 409


def test_a_problem_is_of_a_run(client: TestClient) -> None:
    run = "20261129-134500-ab2c"
    assert client.get(f"/api/chat/problem?run={run}&index=3").json() == {"run": run, "index": 3}
    assert client.get("/api/chat/problem?index=3").status_code == 422
    assert client.get("/api/chat/problem?run=../x").status_code == 404
    assert client.get(f"/api/chat/problem?run={run}&index=-1").status_code == 422
