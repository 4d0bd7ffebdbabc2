"""What an evaluation after the fact is asked to do (RunConfig.evaluation), read and checked in words. No torch."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from backend import models
from backend.errors import StudioError
from backend.paths import folder_named
from backend.settings import RUN_ID, on_space
from backend.text import Text
from backend.workers import checkpoints

HELD_OUT, SET = "held-out", "set"
FINAL, BEST = "final", "best"
NUMBERED = re.compile(r"checkpoint-(\d+)")
MOST_ROWS = 100_000
MOST_SAMPLES = 64
MOST_SEED = 2**63 - 1
ADAPTER, ADAPTER_WEIGHTS = "adapter_config.json", "adapter_model.safetensors"


@dataclass(frozen=True, slots=True)
class Request:
    """`run`: the evaluated one, "" for models without a run. `checkpoint`: which of its trained weights.

    `base`, `trained`: other models in place of the run's own; without a run, an empty `trained` evaluates one model
    alone. `data`: "held-out" rows of the run, or "set", the data set of the configuration. `n` rows at most, `k`
    samples beside each greedy answer, at `temperature` and `top_p`, by `seed`; `batch_size` answers at once.
    """

    run: str = ""
    checkpoint: str = FINAL
    base: str = ""
    trained: str = ""
    data: str = HELD_OUT
    n: int = 200
    k: int = 0
    temperature: float = 1.0
    top_p: float = 1.0
    seed: int = 0
    batch_size: int | None = None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with one of the keys, and values that would do."""

    key: str
    value: Any
    text: Text
    suggest: tuple[Any, ...] = ()


DEFAULTS = Request()
KEYS = tuple(field.name for field in fields(Request))


def parse(raw: Mapping[str, Any]) -> Request:
    """The request of a run whose configuration has passed the check; unknown keys are of a later version."""
    return Request(**{key: raw[key] for key in KEYS if key in raw})


def faults(raw: Mapping[str, Any], home: Path | None = None) -> list[Fault]:
    """All that stands against this evaluation; `home`: where runs and models lie, None to look at values only."""
    found = [*_unknown(raw), *_values(raw)]
    if not found and home is not None:
        found = list(_things(parse(raw), home))
    return found


def _unknown(raw: Mapping[str, Any]) -> Iterator[Fault]:
    for key in raw:
        if key not in KEYS:
            keys = ", ".join(KEYS)
            yield Fault(key, raw[key], Text(f"is no setting of an evaluation; these are: {keys}",
                                            f"평가 설정이 아닙니다. 쓸 수 있는 것: {keys}"))  # fmt: skip


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _values(raw: Mapping[str, Any]) -> Iterator[Fault]:
    for key, low, high, near in (
        ("n", 1, MOST_ROWS, (50, 200)), ("k", 0, MOST_SAMPLES, (0, 8)), ("seed", 0, MOST_SEED, (0,)),
    ):  # fmt: skip
        value = raw.get(key, getattr(DEFAULTS, key))
        if not _whole(value) or not low <= value <= high:
            nearest = (min(max(value, low), high),) if _whole(value) else ()
            yield Fault(key, value, Text(f"must be a whole number from {low} to {high}",
                                         f"{low}부터 {high}까지의 정수여야 합니다"), nearest + near)  # fmt: skip
    temperature, top_p = raw.get("temperature", 1.0), raw.get("top_p", 1.0)
    if not _number(temperature) or not 0 < temperature <= 10:
        yield Fault("temperature", temperature, Text("must be a number above 0 and at most 10", "0보다 크고 10 "
                                                     "이하여야 합니다"), (1.0, 0.7))  # fmt: skip
    if not _number(top_p) or not 0 < top_p <= 1:
        yield Fault("top_p", top_p, Text("must be a number above 0 and at most 1", "0보다 크고 1 이하여야 합니다"),
                    (1.0, 0.95))  # fmt: skip
    batch = raw.get("batch_size")
    if batch is not None and (not _whole(batch) or batch < 1):
        yield Fault("batch_size", batch, Text("must be a whole number from 1 up, or empty for evaluate_batch_size",
                                              "1 이상의 정수, 비우면 evaluate_batch_size"), (None, 64))  # fmt: skip
    for key in ("run", "checkpoint", "base", "trained", "data"):
        if not isinstance(raw.get(key, ""), str):
            yield Fault(key, raw[key], Text("must be a text", "문자열이어야 합니다"), (getattr(DEFAULTS, key),))
    data, checkpoint = raw.get("data", HELD_OUT), raw.get("checkpoint", FINAL)
    if isinstance(data, str) and data not in (HELD_OUT, SET):
        yield Fault("data", data, Text(f"must be {HELD_OUT} or {SET}", f"{HELD_OUT} 또는 {SET}이어야 합니다"),
                    (HELD_OUT, SET))  # fmt: skip
    if isinstance(checkpoint, str) and checkpoint not in (FINAL, BEST) and not NUMBERED.fullmatch(checkpoint):
        yield Fault("checkpoint", checkpoint, Text("must be final, best or checkpoint-N", "final, best 또는 "
                                                   "checkpoint-N이어야 합니다"), (FINAL,))  # fmt: skip


def _things(request: Request, home: Path) -> Iterator[Fault]:
    """What it names is there."""
    if request.run:
        run_dir = home / "runs" / request.run
        if not RUN_ID.fullmatch(request.run) or not run_dir.is_dir():
            yield Fault("run", request.run, Text("there is no such run", "그런 실행이 없습니다"))
            return
        yield from _of_run(request, run_dir)
    elif request.data == HELD_OUT:
        yield Fault("data", HELD_OUT, Text("without a run there are no held-out rows; name a data set",
                                           "실행이 없으면 평가용으로 떼어 둔 행도 없습니다. 데이터셋을 지정하세요"),
                    (SET,))  # fmt: skip
    for key in ("base", "trained"):
        name = getattr(request, key)
        problem = model_problem(name, home / "models", adapter=key == "trained") if name else None
        if problem is not None:
            yield Fault(key, name, problem)


def _of_run(request: Request, run_dir: Path) -> Iterator[Fault]:
    if request.data == HELD_OUT and not _holds_rows(run_dir / "data" / "eval.jsonl"):
        yield Fault("data", HELD_OUT, Text("this run has no held-out rows; name a data set",
                                           "이 실행에는 평가 행이 없습니다. 데이터셋을 지정하세요"))  # fmt: skip
    if request.trained:
        return
    why = checkpoints.problem(folder_of(run_dir, request.checkpoint), hashes=False)
    if why is not None:
        there = tuple(name for name, _ in available(run_dir))
        listed = ", ".join(there)
        yield Fault("checkpoint", request.checkpoint, Text(
            f"cannot be loaded: {why}" + (f"; there are: {listed}" if there else "; this run has no trained weights"),
            "불러올 수 없습니다(저장이 끝나지 않았거나 바뀐 폴더)" + (f". 있는 것: {listed}" if there else
                                                        ". 이 실행에는 학습된 가중치가 없습니다"),
        ), there)  # fmt: skip


def model_problem(name: str, models_dir: Path, *, adapter: bool = False) -> Text | None:
    """Why there is no such model; None where there is, or only a try tells. `adapter`: a folder of one will do."""
    folder = folder_named(name)
    if folder is not None and on_space():
        return Text("folders cannot be named on a public Space", "공개 Space에서는 폴더를 지정할 수 없습니다")
    if adapter and folder is not None and (folder / ADAPTER).is_file():
        if (folder / ADAPTER_WEIGHTS).is_file():
            return None
        return Text(f"the folder has an adapter's settings and no weights: {ADAPTER_WEIGHTS} is missing",
                    f"폴더에 어댑터 설정만 있고 가중치({ADAPTER_WEIGHTS})가 없습니다")  # fmt: skip
    if name == "embedded":
        return None  # built where it is missing
    try:
        models.resolve(name, models_dir)
    except StudioError as error:
        return Text(error.text.en.removeprefix("model: "), error.text.ko.removeprefix("model: "))
    except (OSError, ValueError) as error:
        return Text(f"is no name of a model: {error}", f"모델 이름이 아닙니다: {error}")
    return None


def _holds_rows(path: Path) -> bool:
    return path.is_file() and path.stat().st_size > 0


def folder_of(run_dir: Path, checkpoint: str) -> Path:
    """Where the weights of a run's checkpoint lie, or would."""
    return run_dir / checkpoint if checkpoint in (FINAL, BEST) else checkpoints.checkpoints_dir(run_dir) / checkpoint


def available(run_dir: Path) -> list[tuple[str, int | None]]:
    """(name, step) of the trained weights of a run that are whole, by their files' sizes: final, best, then by step."""
    folders = [(name, run_dir / name) for name in (FINAL, BEST)]
    folders += [(path.name, path) for _, path in reversed(checkpoints.numbered(checkpoints.checkpoints_dir(run_dir)))]
    found: list[tuple[str, int | None]] = []
    for name, folder in folders:
        manifest = checkpoints.read_manifest(folder)
        if manifest is not None and checkpoints.problem(folder, hashes=False) is None:
            step = manifest.get("step")
            found.append((name, step if isinstance(step, int) else _numbered(name)))
    return found


def _numbered(name: str) -> int | None:
    match = NUMBERED.fullmatch(name)
    return int(match[1]) if match else None
