"""Folders and logs as each version of TRL and each way of logging leaves them: curves, groups and words."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from backend.attaching.history import of_entries
from backend.attaching.log import of_log
from backend.attaching.samples import Reading, columns
from backend.errors import Refused
from backend.services import Services
from backend.settings import Settings
from tests.unit.test_attaching import entry, folder

# What log() adds to loss, grad_norm and learning_rate, with one reward: read in the trainers of those versions.
OLD = {"completion_length": 12.0, "rewards/right": 0.25, "reward": 0.25, "reward_std": 0.4, "kl": 0.001}
METRICS: dict[str, dict[str, float]] = {
    "0.14": OLD,
    "0.16": {**OLD, "num_tokens": 900.0, "clip_ratio": 0.02},
    "0.17": {
        "num_tokens": 900.0, "completions/mean_length": 12.0, "completions/clipped_ratio": 0.25,
        "rewards/right/mean": 0.25, "rewards/right/std": 0.4, "reward": 0.25, "reward_std": 0.4,
        "clip_ratio/low_mean": 0.0, "clip_ratio/region_mean": 0.02,
    },
    "0.19 with Liger": {
        "completions/mean_length": 12.0, "rewards/right/mean": 0.25, "reward": 0.25, "frac_reward_zero_std": 0.5,
        "clip_ratio": 0.02,
    },
    "1.16": {
        "completions/mean_length": 12.0, "rewards/right/mean": 0.25, "rewards/right/std": 0.4, "reward": 0.25,
        "reward_std": 0.4, "frac_reward_zero_std": 0.5, "entropy": 1.0, "clip_ratio/region_mean": 0.02,
        "step_time": 2.0,
    },
}  # fmt: skip
TRAINER = {"loss": 0.01, "grad_norm": 0.5, "learning_rate": 1e-6, "epoch": 0.1}


@pytest.fixture
def services(tmp_path: Path) -> Services:
    return Services(Settings.from_environment(tmp_path / "home"))


def state(where: Path, log: list[dict[str, Any]], steps: int, at: str = "", **more: Any) -> Path:
    (where / at).mkdir(parents=True, exist_ok=True)
    said = {"global_step": steps, "max_steps": steps, "train_batch_size": 8, "log_history": log, **more}
    (where / at / "trainer_state.json").write_text(json.dumps(said))
    return where


def write(where: Path, step: int, **table: list[Any]) -> None:
    (where / "completions").mkdir(parents=True, exist_ok=True)
    rows = {"step": [step] * len(table["prompt"]), **table}
    parquet.write_table(pa.table(rows), where / "completions" / f"completions_{step:05d}.parquet")


def words(found: dict[str, Any]) -> str:
    for note in found["notes"]:
        assert note["ko"] != note["en"], "every note is in both languages"
    return " ".join(note["en"] for note in found["notes"])


# --- names ---


@pytest.mark.parametrize("version", list(METRICS))
def test_each_version_comes_out_under_todays_names(version: str, services: Services, tmp_path: Path) -> None:
    log = [{"step": step, **TRAINER, **METRICS[version]} for step in (1, 2, 3)]
    run = services.get(services.attaching.attach(str(state(tmp_path / "out", log, 3)))["run"])
    assert run.reward_names == ("right",)
    _, curves = services.reader.history(run.id)
    assert list(curves["train", "rewards/right/mean"][1]) == [0.25] * 3
    assert list(curves["train", "completions/mean_length"][1]) == [12.0] * 3
    if any(name.startswith("clip_ratio") for name in METRICS[version]):
        assert list(curves["train", "clip_ratio/region_mean"][1]) == [0.02] * 3
    assert not {("train", "rewards/right"), ("train", "completion_length"), ("train", "clip_ratio")} & curves.keys()
    assert run.config["reward_weights"] == [1.0]


def test_a_name_of_today_counts_before_the_old_one() -> None:
    (row,) = of_entries([{"step": 1, "completion_length": 3.0, "completions/mean_length": 4.0}]).rows
    assert row[2] == {"completions/mean_length": 4.0}


@pytest.mark.parametrize("prefix", ["", "eval_"])
def test_an_evaluation_is_none_of_the_training(prefix: str) -> None:
    """TRL 0.14 put eval_ before the loss only."""
    own = {f"{prefix}{name}": value for name, value in OLD.items()}
    log = [{"step": 4, **TRAINER, **OLD}, {"step": 4, "epoch": 0.1, "eval_loss": 0.0, "eval_runtime": 2.0, **own}]
    history = of_entries(log)
    assert [phase for _, phase, _ in history.rows] == ["train", "eval"]
    told = history.rows[1][2]
    assert (told["eval_reward"], told["eval_rewards/right/mean"], told["eval_completions/mean_length"]) == (
        0.25, 0.25, 12.0,
    )  # fmt: skip
    assert history.series("train", "reward") == [(4, 0.25)]


def test_a_line_with_both_is_taken_apart() -> None:
    history = of_entries([{"step": 4, "loss": 0.1, "reward": 0.5, "eval_reward": 0.7, "epoch": 1.0}])
    assert history.rows == [
        (4, "train", {"loss": 0.1, "reward": 0.5, "epoch": 1.0}),
        (4, "eval", {"eval_reward": 0.7}),
    ]


def test_a_trackers_history_stands_at_the_trainers_steps() -> None:
    """wandb's _step counts calls: TRL's timings and tables are calls as well."""
    lines = [
        {"_step": 0, "profiling/Time taken: GRPOTrainer._prepare_inputs": 1.5, "_timestamp": 1.7e9},
        {"_step": 1, "completions": {"_type": "table-file"}},
        {"_step": 2, "train/global_step": 10, "train/reward": 0.25, "train/rewards/right/mean": 0.25, "train/epoch": 1},
        {"_step": 3, "my/own": 3.0},
        {"_step": 4, "train/global_step": 10, "eval/reward": 0.5, "eval/rewards/right/mean": 0.5, "train/epoch": 1},
        {"_step": 9, "train/global_step": 20, "train/reward": "NaN", "train/kl": "Infinity"},
        {"_step": 10, "train/global_step": 20, "train/train_runtime": 9.0, "train/total_flos": 1.0},
    ]
    history = of_entries(lines)
    assert history.series("train", "reward")[0] == (10, 0.25)
    assert history.series("train", "my/own") == [(10, 3.0)]
    assert history.series("eval", "eval_reward") == [(10, 0.5)]
    assert history.series("train", "kl") == [(20, math.inf)]
    assert (history.last_step, history.seconds) == (20, 9.0)
    assert not [name for name in history.names() if "profiling" in name or "flos" in name]
    counted = of_entries([{"_step": 5, "reward": 0.5}, {"_step": 7, "reward": 0.6}])
    assert counted.series("train", "reward") == [(5, 0.5), (7, 0.6)], "where nothing else tells"


# --- logs ---

ENTRIES = [{"step": 1, "reward": 0.5, "loss": 0.1}, {"step": 2, "reward": 0.75, "loss": 0.2}]
LINES = "\n".join(map(json.dumps, ENTRIES))


@pytest.mark.parametrize(
    "written",
    [
        LINES.encode("utf-8-sig"),
        LINES.replace("\n", "\r\n\r\n").encode(),
        LINES.encode("utf-16"),
        json.dumps(ENTRIES, indent=1).encode(),
        (LINES + '\n{"step": 3, "rewa').encode(),
        b"\n".join(repr(each).encode() for each in ENTRIES),
        b"  5%|\xe2\x96\x8f | 1/20 [00:01<00:19,  1.00s/it]\r"
        + b" 10%|# | 2/20 [00:02<00:18, 1.0s/it]\x1b[A ".join(repr(each).encode() + b"\n" for each in ENTRIES),
    ],
    ids=["bom", "crlf", "utf-16", "list", "cut", "printed", "bars"],
)
def test_a_log_is_read_however_it_was_written(written: bytes, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_bytes(written)
    assert of_log(tmp_path / "log.jsonl").series("train", "reward") == [(1, 0.5), (2, 0.75)]


def test_numbers_that_are_none_are_read_as_python_prints_them(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text("{'loss': nan, 'grad_norm': inf, 'reward': -inf}\n" + '{"loss": NaN, "grad_norm": Infinity}\n')
    first, second = (values for _, _, values in of_log(log).rows)
    for values in (first, second):
        assert math.isnan(values["loss"])
        assert values["grad_norm"] == math.inf
    assert first["reward"] == -math.inf


def test_a_data_set_is_no_log(services: Services, tmp_path: Path) -> None:
    log = tmp_path / "train.jsonl"
    log.write_text('{"question": "2+2", "answer": 4}\n{"prompt": "x", "reward": 1.0, "step": 3}\n')
    with pytest.raises(Refused, match="no line of it is a log entry"):
        services.attaching.attach(str(log))


def test_a_log_that_begins_anew_keeps_the_later_entries_and_says_so(services: Services, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    steps = [(1, 0.1), (2, 0.2), (3, 0.3), (2, 0.6), (3, 0.7), (4, 0.8)]
    log.write_text("".join(json.dumps({"step": step, "reward": value}) + "\n" for step, value in steps))
    found = services.attaching.attach(str(log))
    _, curves = services.reader.history(found["run"])
    assert list(curves["train", "reward"][1]) == [0.1, 0.6, 0.7, 0.8]
    assert "begins anew" in words(found)
    one = services.attaching.attach(str(state(tmp_path / "out", [entry(1, 0.5, 0.5)], 1)))
    assert "begins anew" not in words(one)


def test_a_log_goes_on_where_the_last_checkpoint_ends(services: Services, tmp_path: Path) -> None:
    where = state(tmp_path / "out", [entry(step, 0.5, 0.5) for step in (1, 2)], 2, "checkpoint-2")
    lines = [{"step": step, "reward": 0.1 * step} for step in (1, 2, 3, 4)]
    (where / "log.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (where / "a.jsonl").write_text(json.dumps({"step": 9, "reward": 1.0}))
    found = services.attaching.attach(str(where))
    _, curves = services.reader.history(found["run"])
    assert list(curves["train", "reward"][0]) == [1, 2, 3, 4]
    assert list(curves["train", "reward"][1]) == pytest.approx([0.6, 0.6, 0.3, 0.4])
    assert "2 steps after the last checkpoint" in words(found)
    assert "not read: a.jsonl" in words(found)


def test_a_training_that_is_not_over_says_where_it_ends(services: Services, tmp_path: Path) -> None:
    where = state(tmp_path / "out", [entry(1, 0.5, 0.5)], 1, max_steps=1000)
    assert "ends at step 1 of 1,000" in words(services.attaching.attach(str(where)))
    write(where, 7, prompt=["a"] * 4 + ["b"] * 4, completion=["x"] * 8, right=[1.0] * 8, advantage=[0.0] * 8)
    assert "the completions go on to 7" in words(services.attaching.attach(str(where)))


def test_a_training_without_rewards_is_said_to_be_another(services: Services, tmp_path: Path) -> None:
    log = [{"step": step, **TRAINER, "mean_token_accuracy": 0.9} for step in (1, 2)]
    assert "tells no reward" in words(services.attaching.attach(str(state(tmp_path / "sft", log, 2))))
    assert "tells no reward" not in words(services.attaching.attach(str(folder(tmp_path / "grpo"))))


def test_a_log_without_an_entry_is_refused(services: Services, tmp_path: Path) -> None:
    where = state(tmp_path / "out", [], 5)
    with pytest.raises(Refused, match=r"trainer_state\.json: log_history holds no entry.*logging_steps"):
        services.attaching.attach(str(where))
    assert services.runs() == []


def test_a_state_is_taken_in_by_its_own_path(services: Services, tmp_path: Path) -> None:
    where = folder(tmp_path / "out", completions=False) / "checkpoint-3" / "trainer_state.json"
    assert services.attaching.attach(str(where))["steps"] == 3
    where.rename(tmp_path / "kept.json")
    assert services.attaching.attach(str(tmp_path / "kept.json"))["steps"] == 3


def test_a_part_of_a_folder_says_where_the_rest_is(services: Services, tmp_path: Path) -> None:
    where = folder(tmp_path / "out")
    for part in ("completions", "checkpoint-3"):
        assert f"wrote is in {where}" in words(services.attaching.attach(str(where / part)))
    with pytest.raises(Refused, match="Give the output_dir"):
        services.attaching.attach(str(where / "completions" / "completions_00001.parquet"))
    (where / "completions" / "table.parquet").write_bytes(b"")
    for file in (where / "completions").glob("completions_*"):
        file.unlink()
    assert "1 Parquet files in completions/ are not named" in words(services.attaching.attach(str(where)))


# --- completions ---


def test_an_evaluation_that_wrote_over_a_step_is_not_taken_for_training(services: Services, tmp_path: Path) -> None:
    """TRL keeps the last rows that were generated: the evaluation's push out those of the training. Seen with 1.16."""
    where = tmp_path / "out"
    log: list[dict[str, Any]] = [{"step": step, **TRAINER, "rewards/right/mean": 0.5} for step in (1, 2, 3)]
    log += [
        {
            "step": 2, "eval_reward": 0.25, "eval_rewards/right/mean": 0.25, "eval_runtime": 2.0,
            "eval_samples_per_second": 1.0, "eval_completions/mean_length": 3.0,
        },
        {
            "step": 3, "eval_reward": 0.5, "eval_rewards/right/mean": 0.5, "eval_runtime": 2.0,
            "eval_samples_per_second": 50.0,
        },
    ]  # fmt: skip
    state(where, log, 3)
    halves = [0.5, -0.5, 0.5, -0.5]
    for step in (1, 3):
        write(
            where, step, prompt=["a"] * 4 + ["b"] * 4, completion=[f"{step}{i}" for i in range(8)],
            right=[1.0, 0.0] * 4, advantage=halves * 2,
        )  # fmt: skip
    write(  # one group of the training is left, then two prompts of an evaluation with two generations
        where, 2, prompt=["c"] * 4 + ["x"] * 2 + ["y"] * 2, completion=[f"2{i}" for i in range(8)],
        right=[1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0], advantage=[*halves, 0.0, 0.0, -0.5, 0.5],
    )  # fmt: skip
    found = services.attaching.attach(str(where))
    groups = reversed(services.reader.groups(found["run"], limit=100))
    assert [(g.step, g.phase, g.prompt, len(g.completions)) for g in groups] == [
        (1, "train", "a", 4), (1, "train", "b", 4),
        (2, "train", "c", 4), (2, "eval", "x", 2), (2, "eval", "y", 2),
        (3, "eval", "a", 4), (3, "eval", "b", 4),
    ]  # fmt: skip
    assert services.get(found["run"]).config["num_generations"] == 4
    _, curves = services.reader.history(found["run"])
    assert list(curves["train", "signal/zero_std"][0]) == [1, 2]
    assert list(curves["train", "signal/zero_std"][1]) == [0.0, 0.0], "the dead group is the evaluation's"


def test_without_advantages_groups_and_rewards_are_there_and_nothing_is_made_up(
    services: Services, tmp_path: Path
) -> None:
    for step in (1, 2):
        write(
            tmp_path / "out", step, prompt=["a"] * 4 + ["b"] * 4, completion=[f"{step}{i}" for i in range(8)],
            right=[1.0, None, 0.0, 1.0] * 2, note=["text"] * 8,
        )  # fmt: skip
    found = services.attaching.attach(str(tmp_path / "out"))
    run = services.get(found["run"])
    assert (run.reward_names, run.config["num_generations"]) == (("right",), 4)
    group = services.reader.groups(run.id, limit=10)[0]
    assert [c.advantage for c in group.completions] == [None] * 4
    assert [c.rewards[0] for c in group.completions] == [1.0, None, 0.0, 1.0]
    assert [c.total for c in group.completions] == [1.0, None, 0.0, 1.0]
    assert "no log" in words(found)


def test_rows_whose_groups_are_not_known_are_no_dead_groups(services: Services, tmp_path: Path) -> None:
    """As where each prompt was kept once (log_unique_prompts)."""
    for step in (1, 2):
        write(
            tmp_path / "out", step, prompt=list("abcd"), completion=[f"{step}{i}" for i in range(4)],
            right=[0.0] * 4, advantage=[0.0] * 4,
        )  # fmt: skip
    found = services.attaching.attach(str(tmp_path / "out"))
    assert "what was a group is not known" in words(found)
    assert {group.kind for group in services.reader.groups(found["run"], limit=100)} == {"live"}
    _, curves = services.reader.history(found["run"])
    assert ("train", "signal/zero_std") not in curves


def test_a_size_of_groups_that_does_not_fit_is_said(services: Services, tmp_path: Path) -> None:
    found = services.attaching.attach(str(folder(tmp_path / "out")), "", {"num_generations": 3})
    assert "num_generations=3 does not fit: 4 rows of one prompt" in words(found)
    fits = services.attaching.attach(str(tmp_path / "out"), "", {"num_generations": 2})
    assert "does not fit" not in words(fits)


def test_columns_of_texts_are_no_rewards() -> None:
    rows = [{"step": 1, "prompt": "p", "completion": "c", "f": None, "said": "x", "n": 2, "advantage": None}]
    assert columns([rows]) == ["step", "prompt", "completion", "f", "n", "advantage"]
    assert columns([]) == []


# --- what changes while it is read, or is damaged ---


def test_the_newest_file_may_be_in_the_making(services: Services, tmp_path: Path) -> None:
    where = folder(tmp_path / "out")
    newest = where / "completions" / "completions_00003.parquet"
    newest.write_bytes(newest.read_bytes()[:500])
    found = services.attaching.attach(str(where))
    assert found["completions"] == 16
    assert f"left out: {newest}: is no Parquet file" in words(found)
    (where / "completions" / "completions_00001.parquet").write_bytes(b"PAR1")
    with pytest.raises(Refused, match=r"^/.*completions_00001\.parquet: is no Parquet file.*Copy it again"):
        services.attaching.attach(str(where))
    assert len(services.runs()) == 1


def test_a_file_that_is_gone_since_the_folder_was_listed(tmp_path: Path) -> None:
    where = folder(tmp_path / "out") / "completions"
    files = [where / f"completions_{step:05d}.parquet" for step in (1, 2, 3)]
    files[2].unlink()
    reading = Reading(files)
    assert [len(rows) for _, rows in reading] == [8, 8]
    assert reading.cut is not None
    assert "completions_00003.parquet" in str(reading.cut)


def test_a_checkpoint_that_was_cut_leaves_the_one_before(services: Services, tmp_path: Path) -> None:
    where = state(folder(tmp_path / "out", steps=2), [], 0, "checkpoint-9")
    (where / "checkpoint-9" / "trainer_state.json").write_text('{"global_step": 9, "log_')
    (where / "adapter_config.json").write_text("{")
    found = services.attaching.attach(str(where))
    assert found["steps"] == 2
    said = words(found)
    assert "checkpoint-9/trainer_state.json: cannot be read" in said
    assert "adapter_config.json: cannot be read" in said


def test_the_same_folder_again_is_said(services: Services, tmp_path: Path) -> None:
    where = str(folder(tmp_path / "out"))
    assert "taken in before" not in words(services.attaching.attach(where))
    assert "taken in before, as out; this is another run" in words(services.attaching.attach(where))
