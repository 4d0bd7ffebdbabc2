"""The hub: what would be sent, what is refused in words, and an upload to a small hub on loopback."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from backend.errors import Refused, StudioError
from backend.exporting import push
from storage.records import RunState
from tests.exports_support import Place, place
from tests.fakes.fake_hub import TOKEN, Hub, serve
from tests.support import wait_for

__all__ = ["place"]
BAD = [
    "", "name", "/name", "org/", "org/name/more", "https://huggingface.co/org/name", "org/na me", "../name", "org/..",
    "org/a--b", "org/a..b", "org/name.git", "org/.name", "org/name.", "-org/name", "org/이름", "org/name\n",
    "org/" + "a" * 97,
]  # fmt: skip


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch):
    with serve() as made:
        monkeypatch.setenv("HF_ENDPOINT", made.url)
        monkeypatch.setenv("HF_HUB_DISABLE_XET", "1")
        monkeypatch.setenv("HF_TOKEN", TOKEN)
        yield made


@pytest.mark.parametrize("repo", BAD)
def test_names_that_are_no_repository(repo: str) -> None:
    with pytest.raises(Refused, match="must be org/name"):
        push.require_repo(repo)


@pytest.mark.parametrize("repo", ["org/name", "o/n", "Org-1/My.Model_7B-v1.5", "a_b/c"])
def test_names_that_are(repo: str) -> None:
    push.require_repo(repo)


def test_the_dry_run_says_everything_but_the_token(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id = place.run()
    planned = place.services.exports.push_plan(run_id, "org/name")
    assert planned["private"] is True
    assert (planned["what"], planned["token"], planned["exact"]) == ("model", False, False)
    assert "HF_TOKEN" in planned["why"]["en"]
    assert "HF_TOKEN" in planned["why"]["ko"]
    names = {file["name"] for file in planned["files"]}
    assert {"model.safetensors", "README.md"} <= names
    assert not {"manifest.json", "training_args.bin", "optimizer.pt"} & names
    assert planned["card"].startswith("---\n")
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    planned = place.services.exports.push_plan(run_id, "org/name", public=True)
    assert (planned["private"], planned["token"], planned["why"]) == (False, True, None)
    assert TOKEN not in json.dumps(planned)


def test_what_is_refused(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id, exports = place.run(adapter=True), place.services.exports
    with pytest.raises(Refused, match="no HF_TOKEN"):
        exports.push(run_id, "org/name", "merged")
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    with pytest.raises(Refused, match="on this machine only"):
        exports.push(run_id, "org/name", "adapter")
    assert exports.push_plan(run_id, "org/name")["what"] == "merged"
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(Refused, match="HF_HUB_OFFLINE"):
        exports.push(run_id, "org/name", "merged")
    monkeypatch.setenv("SPACE_ID", "org/space")
    with pytest.raises(Refused, match="public Space"):
        exports.push(run_id, "org/name", "merged")
    assert "has not ended" not in str(exports.push_plan(run_id, "org/name")["why"])
    monkeypatch.delenv("SPACE_ID")
    live = place.run(RunState.RUNNING)
    assert "once it has ended" in exports.push_plan(live, "org/name")["why"]["en"]


def test_an_upload(place: Place, hub: Hub) -> None:
    run_id = place.run()
    folder = place.exported(run_id)
    seen: list[tuple[int, int]] = []
    sent = place.services.exports.push(
        run_id, "org/name", progress=lambda done, total, what: seen.append((done, total))
    )
    repo = hub.repos["org/name"]
    assert repo["private"] is True
    assert repo["files"] == {p.name: p.read_bytes() for p in folder.iterdir() if p.name != "manifest.json"}
    assert sent["commit"]
    assert (sent["url"], sent["private"]) == (f"{hub.url}/org/name", True)
    assert seen[-1][0] == seen[-1][1] == sent["bytes"]
    assert not list((place.dir(run_id) / "exports").glob(".part*"))


def test_a_repository_that_is_public_already_gets_nothing(place: Place, hub: Hub) -> None:
    run_id = place.run()
    place.exported(run_id)
    hub.repos["org/name"] = {"private": False, "files": {}}
    with pytest.raises(StudioError, match="exists and is public"):
        place.services.exports.push(run_id, "org/name")
    assert not hub.repos["org/name"]["files"]
    assert not any(request.startswith("PUT") for request in hub.requests)
    place.services.exports.push(run_id, "org/name", public=True)
    assert hub.repos["org/name"]["files"]


def test_the_hub_refuses_in_words_without_the_token(place: Place, hub: Hub) -> None:
    run_id = place.run()
    place.exported(run_id)
    hub.refuse = 403
    with pytest.raises(StudioError, match="refuses this token") as caught:
        place.services.exports.push(run_id, "org/name")
    assert TOKEN not in caught.value.text.en + caught.value.text.ko
    for path in place.settings.home.rglob("*"):
        assert not path.is_file() or TOKEN.encode() not in path.read_bytes()


def test_a_stop_commits_nothing(place: Place, hub: Hub) -> None:
    run_id = place.run()
    place.exported(run_id)
    hub.hold.clear()
    asked = threading.Event()

    class Enough(Exception):
        pass

    def progress(done: int, total: int, what: object) -> None:
        if asked.is_set():
            raise Enough

    def ask() -> None:
        wait_for(lambda: any(request.startswith("PUT") for request in hub.requests), 60)
        asked.set()

    threading.Thread(target=ask, daemon=True).start()
    with pytest.raises(Enough):
        place.services.exports.push(run_id, "org/name", progress=progress)
    hub.hold.set()
    assert not hub.repos["org/name"]["files"]
    assert not any("commit" in request for request in hub.requests)
    assert not list(Path(place.dir(run_id) / "exports").glob(".part*"))
