"""The home folder and the database's address, whatever the folder is called."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.errors import Refused
from backend.services import Services
from backend.settings import Settings
from storage.runs import create_run

NAMES = ["plain", "a?b", "a%20b", "100%", "a#b", "a b", "한글 폴더", "a?b=%3F&c", "a'b", "a:b@c"]


@pytest.mark.parametrize("name", NAMES)
def test_the_database_lies_in_its_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.delenv("DATABASE_URL", raising=False)
    settings = Settings.from_environment(tmp_path / name)
    for _ in range(2):
        services = Services(settings)
        services.reconcile()
        services.close()
    services = Services(settings)
    try:
        create_run(services.db, "20260101-000000-aaaa", "n", {}, None)
        assert [run["name"] for run in services.runs()] == ["n"]
    finally:
        services.close()
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (settings.home / "studio.db").is_file()


@pytest.mark.parametrize("home", ["", "~nobody-has-this-name/x", "a\0b", "a\udcffb"])
def test_a_home_that_is_no_folders_name_is_refused(home: str) -> None:
    with pytest.raises(Refused, match="--home"):
        Settings.from_environment(home)


def test_an_empty_variable_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRPO_STUDIO_HOME", "")
    assert Settings.from_environment().home.name == ".studio"


@pytest.mark.parametrize(
    "url", ["garbage", "nosuch://u:hunter2@h/x", "postgresql://u:hunter2@h:port/x", "mysql://u:hunter2@h/x"]
)
def test_an_address_that_is_none_is_told_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("DATABASE_URL", url)
    with pytest.raises(Refused, match="DATABASE_URL is not the address") as refused:
        Services(Settings(tmp_path))
    assert "hunter2" not in str(refused.value)
