"""What one run of a sweep came to, and several runs of one setting together.

Stability is the spread about the trend: the standard deviation of the last half of a curve about its own straight line,
so that a reward that still rises does not count as unsteady.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

import numpy as np

from backend.errors import NotFound
from backend.evaluation import reading
from backend.evaluation.paired import paired
from backend.evaluation.stats import share
from backend.headline import LARGEST_WINDOW, SMALLEST_WINDOW, student, wilson
from backend.kept import Kept
from backend.text import Text
from backend.views import kind_of_run
from storage.records import EvaluationItem, Run

if TYPE_CHECKING:
    from backend.services import Services

KEPT = 512
CURVES = {"reward": "reward", "length": "completions/mean_length", "grad_norm": "grad_norm", "step_s": "step_time"}
MEANS = ("reward", "length", "reward_spread", "grad_spread", "seconds")  # besides the held-out rows
JUDGED = ("train", "control", "attached")
UNJUDGED = {
    "pending": Text(en="Being diagnosed ...", ko="진단하는 중 ..."),
    "failed": Text(en="Its records could not be judged.", ko="기록을 판정하지 못했습니다."),
}


class Measures:
    """Of the runs of one home; those of ended runs are kept, since their records change no more. Thread-safe."""

    def __init__(self) -> None:
        self._kept = Kept(KEPT)
        self._said = Kept(KEPT)

    def of(self, services: Services, run: Run, seconds: float | None) -> dict[str, Any]:
        """See `measure`; with "finding": what the stored report says, None without one. None is made for it: whoever
        asks may be a command that ends at once, and a worker stores the report of each run that ends well."""
        found = self._kept.get((run.id, run.revision), run.state.ended, lambda: measure(services, run, seconds))
        said = self.finding(services, run)
        return {**found, "finding": None if said is None or said["state"] in UNJUDGED else said}

    def finding(self, services: Services, run: Run, wait_s: float | None = None) -> dict[str, Any] | None:
        """See `finding`; that of an ended run is kept once it is there: a new report changes the run's revision."""

        def make() -> dict[str, Any]:
            said = finding(services, run, wait_s)
            if said is not None and said["state"] in UNJUDGED:
                raise _NotYetError(said)
            return said or {}

        try:
            return self._said.get((run.id, run.revision), run.state.ended, make) or None
        except _NotYetError as error:
            return error.said


class _NotYetError(Exception):
    """Not to be kept."""

    def __init__(self, said: dict[str, Any]) -> None:
        super().__init__()
        self.said = said


def finding(services: Services, run: Run, wait_s: float | None = None) -> dict[str, Any] | None:
    """The diagnosis' sentence of a run: {"state", "text"}. An ended one that has no report (an older run, a killed one)
    is "pending"; with `wait_s` it is being made from now on, in a thread of the diagnosis, and so long waited for.
    "failed": its records could not be judged. None of what is not judged, and before the first report of a run."""
    if kind_of_run(run.config) not in JUDGED:
        return None
    try:
        said = services.diagnosis.headline(run.id)
        if said is None and run.state.ended:
            pending = True if wait_s is None else services.diagnosis.report(run.id, wait_s)["pending"]
            said = services.diagnosis.headline(run.id)
            if said is None:
                state = "failed" if pending == "failed" else "pending"
                return {"state": state, "text": UNJUDGED[state].to_json()}
    except NotFound:  # deleted meanwhile
        return None
    return None if said is None else {"state": said["state"], "text": said["text"]}


def measure(services: Services, run: Run, seconds: float | None) -> dict[str, Any]:
    """{"before", "after": {"accuracy", "low", "high", "right", "n"} | None, "gain": {"difference", "low", "high",
    "won", "lost", "n"} | None, "reward", "length", "step_s", "reward_spread", "grad_spread": number | None,
    "not_finite": how many values of the gradient norm and the reward are no numbers, "seconds", "rows": `row_keys` of
    the rows that "after" counts}.

    Rewards and lengths are means of the last window (a fifth of the steps, 10 to 50).
    """
    before, after = reading.answers(services, run)
    _, curves = services.reader.history(run.id, 20_000, names=list(CURVES.values()))
    values = {name: list(curves.get(("train", curve), ((), ()))[1]) for name, curve in CURVES.items()}
    pair = (
        paired([one.correct for one in before], [one.correct for one in after]) if len(before) == len(after) else None
    )
    return {
        "before": _side([one.correct for one in before]),
        "after": _side([one.correct for one in after]),
        "gain": pair
        and {
            "difference": pair.difference, "low": pair.low, "high": pair.high,
            "won": pair.won, "lost": pair.lost, "n": pair.n,
        },
        "reward": last_mean(values["reward"]),
        "length": last_mean(values["length"]),
        "step_s": last_mean(values["step_s"]),
        "reward_spread": spread(values["reward"]),
        "grad_spread": spread(values["grad_norm"]),
        "not_finite": sum(not math.isfinite(v) for name in ("reward", "grad_norm") for v in values[name]),
        "seconds": seconds,
        "rows": row_keys(after),
    }  # fmt: skip


def row_keys(items: Sequence[EvaluationItem]) -> np.ndarray:
    """What tells the judged rows of one evaluation from one another, and is the same wherever a row is asked: int64,
    shape (judged rows,). A row that stands twice in an evaluation is two."""
    seen: dict[tuple[str, str | None], int] = {}
    found = []
    for item in items:
        row = item.prompt, item.ground_truth
        seen[row] = seen.get(row, 0) + 1
        if item.correct is not None:
            text = repr((*row, seen[row])).encode("utf-8", "backslashreplace")
            found.append(int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), signed=True))
    return np.asarray(found, dtype=np.int64)


def different(evaluations: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
    """(how many different held-out rows the seeds were asked, how many independent ones their answers are worth).

    Seeds that were asked the same rows say nothing new about other rows: a row's answers count as one answer, their
    mean. Where seeds draw rows of their own (no data_seed), some are shared and some are not; with m answers to a row
    the mean has the error of (sum m)^2 / sum m^2 rows (Kish 1965), which is n for the same n rows and their sum for
    rows that are all different. Without "rows" they count as the same.
    """
    n = max(one["after"]["n"] for one in evaluations)
    if len(evaluations) == 1 or any(one.get("rows") is None for one in evaluations):
        return n, n
    keys = np.concatenate([one["rows"] for one in evaluations])
    counts = np.unique(keys, return_counts=True)[1].astype(float)
    return len(counts), round(counts.sum() ** 2 / (counts @ counts))


def _side(correct: Sequence[bool | None]) -> dict[str, Any] | None:
    value, interval, n = share(correct)
    if value is None or interval is None:
        return None
    return {"accuracy": value, "low": interval[0], "high": interval[1], "right": sum(map(bool, correct)), "n": n}


def last_mean(values: Sequence[float]) -> float | None:
    """Mean of the finite values of the last window; None without any."""
    finite = [value for value in values if math.isfinite(value)]
    window = max(SMALLEST_WINDOW, min(LARGEST_WINDOW, len(finite) // 5))
    return fmean(finite[-window:]) if finite else None


def spread(values: Sequence[float]) -> float | None:
    """Standard deviation of the finite values of the last half about their least-squares line, in the curve's unit;
    None below four of them: two lie on a line, and three say nothing."""
    half = np.asarray(values[len(values) // 2 :], dtype=float)
    known = np.isfinite(half)
    half, x = half[known], np.flatnonzero(known).astype(float)  # a value that is none leaves its place
    if len(half) < 4:
        return None
    x -= x.mean()
    centred = half - half.mean()
    rest = centred - x * (x @ centred) / (x @ x)
    return float(np.sqrt(rest @ rest / (len(half) - 2)))


def together(found: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The runs of one setting as one: {"seeds", "accuracy": {"value", "low", "high", "least", "most", "n"} | None,
    "gain": the same | None, "before": mean accuracy before | None, and each of MEANS as {"value", "least", "most"} |
    None, "not_finite": their sum, "finding": the worst of them | None}.

    `least`, `most`: the range over seeds. `low`, `high`: see `over_seeds`. `n`: the held-out rows, each once however
    many seeds were asked it; the interval over rows is that of the mean over seeds, see `different`.
    """
    asked = [one for one in found if one["after"]]
    after = [one["after"] for one in asked]
    gained = [one for one in asked if one["gain"]]
    gains = [one["gain"] for one in gained]
    before = [one["before"]["accuracy"] for one in found if one["before"]]
    answer: dict[str, Any] = {
        "seeds": len(found),
        "accuracy": None,
        "gain": None,
        "before": fmean(before) if before else None,
        "not_finite": sum(one["not_finite"] for one in found),
        "findings": [one["finding"] for one in found if one["finding"]],
    }
    if after:
        n, worth = different(asked)
        values = [one["accuracy"] for one in after]
        rows = wilson(fmean(values), worth)
        answer["accuracy"] = over_seeds(values, rows, (0.0, 1.0)) | {"n": n}
    if gains:
        n, worth = different(gained)
        values = [one["difference"] for one in gains]
        # An interval of one seed's rows is wider than that of all by the root of how many more rows all are.
        narrower = math.sqrt(min(1.0, fmean(one["after"]["n"] for one in gained) / worth))
        below, above = (fmean(abs(one[end] - one["difference"]) for one in gains) for end in ("low", "high"))
        rows = (fmean(values) - below * narrower, fmean(values) + above * narrower)
        answer["gain"] = over_seeds(values, rows, (-1.0, 1.0)) | {"n": n}
    for name in MEANS:
        values = [one[name] for one in found if one[name] is not None]
        answer[name] = {"value": fmean(values), "least": min(values), "most": max(values)} if values else None
    return answer


def over_seeds(
    values: Sequence[float], rows: tuple[float, float], within: tuple[float, float]
) -> dict[str, float | None]:
    """{"value": the mean over seeds, "low", "high", "least", "most"}.

    The 95% interval is Student's over the seeds (two of them say little: t is 12.7), and never narrower than `rows`,
    the interval from the held-out rows alone, in which a row that several seeds were asked is one row. Of one seed it
    is `rows`: what other seeds would give is not known.
    """
    mean = fmean(values)
    low, high = rows
    if len(values) > 1:
        half = student(0.975, len(values) - 1) * stdev(values) / math.sqrt(len(values))
        low, high = min(low, mean - half), max(high, mean + half)
    return {
        "value": mean, "low": max(within[0], low), "high": min(within[1], high),
        "least": min(values), "most": max(values),
    }  # fmt: skip
