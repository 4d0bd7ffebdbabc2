"""How many processes the kernel has killed for want of memory in this process's control group (v2, else v1)."""

from __future__ import annotations

from pathlib import Path


def oom_kills(proc: Path = Path("/proc/self/cgroup"), root: Path = Path("/sys/fs/cgroup")) -> int | None:
    """The counter `oom_kill`; None where there is no control group that can be read."""
    for path in _candidates(proc, root):
        try:
            lines = path.read_text(encoding="ascii").splitlines()
        except OSError:
            continue
        for line in lines:
            name, _, value = line.partition(" ")
            if name == "oom_kill" and value.isdigit():
                return int(value)
    return None


def _candidates(proc: Path, root: Path) -> list[Path]:
    """The group's own file, then the mount's root: inside a container the path may be the host's, and not visible."""
    try:
        lines = proc.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    found: list[Path] = []
    for line in lines:
        _, controllers, group = line.split(":", 2)
        group = group.lstrip("/")
        if controllers == "":
            found += [root / group / "memory.events", root / "memory.events"]
        elif "memory" in controllers.split(","):
            found += [root / "memory" / group / "memory.oom_control", root / "memory" / "memory.oom_control"]
    return found
