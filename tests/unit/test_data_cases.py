"""What people who bring data have hit, as small files: each fault with the row it is in, or with an offer."""

from __future__ import annotations

import codecs
import json
from pathlib import Path
from typing import Any

import pytest

from backend.data import files, taking
from backend.data.uploads import Uploads
from backend.errors import Refused

ROWS = [{"prompt": "2+2는?", "ground_truth": "4"}, {"prompt": "3+3은?", "ground_truth": "6"}]


def check(path: Path, **mapping: Any) -> dict[str, Any]:
    return taking.check(path, mapping, Uploads(path.parent))


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


def as_text(kind: str) -> str:
    if kind == "json":
        return json.dumps(ROWS, ensure_ascii=False)
    if kind == "jsonl":
        return "\n".join(json.dumps(row, ensure_ascii=False) for row in ROWS)
    return "prompt,ground_truth\n" + "\n".join(f"{row['prompt']},{row['ground_truth']}" for row in ROWS)


@pytest.mark.parametrize("kind", ["json", "jsonl", "csv"])
@pytest.mark.parametrize(
    ("mark", "codec", "named"),
    [
        (b"", "utf-8", "utf-8"),
        (codecs.BOM_UTF8, "utf-8", "utf-8-sig"),
        (codecs.BOM_UTF16_LE, "utf-16-le", "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be", "utf-16-be"),
        (b"", "cp949", "cp949"),
    ],
)
def test_every_encoding_gives_the_same_rows_and_is_named(
    tmp_path: Path, kind: str, mark: bytes, codec: str, named: str
) -> None:
    path = write(tmp_path, f"a.{kind}", mark + as_text(kind).encode(codec))
    report = check(path)
    assert report["ok"], report["problems"]
    assert report["encoding"] == named
    assert report["columns"][0] == "prompt"
    plain = write(tmp_path, f"plain.{kind}", as_text(kind))
    assert files.rows(path, {}) == files.rows(plain, {})


def test_an_encoding_can_be_given_and_is_then_taken_at_its_word(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "prompt,ground_truth\ncafé,é\n".encode("latin-1"))
    report = check(path)
    assert not report["ok"]
    assert report["problems"][0]["row"] == 1
    assert {"encoding": "latin-1"} in [offer["mapping"] for offer in report["offers"]]
    assert check(path, encoding="latin1" if False else "latin-1")["preview"] == [
        {"prompt": "café", "ground_truth": "é"}
    ]
    with pytest.raises(Refused, match="encoding: 'klingon' is not one"):
        check(path, encoding="klingon")
    wrong = write(tmp_path, "b.csv", as_text("csv").encode("cp949"))
    assert check(wrong, encoding="utf-8")["problems"][0]["row"] == 1


def test_undecodable_bytes_name_their_row_and_can_be_left_out(tmp_path: Path) -> None:
    lines = ["prompt,ground_truth", *(f"질문 {n},{n}" for n in range(50))]
    raw = [line.encode() for line in lines]
    raw[31] = b"bad \xff\xfe\xff,30"
    path = write(tmp_path, "a.csv", b"\n".join(raw))
    report = check(path)
    assert [(p["row"], p["column"], p["code"]) for p in report["problems"]] == [(31, "prompt", "undecodable")]
    assert report["counts"]["usable"] == 49
    assert check(path, bad_rows="drop")["ok"]


def test_text_stays_text_and_only_blank_cells_are_missing(tmp_path: Path) -> None:
    cells = ["007", "null", "NA", "None", "1-2", "1e3", "1,000", 'a\nb "c"', " ", "TRUE", "=1+1"]
    quoted = [f'p{n},"{cell.replace(chr(34), chr(34) * 2)}"' for n, cell in enumerate(cells)]
    path = write(tmp_path, "a.csv", "prompt,ground_truth\n" + "\n".join([*quoted, "last,", 'empty,""']) + "\n")
    assert [row["ground_truth"] for row in files.rows(path, {})] == [*cells, None, None]
    assert check(path)["counts"]["blank_ground_truth"] == 3


def test_an_answer_that_is_a_number_in_most_rows_and_text_in_one_loads(tmp_path: Path) -> None:
    lines = ['{"prompt":"q%d","ground_truth":1}' % n for n in range(5000)] + ['{"prompt":"q","ground_truth":"1a"}']  # noqa: UP031
    rows = files.rows(write(tmp_path, "a.jsonl", "\n".join(lines)), {})
    assert len(rows) == 5001
    assert (rows[0]["ground_truth"], rows[-1]["ground_truth"]) == (1, "1a")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("array.json", json.dumps(ROWS)),
        ("pretty.json", json.dumps(ROWS, indent=2)),
        ("lines.json", "\n".join(map(json.dumps, ROWS))),
        ("objects.json", "\n".join(json.dumps(row, indent=1) for row in ROWS)),
        ("wrapped.json", json.dumps({"version": 1, "data": ROWS})),
        ("wrapped-pretty.json", json.dumps({"version": 1, "data": ROWS}, indent=2)),
        ("array.jsonl", json.dumps(ROWS)),
        ("more.ndjson", "\n\n".join(map(json.dumps, ROWS)) + "\n\n"),
    ],
)
def test_json_in_all_its_forms(tmp_path: Path, name: str, content: str) -> None:
    path = write(tmp_path, name, content)
    assert [(row["prompt"], row["ground_truth"]) for row in files.rows(path, {})] == [tuple(r.values()) for r in ROWS]


def test_one_object_is_one_row(tmp_path: Path) -> None:
    talk = {"prompt": [{"role": "user", "content": "hi"}], "ground_truth": "x"}
    for indent in (None, 2):
        (row,) = files.rows(write(tmp_path, "a.json", json.dumps(talk, indent=indent)), {})
        assert row["prompt"] == talk["prompt"]


def test_the_reward_sees_only_the_keys_that_the_user_wrote(tmp_path: Path) -> None:
    written = [
        {"prompt": "a", "ground_truth": "1", "tests": [{"in": "1"}, {"out": "2"}], "meta": {"x1": 1}},
        {"prompt": "b", "ground_truth": "2", "tests": [], "meta": {"x2": 2}},
    ]
    rows = files.rows(write(tmp_path, "a.jsonl", "\n".join(map(json.dumps, written))), {})
    assert [row["meta"] for row in rows] == [{"x1": 1}, {"x2": 2}]
    assert rows[0]["tests"] == [{"in": "1"}, {"out": "2"}]


def test_parquet_gives_plain_lists_and_dicts_as_its_jsonl_twin(tmp_path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    written = [
        {"prompt": [{"role": "user", "content": "a"}], "ground_truth": "007", "meta": {"x1": 1}, "n": 1},
        {"prompt": [{"role": "user", "content": "b"}], "ground_truth": None, "meta": {"x2": "y"}, "n": None},
    ]
    parquet.write_table(pyarrow.Table.from_pylist(written), tmp_path / "a.parquet")
    twin = write(tmp_path, "a.jsonl", "\n".join(map(json.dumps, written)))
    assert files.rows(tmp_path / "a.parquet", {}) == files.rows(twin, {})
    for row in files.rows(tmp_path / "a.parquet", {}):
        assert type(row["prompt"]) is list
        assert type(row["prompt"][0]) is dict
    assert check(tmp_path / "a.parquet")["preview"][1]["ground_truth"] is None


TALK = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]


@pytest.mark.parametrize(
    ("prompts", "row", "code", "offer"),
    [
        (["a", []], 2, "no_prompt", {"bad_rows": "drop"}),
        (["a", [{"role": "user", "content": "b"}]], 2, "mixed", {"chat": True}),
        ([[{"role": "user", "content": "b"}], TALK], 2, "last_assistant", {"last_assistant": "ground_truth"}),
        ([[{"role": "user", "content": "b"}], [{"role": "user", "content": None}]], 2, "bad_message", None),
        ([[{"role": "system", "content": "be brief"}]], 1, "no_question", None),
        (["a", "  "], 2, "blank_prompt", {"bad_rows": "drop"}),
        (["a", None], 2, "blank_prompt", None),
        (["a", 7], 2, "no_prompt", None),
        (["a", [{"role": "wizard", "content": "b"}]], 2, "bad_message", None),
        (["a", ["b"]], 2, "bad_message", None),
    ],
)
def test_prompts_that_cannot_be_used_are_named_by_row(
    tmp_path: Path, prompts: list[Any], row: int, code: str, offer: dict[str, Any] | None
) -> None:
    path = write(tmp_path, "a.jsonl", "\n".join(json.dumps({"prompt": prompt}) for prompt in prompts))
    report = check(path)
    assert not report["ok"]
    assert [(p["row"], p["code"]) for p in report["problems"]] == [(row, code)]
    with pytest.raises(Refused, match=f"row {row}"):
        files.rows(path, {})
    if offer is not None:
        assert offer in [each["mapping"] for each in report["offers"]]
        assert check(path, **offer)["ok"]


def test_the_last_answer_can_be_dropped_or_become_the_ground_truth(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", json.dumps({"messages": TALK}))
    (row,) = files.rows(path, {"last_assistant": "ground_truth"})
    assert (row["prompt"], row["ground_truth"]) == (TALK[:1], "hello")
    (row,) = files.rows(path, {"last_assistant": "drop"})
    assert row["ground_truth"] is None


def test_blank_lines_are_passed_over_and_said(tmp_path: Path) -> None:
    for name, content in (
        ("a.jsonl", '{"prompt": "a"}\n\n{"prompt": "b"}\n   \n'),
        ("a.csv", "prompt,x\na,1\n\nb,2\n,\n"),
    ):
        report = check(write(tmp_path, name, content))
        assert report["ok"]
        assert (report["rows"], report["counts"]["blank_lines"]) == (2, 2)
        assert any("blank lines passed over: 2 (line" in note["en"] for note in report["notes"])


def test_a_cell_of_a_megabyte_is_read_whole_and_shown_clipped(tmp_path: Path) -> None:
    big = "x" * 1_000_000
    for name, content in (
        ("a.csv", f"prompt,ground_truth\n{big},1\n"),
        ("a.jsonl", json.dumps({"prompt": big, "ground_truth": "1"})),
    ):
        path = write(tmp_path, name, content)
        report = check(path)
        assert report["ok"]
        assert len(report["preview"][0]["prompt"]) < 500
        assert report["preview"][0]["prompt"].endswith("(1,000,000 characters)")
        assert (report["counts"]["long_prompts"], report["counts"]["longest_prompt"]) == (1, 1_000_000)
        assert files.rows(path, {})[0]["prompt"] == big


def test_the_same_id_and_the_same_prompt_with_other_answers_are_counted_and_named(tmp_path: Path) -> None:
    written = [
        {"id": 1, "prompt": "a", "ground_truth": "1"},
        {"id": 2, "prompt": "b", "ground_truth": "2"},
        {"id": 1, "prompt": "c", "ground_truth": "3"},
        {"id": 3, "prompt": "b ", "ground_truth": "4"},
        {"id": 2, "prompt": "b", "ground_truth": "2"},
    ]
    report = check(write(tmp_path, "a.jsonl", "\n".join(map(json.dumps, written))))
    counts = report["counts"]
    assert (counts["duplicate_prompts"], counts["conflicting_answers"]) == (2, 1)
    assert (counts["duplicate_ids"], counts["conflicting_ids"]) == (2, 1)
    assert [(p["row"], p["code"], p["level"]) for p in report["problems"]] == [
        (4, "conflicting_answers", "warn"),
        (3, "conflicting_ids", "warn"),
    ]
    assert report["ok"], "they can be trained on; whether they should, a person decides"


def test_the_preview_has_fifty_rows_and_problems_are_capped_with_true_counts(tmp_path: Path) -> None:
    lines = [json.dumps({"prompt": f"p{n}" if n < 100 else " "}) for n in range(1000)]
    report = check(write(tmp_path, "a.jsonl", "\n".join(lines)))
    assert len(report["preview"]) == 50
    assert len(report["problems"]) == 200
    assert (report["counts"]["blank_prompt"], report["counts"]["bad_rows"], report["counts"]["usable"]) == (
        900,
        900,
        100,
    )


@pytest.mark.parametrize(
    ("name", "content", "row", "said"),
    [
        ("a.json", '[{"prompt": "a"}, {"prompt": "b" "x"}]', 2, "no JSON"),
        ("a.json", '[{"prompt": "a"}, {"prompt": "b"}', 3, "no JSON"),
        ("a.json", '[{"prompt": "a"}, 3]', 2, "a row must be a JSON object"),
        ("a.json", '[{"prompt": "a"}] x', 2, "text after the end"),
        ("a.jsonl", '{"prompt": "a"}\n{"prompt": \n{"prompt": "c"}', 2, "line 2: no JSON"),
        ("a.csv", "prompt,x\na,1\nb,1,2\n", 2, "3 cells under 2 columns"),
        ("a.csv", 'prompt,x\na,1\nb,"open\nc,2\n', 2, "never closed"),
        ("a.csv", 'prompt,x\na,"1" 2\n', 1, "after a closing quotation mark"),
        ("a.parquet", "PAR1 no", None, "is no Parquet file"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_row(
    tmp_path: Path, name: str, content: str, row: int | None, said: str
) -> None:
    report = check(write(tmp_path, name, content))
    assert not report["ok"]
    (problem, *_) = report["problems"]
    assert said in problem["what"]["en"]
    assert problem["row"] == row


def test_excels_own_first_line_names_the_delimiter(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "sep=;\nprompt;ground_truth\na,b;1\n")
    assert files.rows(path, {})[0]["prompt"] == "a,b"
    assert check(path)["columns"] == ["prompt", "ground_truth"]


@pytest.mark.parametrize(("head", "said"), [(b"PK\x03\x04", "Excel"), (b"\x1f\x8b\x08", "gzip"), (b"%PDF-1.7", "PDF")])
def test_other_files_under_the_name_of_a_csv_are_told(tmp_path: Path, head: bytes, said: str) -> None:
    report = check(write(tmp_path, "a.csv", head + b"\x00\xff" * 50))
    assert not report["ok"]
    assert said in report["problems"][0]["what"]["en"]
