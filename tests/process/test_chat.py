"""The chat with its real process, on the tiny model: which weights answer, and what happens when something ends."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from starlette.applications import Starlette

from backend.chat import sides
from backend.chat.limits import IDLE_VARIABLE
from backend.chat.service import ChatService
from backend.errors import NotFound, Refused
from backend.estimate import DeviceFacts
from backend.settings import PROJECT
from tests.chat_support import GREEDY, ROWS, ChatHome, answers, greedy, kinds, only
from tests.process.harness import ended
from tests.support import wait_for

LONG = {"temperature": 1.5, "max_new_tokens": 200, "n": 16}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChatHome]:
    made = ChatHome(tmp_path_factory.mktemp("chat") / "home")
    yield made
    made.close()


def decoded(home: ChatHome, ids: list[int]) -> str:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(home.model).decode(ids, skip_special_tokens=True)


def test_each_side_is_a_plain_load_of_its_own_files_whatever_was_loaded_before(home: ChatHome) -> None:
    """The base is asked before an adapter was loaded, beside it, swapped with it, and after the adapter alone."""
    run_dir = home.settings.run_dir(home.trained)
    base = decoded(home, greedy(home.model))
    trained = decoded(home, greedy(home.model, run_dir / "final"))
    earlier = decoded(home, greedy(home.model, run_dir / "checkpoints" / "checkpoint-2"))
    assert len({base, trained, earlier}) == 3
    hashes: dict[str, set[str]] = {}
    for left, right in (("base", None), ("base", "final"), ("final", "base"), ("final", None), ("checkpoint-2", "base"),
                        ("final", "checkpoint-2"), ("base", None)):  # fmt: skip
        events = home.ask(left, right, **GREEDY)
        expected = {"base": base, "final": trained, "checkpoint-2": earlier}
        for name, checkpoint in (("left", left), ("right", right)):
            if checkpoint:
                assert answers(events, name) == [expected[checkpoint]], (left, right)
                start = next(e for e in events if e["type"] == "start" and e["side"] == name)
                hashes.setdefault(checkpoint, set()).add(start["weights"])
                assert (start["checkpoint"], start["dtype"]) == (checkpoint, "float32")
                assert start["adapter"] == (checkpoint != "base")
    assert {name: len(found) for name, found in hashes.items()} == {"base": 1, "final": 1, "checkpoint-2": 1}
    assert len(set.union(*hashes.values())) == 3


def test_the_text_comes_as_it_is_made_and_the_turn_is_kept(home: ChatHome) -> None:
    events = home.ask(index=0, run=home.trained, temperature=1.2, n=3, max_new_tokens=40, seed=5, chat="abcd")
    order = [kind for kind in kinds(events) if kind not in ("loading", "text")]
    assert order == ["start", *["answer"] * 3, "start", *["answer"] * 3, "done"]
    for side in ("left", "right"):
        for sample in range(3):
            mine = [e for e in events if (e.get("side"), e.get("sample")) == (side, sample)]
            answer = only(mine, "answer")
            streamed = ""
            for each in mine:
                if each["type"] == "text":
                    streamed = each["text"] if each.get("replace") else streamed + each["text"]
            assert streamed == answer["completion"]
            assert answer["scores"]["accuracy"]["reason"]["ko"]
            assert answer["total"] is not None
            assert "ids" not in answer
    done = only(events, "done")
    assert done["warnings"] == []
    assert done["max_logit_difference"] > 0
    again = home.ask(index=0, run=home.trained, temperature=1.2, n=3, max_new_tokens=40, seed=5)
    other = home.ask(index=0, run=home.trained, temperature=1.2, n=3, max_new_tokens=40, seed=6)
    assert answers(events, "right") == answers(again, "right") != answers(other, "right")
    kept = home.service.chat("abcd")["turns"][-1]
    assert kept["id"] == done["turn"]
    assert kept["turn"]["prompt"] == ROWS[0]["prompt"]
    assert [a["completion"] for a in kept["turn"]["answers"]] == answers(events, "left") + answers(events, "right")
    exported = [json.loads(line) for line in home.service.export("abcd")]
    assert exported[-1]["answers"] == kept["turn"]["answers"]


def test_log_probabilities_of_the_very_tokens(home: ChatHome) -> None:
    events = home.ask(temperature=1.0, n=2, max_new_tokens=9)
    found = home.service.logprobs({"turn": only(events, "done")["turn"], "side": "right", "sample": 1})
    kept = home.service.chat(only(events, "done")["chat"])["turns"][0]["turn"]["answers"][3]
    assert len(found["tokens"]) == kept["tokens"] == len(kept["ids"])
    assert all(token["left"] <= 0 and token["right"] <= 0 for token in found["tokens"])
    assert sum(token["right"] for token in found["tokens"]) > sum(token["left"] for token in found["tokens"])
    body = {"left": home.side("base"), "right": home.side("base"), "prompt": "1+1", "completion": "abc"}
    same = home.service.logprobs(body)["tokens"]
    assert [token["text"] for token in same] == ["a", "b", "c"]
    assert all(token["left"] == token["right"] for token in same)


def test_an_adapter_that_changes_nothing_is_told(home: ChatHome) -> None:
    """The planted fault: the weights of the adapter are zero."""
    body = {"left": home.side("base", home.zero), "right": home.side("final", home.zero), "prompt": "1+1"}
    done = only(list(home.service.ask({**body, "temperature": 1.0, "n": 4, "max_new_tokens": 8})), "done")
    assert done["max_logit_difference"] == 0
    assert {warning["id"] for warning in done["warnings"]} == {"no_difference", "identical"}
    done = only(list(home.service.ask({**body, **GREEDY})), "done")
    assert {warning["id"] for warning in done["warnings"]} == {"no_difference"}


def test_a_base_that_is_not_what_the_run_began_from_is_told(home: ChatHome) -> None:
    events = list(home.service.ask({"left": home.side("base", home.moved), "prompt": "1", **GREEDY}))
    assert [warning["id"] for warning in only(events, "done")["warnings"]] == ["base_changed"]


def test_a_checkpoint_with_a_changed_file_is_refused(home: ChatHome) -> None:
    changed = home.run("20261129-000000-aaac", final=0.5)
    weights = home.settings.run_dir(changed) / "final" / "adapter_model.safetensors"
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(bytes(data))
    events = list(home.service.ask({"left": home.side("final", changed), "prompt": "1", **GREEDY}))
    assert "other content than when it was saved" in only(events, "error")["error"]["en"]
    assert home.ask("base", None, **GREEDY)[-1]["type"] == "done"
    (weights.parent / "manifest.json").unlink()
    with pytest.raises(NotFound, match="no complete checkpoint"):
        home.service.ask({"left": home.side("final", changed), "prompt": "1"})


def test_what_cannot_be_asked_is_said_and_the_next_question_works(home: ChatHome) -> None:
    events = home.ask("base", None, prompt="x" * 300, **GREEDY)
    assert "more than the model's 256" in only(events, "error")["error"]["en"]
    copy = home.settings.home / "broken"
    shutil.copytree(home.model, copy)
    (copy / "model.safetensors").write_bytes(b"not weights")
    events = list(home.service.ask({"left": {"model": str(copy)}, "prompt": "1", **GREEDY}))
    assert "could not be loaded" in only(events, "error")["error"]["en"]
    assert home.ask("base", None, **GREEDY)[-1]["type"] == "done"


def test_too_little_memory_is_refused_before_anything_is_loaded(home: ChatHome, monkeypatch: Any) -> None:
    service = ChatService(home.settings, home.db, home.reader)
    little = DeviceFacts("cpu", "CPU", 10**9, 10**8, False, 2)
    monkeypatch.setattr(sides.device, "facts", lambda: little)
    with pytest.raises(Refused, match=r"Not enough memory.*0\.1 GB can be used of 1\.0 GB"):
        service.ask({"left": home.side("base"), "prompt": "1"})
    assert service.state()["state"] == "off"


def running(home: ChatHome) -> Iterator[dict[str, Any]]:
    """A long answer, of which the first text has come."""
    body = {"left": home.side("base"), "right": home.side("final"), "prompt": "1", **LONG}
    events = home.service.ask(body)
    for event in events:
        if event["type"] == "text":
            return events
    raise AssertionError("no text came")


def test_who_goes_away_stops_the_answer_and_frees_the_line(home: ChatHome) -> None:
    events = running(home)
    assert home.service.state()["state"] == "busy"
    events.close()  # type: ignore[attr-defined]
    assert home.service.state()["state"] == "ready"
    before = home.service.chats()
    following = home.ask("base", None, **GREEDY)
    assert kinds(following)[-1] == "done"
    assert answers(following, "left") == answers(home.ask("base", None, **GREEDY), "left"), "of this question alone"
    assert len(home.service.chats()) == len(before) + 2, "the one that was left is not kept"


def test_a_stop_gives_what_there_is(home: ChatHome) -> None:
    events = running(home)
    number = home.service.state()["running"]
    home.service.stop(number)
    rest = list(events)
    assert kinds(rest)[-1] == "stopped"
    stopped = [event for event in rest if event["type"] == "answer"]
    assert len(stopped) == 16
    assert any(event.get("stopped") for event in stopped)
    assert all(event["side"] == "left" for event in stopped), "the other side was never begun"


def test_questions_wait_for_their_turn(home: ChatHome) -> None:
    events = running(home)
    second = home.service.ask({"left": home.side("base"), "prompt": "2", **GREEDY})
    queued = next(second)
    assert (queued["type"], queued["position"]) == ("queued", 1)
    third = home.service.ask({"left": home.side("base"), "prompt": "3", **GREEDY})
    number = next(third)["ask"]
    home.service.stop(number)
    assert [event["type"] for event in third][-1] == "stopped"
    assert home.service.state()["running"] != number
    events.close()  # type: ignore[attr-defined]
    assert [event["type"] for event in second][-1] == "done"


def test_the_log_is_kept_and_the_environment_is_scrubbed(home: ChatHome) -> None:
    home.ask("base", None, **GREEDY)
    pid = home.service.state()["pid"]
    environment = Path(f"/proc/{pid}/environ").read_bytes()
    assert b"DATABASE_URL" not in environment
    assert psutil.Process(pid).nice() >= 10
    assert os.getsid(pid) == pid
    assert b"loaded" in (home.settings.home / "logs" / "chat.log").read_bytes()


SERVER = """
import sys
sys.path.insert(0, {project!r})
from pathlib import Path
from backend.settings import Settings
from backend.chat.service import ChatService
from storage.db import Database
from storage.reader import Reader
settings = Settings(Path({home!r}))
db = Database(settings.database_url)
chat = ChatService(settings, db, Reader(db))
body = {{"left": {{"run": {run!r}, "checkpoint": "base"}}, "prompt": "1", "temperature": 1.5, "n": 16,
        "max_new_tokens": 200}}
for event in chat.ask(body):
    if event["type"] == "loading":
        print(chat.state()["pid"], flush=True)
        {after}
"""


@pytest.mark.parametrize("after", ["sys.stdin.read()", "chat.close(); sys.exit()"], ids=["killed", "closed"])
def test_it_ends_with_the_server(home: ChatHome, after: str) -> None:
    code = SERVER.format(project=str(PROJECT), home=str(home.settings.home), run=home.trained, after=after)
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        pid = int(server.stdout.readline())
        if "close" not in after:
            server.kill()
        wait_for(lambda: ended(pid), what="the chat process to end")
        assert server.stdin is not None
        server.stdin.close()


def test_over_http_a_reader_that_goes_stops_the_answer(home: ChatHome) -> None:
    """A real server: the lines come one by one, and the connection's end ends the answer."""
    import socket
    import threading
    from types import SimpleNamespace

    import uvicorn

    from ui.api_chat import routes

    home.ask("base", "final", **GREEDY)
    kept = len(home.service.chats())
    app = Starlette(routes=routes(SimpleNamespace(chat=home.service)))  # type: ignore[arg-type]
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        wait_for(lambda: server.started)
        body = json.dumps({"left": home.side("base"), "right": home.side("final"), "prompt": "1", **LONG}).encode()
        head = f"POST /api/chat/ask HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        with socket.create_connection(listener.getsockname()) as client:
            client.sendall(head + body)
            received = b""
            while b'"text"' not in received:
                received += client.recv(65_536)
            assert b"application/x-ndjson" in received
            assert home.service.state()["state"] == "busy"
        wait_for(lambda: home.service.state()["state"] == "ready", what="the answer to stop")
        assert len(home.service.chats()) == kept, "an answer that ran to its end would have been kept"
        refused = json.dumps({"left": home.side("base"), "prompt": "", "n": 1}).encode()
        with socket.create_connection(listener.getsockname()) as client:
            head = (
                f"POST /api/chat/ask HTTP/1.1\r\nHost: x\r\nContent-Length: {len(refused)}\r\nConnection: close\r\n\r\n"
            )
            client.sendall(head.encode() + refused)
            assert client.recv(65_536).startswith(b"HTTP/1.1 422")
    finally:
        server.should_exit = True
        thread.join(60)
        listener.close()


def test_a_killed_process_is_told_and_the_next_one_ends_when_nobody_asks(home: ChatHome, monkeypatch: Any) -> None:
    events = running(home)
    pid = home.service.state()["pid"]
    os.kill(pid, signal.SIGKILL)
    last = list(events)[-1]
    assert last["type"] == "error"
    assert "killed" in last["error"]["en"]
    assert "강제 종료" in last["error"]["ko"]
    monkeypatch.setenv(IDLE_VARIABLE, "1")
    events = home.service.ask({"left": home.side("base"), "prompt": "1", **GREEDY})
    assert next(events)["type"] == "loading"
    process = psutil.Process(home.service.state()["pid"])
    assert process.pid != pid
    assert list(events)[-1]["type"] == "done"
    wait_for(lambda: not psutil.pid_exists(process.pid), what="the idle end, without a zombie")
    state = home.service.state()
    assert (state["state"], state["memory_bytes"], state["loaded"]) == ("off", 0, [])
