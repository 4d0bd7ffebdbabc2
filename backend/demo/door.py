"""The door between the page's routes and the services of a public Space: every call is looked up in the policy."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from backend.demo import limits, policy, visitors
from backend.demo.services import DemoServices
from backend.demo.slots import Held

SERVICES = tuple(name for name in policy.POLICY if name)


class DemoDoor:
    """As backend.services.Services to the page (ui.door.Door). Nothing but methods can be reached through it."""

    data: Any
    custom: Any
    lab: Any
    evaluation: Any
    chat: Any
    exports: Any
    explorer: Any
    diagnosis: Any
    compare: Any
    sweeps: Any
    attaching: Any
    demo: Any

    def __init__(self, services: DemoServices) -> None:
        self._services = services
        for name in SERVICES:
            setattr(self, name, _Section(services, name, getattr(services, name)))

    def __getattr__(self, name: str) -> Any:
        return _guarded(self._services, "", self._services, name)


class _Section:
    """One of the services behind the door."""

    def __init__(self, services: DemoServices, name: str, service: Any) -> None:
        self._services, self._name, self._service = services, name, service

    def __getattr__(self, name: str) -> Any:
        return _guarded(self._services, self._name, self._service, name)


def _guarded(services: DemoServices, section: str, service: Any, name: str) -> Callable[..., Any]:
    """The method behind its rule. AttributeError for what begins with an underscore: that is nobody's."""
    if name.startswith("_"):
        raise AttributeError(name)
    rule = policy.rule_of(section, name)

    def call(*args: Any, **kwargs: Any) -> Any:
        policy.refuse(rule)
        method = getattr(service, name)
        if rule.guard is not None:
            args, kwargs = (), _by_name(method, args, kwargs)
            rule.guard(services, kwargs)
        if not rule.line:
            found = method(*args, **kwargs)
        else:
            with ExitStack() as place:
                place.enter_context(services.lines[rule.line].one(visitors.current.get()))
                found = method(*args, **kwargs)
                if hasattr(found, "pieces"):  # the work is done while it is read
                    found.pieces = Held(place.pop_all(), found.pieces, limits.FILE_S)
        return found if rule.after is None else rule.after(services, found)

    return call


def _by_name(method: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    signature = inspect.signature(method)
    given = dict(signature.bind(*args, **kwargs).arguments)
    for parameter in signature.parameters.values():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            given |= given.pop(parameter.name, {})
    return given
