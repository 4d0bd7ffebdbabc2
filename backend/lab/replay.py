"""A run's stored completions scored anew, to see what other rewards, weights or code would have changed."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from backend.errors import NotFound, Refused, StudioError
from backend.lab.replay_figures import GDPO, advantages, compared, ends, examples, side, unchanged
from backend.lab.replay_groups import Row, chosen, columns_of, rows_of
from backend.lab.table import budget, resolve, total, verdicts, weights_of
from backend.rewards import base as built_in
from backend.rewards import effective
from backend.settings import Settings, on_space
from backend.text import Text
from storage.reader import Reader
from storage.records import Run, StoredGroup

BUDGET_S = 60.0
SCALES = ("group", "batch", "none", GDPO)
CHUNK = 16  # groups between two looks at the clock


def replay(
    settings: Settings,
    reader: Reader,
    run_id: str,
    rewards: Sequence[str],
    weights: Sequence[float] | None,
    args: Mapping[str, Mapping[str, Any]] | None,
    *,
    scale: str | None = None,
    steps: Sequence[int] | None = None,
    limit_groups: int = 200,
    versions: Mapping[str, int] | None = None,
    budget_s: float = BUDGET_S,
) -> dict[str, Any]:
    """See LabService.replay. Beside its answer: "of" (all groups there are), "notes", "seconds", and for each side
    {"mean", "means": {reward: mean}, "dead", "shares": {"live", "all_right", "all_wrong", "tied"}, "spread"}; `spread`
    is the mean size of an advantage, `dead` the share of groups without one.

    `scale`: "group", "batch", "none", or "normalize_then_sum" (GDPO); None: as the run had it.

    NotFound for the run, Refused for a wrong scale or weights and where no reward can be called.
    """
    began = time.perf_counter()
    budget_s, chunk = budget(budget_s), 1 if on_space() else CHUNK
    run = reader.run(run_id)
    if run is None:
        raise NotFound(Text(en=f"there is no run {run_id!r}", ko=f"{run_id!r} 실행이 없습니다"))
    old_scale = scale_of(run)
    scale = old_scale if scale is None else scale
    if scale not in SCALES:
        listed = ", ".join(SCALES)
        raise Refused(Text(en=f"scale={scale!r}: one of {listed}", ko=f"scale={scale!r}: {listed} 중 하나"))
    wanted = weights_of(rewards, weights)
    groups, count = chosen(reader, run_id, steps, max(1, limit_groups))
    known = columns_of(settings.run_dir(run_id), groups)
    notes: list[Text] = []
    bound = _as_in_the_run(settings, run, rewards, args or {})
    scorers = _scorers(settings, run, rewards, bound, versions or {}, groups, known, notes)
    scored: list[tuple[StoredGroup, dict[str, list[float | None]]]] = []
    for at in range(0, len(groups), chunk):
        if time.perf_counter() - began > budget_s:
            en, ko = f"stopped after {budget_s:g} s", f"{budget_s:g}초 뒤 중단"
            notes.append(
                Text(en=f"Only {at} of {len(groups)} groups: {en}.", ko=f"그룹 {len(groups)}개 중 {at}개만: {ko}.")
            )
            break
        scored += _scored(groups[at : at + chunk], known, scorers)
    rescored = [
        [total([table[name][at] for name in rewards], wanted) for at in range(len(group.completions))]
        for group, table in scored
    ]
    before = [[each.total for each in group.completions] for group, _ in scored]
    after = unchanged(before, rescored)
    used = [group for group, _ in scored]
    had = [[list(each.rewards) for each in group.completions] for group in used]
    has = [[[t[name][at] for name in rewards] for at in range(len(g.completions))] for g, t in scored]
    weighed = [float(w) for w in run.config.get("reward_weights") or [1.0] * len(run.reward_names)]
    old = advantages(before, used, old_scale, had, weighed)
    new = advantages(after, used, scale, has, wanted)
    return {
        "groups": len(used),
        "completions": sum(len(each) for each in after),
        "of": count,
        "before": side(before, old, {name: _stored(used, name) for name in run.reward_names}, ends(before)),
        "after": side(after, new, {name: [s for _, t in scored for s in t[name]] for name in rewards}, ends(after)),
        **compared(before, after),
        "examples": examples(used, before, after, old, new),
        "notes": [note.to_json() for note in notes],
        "scale": {"before": old_scale, "after": scale},
        "seconds": time.perf_counter() - began,
    }


def scale_of(run: Run) -> str:
    """How the advantages of a run were divided: its scale_rewards, or GDPO, which has a way of its own."""
    if run.config.get("multi_objective_aggregation") == GDPO:
        return GDPO
    return str(run.config.get("scale_rewards") or "group")


def _as_in_the_run(
    settings: Settings, run: Run, rewards: Sequence[str], args: Mapping[str, Mapping[str, Any]]
) -> Mapping[str, Mapping[str, Any]]:
    """The arguments, with `prefilled` where the run's chat template opened the thought: its completions are such."""
    had = effective.of_run(settings.run_dir(run.id), run.config.get("reward_args") or {})
    opened = any(isinstance(own, dict) and own.get("prefilled") for own in had.values())
    return effective.with_open_thought(rewards, args)[0] if opened else args


class _Scorer:
    """One reward: called, or, where only the worker could, read from what the run stored."""

    def __init__(self, name: str, reward: Any) -> None:
        self.name, self.reward = name, reward

    def scores(self, groups: Sequence[StoredGroup], rows: Sequence[Row]) -> list[float | None]:
        if self.reward is None:
            return _stored(groups, self.name)
        return [verdict.score for verdict, _ in verdicts(self.reward, rows)] if rows else []


def _scorers(
    settings: Settings,
    run: Run,
    rewards: Sequence[str],
    args: Mapping[str, Mapping[str, Any]],
    versions: Mapping[str, int],
    groups: Sequence[StoredGroup],
    known: dict[str, Row],
    notes: list[Text],
) -> list[_Scorer]:
    there = {name for group in groups[:1] for row in rows_of(group, known) for name in row} | {"prompts"}
    if groups and len(known) < len({group.prompt_id for group in groups}):
        en = "The run's copy of its data does not have every prompt: only ground_truth is known for the others."
        notes.append(Text(en=en, ko="실행의 데이터 사본에 없는 프롬프트가 있습니다. 그런 행은 ground_truth만 씁니다."))
    made = []
    for name in rewards:
        if name in built_in.names() and getattr(built_in.spec(name), "loaded_by_worker", False):
            if name not in run.reward_names:
                raise Refused(
                    Text(
                        en=f"{name} is loaded by the worker only, and this run has no scores of it",
                        ko=f"{name}은(는) 작업 프로세스에서만 불러올 수 있고, 이 실행에는 그 점수가 없습니다",
                    )
                )
            notes.append(Text(en=f"{name}: the scores of the run.", ko=f"{name}: 실행에 저장된 점수를 씁니다."))
            made.append(_Scorer(name, None))
            continue
        reward = _resolved(settings, run, name, args.get(name) or {}, versions.get(name))
        missing = [column for column in getattr(reward, "columns", ()) if column not in there]
        if missing and groups:
            listed, have = ", ".join(missing), ", ".join(sorted(there - {"completion", "prompts", "completion_ids"}))
            raise Refused(
                Text(
                    en=f"{name} needs the column {listed}, which the rows of this run do not have; they have: {have}",
                    ko=f"{name}에는 {listed} 열이 필요한데 이 실행의 데이터에 없습니다. 있는 열: {have}",
                )
            )
        made.append(_Scorer(name, reward))
    return made


def _resolved(settings: Settings, run: Run, name: str, args: Mapping[str, Any], version: int | None) -> Any:
    """From the home, else (a reward that was deleted since) from the copy that the run keeps."""
    try:
        return resolve(settings.home, name, args, version)
    except NotFound:
        try:
            return resolve(settings.run_dir(run.id), name, args, version)
        except StudioError:
            pass
        raise


def _scored(
    groups: Sequence[StoredGroup], known: dict[str, Row], scorers: Sequence[_Scorer]
) -> list[tuple[StoredGroup, dict[str, list[float | None]]]]:
    rows = [row for group in groups for row in rows_of(group, known)]
    columns = {scorer.name: scorer.scores(groups, rows) for scorer in scorers}
    found, at = [], 0
    for group in groups:
        end = at + len(group.completions)
        found.append((group, {name: scores[at:end] for name, scores in columns.items()}))
        at = end
    return found


def _stored(groups: Sequence[StoredGroup], name: str) -> list[float | None]:
    found: list[float | None] = []
    for group in groups:
        at = group.reward_names.index(name) if name in group.reward_names else None
        found += [None if at is None else each.rewards[at] for each in group.completions]
    return found
