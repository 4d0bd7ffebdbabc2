"""The Samples page's routes and words: what is asked reaches the service, and what the scripts say exists."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from backend.samples.listing import MOST
from backend.samples.service import SampleService
from storage.records import Completion, Generation, Group
from storage.runs import create_run
from tests.storage_support import RUN, open_store
from ui.api_samples import routes
from ui.text_samples import TEXTS

SCRIPTS = Path(__file__).resolve().parents[2] / "ui" / "static" / "js"
OWN = ("card", "filters", "group", "list", "page", "parts", "text")
SOURCE = "\n".join((SCRIPTS / "samples" / f"{name}.js").read_text(encoding="utf-8") for name in OWN)
LIVE = "\n".join(path.read_text(encoding="utf-8") for path in (SCRIPTS / "live").glob("*.js"))
HANGUL = re.compile("[가-힣]")
OTHER = "20261129-134501-ab2d"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    store = open_store(tmp_path_factory.mktemp("samples"))
    create_run(store.db, OTHER, "empty", {}, None, ())
    texts = ("<answer>2</answer>", "\x1b[31m3\u202e", "lone \ud83d", "")
    completions = tuple(
        Completion(text, 3, at == 1, (float(at == 0), 1.0), float(at == 0) + 0.2, 0.75 - at, correct=at == 0)
        for at, text in enumerate(texts)
    )
    writer = store.writer()
    for step in (1, 2):
        writer.generation(
            Generation(
                step, "train", ("accuracy", "format"), (Group(f"row-{step}", "1+1=?", "text", "2", completions),)
            )
        )
    assert writer.close()
    services = SimpleNamespace(db=store.db, get=lambda run_id: got(store.reader.run(run_id), run_id))
    services.explorer = SampleService(services)  # type: ignore[arg-type]
    return TestClient(Starlette(routes=routes(services)))  # type: ignore[arg-type]


def got(run: Any, run_id: str) -> Any:
    from backend.runs import not_found

    if run is None:
        raise not_found(run_id)
    return run


def find(client: TestClient, **query: Any) -> Any:
    return client.get(f"/api/runs/{RUN}/samples/find", params=query)


def test_filters_reach_the_store(client: TestClient) -> None:
    def n(**query: Any) -> int:
        return len(find(client, **query).json()["items"])

    assert n() == 8
    assert n(correct="true") == 2
    assert n(truncated="true", correct="false") == 2
    assert n(**{"from": 2}) == 4
    assert n(to=1, kind="live") == 4
    assert n(kind="dead") == 0
    assert n(reward="accuracy", low=0.5) == 2
    assert n(low=1, high=1.5) == 2
    assert n(text="ANSWER") == 2
    assert n(prompt="row-1") == 4
    assert n(prompt="row-1", text="1+1") == 4
    assert n(phase="eval") == 0


def test_pages_and_orders(client: TestClient) -> None:
    first = find(client, limit=3, order="oldest").json()
    second = find(client, limit=3, order="oldest", cursor=first["cursor"]).json()
    assert [each["step"] for each in first["items"] + second["items"]] == [1, 1, 1, 1, 2, 2]
    assert find(client, limit=3).json()["items"][0]["step"] == 2
    assert find(client, limit=MOST).status_code == 200
    assert find(client, limit=MOST + 1).status_code == 422


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"low": "x"}, "low"),
        ({"from": "-1"}, "from"),
        ({"kind": "odd"}, "kind"),
        ({"reward": "nothing", "low": "1"}, "reward"),
        ({"from": "5", "to": "4"}, "to"),
    ],
    ids=str,
)
def test_a_filter_that_cannot_be_read_is_told_at_its_field(client: TestClient, query: Any, field: str) -> None:
    for path in ("find", "newer"):
        answer = client.get(f"/api/runs/{RUN}/samples/{path}", params=query)
        assert answer.status_code == 422
        assert answer.json()["field"] == field
        assert HANGUL.search(answer.json()["error"]["ko"])


@pytest.mark.parametrize(
    "cursor", ["x", "1", "1.x", "9" * 400 + ".1", "-1.-1", "-1.0", "1.-999999", " 1 . 2 ", "\u0663.1", "1.2.3", "1.2\n"]
)
def test_a_cursor_of_nobody_is_refused(client: TestClient, cursor: str) -> None:
    assert find(client, cursor=cursor).status_code == 422


def test_a_group_by_its_id_and_by_its_place(client: TestClient) -> None:
    by_place = client.get(f"/api/runs/{RUN}/samples/at", params={"step": 2, "place": 0}).json()
    group = by_place["group"]
    by_id = client.get(f"/api/runs/{RUN}/samples/groups/{group['id']}").json()
    assert by_id == by_place
    assert by_id["next"] is None
    assert by_id["previous"] < group["id"]
    assert group["completions"][0]["index"] == 0
    assert group["completions"][0]["text"] == "<answer>2</answer>"
    text = client.get(f"/api/runs/{RUN}/samples/groups/{group['id']}/2").json()
    assert text == {"text": "lone \ufffd", "surrogates": 1}


@pytest.mark.parametrize(
    "path",
    [
        f"{RUN}/samples/groups/999999",
        f"{RUN}/samples/groups/{2**70}",
        f"{RUN}/samples/groups/1/99",
        f"{RUN}/samples/at?step=99&place=0",
        f"{OTHER}/samples/groups/1",
        "20261129-134509-zzzz/samples/find",
        "20261129-134509-zzzz/samples/groups/1",
    ],
)
def test_what_is_not_there_is_said_in_both_languages(client: TestClient, path: str) -> None:
    answer = client.get(f"/api/runs/{path}")
    assert answer.status_code == 404
    assert HANGUL.search(answer.json()["error"]["ko"])


def test_a_run_without_samples_has_none(client: TestClient) -> None:
    answer = client.get(f"/api/runs/{OTHER}/samples/find").json()
    assert answer == {"items": [], "cursor": None, "searched": 0, "of": 0}
    assert client.get(f"/api/runs/{OTHER}/samples/newer").json() == {"n": 0, "more": False}


def test_every_key_that_the_scripts_name_exists_and_every_text_is_named() -> None:
    named = set(re.findall(r"'(samples\.[a-z0-9_]+)'", SOURCE + LIVE))
    assert named - TEXTS.keys() == set()
    built = [re.compile(re.escape(stem) + r"[a-z_]+") for stem in re.findall(r"`(samples\.[a-z_]*)\$\{", SOURCE)]
    unused = {key for key in TEXTS if key not in named and not any(form.fullmatch(key) for form in built)}
    assert unused == set()


def test_the_parts_of_built_keys_exist() -> None:
    for kind in ("live", "all_right", "all_wrong", "tied"):
        assert f"samples.kind_{kind}" in TEXTS
        assert f"samples.means_{kind}" in TEXTS
    for mode in re.findall(r"MODES = \[(.*?)\]", SOURCE)[0].replace("'", "").split(", "):
        assert f"samples.mode_{mode}" in TEXTS
    for column in re.findall(r"HEAD = \[(.*?)\]", SOURCE)[0].replace("'", "").split(", "):
        assert f"samples.c_{column}" in TEXTS
