"""A small hub on loopback: creating a repository, asking how files are to be sent, LFS uploads, one commit."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

TOKEN = "hf_canaryCANARYcanary0123456789"


class Hub:
    """`repos`: by name {"private", "files": {path: bytes}}. `refuse`: the status that every request is answered."""

    def __init__(self) -> None:
        self.repos: dict[str, dict[str, Any]] = {}
        self.blobs: dict[str, bytes] = {}
        self.requests: list[str] = []
        self.refuse: int | None = None
        self.hold = threading.Event()
        self.hold.set()
        self.url = ""


@contextlib.contextmanager
def serve() -> Iterator[Hub]:
    hub = Hub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": hub}))
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield hub
    finally:
        hub.hold.set()
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        path = self._begin(b"")
        name = path.removeprefix("/api/models/").removesuffix("/revision/main")
        if path.startswith("/api/models/") and name in self.hub.repos:
            repo = self.hub.repos[name]
            self._answer({"id": name, "private": repo["private"], "sha": "0" * 40, "siblings": [], "tags": []})
        else:
            self._answer({"error": "not found"}, 404)

    def do_PUT(self) -> None:
        data = self._body()
        path = self._begin(data)
        self.hub.hold.wait(30)
        self.hub.blobs[path.rsplit("/", 1)[1]] = data
        self._answer({})

    def do_POST(self) -> None:
        data = self._body()
        path = self._begin(data)
        if self.hub.refuse is not None:
            self._answer({"error": "refused by the test"}, self.hub.refuse)
        elif self.headers.get("authorization") != f"Bearer {TOKEN}":
            self._answer({"error": "no token"}, 401)
        elif path == "/api/repos/create":
            self._create(json.loads(data))
        elif path == "/api/validate-yaml":
            self._answer({"errors": [], "warnings": []})
        elif path.endswith("/preupload/main"):
            files = json.loads(data)["files"]
            self._answer(
                {"files": [{"path": f["path"], "uploadMode": _mode(f["path"]), "shouldIgnore": False} for f in files]}
            )
        elif path.endswith("/info/lfs/objects/batch"):
            objects = json.loads(data)["objects"]
            made = [{**o, "actions": {"upload": {"href": f"{self.hub.url}/lfs/{o['oid']}"}}} for o in objects]
            self._answer({"transfer": "basic", "objects": made})
        elif path.endswith("/commit/main"):
            self._commit(path.removeprefix("/api/models/").removesuffix("/commit/main"), data)
        else:
            self._answer({"error": f"no such address {path}"}, 404)

    def _create(self, wanted: dict[str, Any]) -> None:
        name = f"{wanted['organization']}/{wanted['name']}"
        known = name in self.hub.repos
        private = wanted.get("visibility") == "private"
        self.hub.repos.setdefault(name, {"private": private, "files": {}})
        told = {"url": f"{self.hub.url}/{name}"} | ({"error": "exists"} if known else {})
        self._answer(told, 409 if known else 200)

    def _commit(self, name: str, data: bytes) -> None:
        files = self.hub.repos[name]["files"]
        for line in data.splitlines():
            entry = json.loads(line)
            value = entry["value"]
            if entry["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif entry["key"] == "lfsFile":
                files[value["path"]] = self.hub.blobs[value["oid"]]
        oid = hashlib.sha1(data).hexdigest()
        self._answer({"commitUrl": f"{self.hub.url}/{name}/commit/{oid}", "commitOid": oid})

    def _begin(self, data: bytes) -> str:
        path = urlsplit(self.path).path
        self.hub.requests.append(f"{self.command} {path}")
        return path

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding") == "chunked":
            whole = b""
            while size := int(self.rfile.readline(), 16):
                whole += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return whole
        return self.rfile.read(int(self.headers.get("content-length") or 0))

    def _answer(self, data: Any, status: int = 200) -> None:
        body = json.dumps(data).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _mode(path: str) -> str:
    return "lfs" if path.endswith(".safetensors") else "regular"
