"""The embedded model's build: real processes, a model of a few thousand parameters and a dozen steps."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from backend.data import arithmetic
from backend.models import catalogue, embedded
from backend.settings import PROJECT

SMALL = {"hidden": 16, "layers": 1, "heads": 2, "intermediate": 32, "steps": 12, "batch": 4}
LONG = {**SMALL, "steps": 100_000}

PROGRAM = """
import json, pathlib, sys
from backend.models import embedded as described
from backend.workers import embedded
from backend.workers.stop import StopHere

folder, args, stop_at = pathlib.Path(sys.argv[1]), json.loads(sys.argv[2]), int(sys.argv[3])
steps = []

def on_metrics(step, total, metrics):
    steps.append([step, total, sorted(metrics)])
    print("step", step, file=sys.stderr, flush=True)

try:
    path = embedded.build(folder, on_metrics, lambda: bool(steps) and steps[-1][0] >= stop_at, described.parse(args))
except StopHere:
    path = None
print(json.dumps({"path": path and str(path), "steps": steps}))
"""


def start(folder: Path, args: dict[str, Any], stop_at: int = 10**9) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(folder), json.dumps(args), str(stop_at)],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1"},
    )


def result(process: subprocess.Popen[str]) -> dict[str, Any]:
    out, err = process.communicate(timeout=280)
    assert process.returncode == 0, err
    return json.loads(out.splitlines()[-1])


def digest(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, Any]]]:
    """A models folder in which two processes that started together were told to build the same model."""
    folder = tmp_path_factory.mktemp("models")
    processes = [start(folder, SMALL), start(folder, SMALL)]
    return folder, [result(process) for process in processes]


def test_two_runs_at_once_build_it_once(built: tuple[Path, list[dict[str, Any]]]) -> None:
    folder, results = built
    expected = embedded.folder(folder, embedded.parse(SMALL))
    assert [found["path"] for found in results] == [str(expected)] * 2
    assert sorted(len(found["steps"]) for found in results) == [0, 3]
    (steps,) = (found["steps"] for found in results if found["steps"])
    assert [step[:2] for step in steps] == [[1, 12], [5, 12], [10, 12]]
    assert all({"loss", "learning_rate", "grad_norm"} <= set(step[2]) for step in steps)
    assert [path.name for path in folder.iterdir() if path.is_dir()] == [expected.name]
    assert catalogue.resolve("embedded", folder, SMALL) == str(expected)


def test_the_weights_depend_on_the_spec_alone(built: tuple[Path, list[dict[str, Any]]], tmp_path: Path) -> None:
    again = result(start(tmp_path, SMALL))
    assert digest(Path(again["path"])) == digest(embedded.folder(built[0], embedded.parse(SMALL)))


def test_what_is_built_loads_as_any_model_does(built: tuple[Path, list[dict[str, Any]]]) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = embedded.folder(built[0], embedded.parse(SMALL))
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder)
    facts = catalogue.facts(str(folder))
    assert facts is not None
    assert sum(parameter.numel() for parameter in model.parameters()) == facts.params
    assert facts.params == embedded.parse(SMALL).facts.params
    assert len(tokenizer) == embedded.VOCABULARY == model.config.vocab_size
    assert (tokenizer.eos_token, tokenizer.pad_token) == (embedded.END, embedded.PAD)
    assert model.config.eos_token_id == model.generation_config.eos_token_id == tokenizer.eos_token_id
    chat = [{"role": "system", "content": "s"}, {"role": "user", "content": "47+38"}]
    prompt = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
    assert prompt == "<|system|>s<|user|>47+38<|assistant|>"
    whole = tokenizer.apply_chat_template([*chat, {"role": "assistant", "content": "85"}], tokenize=False)
    assert whole == prompt + "85<|end|>"
    assert len(tokenizer(prompt)["input_ids"]) == 9
    for text in ("<answer>85</answer>", "한글 <think>\u00e9 🙂\x00</think>\n\t  two  spaces", "x<y>z", "×÷"):
        ids = tokenizer(text)["input_ids"]
        assert tokenizer.decode(ids, skip_special_tokens=True) == text
    assert len(tokenizer("<answer>85</answer>")["input_ids"]) == 4


def test_a_stop_ends_the_build_at_the_next_step_and_leaves_nothing(tmp_path: Path) -> None:
    stopped = result(start(tmp_path, LONG, stop_at=5))
    assert stopped["path"] is None
    assert stopped["steps"][-1][0] == 5
    assert not [path for path in tmp_path.iterdir() if path.is_dir()]


def test_a_killed_build_leaves_nothing_under_the_name_and_the_next_one_clears_up(tmp_path: Path) -> None:
    process = start(tmp_path, LONG)
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("step 5"):
            break
    process.kill()
    process.communicate()
    assert not embedded.folder(tmp_path, embedded.parse(LONG)).exists()
    (left,) = (path for path in tmp_path.iterdir() if path.is_dir())
    stopped = result(start(tmp_path, LONG, stop_at=1))
    assert stopped["steps"]
    assert not left.exists()


def test_the_teacher_never_shows_a_held_out_problem() -> None:
    from backend.workers.embedded import warmup_rows

    shown = {row["prompt"][0]["content"] for row in warmup_rows(embedded.DEFAULT)}
    settings = arithmetic.Arithmetic()
    for split in ("validation", "test"):
        for seed in range(5):
            rows = arithmetic.rows(settings, split, 256, seed)
            assert not shown & {row["prompt"][0]["content"] for row in rows}
