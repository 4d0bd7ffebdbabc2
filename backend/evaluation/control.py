"""A control: the same run with its rewards shuffled inside each group. What it gains on held-out rows, the rewards did
not teach (spurious rewards: the second reference document)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backend.errors import Refused
from backend.evaluation import reading
from backend.evaluation.paired import paired
from backend.evaluation.stats import bootstrap
from backend.text import Text
from storage.records import EvaluationItem, Run

if TYPE_CHECKING:
    from backend.services import Services


def start(services: Services, run: Run) -> Run:
    """Queue the control of a training run. Refused for a run that cannot have one."""
    config = dict(run.config)
    if "grpo" not in (config.get("stages") or ["grpo"]) or config.get("shuffle_rewards"):
        raise Refused(
            Text(
                en=f"run {run.id} can have no control: it trains nothing with GRPO, or is a control itself",
                ko=f"실행 {run.id}에는 대조 실행을 만들 수 없습니다. GRPO로 학습하지 않았거나 이미 대조 실행입니다",
            )
        )
    config |= {"shuffle_rewards": True, "control_of": run.id, "attached": "", "name": _name(services, run)}
    # What was passed over when the run itself was started is no news.
    return services.start(config, accept=["all"])


def _name(services: Services, run: Run) -> str:
    taken = {each.name for each in services.reader.runs()}
    stem, number = f"control of {run.name}", 1
    while (stem if number == 1 else f"{stem} {number}") in taken:
        number += 1
    return stem if number == 1 else f"{stem} {number}"


def _controls(services: Services, run: Run) -> list[Run]:
    return [one for one in services.reader.runs() if one.config.get("control_of") == run.id]


def of(services: Services, run: Run) -> list[dict[str, Any]]:
    return [services.view(one.id) for one in _controls(services, run)]


def report(services: Services, run: Run) -> dict[str, Any]:
    """{"run", "name", "control", "state", "n", "run_gain", "control_gain", "difference", "sentence", "estimate_s"}.

    Each gain is {"difference", "low", "high"}: held-out accuracy after minus before, over the rows that all four
    answers could be judged on; "difference": the run's gain minus the control's, row by row, with a paired bootstrap
    over rows. None as long as the newest control has not evaluated itself. "estimate_s": seconds that the run
    itself took. For a control: the report of the run that it controls.
    """
    original = str(run.config.get("control_of") or "")
    if original:
        run = services.get(original)
    found: dict[str, Any] = {
        "run": run.id, "name": run.name or run.id, "control": None, "state": None, "n": 0,
        "run_gain": None, "control_gain": None, "difference": None, "sentence": None,
        "estimate_s": services.view(run.id)["elapsed_s"],
    }  # fmt: skip
    controls = _controls(services, run)
    if not controls:
        return found
    # The newest that has come to its end; else the newest.
    control = next((one for one in controls if all(reading.sides(services, one))), controls[0])
    found |= {"control": control.id, "state": control.state.value}
    rows = _rows(reading.answers(services, run), reading.answers(services, control))
    return found | compare(rows, run.name or run.id, control.name or control.id) if rows else found


Four = tuple[bool, bool, bool, bool]


def _rows(mine: tuple[list[EvaluationItem], ...], theirs: tuple[list[EvaluationItem], ...]) -> list[Four]:
    """(before, after, control's before, control's after) of the rows that both runs were judged on, told by prompt and
    ground truth."""
    by = {_key(b): (b, a) for b, a in zip(*theirs, strict=False)}
    found: list[Four] = []
    for before, after in zip(*mine, strict=False):
        other = by.get(_key(before))
        four = (before.correct, after.correct, *(each.correct for each in other)) if other else ()
        if len(four) == 4 and None not in four:
            found.append(four)  # type: ignore[arg-type]
    return found


def _key(item: EvaluationItem) -> tuple[str, str | None]:
    return item.prompt, item.ground_truth


def compare(rows: list[Four], run: str, control: str) -> dict[str, Any]:
    """The gains over these rows, and the sentence, in which both runs stand by their names: on the control's own page
    "this run" would be the wrong one."""
    gains = [_gain([(r[0], r[1]) for r in rows]), _gain([(r[2], r[3]) for r in rows])]
    apart = [(int(a) - int(b)) - (int(d) - int(c)) for b, a, c, d in rows]
    value, interval = sum(apart) / len(apart), bootstrap([float(x) for x in apart])
    low, high = interval or (None, None)
    difference = {"difference": value, "low": low, "high": high}
    return {
        "n": len(rows), "run_gain": gains[0], "control_gain": gains[1], "difference": difference,
        "sentence": sentence(gains[0], gains[1], difference, len(rows), run, control).to_json(),
    }  # fmt: skip


def _gain(pairs: list[tuple[bool, bool]]) -> dict[str, Any]:
    found = paired([b for b, _ in pairs], [a for _, a in pairs])
    assert found is not None
    return {"difference": found.difference, "low": found.low, "high": found.high}


def sentence(
    run: dict[str, Any], control: dict[str, Any], difference: dict[str, Any], n: int, name: str, other: str
) -> Text:
    """What the control says about the run."""
    from backend.evaluation.words import points

    mine, theirs = points(run["difference"]), points(control["difference"])
    en = f"Change on {n:,} held-out problems: {name} {mine} points, its control ({other}, rewards shuffled) {theirs}."
    ko = f"평가 문제 {n:,}개에서의 변화: {name} {mine}%p, 대조 실행({other}, 보상 섞음) {theirs}%p."
    low, high = difference["low"], difference["high"]
    if low is None:
        return Text(en=en, ko=ko)
    span = f"{points(low)} to {points(high)}"
    span_ko = f"{points(low)} ~ {points(high)}"
    if low > 0:
        return Text(
            en=f"{en} The rewards taught {points(difference['difference'])} points (95% interval {span}).",
            ko=f"{ko} 보상이 가르친 몫은 {points(difference['difference'])}%p입니다(95% 구간 {span_ko}).",
        )
    if high < 0:
        return Text(
            en=f"{en} The control gained more (95% interval {span}): the rewards did harm.",
            ko=f"{ko} 대조 실행이 더 올랐습니다(95% 구간 {span_ko}). 보상이 오히려 해가 됐습니다.",
        )
    return Text(
        en=f"{en} The difference may be none (95% interval {span}): the gain need not come from the rewards.",
        ko=f"{ko} 차이가 없을 수 있어(95% 구간 {span_ko}) 보상 덕분이라고 할 수 없습니다.",
    )
