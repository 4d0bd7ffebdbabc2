"""What the page and the command line may do with evaluations. Every answer is JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from backend.evaluation import control as controls
from backend.evaluation import reading, request, starting
from backend.evaluation.timeline import timeline

if TYPE_CHECKING:
    from backend.services import Services
    from storage.records import Run


class EvaluationService:
    """Evaluations that are runs of their own (stages [evaluate]), and those that a run makes of itself."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self._reports = reading.Reports()

    def start(
        self,
        run_words: str | None,
        *,
        data: str | None = None,
        dataset_args: Mapping[str, Any] | None = None,
        n: int = 200,
        k: int = 0,
        checkpoint: str = "final",
        seed: int = 0,
        temperature: float = 1.0,
        top_p: float = 1.0,
        base: str | None = None,
        trained: str | None = None,
        batch_size: int | None = None,
        values: Mapping[str, Any] | None = None,
        preset: str | None = None,
        name: str | None = None,
    ) -> Run:
        """Queue an evaluation of a run (`run_words`: as in Services.find), or without one of the models `base` and
        `trained`.

        `data`: None or "held-out" for the run's own rows; else a stored or generated set, a file, a hub name, or a task
        of reasoning-gym, whose rows are made and stored. `values`: settings in place of the evaluated run's, `preset`:
        what they stand on where there is no run. Refused, in words, with `.field` (the argument that is wrong) and
        `.suggest`.
        """
        asked = request.Request("", checkpoint, base or "", trained or "", request.HELD_OUT, n, k, temperature, top_p,
                                seed, batch_size)  # fmt: skip
        return starting.start(self.services, run_words, asked, data, dataset_args, values, preset, name)

    def checkpoints(self, run_id: str) -> list[dict[str, Any]]:
        """[{"name", "step"}] of the trained weights of a run that can be evaluated now: final, best, the newest."""
        run = self.services.get(run_id)
        found = request.available(self.services.settings.run_dir(run.id))
        return [{"name": name, "step": step} for name, step in found]

    def of(self, run_id: str) -> list[dict[str, Any]]:
        """The run's own evaluation before and after first, where there is one, then its evaluation runs, newest first.

        [{"id", "kind": "own" | "run", "state", "checkpoint", "data", "n", "k", "at", "evaluation": {"checkpoint",
        "data", "dataset", "n", "k", "seed", "temperature"}}]; those of kind "run" are RunViews besides. Of an
        evaluation run: the same of the run that it evaluates, itself alone where there is none.
        """
        return reading.listed(self.services, self.services.get(run_id))

    def report(self, run_id: str) -> dict[str, Any]:
        """The report of an evaluation run, or of a training run's own before and after, also while it runs.

        backend.evaluation.table.table's answer, with "name", "dataset", "seed" and "temperature". WrongState, in words,
        where nothing has been evaluated.
        """
        return self._reports.of(self.services, self.services.get(run_id))

    def items(self, run_id: str, which: str = "all", offset: int = 0, limit: int = 20) -> dict[str, Any]:
        """{"total", "counts", "items": [{"position", "prompt", "prompt_format", "ground_truth", "columns", "base",
        "trained"}]} of the rows that both sides answered. `which`: all, won, lost, both_right, both_wrong."""
        return reading.items(self.services, self.services.get(run_id), which, offset, limit)

    def control(self, run_id: str) -> Run:
        """Start the same run with its rewards shuffled inside each group: what it gains, rewards did not teach."""
        return controls.start(self.services, self.services.get(run_id))

    def controls(self, run_id: str) -> list[dict[str, Any]]:
        """RunViews of a run's controls, the newest first."""
        return controls.of(self.services, self.services.get(run_id))

    def control_report(self, run_id: str) -> dict[str, Any]:
        """The held-out gain of a run and of its newest control, row by row on the same rows; see control.report."""
        return controls.report(self.services, self.services.get(run_id))

    def timeline(self, run_id: str) -> dict[str, Any]:
        """Accuracy on held-out rows before, during and after training, the best, and both once more on fresh rows."""
        return timeline(self.services.reader, self.services.get(run_id))
