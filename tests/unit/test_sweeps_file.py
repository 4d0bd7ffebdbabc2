"""A sweep from a file: every refusal says where it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.cli import sweep
from backend.cli.main import main
from backend.cli.output import Output
from backend.errors import NotFound
from backend.services import Services
from backend.settings import Settings
from storage import sweeps as stored

HEAD = "preset: quickstart\n"


def refused(tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    file = tmp_path / "s.yaml"
    file.write_text(text, encoding="utf-8")
    assert main(["sweep", "--config", str(file), "--home", str(tmp_path / "home"), *words]) == 2
    told = capsys.readouterr()
    return (told.out if "--check" in words else told.err).replace(str(tmp_path) + "/", "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sweep:\n  loss_type: [grpo, dapo]\n  lora_r:\n  - 8\n  - many\n", "s.yaml:6: lora_r='many'"),
        ("sweep:\n  num_generations: [8,\n    7]\n", "s.yaml:4: num_generations=7"),
        ("sweep:\n  beta: [0, 1]\nvalues:\n  num_generations: 7\n", "s.yaml:5: num_generations=7"),
        ("sweep:\n  beta: [0, 1]\n  loss: [grpo]\n", 's.yaml:4: sweep="loss"'),
        ("sweep:\n  beta: [0, 0]\n", "s.yaml:3: beta=0"),
        ("sweep:\n  beta: [0, 1]\nseeds: 3\n", "s.yaml:4: seeds=3"),
        ("sweep:\n  beta: [0, 1]\ntemperature: 1\n", "s.yaml:4: temperature=1"),
        ("sweep:\n  beta: [0, 1]\n\n  beta: [2, 3]\n", "s.yaml:5: beta: stands in the file twice, first in line 3"),
        ("sweep:\n  reward_args.format.content: [number, word]\n", "s.yaml:3: reward_args="),
        ("sweep:\n  learning_rate: [1e-5, .nan]\n", "s.yaml:3: learning_rate='nan'"),
        ("sweep: {beta: [0, 1]\n", "line 3"),
        ("sweep:\n  rewards: [[accuracy], [accuracy, format]]\n", "s.yaml:3: reward_weights="),
    ],
)
def test_a_refusal_names_file_line_and_field(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    assert said in refused(tmp_path, HEAD + text, capsys)


def test_a_check_says_the_lines_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = HEAD + "sweep:\n  num_generations: [8, 4, 7]\n"
    told = refused(tmp_path, text, capsys, "--check")
    assert "refused: s.yaml:3: num_generations=7" in told
    assert "would do: 8" in told
    assert "2 runs of 3 points" in told


def test_json_has_the_line_in_both_languages_and_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "s.json"
    file.write_text('{"preset": "quickstart",\n "sweep": {"num_generations":\n  [8, 7]}}', encoding="utf-8")
    assert main(["sweep", "--config", str(file), "--home", str(tmp_path / "home"), "--json"]) == 2
    (line,) = capsys.readouterr().out.splitlines()
    assert line.count("s.json:3: num_generations=7") == 2


def test_a_sweep_that_is_deleted_while_it_is_followed_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    services = Services(Settings(tmp_path / "home"))
    stored.create_sweep(services.db, "20260101-000000-aaaa", "s", {"axes": {}}, [{"beta": 0}])
    shown = services.sweeps.show("20260101-000000-aaaa")
    shown["can"]["delete"] = False  # it went on when it was looked at last
    monkeypatch.setattr(sweep, "POLL_S", 0.0)
    monkeypatch.setattr(services, "reconcile", lambda: services.sweeps.delete("20260101-000000-aaaa"))
    with pytest.raises(NotFound, match="there is no sweep"):
        sweep._follow(services, shown, True, Output(False))
    services.close()
