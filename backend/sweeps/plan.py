"""What a sweep would do, before anything starts: every point through the check that a run goes through."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backend import config, device, runs
from backend.alerting import FIELD as ADDRESS
from backend.config.report import Check
from backend.duration import MEASURED_BASIS
from backend.errors import Refused, StudioError
from backend.measured import SHAPE, step_seconds
from backend.processes import devices
from backend.sweeps import grid
from backend.sweeps.grid import METHOD, Asked
from backend.sweeps.state import until_all_end
from backend.text import Text
from backend.views import kind_of_run
from storage.records import Run

if TYPE_CHECKING:
    from backend.services import Services

# Of a run's settings, those that belong to that run alone.
OWN = ("name", "control_of", "evaluation", "reward_versions", "attached", ADDRESS)


@dataclass(frozen=True, slots=True)
class Planned:
    """One point with what the check says of it. `check` is None where its settings could not even be put together."""

    values: dict[str, Any]
    check: Check | None
    fault: StudioError | None = None

    @property
    def ok(self) -> bool:
        return self.check is not None and self.check.ok

    def errors(self) -> list[dict[str, Any]]:
        """[{"field", "value", "rule", "suggest"}] in both languages."""
        if self.fault is not None:
            return [
                {"field": METHOD, "value": self.values.get(METHOD), "rule": self.fault.text.to_json(), "suggest": []}
            ]
        return [problem.to_json() for problem in self.check.errors] if self.check else []


@dataclass(frozen=True, slots=True)
class Plan:
    """`base`: the settings that every point has, without the address of alerts; `devices`: how many runs go on at
    once."""

    asked: Asked
    base: dict[str, Any]
    points: list[Planned]
    devices: int

    @property
    def good(self) -> list[Planned]:
        return [point for point in self.points if point.ok]

    @property
    def bad(self) -> list[Planned]:
        return [point for point in self.points if not point.ok]

    def each(self) -> list[float]:
        """Seconds of each point that is in order; none where it is not known of one."""
        found = [point.check.plan.seconds if point.check and point.check.plan else None for point in self.good]
        known = [seconds for seconds in found if seconds is not None]
        return known if len(known) == len(found) else []

    def seconds(self) -> float | None:
        """Until the last point that is in order has ended, on the devices there are; None where it is not known."""
        each = self.each()
        return until_all_end([], each, self.devices) if each else None

    def to_json(self) -> dict[str, Any]:
        """{"runs", "of", "settings", "seeds", "seconds", "basis", "devices", "refused": [{"values", "label",
        "errors"}], "rules": the same grouped by rule, "warnings": [{"field", "kind", "text", "points"}]}."""
        return {
            "runs": len(self.good),
            "of": len(self.points),
            "settings": len({json.dumps(grid.setting_of(p.values), sort_keys=True, default=str) for p in self.good}),
            "seeds": len(self.asked.seeds),
            "seconds": self.seconds(),
            "basis": self._basis(),
            "devices": self.devices,
            "refused": [
                {"values": point.values, "label": grid.label(point.values), "errors": point.errors()}
                for point in self.bad
            ],
            "rules": self._rules(),
            "warnings": self._warnings(),
        }

    def _basis(self) -> dict[str, str] | None:
        found = [point.check.plan.seconds_basis for point in self.good if point.check and point.check.plan]
        rough = [text for text in found if text is not None and text != MEASURED_BASIS]
        return (rough or [MEASURED_BASIS])[0].to_json() if any(found) else None

    def _rules(self) -> list[dict[str, Any]]:
        """Each broken rule once, with the points that break it."""
        found: dict[str, dict[str, Any]] = {}
        for point in self.bad:
            for error in point.errors():
                key = json.dumps([error["field"], error["value"], error["rule"]], sort_keys=True, default=str)
                found.setdefault(key, {**error, "points": []})["points"].append(grid.label(point.values))
        return list(found.values())

    def _warnings(self) -> list[dict[str, Any]]:
        """What warns, and where a swept field does nothing: all its values would make the same run."""
        found: dict[str, dict[str, Any]] = {}
        for point in self.good:
            assert point.check is not None
            for note in point.check.notes:
                if note.kind == "warn" or (note.kind == "inert" and note.field in self.asked.axes):
                    one = found.setdefault(note.text.en, {**note.to_json(), "points": 0})
                    one["points"] += 1
        for one in found.values():
            if one["kind"] == "inert":  # the note says nothing of a value that is the default: it does as little
                one["points"] += sum(_is_default(point, one["field"]) for point in self.good)
        same = len(self.good) - len({_identity(point) for point in self.good})
        if same:
            text = Text(
                en=f"{same} of the points repeat the settings of another one: the same run twice.",
                ko=f"조합 {same}개는 다른 조합과 설정이 완전히 같습니다. 같은 실행을 두 번 하게 됩니다.",
            )
            found[text.en] = {"kind": "warn", "field": None, "text": text.to_json(), "code": "same", "points": same}
        return list(found.values())


def _is_default(point: Planned, name: str) -> bool:
    assert point.check is not None
    return getattr(point.check.config, name, None) == config.defaults().get(name)


def _identity(point: Planned) -> str:
    assert point.check is not None
    assert point.check.config is not None
    settings = {name: value for name, value in point.check.config.to_dict().items() if name != "name"}
    return json.dumps(settings, sort_keys=True, default=str)


def make(services: Services, asked: Asked) -> Plan:
    """Refused for a base that there is not, or that trains nothing; NotFound for an unknown run or preset."""
    base = config.merge(_base(services, asked), None, asked.values)
    base.pop(ADDRESS, None)
    told = {ADDRESS: asked.address} if asked.address else {}
    known: dict[tuple[str, ...], float | None] = {}

    def measured(values: Mapping[str, Any]) -> float | None:
        shape = tuple(str(values.get(name)) for name in SHAPE)
        if shape not in known:
            known[shape] = step_seconds(services.reader, values)
        return known[shape]

    here, home = devices.facts(services.settings, every=True), services.settings.home
    found: list[Planned] = []
    for values in grid.points(asked):
        try:
            whole = config.merge(base, None, values) | told
        except StudioError as error:  # a method that there is not
            found.append(Planned(values, None, error))
            continue
        found.append(Planned(values, config.check(whole, home=home, device=here, step_seconds=measured(whole))))
    return Plan(asked, base, found, len(device.claimable()))


def _base(services: Services, asked: Asked) -> dict[str, Any]:
    if asked.run is None:
        return dict(config.load_preset(asked.preset).values) if asked.preset else {}
    run = services.find(asked.run)
    require_trains(run)
    return {name: value for name, value in run.config.items() if name not in OWN}


def require_trains(run: Run) -> None:
    """Refused for a run that is no training: nothing could be swept."""
    if kind_of_run(run.config) not in ("train", "control"):
        raise grid.refused("from", run.id, "trains nothing (it is an evaluation or a probe): name a training run",
                           "학습하지 않는 실행(평가 또는 탐색)입니다. 학습 실행을 지정하세요")  # fmt: skip


def require(plan: Plan) -> None:
    """Refused, with the plan as `.report`, where a point breaks a rule and is not to be left out, or none is left."""
    bad, good = plan.bad, plan.good
    if good and (not bad or plan.asked.leave_out):
        return
    lines: list[tuple[str, str]] = []
    for rule in plan.to_json()["rules"]:
        some, more = "; ".join(rule["points"][:3]), len(rule["points"]) - 3
        also, also_ko = (f"; and {more} more", f" 외 {more}개") if more > 0 else ("", "")
        words = [
            runs.problem_words(rule["field"], rule["value"], rule["rule"][lang], rule["suggest"], would)
            for lang, would in (("en", "would do"), ("ko", "가능한 값"))
        ]
        lines.append((f"{words[0]} [{some}{also}]", f"{words[1]} [{some}{also_ko}]"))
    if good:
        en = (
            f"{len(bad)} of {len(plan.points)} points break a rule. Change their values, or leave them out "
            f"(leave_out: true) and run the other {len(good)}."
        )
        ko = (
            f"조합 {len(plan.points)}개 중 {len(bad)}개가 규칙에 어긋납니다. 값을 바꾸거나 그 조합을 빼고"
            f"(leave_out: true) 나머지 {len(good)}개만 실행하세요."
        )
        lines.append((en, ko))
    else:
        lines.append(("no point of the grid can run", "실행할 수 있는 조합이 하나도 없습니다"))
    error = Refused(Text(en="\n".join(en for en, _ in lines), ko="\n".join(ko for _, ko in lines)))
    error.report = plan.to_json()  # type: ignore[attr-defined]
    raise error
