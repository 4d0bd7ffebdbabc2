"""Which encoding a file has: UTF-16 without a mark, names of encodings, files that are not what they are said to be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from backend.cli.main import main
from backend.data import encoding, files, taking
from backend.data.uploads import Uploads
from backend.errors import Refused

KOREAN = [
    {"prompt": f"다음 식을 계산하세요: {n} 더하기 {n}은 얼마인가요?", "ground_truth": str(2 * n)} for n in range(40)
]
ENGLISH = [{"prompt": f"{n}+{n}", "ground_truth": str(2 * n)} for n in range(40)]


def check(path: Path, **mapping: Any) -> dict[str, Any]:
    return taking.check(path, mapping, Uploads(path.parent))


def written(kind: str, rows: list[dict[str, str]]) -> str:
    if kind == "csv":
        return "prompt,ground_truth\n" + "".join(f"{row['prompt']},{row['ground_truth']}\n" for row in rows)
    if kind == "json":
        return json.dumps(rows, ensure_ascii=False)
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)


@pytest.mark.parametrize("rows", [KOREAN, ENGLISH], ids=["korean", "english"])
@pytest.mark.parametrize("kind", ["csv", "json", "jsonl"])
@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("given", [None, "utf-16", "UTF16"])
def test_utf_16_without_a_mark_is_read_by_its_byte_order(
    tmp_path: Path, rows: list[dict[str, str]], kind: str, codec: str, given: str | None
) -> None:
    path = tmp_path / f"a.{kind}"
    path.write_bytes(written(kind, rows).encode(codec))
    report = check(path, **({"encoding": given} if given else {}))
    assert (report["ok"], report["encoding"], report["rows"]) == (True, codec, 40), report["problems"]
    plain = tmp_path / f"plain.{kind}"
    plain.write_text(written(kind, rows), encoding="utf-8")
    assert files.rows(path, {}) == files.rows(plain, {})


@pytest.mark.parametrize("codec", ["utf-32-le", "utf-32-be"])
def test_utf_32_without_a_mark_can_be_named(tmp_path: Path, codec: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(written("csv", KOREAN).encode(codec))
    assert check(path, encoding="utf-32")["encoding"] == codec


def test_a_stray_nul_makes_no_utf_16(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(written("csv", KOREAN).encode() + b"a\0b,1\n")
    assert check(path)["encoding"] == "utf-8"


CONTENTS = {
    "utf-8": written("csv", KOREAN).encode(),
    "cp949": written("csv", KOREAN).encode("cp949"),
    "utf-16": written("csv", KOREAN).encode("utf-16"),
    "utf-16-le": written("csv", KOREAN).encode("utf-16-le"),
    "odd": written("csv", KOREAN).encode("utf-16-le")[:-1],
    "surrogates": b"prompt,ground_truth\n\xd8\x00\xd8\x00,\xdc\x00\n",
    "binary": bytes(range(256)) * 40,
    "nul": b"\0" * 5000,
    "one": b"\0",
    "empty": b"",
    "mark": b"\xff\xfe",
}


@pytest.mark.parametrize("name", encoding.KNOWN)
@pytest.mark.parametrize("content", CONTENTS)
@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_no_file_under_no_encoding_is_more_than_a_problem(tmp_path: Path, name: str, content: str, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_bytes(CONTENTS[content])
    report = check(path, encoding=name)
    assert report["ok"] or report["problems"]
    assert not report["ok"] or suffix == ".csv"


@pytest.mark.parametrize("content", CONTENTS)
@pytest.mark.parametrize("given", [[], ["--encoding", "utf-16"], ["--encoding", "utf-32"]])
def test_the_command_line_reports_what_cannot_be_decoded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, given: list[str]
) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(CONTENTS[content])
    code = main(["data", "check", str(path), *given, "--json", "--home", str(tmp_path / "home")])
    report = json.loads(capsys.readouterr().out)
    assert (code, report["ok"]) in ((0, True), (2, False))


def test_another_encoding_than_the_one_named_is_said_once(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(CONTENTS["utf-8"])
    report = check(path, encoding="utf-16")
    assert [(p["code"], p["row"]) for p in report["problems"]] == [("encoding", None)]
    assert "is no utf-16 text" in report["problems"][0]["what"]["en"]
    assert report["encoding"] is None
    assert report["offers"] == []


def test_a_fault_of_the_whole_file_is_not_followed_by_that_it_is_empty(tmp_path: Path) -> None:
    for name, content, code in (
        ("a.parquet", b"PAR1 no", "no_parquet"),
        ("a.csv", b"PK\x03\x04" + b"\0" * 50, "other_kind"),
        ("b.csv", b"", "empty"),
    ):
        (tmp_path / name).write_bytes(content)
        assert [p["code"] for p in check(tmp_path / name)["problems"]] == [code]


@pytest.mark.parametrize(
    ("given", "name"),
    [("latin1", "latin-1"), ("ISO-8859-1", "latin-1"), ("l1", "latin-1"), ("windows-1252", "cp1252"),
     ("ms949", "cp949"), ("uhc", "cp949"), ("windows-949", "cp949"), ("euckr", "euc-kr"), ("EUC_KR", "euc-kr"),
     ("utf8", "utf-8"), ("U8", "utf-8"), ("utf-8-bom", None), ("sjis", "shift_jis"), ("utf_16le", "utf-16-le"),
     ("gbk", "gb18030"), ("us-ascii", "ascii"), ("iso-8859-15", "iso-8859-15"), ("base64", None), ("rot13", None),
     ("idna", None), ("", None), ("a\0b", None), ("../x", None)],
)  # fmt: skip
def test_other_names_of_the_same_encodings_are_understood(given: str, name: str | None) -> None:
    if name is None:
        with pytest.raises(Refused, match="is not one that is read here; these are: utf-8"):
            encoding.known(given)
    else:
        assert encoding.known(given) == name


@pytest.mark.parametrize("name", encoding.KNOWN)
def test_every_encoding_is_known_by_its_own_name(name: str) -> None:
    assert encoding.known(name) == name
