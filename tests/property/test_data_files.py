"""Whatever stands in a file comes back as it was written, in every format, and reading never ends in a traceback."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backend.data import encoding, files, split, taking
from backend.data.mapping import FileMapping, Template, parse
from backend.data.store import Store
from backend.data.uploads import Uploads
from backend.errors import StudioError

QUICK = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00\ufeff"), max_size=20)
PROMPT = TEXT.filter(lambda text: text.strip() and not text.lstrip().startswith("[{"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
GOLD = JSON.filter(lambda gold: not isinstance(gold, bool))
ROWS = st.lists(st.fixed_dictionaries({"prompt": PROMPT, "ground_truth": GOLD, "meta": JSON}), min_size=1, max_size=6)


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def written(rows: list[dict[str, Any]], form: int) -> str:
    match form:
        case 0:
            return "\n".join(json.dumps(row) for row in rows)
        case 1:
            return json.dumps(rows, ensure_ascii=False)
        case 2:
            return json.dumps(rows, indent=2)
        case 3:
            return "\r\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\r\n\r\n"
        case _:
            return "\n".join(json.dumps(row, indent=1) for row in rows)


@QUICK
@given(ROWS, st.integers(0, 4), st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
def test_json_comes_back_in_every_form_and_encoding(
    folder: Path, rows: list[dict[str, Any]], form: int, codec: str
) -> None:
    path = folder / "a.json"
    path.write_bytes(written(rows, form).encode(codec))
    read = files.rows(path, {})
    assert [{name: row[name] for name in ("prompt", "ground_truth", "meta")} for row in read] == rows


@QUICK
@given(st.lists(st.tuples(PROMPT, TEXT), min_size=1, max_size=6), st.sampled_from([",", ";", "\t", "|"]))
def test_csv_comes_back_as_text(folder: Path, cells: list[tuple[str, str]], delimiter: str) -> None:
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writerow(["prompt", "ground_truth"])
    writer.writerows(cells)
    path = folder / "a.csv"
    path.write_bytes(out.getvalue().encode("utf-8"))
    read = files.rows(path, {"delimiter": delimiter})
    assert [(row["prompt"], row["ground_truth"] or "") for row in read] == cells


@QUICK
@given(ROWS)
def test_a_stored_set_gives_the_rows_that_were_read(folder: Path, rows: list[dict[str, Any]]) -> None:
    path = folder / "a.jsonl"
    path.write_text(written(rows, 0), encoding="utf-8")
    store = Store(folder / "home")
    meta = taking.store(store, path, "k", {}, Uploads(folder), replace=True, needed=())
    assert list(store.read(meta["sha256"])) == files.rows(path, {})
    assert list(store.keys(meta["sha256"])) == [split.key(row["prompt"]) for row in rows]


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(
    st.binary(max_size=200) | TEXT.map(str.encode) | st.text('{}[]",:0123a \n\\u', max_size=40).map(str.encode),
    st.sampled_from([".json", ".jsonl", ".csv", ".tsv"]),
)
def test_any_bytes_give_a_report_or_words(folder: Path, content: bytes, suffix: str) -> None:
    path = folder / f"a{suffix}"
    path.write_bytes(content)
    report = taking.check(path, {}, Uploads(folder))
    json.dumps(report, allow_nan=False).encode()
    assert report["ok"] == (report["counts"]["usable"] > 0 and report["counts"]["bad_rows"] == 0)
    try:
        rows = files.rows(path, {})
    except StudioError:
        assert not report["ok"]
    else:
        assert report["ok"]
        assert len(rows) == report["counts"]["usable"]


@given(TEXT, st.dictionaries(st.sampled_from(["a", "b.c", "한글", "d e"]), TEXT, min_size=1))
def test_a_template_is_what_it_says(literal: str, values: dict[str, str]) -> None:
    escaped = literal.replace("{", "{{").replace("}", "}}")
    text = escaped + escaped.join("{" + name + "}" for name in values)
    made = Template(text)
    assert made.columns == tuple(values)
    assert made.fill(values) == literal + literal.join(values.values())


@given(st.text(max_size=30))
def test_a_template_never_raises_but_in_words(text: str) -> None:
    with contextlib.suppress(StudioError):
        Template(text).fill({})


@given(TEXT, TEXT)
def test_what_is_asked_does_not_depend_on_spacing_or_normal_form(one: str, other: str) -> None:
    import unicodedata

    spaced = f"  {one}\n\t {other} "
    assert split.key(spaced) == split.key(unicodedata.normalize("NFD", f"{one} {other}"))
    assert split.key([{"role": "system", "content": "x"}, {"role": "user", "content": spaced}]) == split.key(spaced)


@given(st.text("가나다abc 012\n,", max_size=60), st.sampled_from(["utf-8", "cp949", "utf-16"]))
def test_the_encoding_that_is_found_reads_the_text(text: str, codec: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "a.txt"
        path.write_bytes(text.encode(codec))
        found = encoding.detect(path)
        assert "".join(encoding.pieces(path, found, "")) == text


def test_a_mapping_survives_a_round_trip() -> None:
    given_values = {"prompt": "q", "ground_truth": "a", "chat": True, "rewards": ["exact"], "delimiter": ";"}
    assert parse(parse(given_values).to_json()) == parse(given_values)
    assert parse({"ground_truth": None}).to_json() == {"ground_truth": None}
    assert parse({}) == FileMapping()
