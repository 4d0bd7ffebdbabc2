"""Tasks of reasoning-gym, listed or drawn from, in a process of its own: `python -m backend.data.reasoning_child JSON`.

JSON: {"list": null or a task}, or {"task", "settings", "n", "seed", "labels": null or texts}. One JSON document a line:
tasks or items, then {"end": {...}} or {"error": words, "about": "settings" or "task"}.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import os
import sys
from collections import Counter
from typing import Any

CPU_S, MEMORY_MB = 600, 4000
TRIES = 8  # items drawn for one that is new and of a wanted label
OWN = ("seed", "size")
KINDS = {bool: "bool", int: "int", float: "float", str: "text", list: "list", tuple: "list", dict: "dict"}


class Wrong(Exception):
    def __init__(self, about: str, words: str) -> None:
        super().__init__(words)
        self.about = about


def say(value: Any) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=True, default=str) + "\n")


def settings_of(config: type) -> list[dict[str, Any]]:
    found = []
    for field in dataclasses.fields(config):
        if field.name in OWN:
            continue
        if field.default is not dataclasses.MISSING:
            default = field.default
        elif field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
        else:
            default = None
        kind = KINDS.get(type(default), "text" if default is None else "dict")
        found.append({"name": field.name, "kind": kind, "default": json.loads(json.dumps(default, default=str))})
    return found


def tasks(only: str | None) -> None:
    import reasoning_gym
    from reasoning_gym.factory import DATASETS

    if only is not None and only not in DATASETS:
        raise Wrong("task", f"there is no task {only!r}; the tasks are {', '.join(sorted(DATASETS))}")
    for name in [only] if only else sorted(DATASETS):
        dataset, config = DATASETS[name]
        about: dict[str, Any] = {
            "name": name,
            "category": dataset.__module__.split(".")[1],
            "help": (inspect.getdoc(dataset) or "").split("\n")[0],
            "settings": settings_of(config),
            "example": None,
        }
        if only:
            try:
                item = reasoning_gym.create_dataset(name, size=1, seed=42)[0]
                about["example"] = {"question": item["question"], "answer": item["answer"]}
            except Exception as error:  # some tasks need settings of their own before they give anything
                about["example_fault"] = f"{type(error).__name__}: {error}"
        say(about)
    say({"end": {}})


def draw(task: str, settings: dict[str, Any], n: int, seed: int, labels: list[str] | None) -> None:
    import reasoning_gym
    from reasoning_gym.factory import DATASETS

    if task not in DATASETS:
        raise Wrong("task", f"there is no task {task!r}; the tasks are {', '.join(sorted(DATASETS))}")
    known = {each["name"]: each for each in settings_of(DATASETS[task][1])}
    for name, value in settings.items():
        if name not in known:
            raise Wrong("settings", f"the task {task} has no setting {name!r}; its settings: {', '.join(known) or '-'}")
        fits(name, value, known[name])
    try:
        dataset = reasoning_gym.create_dataset(task, size=TRIES * n + 100, seed=seed, **settings)
    except (AssertionError, ValueError, TypeError) as error:
        raise Wrong("settings", f"the task {task} refuses these settings: {error or type(error).__name__}") from error
    wanted = (
        {label: n // len(labels) + (place < n % len(labels)) for place, label in enumerate(labels)} if labels else {}
    )
    seen: set[str] = set()
    taken: Counter[str] = Counter()
    drawn: Counter[str] = Counter()
    for place in range(TRIES * n + 100):
        if len(seen) >= n:
            break
        item = dataset[place]
        answer = str(item["answer"])
        question = " ".join(item["question"].split())
        drawn[answer] += 1
        if question in seen or (labels and taken[answer] >= wanted.get(answer, 0)):
            continue
        seen.add(question)
        taken[answer] += 1
        say({"item": {"question": item["question"], "answer": item["answer"], "metadata": item["metadata"]}})
    few = len(taken) <= 8
    say({"end": {"labels": dict(taken) if few else None, "drawn": dict(drawn) if few else None}})


def fits(name: str, value: Any, known: dict[str, Any]) -> None:
    kind = known["kind"]
    right = {
        "bool": isinstance(value, bool),
        "int": type(value) is int,
        "float": type(value) in (int, float),
        "list": isinstance(value, list),
        "dict": isinstance(value, dict),
    }.get(kind, True)
    if not right:
        raise Wrong("settings", f"{name} is {value!r}; expected {kind} (by default {known['default']!r})")


def limit() -> None:
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S + 5))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MB << 20, MEMORY_MB << 20))
    except (ImportError, OSError, ValueError):  # Windows has none; macOS refuses some
        return


def main(asked: dict[str, Any]) -> None:
    limit()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    try:
        if "list" in asked:
            tasks(asked["list"])
        else:
            draw(asked["task"], asked["settings"], asked["n"], asked["seed"], asked["labels"])
    except Wrong as error:
        say({"error": str(error), "about": error.about})
    except ImportError as error:
        say({"error": str(error), "about": "install"})
    except MemoryError:
        say({"error": f"it needs more than {MEMORY_MB} MB of memory", "about": "settings"})
    except Exception as error:  # a task's own code
        say({"error": f"{type(error).__name__}: {error}", "about": "settings"})


if __name__ == "__main__":
    try:
        main(json.loads(sys.argv[1]))
        sys.stdout.flush()
    except BrokenPipeError:
        os._exit(0)
