"""Files as rows: what public bug reports taught about text, marks, messages, duplicates and refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from backend.data import files, split
from backend.errors import NotFound, Refused

ROWS = [
    {"prompt": "2+2", "ground_truth": "4", "level": "a"},
    {"prompt": "3+3", "ground_truth": "6", "level": "b"},
]


def write(path: Path, content: str, mark: bool = False) -> Path:
    path.write_bytes((b"\xef\xbb\xbf" if mark else b"") + content.encode())
    return path


def plain(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in row.items() if key != "prompt_id"} for row in rows]


@pytest.mark.parametrize("mark", [False, True])
def test_the_same_rows_from_every_format_with_and_without_a_mark(tmp_path: Path, mark: bool) -> None:
    lines = "\n".join(json.dumps(row) for row in ROWS)
    table = "prompt,ground_truth,level\r\n2+2,4,a\r\n3+3,6,b\r\n"
    for path in (
        write(tmp_path / "a.jsonl", lines + "\n", mark),
        write(tmp_path / "b.json", json.dumps(ROWS), mark),
        write(tmp_path / "c.json", lines, mark),
        write(tmp_path / "d.csv", table, mark),
    ):
        assert plain(files.rows(path, {})) == ROWS
        assert files.count(path) == 2


def test_csv_cells_stay_text_and_only_blank_ones_are_missing(tmp_path: Path) -> None:
    cells = ["007", "null", "NA", "None", "1-2", "1e3", '"1,000"', '"two\nlines"', ""]
    path = write(tmp_path / "a.csv", "prompt,ground_truth\n" + "".join(f"p{n},{c}\n" for n, c in enumerate(cells)))
    golds = [row["ground_truth"] for row in files.rows(path, {})]
    assert golds == ["007", "null", "NA", "None", "1-2", "1e3", "1,000", "two\nlines", None]


def test_numbers_of_json_stay_numbers_and_rows_keep_their_own_keys(tmp_path: Path) -> None:
    records = [
        {"prompt": "a", "ground_truth": 1, "meta": {"x1": 1}},
        {"prompt": "b", "ground_truth": "1a", "meta": {"x2": 2}},
    ]
    path = write(tmp_path / "a.jsonl", "\n".join(map(json.dumps, records)))
    assert plain(files.rows(path, {})) == records


def test_parquet_conversations_are_plain_lists_and_equal_their_jsonl_twin(tmp_path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    records = [{"prompt": [{"role": "user", "content": "2+2"}], "ground_truth": "4"}]
    parquet.write_table(pyarrow.Table.from_pylist(records), tmp_path / "a.parquet")
    twin = write(tmp_path / "a.jsonl", json.dumps(records[0]))
    assert files.rows(tmp_path / "a.parquet", {}) == files.rows(twin, {})
    assert files.count(tmp_path / "a.parquet") == 1


def test_messages_as_json_text_in_a_csv_are_read(tmp_path: Path) -> None:
    cell = json.dumps([{"role": "user", "content": "hi"}]).replace('"', '""')
    path = write(tmp_path / "a.csv", f'prompt,ground_truth\n"{cell}",x\n')
    assert files.rows(path, {})[0]["prompt"] == [{"role": "user", "content": "hi"}]


def test_columns_can_be_named_and_plain_prompts_become_conversations(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", '{"question": "2+2", "answer": 4}')
    args = {"prompt_column": "question", "ground_truth_column": "answer", "system_prompt": "Be brief."}
    (row,) = files.rows(path, args)
    assert [message["role"] for message in row["prompt"]] == ["system", "user"]
    assert row["ground_truth"] == 4
    assert "question" not in row


def test_a_named_column_takes_the_place_of_one_that_is_called_so(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", '{"prompt": "old", "ground_truth": "old", "question": "2+2", "answer": 4}')
    (row,) = files.rows(path, {"prompt_column": "question", "ground_truth_column": "answer"})
    assert (row["prompt"], row["ground_truth"]) == ("2+2", 4)
    assert (row["prompt_"], row["ground_truth_"]) == ("old", "old")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b'prompt,ground_truth\na,"never closed\n'),
        ("a.jsonl", b'{"prompt": "a", "ground_truth": ' + b"1" * 5000 + b"}"),
        ("a.jsonl", b'{"prompt": "a", "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
        ("a.parquet", b"PAR1 but not really"),
    ],
)
def test_what_breaks_a_reader_is_refused_in_words(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(Refused, match=name):
        files.rows(tmp_path / name, {})


def test_a_file_that_may_not_be_read_is_refused_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, *args: object, **options: object) -> bytes:
        raise PermissionError(13, "Permission denied")

    path = write(tmp_path / "a.jsonl", '{"prompt": "a"}')
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(Refused, match="Permission denied") as refused:
        files.rows(path, {})
    assert "읽을 수 없습니다" in refused.value.text.ko


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (['{"question": "x"}'], r"row 1: no column 'prompt' for the prompt. Columns: question. .*prompt_column"),
        (['{"prompt": "a"}', '{"prompt": "  "}'], "row 2: the prompt is blank"),
        (['{"prompt": []}'], "row 1: the prompt must be a text or a list"),
        (['{"prompt": null}'], "row 1: the prompt is blank"),
        (['{"prompt": [{"role": "user", "content": null}]}'], "row 1: message 1 of the prompt has the content null"),
        (['{"prompt": [{"role": "assistant", "content": "x"}]}'], "row 1: the last message of the prompt is the a"),
        (['{"prompt": [{"role": "system", "content": "x"}]}'], "row 1: the last message of the prompt is the system"),
        (['{"prompt": "a"}', '{"prompt": [{"role": "user", "content": "b"}]}'], "row 2: plain prompts and message"),
        (['{"prompt": "a"}', "{'prompt': 1}"], "line 2: no JSON"),
        (['{"prompt": "a"}', "3"], "line 2: a row must be a JSON object"),
        ([""], "has no rows"),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_row(tmp_path: Path, lines: list[str], message: str) -> None:
    with pytest.raises(Refused, match=message):
        files.rows(write(tmp_path / "a.jsonl", "\n".join(lines)), {})


def test_a_ragged_csv_and_foreign_bytes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="row 2: 3 cells under 2 columns"):
        files.rows(write(tmp_path / "a.csv", "prompt,ground_truth\na,b\nc,d,e\n"), {})
    (tmp_path / "b.csv").write_bytes("prompt,ground_truth\n한글,1\n가,".encode() + b"\xff\xff\n")
    with pytest.raises(Refused, match="row 2, ground_truth: bytes that are not utf-8"):
        files.rows(tmp_path / "b.csv", {})
    with pytest.raises(NotFound, match="there is no file"):
        files.rows(tmp_path / "c.csv", {})


def test_holding_out_goes_by_content() -> None:
    rows = [{"prompt": str(n % 10), "prompt_id": str(n % 10), "row": n} for n in range(30)]
    train, held = split.hold_out(rows, 4, seed=1)
    assert len(held) == 4
    assert len(train) == 18
    assert not {row["prompt_id"] for row in train} & {row["prompt_id"] for row in held}
    assert (train, held) == split.hold_out(rows, 4, seed=1)
    assert split.hold_out(rows, 0, seed=1) == (rows, [])
    with pytest.raises(Refused, match=r"10 held-out rows of 10 different prompts .* at most 9"):
        split.hold_out(rows, 10, seed=1)
