r"""A place to run code that nobody has read: what a model wrote, what a person pasted as a reward.

    caller -- job, streams (sealed files, pipes) --> child      the program's own process, shut in
       \__ orders, "end it" --> zygote -- fork ------^          has imported everything, sees no program

A zygote (`python -I`, empty environment, no torch) has the standard library and numpy loaded and forks a child for each
program; the job goes from the caller to the child by descriptors, so nothing of one program is in the memory of the
next. The child drops root, its capabilities, its descriptors; gets rlimits (memory beyond what the sandbox itself maps,
processor time, descriptors, threads, no files, no core), PR_SET_PDEATHSIG, no_new_privs, Landlock with an empty ruleset
and, last, a seccomp allowlist for x86_64 or aarch64. The zygote ends it by SIGKILL when its wall time is over, and ends
itself when the caller is gone. All of it is in `inside/`, standard library and ctypes.

Tiers: T1 as above; T2 where the kernel has no Landlock (seccomp refuses every way to open a path in both, Landlock is
the second wall behind it); else none: everything refuses, with the reason by name. Each zygote attacks itself before it
serves; `report()` runs whole programs too. Linux only.

Decided:
- Nothing can be opened, on T1 neither: programs import from memory, so a program that runs here runs on every machine.
- What is expected never goes in. A child returns typed JSON (`inside/typed.py`), compared outside (`compare.py`). The
  program shares its process with our harness and can forge a line; that is worth what returning the value is worth.
- Threads are allowed (solutions use them for deep stacks) and counted; processes are not. No other program, no socket
  but a pair of pipes to oneself, no signal to anyone.
- A lost zygote is replaced and its programs run again, once; after that SandboxUnavailable stops the run.

What remains: the kernel is shared, so a hole in it is a hole here. stat() still tells that a path exists, its size and
its times. uname and the processor tell what machine it is. Programs share processors and caches with each other and
with the trainer, so time can be observed and, up to the limit, taken. Root without CAP_SETUID (a container that drops
all capabilities but not root) stays root, with no right left; its programs get no threads, as nothing would hold their
number.
"""

from __future__ import annotations

from backend.sandbox.compare import same
from backend.sandbox.inside.typed import decode
from backend.sandbox.outcome import OUTPUT_LIMIT, RESULT_LIMIT, Answer, Outcome, Program, Ran, Reply, SandboxUnavailable
from backend.sandbox.running import at_once, run_many
from backend.sandbox.sessions import Session, open_session
from backend.sandbox.tiers import Check, Report, report, require

__all__ = [
    "OUTPUT_LIMIT",
    "RESULT_LIMIT",
    "Answer",
    "Check",
    "Outcome",
    "Program",
    "Ran",
    "Reply",
    "Report",
    "SandboxUnavailable",
    "Session",
    "at_once",
    "decode",
    "open_session",
    "report",
    "require",
    "run_many",
    "same",
]
