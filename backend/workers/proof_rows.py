"""The rows of an evaluation: taken once and kept in its folder, the same for both sides and for every attempt."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from backend import data
from backend.data import split
from backend.evaluation.request import BEST, HELD_OUT, Request
from backend.workers import rows as run_rows
from backend.workers import schedule
from backend.workers.job import Job
from storage.reader import Reader

OWN_TEST_SIDE = frozenset({"arithmetic", "article-math"})  # sets that make rows for testing themselves


def take(job: Job, request: Request) -> list[run_rows.Row]:
    """The rows that both sides answer, before those that are too long are left out. Read again by a resume."""

    def load() -> tuple[Sequence[run_rows.Row], Sequence[run_rows.Row]]:
        job.enter("data")
        own = job.settings.run_dir(request.run) / "data" if request.run else None
        if request.data == HELD_OUT and own is not None:
            rows = run_rows.kept(own)[1]
            best = request.checkpoint == BEST and not request.trained
            return [], (_fresh_first(job, request, rows) if best else rows)[: request.n]
        return [], _of_set(job, request, own)

    return run_rows.snapshot(job.run_dir / "data", load)[1]


def _fresh_first(job: Job, request: Request, held_out: Sequence[run_rows.Row]) -> list[run_rows.Row]:
    """Those that did not choose the best weights before those that did: a peak is partly luck on the rows that chose
    it. Tells where both are needed."""
    run = Reader(job.db).run(request.run)
    choosing, fresh = schedule.split(held_out, run.config.get("evaluate_rows") if run else None)
    used = min(request.n, len(held_out)) - len(fresh)
    if used > 0:
        job.writer.event(
            "chosen_rows",
            f"{used} of the rows are among those that chose the best weights, on which they look better than they are",
            "warn",
            {"rows": used},
        )
    return [*fresh, *choosing]


def _of_set(job: Job, request: Request, own: Path | None) -> list[run_rows.Row]:
    """At most n rows of the configuration's data set, without those that ask what the run was trained on."""
    config = job.config
    tests = config.dataset in OWN_TEST_SIDE
    found = data.load(config.model_copy(update={"eval_size": request.n if tests else 0}), job.settings.home)
    given = found.eval if tests else found.train
    files = [own / name for name in ("train.jsonl", run_rows.WARMUP)] if own is not None else []
    trained = [row for path in files if path.is_file() for row in run_rows.read(path)]
    left = split.without(given, trained)
    if len(left) < len(given):
        job.writer.event(
            "data",
            f"{len(given) - len(left)} of {len(given)} rows of {found.name} were left out: the run trained on them",
            "warn",
            {"dataset": found.name, "trained_on": len(given) - len(left)},
        )
    rows = chosen(left, request.n, request.seed)
    state = f", state {found.sha256[:12]} (SHA-256)" if found.sha256 else ""
    job.writer.event("data", f"{found.name}: {len(rows)} of {len(left)} rows{state}", data={"dataset": found.name})
    return rows


def chosen(rows: Sequence[Any], count: int, seed: int) -> list[Any]:
    """`count` rows drawn by `seed`, in their own order; all where there are not as many."""
    if len(rows) <= count:
        return list(rows)
    places = random.Random(f"evaluation {seed}").sample(range(len(rows)), count)
    return [rows[i] for i in sorted(places)]


def fitting(
    job: Job, rows: Sequence[run_rows.Row], tokenizers: Sequence[Any], contexts: Sequence[int | None]
) -> tuple[list[run_rows.Row], int]:
    """(rows that both sides can answer, how many were left out since their prompts are too long for one of them)."""
    config = job.config
    kwargs = dict(config.chat_template_kwargs or {})
    rooms = [context - config.max_completion_length for context in contexts if context]
    rooms += [config.max_prompt_tokens] if config.max_prompt_tokens else []
    if not rooms:
        return list(rows), 0
    limit = min(rooms)
    longest = [0] * len(rows)
    for tokenizer in tokenizers:
        counts = run_rows.token_counts(rows, tokenizer, kwargs)
        longest = [max(pair) for pair in zip(longest, counts, strict=True)]
    kept, out = run_rows.drop_long(list(rows), longest, limit)
    if out:
        job.writer.event(
            "rows_dropped",
            f"{out} of {len(rows)} evaluation rows were left out: their prompts have more than {limit} tokens",
            "warn",
            {"dropped": out, "rows": len(rows), "limit": limit},
        )
    return kept, out
