"""The routes of exports: names that are safe in a header, downloads that are streamed, one long work at a time."""

from __future__ import annotations

import email.message
import io
import zipfile
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.testclient import TestClient

from tests.exports_support import Place, place
from ui.api_exports import disposition, routes

__all__ = ["place"]


@pytest.fixture
def client(place: Place) -> TestClient:
    return TestClient(Starlette(routes=routes(place.services)), raise_server_exceptions=False)  # type: ignore[arg-type]


@given(st.text())
def test_any_name_is_safe_in_the_header(name: str) -> None:
    header = disposition(name)
    header.encode("ascii")
    assert not any(letter in header for letter in "\r\n\0")
    message = email.message.Message()
    message["Content-Disposition"] = header
    assert message.get_content_disposition() == "attachment"
    plain = header.split('filename="')[1].split('"')[0]
    assert plain
    assert not set(plain) & set('/\\";')
    assert "/" not in unquote(header.split("UTF-8''")[1])


def test_a_korean_name_comes_back() -> None:
    header = disposition("산수 실행-merged-final.zip")
    assert unquote(header.split("UTF-8''")[1]) == "산수 실행-merged-final.zip"
    assert 'filename="merged-final.zip"' in header


def test_a_download_is_the_export_with_its_length(place: Place, client: TestClient) -> None:
    run_id = place.run()
    folder = place.exported(run_id)
    answer = client.get(f"/api/runs/{run_id}/exports/model-final.zip")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/zip"
    assert int(answer.headers["content-length"]) == len(answer.content)
    assert "run%201-model-final.zip" in answer.headers["content-disposition"]
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert {name.split("/", 1)[1] for name in archive.namelist()} == {p.name for p in folder.iterdir()}
    for name in ("adapter-final", "..%2F..%2Ffinal", ".lock"):
        assert client.get(f"/api/runs/{run_id}/exports/{name}.zip").status_code == 404


def test_the_list_the_disk_and_what_may_go(place: Place, client: TestClient) -> None:
    run_id = place.run()
    place.exported(run_id)
    found = client.get(f"/api/runs/{run_id}/exports").json()
    assert [source["checkpoint"] for source in found["sources"]] == ["final", "checkpoint-2", "checkpoint-1"]
    assert found["exports"][0]["verified_words"]["ko"]
    assert client.get("/api/disk").json()["runs"][0]["run"] == run_id
    told = client.post(f"/api/runs/{run_id}/clean", json={"parts": ["exports"], "dry_run": True}).json()
    assert told["freed"] == client.get(f"/api/runs/{run_id}/disk").json()["bytes"]["exports"]
    assert client.delete(f"/api/runs/{run_id}/exports/model-final").json()["removed"] == "model-final"
    assert client.post(f"/api/runs/{run_id}/clean", json={"parts": ["data"]}).status_code == 422


def test_what_is_wrong_is_said_at_once_and_not_by_the_job(place: Place, client: TestClient) -> None:
    run_id = place.run()
    for body, status in (
        ({"what": "adapter"}, 422),
        ({"what": "model", "checkpoint": "best"}, 404),
        ({"what": "model", "checkpoint": 5}, 422),
        ({}, 422),
    ):
        answer = client.post(f"/api/runs/{run_id}/exports", json=body)
        assert answer.status_code == status, answer.text
        assert answer.json()["error"]["ko"]
    answer = client.post(f"/api/runs/{run_id}/push", json={"repo": "org/name", "dry_run": False})
    assert answer.status_code == 422
    assert "HF_TOKEN" in answer.json()["error"]["en"]
    assert client.post(f"/api/runs/{run_id}/push", json={"repo": "org/name"}).json()["private"] is True


def test_an_export_is_a_job(place: Place, client: TestClient) -> None:
    from tests.support import wait_for

    run_id = place.run()
    place.exported(run_id)  # so nothing has to be made
    job = client.post(f"/api/runs/{run_id}/exports", json={"what": "model"}).json()
    ended = wait_for(
        lambda: next(
            (j for j in [client.get(f"/api/exports/jobs/{job['job']}").json()] if j["state"] != "running"), None
        )
    )
    assert ended is not None
    assert (ended["state"], ended["answer"]["name"]) == ("done", "model-final")


@pytest.mark.parametrize(("what", "ending"), [("report", "html"), ("card", "md")])
def test_report_and_card_are_files(place: Place, client: TestClient, what: str, ending: str) -> None:
    answer = client.get(f"/api/runs/{place.run()}/{what}?lang=ko")
    assert answer.status_code == 200
    assert answer.headers["content-disposition"].startswith("attachment; ")
    assert f".{ending}" in answer.headers["content-disposition"]
