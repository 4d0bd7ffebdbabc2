"""The door's decisions, without a server."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

import pytest

from ui.guard import OWN_START, Door, Guard, is_loopback, split_host

WEAK = [(b"X-Frame-Options", b"ALLOWALL"), (b"Access-Control-Allow-Origin", b"*")]


def ask(
    door: Door, path: str = "/", method: str = "GET", kind: str = "http", client: str = "10.0.0.9", **headers: str
) -> tuple[int, dict[str, str], bool]:
    """(status, headers, whether the request reached the app). Header names with _ for -; host is 127.0.0.1:7860."""
    given = {"host": "127.0.0.1:7860"} | {name.replace("_", "-"): value for name, value in headers.items()}
    reached: list[bool] = []
    sent: list[dict[str, Any]] = []

    async def app(scope, receive, send) -> None:
        reached.append(True)
        await send({"type": "http.response.start", "status": 200, "headers": WEAK})
        await send({"type": "http.response.body", "body": b""})

    async def send(message) -> None:
        sent.append(message)

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    raw = [(name.encode(), value.encode("latin-1")) for name, value in given.items() if value]
    scope = {"type": kind, "method": method, "path": path, "headers": raw, "client": (client, 5)}
    asyncio.run(Guard(app, door)(scope, receive, send))
    if kind == "websocket" and not reached:
        return sent[0]["code"], {}, False
    start = sent[0]
    return start["status"], {k.decode().lower(): v.decode() for k, v in start["headers"]}, bool(reached)


LOCAL = Door(port=7860)


@pytest.mark.parametrize("host", ["127.0.0.1:7860", "localhost:7860", "LOCALHOST:7860", "[::1]:7860"])
def test_loopback_names_with_the_port_come_in(host: str) -> None:
    assert ask(LOCAL, host=host)[0] == 200


@pytest.mark.parametrize(
    "host",
    [
        "",
        "evil.example",
        "evil.example:7860",
        "127.0.0.1",
        "127.0.0.1:7861",
        "127.0.0.1:",
        "127.0.0.1.evil.example:7860",
        "127.0.0.1:7860.evil.example",
        "localhost.:7860",
        "user@127.0.0.1:7860",
        "192.168.1.5:7860",
    ],
)
def test_other_hosts_do_not(host: str) -> None:
    status, _, reached = ask(LOCAL, host=host)
    assert (status, reached) == (421, False)


def test_port_80_is_the_one_that_browsers_leave_out() -> None:
    assert ask(Door(port=80), host="localhost")[0] == 200


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1.evil.example", "file://", "x"])
def test_foreign_origins_are_refused_for_every_method(method: str, origin: str) -> None:
    assert ask(LOCAL, "/gradio_api/queue/join", method, origin=origin)[0] == 403


def test_own_origin_comes_in() -> None:
    own = {"origin": "http://localhost:7860", "host": "localhost:7860", "sec_fetch_site": "same-origin"}
    assert ask(LOCAL, "/api/runs", "POST", **own)[0] == 200
    assert ask(LOCAL, "/api/runs", "POST")[0] == 200, "curl sends neither"


def test_fetch_metadata_alone_is_enough_to_refuse() -> None:
    assert ask(LOCAL, "/api/runs", sec_fetch_site="cross-site")[0] == 403
    assert ask(LOCAL, "/gradio_api/call/x", "GET", sec_fetch_site="cross-site", sec_fetch_mode="navigate")[0] == 403
    assert ask(LOCAL, "/", sec_fetch_site="cross-site", sec_fetch_mode="no-cors")[0] == 403
    assert ask(LOCAL, "/", sec_fetch_site="cross-site", sec_fetch_mode="navigate")[0] == 200
    assert ask(LOCAL, "/", "POST", sec_fetch_site="cross-site", sec_fetch_mode="navigate")[0] == 403


def test_websockets_pass_the_same_door() -> None:
    assert ask(LOCAL, kind="websocket", origin="http://evil.example")[0] == 1008


def test_headers_are_put_on_answers_and_refusals_and_replace_weaker_ones() -> None:
    for host in ("127.0.0.1:7860", "evil.example"):
        _, headers, _ = ask(LOCAL, host=host)
        assert headers["x-frame-options"] == "DENY"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


def basic(password: str, user: str = "me") -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def test_a_password_covers_every_path() -> None:
    door = Door(port=7860, password="비밀 pass")
    for path in ("/", "/api/runs", "/gradio_api/info", "/static/js/app.js", "/login", OWN_START):
        status, headers, reached = ask(door, path)
        assert (status, reached) == (401, False), path
        assert headers["www-authenticate"].startswith("Basic")
        assert ask(door, path, authorization=basic("비밀 pass"))[0] == 200
        assert ask(door, path, authorization=basic("wrong"))[0] == 401
    for code in ("Basic !!!", "Basic ", "Bearer abc", basic("")):
        assert ask(door, authorization=code)[0] == 401, code


def test_gradios_own_start_call_needs_none_from_this_machine() -> None:
    assert ask(Door(port=7860, password="p"), OWN_START, client="127.0.0.1")[0] == 200
    assert ask(Door(port=7860, password="p"), "/", client="127.0.0.1")[0] == 401


def test_the_password_is_not_in_the_repr() -> None:
    assert "hunter2" not in repr(Door(password="hunter2"))


def test_on_a_network_addresses_and_own_names_are_hosts_and_others_are_not() -> None:
    door = Door.for_bind("0.0.0.0", 7860, "p")
    code = {"authorization": basic("p")}
    assert ask(door, host="192.168.1.5:7860", **code)[0] == 200
    assert ask(door, host="[fe80::1]:7860", **code)[0] == 200
    assert ask(door, host="evil.example:7860", **code)[0] == 421
    own = {"host": "192.168.1.5:7860", "origin": "http://192.168.1.5:7860"}
    assert ask(door, "/api/runs", "POST", **own, **code)[0] == 200
    assert ask(door, "/api/runs", "POST", **own | {"origin": "HTTP://192.168.1.5:7860"}, **code)[0] == 200


@pytest.mark.parametrize("origin", ["http://203.0.113.9:7860", "http://127.0.0.1:7860", "http://localhost:7860"])
def test_on_a_network_another_address_is_another_site(origin: str) -> None:
    """A page on the same port of another machine must not ride on a password that the browser remembers."""
    door = Door.for_bind("0.0.0.0", 7860, "p")
    for method in ("GET", "POST", "OPTIONS"):
        given = {"host": "192.168.1.5:7860", "origin": origin, "authorization": basic("p")}
        assert ask(door, "/api/runs", method, **given)[0] == 403


def test_the_bound_address_is_a_host() -> None:
    assert ask(Door.for_bind("127.0.0.2", 7860, None), host="127.0.0.2:7860")[0] == 200
    assert ask(Door.for_bind("::1", 7860, None), host="[::1]:7860")[0] == 200
    assert ask(LOCAL, host="127.0.0.2:7860")[0] == 421


def test_a_port_of_thousands_of_digits_is_refused_like_any_other() -> None:
    assert ask(LOCAL, host="127.0.0.1:" + "9" * 5000)[0] == 421


@pytest.mark.parametrize("path", [
        "/gradio_api/upload", "/gradio_api/upload/", "/gradio_api/upload_progress", "/gradio_api/upload\n",
        "/gradio_api/upload/\n", "/gradio_api/upload_progress\r\n", "/svelte/" + "x" * 256,
    ],
)  # fmt: skip
def test_uploads_that_the_page_does_not_use_are_closed(path: str) -> None:
    status, _, reached = ask(LOCAL, path, "POST")
    assert (status, reached) == (403, False)


def test_no_answer_allows_another_site_to_read_it() -> None:
    headers = ask(LOCAL)[1]
    assert not [name for name in headers if name.startswith("access-control-")]


def test_on_a_space_its_name_is_a_host_and_its_page_may_frame_us(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPACE_ID", "me/studio")
    monkeypatch.setenv("SPACE_HOST", "me-studio.hf.space")
    door = Door.for_bind("0.0.0.0", 7860, None)
    status, headers, _ = ask(door, "/api/runs", "POST", host="me-studio.hf.space", origin="https://me-studio.hf.space")
    assert status == 200
    assert "https://huggingface.co" in headers["content-security-policy"]
    assert ask(door, host="other.hf.space")[0] == 421


@pytest.mark.parametrize(
    ("host", "want"),
    [("[::1]:7860", ("[::1]", 7860)), ("[::1]", ("[::1]", 80)), ("a:b", ("a", None)), ("a", ("a", 80))],
)
def test_split_host(host: str, want: tuple[str, int | None]) -> None:
    assert split_host(host) == want


def test_loopback() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "127.8.8.8", "localhost", "::1", "[::1]")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "192.168.0.1", "example.com")))
