"""One reward on the bench: every question to it goes through here, so that it is timed, bounded, and cannot end us."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from backend.errors import StudioError
from backend.text import Text

CHUNK_S = 2.0  # about how long one call to a slow reward may take
LARGEST_CHUNK = 512
LARGEST_CUSTOM = 16  # a batch with a text that hangs is judged again one by one, each up to its limit
DEAR_CALL_S = 0.5  # a call that takes this long whatever is in it is made with as much as possible
SECOND_CHUNK = 8
GROWTH = 16  # how much larger than the largest call so far the next one may be, where a call is dear
WITHIN = 0.8  # of the time limit of a call
SURE = 3  # larger calls before their time is believed: the first may start processes
QUICK_S = 0.01  # a completion; slower rewards are asked less
CHARACTERS_A_TOKEN = 4  # for made-up completion_ids: a reward that counts them sees a likely number

Row = Mapping[str, Any]


class Judged(NamedTuple):
    """`skipped`: never asked, for want of time. `failed`: the reward could not score it."""

    score: float | None
    extracted: str | None = None
    reason: str | None = None
    failed: bool = False
    skipped: bool = False


class Budget:
    """Seconds that a whole audit may take."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._ends = clock() + seconds
        self.seconds = seconds

    def left(self) -> float:
        return self._ends - self._clock()

    @property
    def spent(self) -> bool:
        return self.left() <= 0


@dataclass
class Call:
    """One call of the reward: how many completions, how long."""

    count: int
    seconds: float


class Missed(NamedTuple):
    """A text that the reward could not score, and what it raised."""

    row: int
    text: str
    reason: str


@dataclass
class Bench:
    """`rows`: dataset rows; an answer to row i is judged with the columns of row i, in the shape of its prompt.

    `missed` and `seen` are of the different (row, text) that were judged with the row's own columns; `scores` the
    different ones that were given.
    """

    name: str
    reward: Any
    rows: Sequence[Row]
    budget: Budget
    calls: list[Call] = field(default_factory=list)
    broken: list[Text] = field(default_factory=list)
    """What the reward was refused for: a wrong count, a column that is missing, no sandbox."""
    broken_by: list[str] = field(default_factory=list)
    seen: set[tuple[int, str]] = field(default_factory=set)
    missed: dict[tuple[int, str], Missed] = field(default_factory=dict)
    scores: set[float | None] = field(default_factory=set)

    def judge(
        self,
        asked: Sequence[tuple[int, str]],
        columns: Mapping[str, Sequence[Any]] | None = None,
        *,
        whole: bool = False,
    ) -> list[Judged]:
        """One verdict a (row, text). `columns`: values in place of the rows' own, one an item. `whole`: in one call."""
        found: list[Judged] = []
        while len(found) < len(asked):
            if self.budget.spent:
                return [*found, *[Judged(None, skipped=True)] * (len(asked) - len(found))]
            at = len(found)
            size = len(asked) if whole else self._chunk()
            part = list(asked[at : at + size])
            own = {name: values[at : at + size] for name, values in (columns or {}).items()}
            found += self._call(part, own)
        return found

    def _chunk(self) -> int:
        dear = self.single() > DEAR_CALL_S
        largest = LARGEST_CUSTOM if self.custom and not dear else LARGEST_CHUNK
        if not self.calls or self.hung:
            return 1  # the first call tells how slow it is
        tried = max(call.count for call in self.calls)
        limit = getattr(self.reward, "limit_s", None)
        if not dear:
            if sum(call.count >= SECOND_CHUNK for call in self.calls) < SURE:
                return SECOND_CHUNK
        elif tried == 1:
            # Whether the time is the call's or each completion's; if it is each one's, still within the limit.
            return SECOND_CHUNK if limit is None else max(2, min(SECOND_CHUNK, int(WITHIN * limit / self.single())))
        size = int(CHUNK_S / max(self.marginal(), 1e-6))
        if dear:
            size = min(size, GROWTH * tried)
            if limit is not None:
                size = min(size, int((WITHIN * limit - self.single()) / max(self.marginal(), 1e-6)))
        return max(1, min(largest, size))

    @property
    def custom(self) -> bool:
        return hasattr(self.reward, "limit_s")

    @property
    def hung(self) -> bool:
        """Whether a call was stopped for its time."""
        limit = getattr(self.reward, "limit_s", None)
        return limit is not None and any(call.seconds >= 0.95 * limit for call in self.calls)

    def single(self) -> float:
        """Seconds of a call with one completion, the median; of the shortest call where there was none."""
        ones = [call.seconds for call in self.calls[1:] if call.count == 1]
        return statistics.median(ones) if ones else min((call.seconds for call in self.calls), default=0.0)

    def marginal(self) -> float:
        """Seconds that one more completion of a batch takes: the slope between small calls and large ones."""
        small = min((call for call in self.calls), key=lambda call: (call.count, call.seconds))
        least = 2 if self.single() > DEAR_CALL_S else SECOND_CHUNK
        large = [call for call in self.calls if call.count >= max(least, small.count + 1)]
        if not large:
            return small.seconds / small.count
        slopes = sorted((call.seconds - small.seconds) / (call.count - small.count) for call in large)
        return max(slopes[len(slopes) // 4], 0.0)  # not the median: calls that start a process are among them

    def few(self, count: int) -> int:
        """How many of `count` a reward this slow is asked."""
        slow = self.marginal() if self.calls else 0.0
        return count if slow <= QUICK_S else max(1, int(count * QUICK_S / slow))

    def _call(self, part: Sequence[tuple[int, str]], own: Mapping[str, Sequence[Any]]) -> list[Judged]:
        rows = [self.rows[row] for row, _ in part]
        names = dict.fromkeys(name for row in self.rows for name in row if name not in ("prompt", "completion"))
        columns: dict[str, Any] = {name: [row.get(name) for row in rows] for name in names}
        columns |= {name: list(values) for name, values in own.items()}
        columns["prompts"] = [row.get("prompt", "") for row in rows]
        columns["completion_ids"] = [list(range(len(text) // CHARACTERS_A_TOKEN + 1)) for _, text in part]
        completions = [as_completion(row, text) for row, (_, text) in zip(rows, part, strict=True)]
        if self.custom:
            enough = max(0.5, self.budget.left() / 4, 2.5 * self.single())
            self.reward.limit_s = min(self.reward.limit_s, enough)
        began = time.perf_counter()
        try:
            given = self.reward.verdicts(completions, **columns)
        except StudioError as error:
            self._refused(error.text, type(error).__name__)
            return [Judged(None, reason=str(error), failed=True)] * len(part)
        except Exception as error:
            words = f"{type(error).__name__}: {error}"
            self._refused(Text(en=words, ko=words), type(error).__name__)
            return [Judged(None, reason=words, failed=True)] * len(part)
        finally:
            self.calls.append(Call(len(part), time.perf_counter() - began))
        found = [Judged(verdict.score, verdict.extracted, verdict.reason, failed) for verdict, failed in given]
        if not own:
            self._note(part, found)
        return found

    def _note(self, part: Sequence[tuple[int, str]], found: Sequence[Judged]) -> None:
        self.seen.update(part)
        for asked, each in zip(part, found, strict=True):
            if each.failed:
                self.missed.setdefault(asked, Missed(*asked, each.reason or ""))
            else:
                self.scores.add(each.score)

    @property
    def per_call(self) -> bool:
        """Whether a call takes long whatever is in it."""
        return self.single() > DEAR_CALL_S and self.marginal() < 0.5 * self.single()

    def _refused(self, words: Text, by: str) -> None:
        if words not in self.broken:
            self.broken.append(words)
            self.broken_by.append(by)


def as_completion(row: Row, text: str) -> Any:
    """`text` in the shape that TRL gives: a list with one message for a conversation, else a string."""
    return [{"role": "assistant", "content": text}] if isinstance(row.get("prompt"), list) else text


def mean(judged: Sequence[Judged]) -> float | None:
    """The mean of the scores that there are."""
    kept = [each.score for each in judged if each.score is not None]
    return statistics.fmean(kept) if kept else None
