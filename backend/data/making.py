"""The generators behind one door: what they take, and how their rows become a stored set."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping
from typing import Any

from backend.data import arguments, arithmetic, derive, reasoning
from backend.data.store import Store
from backend.errors import NotFound
from backend.text import Text

GYM_REWARDS = ["reasoning_gym", "format"]
N = ("n", "int", 1000, (), Text("rows", "행 수"))
SEED = ("seed", "int", 42, (), Text("the same seed gives the same rows", "시드가 같으면 행도 같습니다"))
CHAT = ("chat", "bool", True, (), Text("as a conversation", "대화 형식으로"))
SYSTEM = ("system_prompt", "text", None, (), Text("a system message for every row", "모든 행의 시스템 메시지"))
STYLE = ("style", "choice", "en", tuple(reasoning.STYLES), Text("how the answer is asked for", "답을 요구하는 문구"))
BALANCE = ("balance", "bool", True, (), Text("as many Yes as No", "Yes와 No의 수를 같게"))
GENERATORS: dict[str, dict[str, Any]] = {
    "arithmetic": {
        "label": Text("Column arithmetic", "세로셈"),
        "help": Text(
            "Sums, differences and products of a chosen size. The embedded model knows these in the style bare.",
            "자릿수를 골라 만드는 덧셈, 뺄셈, 곱셈. 내장 모델은 bare 문구를 압니다.",
        ),
        "args": (
            N,
            SEED,
            ("operations", "list", ["+"], ("+", "-", "×"), Text("which", "연산")),
            ("digits", "int", 2, (), Text("of the operands, 1 to 6", "피연산자 자릿수, 1~6")),
            ("difficulty", "choice", "medium", tuple(arithmetic.CARRY_SHARE), Text("how many carry", "올림의 비율")),
            ("style", "choice", "bare", tuple(arithmetic.STYLES), Text("the wording", "문구")),
            CHAT,
            SYSTEM,
        ),
        "rewards": ["accuracy", "format"],
    },
    "syllogism": {
        "label": Text("Syllogisms", "삼단논법"),
        "help": Text(
            "Does it follow, Yes or No. Balanced, for as they come 69% are Yes.",
            "결론이 따라 나오는지 Yes 또는 No. 그대로 뽑으면 69%가 Yes라서 수를 맞춥니다.",
        ),
        "args": (N, SEED, BALANCE, STYLE, CHAT, SYSTEM),
        "rewards": GYM_REWARDS,
        "task": "syllogism",
    },
    "propositional_logic": {
        "label": Text("Propositional logic", "명제 논리"),
        "help": Text(
            "Derive a conclusion from premises; any valid one counts, so there is no single ground truth.",
            "전제에서 결론을 이끌어 냅니다. 타당한 결론이면 모두 맞으므로 정답이 하나가 아닙니다.",
        ),
        "args": (N, SEED, STYLE, CHAT, SYSTEM),
        "rewards": GYM_REWARDS,
        "task": "propositional_logic",
    },
    "reasoning_gym": {
        "label": Text("A task of reasoning-gym", "reasoning-gym 과제"),
        "help": Text(
            "Any task by name, with its own settings; it is scored by the task's own scorer.",
            "이름으로 고르는 과제와 그 설정. 과제 자체의 채점기로 채점합니다.",
        ),
        "args": (("task", "text", None, (), Text("its name", "과제 이름")), N, SEED, STYLE, CHAT, SYSTEM),
        "rewards": GYM_REWARDS,
        "settings": True,
    },
}


def generators() -> list[dict[str, Any]]:
    """For a form; see service.py. "task": the shortcut's task. "settings": the task's own may be given too."""
    why = reasoning.missing()
    found = []
    for name, about in GENERATORS.items():
        absent = why if name != "arithmetic" else None
        args = [
            {"name": n, "kind": k, "default": d, "choices": list(c), "help": h.to_json()}
            for n, k, d, c, h in about["args"]
        ]
        found.append(
            {
                "name": name,
                "label": about["label"].to_json(),
                "help": about["help"].to_json(),
                "available": absent is None,
                "why": absent.to_json() if absent is not None else None,
                "args": args,
                "rewards": about["rewards"],
                "task": about.get("task"),
                "settings": bool(about.get("settings") or about.get("task")),
            }
        )
    return found


def tasks(task: str | None) -> list[dict[str, Any]]:
    return reasoning.tasks(task)


def make(store: Store, generator: str, name: str, args: Mapping[str, Any], needed: Collection[str]) -> dict[str, Any]:
    """The meta of the set that was made. NotFound for an unknown generator, Refused for a wrong argument."""
    if generator not in GENERATORS:
        there = ", ".join(GENERATORS)
        raise NotFound(
            Text(
                f"there is no generator {generator!r}; these are: {there}",
                f"{generator!r} 생성기가 없습니다. 가능: {there}",
            )
        )
    about = GENERATORS[generator]
    meta = {"generator": generator, "args": dict(args), "rewards": about["rewards"], "source": generator}
    if generator == "arithmetic":
        return _arithmetic(store, name, args, meta, needed)
    draw = reasoning.Draw({**args, "task": about["task"]} if "task" in about else args)
    rows = draw.rows()
    first = next(rows, None)  # the errors come before anything is written
    made = list(itertools.chain([first] if first is not None else [], rows))
    meta |= {"source": f"reasoning-gym {draw.task}", "task": draw.task, **draw.meta}
    meta["notes"] = _notes(draw, len(made))
    return derive.keep(store, made, name, meta, needed)


def _notes(draw: reasoning.Draw, made: int) -> list[dict[str, str]]:
    notes = []
    if made < draw.n:
        notes.append(
            Text(
                f"{draw.task} gave {made} different questions of the {draw.n} asked for",
                f"{draw.task}에서 서로 다른 문제를 {draw.n}개 중 {made}개만 얻었습니다",
            )
        )
    baseline = draw.meta.get("majority_baseline")
    if baseline is not None:
        before = draw.meta.get("majority_before_balancing")
        was, was_ko = (
            (f" (as they came: {before:.0%})", f" (고르기 전: {before:.0%})") if draw.balance and before else ("", "")
        )
        notes.append(
            Text(
                f"always giving the commonest answer is right in {baseline:.0%}{was}",
                f"가장 흔한 답만 말해도 {baseline:.0%}가 맞습니다{was_ko}",
            )
        )
    return [note.to_json() for note in notes]


def _arithmetic(
    store: Store, name: str, args: Mapping[str, Any], meta: Mapping[str, Any], needed: Collection[str]
) -> dict[str, Any]:
    count = arguments.whole(args, "n", 1000, 1, 1_000_000, "args")
    seed = arguments.whole(args, "seed", 42, 0, 2**32 - 1, "args")
    own = {key: value for key, value in args.items() if key not in ("n", "seed")}
    arguments.known(own, [n for n in arithmetic.ARGUMENTS if n not in ("rows", "eval_split")], "args")
    settings = arithmetic.parse({**own, "rows": count})
    rows = arithmetic.rows(settings, "train", count, seed)
    notes = []
    if len(rows) < count:
        text = f"there are {len(rows)} such problems, {count} were asked for; take more digits or operations"
        korean = f"조건에 맞는 문제가 {len(rows)}개뿐입니다({count}개 요청). 자릿수나 연산을 늘리세요"
        notes.append(Text(text, korean).to_json())
    return derive.keep(store, rows, name, {**meta, "notes": notes}, needed)
