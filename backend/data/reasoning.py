"""Tasks of reasoning-gym as rows: the question is the prompt, the whole item stands as JSON text in the column `item`.

The package is optional, and is only ever imported in a child process.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from backend.data import arguments
from backend.data.prompts import as_prompt, row
from backend.errors import Refused
from backend.settings import PROJECT
from backend.text import Text

OWN = ("n", "seed", "task", "style", "chat", "balance", "system_prompt")
STYLES = {
    "en": "{question}\n\nThink it through, then finish with <answer>your answer</answer>.",
    "ko": "{question}\n\n차근차근 생각한 뒤 마지막에 <answer>답</answer> 꼴로 답하세요.",
    "bare": "{question}",
}
# Of 3,000 syllogisms as they come 69% are "Yes": a model that always says so would look trained.
LABELS = {"syllogism": ["Yes", "No"]}
INSTALL = "pip install -r requirements-extra.txt"


def missing() -> Text | None:
    """Why there are no tasks here; None where the package is installed."""
    if importlib.util.find_spec("reasoning_gym") is not None:
        return None
    return Text(
        f"reasoning-gym is not installed; it is optional: {INSTALL} (parts of it are built, which needs a C compiler)",
        f"reasoning-gym이 설치되어 있지 않습니다. 선택 패키지입니다: {INSTALL} "
        "(일부를 빌드하므로 C 컴파일러가 필요합니다)",
    )


def tasks(task: str | None = None) -> list[dict[str, Any]]:
    """[{"name", "category", "help", "settings", "example"}]; the example only for one `task`."""
    return [dict(each) for each in _tasks(task)]


@functools.lru_cache(maxsize=128)
def _tasks(task: str | None) -> tuple[dict[str, Any], ...]:
    return tuple(line for line in _ask({"list": task}) if "end" not in line)


class Draw:
    """Items of a task as rows; `meta` is known once they have been taken."""

    def __init__(self, args: Mapping[str, Any]) -> None:
        if not args.get("task"):
            raise Refused(Text("task: name a task of reasoning-gym", "task: reasoning-gym의 과제 이름을 지정하세요"))
        self.task = str(args["task"])
        self.n = arguments.whole(args, "n", 1000, 1, 100_000, "args")
        self.seed = arguments.whole(args, "seed", 42, 0, 2**32 - 1, "args")
        self.style = arguments.choice(args, "style", "en", tuple(STYLES), "args")
        self.chat = arguments.flag(args, "chat", True, "args")
        self.system = arguments.text(args, "system_prompt", field="args")
        self.balance = arguments.flag(args, "balance", self.task in LABELS, "args")
        self.settings = {name: value for name, value in args.items() if name not in OWN}
        self.meta: dict[str, Any] = {}
        if self.balance and self.task not in LABELS:
            there = ", ".join(LABELS)
            raise Refused(
                Text(
                    f"balance: the answers of {self.task} are no two or three labels; it can be had for {there}",
                    f"balance: {self.task}의 답은 몇 가지로 정해져 있지 않습니다. 가능한 과제: {there}",
                )
            )

    def rows(self) -> Iterator[dict[str, Any]]:
        asked = {
            "task": self.task,
            "settings": self.settings,
            "n": self.n,
            "seed": self.seed,
            "labels": LABELS[self.task] if self.balance else None,
        }
        for line in _ask(asked):
            if "end" in line:
                self.meta = _about(line["end"])
                return
            item = line["item"]
            text = STYLES[self.style].format(question=item["question"])
            prompt = as_prompt(text, chat=self.chat, system=self.system)
            yield row(prompt, item["answer"], item=json.dumps(item, ensure_ascii=False), task=self.task)


def _about(end: Mapping[str, Any]) -> dict[str, Any]:
    """The labels of what was taken, and how often the commonest is right, of these and of all that were drawn."""
    found: dict[str, Any] = {}
    for name, share in (("labels", "majority_baseline"), ("drawn", "majority_before_balancing")):
        counts = end.get(name)
        if counts and len(counts) > 1:
            found[share] = round(max(counts.values()) / sum(counts.values()), 4)
            if name == "labels":
                found["labels"] = counts
    return found


def _ask(asked: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """What the child says, line by line, up to and with its end. Refused in words."""
    why = missing()
    if why is not None:
        raise Refused(why)
    command = [sys.executable, "-m", "backend.data.reasoning_child", json.dumps(asked)]
    child = subprocess.Popen(
        command, cwd=PROJECT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert child.stdout is not None
    try:
        for text in child.stdout:
            line = json.loads(text)
            if "error" in line:
                raise _wrong(line["error"], line["about"])
            yield line
            if "end" in line:
                return
        raise _wrong("it took too long or too much memory, and was ended; take fewer or easier items", "settings")
    finally:
        child.kill()
        child.stdout.close()
        child.wait()


def _wrong(words: str, about: str) -> Refused:
    if about == "install":
        en = f"reasoning-gym cannot be used ({words}); it is optional: {INSTALL}"
        return Refused(Text(en, f"reasoning-gym을 쓸 수 없습니다({words}). 선택 패키지입니다: {INSTALL}"))
    return Refused(Text(f"{about}: {words}", f"{about}: {words}"))
