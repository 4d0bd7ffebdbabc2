"""Records as the JSON that page and command line read. No number here is NaN and no string has a lone surrogate."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from backend.processes import reasons
from backend.rewards.reasons import text as in_words
from storage.records import Attempt, Evaluation, EvaluationItem, Event, MetricPoint, Run, RunState, StoredGroup

SURROGATE = re.compile(r"[\ud800-\udfff]")
ACCURACY = "rewards/accuracy/mean"
Spans = Sequence[tuple[float, float | None]]
Latest = Mapping[tuple[str, str], MetricPoint]


def clean(text: str) -> str:
    """Lone surrogates cannot be sent as UTF-8: each becomes U+FFFD."""
    return SURROGATE.sub("\ufffd", text)


def plain(value: Any) -> Any:
    """Any JSON-like value with its strings clean and its non-finite numbers null."""
    if isinstance(value, str):
        return clean(str(value))
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {clean(str(key)): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def kind_of(value: float) -> str | None:
    """'nan', 'inf' or '-inf'; None for a finite number."""
    if math.isfinite(value):
        return None
    return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"


def stages_of(config: Mapping[str, Any]) -> list[str]:
    """The stages a run goes through, in order."""
    chosen = config.get("stages") or ["grpo"]
    stages = ["build"] if config.get("model") == "embedded" else []
    if "sft" in chosen:
        stages.append("sft")
    if "grpo" in chosen:
        stages += ["evaluate_before"] if config.get("evaluate_before", True) else []
        stages.append("grpo")
        stages += ["evaluate_fresh"] if _keeps_a_best(config) else []
        stages += ["evaluate_after"] if config.get("evaluate_after", True) else []
    if "probe" in chosen:
        stages.append("probe")
    if "evaluate" in chosen:
        stages += ["evaluate_base", "evaluate_trained"]
    return stages


def _keeps_a_best(config: Mapping[str, Any]) -> bool:
    every, steps = config.get("evaluate_steps") or 0, config.get("max_steps") or 0
    return bool(every and config.get("keep_best", True) and config.get("eval_size", 1) and not 0 < steps < every)


def kind_of_run(config: Mapping[str, Any]) -> str:
    """ "train", "control" (rewards shuffled), "probe", "evaluate" or "attached" (trained elsewhere)."""
    stages = config.get("stages") or ["grpo"]
    if "probe" in stages or "evaluate" in stages:
        return "probe" if "probe" in stages else "evaluate"
    if config.get("attached"):
        return "attached"
    return "control" if config.get("shuffle_rewards") else "train"


def subject_of(config: Mapping[str, Any]) -> str | None:
    """Id of the run that an evaluation evaluates, or that a control controls; None of any other run."""
    asked = config.get("evaluation") or {}
    return (asked.get("run") if kind_of_run(config) == "evaluate" else config.get("control_of")) or None


def run_view(
    run: Run,
    latest: Latest,
    now: float | None = None,
    spans: Spans | None = None,
    of: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """RunView: a run with what may be done with it. Times are epoch seconds, lengths of time seconds.

    `spans`: when each attempt was running, of a run with several; between them nothing ran.
    `of`: {"id", "name"} of the run that this one evaluates or controls; name None where it was deleted.
    """
    end = run.ended_at or (now if now is not None else time.time())
    if spans is None:
        spans = [] if run.started_at is None else [(run.started_at, run.ended_at)]
    state = run.state
    return plain(
        {
            "id": run.id,
            "name": run.name,
            "kind": kind_of_run(run.config),
            "of": of,
            "state": state.value,
            "reason": run.reason,
            "reason_text": reasons.in_both(run.reason).to_json() if run.reason else None,
            "preset": run.preset,
            "model": run.config.get("model"),
            "dataset": run.config.get("dataset"),
            "stage": run.stage,
            "stage_step": run.stage_step,
            "stage_total": run.stage_total,
            "stages": stages_of(run.config),
            "last_step": run.stage_step if run.stage == "probe" else run.last_step,  # a probe's steps are prompts
            "total_steps": run.total_steps,
            "step_at": run.step_at,
            "eta_s": run.eta_s if not state.ended else None,
            "created_at": run.created_at,
            "started_at": run.started_at,
            "ended_at": run.ended_at,
            "elapsed_s": sum(max(0.0, (end if to is None else to) - since) for since, to in spans) if spans else None,
            "attempt": run.attempt,
            "revision": run.revision,
            "reward_names": list(run.reward_names),
            "last": {"reward": _last(latest, "reward"), "accuracy": _last(latest, ACCURACY)},
            "stop_requested": run.stop_requested,
            "can": {
                "stop": state in (RunState.QUEUED, RunState.STARTING, RunState.RUNNING),
                "stop_now": state in (RunState.STARTING, RunState.RUNNING, RunState.STOPPING),
                "resume": state in (RunState.STOPPED, RunState.FAILED, RunState.LOST),
                "delete": state.ended,
            },
        }
    )


def _last(latest: Latest, name: str) -> float | None:
    point = latest.get(("train", name))
    return None if point is None else point.value


def metric_key(phase: str, name: str) -> str:
    """One flat name: the warm-up's are set apart, since it logs `loss` and `learning_rate` too."""
    return f"sft/{name}" if phase == "sft" else name


def show_view(
    run: Run,
    latest: Latest,
    attempts: Iterable[Attempt],
    evaluations: Iterable[Evaluation],
    events: Iterable[Event],
    spans: Spans | None = None,
    of: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """What `show --json` prints. A metric that is not finite is null; its kind stands in `metrics_not_finite`."""
    values = {metric_key(phase, name): point.value for (phase, name), point in sorted(latest.items())}
    return {
        "run": run.id,
        **run_view(run, latest, spans=spans, of=of),
        "config": plain(run.config),
        "metrics": plain(values),
        "metrics_not_finite": {name: kind for name, value in values.items() if (kind := kind_of(value))},
        "evaluations": [evaluation_summary(evaluation) for evaluation in evaluations],
        "attempts": [attempt_view(attempt) for attempt in attempts],
        "events": [event_view(event) for event in events],
        "log_tail": None if run.log_tail is None else clean(run.log_tail),
    }


def attempt_view(attempt: Attempt) -> dict[str, Any]:
    """`changed` lists the settings that this attempt changed: field -> [old, new]."""
    return {
        "attempt": attempt.attempt,
        "resume_step": attempt.resume_step,
        "phase": attempt.phase,
        "started_at": attempt.started_at,
        "changed": plain(attempt.changed),
    }


def evaluation_summary(evaluation: Evaluation) -> dict[str, Any]:
    """The five measures, and `n`; rates are 0..1, the length is in tokens."""
    return plain(
        {
            "when": evaluation.when,
            "n": evaluation.n,
            "accuracy": evaluation.accuracy,
            "format_rate": evaluation.format_rate,
            "mean_length": evaluation.mean_length,
            "eos_rate": evaluation.eos_rate,
            "mean_reward": evaluation.mean_reward,
        }
    )


def evaluation_view(evaluation: Evaluation) -> dict[str, Any]:
    return evaluation_summary(evaluation) | plain(
        {
            "id": evaluation.id,
            "step": evaluation.step,
            "dataset": evaluation.dataset,
            "seconds": evaluation.seconds,
            "at": evaluation.at,
        }
    )


def evaluation_item_view(item: EvaluationItem) -> dict[str, Any]:
    return plain({name: getattr(item, name) for name in EvaluationItem.__dataclass_fields__})


def event_view(event: Event) -> dict[str, Any]:
    return plain({name: getattr(event, name) for name in Event.__dataclass_fields__})


def point_view(point: MetricPoint) -> list[Any]:
    """[phase, name, step, value], and the kind after a null value."""
    kind = kind_of(point.value)
    if kind is None:
        return [point.phase, clean(point.name), point.step, point.value]
    return [point.phase, clean(point.name), point.step, None, kind]


def series_view(steps: Iterable[Any], values: Iterable[Any]) -> dict[str, Any]:
    """{"x": steps, "y": values, "bad": [[step, kind], ...]}; a value that is not finite is null in `y`."""
    x = [int(step) for step in steps]
    y = [float(value) for value in values]
    bad = [[step, kind] for step, value in zip(x, y, strict=True) if (kind := kind_of(value))]
    return {"x": x, "y": [value if math.isfinite(value) else None for value in y], "bad": bad}


def history_series(series: Mapping[tuple[str, str], tuple[Any, Any]]) -> dict[str, dict[str, Any]]:
    """phase -> name -> series."""
    found: dict[str, dict[str, Any]] = {}
    for (phase, name), (steps, values) in series.items():
        found.setdefault(phase, {})[clean(name)] = series_view(steps, values)
    return found


def group_view(group: StoredGroup) -> dict[str, Any]:
    return plain(
        {
            "id": group.id,
            "step": group.step,
            "phase": group.phase,
            "prompt": group.prompt,
            "prompt_id": group.prompt_id,
            "prompt_format": group.prompt_format,
            "ground_truth": group.ground_truth,
            "reward_names": list(group.reward_names),
            "completions": [
                {
                    "text": completion.text,
                    "tokens": completion.tokens,
                    "truncated": completion.truncated,
                    "rewards": list(completion.rewards),
                    "total": completion.total,
                    "advantage": completion.advantage,
                    "extracted": list(completion.extracted),
                    "reasons": [None if r is None else in_words(r).to_json() for r in completion.reasons],
                }
                for completion in group.completions
            ],
        }
    )


def model_view(entry: Any) -> dict[str, Any]:
    """One line of the catalogue of models (backend.models.Entry)."""
    return {
        "name": entry.name,
        "title": entry.title.to_json(),
        "about": entry.about.to_json(),
        "source": entry.source,
        "ready": entry.ready,
        "facts": asdict(entry.facts) if entry.facts is not None else None,
    }
