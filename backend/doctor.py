"""Is this machine ready? Each finding is ok, warn (works, with less) or fail (a run would not work), in words."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from backend import device
from backend.processes import locks
from backend.settings import PROJECT, Settings
from backend.text import Text

Status = Literal["ok", "warn", "fail"]
GIB = 1024**3
LEAST_MEMORY = 2 * GIB
LEAST_DISK = 2 * GIB
PINNED = re.compile(r"^([A-Za-z0-9_.-]+)==([^\s;]+)\s*(?:;.*)?$")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@dataclass(frozen=True, slots=True)
class Finding:
    name: str
    status: Status
    words: Text

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "status": self.status, "words": self.words.to_json()}


def examine(settings: Settings) -> dict[str, Any]:
    """{"ok": no finding failed, "checks": [...], "versions": {package: version}, "device": {...}}."""
    findings = [finding for check in CHECKS for finding in check(settings)]
    return {
        "ok": all(finding.status != "fail" for finding in findings),
        "checks": [finding.to_json() for finding in findings],
        "versions": {name: found for name, _, found in pinned() if found},
        "device": device.to_json(),
    }


def same(name: str, status: Status, words: str) -> Finding:
    """A finding that is a number or a name, the same in both languages."""
    return Finding(name, status, Text(en=words, ko=words))


def _python(_: Settings) -> Iterator[Finding]:
    yield same("python", "ok", f"{platform.python_version()} on {platform.system()} {platform.machine()}")


def pinned() -> list[tuple[str, str, str | None]]:
    """(package, pinned version, installed version) of requirements.txt, but for packages of other platforms."""
    rows = []
    for line in (PROJECT / "requirements.txt").read_text(encoding="utf-8").splitlines():
        match = PINNED.match(line.strip())
        if match is None:
            continue
        try:
            found = importlib.metadata.version(match[1])
        except importlib.metadata.PackageNotFoundError:
            found = None
        if found is not None or ";" not in line:
            rows.append((match[1], match[2], found))
    return rows


def _packages(_: Settings) -> Iterator[Finding]:
    rows = pinned()
    missing = [name for name, _, found in rows if found is None]
    other = [f"{name} {found} (pinned {want})" for name, want, found in rows if found and found.split("+")[0] != want]
    if missing:
        names = ", ".join(missing)
        yield Finding(
            "packages",
            "fail",
            Text(en=f"not installed: {names}; run make setup", ko=f"설치되지 않음: {names}. make setup을 실행하세요"),
        )
    elif other:
        names = ", ".join(other)
        yield Finding(
            "packages", "warn", Text(en=f"other versions than those tested: {names}", ko=f"검증한 버전과 다름: {names}")
        )
    else:
        yield Finding("packages", "ok", Text(en=f"all {len(rows)} as pinned", ko=f"{len(rows)}개 모두 고정된 버전"))


def _sqlite(_: Settings) -> Iterator[Finding]:
    from storage import sqlite

    module = sqlite.module()
    words = f"{module.sqlite_version} ({module.__name__.split('.')[0]}, {sqlite.journal_mode()})"
    if sqlite.is_safe(module.sqlite_version_info):
        yield same("sqlite", "ok", words)
    else:
        yield Finding(
            "sqlite",
            "warn",
            Text(
                en=f"{words}: this version can corrupt a WAL database, so the slower rollback journal is used; "
                "install pysqlite3 where there is a wheel",
                ko=f"{words}: WAL 데이터베이스를 손상시킬 수 있는 버전이라 느린 롤백 저널을 씁니다",
            ),
        )


def _processes(_: Settings) -> Iterator[Finding]:
    if sys.platform == "linux":
        yield Finding(
            "processes",
            "ok",
            Text(
                en="a run dies with its shim, leftovers are reaped",
                ko="실행은 shim과 함께 끝나고, 남은 프로세스는 정리됩니다",
            ),
        )
    elif locks.supported():
        yield Finding(
            "processes",
            "warn",
            Text(
                en="not Linux: a worker may outlive a killed shim, and processes in sessions of their own may stay",
                ko="Linux가 아니어서, shim이 강제 종료되면 학습 프로세스가 남을 수 있습니다",
            ),
        )
    else:
        yield Finding("processes", "fail", locks.NO_LOCKS)


def _sandbox(_: Settings) -> Iterator[Finding]:
    from backend import sandbox

    found = sandbox.report()
    if found.tier == "none":
        yield Finding(
            "sandbox",
            "warn",
            Text(
                en=f"{found.words.en}; the rewards code and sql and sandboxed custom rewards are refused",
                ko=f"{found.words.ko}. code, sql 보상과 샌드박스 사용자 보상은 쓸 수 없습니다",
            ),
        )
    else:
        yield Finding("sandbox", "ok" if found.tier == "T1" else "warn", found.words)


def _device(_: Settings) -> Iterator[Finding]:
    facts = device.facts()
    bf16 = "bf16" if facts.bf16 else "no bf16" if facts.kind != "cpu" else "float32"
    yield same("device", "ok", f"{facts.kind}: {facts.name}, {facts.cores} cores, {bf16}")
    size = f"{facts.free_bytes / GIB:.1f} of {facts.total_bytes / GIB:.1f} GiB free"
    if facts.free_bytes < LEAST_MEMORY:
        yield Finding(
            "memory",
            "warn",
            Text(en=f"{size}; the smallest run needs about 2", ko=f"{size}; 가장 작은 실행에도 2 GiB가 필요합니다"),
        )
    else:
        yield same("memory", "ok", size)


def _home(settings: Settings) -> Iterator[Finding]:
    try:
        settings.home.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=settings.home):
            pass
    except OSError as error:
        yield Finding(
            "home",
            "fail",
            Text(
                en=f"{settings.home} cannot be written ({error.strerror}); choose another with --home",
                ko=f"{settings.home}: 쓸 수 없습니다({error.strerror}). --home으로 다른 폴더를 지정하세요",
            ),
        )
        return
    yield same("home", "ok", str(settings.home))
    free = shutil.disk_usage(settings.home).free
    words = f"{free / GIB:.1f} GiB free"
    if free < LEAST_DISK:
        yield Finding(
            "disk",
            "warn",
            Text(en=f"{words}; checkpoints may not fit", ko=f"{words}; 체크포인트를 저장할 공간이 부족할 수 있습니다"),
        )
    else:
        yield same("disk", "ok", words)


def _database(settings: Settings) -> Iterator[Finding]:
    from backend.errors import StudioError
    from backend.opening import open_database
    from storage.reader import Reader

    try:
        db = open_database(settings)
    except StudioError as error:
        yield Finding("database", "fail", error.text)
        return
    try:
        count = len(Reader(db).runs())
    finally:
        db.close()
    yield Finding("database", "ok", Text(en=f"{count} runs", ko=f"실행 {count}개"))


def _models(settings: Settings) -> Iterator[Finding]:
    from backend import models

    here = [entry.name for entry in models.entries(settings.models_dir) if entry.ready]
    if here:
        yield same("models", "ok", ", ".join(here))
    else:
        yield Finding(
            "models",
            "ok",
            Text(en="none yet; the first run builds the embedded one", ko="아직 없음. 첫 실행이 내장 모델을 만듭니다"),
        )
    token = "HF_TOKEN" if os.environ.get("HF_TOKEN") else None
    offline = os.environ.get("HF_HUB_OFFLINE")
    if offline and offline != "0":
        yield Finding(
            "hub",
            "warn",
            Text(en="HF_HUB_OFFLINE is set: nothing is downloaded", ko="HF_HUB_OFFLINE이 설정되어 내려받지 않습니다"),
        )
    elif token:
        yield Finding(
            "hub", "ok", Text(en="HF_TOKEN is set and passed on to runs", ko="HF_TOKEN이 설정되어 실행에 전달됩니다")
        )
    else:
        yield Finding(
            "hub", "ok", Text(en="no HF_TOKEN: public models only", ko="HF_TOKEN 없음: 공개 모델만 쓸 수 있습니다")
        )


def _browser(_: Settings) -> Iterator[Finding]:
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    own = Path("~/.cache/ms-playwright").expanduser()
    if found or any(own.glob("chromium*")):
        yield same("browser for the tests", "ok", found or str(own))
    else:
        yield Finding(
            "browser for the tests",
            "warn",
            Text(
                en="no chromium found: the browser tests need one (make test gets it)",
                ko="chromium이 없습니다. 브라우저 테스트에 필요합니다(make test가 설치)",
            ),
        )


CHECKS: tuple[Callable[[Settings], Iterator[Finding]], ...] = (
    _python,
    _packages,
    _sqlite,
    _processes,
    _sandbox,
    _device,
    _home,
    _database,
    _models,
    _browser,
)
