"""The door in front of every request: which Host, which Origin, which password, and the headers of every answer.

Gradio by itself answers a foreign Host and runs a POST with a foreign Origin, so any web page that is open in the same
browser could drive this one (DNS rebinding, CSRF). Pure ASGI, because it must also see what Gradio streams, and
outermost, because Gradio's own CORS middleware answers preflights and allows foreign origins by itself.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import ipaddress
import os
import re
import socket
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field

from starlette.applications import Starlette
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backend.demo import visitors

LOCAL_NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})
# What a Gradio launch asks itself for, from this machine, before anybody could have typed a password.
OWN_START = "/gradio_api/startup-events"
# Gradio's endpoints that nothing on the page uses: anybody who may come in could fill the disk through the first one.
CLOSED = frozenset({"/gradio_api/upload", "/gradio_api/upload_progress"})
# What of Gradio a public Space answers: the page, its look, and the signs of life. It has no endpoint of ours, so
# whatever else it offers (calls, the queue, files of its cache, monitoring) is of use to nobody but an attacker.
SPACE_OPEN = re.compile(
    r"/(?:\Z|config\Z|theme\.css\Z|manifest\.json\Z|pwa_icon(?:/|\Z)|favicon\.ico\Z|robots\.txt\Z|static/|assets/|svelte/"
    r"|api/|gradio_api/(?:info|startup-events|heartbeat/[\w-]{1,64}|app_id|theme\.css)\Z)"
)
LONGEST_NAME = 255  # bytes of a part of a path, as of a file's name
# Addresses of this server that Gradio believes and writes into the page; the Host, which was looked at, is enough.
FORGED = frozenset({b"x-gradio-server", b"x-forwarded-host"})
CONTROL = re.compile(r"[\x00-\x1f\x7f]")
CSP = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; "
    "object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors {ancestors}"
)


@dataclass(frozen=True, slots=True)
class Door:
    """Who may come in. `hosts` are names without a port; `any_address` takes every IP address as a Host, which is safe
    against rebinding because rebinding needs a name; `password` None means nobody is asked."""

    hosts: frozenset[str] = LOCAL_NAMES
    port: int | None = None
    any_address: bool = False
    password: str | None = field(default=None, repr=False)
    space: str | None = None

    @classmethod
    def for_bind(cls, address: str, port: int, password: str | None) -> Door:
        """The door for a server bound to `address`: loopback names, plus this machine's own for any other address."""
        space = os.environ.get("SPACE_HOST", "").lower() or None if os.environ.get("SPACE_ID") else None
        if is_loopback(address):
            return cls(LOCAL_NAMES | {bracketed(address)}, port, password=password, space=space)
        names = {socket.gethostname().lower(), socket.getfqdn().lower()}
        return cls(LOCAL_NAMES | names, port, any_address=True, password=password, space=space)

    def knows(self, host: str) -> bool:
        """Whether a Host header names this server."""
        host = host.strip().lower()
        if self.space and host in {self.space, f"{self.space}:443"}:  # with the port of https, as some clients write it
            return True
        name, port = split_host(host)
        if self.port is not None and port != self.port:
            return False
        return name in self.hosts or (self.any_address and is_address(name))

    def may_ask(self, origin: str, host: str) -> bool:
        """Whether a page of this origin may ask the server that the request calls `host`: only its own may. Every
        browser writes both in the same way, so another address of this machine is another site, as it is for it."""
        scheme, separator, asking = origin.strip().lower().partition("://")
        return bool(separator) and scheme in {"http", "https"} and asking in {host.strip().lower(), self.space}


def split_host(host: str) -> tuple[str, int | None]:
    """('[::1]', 7860) from '[::1]:7860'; the port of plain http where none is written, None where it is no number."""
    name, colon, port = host.rpartition(":")
    if not colon or host.endswith("]"):
        return host, 80
    return name, int(port) if port.isdecimal() and len(port) <= 5 else None


def bracketed(address: str) -> str:
    """An address as a Host header writes it."""
    address = address.strip("[]").lower()
    return f"[{address}]" if ":" in address else address


def is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def is_loopback(address: str) -> bool:
    name = address.strip("[]").lower()
    return name == "localhost" or (is_address(name) and ipaddress.ip_address(name).is_loopback)


def is_sound(path: str) -> bool:
    """Whether a path may be looked up: routes match one that ends in a line break as if it did not, and a disk refuses
    names without end."""
    return not CONTROL.search(path) and all(
        len(part.encode("utf-8", "replace")) <= LONGEST_NAME for part in path.split("/")
    )


class Guard:
    """ASGI middleware around everything, our routes and Gradio's."""

    def __init__(self, app: ASGIApp, door: Door) -> None:
        self.app = app
        self.door = door
        ancestors = "'self' https://huggingface.co https://*.hf.space" if door.space else "'none'"
        self.headers = {
            b"content-security-policy": CSP.format(ancestors=ancestors).encode(),
            b"x-content-type-options": b"nosniff",
            b"referrer-policy": b"same-origin",
            b"cross-origin-opener-policy": b"same-origin",
            b"cross-origin-resource-policy": b"same-origin",
        }
        if door.space:
            # The Space's page embeds ours from another site.
            for name in (b"cross-origin-opener-policy", b"cross-origin-resource-policy"):
                del self.headers[name]
        else:
            self.headers[b"x-frame-options"] = b"DENY"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in {"http", "websocket"}:
            await self.app(scope, receive, send)
            return
        refusal = self.refusal(scope)
        if refusal is None:
            scope["headers"] = [(name, value) for name, value in scope["headers"] if name.lower() not in FORGED]
            visitor = visitors.read(_Headers(scope["headers"]).first(visitors.HEADER.encode()))
            token = visitors.current.set(visitor)
            try:
                await self.app(scope, receive, self.sealed(send))
            finally:
                visitors.current.reset(token)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await self.refuse(send, *refusal)

    def refusal(self, scope: Scope) -> tuple[int, str] | None:
        """(status, words) for a request that may not come in, else None."""
        headers = _Headers(scope["headers"])
        hosts = headers.all(b"host")
        if len(hosts) != 1 or not self.door.knows(hosts[0]):
            return 421, "This server does not answer to that name. Open it by the address it printed."
        for origin in headers.all(b"origin"):
            if not self.door.may_ask(origin, hosts[0]):
                return 403, "Requests from another site are refused."
        site = headers.first(b"sec-fetch-site")
        if site not in {None, "same-origin", "none"} and not self.is_visit(scope, headers):
            return 403, "Requests from another site are refused."
        if self.door.password is not None and not self.knows_password(scope, headers):
            return 401, "A password is needed."
        path = scope.get("path", "")
        if not is_sound(path):
            return 403, "That is no address."
        if path.rstrip("/") in CLOSED:
            return 403, "This page takes no uploads."
        if self.door.space and (scope["type"] == "websocket" or not SPACE_OPEN.match(path)):
            return 403, "This is a public demo: that address is closed."
        return None

    @staticmethod
    def is_visit(scope: Scope, headers: _Headers) -> bool:
        """A person following a link: it may read a page, never change anything or call an endpoint."""
        path = scope.get("path", "")
        return (
            scope["type"] == "http"
            and scope["method"] in {"GET", "HEAD"}
            and headers.first(b"sec-fetch-mode") == "navigate"
            and not path.startswith(("/gradio_api", "/api/"))
        )

    def knows_password(self, scope: Scope, headers: _Headers) -> bool:
        client = scope.get("client")
        if scope.get("path") == OWN_START and client and is_loopback(client[0]):
            return True
        scheme, _, code = (headers.first(b"authorization") or "").partition(" ")
        if scheme.lower() != "basic":
            return False
        try:
            given = base64.b64decode(code, validate=True).partition(b":")[2]
        except (binascii.Error, ValueError):
            return False
        return hmac.compare_digest(given, (self.door.password or "").encode())

    def sealed(self, send: Send) -> Send:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                kept = [(k, v) for k, v in message.get("headers", []) if not self.drops(k.lower())]
                message = {**message, "headers": [*kept, *self.headers.items()]}
            await send(message)

        return with_headers

    def drops(self, name: bytes) -> bool:
        """Headers that others set: ours replace them, and no other site is ever allowed to read an answer."""
        return name in self.headers or name.startswith(b"access-control-")

    async def refuse(self, send: Send, status: int, words: str) -> None:
        body = words.encode()
        headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
        if status == 401:
            headers.append((b"www-authenticate", b'Basic realm="GRPO Studio", charset="UTF-8"'))
        send = self.sealed(send)
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def guarded(door: Door) -> Callable[[Starlette], AbstractAsyncContextManager[None]]:
    """A lifespan that puts the guard around all that Gradio has built: it runs before the first connection is taken,
    and what `app_kwargs` calls middleware would stand inside Gradio's own."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.middleware_stack = Guard(app.middleware_stack or app.build_middleware_stack(), door)
        yield

    return lifespan


def is_guarded(app: Starlette) -> bool:
    return isinstance(app.middleware_stack, Guard)


class _Headers:
    """Header look-up over the raw ASGI list; names in lower case."""

    def __init__(self, raw: Iterable[tuple[bytes, bytes]]) -> None:
        self.raw = list(raw)

    def all(self, name: bytes) -> list[str]:
        return [value.decode("latin-1") for key, value in self.raw if key.lower() == name]

    def first(self, name: bytes) -> str | None:
        values = self.all(name)
        return values[0] if values else None
