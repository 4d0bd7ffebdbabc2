"""The best weights of a run: kept by their accuracy on held-out rows, apart from the last ones.

A maximum over many noisy looks is biased upwards: the step that was lucky on these rows wins. So the best and the last
weights are scored once more on rows that chose neither (rule T1), and only that is said to hold.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from backend.evaluation.best_words import best_words
from backend.evaluation.paired import paired
from backend.headline import wilson
from backend.workers import checkpoints
from storage.records import Evaluation, EvaluationItem

FOLDER, EARLIER, PART, GONE = "best", "best.before", "best.part", "best.gone"


class Best:
    """run_dir/best, and beside it an earlier best for as long as a resume may need it.

    A resume goes back to a checkpoint; a best beyond it belongs to steps that no longer are. The one before it is
    therefore kept until a checkpoint lies beyond the newer one.
    """

    def __init__(self, run_dir: Path) -> None:
        self.run_dir = run_dir
        self.folder = run_dir / FOLDER

    def kept(self) -> dict[str, Any] | None:
        """The manifest (step, accuracy, low, high, n, rows) of whole best weights; None where there are none."""
        return _whole(self.folder)

    def recover(self, resume_step: int, rows: int) -> list[str]:
        """Before an attempt that goes on after `resume_step`: drop what is cut off, of a dead step, or was chosen on
        other than `rows` rows, whose accuracy compares with nothing. What happened, in words."""
        said = []
        _remove(self.run_dir / PART)
        _remove(self.run_dir / GONE)
        found = self._fit(self.folder, resume_step, rows)
        if found is not None:
            said.append(f"the best weights were dropped: {found}")
            _remove(self.folder)
        earlier = self.run_dir / EARLIER
        if not self.folder.exists() and earlier.exists() and self._fit(earlier, resume_step, rows) is None:
            earlier.rename(self.folder)
            said.append(f"those of step {_step(self.folder)} are the best again")
        if earlier.exists() and self._fit(earlier, resume_step, rows) is not None:
            _remove(earlier)
        return said

    def _fit(self, folder: Path, resume_step: int, rows: int) -> str | None:
        """Why the weights in `folder` cannot be the best so far; None where they can, or where there are none."""
        if not folder.exists():
            return None
        manifest = _whole(folder)
        if manifest is None:
            return "they are not whole"
        if manifest["step"] > resume_step:
            return f"they are of step {manifest['step']}, and the run goes on after step {resume_step}"
        if manifest["rows"] != rows:
            return f"they were chosen on {manifest['rows']} rows, and it is {rows} now"
        return None

    def offer(self, evaluation: Evaluation, rows: int, run: str, save: Callable[[Path], None]) -> bool:
        """Keep the weights of this evaluation if no earlier one was as accurate. `save(folder)` writes them.

        Under a temporary name until whole, so that what is called best always is.
        """
        if not math.isfinite(evaluation.accuracy):
            return False
        kept = self.kept()
        if kept is not None and evaluation.accuracy <= kept["accuracy"]:
            return False
        part = self.run_dir / PART
        _remove(part)
        save(part)
        low, high = wilson(evaluation.accuracy, evaluation.n)
        checkpoints.write_manifest(
            part,
            step=evaluation.step,
            run=run,
            accuracy=evaluation.accuracy,
            low=low,
            high=high,
            n=evaluation.n,
            rows=rows,
        )
        self._make_room()
        part.rename(self.folder)
        _remove(self.run_dir / GONE)
        return True

    def _make_room(self) -> None:
        if not self.folder.exists():
            return
        saved = checkpoints.last_complete(self.run_dir, hashes=False)
        earlier = self.run_dir / EARLIER
        if saved is not None and _step(self.folder) <= saved[1]:
            _remove(earlier)
            self.folder.rename(earlier)
        else:
            _remove(self.run_dir / GONE)
            self.folder.rename(self.run_dir / GONE)

    def settle(self) -> None:
        """Training has ended and nothing goes back any more: the earlier best is not needed."""
        _remove(self.run_dir / EARLIER)


def _whole(folder: Path) -> dict[str, Any] | None:
    manifest = checkpoints.read_manifest(folder)
    needed = {"step", "accuracy", "low", "high", "n", "rows"}
    if manifest is None or not needed <= manifest.keys() or checkpoints.problem(folder, hashes=False) is not None:
        return None
    return manifest


def _step(folder: Path) -> int:
    return int((checkpoints.read_manifest(folder) or {}).get("step", 0))


def _remove(folder: Path) -> None:
    if folder.exists():
        checkpoints.forget_manifest(folder)
        shutil.rmtree(folder)


def conclusion(
    best: dict[str, Any],
    last_step: int,
    fresh: tuple[Sequence[EvaluationItem], Sequence[EvaluationItem]] | None,
) -> dict[str, Any]:
    """The result "best": does the peak hold? `best` is its manifest, `fresh` the answers of (best, last) to the fresh
    rows, None where there are none.

    best_better / last_better only where the paired 95% interval of best minus last excludes 0.
    """
    facts = {name: best[name] for name in ("step", "accuracy", "low", "high", "n")} | {"last_step": last_step}
    if best["step"] == last_step:
        return facts | {
            "fresh": None,
            "verdict": "same_step",
            "words": best_words(best, last_step, None, "same_step").to_json(),
        }
    pair = paired([i.correct for i in fresh[1]], [i.correct for i in fresh[0]]) if fresh else None
    if pair is None:
        words = best_words(best, last_step, None, "no_fresh_rows")
        return facts | {"fresh": None, "verdict": "no_fresh_rows", "words": words.to_json()}
    shown = {
        "n": pair.n,
        "best": (pair.both_right + pair.won) / pair.n,
        "last": (pair.both_right + pair.lost) / pair.n,
        "difference": pair.difference,
        "low": pair.low,
        "high": pair.high,
    }
    verdict = "best_better" if pair.low > 0 else "last_better" if pair.high < 0 else "no_difference"
    return facts | {"fresh": shown, "verdict": verdict, "words": best_words(best, last_step, shown, verdict).to_json()}
