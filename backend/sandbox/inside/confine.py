"""The layers of a child, in the order in which they must go on: each needs a right that the next takes away."""

from __future__ import annotations

import fcntl
import os
from dataclasses import dataclass

from . import limits
from .kernel import PR_SET_NO_NEW_PRIVS, PR_SET_PDEATHSIG, drop_capabilities, prctl
from .landlock import Ruleset
from .seccomp import Filter

STDIN, STDOUT, STDERR, RESULT, JOB, REQUESTS, CONTROL = range(7)
KEPT = 7
SIGKILL = 9
MOST_DESCRIPTORS = 4096  # the zygote has a few, and three for each running child


@dataclass(frozen=True, slots=True)
class Walls:
    """What the zygote prepares once for all its children. `ruleset` is None on T2."""

    filter: Filter
    ruleset: Ruleset | None
    capset: int


def place(descriptors: list[int]) -> None:
    """Moves the given descriptors to 0, 1, 2, ... and leaves the others open."""
    lifted = [fcntl.fcntl(fd, fcntl.F_DUPFD, 32) for fd in descriptors]
    for target, fd in enumerate(lifted):
        os.dup2(fd, target)


def confine(walls: Walls, most: limits.Limits, zygote: int, keep: int) -> None:
    """Shuts this process in; of its descriptors those below `keep` stay. Any error means: do not run anything."""
    os.setsid()
    limits.plain_signals()
    limits.first_to_die()
    limits.become_nobody()
    limits.apply(most)
    prctl(PR_SET_PDEATHSIG, SIGKILL)  # after the change of user, which clears it
    if os.getppid() != zygote:
        os._exit(1)
    drop_capabilities(walls.capset)
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    if walls.ruleset is not None:
        walls.ruleset.restrict()
    os.closerange(keep, MOST_DESCRIPTORS)
    walls.filter.install()
