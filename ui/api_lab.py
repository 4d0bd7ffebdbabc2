"""The Reward Lab's routes: scores, audit, advantages, conflicts, replay, the probe's report and its filtered set."""

from __future__ import annotations

import json
from typing import Any

from starlette.routing import BaseRoute

from backend.errors import StudioError
from backend.rewards import base as rewards
from backend.rewards.reasons import text as in_words
from backend.text import Text
from ui.door import Door
from ui.jobs import Jobs
from ui.wire import DEEPEST, TOO_DEEP, BadRequest, Call, depth_beyond, route

MOST_ROWS = 500
MOST_SLOW = 2  # audits and replays at once: each may take minutes
SLOW = Jobs(
    MOST_SLOW,
    Text(
        en=f"{MOST_SLOW} audits or replays are under way already. Wait for one of them, then try again.",
        ko=f"점검이나 재채점이 이미 {MOST_SLOW}개 진행 중입니다. 하나가 끝난 뒤 다시 시도하세요.",
    ),
)


def listed(call: Call, name: str, most: int = MOST_ROWS) -> list[Any]:
    """A list of the body; none at all where it is left out or null."""
    value = call.body.get(name)
    value = [] if value is None else value
    if not isinstance(value, list) or len(value) > most:
        raise BadRequest(
            Text(
                en=f"{name!r} must be a list of at most {most}.",
                ko=f"{name!r}은(는) 최대 {most}개의 목록이어야 합니다.",
            )
        )
    return value


def rows_of(call: Call) -> list[dict[str, Any]]:
    rows = listed(call, "rows")
    if not all(isinstance(row, dict) for row in rows):
        raise BadRequest(Text(en="'rows' must hold JSON objects.", ko="'rows'의 원소는 JSON 객체여야 합니다."))
    return rows


def names_of(call: Call, name: str = "rewards") -> list[str]:
    names = listed(call, name)
    if not all(isinstance(each, str) for each in names):
        raise BadRequest(Text(en=f"{name!r} must be a list of names.", ko=f"{name!r}은(는) 이름 목록이어야 합니다."))
    return names


def whole(call: Call, name: str, default: int | None, low: int, high: int) -> int | None:
    value = call.body.get(name, default)
    if value is None and default is None:
        return None
    if type(value) is not int or not low <= value <= high:
        raise BadRequest(
            Text(
                en=f"{name}={value!r} is not a whole number from {low} to {high}.",
                ko=f"{name}={value!r}: {low}에서 {high} 사이의 정수여야 합니다.",
            )
        )
    return value


def spec_json(spec: rewards.RewardSpec) -> dict[str, Any]:
    """What the page needs to offer a reward with typed arguments."""
    return {
        "name": spec.name,
        "label": spec.label.to_json(),
        "help": spec.help.to_json(),
        "columns": list(spec.columns),
        "bounds": list(spec.bounds) if spec.bounds else None,
        "arguments": [
            {
                "name": a.name,
                "kind": a.kind,
                "kinds": list(a.kinds),
                "default": a.default,
                "choices": list(a.choices),
            }
            for a in spec.arguments
        ],
        "custom": None,
    }


def known_rewards(call: Call) -> dict[str, Any]:
    """{"rewards": [...], "sets": [...]}: what the set-up may choose from, custom rewards and stored sets included."""
    found = [spec_json(rewards.spec(name)) for name in rewards.names()]
    return {"rewards": [*found, *custom_rewards(call.services)], "sets": stored_sets(call.services)}


def custom_rewards(services: Door) -> list[dict[str, Any]]:
    names = getattr(services.custom, "names", None)
    describe = getattr(services.custom, "describe", None)
    if names is None or describe is None:
        return []
    found = []
    for name in names():
        about = describe(name)
        label = about.get("label") or {"en": name, "ko": name}
        found.append(
            {
                "name": name,
                "label": label if isinstance(label, dict) else {"en": str(label), "ko": str(label)},
                "help": about.get("help"),
                "columns": about.get("columns") or [],
                "bounds": about.get("bounds"),
                "arguments": about.get("arguments") or [],
                "custom": {"level": about.get("level"), "version": about.get("version")},
            }
        )
    return found


def stored_sets(services: Door) -> list[dict[str, Any]]:
    sets = getattr(services.data, "sets", None)
    return [] if sets is None else [one for one in sets() if one.get("kind", "prompts") == "prompts"]


def rows(call: Call) -> dict[str, Any]:
    """{"rows": [...], "made": [text or null]}: rows of the set, and for each the gold in the demanded format."""
    raw = call.request.query_params.get("values", "{}")
    try:
        values = json.loads(raw)
    except (ValueError, RecursionError):
        values = None
    if depth_beyond(values, DEEPEST):
        raise TOO_DEEP
    if not isinstance(values, dict):
        raise BadRequest(Text(en="values must be a JSON object.", ko="values는 JSON 객체여야 합니다."))
    found = call.services.data.sample(values, call.number("n", 8, 1, MOST_ROWS))
    made = getattr(call.services.lab, "made", None)
    return {"rows": found, "made": [None] * len(found) if made is None else made(values, found)}


def table(call: Call) -> dict[str, Any]:
    """LabService.table with each reason as {"en", "ko"}."""
    weights, versions = listed(call, "weights") or None, call.mapping("versions") or None
    found = call.services.lab.table(names_of(call), weights, call.mapping("args"), rows_of(call), versions=versions)
    for row in found["rows"]:
        for cell in row["cells"].values():
            cell["reason"] = None if cell["reason"] is None else in_words(cell["reason"]).to_json()
    return found


def audit(call: Call) -> dict[str, Any]:
    """A job (ui.jobs) whose answer is the audit of the configuration's rewards, all of them together."""
    limit = whole(call, "limit", 32, 1, 128)
    values, given, lab = call.mapping("values"), rows_of(call) or None, call.services.lab
    return SLOW.start(lambda progress: lab.audit(values, given, limit=limit, progress=progress))


def advantages(call: Call) -> dict[str, Any]:
    """The rows are completions, group after group; `group_size` of them a group, all of them where it is left out."""
    more = {}
    size = whole(call, "group_size", None, 1, MOST_ROWS)
    if size is not None:
        more["group_size"] = size
    return call.services.lab.advantages(listed(call, "rewards"), listed(call, "weights") or None, **more)


def conflicts(call: Call) -> Any:
    return call.services.lab.conflicts(names_of(call), listed(call, "groups"), listed(call, "weights") or None)


def replay(call: Call) -> dict[str, Any]:
    """A job whose answer says what other rewards would have made of a run."""
    steps, run, lab = listed(call, "steps", 2), call.text("run") or "", call.services.lab
    names, weights, args = names_of(call), listed(call, "weights") or None, call.mapping("args")
    more = {
        "scale": call.text("scale") or None,
        "steps": steps or None,
        "limit_groups": whole(call, "limit_groups", 200, 1, 5000),
        "versions": call.mapping("versions") or None,
    }
    return SLOW.start(lambda progress: lab.replay(run, names, weights, args, **more))


def job(call: Call) -> dict[str, Any]:
    return SLOW.get(call.request.path_params["job"])


def stop_job(call: Call) -> dict[str, Any]:
    return SLOW.stop(call.request.path_params["job"])


def probe(call: Call) -> dict[str, Any]:
    return call.services.lab.probe_report(call.run_id)


def filtered(call: Call) -> dict[str, Any]:
    """The set of those prompts of a probe that the model gets right sometimes: stored under the name that is given."""
    report = call.services.lab.probe_report(call.run_id)
    ids = (report.get("live_band") or {}).get("prompt_ids") or []
    if not ids:
        raise StudioError(
            Text(
                en="No prompt of this probe is in the learnable band, so there is nothing to keep.",
                ko="이 탐색에는 학습 가능 구간에 든 프롬프트가 없어 남길 것이 없습니다.",
            )
        )
    config = call.services.show(call.run_id)["config"]
    return {"set": call.services.data.filter(config, call.text("name") or "", ids)}


def routes(services: Door) -> list[BaseRoute]:
    return [
        route(services, "/api/lab/setup", known_rewards),
        route(services, "/api/lab/rows", rows),
        route(services, "/api/lab/table", table, "POST"),
        route(services, "/api/lab/audit", audit, "POST"),
        route(services, "/api/lab/advantages", advantages, "POST"),
        route(services, "/api/lab/conflicts", conflicts, "POST"),
        route(services, "/api/lab/replay", replay, "POST"),
        route(services, "/api/lab/jobs/{job}", job),
        route(services, "/api/lab/jobs/{job}/stop", stop_job, "POST"),
        route(services, "/api/lab/probe/{run_id}", probe),
        route(services, "/api/lab/probe/{run_id}/filter", filtered, "POST"),
    ]
