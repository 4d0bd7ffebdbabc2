"""A run's best completions as warm-up rows, and what is held out never among them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from backend import data
from backend.config import RunConfig, check
from backend.data import split
from backend.errors import NotFound, Refused
from backend.services import Services
from backend.settings import Settings
from storage.records import Completion, Generation, Group
from storage.runs import create_run
from storage.writer import Writer

RUN = "20261129-134500-ab2c"
TALK = json.dumps([{"role": "user", "content": "2+2"}])


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    made = Services(Settings(tmp_path / "home"))
    create_run(made.db, RUN, "a run", {"dataset": "arithmetic"}, None, ("accuracy",))
    yield made
    made.close()


def group(prompt: str, answers: list[tuple[str, float | None]], ident: str, talk: bool = False) -> Group:
    completions = tuple(Completion(text, 3, "cut" in text, (total,), total, 0.0) for text, total in answers)
    return Group(ident, prompt, "messages" if talk else "text", "4", completions)


def put(services: Services, *groups: Group, phase: str = "train") -> None:
    settings = services.settings
    writer = Writer(settings.database_url, RUN, 1, settings.run_dir(RUN) / "spill.jsonl", 0.02)
    settings.run_dir(RUN).mkdir(parents=True, exist_ok=True)
    for step, each in enumerate(groups, start=1):
        writer.generation(Generation(step, phase, ("accuracy",), (each,)))  # pyright: ignore[reportArgumentType]
    assert writer.close()


def test_the_best_completion_of_each_prompt_is_taken(services: Services) -> None:
    put(
        services,
        group("1+1", [("two", 0.5), ("2", 1.0), ("cut off 2", 1.0), ("", 1.0)], "a"),
        group(TALK, [("4", 1.0), ("four", 0.2)], "b", talk=True),
        group("1+1", [("2!", 1.0), ("2", 1.0)], "a"),
        group("9+9", [("?", None), ("x", 0.0)], "c"),
    )
    meta = services.data.best_of(RUN, "best", min_reward=0.5)
    assert (meta["kind"], meta["rows"], meta["run"], meta["completions_seen"]) == ("sft", 2, RUN, 10)
    rows = services.data.rows("best")
    assert [(row["prompt"], row["completion"]) for row in rows] == [
        ("1+1", "2"),
        ([{"role": "user", "content": "2+2"}], [{"role": "assistant", "content": "4"}]),
    ]
    assert services.data.best_of(RUN, "more", min_reward=0.5, per_prompt=9)["rows"] == 4
    assert services.data.best_of(RUN, "all")["rows"] == 3
    with pytest.raises(Refused, match="none of its 10 completions is whole and has a reward of at least 7"):
        services.data.best_of(RUN, "none", min_reward=7)
    with pytest.raises(Refused, match="per_prompt is 0"):
        services.data.best_of(RUN, "none", per_prompt=0)
    with pytest.raises(NotFound):
        services.data.best_of("20261129-134500-zzzz", "none")


def test_what_was_evaluated_is_no_example(services: Services) -> None:
    put(services, group("1+1", [("2", 1.0)], "a"), phase="eval")
    with pytest.raises(Refused, match="none of its 0 completions"):
        services.data.best_of(RUN, "best")


def sft(folder: Path, count: int) -> Path:
    path = folder / "sft.jsonl"
    rows = [{"prompt": f"p{n}", "completion": f"<answer>{n}</answer>"} for n in range(count)]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def test_a_stored_set_or_a_file_gives_the_rows_of_the_warm_up(services: Services, tmp_path: Path) -> None:
    home = services.settings.home
    path = sft(tmp_path, 30)
    meta = services.data.store(path, "w", {"kind": "sft"})
    base = RunConfig(stages=["sft", "grpo"], sft_dataset="w", sft_rows=10, dataset="article-math")
    rows = data.warmup_rows(base, home)
    assert len(rows) == 10
    assert rows == data.warmup_rows(base.model_copy(update={"sft_dataset": str(path)}), home)
    assert rows != data.warmup_rows(base.model_copy(update={"seed": 7}), home)
    assert len(data.warmup_rows(base.model_copy(update={"sft_rows": 99}), home)) == 30
    assert data.pin(base.to_dict(), home) == {"sft_args": {"sha256": meta["sha256"]}}
    assert check(base.to_dict(), home=home).ok


def test_a_set_of_the_other_kind_is_refused_in_words(services: Services, tmp_path: Path) -> None:
    home = services.settings.home
    services.data.store(sft(tmp_path, 30), "w", {"kind": "sft"})
    services.data.store(sft(tmp_path, 30), "p")
    with pytest.raises(Refused, match="holds rows for the warm-up; give it as sft_dataset"):
        data.load(RunConfig(dataset="w", eval_size=2), home)
    for name, said in (("p", "holds prompts without answers"), ("missing", "is no stored set and no file")):
        problems = check({"stages": ["sft", "grpo"], "sft_dataset": name}, home=home).errors
        assert [p.field for p in problems] == ["sft_dataset"]
        assert said in problems[0].rule.en


def test_rows_that_ask_what_is_held_out_are_left_out() -> None:
    asked = [{"role": "user", "content": "q 2"}]
    rows = [{"prompt": prompt, "completion": "a"} for prompt in ("질문  1", asked, "q 3")]
    held = [{"prompt": "질문 1\n"}, {"prompt": [{"role": "system", "content": "s"}, *asked]}]
    assert split.without(rows, held) == rows[2:]
    assert split.without(rows, []) is rows


def test_only_completions_that_are_whole_are_counted_as_such(services: Services) -> None:
    whole = group("1+1", [("2", 1.0)], "a")
    put(services, replace(whole, completions=tuple(replace(c, truncated=True) for c in whole.completions)))
    with pytest.raises(Refused, match="is whole"):
        services.data.best_of(RUN, "best")


def test_chosen_rows_of_a_warm_up_set_are_one_too(services: Services, tmp_path: Path) -> None:
    services.data.store(sft(tmp_path, 30), "w", {"kind": "sft"})
    ids = [row["prompt_id"] for row in services.data.rows("w")]
    assert services.data.filter("w", "some", ids[:3])["kind"] == "sft"
