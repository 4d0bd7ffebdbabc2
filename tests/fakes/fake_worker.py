"""A worker without torch whose curves are known: what the page, the processes and the storage are tested with.

Chosen by GRPO_STUDIO_WORKER=tests.fakes.fake_worker. It follows the same stages, states and exit codes as the real
one, and writes through the same Writer. What it does is set by environment variables, all optional:

FAKE_STEPS=40         GRPO steps (else the run's max_steps, else 40)
FAKE_STEP_S=0.05      seconds a step
FAKE_WARMUP=3         steps of the supervised warm-up, where the recipe has one
FAKE_GROUPS=2         groups a step, of num_generations completions each
FAKE_SAVE_EVERY=5     steps between checkpoints
FAKE_IGNORE_TERM=1    SIGTERM does nothing, to the children neither
FAKE_CHILDREN=1       children; FAKE_CHILD_SESSIONS=1 puts each in a session of its own. A dead child ends the worker
FAKE_CRASH_AT=7       raise at this step: failed, with the reason written by the worker
FAKE_EXIT_AT=7        exit with FAKE_EXIT_CODE (1) at this step, writing no end
FAKE_KILL_AT=7        SIGKILL itself at this step
FAKE_HANG_AT=7        stay in this step for ever (SIGTERM is noted, and never acted on)
FAKE_NAN_AT=7         loss NaN and kl infinite at this step
FAKE_PRINT_ENV=1      print the whole environment to the log
FAKE_SPAM=1           1 MiB to stdout and to stderr first
FAKE_PIDS=FILE        append the pids of the worker and its children
A crash, exit, kill or hang happens in the first attempt only, so that a resume can succeed.
"""

from __future__ import annotations

import argparse
import math
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from backend.settings import Settings
from backend.workers import checkpoints
from storage.db import Database
from storage.reader import Reader
from storage.records import Completion, Evaluation, EvaluationItem, Generation, Group, Run, RunState
from storage.runs import set_fields, transition
from storage.writer import Writer
from tests.fakes import fake_evaluation

REWARDS = ("accuracy", "format")
HOSTILE = (
    "<think>a</think><answer>7</answer>",
    "<style>body{display:none}</style><img src=x onerror=\"document.title='owned'\">",
    "[x](javascript:alert(1)) \\[ i<j \\] {{ value }} ${value}",
    "\x1b[31mred\x1b[0m nul:\x00 lone:\ud83d rtl:\u202e 한글 🧮",
    "x<y and y>z\r\nline two\tend",
    "<script>document.title='owned'</script>",
)


def reward_at(step: int, total: int) -> float:
    """The mean accuracy at a step: rises from 0.1 towards 0.9."""
    return 0.1 + 0.8 * (1 - math.exp(-3 * step / max(1, total)))


def metrics_at(step: int, total: int) -> dict[str, float]:
    """What a step logs, under TRL's names and ours."""
    accuracy, zero = reward_at(step, total), 0.6 * step / max(1, total)
    return {
        "reward": accuracy + 0.2 * 0.9,
        "reward_std": 0.5 - 0.3 * step / max(1, total),
        "rewards/accuracy/mean": accuracy,
        "rewards/accuracy/std": math.sqrt(accuracy * (1 - accuracy)),
        "rewards/format/mean": 0.9,
        "rewards/format/std": 0.3,
        "frac_reward_zero_std": zero,
        "completions/mean_length": 20 + 10 * math.sin(step / 5),
        "completions/min_length": 6.0,
        "completions/max_length": 40.0,
        "completions/clipped_ratio": 0.05,
        "completions/mean_terminated_length": 19 + 10 * math.sin(step / 5),
        "num_tokens": 1000.0 * step,
        "loss": 0.01 * math.cos(step),
        "grad_norm": 1.0 + 0.1 * math.sin(step),
        "learning_rate": 1e-4 * (1 - step / max(1, total + 1)),
        "entropy": 1.5 - step / max(1, total),
        "step_time": 0.05,
        "epoch": step / 10,
        "signal/live": 1 - zero,
        "signal/all_right": zero / 2,
        "signal/all_wrong": zero / 4,
        "signal/tied": zero / 4,
        "signal/zero_std": zero,
        "time/generate": 0.03,
        "time/reward": 0.005,
        "time/update": 0.015,
        "memory/process_gb": 1.2,
        "completions_per_s": 100.0,
    }


def generation_at(step: int, total: int, groups: int, size: int) -> Generation:
    """Groups whose completions are plain, right or wrong, and hostile text in turn."""
    return Generation(
        step=step,
        phase="train",
        reward_names=REWARDS,
        groups=tuple(_group(step, total, number, size) for number in range(groups)),
    )


def _group(step: int, total: int, number: int, size: int) -> Group:
    a, b = 10 + step % 90, 11 + number
    right = round(size * reward_at(step, total)) if number else size * (step % 2)
    scores = [1.0 if index < right else 0.0 for index in range(size)]
    mean = sum(scores) / size
    completions = tuple(
        Completion(
            text=(
                HOSTILE[(step + index) % len(HOSTILE)]
                if index % 4 == 3
                else f"{a} + {b} = <answer>{a + b if score else a - b}</answer>"
            ),
            tokens=12 + index,
            truncated=index % 16 == 15,
            rewards=(score, None if index % 8 == 7 else 1.0),
            total=score + (0.0 if index % 8 == 7 else 0.2),
            advantage=score - mean,
            correct=score == 1.0,
            extracted=(str(a + b if score else a - b) if index % 4 != 3 else None, None),
            reasons=(
                "no <answer> tag"
                if index % 4 == 3
                else "equal to the ground truth"
                if score
                else "not the ground truth",
                "<b>no form</b>\x1b[31m to judge" if index % 8 == 7 else None,
            ),
        )
        for index, score in enumerate(scores)
    )
    return Group(f"p{number}-{step}", f"What is {a} + {b}?", "text", str(a + b), completions)


class FakeWorker:
    def __init__(self, settings: Settings, run_id: str) -> None:
        self.db = Database(settings.database_url)
        run = Reader(self.db).run(run_id)
        if run is None:
            raise SystemExit(f"no run {run_id}")
        self.run: Run = run
        self.dir = settings.run_dir(run_id)
        self.first = run.attempt == 1
        self.term = False
        self.children: list[subprocess.Popen[bytes]] = []
        self.steps = _number("FAKE_STEPS", int(run.config.get("max_steps") or 0) or 40)
        if self.steps < 1:
            self.steps = 40
        self.step_s = float(os.environ.get("FAKE_STEP_S", "0.05"))
        self.size = int(run.config.get("num_generations") or 4)
        self.writer = Writer(settings.database_url, run_id, run.attempt, self.dir / "spill.jsonl")

    def main(self) -> int:
        deaf = bool(os.environ.get("FAKE_IGNORE_TERM"))
        signal.signal(signal.SIGTERM, signal.SIG_IGN if deaf else self._on_term)
        self._start_children(deaf)
        if not transition(self.db, self.run.id, RunState.STARTING, RunState.RUNNING):
            self.term = True  # a stop came first
        set_fields(self.db, self.run.id, reward_names=REWARDS, total_steps=self.steps)
        if os.environ.get("FAKE_PRINT_ENV"):
            print(dict(os.environ), flush=True)  # noqa: T201
        if os.environ.get("FAKE_SPAM"):
            for stream in (sys.stdout, sys.stderr):
                stream.write(("spam " * 20 + "\n") * (1024 * 1024 // 101 + 1))
                stream.flush()
        try:
            stopped = self._stages()
        except Exception as error:
            self.writer.close()
            reason = f"{type(error).__name__}: {error}"
            transition(self.db, self.run.id, [RunState.RUNNING, RunState.STOPPING], RunState.FAILED, reason=reason)
            return 1
        self.writer.close()
        self._end_children()
        if stopped:
            transition(self.db, self.run.id, [RunState.RUNNING, RunState.STOPPING], RunState.STOPPED)
        else:
            transition(self.db, self.run.id, [RunState.RUNNING, RunState.STOPPING], RunState.SUCCEEDED)
        return 0

    def _stages(self) -> bool:
        if self.run.config.get("stages") == ["probe"]:
            return self._probe()
        if self.run.config.get("stages") == ["evaluate"]:
            return fake_evaluation.evaluate(self)
        done = checkpoints.last_complete(self.dir)
        start = done[1] if done else 0
        if start == 0:
            if self._warmup():
                return True
            self._evaluate("before", 0)
        return self._grpo(start)

    def _probe(self) -> bool:
        """Prompts with solve rates from 0 to 1, one a step."""
        total = int(self.run.config.get("probe_prompts") or 16)
        self.size = int(self.run.config.get("probe_completions") or 16)
        set_fields(self.db, self.run.id, total_steps=total)
        for step in range(1, total + 1):
            time.sleep(self.step_s)
            found = generation_at(step, total, 2, self.size)
            self.writer.generation(replace(found, phase="probe", groups=found.groups[1:]))
            timing = {"probe/completions": float(self.size), "probe/sample_s": 0.5, "probe/reward_s": 0.01}
            self.writer.metrics(step, "probe", timing | ({"probe/update_s": 0.8} if step == 1 else {}))
            self.writer.progress("probe", step, total, eta_s=(total - step) * self.step_s)
            if self.term:
                return True
        return False

    def _warmup(self) -> bool:
        if "sft" not in (self.run.config.get("stages") or ()):
            return False
        total = _number("FAKE_WARMUP", 3)
        for step in range(1, total + 1):
            self.writer.progress("sft", step, total)
            self.writer.metrics(step, "sft", {"loss": 2.0 / step, "learning_rate": 1e-3})
            time.sleep(self.step_s)
            if self.term:
                return True
        return False

    def _grpo(self, start: int) -> bool:
        every = _number("FAKE_SAVE_EVERY", 5)
        for step in range(start + 1, self.steps + 1):
            print(f"step {step} of {self.steps}", flush=True)  # noqa: T201
            self._trouble(step)
            time.sleep(self.step_s)
            values = metrics_at(step, self.steps)
            if _at("FAKE_NAN_AT", step):
                values |= {"loss": math.nan, "kl": math.inf}
            self.writer.generation(generation_at(step, self.steps, _number("FAKE_GROUPS", 2), self.size))
            self.writer.metrics(step, "train", values)
            left = (self.steps - step) * self.step_s
            self.writer.progress("grpo", step, self.steps, eta_s=left, last_step=step, total_steps=self.steps)
            if self.term or step % every == 0 or step == self.steps:
                self._save(step)
            if self.term:
                return True
        self._finish()
        self._evaluate("after", self.steps)
        return False

    def _finish(self) -> None:
        """What an evaluation asks for: trained weights that are whole, and held-out rows."""
        final, rows = self.dir / "final", self.dir / "data" / "eval.jsonl"
        final.mkdir(parents=True, exist_ok=True)
        (final / "model.txt").write_text(f"step {self.steps}\n", encoding="utf-8")
        checkpoints.write_manifest(final, step=self.steps, attempt=self.run.attempt)
        rows.parent.mkdir(parents=True, exist_ok=True)
        rows.write_text('{"prompt": "What is 1 + 1?", "ground_truth": "2"}\n', encoding="utf-8")

    def _trouble(self, step: int) -> None:
        for child in self.children:
            if child.poll() is not None:
                raise RuntimeError(f"a child process ended with {child.returncode}")
        if not self.first:
            return
        if _at("FAKE_CRASH_AT", step):
            raise ValueError("a made-up fault <b>bold</b>")
        if _at("FAKE_EXIT_AT", step):
            self.writer.close()
            sys.stderr.write("the last words before the exit\n")
            sys.stderr.flush()
            os._exit(_number("FAKE_EXIT_CODE", 1))
        if _at("FAKE_KILL_AT", step):
            self.writer.flush(5)
            os.kill(os.getpid(), signal.SIGKILL)
        while _at("FAKE_HANG_AT", step):
            time.sleep(0.05)

    def _save(self, step: int) -> None:
        folder = self.dir / "checkpoints" / f"checkpoint-{step}"
        folder.mkdir(parents=True, exist_ok=True)
        checkpoints.forget_manifest(folder)
        self.writer.flush(5)  # a resume from here must find the records of every step before
        (folder / "model.txt").write_text(f"step {step}\n", encoding="utf-8")
        checkpoints.write_manifest(folder, step=step, attempt=self.run.attempt)

    def _evaluate(self, when: Any, step: int) -> None:
        n = 20
        right = round(n * reward_at(step, self.steps))
        self.writer.progress(f"evaluate_{when}", n, n)
        items = [
            EvaluationItem(
                prompt=f"What is {i} + 1?",
                prompt_format="text",
                ground_truth=str(i + 1),
                completion=HOSTILE[i % len(HOSTILE)],
                correct=i < right,
                formatted=True,
                tokens=10 + i,
                eos=True,
                reward=1.2 if i < right else 0.2,
            )
            for i in range(n)
        ]
        summary = Evaluation(
            when, step, n, right / n, 1.0, 19.5, 1.0, 0.2 + right / n, str(self.run.config.get("dataset")), 0.1
        )
        self.writer.evaluation(summary, items)

    def _on_term(self, _number: int, _frame: Any) -> None:
        self.term = True

    def _start_children(self, deaf: bool) -> None:
        ignore = "signal.signal(15, signal.SIG_IGN);" if deaf else ""
        program = f"import signal, time; {ignore} time.sleep(600)"
        apart = bool(os.environ.get("FAKE_CHILD_SESSIONS"))
        for _ in range(_number("FAKE_CHILDREN", 0)):
            self.children.append(subprocess.Popen([sys.executable, "-c", program], start_new_session=apart))
        if path := os.environ.get("FAKE_PIDS"):
            with Path(path).open("a", encoding="ascii") as file:
                file.writelines(f"{pid}\n" for pid in (os.getpid(), *(child.pid for child in self.children)))

    def _end_children(self) -> None:
        """As a careful worker does; those in sessions of their own are left for the shim to find."""
        if not os.environ.get("FAKE_CHILD_SESSIONS"):
            for child in self.children:
                child.kill()
                child.wait()


def _number(name: str, default: int) -> int:
    return int(os.environ.get(name) or default)


def _at(name: str, step: int) -> bool:
    return _number(name, -1) == step


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--home", required=True)
    parser.add_argument("--run", required=True)
    args = parser.parse_args()
    return FakeWorker(Settings(Path(args.home)), args.run).main()


if __name__ == "__main__":
    sys.exit(main())
