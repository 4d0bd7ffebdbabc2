"""From a configuration to rows: which kind of dataset its name means, and what to load for it."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from backend.data import arguments, arithmetic, article_math, files
from backend.data.faults import Record, Table
from backend.data.mapping import parse
from backend.data.peek import look
from backend.data.split import hold_out, training_rows
from backend.errors import NotFound, Refused
from backend.paths import file_named
from backend.text import Text

HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")
HUB_ARGUMENTS = (*files.ARGUMENTS, "subset", "split", "revision")
BUILT_IN = ("arithmetic", "article-math")

Kind = Literal["arithmetic", "article-math", "file", "hub"]


class DataConfig(Protocol):
    """The fields of RunConfig that matter here."""

    @property
    def model(self) -> str: ...
    @property
    def dataset(self) -> str: ...
    @property
    def dataset_args(self) -> dict[str, Any]: ...
    @property
    def eval_size(self) -> int: ...
    @property
    def seed(self) -> int: ...
    @property
    def data_seed(self) -> int | None: ...


class WarmupConfig(DataConfig, Protocol):
    @property
    def sft_rows(self) -> int: ...
    @property
    def sft_args(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class DataSplit:
    """What a run trains on and is judged by. `columns` are those of the rows, the prompt among them."""

    train: list[dict[str, Any]]
    eval: list[dict[str, Any]]
    name: str
    columns: tuple[str, ...]


def kind(dataset: str) -> Kind:
    """What a dataset's name means. NotFound, with what would do, where it means nothing."""
    if dataset in BUILT_IN:
        return dataset  # pyright: ignore[reportReturnType] -- the two literals of BUILT_IN
    if Path(dataset).suffix.lower() in files.SUFFIXES:
        return "file"
    if file_named(dataset) is not None:
        kinds = ", ".join(files.SUFFIXES)
        raise NotFound(
            Text(
                en=f"dataset: {dataset} is a file of a kind that is not read here; these are: {kinds}",
                ko=f"dataset: {dataset}는 읽을 수 없는 형식의 파일입니다. 가능: {kinds}",
            )
        )
    if HUB_NAME.fullmatch(dataset):
        return "hub"
    there = ", ".join((*BUILT_IN, *(f"a {suffix} file" for suffix in files.SUFFIXES), "a hub name org/name"))
    raise NotFound(
        Text(
            en=f"dataset: {dataset!r} is none of: {there}",
            ko=f"dataset: {dataset!r}는 쓸 수 없습니다. 가능: {there}",
        )
    )


def check_args(dataset: str, args: Mapping[str, Any]) -> None:
    """Refused or NotFound, in words, where the name or an argument of a dataset would not do. Reads no file."""
    match kind(dataset):
        case "arithmetic":
            arithmetic.parse(args)
        case "article-math":
            article_math.check(args)
        case "file":
            files.check(args)
        case "hub":
            arguments.known(args, HUB_ARGUMENTS)
            files.check(_own(args))


def load(config: DataConfig) -> DataSplit:
    """The rows of a run. Errors are for people: Refused or NotFound, naming the row or the setting.

    Rows have the columns prompt (text or messages), prompt_id, ground_truth, and others of the set. For
    `arithmetic` and `article-math` the held-out rows are their own test side, at most `eval_size` of them.
    """
    seed = config.seed if config.data_seed is None else config.data_seed
    args = config.dataset_args
    match kind(config.dataset):
        case "arithmetic":
            settings = arithmetic.parse(args, style=_style(config.model))
            train = arithmetic.rows(settings, "train", settings.rows, seed)
            held = arithmetic.rows(settings, settings.eval_split, config.eval_size, seed)
        case "article-math":
            train = article_math.rows(article_math.TRAIN, args)
            held = article_math.rows(article_math.TEST, args)[: config.eval_size]
        case "file":
            train, held = hold_out(files.rows(Path(config.dataset).expanduser(), args), config.eval_size, seed)
        case "hub":
            check_args(config.dataset, args)
            # The only user of the `datasets` package is the worker, which is where this branch runs.
            hub = importlib.import_module("backend.workers.hub_rows")
            records = hub.records(config.dataset, args)
            table = Table(config.dataset, (Record(n, row) for n, row in enumerate(records, start=1)))
            train, held = hold_out(files.shape(table, parse(_own(args), "dataset_args")), config.eval_size, seed)
    return DataSplit(train, held, config.dataset, tuple(train[0]))


def rows(config: DataConfig) -> int | None:
    """How many training rows `load` would give; None where only loading would tell.

    Small files are read. Refused where `load` would be, as far as that can be seen here.
    """
    seed = config.seed if config.data_seed is None else config.data_seed
    match kind(config.dataset):
        case "arithmetic":
            settings = arithmetic.parse(config.dataset_args)
            count = arithmetic.available(settings)
            return settings.rows if count is None else count
        case "article-math":
            return len(article_math.TRAIN)
        case "file":
            seen = look(config.dataset, config.dataset_args)
            if seen is not None:
                return training_rows(seen.keys, config.eval_size, seed)
            path = file_named(config.dataset)
            total = files.count(path) if path is not None else None
            return None if total is None else max(total - config.eval_size, 0)
        case "hub":
            return None


def warmup_rows(config: WarmupConfig) -> list[dict[str, Any]]:
    """Rows (prompt, completion) for the supervised warm-up: worked examples of training problems only.

    `sft_args.carry_error` is the share of carries that the teacher forgets. Refused for a dataset that has no
    worked examples.
    """
    seed = config.seed if config.data_seed is None else config.data_seed
    if kind(config.dataset) != "arithmetic":
        raise Refused(
            Text(
                en=f"stages: the warm-up needs worked examples, which {config.dataset!r} does not have; "
                "take dataset=arithmetic or leave the stage sft out",
                ko=f"stages: 워밍업에는 풀이 예시가 필요한데 {config.dataset!r}에는 없습니다. "
                "dataset=arithmetic을 쓰거나 sft 단계를 빼세요",
            )
        )
    arguments.known(config.sft_args, ("carry_error",), "sft_args")
    settings = arithmetic.parse(config.dataset_args, style=_style(config.model))
    error = arguments.share(config.sft_args, "carry_error", 0.0, "sft_args")
    return arithmetic.worked(settings, config.sft_rows, seed, error)


def _own(args: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that say how columns are meant."""
    return {name: value for name, value in args.items() if name in files.ARGUMENTS}


def _style(model: str) -> arithmetic.Style:
    """The embedded model has learned bare sums; any other is asked in a sentence."""
    return "bare" if model == "embedded" else "en"
