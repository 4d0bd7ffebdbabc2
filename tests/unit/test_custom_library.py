"""Saved versions: they never change, no number is given twice, and nothing leaves the folder."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from backend.custom import Library, describe, names, pin, resolve
from backend.custom.pinned import home_of
from backend.errors import NotFound, Refused, StudioError

ONE = "def judge(completions, answer, **kwargs):\n    '''Says yes.'''\n    return [1.0] * len(completions)\n"
TWO = ONE.replace("1.0", "2.0")


def test_versions_are_kept_byte_for_byte(tmp_path: Path) -> None:
    library = Library(tmp_path)
    assert library.names() == []
    source = ONE.replace("\n", "\r\n") + "# 한글\r\n"
    first = library.save("mine", source)
    assert (first.version, first.level, first.function, len(first.sha256)) == (1, "sandboxed", "judge", 64)
    assert library.save("mine", source) == first
    second = library.save("mine", TWO, settings={"limit_s": 5, "columns": {"answer": "gold"}})
    assert (library.versions("mine"), library.names()) == ([1, 2], ["mine"])
    assert library.get("mine") == second
    assert library.get("mine", 1).source == source
    assert (tmp_path / "rewards/mine/1.py").read_bytes() == source.encode()
    assert json.loads((tmp_path / "rewards/mine/2.json").read_text())["settings"] == second.settings
    with pytest.raises(NotFound, match="no version 7; there are: 1, 2"):
        library.get("mine", 7)
    with pytest.raises(NotFound, match="saved: mine"):
        library.get("other")


def test_a_file_that_was_changed_is_refused(tmp_path: Path) -> None:
    library = Library(tmp_path)
    library.save("mine", ONE)
    file = tmp_path / "rewards/mine/1.py"
    assert file.stat().st_mode & 0o222 == 0
    file.chmod(0o644)
    file.write_text(TWO)
    with pytest.raises(Refused, match="was changed"):
        library.get("mine")
    (tmp_path / "rewards/mine/1.json").chmod(0o644)
    (tmp_path / "rewards/mine/1.json").write_text("{")
    with pytest.raises(StudioError, match="cannot be read"):
        library.get("mine")


def test_a_deleted_number_does_not_come_back(tmp_path: Path) -> None:
    library = Library(tmp_path)
    library.save("mine", ONE)
    library.save("mine", TWO)
    library.delete("mine")
    assert (library.names(), library.versions("mine")) == ([], [])
    with pytest.raises(NotFound):
        library.delete("mine")
    assert library.save("mine", ONE).version == 3
    library.delete("mine")
    assert library.save("mine", ONE).version == 4


def test_many_who_save_at_once_get_a_number_each(tmp_path: Path) -> None:
    made: list[int] = []

    def save(n: int) -> None:
        made.append(Library(tmp_path).save("mine", ONE + f"# {n}\n").version)

    threads = [threading.Thread(target=save, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(made) == list(range(1, 9))
    assert len({Library(tmp_path).get("mine", n).sha256 for n in made}) == 8


@pytest.mark.parametrize(
    "name",
    ["", "a b", "../up", "a/b", "1st", "_hidden", "class", "accuracy", "Format", "x" * 65, "con", "ﬁle", "a.py", "a\0",
     "<b>"],
)  # fmt: skip
def test_names_that_cannot_be_one(tmp_path: Path, name: str) -> None:
    library = Library(tmp_path)
    with pytest.raises(Refused, match="name="):
        library.save(name, ONE)
    with pytest.raises(NotFound):
        library.get(name)
    assert library.versions(name) == []
    assert not (tmp_path / "rewards").exists()


def test_korean_names_are_names(tmp_path: Path) -> None:
    assert Library(tmp_path).save("정답_보상", ONE).name == "정답_보상"
    assert "정답_보상" in names(tmp_path)


def test_trusted_is_confirmed_in_words(tmp_path: Path) -> None:
    library = Library(tmp_path)
    with pytest.raises(Refused, match="This runs code as you"):
        library.save("mine", ONE, "trusted")
    assert library.save("mine", ONE, "trusted", confirmed=True).level == "trusted"
    with pytest.raises(Refused, match="level='root'"):
        library.save("mine", ONE, "root")  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    "settings",
    [{"limit_s": 0}, {"limit_s": True}, {"limit_s": "5"}, {"limit_s": 1e9}, {"memory_mb": 1}, {"memory_mb": 100.5},
     {"columns": ["a"]}, {"columns": {"a": 1}}, {"other": 1}],
)  # fmt: skip
def test_settings_that_cannot_be(tmp_path: Path, settings: dict[str, object]) -> None:
    with pytest.raises(Refused, match="would do"):
        Library(tmp_path).save("mine", ONE, settings=settings)


def test_on_a_public_space_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = Library(tmp_path)
    library.save("mine", ONE)
    monkeypatch.setenv("SPACE_ID", "me/studio")
    with pytest.raises(Refused, match="public Space"):
        library.save("mine", TWO)
    with pytest.raises(Refused, match="public Space"):
        resolve(tmp_path, "mine")


def test_descriptions_of_both_kinds(tmp_path: Path) -> None:
    Library(tmp_path).save("mine", ONE, settings={"columns": {"answer": "gold"}})
    about = describe(tmp_path, "mine")
    assert (about.custom, about.level, about.version, about.columns) == (True, "sandboxed", 1, ("gold",))
    assert "Says yes." in about.help.en
    assert describe(tmp_path, "mine", args={"columns": {"answer": "other"}}).columns == ("other",)
    assert [a.name for a in about.arguments] == ["limit_s", "memory_mb", "columns"]
    json.dumps(about.to_json())
    built_in = describe(tmp_path, "accuracy")
    assert (built_in.custom, built_in.version, built_in.columns) == (False, None, ("ground_truth",))
    with pytest.raises(NotFound, match="mine"):
        describe(tmp_path, "nobody")
    with pytest.raises(NotFound):
        describe(None, "mine")


def test_a_run_keeps_its_versions(tmp_path: Path) -> None:
    home, run = tmp_path / "home", tmp_path / "run"
    library = Library(home)
    library.save("mine", ONE)
    library.save("mine", TWO)
    library.save("other", ONE)
    assert pin(home, run, ["accuracy", "mine", "other"], {"mine": 1}) == {"mine": 1, "other": 1}
    assert Library(run).get("mine") == library.get("mine", 1)
    library.delete("mine")
    library.save("mine", TWO)
    assert pin(home, run, ["mine"], {"mine": 1}) == {"mine": 1}
    assert Library(run).get("mine", 1).source == ONE
    assert home_of(run, home, "mine", 1) == run
    assert home_of(run, home, "mine", 3) == home
    with pytest.raises(NotFound, match="no version 2"):
        pin(home, run, ["mine"], {"mine": 2})
