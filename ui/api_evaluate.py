"""The Evaluate page's routes: a run's evaluations, their reports and items, the control, accuracy while training."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response
from starlette.routing import BaseRoute

from backend.errors import NotFound
from backend.text import Text
from ui.api import run_json
from ui.door import Door
from ui.wire import BadRequest, Call, answer, route

WHICH = ("won", "lost", "both_right", "both_wrong")
MOST_ITEMS = 100
# What a start may name, and the kind of its value; a bool is no number.
ASKED: dict[str, tuple[type, ...]] = {
    "data": (str,),
    "n": (int,),
    "k": (int,),
    "checkpoint": (str,),
    "seed": (int,),
    "temperature": (int, float),
    "top_p": (int, float),
    "batch_size": (int,),
}


class WrongField(BadRequest):
    """A value of the wrong kind, with the field that it was meant for."""

    def __init__(self, field: str, text: Text) -> None:
        super().__init__(text)
        self.field = field


def asked(call: Call) -> dict[str, Any]:
    """The settings of an evaluation that the body names; WrongField where one has the wrong kind."""
    found: dict[str, Any] = {}
    for name, kinds in ASKED.items():
        value = call.body.get(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, kinds):
            number = str not in kinds
            what, korean = ("a number", "숫자") if number else ("text", "문자열")
            if kinds == (int,):
                what, korean = "a whole number", "정수"
            raise WrongField(
                name, Text(en=f"{name}={value!r} is not {what}.", ko=f"{name}={value!r}: {korean}여야 합니다.")
            )
        found[name] = value
    if "values" in call.body:
        found["values"] = call.mapping("values")
    return found


def subject(call: Call) -> dict[str, Any]:
    """What `show` says of the run that was trained: of the run asked for, or of the one that it evaluates."""
    services = call.services
    shown = services.show(call.run_id)
    if shown["kind"] != "evaluate":
        return shown
    trained = str(shown["config"].get("evaluation", {}).get("run") or "")
    try:
        return services.show(trained) if trained else shown
    except NotFound:  # it was deleted; its evaluation still stands
        return shown


def evaluations(call: Call) -> dict[str, Any]:
    """{"run": RunView of the trained run, "own": whether it evaluated itself, "evaluations", "controls",
    "checkpoints"}.

    "run" is None for an evaluation that stands alone: of a model without a run, or of a run that was deleted.
    """
    service = call.services.evaluation
    shown = subject(call)
    alone = shown["kind"] == "evaluate"
    moments = {one["when"] for one in shown["evaluations"]}
    # The configuration, the curves and the log of `show` are not for this page; settings that its form repeats are.
    heavy = ("config", "metrics", "metrics_not_finite", "evaluations", "attempts", "events", "log_tail", "run")
    view = {name: value for name, value in shown.items() if name not in heavy}
    config = shown["config"]
    view["settings"] = {
        name: config.get(name) for name in ("dataset", "eval_size", "seed", "temperature", "shuffle_rewards")
    }
    return {
        "run": None if alone else view,
        "own": {"before", "after"} <= moments,
        "evaluations": [one for one in service.of(shown["id"]) if one["kind"] != "own"],
        "controls": [] if alone else service.controls(shown["id"]),
        "checkpoints": [] if alone else service.checkpoints(shown["id"]),
    }


def start(call: Call) -> Response:
    return answer(run_json(call.services.evaluation.start(call.run_id, **asked(call))), 201)


def items(call: Call) -> dict[str, Any]:
    which = call.request.query_params.get("which", "won")
    if which not in WHICH:
        raise BadRequest(
            Text(
                en=f"which={which!r}: must be one of {', '.join(WHICH)}.",
                ko=f"which={which!r}: {', '.join(WHICH)} 중 하나여야 합니다.",
            )
        )
    offset, limit = call.number("offset", 0), call.number("limit", 10, 1, MOST_ITEMS)
    return call.services.evaluation.items(call.run_id, which, offset, limit)


def routes(services: Door) -> list[BaseRoute]:
    run = "/api/runs/{run_id}"
    return [
        route(services, f"{run}/evaluations", evaluations),
        route(services, f"{run}/evaluations", start, "POST"),
        route(services, f"{run}/evaluation", lambda c: c.services.evaluation.report(c.run_id)),
        route(services, f"{run}/evaluation/items", items),
        route(services, f"{run}/timeline", lambda c: c.services.evaluation.timeline(c.run_id)),
        route(services, f"{run}/control", lambda c: c.services.evaluation.control_report(c.run_id)),
        route(
            services, f"{run}/control", lambda c: answer(run_json(c.services.evaluation.control(c.run_id)), 201), "POST"
        ),
    ]
