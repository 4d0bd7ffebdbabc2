"""Some rows of whatever a configuration's dataset means, without training on them."""

from __future__ import annotations

import random
from collections.abc import Mapping
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

from backend.data import files, hub, sources, stored
from backend.data.faults import Table
from backend.data.mapping import parse
from backend.data.peek import LARGEST
from backend.data.split import hold_out
from backend.data.store import Store
from backend.errors import Refused
from backend.paths import file_named
from backend.text import Text

FIRST = 5_000  # rows of a hub set, and of a file too large to be read at once, that a sample is drawn from
FIELDS = ("model", "dataset", "dataset_args", "dataset_sha256", "eval_size", "seed", "data_seed")


def first(store: Store, sha256: str, limit: int | None = None) -> list[dict[str, Any]]:
    """The first rows of an object, all where `limit` is None, with the same columns each."""
    rows = list(islice(store.read(sha256), limit))
    columns = dict.fromkeys(name for row in rows for name in row)
    return [{**dict.fromkeys(columns), **row} for row in rows]


def training(values: Mapping[str, Any], home: Path, limit: int | None = None) -> list[dict[str, Any]]:
    """The first training rows of a configuration."""
    config = _config(values)
    kind = sources.kind_of(config, home)
    if kind == "hub" or (kind == "file" and limit is not None and _large(config.dataset)):
        return _kept(_head(config, kind), config)[:limit]
    try:
        return sources.load(config, home).train[:limit]
    except Refused:
        if not config.eval_size:
            raise
        return sources.load(config.model_copy(update={"eval_size": 0}), home).train[:limit]


def sample(values: Mapping[str, Any], home: Path, n: int) -> list[dict[str, Any]]:
    """`n` training rows, or all where there are fewer, in their order; which ones, the seed decides."""
    config = _config(values)
    seed = sources.seed_of(config)
    kind = sources.kind_of(config, home)
    if kind == "stored":
        store = Store(home)
        sha256, _ = stored.state(config.dataset, home, sources.sha256_of(config))
        try:
            places = stored.training_places(store, sha256, config.eval_size, seed)
        except Refused:  # nothing would be left to train on: the rows can be looked at all the same
            places = stored.training_places(store, sha256, 0, seed)
        chosen = sorted(_drawn(len(places), n, seed))
        return stored.rows(store, sha256, config.dataset_args, [places[place] for place in chosen])
    if kind == "hub" or (kind == "file" and _large(config.dataset)):
        found = _kept(_head(config, kind), config)
    else:
        found = training(values, home)
    return [found[place] for place in sorted(_drawn(len(found), n, seed))]


def _drawn(total: int, n: int, seed: int) -> list[int]:
    return random.Random(f"sample {seed}").sample(range(total), min(max(n, 0), total))


def _config(values: Mapping[str, Any]) -> Any:
    """A configuration with what matters for rows; the rest keeps its defaults."""
    from pydantic import ValidationError

    from backend.config.schema import RunConfig

    try:
        return RunConfig(**{name: values[name] for name in FIELDS if values.get(name) is not None})
    except ValidationError as error:
        field = ".".join(map(str, error.errors()[0]["loc"]))
        said = error.errors()[0]["msg"]
        raise Refused(Text(f"{field}: {said}", f"{field} 값을 쓸 수 없습니다: {said}")) from error


def _large(dataset: str) -> bool:
    path = file_named(dataset)
    try:
        return path is not None and path.stat().st_size > LARGEST
    except OSError:
        return False


def _head(config: Any, kind: str) -> list[dict[str, Any]]:
    """The first FIRST rows, shaped."""
    own = {k: v for k, v in config.dataset_args.items() if k not in hub.ARGUMENTS}
    mapping = parse(own, "dataset_args")
    if kind == "hub":
        table = hub.table(config.dataset, config.dataset_args)
    else:
        table = files.open_table(Path(config.dataset).expanduser(), mapping)
    with closing(table):
        return files.shape(Table(table.name, islice(table.records, FIRST)), mapping)


def _kept(rows: list[dict[str, Any]], config: Any) -> list[dict[str, Any]]:
    try:
        return hold_out(rows, config.eval_size, sources.seed_of(config))[0]
    except Refused:
        return rows
