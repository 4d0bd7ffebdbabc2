"""What SampleService says beyond single samples: prompts over the run, the signal budget, plots, files."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from backend import export, views
from backend.errors import NotFound, Refused
from backend.rewards.task import FORM_ONLY, full_score
from backend.samples import biography, budget, exports, filters, plots
from backend.text import Text
from storage.explore import Explorer, SampleColumns, StepBudget
from storage.liveness import MAIN, bounds
from storage.records import Run

if TYPE_CHECKING:
    from backend.services import Services

SORTS = ("forgotten", "first", "times", "solve_first", "solve_last")
OWN = ("tokens", "correct")  # that reward is drawn against, beside the rewards
REWARD = "reward:"  # before the name of a reward that is one of those
COLUMNS = 100_000  # completions that the plots look at


class Analysis:
    """A part of SampleService. Thread-safe."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._explorer = Explorer(services.db)

    # --- prompts ---

    def prompts(
        self, run_id: str, sort: str = "forgotten", down: bool = False, cursor: str | None = None, limit: int = 50
    ) -> dict[str, Any]:
        """{"prompts": [PromptSummary as JSON], "cursor", "of"}; Refused for an unknown order or a cursor of no page."""
        self._services.get(run_id)
        if sort not in SORTS:
            raise filters.WrongFilter("sort", sort, f"must be one of {', '.join(SORTS)}",
                                      f"{', '.join(SORTS)} 중 하나여야 합니다")  # fmt: skip
        try:
            page = self._explorer.prompts(run_id, cursor, limit, sort, down)  # type: ignore[arg-type]
        except ValueError as error:
            raise filters.WrongFilter(
                "cursor", f"{cursor:.80}", "is no place in this list", "이 목록의 위치가 아닙니다"
            ) from error
        found = [biography.prompt_view(one) for one in page.prompts]
        return views.plain({"prompts": found, "cursor": page.cursor, "of": page.of})

    def prompt(self, run_id: str, prompt_id: str) -> dict[str, Any]:
        """One prompt over the whole run: biography.biography_view. NotFound for one that it never asked."""
        self._services.get(run_id)
        found = self._explorer.biography(run_id, prompt_id)
        if not found.groups:
            raise NotFound(
                Text(en=f"This run never asked the prompt {prompt_id!r}.",
                     ko=f"이 실행에는 {prompt_id!r} 프롬프트가 없습니다.")
            )  # fmt: skip
        return views.plain(biography.biography_view(prompt_id, found))

    # --- where the tokens went ---

    def budget(self, run_id: str) -> dict[str, Any]:
        """budget.budget of the run's training."""
        run = self._services.get(run_id)
        seconds = {
            step: values["time/generate"]
            for step, values in self._services.reader.table(run_id, "train")
            if "time/generate" in values
        }
        rows = [_step(row, seconds.get(row.step)) for row in self._explorer.budget(run_id)]
        ends = bounds(self._services.reader.attempts(run_id)).values()
        resumed = tuple(sorted({step for place, step in ends if place == MAIN}))
        use = replace(use_of(run, max(seconds, default=0)), resumed=resumed)
        return budget.budget(rows, use) | {"ended": run.state.ended}

    def budget_csv(self, run_id: str) -> str:
        """A row a step (or span of steps): tokens of each part, then seconds of each."""
        found = self.budget(run_id)
        steps, parts = found["steps"], found["parts"]
        timed = steps["seconds"] is not None
        names = [f"tokens_{part}" for part in parts] + ([f"seconds_{part}" for part in parts] if timed else [])
        made = [export.csv_row(["step", "last_step", *names])]
        for i, step in enumerate(steps["step"]):
            row = [steps["tokens"][part][i] for part in parts]
            row += [round(steps["seconds"][part][i], 4) for part in parts] if timed else []
            made.append(export.csv_row([str(cell) for cell in (step, steps["last"][i], *row)]))
        return "".join(made)

    # --- plots ---

    def histogram(self, run_id: str) -> dict[str, Any]:
        """plots.histogram of the advantages of training, {"spans": []} without any; "more": only a part was read."""
        self._services.get(run_id)
        found = self._explorer.columns(run_id, limit=COLUMNS)
        if not len(found.step):
            return {"spans": [], "text": None, "more": False}
        return plots.histogram(found.step, found.advantage, live_rows(found)) | {"more": found.more}

    def scatter(self, run_id: str, x: str = "tokens", step_from: int | None = None, step_to: int | None = None) -> Any:
        """Total reward against `x`: "tokens", "correct", or the name of a reward ("reward:tokens" of that name).

        {"x", "name", "choices": [{"x", "name", "meaning"}], "points": {"x", "y", "step", "group", "index",
        "truncated"}, "n", "more", "within": {"r", "low", "high", "n", "groups"} | None, "text"}. Points are a part of
        them where there are many; the correlation is of all that were read, within live groups.
        """
        run = self._services.get(run_id)
        found = self._explorer.columns(run_id, step_from, step_to, COLUMNS)
        offered = choices(run, found)
        chosen = next((one for one in offered if one["x"] == x), None)
        if chosen is None:
            names = ", ".join(one["x"] for one in offered)
            raise filters.WrongFilter("x", x, f"must be one of {names}", f"{names} 중 하나여야 합니다")
        values = axis(found, x)
        keep = np.isfinite(values) & np.isfinite(found.total)
        live = keep & live_rows(found)
        within = plots.within_groups(values[live], found.total[live], found.group[live])
        judged = np.where(found.correct < 0, np.nan, found.correct.astype(float))
        known = bool((found.correct >= 0).any())
        right = plots.within_groups(values[keep], judged[keep], found.group[keep]) if known else None
        drawn = np.flatnonzero(keep)[plots.sampled(found.group[keep])]
        points = {
            "x": values[drawn], "y": found.total[drawn], "step": found.step[drawn], "group": found.group[drawn],
            "index": found.index[drawn], "truncated": found.truncated[drawn],
        }  # fmt: skip
        told = None if within is None else {name: getattr(within, name) for name in plots.Within.__dataclass_fields__}
        return {
            "x": x,
            "name": chosen["name"],
            "meaning": chosen["meaning"],
            "choices": offered,
            "points": {name: column.tolist() for name, column in points.items()},
            "n": int(keep.sum()),
            "more": found.more,
            "within": told,
            "text": plots.judged(chosen["name"], within, chosen["meaning"], known, right).to_json(),
        }

    # --- files ---

    def ways(self, run_id: str) -> dict[str, Any]:
        """{"ways": exports.ways}: what can be exported of a run, and why not."""
        return {"ways": exports.ways(self._services.get(run_id), self._services.reader, self._explorer)}

    def made(
        self, run_id: str, what: str, form: str = "jsonl", where: Mapping[str, str | None] | None = None,
        every: bool = False,
    ) -> exports.Made:  # fmt: skip
        """A file of what the filter `where` finds, a piece at a time. Refused, in words, where there is none."""
        run = self._services.get(run_id)
        chosen = filters.parse(where or {}, run.reward_names)
        return exports.make(run, self._services.reader, self._explorer, what, form, chosen, every)

    def write(
        self, run_id: str, what: str, out: Path, where: Mapping[str, str | None] | None = None, every: bool = False
    ) -> tuple[Path, exports.Made]:
        """The same as a file at `out`, all or nothing; CSV where its name ends so."""
        if not str(out) or str(out) == ".":
            raise Refused(Text(en="out='': name the file to write", ko="out='': 쓸 파일을 지정하세요"))
        form = "csv" if out.suffix.lower() == ".csv" else "jsonl"
        made = self.made(run_id, what, form, where, every)
        return export.write_parts(out, made.pieces), made


def _step(row: StepBudget, seconds: float | None) -> budget.StepTokens:
    return budget.StepTokens(
        row.step,
        row.by_kind,
        row.truncated_by_kind,
        row.completions,
        row.truncated,
        row.truncated_tokens,
        row.redone,
        row.redone_completions,
        seconds,
    )


def use_of(run: Run, logged: int = 0) -> budget.Use:
    """What the run's settings say of the use of its samples; a run of another version or of plain TRL says less.

    `logged`: the last step that has logged anything, which is done too.
    """
    from pydantic import ValidationError

    from backend.config.batch import batch_plan
    from backend.config.schema import RunConfig

    mask, beta = run.config.get("mask_truncated_completions") is True, run.config.get("beta")
    beta = float(beta) if isinstance(beta, int | float) and math.isfinite(beta) else 0.0
    last = max(run.last_step, logged) or None if run.state.ended else None
    try:
        config = RunConfig(**run.config)
    except (ValidationError, TypeError):
        return budget.Use(mask, None, None, last, beta)
    return budget.Use(mask, batch_plan(config).steps_per_generation, config.gradient_accumulation_steps, last, beta)


def live_rows(found: SampleColumns) -> np.ndarray:
    """Whether each completion's group has two different totals."""
    _, place = np.unique(found.group, return_inverse=True)
    total = np.where(np.isfinite(found.total), found.total, np.nan)
    low, high = np.full(place.max(initial=-1) + 1, np.inf), np.full(place.max(initial=-1) + 1, -np.inf)
    np.fmin.at(low, place, total)
    np.fmax.at(high, place, total)
    scale = np.maximum(1.0, np.maximum(np.abs(low), np.abs(high)))
    with np.errstate(invalid="ignore"):  # a group without a finite total: no number, and not live
        return (high / scale - low / scale > 1e-6)[place]  # a difference may be beyond floats


def choices(run: Run, found: SampleColumns) -> list[dict[str, str]]:
    """What reward can be drawn against: length, correctness where it is known, each reward by name."""
    offered = [{"x": "tokens", "name": "tokens", "meaning": "length"}]
    if (found.correct >= 0).any():
        offered.append({"x": "correct", "name": "correct", "meaning": "correct"})
    decides = full_score(run.reward_names)
    for k, name in enumerate(run.reward_names):
        if name in found.rewards:
            meaning = "correct" if k == decides else "format" if name in FORM_ONLY else "reward"
            # A reward may be called as something else is: TRL takes any function's name.
            taken = name in OWN or name.startswith(REWARD)
            offered.append({"x": REWARD + name if taken else name, "name": name, "meaning": meaning})
    return offered


def axis(found: SampleColumns, x: str) -> np.ndarray:
    if x == "tokens":
        return found.tokens.astype(float)
    if x == "correct":
        return np.where(found.correct < 0, np.nan, found.correct.astype(float))
    return found.rewards[x.removeprefix(REWARD)]
