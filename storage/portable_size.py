"""How large a run's file (storage.portable) may be, so that what is written can be read."""

from __future__ import annotations

import errno
from typing import Any

from sqlalchemy import Connection, func, select

from storage import models as m
from storage.liveness import Bounds, live_rows

LARGEST = 200_000_000  # bytes of a file unpacked: a small one may hold a great many
A_COMPLETION = 150  # bytes of its JSON beside its texts, and a little less than that


class TooLarge(OSError):
    """The file would be one that is not read. `.en`, and as `strerror`; `.ko` is the same in Korean. Nothing of it is
    left."""

    def __init__(self, largest: int, groups_every: int) -> None:
        most = f"{largest / 1e6:,.0f} MB"
        self.en = (
            f"the run takes more than the {most} (unpacked) that a file may hold; "
            f"keep the samples of every {groups_every}th step only (groups_every {groups_every})"
        )
        self.ko = (
            f"실행이 파일 하나의 한도인 {most}(압축을 푼 크기)를 넘습니다. "
            f"{groups_every}스텝마다 한 번의 샘플만 남기세요(groups_every {groups_every})"
        )
        self.groups_every = groups_every
        super().__init__(errno.EFBIG, self.en)


class Measured:
    """A file that is written to until it is as large as may be; then TooLarge."""

    def __init__(self, out: Any, largest: int, expected: int, groups_every: int) -> None:
        self._out, self._largest, self._every = out, largest, groups_every
        self._expected, self._size = expected, 0
        if expected > largest:
            raise self._refused()

    def write(self, line: bytes) -> None:
        self._size += len(line)
        if self._size > self._largest:
            raise self._refused()
        self._out.write(line)

    def _refused(self) -> TooLarge:
        # What is expected is rather too little: with a third to spare the next try mostly does.
        whole = max(self._size, self._expected) * self._every
        return TooLarge(self._largest, max(self._every + 1, -(-4 * whole // (3 * self._largest))))


def expected(connection: Connection, key: int, limits: Bounds, groups_every: int) -> int:
    """Bytes that the samples of a run come to, rather less than more, before any of them is read."""
    b, g = m.sample_block.c, m.sample_group.c
    sizes = select(func.sum(b.size), func.sum(b.completions)).where(b.run_key == key)
    texts, completions = (int(value or 0) for value in connection.execute(sizes).one())
    live = select(func.sum(g.size)).where(g.run_key == key, live_rows(limits, g.attempt, g.phase, g.step))
    held = int(connection.execute(live).scalar() or 0)
    share = min(1.0, held / completions) if completions else 0.0
    return int((texts + A_COMPLETION * completions) * share) // groups_every
