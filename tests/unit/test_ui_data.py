"""The Data page: its routes over a stand-in for Services.data, and its texts."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from backend.data.uploads import LARGEST, SPACE_LARGEST
from backend.errors import NotFound, Refused
from backend.text import Text
from ui import text_data, text_preflight
from ui.api_data import routes

SCRIPTS = Path(__file__).resolve().parents[2] / "ui" / "static" / "js"
SOURCE = "\n".join(
    path.read_text(encoding="utf-8") for part in ("form", "data") for path in (SCRIPTS / part).glob("*.js")
)
TEXTS = {**text_data.TEXTS, **text_preflight.TEXTS}
RUN = "20261129-134500-ab2c"
UPLOAD = "upload-0123456789abcdef"


class Data:
    """Services.data that remembers what it was asked."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def sets(self):
        return [{"name": "한글 이름"}]

    def show(self, name, limit=50):
        if name == "none":
            raise NotFound(Text("no set none", "none 없음"))
        self.calls.append(("show", name, limit))
        return {"name": name}

    def delete(self, name):
        self.calls.append(("delete", name))

    def upload(self, filename, chunks):
        got = b"".join(chunks)
        self.calls.append(("upload", filename, got))
        if filename.endswith(".exe"):
            raise Refused(Text("no such kind", "모르는 형식"))
        return UPLOAD

    def check(self, source, mapping=None):
        self.calls.append(("check", source, mapping))
        return {"ok": True, "rows": 1}

    def store(self, source, name, mapping=None):
        self.calls.append(("store", source, name, mapping))
        refused = Refused(Text("2 problems", "문제 2개"))
        refused.report = {"ok": False}  # type: ignore[attr-defined]
        raise refused

    def make(self, generator, name, args=None):
        self.calls.append(("make", generator, name, args))
        return {"name": name}

    def best_of(self, run_id, name, min_reward=None, per_prompt=1):
        self.calls.append(("best_of", run_id, name, min_reward, per_prompt))
        return {"name": name}

    def generators(self):
        return [{"name": "arithmetic"}]

    def tasks(self, task=None):
        return [{"name": task or "all"}]


@pytest.fixture
def data() -> Data:
    return Data()


@pytest.fixture
def client(data: Data) -> TestClient:
    return TestClient(Starlette(routes=routes(SimpleNamespace(data=data))))  # type: ignore[arg-type]


def test_an_upload_is_handed_on_byte_for_byte_with_its_name(client: TestClient, data: Data) -> None:
    raw = "질문,정답\n".encode("cp949") + bytes(range(256)) * 1000
    answer = client.post("/api/data/upload", params={"name": "../수학 <b>.csv"}, content=raw)
    assert (answer.status_code, answer.json()) == (201, {"upload": UPLOAD})
    assert data.calls == [("upload", "../수학 <b>.csv", raw)]


def test_an_upload_that_is_refused_says_why_in_both_languages(client: TestClient) -> None:
    answer = client.post("/api/data/upload", params={"name": "x.exe"}, content=b"MZ")
    assert (answer.status_code, answer.json()["error"]["ko"]) == (422, "모르는 형식")


def test_an_upload_that_says_it_is_too_large_is_refused_before_it_is_read(client: TestClient, data: Data) -> None:
    answer = client.post("/api/data/upload", content=b"x", headers={"Content-Length": str(LARGEST + 1)})
    assert answer.status_code == 422
    assert "2,000 MB" in answer.json()["error"]["en"]
    assert data.calls == []


def test_on_a_space_less_can_be_uploaded_and_the_page_knows(
    client: TestClient, data: Data, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPACE_ID", "me/studio")
    answer = client.get("/api/data/sets").json()
    assert (answer["largest_upload"], answer["paths"]) == (SPACE_LARGEST, False)
    headers = {"Content-Length": str(SPACE_LARGEST + 1)}
    answer = client.post("/api/data/upload?name=a.csv", content=b"x", headers=headers)
    assert answer.status_code == 422
    assert "'a.csv' has more than 50 MB, the most on a public Space" in answer.json()["error"]["en"]
    assert data.calls == []


def test_a_check_takes_an_upload_or_a_path_and_a_mapping(client: TestClient, data: Data) -> None:
    client.post("/api/data/check", json={"upload": UPLOAD, "mapping": {"prompt": "q"}})
    client.post("/api/data/check", json={"path": "/rows.csv"})
    assert data.calls == [("check", UPLOAD, {"prompt": "q"}), ("check", "/rows.csv", {})]
    for body in ({}, {"upload": ""}, {"path": 5}, {"path": "x", "mapping": []}, {"upload": "/etc/passwd"}):
        answer = client.post("/api/data/check", json=body)
        assert answer.status_code == (404 if body.get("upload") else 422), body
        assert set(answer.json()["error"]) == {"en", "ko"}
    assert len(data.calls) == 2


def test_on_a_space_no_path_of_its_machine_can_be_named(
    client: TestClient, data: Data, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPACE_ID", "me/studio")
    for path in ("/etc/passwd", "~/x.jsonl", "../x.jsonl", "ui/api.py", "x.csv", ".ssh/id"):
        assert client.post("/api/data/check", json={"path": path}).status_code == 422, path
    assert data.calls == []
    assert client.post("/api/data/check", json={"path": "openai/gsm8k"}).status_code == 200


def test_an_import_that_is_refused_brings_the_report(client: TestClient) -> None:
    answer = client.post("/api/data/sets", json={"upload": UPLOAD, "name": "a"})
    assert answer.status_code == 422
    assert answer.json()["report"] == {"ok": False}


def test_sets_are_listed_shown_and_deleted_by_any_name(client: TestClient, data: Data) -> None:
    assert client.get("/api/data/sets").json() == {
        "sets": [{"name": "한글 이름"}],
        "largest_upload": LARGEST,
        "paths": True,
    }
    assert client.get("/api/data/sets/한글 이름?limit=3").json() == {"name": "한글 이름"}
    assert client.get("/api/data/sets/none").status_code == 404
    assert client.get("/api/data/sets/a?limit=100000").status_code == 422
    assert client.delete("/api/data/sets/%ED%95%9C (1)").json() == {"deleted": "한 (1)"}
    assert data.calls == [("show", "한글 이름", 3), ("delete", "한 (1)")]


def test_generators_and_runs_make_sets(client: TestClient, data: Data) -> None:
    made = {"generator": "arithmetic", "name": "sums", "args": {"n": 5}}
    assert client.post("/api/data/make", json=made).status_code == 201
    best = {"run": RUN, "name": "best", "min_reward": 0.5, "per_prompt": 2}
    assert client.post("/api/data/best_of", json=best).json() == {"set": {"name": "best"}}
    assert client.post("/api/data/best_of", json={"run": RUN, "name": "best"}).status_code == 201
    assert data.calls == [
        ("make", "arithmetic", "sums", {"n": 5}),
        ("best_of", RUN, "best", 0.5, 2),
        ("best_of", RUN, "best", None, 1),
    ]
    for wrong in ({"min_reward": "a"}, {"min_reward": True}, {"per_prompt": 0}, {"per_prompt": 1.5}, {"name": ""}):
        assert client.post("/api/data/best_of", json=best | wrong).status_code == 422, wrong
    assert client.get("/api/data/tasks?task=syllogism").json() == {"tasks": [{"name": "syllogism"}]}
    assert client.get("/api/data/generators").json() == {"generators": [{"name": "arithmetic"}]}


def test_every_text_that_a_script_names_exists_and_none_is_left_over() -> None:
    named = set(re.findall(r"'((?:data|preflight|sets)\.\w+)'", SOURCE))
    assert sorted(name for name in named if name not in TEXTS) == []
    report = (SCRIPTS / "data" / "report.js").read_text(encoding="utf-8")
    shown = re.findall(r"'(\w+)'", "".join(re.findall(r"(?:ALWAYS|WHERE_SOME) = \[(.*)\]", report)))
    built = {f"data.count_{name}" for name in shown} | {f"data.way_{way}" for way in ("file", "make", "best")}
    built |= {key for key in TEXTS if key.startswith("data.col_")} | {"data.row", "data.column", "data.what"}
    assert {f"data.count_{name}" for name in shown} <= TEXTS.keys()
    assert sorted(key for key in TEXTS if f"'{key.removesuffix('_1')}'" not in SOURCE and key not in built) == []


@pytest.mark.parametrize("key", sorted(TEXTS))
def test_both_languages_say_the_same_things(key: str) -> None:
    text = TEXTS[key]
    blanks = [sorted(re.findall(r"\{\w+\}", words)) for words in (text.en, text.ko)]
    assert blanks[0] == blanks[1] or key.endswith("_1")
    assert text.en.strip()
    assert not re.search("[가-힣]", text.en)
    assert re.search("[가-힣]", re.sub(r"\{\w+\}", "", text.ko)) or key in {"data.sent"} or "{kinds}" in text.ko
