"""The command line as a shell script sees it: documents on stdout, words on stderr, exit codes."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from backend.settings import PROJECT
from storage.records import RunState
from tests.fakes.fake_worker import HOSTILE, metrics_at
from tests.process.harness import SETTINGS, Studio

SETS = [f"--set={key}={value}" for key, value in SETTINGS.items()]
EVALUATION = {"when", "n", "accuracy", "format_rate", "mean_length", "eos_rate", "mean_reward"}


def test_train_wait_show(studio: Studio) -> None:
    studio.set(FAKE_STEPS="10")
    code, answer, words = studio.cli("train", *SETS, "--set", "name=first", "--wait")
    assert code == 0
    assert answer == {"run": answer["run"], "state": "succeeded"}
    assert "first: succeeded" in words
    code, shown, _ = studio.cli("show", "first")
    assert code == 0
    assert (shown["run"], shown["state"], shown["reason"], shown["last_step"]) == (answer["run"], "succeeded", None, 10)
    assert shown["config"]["num_generations"] == 4
    expected = metrics_at(10, 10)
    assert shown["metrics"]["reward"] == pytest.approx(expected["reward"])
    assert set(expected) <= set(shown["metrics"])
    assert [set(evaluation) for evaluation in shown["evaluations"]] == [EVALUATION, EVALUATION]
    assert [evaluation["when"] for evaluation in shown["evaluations"]] == ["before", "after"]


def test_wait_is_one_when_the_run_fails(studio: Studio) -> None:
    studio.set(FAKE_STEPS="10", FAKE_EXIT_AT="2")
    code, answer, words = studio.cli("train", *SETS, "--wait")
    assert (code, answer["state"]) == (1, "failed")
    assert "exit code 1" in words


def test_ctrl_c_detaches(studio: Studio) -> None:
    studio.set(FAKE_STEPS="4000")
    command = studio.command("train", *SETS, "--wait", "--json")
    assert command.stderr is not None
    assert any(" step " in line for line in command.stderr)  # it follows the run, which has begun
    command.send_signal(signal.SIGINT)
    out, words = command.communicate(timeout=60)
    assert command.returncode == 0
    answer = json.loads(out)
    assert answer["state"] == "running"
    assert f"detached: run {answer['run']} goes on" in words
    at = studio.run(answer["run"]).last_step
    studio.wait_step(answer["run"], at + 1)


def test_nan_and_infinity_are_told_apart(studio: Studio) -> None:
    studio.set(FAKE_STEPS="3", FAKE_NAN_AT="3")
    code, answer, _ = studio.cli("train", *SETS, "--wait")
    assert code == 0
    _, shown, _ = studio.cli("show", "last")
    assert shown["metrics"]["loss"] is None
    assert shown["metrics_not_finite"] == {"kl": "inf", "loss": "nan"}
    out = studio.settings.home / "m.csv"
    assert studio.cli("export", "last", "--what", "metrics", "--out", str(out))[0] == 0
    rows = list(csv.DictReader(out.open(encoding="utf-8")))
    assert [row["step"] for row in rows] == ["1", "2", "3"]
    assert (rows[2]["loss"], rows[2]["kl"], rows[1]["kl"]) == ("nan", "inf", "")
    history = studio.services.history(answer["run"])["series"]["train"]
    assert history["loss"]["bad"] == [[3, "nan"]]
    assert history["kl"] == {"x": [3], "y": [None], "bad": [[3, "inf"]]}


def test_exports(studio: Studio) -> None:
    studio.set(FAKE_STEPS="6")
    _, answer, _ = studio.cli("train", *SETS, "--wait")
    home = studio.settings.home

    def export(what: str) -> Path:
        out = home / what
        code, told, _ = studio.cli("export", "last", "--what", what, "--out", str(out))
        assert (code, told["run"], told["what"], told["out"]) == (0, answer["run"], what, str(out))
        return out

    rows = list(csv.reader(export("metrics").open(encoding="utf-8")))
    assert rows[0][:4] == ["step", "reward", "reward_std", "frac_reward_zero_std"]
    assert [row[0] for row in rows[1:]] == ["1", "2", "3", "4", "5", "6"]
    at = rows[0].index("rewards/accuracy/mean")
    assert float(rows[3][at]) == metrics_at(3, 6)["rewards/accuracy/mean"]

    lines = [json.loads(line) for line in export("completions").read_text(encoding="utf-8").splitlines()]
    assert len(lines) == 6 * 2 * 4
    assert set(HOSTILE) & {line["completion"] for line in lines} == {
        HOSTILE[(step + 3) % len(HOSTILE)] for step in range(1, 7)
    }
    assert lines[0]["rewards"].keys() == {"accuracy", "format"}

    config = export("config")
    code, checked, _ = studio.cli("check", "--config", str(config))
    assert (code, checked["ok"]) == (0, True)
    assert yaml.safe_load(config.read_text(encoding="utf-8"))["num_generations"] == 4


def test_export_to_nowhere(studio: Studio) -> None:
    studio.set(FAKE_STEPS="2")
    studio.cli("train", *SETS, "--wait")
    for out in (studio.settings.home / "no" / "such" / "f.csv", studio.settings.home):
        code, answer, words = studio.cli("export", "last", "--what", "metrics", "--out", str(out))
        assert code == 2
        assert f"out={out}" in words
        assert "Traceback" not in words
        assert set(answer) == {"error"}


def test_check_names_field_value_rule_and_what_would_do(studio: Studio) -> None:
    code, answer, words = studio.cli("check", "--set", "num_generations=7", "--set", "temperature=0")
    assert code == 2
    assert answer["ok"] is False
    assert set(answer) == {"ok", "errors", "notes", "plan"}
    fields = {error["field"] for error in answer["errors"]}
    assert "temperature" in fields
    for error in answer["errors"]:
        assert {"field", "value", "rule", "suggest"} <= set(error)
        assert isinstance(error["rule"], str)
    assert "Traceback" not in words
    good = studio.cli("check", *SETS)
    assert (good[0], good[1]["ok"]) == (0, True)
    assert good[1]["plan"]["completions_per_step"] == 8


@pytest.mark.parametrize(
    "words",
    [
        ["train", "--set", "temperature=0"],
        ["train", "--set", "no_such_setting=1"],
        ["train", "--set", "novalue"],
        ["train", "--preset", "no-such-preset"],
        ["train", "--config", "/no/such/file.yaml"],
        ["show", "nothing"],
        ["stop", "last"],
        ["resume", "20260101-000000-aaaa"],
        ["delete", "../../x"],
        ["export", "x", "--what", "everything", "--out", "f"],
        ["models", "fetch", "no-such-model"],
        ["models", "fetch"],
        ["dance"],
        ["show"],
    ],
)
def test_what_is_refused(studio: Studio, words: list[str]) -> None:
    code, answer, said = studio.cli(*words)
    assert code == 2
    assert answer is not None
    assert "error" in answer
    assert said.strip()
    assert "Traceback" not in said
    assert studio.services.runs() == []


def test_runs_are_found_by_id_beginning_name_and_last(studio: Studio) -> None:
    studio.set(FAKE_STEPS="1")
    first, second, third = (studio.start(name=name).id for name in ("한글 이름", "twin", "twin"))
    for words, found in ((first[:-1], first), ("한글 이름", first), ("last", third)):
        assert studio.cli("show", words)[1]["run"] == found
    for words in ("twin", "20"):
        code, _, said = studio.cli("show", words)
        assert code == 2
        assert second in said
    code, listed, _ = studio.cli("runs")
    assert code == 0
    assert [run["id"] for run in listed["runs"]] == [third, second, first]


def test_a_plain_trl_yaml(studio: Studio, tmp_path: Path) -> None:
    path = tmp_path / "trl.yaml"
    path.write_text(
        "num_generations: 4\nper_device_train_batch_size: 8\nlearning_rate: 1e-6\nwarmup_ratio: 0.1\n"
        "output_dir: /somewhere\nbf16: true\n",
        encoding="utf-8",
    )
    code, answer, said = studio.cli("check", "--config", str(path))
    assert code == 0, said
    assert any("warmup" in note["text"] for note in answer["notes"] if note["kind"] == "changed")


def test_a_name_cannot_drive_the_terminal(studio: Studio) -> None:
    studio.set(FAKE_STEPS="1")
    studio.start(name="\x1b[2Jx\x07")
    out, _ = studio.command("runs").communicate(timeout=60)
    assert "\x1b" not in out
    assert "␛[2Jx␇" in out


def test_doctor(studio: Studio) -> None:
    code, report, _ = studio.cli("doctor")
    assert (code, report["ok"]) == (0, True)
    names = {finding["name"] for finding in report["checks"]}
    assert {"python", "packages", "sqlite", "processes", "device", "memory", "home", "disk", "database"} <= names
    assert all(finding["words"]["en"] and finding["words"]["ko"] for finding in report["checks"])


def test_doctor_on_a_home_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "in-the-way").write_text("")
    done = subprocess.run(
        [sys.executable, "-m", "backend", "doctor", "--json", "--home", str(tmp_path / "in-the-way" / "home")],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    report = json.loads(done.stdout)
    assert done.returncode == 1
    assert {f["name"] for f in report["checks"] if f["status"] == "fail"} == {"home", "database"}


def test_nothing_heavy_is_loaded() -> None:
    """The command line answers at once: it loads neither torch nor gradio to list runs or to check settings."""
    program = (
        "import sys\nfrom backend.cli import files, machine, main, parser, runs, settings\n"
        "heavy = {'torch', 'gradio', 'transformers', 'trl', 'datasets', 'plotly'} & set(sys.modules)\n"
        "sys.exit(f'loaded {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_help_is_quick() -> None:
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-m", "backend", "--help"], cwd=PROJECT, capture_output=True, check=False)
    assert done.returncode == 0
    assert time.monotonic() - began < 5  # on a loaded machine; 0.1 s on a quiet one


@pytest.mark.parametrize("words", [["train", "--pres", "quickstart"], ["runs", "--js"], ["stop", "last", "--no"]])
def test_options_are_not_guessed(studio: Studio, words: list[str]) -> None:
    code, answer, said = studio.cli(*words)
    assert (code, set(answer)) == (2, {"error"})
    assert "unrecognized arguments" in said


def test_input_that_nothing_can_read_is_refused_in_words(studio: Studio) -> None:
    deep = "[" * 900 + "1" + "]" * 900
    for words, environment, said in (
        (["check", "--set", f"dataset_args={{a: {deep}}}"], {}, "nested too deeply"),
        (["runs"], {"DATABASE_URL": "garbage"}, "DATABASE_URL is not the address"),
    ):
        code, answer, _ = studio.cli(*words, **environment)
        assert code == 2
        assert said in answer["error"]["en"]
    code, answer, said = studio.cli("check", "--set", "model=" + "x" * 300)
    assert code == 2
    assert "model" in [error["field"] for error in answer["errors"]]
    assert "OSError" not in said


def test_an_empty_home_and_an_empty_out_are_refused(studio: Studio) -> None:
    studio.set(FAKE_STEPS="2")
    studio.cli("train", *SETS, "--wait")
    code, answer, _ = studio.cli("export", "last", "--what", "config", "--out", "")
    assert (code, answer["error"]["en"]) == (2, "out='': name the file to write")
    done = subprocess.run(
        [sys.executable, "-m", "backend", "runs", "--json", "--home", ""],
        cwd=PROJECT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "--home" in json.loads(done.stdout)["error"]["en"]


def test_an_export_to_stdout_is_all_that_stands_there(studio: Studio, tmp_path: Path) -> None:
    stdout = tmp_path / "stdout"  # as /dev/stdout is, but the test's own: a fault must not replace the machine's
    stdout.symlink_to("/proc/self/fd/1")
    studio.set(FAKE_STEPS="2")
    studio.cli("train", *SETS, "--wait")
    command = studio.command("export", "last", "--what", "metrics", "--out", str(stdout))
    out, said = command.communicate(timeout=60)
    assert command.returncode == 0, said
    assert [row[0] for row in csv.reader(out.splitlines())] == ["step", "1", "2"]
    assert "written to" in said
    code, answer, _ = studio.cli("export", "last", "--what", "metrics", "--out", str(stdout))
    assert (code, set(answer)) == (2, {"error"})


def test_a_rename_and_the_time_of_a_resumed_run(studio: Studio) -> None:
    studio.set(FAKE_STEPS="12", FAKE_KILL_AT="8")
    run = studio.start(name="old")
    studio.wait_free(run.id)
    studio.services.reconcile()
    first = studio.services.view(run.id)["elapsed_s"]
    code, _, words = studio.cli("resume", run.id, "--set", "name=new", "--wait")
    assert code == 0, words
    assert "changed: name from 'old' to 'new'" in words
    view = studio.services.view(run.id)
    assert view["name"] == studio.run(run.id).config["name"] == "new"
    spans = studio.services.reader.spans(run.id)
    assert len(spans) == 2
    assert view["elapsed_s"] == pytest.approx(sum((to or 0) - since for since, to in spans))
    assert first < view["elapsed_s"] < view["ended_at"] - view["started_at"]


def test_ctrl_c_leaves_one_document(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from backend.cli import machine
    from backend.cli.main import main

    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(machine, "models", interrupted)
    assert main(["models", "--json"]) == 1
    assert "interrupted" in json.loads(capsys.readouterr().out)["error"]["en"]


def test_a_stop_that_waits(studio: Studio) -> None:
    studio.set(FAKE_STEPS="4000")
    run = studio.start()
    studio.wait_step(run.id, 1)
    code, answer, _ = studio.cli("stop", run.id, "--wait")
    assert (code, answer) == (0, {"run": run.id, "state": "stopped"})
    assert studio.run(run.id).state is RunState.STOPPED
