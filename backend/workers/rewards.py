"""The rewards of a run: made, named, checked, and with what they said and where they failed told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from backend import custom
from backend import rewards as registry
from backend.rewards import effective
from backend.rewards.task import DECIDE_CORRECT
from backend.rewards.verdict import Verdict
from backend.signal_share import Extremes
from backend.workers import reward_model
from backend.workers.evaluate import Scorers
from backend.workers.job import Job
from backend.workers.reward_calls import checked, distinct_names
from backend.workers.rows import Row
from storage.records import Generation

ERROR_EVENTS = 50  # a reward that fails on everything must not fill the database
OWN_SCORERS = ("reasoning_gym",)  # of a task: they look at a column that only its rows have


class Rewards:
    """The run's reward functions, named, checked, and with their failures told as events."""

    def __init__(self, job: Job, tokenizer: Any, rows: Sequence[Row]) -> None:
        self._job = job
        self._told = 0
        self._silent: set[tuple[str, str]] = set()
        self.opened = thought_is_open(tokenizer, dict(job.config.chat_template_kwargs or {}), rows)
        config = job.config.model_copy(update={"reward_args": self._arguments()})
        self._functions = [self._made(config, name) for name in config.rewards]
        self.names = tuple(distinct_names(self._functions))
        self.checked = [checked(f, n, self._failed) for f, n in zip(self._functions, self.names, strict=True)]
        self.weights = [float(w) for w in config.reward_weights or [1.0] * len(self.names)]

    def _arguments(self) -> dict[str, Any]:
        """The settings' own, and `prefilled` where the chat template opens the thought and nothing else is set."""
        job, config = self._job, self._job.config
        args, changed = config.reward_args, []
        if self.opened:
            args, changed = effective.with_open_thought(config.rewards, config.reward_args)
        if changed:
            job.writer.event(
                "thought_open",
                f"the prompts end with <think>, so {', '.join(changed)} read completions as beginning in the thought",
                "info",
                {"rewards": changed},
            )
        effective.write(job.run_dir, args)
        return args

    def _made(self, config: Any, name: str) -> Any:
        if name in registry.names() and registry.spec(name).loaded_by_worker:
            return reward_model.load(config.reward_args.get(name), self._job.device)
        return custom.of_run(self._job.run_dir, self._job.settings.home, config, name)

    def extremes(self) -> Extremes:
        """Of the total reward: from the functions' own `bounds` where all have them, else as seen in the run."""
        bounds = [getattr(f, "bounds", None) for f in self._functions]
        return Extremes.of(bounds, self.weights)

    def scorers(self, columns: Sequence[str]) -> Scorers:
        """For evaluation: what decides "correct" and "formatted" in the run itself, else what the rows allow of the
        built-in rewards: the task's own scorer, `accuracy`; `format`."""
        decides = next((name for name in DECIDE_CORRECT if name in self.names), None)
        if decides is None:
            decides = next(name for name in (*OWN_SCORERS, "accuracy") if name == "accuracy" or _fits(name, columns))
        correct, within = self._rate(decides, columns)
        formatted, _ = self._rate("format", columns)
        said = getattr(within, "take_verdicts", tuple)
        return Scorers(self.checked, self.weights, correct, formatted, self.names, said, self.opened)

    def _rate(self, name: str, columns: Sequence[str]) -> tuple[Any, Any]:
        """(the checked function, the one within it), None where the rows lack what it needs."""
        if name in self.names:
            at = self.names.index(name)
            return self.checked[at], self._functions[at]
        if not _fits(name, columns):
            return None, None
        given = self._job.config.reward_args.get(name)
        function = registry.get(name, {"prefilled": True} if self._prefills(name) and given is None else given)
        return checked(function, name, self._failed), function

    def _prefills(self, name: str) -> bool:
        return self.opened and "prefilled" in {argument.name for argument in registry.spec(name).arguments}

    def _failed(self, name: str, index: int, completion: Any, trace: str) -> None:
        self._tell(name, index, str(completion), trace)

    def take_verdicts(self) -> list[list[Verdict]]:
        """What each function said of the completions of its last call, in its order; empty where it tells nothing."""
        return [list(getattr(f, "take_verdicts", list)()) for f in self._functions]

    def tell_unscored(self, generation: Generation) -> None:
        """A function that scored nothing of a whole generation has no say in it: told once a phase."""
        completions = [c for group in generation.groups for c in group.completions]
        for k, name in enumerate(generation.reward_names):
            key = (name, generation.phase)
            if completions and key not in self._silent and all(c.rewards[k] is None for c in completions):
                self._silent.add(key)
                self._job.writer.event(
                    "reward_missing",
                    f"the reward {name} gave no score for any of {len(completions)} completions; they count as "
                    "missing, not as 0, and teach nothing where no other reward scores them",
                    "warn",
                    {"reward": name, "completions": len(completions), "step": generation.step},
                )

    def tell_failures(self) -> None:
        for function in self._functions:
            for code, words in getattr(function, "take_notices", dict)().items():
                level = "info" if code == "prints" else "warn"
                self._job.writer.event(f"reward_{code}", str(words), level, {"reward": function.__name__})
            for failure in getattr(function, "take_failures", list)():
                self._tell(failure.reward, failure.row, failure.completion, failure.traceback)

    def _tell(self, name: str, row: int, completion: str, trace: str) -> None:
        self._told += 1
        if self._told > ERROR_EVENTS:
            return
        last = trace.strip().splitlines()[-1] if trace.strip() else ""
        self._job.writer.event(
            "reward_error",
            f"the reward {name} could not score a completion, which counts as missing: {last}",
            "error",
            {"reward": name, "row": row, "completion": completion[:2000], "traceback": trace[-4000:]},
        )


def thought_is_open(tokenizer: Any, template_kwargs: dict[str, Any], rows: Sequence[Row]) -> bool:
    """Whether the model begins inside its reasoning: the prompt, as the model reads it, ends with <think>.

    Looks at the first row; the chat template is the same for all.
    """
    if not rows:
        return False
    prompt = rows[0]["prompt"]
    if not isinstance(prompt, str):
        prompt = tokenizer.apply_chat_template(prompt, add_generation_prompt=True, tokenize=False, **template_kwargs)
    return str(prompt).rstrip().endswith("<think>")


def _fits(name: str, columns: Sequence[str]) -> bool:
    """Whether a built-in reward can be had here, and the rows have what it looks at."""
    return name in registry.names() and set(registry.spec(name).columns) <= set(columns)
