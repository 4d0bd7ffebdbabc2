"""Runs of plain TRL: what their folders tell, what is derived, and what is refused in words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from backend.attaching.history import History, of_entries
from backend.attaching.log import of_log
from backend.attaching.settings import reward_names, reward_weights
from backend.errors import NotFound, Refused
from backend.services import Services
from backend.settings import Settings
from storage.records import RunState

MESSAGES = [{"role": "user", "content": "2+2?"}]


def entry(step: int, right: float, short: float, **more: Any) -> dict[str, Any]:
    return {
        "step": step, "epoch": 0.1 * step, "loss": 0.0, "learning_rate": 1e-5 * (5 - step),
        "reward": right + 0.2 * short,
        "rewards/right/mean": right, "rewards/short/mean": short, "completions/mean_length": 3.0,
        "completions/clipped_ratio": 0.25, "step_time": 2.0, **more,
    }  # fmt: skip


def folder(where: Path, steps: int = 3, completions: bool = True, prompt: Any = "2+2=") -> Path:
    """An output_dir with a checkpoint, `steps` steps and two groups of four a step."""
    log = [entry(s, 0.25 * (s % 3), 0.5 * (s % 2) + 0.01 * s * s) for s in range(1, steps + 1)]
    log += [
        {"step": steps, "eval_reward": 0.5, "eval_runtime": 1.0},
        {"step": steps, "train_runtime": 9.5, "train_loss": 0.1},
    ]
    at = where / f"checkpoint-{steps}"
    at.mkdir(parents=True)
    state = {"global_step": steps, "max_steps": steps, "train_batch_size": 8, "log_history": log}
    (at / "trainer_state.json").write_text(json.dumps(state))
    (at / "training_args.bin").write_bytes(b"cos\nsystem\n(S'touch /tmp/never'\ntR.")
    if completions:
        (where / "completions").mkdir()
        for step in range(1, steps + 1):
            other = MESSAGES if prompt is MESSAGES else "3+3="
            texts = ["4", "5", "4 and so on and on", chr(96 + step)] * 2  # each step samples anew
            if prompt is MESSAGES:
                answers: list[Any] = [[{"role": "assistant", "content": text}] for text in texts]
                prompts: list[Any] = [prompt] * 4 + [[{"role": "user", "content": "3+3?"}]] * 4
            else:
                answers, prompts = texts, [prompt] * 4 + [other] * 4
            table = {
                "step": [step] * 8, "prompt": prompts, "completion": answers,
                "right": [1.0, 0.0, 1.0, None, 0.0, 0.0, 0.0, 0.0],
                "short": [1.0, 1.0, 0.0, float("inf"), 1.0, 1.0, 1.0, 1.0],
                "answer": ["4"] * 4 + ["6"] * 4, "advantage": [0.5, -0.5, 0.2, 0.0] * 2,
            }  # fmt: skip
            parquet.write_table(pa.table(table), where / "completions" / f"completions_{step:05d}.parquet")
    return where


@pytest.fixture
def services(tmp_path: Path) -> Services:
    return Services(Settings.from_environment(tmp_path / "home"))


def test_a_folder_becomes_a_run_with_curves_groups_and_settings(services: Services, tmp_path: Path) -> None:
    found = services.attaching.attach(str(folder(tmp_path / "math run")), "")
    run = services.get(found["run"])
    assert (run.name, run.state, run.last_step) == ("math run", RunState.SUCCEEDED, 3)
    assert services.view(run.id)["kind"] == "attached"
    assert not services.view(run.id)["can"]["resume"]
    assert run.reward_names == ("right", "short")
    assert run.config["reward_weights"] == [1.0, 0.2]
    assert (run.config["num_generations"], run.config["per_device_train_batch_size"]) == (4, 8)
    _, curves = services.reader.history(run.id)
    assert list(curves["train", "rewards/right/mean"][1]) == [0.25, 0.5, 0.0]
    assert list(curves["eval", "eval_reward"][1]) == [0.5]
    assert list(curves["train", "signal/zero_std"][1]) == [0.5, 0.5, 0.5]
    groups = services.reader.groups(run.id, limit=10)
    assert len(groups) == 6
    first = groups[-1]
    assert (first.step, first.prompt, first.ground_truth, len(first.completions)) == (1, "2+2=", "4", 4)
    assert [c.rewards for c in first.completions] == [(1.0, 1.0), (0.0, 1.0), (1.0, 0.0), (None, float("inf"))]
    assert first.completions[0].total == pytest.approx(1.2)
    assert [c.advantage for c in first.completions] == [0.5, -0.5, 0.2, 0.0]
    assert [c.truncated for c in first.completions] == [False, False, True, False], "the longest is the clipped one"
    assert services.reader.results(run.id)["attached"]["tokens"] == "estimated"
    assert run.ended_at is not None
    assert run.started_at == pytest.approx(run.ended_at - 9.5)


@pytest.mark.parametrize(
    ("scores", "kinds"),
    [
        ([[0.0, 0.0], [0.0, 0.0]], ["all_wrong", "all_wrong"]),
        ([[1.0, 1.0], [1.0, 1.0]], ["all_right", "all_right"]),
        ([[0.5, 0.5], [1.0, 1.0], [0.0, 0.0]], ["tied", "all_right", "all_wrong"]),
    ],
)
def test_the_signal_curve_and_the_samples_say_the_same(
    services: Services, tmp_path: Path, scores: list[list[float]], kinds: list[str]
) -> None:
    """Also of a training that never left one total, and of groups from before its extremes were reached."""
    where = tmp_path / "out"
    (where / "completions").mkdir(parents=True)
    log = [{"step": step, "loss": 0.0, "reward": row[0]} for step, row in enumerate(scores, start=1)]
    (where / "trainer_state.json").write_text(json.dumps({"log_history": log, "global_step": len(scores)}))
    for step, row in enumerate(scores, start=1):
        table = {
            "step": [step] * 2, "prompt": ["2+2="] * 2, "completion": ["4", "5"], "accuracy": row,
            "advantage": [0.0] * 2,
        }  # fmt: skip
        parquet.write_table(pa.table(table), where / "completions" / f"completions_{step:05d}.parquet")
    run = services.attaching.attach(str(where))["run"]
    stored = {group.step: group.kind for group in services.reader.groups(run, limit=10)}
    assert [stored[step] for step in sorted(stored)] == kinds
    _, curves = services.reader.history(run)
    for kind in ("all_wrong", "all_right", "tied"):
        assert list(curves["train", f"signal/{kind}"][1]) == [float(each == kind) for each in kinds]


def test_nothing_in_the_folder_is_unpickled_or_changed(services: Services, tmp_path: Path) -> None:
    where = folder(tmp_path / "out")
    before = {p: p.read_bytes() for p in where.rglob("*") if p.is_file()}
    services.attaching.attach(str(where))
    assert {p: p.read_bytes() for p in where.rglob("*") if p.is_file()} == before
    assert not Path("/tmp/never").exists()


def test_messages_stay_messages(services: Services, tmp_path: Path) -> None:
    run = services.attaching.attach(str(folder(tmp_path / "chat", prompt=MESSAGES)))["run"]
    group = services.reader.groups(run, limit=10)[-1]
    assert (group.prompt_format, json.loads(group.prompt)) == ("messages", MESSAGES)
    assert group.completions[0].text == "4"


def test_given_settings_count_before_what_the_files_say(services: Services, tmp_path: Path) -> None:
    where = str(folder(tmp_path / "out"))
    run = services.attaching.attach(where, "mine", {"temperature": 0.3, "reward_weights": [1.0, 0.5]})["run"]
    assert services.get(run).config["temperature"] == 0.3
    assert services.reader.groups(run, limit=10)[-1].completions[0].total == 1.5
    with pytest.raises(Refused, match="temperature"):
        services.attaching.attach(where, "", {"temperature": "hot"})
    with pytest.raises(Refused, match="3 values for 2 rewards"):
        services.attaching.attach(where, "", {"reward_weights": [1.0, 0.5, 2.0]})
    assert len(services.runs()) == 1


def test_the_same_folder_again_is_another_run(services: Services, tmp_path: Path) -> None:
    where = str(folder(tmp_path / "out"))
    assert [services.attaching.attach(where)["name"] for _ in range(2)] == ["out", "out-2"]


def test_a_log_alone_is_enough_and_the_notes_say_what_is_missing(services: Services, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    lines = [
        "starting up",
        json.dumps(entry(1, 0.5, 0.5)),
        "{'loss': '0.1', 'reward': '0.75', 'rewards/right/mean': 0.75}",
    ]
    log.write_text("\n".join(lines) + '\n{"step": 3, "reward": NaN}\n{"broken": \n', encoding="utf-8")
    found = services.attaching.attach(str(log))
    _, curves = services.reader.history(found["run"])
    steps, values = curves["train", "reward"]
    assert list(steps) == [1, 2, 3]
    assert list(values)[:2] == [0.6, 0.75]
    assert list(values)[2] != list(values)[2]
    words = " ".join(note["en"] for note in found["notes"])
    assert "no completions" in words
    assert "2 lines of the log" in words


@pytest.mark.parametrize("kind", ["missing", "empty", "no_state", "no_log", "not_parquet", "array"])
def test_what_is_no_training_is_refused_in_words_and_leaves_nothing(
    kind: str, services: Services, tmp_path: Path
) -> None:
    where = tmp_path / "x"
    if kind != "missing":
        where.mkdir()
    if kind == "no_state":
        (where / "trainer_state.json").write_text("{")
    if kind == "array":
        (where / "trainer_state.json").write_text("[]")
    if kind == "no_log":
        (where / "a.jsonl").write_text('{"prompt": "x"}\n')
    if kind == "not_parquet":
        folder(where / "in")
        where = where / "in"
        (where / "completions" / "completions_00002.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(NotFound if kind == "missing" else Refused) as refused:
        services.attaching.attach(str(where))
    assert str(tmp_path) in str(refused.value) or "completions_00002" in str(refused.value)
    assert services.runs() == []


def test_the_newest_checkpoint_counts(services: Services, tmp_path: Path) -> None:
    where = folder(tmp_path / "out", steps=2, completions=False)
    folder(where / "more", steps=11, completions=False)
    (where / "more" / "checkpoint-11").rename(where / "checkpoint-11")
    assert services.get(services.attaching.attach(str(where))["run"]).last_step == 11


def test_names_come_from_the_log_and_stand_as_the_columns_do() -> None:
    history = of_entries([{"step": 1, "rewards/b/mean": 1.0, "rewards/a/mean": 1.0, "reward": 2.0}])
    assert reward_names(history, ["step", "prompt", "completion", "b", "note", "a", "advantage"]) == ("b", "a")
    assert reward_names(history, []) == ("a", "b")
    assert reward_names(History(), ["step", "prompt", "completion", "f", "advantage"]) == ("f",)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.floats(-2, 2).map(lambda w: round(w, 2)), min_size=1, max_size=3),
    st.integers(0, 1000),
)
def test_weights_are_found_from_the_log(weights: list[float], seed: int) -> None:
    import random

    rng = random.Random(seed)
    entries = []
    for step in range(1, 12):
        parts = [rng.random() for _ in weights]
        means = {f"rewards/f{i}/mean": part for i, part in enumerate(parts)}
        entries.append({"step": step, **means, "reward": sum(w * p for w, p in zip(weights, parts, strict=True))})
    names = [f"f{i}" for i in range(len(weights))]
    found, fits = reward_weights(of_entries(entries), names)
    assert fits
    assert found == pytest.approx(tuple(weights), abs=2e-3)


def test_weights_that_the_log_does_not_bear_out_are_ones() -> None:
    entries = [{"step": s, "rewards/f/mean": 0.1 * s, "reward": 0.1 * s * s} for s in range(1, 6)]
    assert reward_weights(of_entries(entries), ["f"]) == ((1.0,), False)
    assert reward_weights(of_entries(entries[:1]), ["f"]) == ((1.0,), False)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(max_size=40), max_size=8))
def test_a_log_of_anything_is_read_or_refused(lines: list[str]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as where:
        path = Path(where) / "log.jsonl"
        path.write_text("\n".join(lines), encoding="utf-8", errors="surrogatepass")
        said = ""
        try:
            found = len(of_log(path).rows)
        except Refused as error:
            found, said = 0, str(error)
        assert found or "no line of it" in said
