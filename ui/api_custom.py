"""The routes of custom rewards: templates, the look at a source, the dry run, saved versions. Thin doors onto
Services.custom; the server decides what is allowed (nothing on a public Space)."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Any

from starlette.routing import BaseRoute

from backend.errors import NotFound, Refused
from backend.text import Text
from ui.door import Door
from ui.wire import BadRequest, Call, route

LEVELS = ("sandboxed", "trusted")
SHAPES = ("rows", "plain", "messages")


def overview(call: Call) -> dict[str, Any]:
    """{"allowed", "why", "confirm", "rewards": [...], "templates": [...], "choices": as the form offers them}."""
    custom = call.services.custom
    facts = custom.facts()
    templates = custom.templates() if facts["allowed"] else []
    return {**facts, "rewards": custom.saved(), "templates": templates, "choices": custom.choices()}


def shown(call: Call) -> dict[str, Any]:
    return call.services.custom.show(reward_name(call), call.number("version", 0, 1) or None)


def looked(call: Call) -> dict[str, Any]:
    columns = listed(call, "columns")
    chosen = one_of(call, "level", LEVELS)  # nothing is run
    return call.services.custom.look(source(call), call.text("function"), call.text("name"), chosen, columns)


def tested(call: Call) -> dict[str, Any]:
    return call.services.custom.test(
        listed(call, "rows") or None,
        name=call.text("name"),
        source=source(call),
        level=level(call),
        confirmed=call.body.get("confirmed") is True,
        function=call.text("function"),
        args=settings(call),
        shape=one_of(call, "shape", SHAPES),
    )


def saved(call: Call) -> dict[str, Any]:
    made = call.services.custom.save(
        call.text("name") or "",
        source(call),
        level(call),
        call.body.get("confirmed") is True,
        call.text("function"),
        settings(call),
    )
    return made.to_json(source=False)


def deleted(call: Call) -> dict[str, Any]:
    name = reward_name(call)
    call.services.custom.delete(name)
    return {"deleted": name}


def reward_name(call: Call) -> str:
    name = str(call.request.path_params["name"])
    if not name.isidentifier():
        raise NotFound(Text(en=f"There is no custom reward {name!r}.", ko=f"{name!r} 사용자 보상이 없습니다."))
    return name


def source(call: Call) -> str:
    value = call.text("source")
    if value is None:
        raise BadRequest(Text(en="'source' is missing.", ko="'source' 값이 없습니다."))
    return value


def level(call: Call) -> Any:
    """The level asked for. Trusted code runs as the user of this machine, so only somebody at it may bring any."""
    chosen = one_of(call, "level", LEVELS)
    if chosen == "trusted" and not local(call):
        raise Refused(
            Text(
                en="level=trusted: trusted code can be tested and saved only in a browser on the machine that runs "
                "GRPO Studio, or with `python -m backend rewards` there.",
                ko="level=trusted: 신뢰 코드는 GRPO Studio를 실행 중인 컴퓨터의 브라우저에서만, 또는 그 컴퓨터에서 "
                "`python -m backend rewards`로만 시험하고 저장할 수 있습니다.",
            )
        )
    return chosen


def local(call: Call) -> bool:
    """Whether the request comes from this machine."""
    client = call.request.client
    try:
        return client is not None and ip_address(client.host).is_loopback
    except ValueError:
        return False


def one_of(call: Call, name: str, allowed: tuple[str, ...]) -> Any:
    value = call.text(name) or allowed[0]
    if value not in allowed:
        listed = ", ".join(allowed)
        raise BadRequest(Text(en=f"{name}={value!r}: one of {listed}.", ko=f"{name}={value!r}: 가능한 값은 {listed}."))
    return value


def listed(call: Call, name: str) -> list[Any] | None:
    value = call.body.get(name)
    if value is not None and not isinstance(value, list):
        raise BadRequest(Text(en=f"{name!r} must be a list.", ko=f"{name!r}은(는) 리스트여야 합니다."))
    return value


def settings(call: Call) -> dict[str, Any]:
    """limit_s, memory_mb and columns, where they are given."""
    return {name: value for name, value in call.mapping("settings").items() if value is not None}


def routes(services: Door) -> list[BaseRoute]:
    """Every route of the custom-reward editor."""
    base = "/api/custom"
    return [
        route(services, base, overview),
        route(services, f"{base}/look", looked, "POST"),
        route(services, f"{base}/test", tested, "POST"),
        route(services, f"{base}/save", saved, "POST", 201),
        route(services, base + "/rewards/{name}", shown),
        route(services, base + "/rewards/{name}", deleted, "DELETE"),
    ]
