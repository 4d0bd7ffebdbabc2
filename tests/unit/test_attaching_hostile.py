"""Folders that are damaged, huge or made to harm, and settings that no attached run has: words, and nothing left."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from starlette.testclient import TestClient

from backend.attaching import document, reading, samples, service, waiting
from backend.attaching.folder import look
from backend.attaching.log import of_log
from backend.attaching.samples import group_size
from backend.data import read_parquet
from backend.errors import NotFound, Refused
from backend.report.words import TEXTS
from backend.services import Services
from backend.settings import Settings
from backend.views import kind_of_run
from storage import portable
from tests.unit.test_attaching import entry, folder

SECRET = "https://hooks.example.org/T0KEN"
HUGE = int("9" * 400)


@pytest.fixture
def services(tmp_path: Path) -> Services:
    return Services(Settings.from_environment(tmp_path / "home"))


def write(path: Path, step: int, prompts: list[Any], rewards: list[float], advantages: list[float]) -> None:
    n = len(prompts)
    table = {
        "step": [step] * n, "prompt": prompts, "completion": [f"{step} {i}" for i in range(n)],
        "right": rewards, "advantage": advantages,
    }  # fmt: skip
    path.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pa.table(table), path / f"completions_{step:05d}.parquet")


# --- settings ---


def test_an_address_of_alerts_reaches_no_row(services: Services, tmp_path: Path) -> None:
    given = {"alert_webhook": SECRET, "stop_on": "critical", "temperature": 0.5, "attached": "/etc"}
    given |= {"stages": ["probe"], "shuffle_rewards": True}
    where = folder(tmp_path / "out")
    found = services.attaching.attach(str(where), "", given)
    run = services.get(found["run"])
    assert run.config["temperature"] == 0.5
    assert not run.config.get("alert_webhook")
    assert (kind_of_run(run.config), run.config["attached"]) == ("attached", str(where))
    said = " ".join(note["en"] for note in found["notes"])
    assert "left out: alert_webhook, attached, shuffle_rewards, stages, stop_on" in said
    assert "T0KEN" not in json.dumps(found)
    for file in (tmp_path / "home").rglob("*"):
        if file.is_file():
            assert b"T0KEN" not in file.read_bytes(), file


def test_a_file_of_a_run_brings_no_address_either(services: Services, tmp_path: Path) -> None:
    run = services.attaching.attach(str(folder(tmp_path / "out")))["run"]
    portable.dump(services.db, run, tmp_path / "a.gz")
    head = portable.peek(tmp_path / "a.gz")
    import gzip

    lines = gzip.decompress((tmp_path / "a.gz").read_bytes()).splitlines(keepends=True)
    head["run"]["config"]["alert_webhook"] = SECRET
    (tmp_path / "b.gz").write_bytes(gzip.compress(json.dumps(head).encode() + b"\n" + b"".join(lines[1:])))
    other = Services(Settings.from_environment(tmp_path / "other"))
    assert other.get(portable.load(other.db, tmp_path / "b.gz")).config["alert_webhook"] == ""


@pytest.mark.parametrize("name", ["x" * 201, "a\0b", "a\nb", "\ud800", "a\u202eb"])
def test_a_name_that_no_list_can_show_is_refused(name: str, services: Services, tmp_path: Path) -> None:
    with pytest.raises(Refused, match="at most 200 characters"):
        services.attaching.attach(str(folder(tmp_path / "out")), name)
    assert services.runs() == []


def test_the_name_of_a_folder_is_shown_without_its_line_breaks(services: Services, tmp_path: Path) -> None:
    assert services.attaching.attach(str(folder(tmp_path / "a\nb")))["name"] == "a_b"


# --- pages ---


def test_every_kind_of_run_has_its_word_and_the_report_is_made(services: Services, tmp_path: Path) -> None:
    configs: list[dict[str, Any]] = [
        {}, {"shuffle_rewards": True}, {"stages": ["probe"]}, {"stages": ["evaluate"]}, {"attached": "/x"},
    ]  # fmt: skip
    kinds = {kind_of_run(config) for config in configs}
    assert kinds == set(re.findall(r'"(\w+)"', kind_of_run.__doc__ or "")), "a kind that is not listed here"
    assert {f"kind.{kind}" for kind in kinds} <= set(TEXTS)
    for where in (folder(tmp_path / "out"), folder(tmp_path / "log", completions=False)):
        run = services.attaching.attach(str(where))["run"]
        assert "trained elsewhere" in services.exports.document(run, "report", "en")[1]
        assert "외부에서 한 GRPO 학습" in services.exports.document(run, "report", "ko")[1]
        assert services.exports.document(run, "card")[1]
        said = services.diagnosis.again(run, wait_s=None)["headline"]["text"]
        assert services.headline(run)["text"] == said, "the page says what the diagnosis says"


# --- damage ---


def test_paths_that_are_none_are_refused(services: Services, tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    for path in ("a\0b", "~nobody-of-that-name/x", str(loop), "x" * 5000, "\ud800"):
        with pytest.raises((Refused, NotFound)):
            services.attaching.attach(path)


@pytest.mark.skipif(os.geteuid() == 0 or os.name == "nt", reason="everything can be read here")
def test_a_file_without_the_right_to_read_it_is_refused(services: Services, tmp_path: Path) -> None:
    where = folder(tmp_path / "out")
    (where / "completions").chmod(0)
    with pytest.raises(Refused, match="cannot be read"):
        services.attaching.attach(str(where))


@pytest.mark.parametrize("step", ["abc", float("inf"), float("nan"), [1], {}, True, HUGE, -3])
def test_a_global_step_that_is_none_is_passed_over(step: Any, services: Services, tmp_path: Path) -> None:
    where = folder(tmp_path / "out", steps=2, completions=False)
    (where / "checkpoint-9").mkdir()
    state = {"global_step": step, "log_history": [entry(9, 1.0, 1.0)]}
    (where / "checkpoint-9" / "trainer_state.json").write_text(json.dumps(state))
    assert services.get(services.attaching.attach(str(where))["run"]).last_step == 2


def test_numbers_that_are_none_become_gaps(services: Services, tmp_path: Path) -> None:
    where = folder(tmp_path / "out")
    log = [
        entry(1, 0.5, 0.5) | {"reward": HUGE, "completions/mean_length": float("nan")},
        entry(2, 0.5, 0.5) | {"completions/clipped_ratio": float("nan"), "completions/mean_length": float("inf")},
        entry(3, 0.5, 0.5) | {"completions/clipped_ratio": -1e300, "completions/mean_length": 1e300},
        entry(4, 0.5, 0.5) | {"step": HUGE, "step_time": 1e300, "train_runtime": -float("inf"), "x" * 300: 1.0},
    ]
    state = {
        "global_step": 3, "max_steps": float("inf"), "train_batch_size": [], "num_train_epochs": HUGE,
        "logging_steps": 0.5, "save_steps": "x", "log_history": log,
    }  # fmt: skip
    (where / "checkpoint-3" / "trainer_state.json").write_text(json.dumps(state))
    (where / "adapter_config.json").write_text(json.dumps({"r": -4, "lora_alpha": True, "lora_dropout": HUGE}))
    run = services.get(services.attaching.attach(str(where))["run"])
    _, curves = services.reader.history(run.id)
    assert 1 not in list(curves["train", "reward"][0])
    assert len(services.reader.groups(run.id, limit=10)) == 6
    assert not {"max_steps", "num_train_epochs", "save_steps", "lora_r"} & set(run.config)
    assert run.started_at == run.ended_at
    services.exports.document(run.id, "report")


def test_folders_with_odd_digits_are_no_checkpoints(services: Services, tmp_path: Path) -> None:
    where = folder(tmp_path / "out", steps=2)
    for name in ("checkpoint-²", "checkpoint-٣", "checkpoint-" + "9" * 5000):
        if len(name) < 200:
            (where / name).mkdir()
    (where / "completions" / "completions_².parquet").write_bytes(b"x")
    assert services.attaching.attach(str(where))["steps"] == 2


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.just(HUGE) | st.floats() | st.text(max_size=5),
    lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text(max_size=5), each, max_size=3),
    max_leaves=5,
)
KEYS = st.sampled_from(
    ["step", "reward", "loss", "step_time", "train_runtime", "eval_reward", "rewards/a/mean", "_step"]
)


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(
    st.fixed_dictionaries({}, optional=dict.fromkeys(["max_steps", "train_batch_size", "global_step"], JSON)),
    st.lists(st.dictionaries(KEYS, JSON, max_size=4) | JSON, max_size=4),
    st.dictionaries(st.sampled_from(["r", "lora_alpha", "base_model_name_or_path"]), JSON),
)
def test_any_json_is_taken_in_or_refused(
    services: Services, tmp_path: Path, state: dict[str, Any], log: list[Any], adapter: dict[str, Any]
) -> None:
    where = tmp_path / "any"
    where.mkdir(exist_ok=True)
    (where / "trainer_state.json").write_text(json.dumps(state | {"log_history": log}))
    (where / "adapter_config.json").write_text(json.dumps(adapter))
    try:
        run = services.attaching.attach(str(where))["run"]
    except Refused:
        return
    assert services.view(run)["kind"] == "attached"
    assert services.live(run)


@pytest.mark.parametrize("completion", [1, [1, 2], {"a": 1}, [], [{"role": "assistant"}], [{"x": 1, "content": [1]}]])
def test_completions_of_any_shape_have_a_text(completion: Any) -> None:
    assert isinstance(samples._text(completion), str)


# --- what hangs ---


@pytest.mark.timeout(60)
def test_only_regular_files_are_opened(services: Services, tmp_path: Path) -> None:
    where = folder(tmp_path / "out", steps=2)
    for name in ("completions/completions_00003.parquet", "a.jsonl", "adapter_config.json", "tokenizer.json"):
        os.mkfifo(where / name)
    os.mkfifo(where / "trainer_state.json")
    assert services.attaching.attach(str(where))["completions"] == 16
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(Refused, match="regular file"):
        services.attaching.attach(str(tmp_path / "pipe"))


@pytest.mark.timeout(60)
def test_a_file_that_does_not_come_ends_at_its_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "a.parquet")
    monkeypatch.setattr(read_parquet, "FILE_LIMIT_S", 0.5)
    with pytest.raises(Refused, match="not read within"):
        list(read_parquet.read_many([tmp_path / "a.parquet"]))


@pytest.mark.timeout(60)
def test_the_child_goes_with_whoever_asked(tmp_path: Path) -> None:
    """It waits in `open` for a pipe that nobody writes to; its standard input closes, and it is gone."""
    import sys

    os.mkfifo(tmp_path / "a.parquet")
    line = [sys.executable, "-m", "backend.data.parquet_child", str(tmp_path / "a.parquet"), "3000"]
    child = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    try:
        assert child.stdin is not None
        child.stdin.close()
        assert child.wait(30) != 0
    finally:
        child.kill()
        child.wait()


def test_a_stop_between_files_leaves_nothing(services: Services, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []

    class Enough(Exception): ...

    def progress(done: int, of: int, what: Any) -> None:
        seen.append((done, of))
        if done == 2:
            raise Enough

    with pytest.raises(Enough):
        services.attaching.attach(str(folder(tmp_path / "out", steps=4)), progress=progress)
    assert (2, 4) in seen
    assert services.runs() == []
    assert not list((tmp_path / "home").glob("attach-*"))


@pytest.mark.timeout(60)
def test_the_page_can_stop_it_and_the_place_is_free_again(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from starlette.applications import Starlette

    from ui.api import api_routes

    reached, go_on = threading.Event(), threading.Event()
    whole = samples.generations

    def slow(files: Any, sampling: Any, heard: Any) -> Any:
        for each in whole(files, sampling, heard):
            yield each
            reached.set()
            go_on.wait(30)

    monkeypatch.setattr(samples, "generations", slow)
    with TestClient(Starlette(routes=api_routes(services))) as client:  # type: ignore[arg-type]
        where = str(folder(tmp_path / "out", steps=3))
        job = client.post("/api/attach", json={"path": where}).json()["job"]
        assert reached.wait(30)
        assert client.post("/api/attach", json={"path": where}).status_code == 409
        assert client.post(f"/api/attach/jobs/{job}/stop", json={}).status_code == 200
        go_on.set()
        threads = [each for each in threading.enumerate() if each.name == f"job-{job}"]
        for each in threads:
            each.join(30)
        assert client.get(f"/api/attach/jobs/{job}").json()["state"] == "stopped"
        assert services.runs() == []
        second = client.post("/api/attach", json={"path": where, "groups_every": 3}).json()["job"]
        for each in [each for each in threading.enumerate() if each.name == f"job-{second}"]:
            each.join(30)
        assert client.get(f"/api/attach/jobs/{second}").json()["state"] == "done"


# --- size ---


def test_generations_are_read_one_file_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next file is asked for when the one before has been used."""
    where = folder(tmp_path / "out", steps=4)
    asked: list[Path] = []
    whole = read_parquet.read_many

    def watched(paths: Any) -> Any:
        for path, rows in whole(paths):
            asked.append(path)
            yield path, rows

    monkeypatch.setattr(read_parquet, "read_many", watched)
    found = samples.Reading(look(where).completions)
    history = samples.History()
    for at, _ in enumerate(samples.generations(found, samples.Sampling(("right",), (1.0,), history)), 1):
        assert len(asked) == at


def test_more_than_there_is_room_for_is_refused_with_what_would_fit(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = str(folder(tmp_path / "out", steps=8))
    monkeypatch.setattr(document, "LARGEST", 6_000)
    with pytest.raises(Refused, match=r"attach --groups-every (\d+)") as refused:
        services.attaching.attach(where)
    match = re.search(r"--groups-every (\d+)", str(refused.value))
    assert match is not None
    assert services.runs() == []
    monkeypatch.undo()
    found = services.attaching.attach(where, groups_every=4)
    kept = {group.step for group in services.reader.groups(found["run"], limit=100)}
    assert kept == {1, 4, 8}
    assert (found["groups"], found["completions"]) == (6, 24)
    _, curves = services.reader.history(found["run"])
    assert len(curves["train", "signal/zero_std"][0]) == 8
    for wrong in (0, -1, True, "2"):
        with pytest.raises(Refused, match="groups_every"):
            services.attaching.attach(where, groups_every=wrong)  # type: ignore[arg-type]


def test_the_limit_of_foreign_files_is_not_that_of_an_own_one(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(portable, "LARGEST", 100)
    assert services.attaching.attach(str(folder(tmp_path / "out")))["completions"] == 24


@pytest.mark.timeout(120)
def test_a_small_file_that_stands_for_much_is_refused(services: Services, tmp_path: Path) -> None:
    where = tmp_path / "out" / "completions"
    where.mkdir(parents=True)
    n = 2000
    table = pa.table({"step": [1] * n, "prompt": ["p"] * n, "completion": ["x" * 40_000] * n, "advantage": [0.0] * n})
    parquet.write_table(table, where / "completions_00001.parquet", compression="zstd")
    assert (where / "completions_00001.parquet").stat().st_size < 100_000
    with pytest.raises(Refused, match="would come out of"):
        services.attaching.attach(str(tmp_path / "out"))


# --- groups ---


def test_groups_of_one_prompt_side_by_side_stay_two(services: Services, tmp_path: Path) -> None:
    """By the common divisor: in some file the prompts differ."""
    where = tmp_path / "out" / "completions"
    write(where, 1, ["a"] * 8 + ["b"] * 4, [1.0] * 4 + [0.0] * 8, [0.0] * 12)
    write(where, 2, ["b"] * 8 + ["a"] * 4, [1.0] * 12, [0.0] * 12)
    run = services.attaching.attach(str(tmp_path / "out"))["run"]
    groups = services.reader.groups(run, limit=100)
    assert [len(group.completions) for group in groups] == [4] * 6
    assert all(group.kind != "live" for group in groups)
    assert services.get(run).config["num_generations"] == 4


def test_groups_of_a_single_prompt_are_told_by_their_advantages(services: Services, tmp_path: Path) -> None:
    where = tmp_path / "out" / "completions"
    for step in (1, 2, 3):
        write(where, step, ["a"] * 8, [1.0] * 4 + [0.0] * 4, [0.0] * 8)
    found = services.attaching.attach(str(tmp_path / "out"))
    assert (found["groups"], services.get(found["run"]).config["num_generations"]) == (6, 4)
    assert all(group.kind != "live" for group in services.reader.groups(found["run"], limit=100))
    assert any("num_generations is taken as 4" in note["en"] for note in found["notes"])
    given = services.attaching.attach(str(tmp_path / "out"), "", {"num_generations": 2})
    assert given["groups"] == 12
    assert not any("num_generations" in note["en"] for note in given["notes"])


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from([2, 4, 6, 8]), st.integers(1, 2), st.sampled_from(["group", "batch", "none"]), st.integers(0, 10**6)
)
def test_the_size_of_a_group_is_found(size: int, prompts: int, scale: str, seed: int) -> None:
    import random

    import numpy as np

    draw = random.Random(seed)
    files = []
    for _ in range(8):
        rows = []
        for _ in range(6):
            prompt = f"p{draw.randrange(prompts)}"
            rewards = np.array([float(draw.random() < 0.4) for _ in range(size)])
            rows += [{"prompt": prompt, "f": r, "c": r - rewards.mean(), "std": rewards.std(ddof=1)} for r in rewards]
        batch = np.std([row["f"] for row in rows], ddof=1)
        for row in rows:
            by = {"group": row["std"] + 1e-4, "batch": batch + 1e-4, "none": 1.0}[scale]
            row["advantage"] = float(np.float32(row["c"] / by))
        files.append(rows)
    assert group_size(files, ["f"], [1.0]) == size


def test_without_a_fit_the_common_divisor_stays() -> None:
    rows = [{"prompt": p, "f": 0.1 * i * i, "advantage": (-1.0) ** i * i} for p in "ab" for i in range(4)]
    assert group_size([rows], ["f"], [1.0]) == 4
    assert group_size([[{"prompt": str(i), "f": 1.0, "advantage": 0.0} for i in range(3)]], ["f"], [1.0]) is None
    assert group_size([], ["f"], [1.0]) is None


def test_a_generation_that_was_logged_twice_counts_once(services: Services, tmp_path: Path) -> None:
    """As with num_iterations=2: TRL writes what its last generation was at each log."""
    where = tmp_path / "out" / "completions"
    write(where, 1, ["a"] * 4 + ["b"] * 4, [1.0, 0.0] * 4, [0.5, -0.5] * 4)
    table = parquet.read_table(where / "completions_00001.parquet")
    parquet.write_table(table.set_column(0, "step", pa.array([2] * 8)), where / "completions_00002.parquet")
    write(where, 3, ["a"] * 4 + ["b"] * 4, [1.0, 0.0] * 4, [0.5, -0.5] * 4)
    found = services.attaching.attach(str(tmp_path / "out"))
    assert found["completions"] == 16
    assert {group.step for group in services.reader.groups(found["run"], limit=100)} == {1, 3}


def test_steps_stand_in_the_order_of_the_names(services: Services, tmp_path: Path) -> None:
    where = tmp_path / "out" / "completions"
    for step, said in ((1, 50), (2, 2), (10, 3)):
        write(where, said, ["a"] * 4 + ["b"] * 4, [1.0, 0.0] * 4, [0.5, -0.5] * 4)
        (where / f"completions_{said:05d}.parquet").rename(where / f"x{step}")
    for step in (1, 2, 10):
        (where / f"x{step}").rename(where / f"completions_{step}.parquet")
    found = services.attaching.attach(str(tmp_path / "out"))
    groups = list(reversed(services.reader.groups(found["run"], limit=100)))
    assert [group.step for group in groups] == [1, 1, 2, 2, 10, 10]
    assert found["steps"] == 10


# --- a disk that is gone, a page that runs ---


@pytest.mark.timeout(60)
def test_a_disk_that_is_gone_does_not_keep_the_place(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever asks it waits for ever; the next one may try another folder."""
    gone, back = threading.Event(), threading.Event()
    sound = folder(tmp_path / "sound")

    def read(path: Path) -> Any:
        if path.name == "gone":
            gone.set()
            back.wait(50)
        return reading.read_folder(path)

    monkeypatch.setattr(service, "read_folder", read)
    monkeypatch.setattr(waiting, "LIMIT_S", 0.2)
    try:
        with pytest.raises(Refused, match=r"gone: no answer within 0 seconds.*disk.*mount") as refused:
            services.attaching.attach(str(tmp_path / "gone"))
        assert "디스크" in refused.value.text.ko
        assert gone.is_set()
        monkeypatch.setattr(waiting, "LIMIT_S", 50)
        assert services.attaching.attach(str(sound))["steps"] == 3

        class Enough(Exception): ...

        def stop(*_: Any) -> None:
            if gone.is_set():
                raise Enough

        gone.clear()
        with pytest.raises(Enough):
            services.attaching.attach(str(tmp_path / "gone"), progress=stop)
        assert len(services.runs()) == 1
    finally:
        back.set()


def test_what_goes_wrong_in_the_look_is_told_as_it_is() -> None:
    def wrong() -> None:
        raise FileNotFoundError("x")

    with pytest.raises(FileNotFoundError, match="x"):
        waiting.within("p", wrong, lambda: None)


def test_a_loop_of_links_is_refused_by_its_path(services: Services, tmp_path: Path) -> None:
    where = folder(tmp_path / "out", completions=False)
    (where / "completions").symlink_to(where / "completions")
    for name in ("checkpoint-7", "a.jsonl", "adapter_config.json", "tokenizer.json"):
        (where / name).symlink_to(where / name)
    (where / "checkpoint-8").symlink_to(where)  # a folder in itself: its trainer_state.json is that of the folder
    assert services.attaching.attach(str(where))["steps"] == 3


@pytest.mark.parametrize(
    "line",
    [
        "{'a': " + "-" * 90_000 + "1}",
        "{'a': " + "1+" * 40_000 + "1}",
        "{" * 90_000,
        "{'a': " + "(" * 50_000,
        "{'a': 9" + "9" * 50_000 + "}",
        '{"a": ' * 90_000,
        "{'a': b'x'*1000000000}",
        "{" + "'a': 1," * 10_000 + "}" * 3,
    ],
    ids=["minus", "plus", "sets", "brackets", "digits", "nested", "product", "ends"],
)
@pytest.mark.timeout(60)
def test_a_line_made_to_harm_is_no_entry(line: str, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text(line + '\n{"step": 1, "reward": 0.5}\n')
    history = of_log(tmp_path / "log.jsonl")
    assert (len(history.rows), history.skipped) == (1, 1)


def test_a_name_that_is_a_tag_stays_a_text(services: Services, tmp_path: Path) -> None:
    tag = "<img src=x onerror=alert(1)>"
    where = tmp_path / tag / "completions"
    write(where, 1, [tag] * 4 + ["b"] * 4, [1.0, 0.0] * 4, [0.5, -0.5] * 4)
    table = parquet.read_table(where / "completions_00001.parquet").rename_columns(
        ["step", "prompt", "completion", tag, "advantage"]
    )
    parquet.write_table(table, where / "completions_00001.parquet")
    log = {"step": 1, "reward": 0.5, f"rewards/{tag}/mean": 0.5, tag: 1.0}
    (tmp_path / tag / "trainer_state.json").write_text(json.dumps({"global_step": 1, "log_history": [log]}))
    run = services.attaching.attach(str(tmp_path / tag))["run"]
    assert (services.get(run).name, services.get(run).reward_names) == (tag, (tag,))
    for language in ("en", "ko"):
        page = services.exports.document(run, "report", language)[1]
        assert "<img" not in page
        assert "&lt;img src=x" in page


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (errno.ENOSPC, r"home: no room to take in .*out.*python -m backend disk"),
        (errno.EACCES, r"out: cannot be read .*account"),
        (errno.EIO, r"out: cannot be read .*Copy it"),
    ],
)
def test_what_the_disk_says_is_told_with_what_would_do(
    number: int, said: str, services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(document, "write", full)
    with pytest.raises(Refused, match=said):
        services.attaching.attach(str(folder(tmp_path / "out")))
    assert services.runs() == []
    assert not list((tmp_path / "home").glob("attach-*"))
