"""The recorded runs in the repository: whole, small, in both languages, and true to what is said of them."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from backend.cli.main import main
from backend.config import check, load_preset, merge
from backend.demo import recordings
from backend.demo.home import writable_home
from backend.demo.service import DemoService
from backend.errors import NotFound
from backend.headline import for_run
from backend.services import Services
from backend.settings import PROJECT, Settings
from storage import portable
from storage.records import RunState

NAMES = ["learned", "hacked", "dead"]


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    made = Services(Settings(tmp_path_factory.mktemp("home")))
    yield made
    made.close()


def test_they_are_small_and_name_no_place_of_a_machine() -> None:
    paths = list(recordings.FOLDER.glob("*.gz"))
    assert sum(path.stat().st_size for path in paths) < 1_500_000
    assert sorted(path.stem.split(".")[0] for path in paths) == sorted(NAMES)
    for path in paths:
        text = gzip.decompress(path.read_bytes()).decode()
        assert not re.search(r'"/(?:home|work|tmp|root|usr|Users)\b', text)
        assert not re.search(r"hf_[A-Za-z0-9]{16}", text)


def test_there_are_none_until_they_are_opened_and_then_each_once(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    demo = services.demo
    assert isinstance(demo, DemoService)
    assert [(one["name"], one["run"]) for one in demo.state()["recordings"]] == [(name, None) for name in NAMES]
    with pytest.raises(NotFound):
        demo.open(["../../etc/passwd"])
    loaded: list[str] = []
    real = recordings.take_in
    monkeypatch.setattr(recordings, "take_in", lambda db, one: loaded.append(one.name) or real(db, one))
    demo.open(["dead"] * 10_000)
    assert loaded == ["dead"]
    assert len(services.runs()) == 1
    demo.open()
    opened = demo.open()
    assert len(services.runs()) == 3
    assert {one["run"] for one in opened} == {run["id"] for run in services.runs()}
    for one in opened:
        assert services.reader.run(one["run"]).state is RunState.SUCCEEDED  # type: ignore[union-attr]
        assert services.reader.results(one["run"])["recording"]["name"] == one["name"]


def test_any_ended_run_can_be_recorded(services: Services, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = services.demo.open()[0]["run"]
    home, out = str(services.settings.home), tmp_path / "run.jsonl.gz"
    assert main(["record", run, "--home", home, "--out", str(out), "--groups-every", "50", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"run": run, "file": str(out), "bytes": out.stat().st_size}
    assert main(["record", run, "--home", home, "--out", str(out), "--groups-every", "0"]) == 2
    assert main(["record", run, "--home", home, "--out", str(tmp_path / "no" / "x")]) == 1


def test_of_a_run_in_which_nothing_was_right_every_group_is_all_wrong(services: Services) -> None:
    run = next(one["run"] for one in services.demo.open() if one["name"] == "dead")
    assert {group.kind for group in services.reader.completions(run) if group.phase == "train"} == {"all_wrong"}


def test_a_run_too_large_for_a_file_is_refused_with_what_would_do(
    services: Services, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = services.demo.open()[0]["run"]
    monkeypatch.setattr(portable, "LARGEST", 100_000)
    out = tmp_path / "run.jsonl.gz"
    assert main(["record", run, "--home", str(services.settings.home), "--out", str(out)]) == 2
    assert re.search(r"--groups-every \d+", capsys.readouterr().err)
    assert not out.exists()


def accuracy(services: Services, run: str) -> tuple[float, float]:
    by = {one.when: one.accuracy for one in services.reader.evaluations(run)}
    return by["before"], by["after"]


def test_they_show_what_is_said_of_them(services: Services) -> None:
    run = {one["name"]: one["run"] for one in services.demo.open()}
    before, after = accuracy(services, run["learned"])
    assert after > before + 0.4
    before, after = accuracy(services, run["hacked"])
    rewards = {one.when: one.mean_reward for one in services.reader.evaluations(run["hacked"])}
    assert after < before - 0.5
    assert (rewards["after"] or 0) > (rewards["before"] or 0) + 0.1
    assert accuracy(services, run["dead"]) == (0.0, 0.0)
    dead = services.reader.history(run["dead"], names=["grad_norm", "signal/all_wrong"])[1]
    assert set(dead["train", "grad_norm"][1]) == {0.0}
    assert set(dead["train", "signal/all_wrong"][1]) == {1.0}
    for each in run.values():
        evaluations = [{"when": e.when, "n": e.n, "accuracy": e.accuracy} for e in services.reader.evaluations(each)]
        assert for_run(services.reader, each, evaluations, True, None)


@pytest.mark.parametrize("name", NAMES)
def test_their_figures_stand_in_both_languages(services: Services, name: str) -> None:
    [said] = recordings.named([name])
    figures = [re.findall(r"\d+(?:\.\d+)?%?", words) for words in (said.about.en, said.about.ko)]
    assert set(figures[0]) == set(figures[1])
    run = recordings.take_in(services.db, said)
    for share in accuracy(services, run):
        assert f"{share:.0%}" in said.about.en


@pytest.mark.parametrize("name", NAMES)
def test_they_can_be_made_again(name: str) -> None:
    raw = yaml.safe_load((recordings.FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    found = check(merge(load_preset(raw["preset"]), None, raw["values"]))
    assert found.ok, found.errors


def test_a_space_keeps_its_things_where_it_can_write(tmp_path: Path) -> None:
    taken = tmp_path / "file"
    taken.touch()
    assert writable_home([taken / "x", tmp_path / "a" / "b", tmp_path / "c"]) == tmp_path / "a" / "b"
    assert writable_home([taken / "x"]) is None


def test_the_front_matter_is_what_a_space_needs() -> None:
    text = (PROJECT / "README.md").read_text(encoding="utf-8")
    head = yaml.safe_load(text.split("---")[1])
    pinned = dict(re.findall(r"(?m)^([a-z0-9_-]+)==(\S+?);?$", (PROJECT / "requirements.txt").read_text()))
    assert head["sdk"] == "gradio"
    assert head["sdk_version"] == pinned["gradio"]
    assert (PROJECT / head["app_file"]).is_file()
    assert tuple(map(int, head["python_version"].split("."))) >= (3, 11)
    assert re.fullmatch(r"\d+[mh]", head["startup_duration_timeout"])
    assert head["title"] == "GRPO Studio"
