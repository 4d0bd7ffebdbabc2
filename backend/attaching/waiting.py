"""A look at a folder that ends: a disk that is gone holds whoever asks it for ever."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from backend.errors import Refused
from backend.text import Text

LIMIT_S = 300.0  # a hundred thousand files on a slow share take minutes
ASKED_S = 0.5
T = TypeVar("T")


class _Box(Generic[T]):
    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self.found: T | None = None
        self.error: BaseException | None = None
        self.done = threading.Event()

    def run(self) -> None:
        try:
            self.found = self._work()
        except BaseException as error:  # raised again where it is waited for
            self.error = error
        finally:
            self.done.set()


def within(path: str, work: Callable[[], T], heard: Callable[[], None], limit_s: float | None = None) -> T:
    """`work()`, in a thread of its own. `heard` is called while it lasts, and what it raises ends the wait, as the
    limit does: the thread then waits alone for its disk. Raises Refused after the limit."""
    limit = LIMIT_S if limit_s is None else limit_s
    box = _Box(work)
    threading.Thread(target=box.run, name="attach-look", daemon=True).start()
    waited = 0.0
    while not box.done.wait(min(ASKED_S, limit)):
        heard()
        waited += ASKED_S
        if waited >= limit:
            raise Refused(
                Text(
                    f"{path:.200}: no answer within {limit:,.0f} seconds. Is the disk that it lies on still there? "
                    "Copy the folder to a disk of this machine, or mount it again.",
                    f"{path:.200}: {limit:,.0f}초 안에 응답이 없습니다. 파일이 있는 디스크가 연결되어 있나요? "
                    "이 컴퓨터의 디스크로 복사하거나 다시 마운트하세요.",
                )
            )
    if box.error is not None:
        raise box.error
    return box.found  # type: ignore[return-value]
