"""Which sandbox this machine has, and the reason where it has none."""

from __future__ import annotations

import platform
import threading
from dataclasses import dataclass
from typing import Any, Literal

from backend.sandbox.host import current
from backend.sandbox.outcome import SandboxUnavailable
from backend.sandbox.programs import whole
from backend.text import Text

Tier = Literal["T1", "T2", "none"]


@dataclass(frozen=True, slots=True)
class Check:
    """One attack (or the benign program) of the self-test: `held` is whether it ended as it must."""

    name: str
    held: bool
    what: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """`landlock_abi` is 0 where the kernel has no Landlock; `words` is one sentence for people."""

    tier: Tier
    kernel: str
    landlock_abi: int
    machine: str
    words: Text
    checks: tuple[Check, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "tier": self.tier,
            "kernel": self.kernel,
            "landlock_abi": self.landlock_abi,
            "machine": self.machine,
            "words": self.words.to_json(),
            "checks": [{"name": c.name, "held": c.held, "what": c.what} for c in self.checks],
        }


_lock = threading.Lock()
_reported: list[Report] = []


def report() -> Report:
    """The tier, after the whole self-test; measured once a process (a second)."""
    with _lock:
        if _reported:
            return _reported[0]
        found = measure()
        if found.tier != "none":  # what is missing now may be there later
            _reported.append(found)
        return found


def require() -> None:
    """SandboxUnavailable, with the reason by name, where untrusted code cannot be run here."""
    current.get()


def measure() -> Report:
    """The tier, found anew."""
    kernel, machine = platform.release(), platform.machine()
    try:
        hello = current.get().hello
        checks = [Check(**check) for check in hello["checks"]]
        checks += [Check(name, held, what) for name, held, what in whole()]
    except SandboxUnavailable as error:
        return Report("none", kernel, 0, machine, error.text)
    broken = [check.name for check in checks if not check.held]
    tier, abi = hello["tier"], hello["abi"]
    if broken:
        names = ", ".join(broken)
        words = Text(en=f"sandbox: the self-test failed: {names}", ko=f"샌드박스: 자체 점검에 실패했습니다: {names}")
        return Report("none", kernel, abi, machine, words, tuple(checks))
    words = _words(tier, kernel, abi, machine, len(checks))
    if not hello["threads"]:
        words = Text(
            en=f"{words.en}; programs get no threads (this root cannot become another user, so none would be counted)",
            ko=f"{words.ko}. 프로그램은 스레드를 쓸 수 없음(root에서 다른 사용자로 바꿀 수 없어 개수를 제한하지 못함)",
        )
    return Report(tier, kernel, abi, machine, words, tuple(checks))


def _words(tier: str, kernel: str, abi: int, machine: str, count: int) -> Text:
    if tier == "T1":
        return Text(
            en=f"T1: Landlock (ABI {abi}) and seccomp on Linux {kernel} {machine}; all {count} checks held",
            ko=f"T1: Landlock(ABI {abi})와 seccomp, Linux {kernel} {machine}. 점검 {count}개 모두 통과",
        )
    return Text(
        en=f"T2: seccomp without Landlock on Linux {kernel} {machine}; all {count} checks held, one wall fewer than T1",
        ko=f"T2: Landlock 없이 seccomp만, Linux {kernel} {machine}. 점검 {count}개 통과, T1보다 방어막이 하나 적음",
    )
