"""A child that tells its progress: its end, its error, its death in words, its stop, and what it prints besides."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from backend.exporting.child import Failed, talk
from tests.process.harness import ended
from tests.support import wait_for

SAY = "import json,sys,os,time\ndef say(**m): print(json.dumps(m), flush=True)\n"


def run(code: str, tmp_path: Path, **more: Any) -> tuple[dict[str, Any], list[Mapping[str, Any]]]:
    heard: list[Mapping[str, Any]] = []
    end = talk([sys.executable, "-c", SAY + code], tmp_path / "log", on_message=heard.append, **more)
    return end, heard


def test_its_messages_and_its_end(tmp_path: Path) -> None:
    end, heard = run("say(stage='load'); print('a library speaks'); print('[1]'); say(end={'n': 1})", tmp_path)
    assert end == {"n": 1}
    assert [message for message in heard if message] == [{"stage": "load"}]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("say(error={'en': 'no room', 'ko': '공간 없음'})", "no room"),
        ("raise SystemExit('the last line')", "exit code 1: the last line"),
        ("say(end={}); sys.exit(4)", "exit code 4"),
        ("pass", "exit code 0"),
        ("os.kill(os.getpid(), 9)", "was killed .signal 9."),
        ("sys.stderr.write('token hf_' + 'a' * 30); sys.exit(1)", r"token \[redacted\]"),
    ],
)
def test_its_death_in_words(tmp_path: Path, code: str, words: str) -> None:
    with pytest.raises(Failed, match=words):
        run(code, tmp_path)


def test_a_stop_kills_it_and_all_it_started(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    code = (
        "import subprocess\np = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(pids)!r}, 'w').write(f'{{os.getpid()}} {{p.pid}} ')\ntime.sleep(600)"
    )

    def tick() -> None:
        if pids.exists() and len(pids.read_text().split()) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(code, tmp_path, tick=tick)
    for pid in pids.read_text().split():
        wait_for(lambda pid=pid: ended(int(pid)))
