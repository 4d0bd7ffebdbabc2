"""A public Space as a hostile client meets it: app.py from an empty disk, every route, Gradio's own endpoints.

The attack list is that of a public demo: custom code by every door, paths, addresses, huge numbers, other visitors'
runs, floods, foreign origins and hosts, uploads, tokens. The model's build and the worker are stand-ins.
"""

from __future__ import annotations

import gzip
import http.client
import io
import json
import os
import re
import signal
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest

from backend.demo import limits, recordings
from backend.settings import PROJECT
from tests.support import wait_for
from ui.closed import CLOSED, OPEN

HOST = "org-space.hf.space"
CANARY = "hf_CANARYcanaryCANARY0123456789"
ALICE, BOB = "a" * 32, "b" * 32
RUN = "20261129-134500-ab2c"
SECRETS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "OPENAI_API_KEY", "WANDB_API_KEY", "GRPO_STUDIO_PASSWORD_OF_MINE")


class Space:
    """`python app.py` as Hugging Face starts it; requests as its front passes them on."""

    def __init__(self, home: Path, port: int) -> None:
        self.home, self.port = home, port
        self.log = home.parent / "space.log"
        self.seen = bytearray()  # every answer's headers and bodies
        environment = {
            **os.environ,
            **dict.fromkeys(SECRETS, CANARY),
            "SPACE_ID": "org/space",
            "SPACE_HOST": HOST.upper(),
            "GRPO_STUDIO_HOME": str(home),
            "GRPO_STUDIO_WORKER": "tests.fakes.fake_worker",
            "GRPO_STUDIO_BUILD": "tests.fakes.fake_build",
            "FAKE_BUILD_FAILS": "1",
            "FAKE_STEP_S": "0.1",
            "FAKE_STEPS": "4000",  # a run ends when it is stopped, however slow the machine is
        }
        environment.pop("GRPO_STUDIO_PASSWORD", None)
        with self.log.open("wb") as out:
            self.process = subprocess.Popen(
                [sys.executable, "app.py", "--port", str(port)], cwd=PROJECT, env=environment, stdout=out, stderr=out,
                start_new_session=True,
            )  # fmt: skip
        wait_for(self.said, timeout=120, what="the address")

    def said(self) -> bool:
        assert self.process.poll() is None, self.log.read_text()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", self.log.read_text())
        self.port = int(found[1]) if found else self.port
        return found is not None

    def ask(
        self, method: str, path: str, body: Any = None, visitor: str | None = None, timeout: float = 90, **headers: str
    ) -> tuple[int, Any]:
        """(status, JSON or text). `body`: bytes as they are, anything else as JSON."""
        given = {"Host": HOST} | {name.replace("_", "-"): value for name, value in headers.items()}
        if visitor:
            given["X-Studio-Visitor"] = visitor
        raw = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, raw, given)
            answer = connection.getresponse()
            data = answer.read(5_000_000)
            self.seen += repr(answer.getheaders()).encode() + data
        finally:
            connection.close()
        try:
            return answer.status, json.loads(data)
        except ValueError:
            return answer.status, data.decode("utf-8", "replace")

    def start(self, visitor: str | None = ALICE, **values: Any) -> tuple[int, Any]:
        body = {"values": values, "preset": "quickstart", "accept": ["all"]}
        return self.ask("POST", "/api/runs", body, visitor, timeout=90)

    def demo(self, visitor: str | None = None) -> Any:
        return self.ask("GET", "/api/demo", visitor=visitor)[1]

    def run(self, run_id: str, visitor: str | None = None) -> Any:
        return self.ask("GET", f"/api/runs/{run_id}", visitor=visitor)[1]

    def end(self, run_id: str, visitor: str) -> None:
        self.ask("POST", f"/api/runs/{run_id}/stop", {"now": True}, visitor)
        wait_for(lambda: self.run(run_id)["state"] in ("stopped", "succeeded"), what=f"{run_id} to end")

    def stop(self) -> None:
        for run in self.ask("GET", "/api/runs")[1]["runs"]:
            pids = self.home / "runs" / run["id"] / "pid.json"
            for who in ("worker", "shim") if pids.exists() else ():
                told = json.loads(pids.read_text()).get(who) or {}
                if told.get("pid") and psutil.pid_exists(told["pid"]):
                    os.kill(told["pid"], signal.SIGKILL)
        self.process.terminate()
        self.process.wait(60)


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Space]:
    running = Space(tmp_path_factory.mktemp("space") / "home", 7955)
    yield running
    running.stop()


def descendants(space: Space) -> list[psutil.Process]:
    """The build, the shims, the workers: all that this server has started."""
    found = []
    for process in psutil.process_iter():
        try:
            if str(space.home) in process.environ().get("GRPO_STUDIO_HOME", "") and process.pid != space.process.pid:
                found.append(process)
        except psutil.Error:
            continue
    return found


# --- from an empty disk; these tests stand in the order in which a Space lives ---


def test_the_recorded_runs_are_there_while_the_model_is_being_built(space: Space) -> None:
    demo = space.demo()
    assert demo["demo"]
    assert not demo["ready"]
    wait_for(lambda: space.demo()["building"] == {"step": 100, "total": 500}, what="the build's progress")
    names = {one["name"] for one in demo["recordings"]}
    assert names == {"learned", "hacked", "dead"}
    assert {run["id"] for run in space.ask("GET", "/api/runs")[1]["runs"]} == {one["run"] for one in demo["recordings"]}
    for one in demo["recordings"]:
        history = space.ask("GET", f"/api/runs/{one['run']}/history")[1]
        assert len(history["series"]["train"]["reward"]["x"]) >= 50
        assert space.ask("GET", f"/api/runs/{one['run']}/samples")[1]["groups"]
        assert not any(history["run"]["can"].values())


def test_a_start_and_a_chat_say_that_the_model_is_being_built(space: Space) -> None:
    status, answer = space.start()
    assert (status, "step 100 of 500" in answer["error"]["en"]) == (409, True)
    sides = {"left": {"model": "embedded"}, "prompt": "1+1"}
    assert space.ask("POST", "/api/chat/ask", sides, ALICE)[0] == 409


def test_a_build_that_fails_is_tried_again_niced_and_without_secrets(
    space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    (space.home / "build.go").touch()
    wait_for(lambda: space.demo()["ready"], 60, what="the second try")
    assert (space.home / "build.failed").exists()
    environment = (space.home / "build.environ").read_bytes()
    assert CANARY.encode() not in environment
    assert b"OMP_NUM_THREADS=1" in environment


# --- the door ---


@pytest.mark.parametrize("host", [HOST, HOST.upper(), f"{HOST}:443", "127.0.0.1:{port}"])
def test_its_own_names_come_in(space: Space, host: str) -> None:
    assert space.ask("GET", "/api/demo", Host=host.format(port=space.port))[0] == 200


@pytest.mark.parametrize(
    "host", ["evil.example", f"{HOST}.evil.example", f"evil.{HOST}", f"{HOST}:444", "", f"{HOST}@evil.example"]
)
def test_other_names_do_not(space: Space, host: str) -> None:
    assert space.ask("GET", "/api/demo", Host=host)[0] in (400, 421)


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "file://", f"https://{HOST}.evil.example"])
def test_other_sites_change_nothing(space: Space, origin: str) -> None:
    body = {"values": {}, "preset": "quickstart", "accept": ["all"]}
    assert space.ask("POST", "/api/runs", body, ALICE, Origin=origin)[0] == 403
    assert space.ask("POST", "/api/runs", body, ALICE, Sec_Fetch_Site="cross-site")[0] == 403
    assert space.ask("GET", "/api/demo", Origin=f"https://{HOST}")[0] == 200


@pytest.mark.parametrize(
    "path",
    [
        "/gradio_api/call/x", "/gradio_api/run/predict", "/gradio_api/api/predict", "/gradio_api/queue/join",
        "/gradio_api/queue/data?session_hash=x", "/gradio_api/upload", "/gradio_api/upload_progress?upload_id=x",
        "/gradio_api/file=/etc/passwd", "/gradio_api/file/etc/passwd", "/file=/etc/passwd", "/monitoring",
        "/monitoring/summary", "/gradio_api/proxy=http://169.254.169.254/", "/gradio_api/reset", "/gradio_api/cancel",
        "/gradio_api/component_server", "/gradio_api/stream/a/b/c/playlist.m3u8", "/gradio_api/dev/reload", "/login",
        "/logout", "/docs", "/openapi.json", "/gradio_api/mcp/", "/gradio_api/deep_link",
        "/gradio_api/process_recording",
        "//gradio_api/upload", "/gradio_api//upload", "/gradio_api/%75pload", "/GRADIO_API/upload", "/queue/join",
        "/run/predict", "/api/../gradio_api/upload", "/static/../../etc/passwd", "/static/%2e%2e/%2e%2e/app.py",
        "/gradio_api/heartbeat/" + "x" * 500, "/svelte/../../../etc/passwd", "/assets/..%2f..%2fetc/passwd",
    ],
)  # fmt: skip
def test_gradios_own_endpoints_are_closed(space: Space, path: str) -> None:
    for method in ("GET", "POST"):
        status, answer = space.ask(method, path, b"{}" if method == "POST" else None, Content_Type="application/json")
        assert status in (403, 404, 405, 422), (method, path, status)
        assert "root:" not in str(answer)


def test_the_page_is_there_and_may_be_framed_by_its_space(space: Space) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", space.port, timeout=90)
    connection.request("GET", "/", headers={"Host": HOST})
    answer = connection.getresponse()
    assert answer.status == 200
    headers = {name.lower(): value for name, value in answer.getheaders()}
    assert "frame-ancestors" in headers["content-security-policy"]
    assert "https://huggingface.co" in headers["content-security-policy"]
    assert "x-frame-options" not in headers
    connection.close()
    for path in ("/config", "/static/js/app.js", "/gradio_api/info"):
        assert space.ask("GET", path)[0] == 200
    # The page has no endpoint of its own there that could be called.
    assert space.ask("GET", "/gradio_api/info")[1] == {"named_endpoints": {}, "unnamed_endpoints": {}}


# --- every route, every door for code, paths, addresses and numbers ---

HOSTILE_VALUES: list[dict[str, Any]] = [
    {"model": "/etc"},
    {"model": "../../x"},
    {"model": "org/name"},
    {"model": "http://169.254.169.254/"},
    {"model_init_kwargs": {"trust_remote_code": True}},
    {"trust_remote_code": True},
    {"generation_kwargs": {"custom_generate": "org/evil"}},
    {"dataset": "/etc/passwd"},
    {"dataset": "file:///etc/passwd"},
    {"dataset": "../../../../etc/passwd"},
    {"dataset": "org/name"},
    {"dataset_args": {"rows": 10**12}},
    {"rewards": ["evil.py:f"]},
    {"rewards": ["code"]},
    {"rewards": ["reward_model"], "reward_args": {"reward_model": {"model": "org/evil"}}},
    {"max_steps": 10**9},
    {"max_completion_length": 10**9},
    {"num_generations": 10**9},
    {"max_steps": "1e400"},
    {"report_to": ["wandb"]},
    {"stages": ["evaluate"], "evaluation": {"run": RUN}},
]


@pytest.mark.parametrize("values", HOSTILE_VALUES, ids=str)
def test_no_run_begins_with_what_is_not_allowed(space: Space, values: dict[str, Any]) -> None:
    before = len(space.ask("GET", "/api/runs")[1]["runs"])
    status, answer = space.start(**values)
    assert status == 422, answer
    assert answer["check"]["errors"]
    status, checked = space.ask("POST", "/api/check", {"values": values, "preset": "quickstart"})
    assert status == 200
    assert not checked["ok"]
    query = json.dumps(values).replace(" ", "").replace('"', "%22").replace("{", "%7B").replace("}", "%7D")
    # The lab trains nothing: a number of steps is nothing to it.
    assert space.ask("GET", f"/api/lab/rows?values={query}")[0] == (200 if "max_steps" in values else 422)
    assert len(space.ask("GET", "/api/runs")[1]["runs"]) == before


def test_other_presets_and_broken_bodies_begin_nothing(space: Space) -> None:
    for body in (
        {"preset": "math-lora"},
        {"preset": "../../configs/presets/quickstart"},
        {"values": {}},  # no preset: the default number of steps is not allowed
        {"preset": "quickstart", "values": []},
        {"preset": "quickstart", "accept": "all"},
        {"preset": {"values": {"model": "x"}}},
        [],
    ):
        assert space.ask("POST", "/api/runs", body, ALICE)[0] in (404, 422), body
    assert space.ask("POST", "/api/runs", b"{" * 100_000, ALICE)[0] == 422
    assert space.ask("POST", "/api/runs", b'{"values":' + b"[" * 5000 + b"]" * 5000 + b"}", ALICE)[0] == 422
    assert space.ask("POST", "/api/runs", b" " * 2_100_000, ALICE)[0] == 422


CODE = "import os\ndef f(completions, **kw):\n    os.system('touch /tmp/owned')\n    return [1.0] * len(completions)\n"
BODIES: list[Any] = [
    {},
    {
        "source": CODE,
        "name": "evil",
        "level": "trusted",
        "confirmed": True,
        "function": "f",
        "rows": [{"completion": ""}],
    },
    {"source": CODE, "name": "evil", "level": "sandboxed", "confirmed": True, "rows": []},
    {"path": "/etc/passwd", "upload": "../../etc/passwd", "name": "../../x", "mapping": {}, "generator": "arithmetic"},
    {"path": "org/name", "name": "x", "args": {"n": 10**9}, "generator": "reasoning_gym", "run": RUN},
    {"values": {"dataset": "/etc/passwd", "model": "/etc", "rewards": ["evil.py:f"]}, "rewards": ["evil.py:f"]},
    {"rewards": ["reward_model"], "args": {"reward_model": {"model": "/etc"}}, "rows": [{"completion": "x"}]},
    {"rewards": ["accuracy"], "rows": [{"completion": "x" * 1_000_000}], "run": RUN, "groups": [], "weights": [1e308]},
    {
        "what": "merged",
        "checkpoint": "../../..",
        "repo": "evil/evil",
        "dry_run": False,
        "private": False,
        "parts": ["x"],
    },
    {"left": {"model": "/etc"}, "right": {"run": "../..", "checkpoint": "../.."}, "prompt": "x", "n": 10**9},
    {"left": {"model": "org/name"}, "prompt": "x" * 100_000, "max_new_tokens": 10**9, "ask": 10**9, "completion": "x"},
    {"names": ["../../etc/passwd", "learned"], "data": "/etc/passwd", "n": 10**9, "k": 10**9, "checkpoint": "../.."},
]
# Every door that may never open: whatever is sent, 403 and nothing is read.
PARAMETERS = {
    "run_id": RUN,
    "name": "x",
    "job": "0" * 16,
    "chat": "abcd12",
    "rest": "x",
    "sweep": "nothing",
    "group": "1",
    "index": "0",
}


def filled(template: str, **parameters: str) -> tuple[str, str]:
    method, path = template.split(" ", 1)
    return method, re.sub(r"\{(\w+)(?::\w+)?\}", lambda match: {**PARAMETERS, **parameters}[match[1]], path)


@pytest.mark.parametrize("template", sorted(CLOSED))
def test_closed_routes_answer_403_whatever_is_sent(space: Space, template: str) -> None:
    method, path = filled(template)
    for body in BODIES if method == "POST" else [None]:
        status, answer = space.ask(method, path, body, ALICE)
        assert status == 403, (path, body, answer)
        assert set(answer["error"]) == {"en", "ko"}


@pytest.mark.parametrize("template", sorted(OPEN))
def test_open_routes_never_break_and_leave_nothing(space: Space, template: str) -> None:
    """422, 403, 404 or a harmless answer; never a fault of the server, never a new run, set or reward."""
    method, path = filled(template)
    method = "POST" if method == "*" else method
    recorded = space.demo()["recordings"][0]["run"]
    paths = [path, filled(template, run_id="..%2f..%2fetc", name="..%2fx", chat="..%2fx", job="..")[1]]
    if method == "GET":
        paths += [filled(template, run_id=recorded)[1], path + "?values=%7B%22dataset%22%3A%22/etc/passwd%22%7D&n=9999"]
        paths += [path + "?run=../../etc&index=99999999999999999999&after=-1&points=1e9&panel=../x&lang=../x&which=x"]
    for each in paths:
        for body in BODIES if method == "POST" else [None]:
            status, answer = space.ask(method, each, body, BOB if body != {} else None)
            assert status in (200, 400, 403, 404, 405, 409, 422, 429), (each, body, status, answer)
            assert "root:" not in str(answer)
            assert "Traceback" not in str(answer)
    assert {run["id"] for run in space.ask("GET", "/api/runs")[1]["runs"]} == {
        one["run"] for one in space.demo()["recordings"]
    }
    assert space.ask("GET", "/api/data/sets")[1]["sets"] == []
    assert space.ask("GET", "/api/custom")[1]["rewards"] == []
    assert not (space.home / "rewards").exists() or not list((space.home / "rewards").glob("*/*.py"))


def test_jobs_of_the_lab_refuse_too(space: Space) -> None:
    status, job = space.ask("POST", "/api/lab/audit", {"values": {"dataset": "/etc/passwd", "rewards": ["accuracy"]}})
    if status == 200:
        ended = wait_for(
            lambda: (found := space.ask("GET", f"/api/lab/jobs/{job['job']}")[1])["state"] != "running" and found, 60
        )
        assert ended["state"] == "failed"
        assert "on this public demo" in str(ended["error"])


def bombs() -> list[tuple[str, bytes]]:
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.jsonl", b"0" * 50_000_000)
    return [
        ("x.jsonl.gz", gzip.compress(b"0" * 50_000_000)),
        ("x.zip", zipped.getvalue()),
        ("x.parquet", b"PAR1" + b"\0" * 1000 + b"PAR1"),
        ("../../x.jsonl", b'{"prompt": "x"}\n'),
    ]


def test_nothing_is_uploaded(space: Space) -> None:
    for name, data in bombs():
        assert space.ask("POST", f"/api/data/upload?name={name}", data, ALICE)[0] == 403
        form = b'--x\r\nContent-Disposition: form-data; name="files"; filename="x"\r\n\r\n' + data + b"\r\n--x--\r\n"
        kind = "multipart/form-data; boundary=x"
        assert space.ask("POST", "/gradio_api/upload", form, ALICE, Content_Type=kind)[0] == 403
    assert not list((space.home / "uploads").glob("*")) if (space.home / "uploads").exists() else True


def test_the_bench_scores_with_built_in_rewards(space: Space) -> None:
    rows = [{"completion": "<answer>7</answer>", "ground_truth": "7"}]
    status, answer = space.ask("POST", "/api/lab/table", {"rewards": ["accuracy", "format"], "rows": rows}, ALICE)
    assert status == 200
    assert answer["rows"][0]["cells"]["accuracy"]["score"] == 1.0


# --- runs and visitors ---


def test_many_starts_at_once_make_one_run_a_visitor_and_a_short_queue(space: Space) -> None:
    with ThreadPoolExecutor(20) as pool:
        mine = list(pool.map(lambda _: space.start(ALICE)[0], range(20)))
        others = list(pool.map(lambda n: space.start(f"{n:032d}")[0], range(30)))
    assert mine.count(201) == 1
    assert set(mine) <= {201, 429}
    assert others.count(201) <= limits.WAITING + 1
    assert set(others) <= {201, 429}
    demo = space.demo(ALICE)
    assert demo["queue"]["waiting"] <= limits.WAITING
    runs = space.ask("GET", "/api/runs")[1]["runs"]
    visitors = [ALICE, *(f"{n:032d}" for n in range(30))]
    queued = [run for run in runs if run["state"] == "queued"]
    told = space.ask("GET", "/api/queue")[1]["runs"]
    assert sorted(one["run"] for one in told) == sorted(run["id"] for run in queued)
    assert [one["position"] for one in told] == list(range(1, len(told) + 1))
    for run in runs:
        if run["state"] not in ("queued", "starting", "running"):
            continue
        status = 0
        for visitor in visitors:
            status, _ = space.ask("POST", f"/api/runs/{run['id']}/stop", {"now": True}, visitor)
            if status != 403:
                break
        assert status == 200
    wait_for(lambda: space.demo()["queue"]["running"] == 0, what="everything to be stopped")


def test_a_run_belongs_to_its_visitor_and_its_worker_is_bounded(space: Space) -> None:
    status, answer = space.start(ALICE)
    assert status == 201, answer
    run = answer["run"]["id"]
    wait_for(lambda: space.run(run)["state"] == "running", 60, what="the run")
    for visitor in (BOB, None, "x", ALICE[:-1] + "b"):
        assert space.ask("POST", f"/api/runs/{run}/stop", {}, visitor)[0] == 403
        assert space.ask("DELETE", f"/api/runs/{run}", None, visitor)[0] == 403
        assert not any(space.run(run, visitor)["can"].values())
    assert space.run(run, ALICE)["can"]["stop"]
    worker = next(p for p in descendants(space) if "tests.fakes.fake_worker" in p.cmdline())
    environment = worker.environ()
    assert CANARY not in str(environment)
    assert environment["OMP_NUM_THREADS"] == "1"
    assert worker.nice() == limits.NICE
    for process in descendants(space):
        assert CANARY not in str(process.environ())
    space.end(run, ALICE)
    assert space.ask("POST", f"/api/runs/{run}/resume", {}, ALICE)[0] == 403
    assert space.ask("DELETE", f"/api/runs/{run}", None, ALICE)[0] == 200


def test_recorded_runs_stay(space: Space) -> None:
    for one in space.demo()["recordings"]:
        for visitor in (ALICE, None):
            assert space.ask("DELETE", f"/api/runs/{one['run']}", None, visitor)[0] == 403
            assert space.ask("POST", f"/api/runs/{one['run']}/stop", {"now": True}, visitor)[0] == 403
    assert all(one["run"] for one in space.demo()["recordings"])


def test_no_token_was_ever_answered_or_logged(space: Space) -> None:
    space.ask("GET", "/api/device")
    assert CANARY.encode() not in space.seen
    assert CANARY not in space.log.read_text()
    for path in space.home.rglob("*"):
        if path.is_file():
            assert CANARY.encode() not in path.read_bytes(), path
    assert str(recordings.FOLDER).encode() not in space.seen
