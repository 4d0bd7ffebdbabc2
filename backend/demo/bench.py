"""The Reward Lab on a public Space: built-in rewards, few rows, short texts, little time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from backend.demo import limits
from backend.demo.values import arguments_fault, hurried
from backend.errors import Forbidden, Refused
from backend.text import Text

if TYPE_CHECKING:
    from backend.demo.services import DemoServices

ROWS = limits.BENCH_ROWS


def table(services: DemoServices, given: dict[str, Any]) -> None:
    _rewards(given)
    _rows(given.get("rows") or (), limits.BENCH_SQL_ROWS if _sandboxed(given["rewards"]) else ROWS)


def replay(services: DemoServices, given: dict[str, Any]) -> None:
    _rewards(given)
    most = limits.BENCH_SQL_ROWS if _sandboxed(given["rewards"]) else limits.BENCH_GROUPS
    given["limit_groups"] = min(given.get("limit_groups", most), most)


def audit(services: DemoServices, given: dict[str, Any]) -> None:
    from backend.demo.services import require_ok

    require_ok(given["values"])
    if given.get("trusted"):
        raise Refused(Text(en="trusted: not on a public demo", ko="trusted: 공개 데모에서는 쓸 수 없습니다"))
    _rows(given.get("rows") or (), ROWS)
    given["limit"] = min(given.get("limit", limits.AUDIT_ROWS), limits.AUDIT_ROWS)


def made(services: DemoServices, given: dict[str, Any]) -> None:
    from backend.demo.services import require_ok

    require_ok(given["values"])
    _rows(given.get("rows") or (), ROWS)


def _sandboxed(names: Sequence[str]) -> bool:
    return bool(set(names) & set(limits.SANDBOXED))


def _rewards(given: dict[str, Any]) -> None:
    """Built-in ones; the arguments are cut to the demo's limits. Refused in words."""
    names = list(given["rewards"])
    allowed = (*limits.TRAIN_REWARDS, *limits.SANDBOXED)
    if len(names) > 8 or not all(name in allowed for name in names):
        listed = ", ".join(allowed)
        raise Refused(
            Text(
                en=f"rewards={names!r}: on this public demo: {listed}",
                ko=f"rewards={names!r}: 공개 데모: {listed}",
            )
        )
    if given.get("versions"):
        raise Refused(Text(en="versions: built-in rewards have none", ko="versions: 내장 보상에는 버전이 없습니다"))
    args: Mapping[str, Any] = given.get("args") or {}
    fault = arguments_fault(args)
    if fault is not None:
        raise Refused(Text(en=f"args: {fault.en}", ko=f"args: {fault.ko}"))
    if _sandboxed(names):
        _require_sandbox()
    given["args"] = {**args, **hurried({name: args.get(name) or {} for name in names if _mapping(args, name)})}


def _mapping(args: Mapping[str, Any], name: str) -> bool:
    """Whether the arguments of a reward are what they must be; its own rule tells what is wrong with others."""
    return args.get(name) is None or isinstance(args[name], Mapping)


def _require_sandbox() -> None:
    """Forbidden, with the reason, where the machine has no sandbox."""
    from backend.sandbox import tiers

    found = tiers.report()
    if found.tier == "none":
        raise Forbidden(found.words)


def _rows(rows: Sequence[Any], most: int) -> None:
    if len(rows) > most:
        raise Refused(Text(en=f"rows: at most {most} on this public demo", ko=f"rows: 공개 데모에서는 {most}개까지"))
    longest = limits.BENCH_TEXT
    if any(_size(row) > longest for row in rows):
        raise Refused(
            Text(
                en=f"rows: at most {longest:,} characters each on this public demo",
                ko=f"rows: 공개 데모에서는 하나에 {longest:,}자까지",
            )
        )


def _size(value: Any) -> int:
    """Characters of all texts in a value."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        return sum(len(str(key)) + _size(item) for key, item in value.items())
    if isinstance(value, list | tuple):
        return sum(1 + _size(item) for item in value)
    return 1
