"""The pool: it hands calls to children, watches their limits, and replaces those that it had to kill."""

from __future__ import annotations

import atexit
import os
import selectors
import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import Any

from backend.errors import StudioError
from backend.killable.process import Child, ChildDied, NotReady, Result, cannot_start
from backend.text import Text

STARTS = 3
START_LIMIT_S = 60.0
"""For a child to start and to import the module of the call; not counted in the call's own limit."""

CLOSED = Text(en="the pool of child processes is closed", ko="자식 프로세스 풀이 닫혔습니다")


class Pool:
    """Up to `size` children, started when they are needed and reused. Any number of threads may call `map` at once.

    `memory_mb` limits the address space of a child; `size` is the number of usable cores where it is not given.
    """

    def __init__(self, size: int | None = None, memory_mb: int = 1024) -> None:
        self.size = size or usable_cores()
        self.memory_mb = memory_mb
        self._idle: list[Child] = []
        self._busy = 0
        self._queueing = 0
        self._changed = threading.Condition()
        self._closed = False

    def map(self, target: str, calls: Sequence[dict[str, Any]], limit_s: float | Sequence[float]) -> list[Result]:
        """One result a call, in order. `target`: "package.module:function", called with each dictionary as keywords.

        Values must be JSON; arguments too (what is not goes as its `str`). `limit_s`: seconds for one call, or one
        limit a call, counted from the moment a child begins with it: importing the module, and its function `warm()`
        where it has one, comes before. StudioError where no child can start or import the module, tried three times.
        """
        limits = [float(limit_s)] * len(calls) if isinstance(limit_s, int | float) else [float(one) for one in limit_s]
        if len(limits) != len(calls):
            raise ValueError(f"{len(limits)} limits for {len(calls)} calls")
        return _Round(self, target, calls, limits).run() if calls else []

    def close(self) -> None:
        """Kill the idle children; those at work are killed when their call ends."""
        with self._changed:
            self._closed = True
            idle, self._idle = self._idle, []
            self._changed.notify_all()
        for child in idle:
            child.kill()

    def _take(self, wait: bool) -> Child | None:
        """An idle child, or a new one; None where all are at work and `wait` is false."""
        with self._changed:
            while True:
                if self._closed:
                    raise StudioError(
                        Text(en="the pool of child processes is closed", ko="자식 프로세스 풀이 닫혔습니다")
                    )
                if self._busy < self.size:
                    self._busy += 1
                    child = self._idle.pop() if self._idle else None
                    break
                if not wait:
                    return None
                self._queueing += 1
                self._changed.wait()
                self._queueing -= 1
        if child is not None and child.alive():
            return child
        if child is not None:
            child.kill()
        try:
            return Child(self.memory_mb)
        except BaseException:
            self._release()
            raise

    def _give(self, child: Child) -> None:
        """Back to the others; one that cannot be reused is killed."""
        if child.reusable and not self._closed:
            with self._changed:
                self._idle.append(child)
        else:
            child.kill()
        self._release()

    def _release(self) -> None:
        with self._changed:
            self._busy -= 1
            self._changed.notify()


def usable_cores() -> int:
    """Cores that this process may use; all there are where the system does not tell."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Round:
    """One `map`: an event loop in the thread that called it."""

    def __init__(self, pool: Pool, target: str, calls: Sequence[dict[str, Any]], limits: list[float]) -> None:
        self.pool, self.target, self.calls, self.limits = pool, target, calls, limits
        self.waiting = deque(range(len(calls)))
        self.results: dict[int, Result] = {}
        self.at_work: dict[Child, int] = {}
        self.failed_starts = 0
        self.tried_again: set[int] = set()
        self.selector = selectors.DefaultSelector()

    def run(self) -> list[Result]:
        try:
            while len(self.results) < len(self.calls):
                self._hire()
                self._turn()
            return [self.results[index] for index in range(len(self.calls))]
        finally:
            for child in list(self.at_work):  # only where something was raised: nobody would read its answer
                child.reusable = False
                self._leave(child)
            self.selector.close()

    def _hire(self) -> None:
        """Children for the calls that wait: at least one in this round, more while the pool has any."""
        # Not beside a thread that has none: `_next` would hand the child back, and this loop would take it again before
        # that thread wakes, over and over, while nobody looks at the children at work.
        while self.waiting and not (self.at_work and self.pool._queueing):
            child = self.pool._take(wait=not self.at_work)
            if child is None:
                return
            self.at_work[child] = -1
            self.selector.register(child.socket, selectors.EVENT_READ, child)
            self._next(child)

    def _next(self, child: Child) -> None:
        share = self.pool._queueing and len(self.at_work) > 1  # another thread has none: let it have this one
        if self.waiting and child.reusable and not share:
            index = self.at_work[child] = self.waiting.popleft()
            child.begin(self.target, self.calls[index], self.limits[index], START_LIMIT_S)
        else:
            self._leave(child)

    def _leave(self, child: Child) -> None:
        self.at_work.pop(child)
        self.selector.unregister(child.socket)
        self.pool._give(child)

    def _turn(self) -> None:
        """Wait for the next thing to happen: a child can read or has answered, or the first limit is reached."""
        for child in self.at_work:
            events = selectors.EVENT_READ | (selectors.EVENT_WRITE if child.unsent else 0)
            self.selector.modify(child.socket, events, child)
        rest = min(child.deadline for child in self.at_work) - time.monotonic()
        ready = {key.data: events for key, events in self.selector.select(max(0.0, rest))}
        for child in list(self.at_work):
            try:
                result = self._step(child, ready.get(child, 0))
            except NotReady as error:
                self._not_ready(child, error)
                continue
            if result is not None and not self._once_more(child, result):
                self.results[self.at_work[child]] = result
                self._next(child)

    def _not_ready(self, child: Child, error: NotReady) -> None:
        """The call waits again, for another child; in the end there is none."""
        self.failed_starts += 1
        if self.failed_starts >= STARTS:
            raise cannot_start(str(error)) from error
        child.reusable = False
        self.waiting.appendleft(self.at_work[child])
        self._leave(child)

    def _once_more(self, child: Child, result: Result) -> bool:
        """A SIGKILL comes from outside (a person, the kernel short of memory), perhaps before the call was read: the
        call is tried once more, on another child."""
        index = self.at_work[child]
        if result.outcome != "died" or not child.killed or index in self.tried_again:
            return False
        self.tried_again.add(index)
        self.waiting.appendleft(index)
        self._leave(child)
        return True

    def _step(self, child: Child, events: int) -> Result | None:
        try:
            if events & selectors.EVENT_WRITE:
                child.send()
            if events & selectors.EVENT_READ and (result := child.receive()):
                return result
            return child.overrun() if time.monotonic() >= child.deadline else None
        except ChildDied:
            return child.death()


_shared: dict[int, Pool] = {}
_shared_lock = threading.Lock()


def shared() -> Pool:
    """The pool of this process, made at the first call; a process forked from this one gets a pool of its own."""
    with _shared_lock:
        if os.getpid() not in _shared:
            _shared.clear()
            _shared[os.getpid()] = Pool()
        return _shared[os.getpid()]


@atexit.register
def _close_shared() -> None:
    pool = _shared.get(os.getpid())
    if pool is not None:
        pool.close()
