"""From a configuration to rows: which kind of dataset its name means, and what to load for it."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from backend.data import arguments, arithmetic, article_math, files, hub, peek, stored, warmup
from backend.data.faults import Record, Table
from backend.data.mapping import parse
from backend.data.peek import FileLook
from backend.data.split import hold_out, training_rows
from backend.data.store import BUILT_IN, Store
from backend.errors import NotFound, Refused
from backend.paths import file_named, folder_named
from backend.text import Text

HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9_][\w.-]*", re.ASCII)
HUB_ARGUMENTS = (*files.ARGUMENTS, *hub.ARGUMENTS)

Kind = Literal["arithmetic", "article-math", "stored", "file", "hub"]


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
    """`sft_dataset`, where it has one: rows to imitate in place of worked examples."""

    @property
    def sft_rows(self) -> int: ...
    @property
    def sft_args(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class DataSplit:
    """What a run trains on and is judged by. `columns` are those of the rows, the prompt among them.

    `sha256`: of the stored set's state, or of the file.
    """

    train: list[dict[str, Any]]
    eval: list[dict[str, Any]]
    name: str
    columns: tuple[str, ...]
    sha256: str | None = None


def kind(dataset: str, home: Path | None = None, sha256: str | None = None) -> Kind:
    """What a dataset's name means. NotFound, with what would do, where it means nothing.

    `home`: where the stored sets lie; `sha256`: a pinned state of one.
    """
    if dataset in BUILT_IN:
        return dataset  # pyright: ignore[reportReturnType] -- the two literals of BUILT_IN
    if stored.is_stored(dataset, home, sha256):
        return "stored"
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
    if folder_named(dataset) is not None:
        raise NotFound(
            Text(
                en=f"dataset: {dataset} is a folder; name a file in it",
                ko=f"dataset: {dataset}는 폴더입니다. 그 안의 파일을 지정하세요",
            )
        )
    if HUB_NAME.fullmatch(dataset):
        return "hub"
    own = Store(home).names() if home is not None else []
    there = ", ".join((*BUILT_IN, *own, *(f"a {suffix} file" for suffix in files.SUFFIXES), "a hub name org/name"))
    raise NotFound(
        Text(
            en=f"dataset: {dataset!r} is none of: {there}",
            ko=f"dataset: {dataset!r}는 쓸 수 없습니다. 가능: {there}",
        )
    )


def kind_of(config: DataConfig, home: Path | None) -> Kind:
    return kind(config.dataset, home, sha256_of(config))


def sha256_of(config: DataConfig) -> str | None:
    """The state of a stored set that a configuration is pinned to."""
    return getattr(config, "dataset_sha256", None)


def check_args(dataset: str, args: Mapping[str, Any], home: Path | None = None, sha256: str | None = None) -> None:
    """Refused or NotFound, in words, where the name or an argument of a dataset would not do. Reads no file."""
    match kind(dataset, home, sha256):
        case "arithmetic":
            arithmetic.parse(args)
        case "article-math":
            article_math.check(args)
        case "stored":
            stored.check(args)
        case "file":
            files.check(args)
        case "hub":
            arguments.known(args, HUB_ARGUMENTS)
            files.check(_own(args))


def seed_of(config: DataConfig) -> int:
    return config.seed if config.data_seed is None else config.data_seed


def load(config: DataConfig, home: Path | None = None) -> DataSplit:
    """The rows of a run. Errors are for people: Refused or NotFound, naming the row or the setting.

    Rows have the columns prompt (text or messages), prompt_id, ground_truth, and others of the set. For
    `arithmetic` and `article-math` the held-out rows are their own test side, at most `eval_size` of them.
    """
    seed = seed_of(config)
    args = config.dataset_args
    sha256 = None
    match kind_of(config, home):
        case "arithmetic":
            settings = arithmetic.parse(args, style=_style(config.model))
            train = arithmetic.rows(settings, "train", settings.rows, seed)
            held = arithmetic.rows(settings, settings.eval_split, config.eval_size, seed)
        case "article-math":
            train = article_math.rows(article_math.TRAIN, args)
            held = article_math.rows(article_math.TEST, args)[: config.eval_size]
        case "stored":
            assert home is not None
            sha256, _ = stored.state(config.dataset, home, sha256_of(config))
            train, held = hold_out(stored.rows(Store(home), sha256, args), config.eval_size, seed)
        case "file":
            path = Path(config.dataset).expanduser()
            train, held = hold_out(files.rows(path, args), config.eval_size, seed)
            sha256 = files.digest(path)
        case "hub":
            check_args(config.dataset, args)
            # The only user of the `datasets` package is the worker, which is where this branch runs.
            reader = importlib.import_module("backend.workers.hub_rows")
            records = enumerate(reader.records(config.dataset, args), start=1)
            table = Table(config.dataset, (Record(number, row) for number, row in records))
            train, held = hold_out(files.shape(table, parse(_own(args), "dataset_args")), config.eval_size, seed)
    return DataSplit(train, held, config.dataset, tuple(train[0]), sha256)


def look(config: DataConfig, home: Path | None = None) -> FileLook | None:
    """What a local file or a stored set holds; None for any other, and where it is too large to be read here."""
    match kind_of(config, home):
        case "stored":
            assert home is not None
            return stored.look(config.dataset, home, sha256_of(config))
        case "file":
            return peek.look(config.dataset, config.dataset_args)
        case _:
            return None


def rows(config: DataConfig, home: Path | None = None) -> int | None:
    """How many training rows `load` would give; None where only loading would tell.

    Small files are read. Refused where `load` would be, as far as that can be seen here.
    """
    match kind_of(config, home):
        case "arithmetic":
            settings = arithmetic.parse(config.dataset_args)
            count = arithmetic.available(settings)
            return settings.rows if count is None else count
        case "article-math":
            return len(article_math.TRAIN)
        case "stored" | "file":
            seen = look(config, home)
            if seen is not None:
                return training_rows(seen.keys, config.eval_size, seed_of(config))
            path = file_named(config.dataset)
            total = files.count(path) if path is not None else None
            return None if total is None else max(total - config.eval_size, 0)
        case "hub":
            return None


def warmup_rows(config: WarmupConfig, home: Path | None = None) -> list[dict[str, Any]]:
    """Rows (prompt, completion) for the supervised warm-up, at most `sft_rows`.

    Those of `sft_dataset` where it is given; else worked examples of training problems, of whose carries the teacher
    forgets the share `sft_args.carry_error`. Refused for a dataset that has no worked examples.
    """
    given = getattr(config, "sft_dataset", None)
    if given:
        return warmup.rows(given, config.sft_args, home, config.sft_rows, seed_of(config))
    if kind_of(config, home) != "arithmetic":
        raise Refused(
            Text(
                en=f"stages: the warm-up needs worked examples, which {config.dataset!r} does not have; "
                "take dataset=arithmetic, give sft_dataset, or leave the stage sft out",
                ko=f"stages: 워밍업에는 풀이 예시가 필요한데 {config.dataset!r}에는 없습니다. "
                "dataset=arithmetic을 쓰거나 sft_dataset을 지정하거나 sft 단계를 빼세요",
            )
        )
    arguments.known(config.sft_args, ("carry_error",), "sft_args")
    settings = arithmetic.parse(config.dataset_args, style=_style(config.model))
    error = arguments.share(config.sft_args, "carry_error", 0.0, "sft_args")
    return arithmetic.worked(settings, config.sft_rows, seed_of(config), error)


def _own(args: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that say how columns are meant."""
    return {name: value for name, value in args.items() if name in files.ARGUMENTS}


def _style(model: str) -> arithmetic.Style:
    """The embedded model has learned bare sums; any other is asked in a sentence."""
    return "bare" if model == "embedded" else "en"
