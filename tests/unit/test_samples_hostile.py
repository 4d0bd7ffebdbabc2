"""Whatever is asked of samples is answered, or refused in words: never a fault."""

from __future__ import annotations

from contextlib import suppress
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from backend.errors import StudioError
from backend.samples import filters
from backend.samples.service import SampleService
from storage.explore import Explorer, SampleFilter
from storage.records import Completion, Generation, Group
from storage.runs import create_run
from tests.storage_support import OTHER, RUN, Store, open_store
from tests.unit.test_ui_samples import HANGUL, got
from ui import api_samples, api_samples_more

NAMES = ("total", "tokens", "reward:total")
TEXT = "100% of a_b 'quoted' \"twice\" \0 nul \ud800 lone \U0001f600 [a-z]+(.*)"
HOSTILE = (
    "nan", "NaN", "inf", "-inf", "1e999", "-1", "-0.0", "1_0", "0x10", "9" * 30, "-" + "9" * 30, "9" * 5000, "1e-400",
    "%", "_", "a_b", "'", '"', "'; DROP TABLE run; --", "\0", "a\0b", "\ud800", "\ud83d\ude00", "\U0001f600",
    "x" * 10_000, "(((", "[a-z]+", ".*", "(a+)+$", "\\", "\u202e", "\n", " ", "null", "{}", "true", "\u0663", "reward:",
    "reward:x",
)  # fmt: skip
CURSORS = (
    "0.0", "1.-1", "-1.0", "999999999999999999.999999999999999999", "1.1", "1.1.1", "first-up-0-0-0", "3",
    "forgotten-up-7ff8000000000000-1-1", "forgotten-up-3ff0000000000000-999999999999999999-0", *HOSTILE,
)  # fmt: skip


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    made = open_store(tmp_path_factory.mktemp("hostile"), ())
    for run in (RUN, OTHER):
        create_run(made.db, run, "a name", {}, None, NAMES)
        writer = made.writer(run_id=run)
        for step in (1, 2):
            members = tuple(
                Completion(f"{n} {TEXT}", 3, n == 1, (float(n), 7.0, -1.0), 10.0 * n, 0.5, correct=n == 0)
                for n in range(4)
            )
            group = Group(f"p{step} {TEXT}", f"Prompt {TEXT}", "text", "2", members)
            writer.generation(Generation(step, "train", NAMES, (group,)))
        assert writer.close()
    return made


@pytest.fixture(scope="module")
def services(store: Store) -> Any:
    made = SimpleNamespace(db=store.db, reader=store.reader, get=lambda run_id: got(store.reader.run(run_id), run_id))
    made.explorer = SampleService(made)  # type: ignore[arg-type]
    return made


@pytest.fixture(scope="module")
def client(services: Any) -> TestClient:
    routes = [*api_samples.routes(services), *api_samples_more.routes(services)]
    return TestClient(Starlette(routes=routes), raise_server_exceptions=False)


def fair(answer: Any) -> None:
    assert answer.status_code in (200, 404, 422), (answer.status_code, answer.text[:300])
    if answer.status_code != 200:
        said = answer.json()["error"]
        assert said["en"]
        assert HANGUL.search(said["ko"])


def asked(client: TestClient, path: str, **query: str) -> Any:
    """As an address holds it: a lone surrogate as the bytes that it would be."""
    words = "&".join(
        f"{name}={quote(value.encode('utf-8', 'surrogatepass'), safe='')}" for name, value in query.items()
    )
    return client.get(f"/api/runs/{RUN}/samples/{path}?{words}")


@pytest.mark.parametrize("name", sorted(filters.NAMES))
def test_a_hostile_condition_is_an_answer_or_is_refused(client: TestClient, services: Any, name: str) -> None:
    for value in HOSTILE:
        for path in ("find", "newer", "export"):
            more = {"low": "0"} if name == "reward" else {}
            fair(asked(client, path, **{name: value}, **more))
        with suppress(StudioError):  # at the command line and in Python also what no address can hold
            services.explorer.find(RUN, {name: value})


@pytest.mark.parametrize("cursor", CURSORS, ids=lambda c: ascii(c)[:40])
def test_a_hostile_cursor_is_an_answer_or_is_refused(client: TestClient, cursor: str) -> None:
    for path in ("find", "prompts"):
        fair(asked(client, path, cursor=cursor))


@pytest.mark.parametrize(
    ("path", "name"),
    [("find", "limit"), ("find", "order"), ("newer", "top"), ("at", "step"), ("at", "place"), ("at", "phase"),
     ("prompts", "limit"), ("prompts", "sort"), ("prompt", "prompt"), ("scatter", "x"), ("scatter", "from"),
     ("export", "what"), ("export", "form"), ("export", "all")],
)  # fmt: skip
def test_a_hostile_parameter_is_an_answer_or_is_refused(client: TestClient, path: str, name: str) -> None:
    for value in HOSTILE:
        fair(asked(client, path, **{name: value}))


@pytest.mark.parametrize(
    "path", ["groups/999999999999999999999999", "groups/0", f"groups/{2**63}", "groups/1/99999999999"]
)
def test_ids_of_nobody_are_not_found(client: TestClient, path: str) -> None:
    answer = client.get(f"/api/runs/{RUN}/samples/{path}")
    fair(answer)
    assert answer.status_code == 404


def test_a_cursor_of_another_run_or_filter_gives_only_what_was_asked_for(client: TestClient, services: Any) -> None:
    def find(run: str, **query: Any) -> Any:
        return client.get(f"/api/runs/{run}/samples/find", params=query).json()

    own = {one["group"] for one in find(RUN)["items"]}
    cursor = find(OTHER, limit=3)["cursor"]
    assert {one["group"] for one in find(RUN, cursor=cursor)["items"]} <= own
    cursor = find(RUN, limit=3)["cursor"]
    for one in find(RUN, cursor=cursor, truncated="true")["items"]:
        assert one["truncated"]
    for one in find(RUN, cursor=cursor, order="oldest")["items"]:
        assert one["group"] in own


@pytest.mark.parametrize(
    "needle", ["100%", "a_b", "'quoted'", '"twice"', "\0 nul", "\U0001f600", "[a-z]+(.*)", "\ud800"]
)
def test_a_text_is_looked_for_as_it_stands(services: Any, needle: str) -> None:
    assert len(services.explorer.find(RUN, {"text": needle})["items"]) == 8
    assert services.explorer.find(RUN, {"text": needle + "?"})["items"] == []


def test_a_long_text_is_refused_and_not_cut(client: TestClient) -> None:
    answer = client.get(f"/api/runs/{RUN}/samples/find", params={"text": "x" * 2001})
    assert answer.status_code == 422
    assert answer.json()["field"] == "text"
    assert "2,001" in answer.json()["error"]["en"]


@pytest.mark.parametrize(
    ("reward", "low", "found"),
    [("total", "20", 4), ("", "20", 4), ("reward:total", "2", 4), ("reward:total", "4", 0), ("tokens", "7", 8),
     ("reward:tokens", "7", 8), ("reward:reward:total", "-1", 8), ("reward:reward:total", "0", 0)],
)  # fmt: skip
def test_a_reward_that_is_called_total_has_a_name_of_its_own(
    client: TestClient, reward: str, low: str, found: int
) -> None:
    query = {"reward": reward, "low": low}
    assert len(client.get(f"/api/runs/{RUN}/samples/find", params=query).json()["items"]) == found
    given = filters.parse(query, NAMES)
    assert filters.parse({"reward": given.reward, "low": low}, NAMES) == given


def test_a_reward_that_begins_so_and_clashes_with_none_is_found_by_its_whole_name(store: Store) -> None:
    assert filters.parse({"reward": "reward:mine"}, ("reward:mine",)) == SampleFilter(reward="reward:reward:mine")
    assert filters.parse({"reward": "mine"}, ("mine",)) == SampleFilter(reward="mine")
    with pytest.raises(filters.WrongFilter, match="total, reward:total, tokens, reward:reward:total"):
        filters.parse({"reward": "other"}, NAMES)
    assert len(Explorer(store.db).find(RUN, SampleFilter(reward="reward:total", low=2.0, high=3.0)).hits) == 4
