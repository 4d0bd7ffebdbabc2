"""Which sandbox this machine has, and the reason where it has none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from backend.sandbox.outcome import SandboxUnavailable
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


def report() -> Report:
    """The tier, after the whole self-test; measured once a process."""
    return Report("none", "", 0, "", Text(en="sandbox: being built", ko="샌드박스: 준비 중"))


def require() -> None:
    """SandboxUnavailable, with the reason by name, where untrusted code cannot be run here."""
    raise SandboxUnavailable(report().words)
