"""What a reward logs, as it may be kept: under names that are nobody else's, of bounded number and size.

A reward's metrics and columns stand among the trainer's own. One that could write `reward` or `loss` would change what
charts, the list of runs and the diagnosis read; one that logs a new name each time would fill the database.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any

from backend.text import Text

MOST_METRICS = 64  # different names of one reward in a run
MOST_COLUMNS = 32
LONGEST_NAME = 100  # characters
LONGEST_CELL = 4000

# What TRL, transformers and this project log themselves; tests/contract/test_custom_names.py reads TRL's source for it.
OWN = {
    "reward", "reward_std", "frac_reward_zero_std", "loss", "policy_loss", "aux_loss", "grad_norm", "learning_rate",
    "epoch", "step", "step_time", "entropy", "entropy_coef", "kl", "num_tokens", "num_input_tokens_seen", "total_flos",
    "mean_token_accuracy", "cispo_clip_ratio", "completions_per_s",
}  # fmt: skip
FOLDERS = {
    "completions", "rewards", "clip_ratio", "signal", "time", "memory", "device", "probe", "sampling", "tools", "vespo",
    "build", "profiling", "custom",
}  # fmt: skip
BEGINNINGS = ("eval_", "train_")
# Of TRL's table of completions; the reward's own name joins them.
COLUMNS = {"step", "prompt", "completion", "advantage", "advantages", "image", "images", "rewards"}


def cleaned(name: str) -> str:
    """Without control and format characters, white space as single spaces, at most LONGEST_NAME characters."""
    spaced = (" " if letter.isspace() else letter for letter in name[: 10 * LONGEST_NAME])
    kept = "".join(letter for letter in spaced if unicodedata.category(letter)[0] != "C")
    return " ".join(kept.split())[:LONGEST_NAME].strip() or "unnamed"


def is_own(name: str) -> bool:
    """Whether the trainer or the recorder may log this name itself; however it is spelled."""
    plain = [part.strip() for part in unicodedata.normalize("NFKC", name).casefold().split("/")]
    return "/".join(plain) in OWN or plain[0].startswith(BEGINNINGS) or (len(plain) > 1 and plain[0] in FOLDERS)


class Sifted:
    """Of one reward in one run. `notice(code, words)`: told once a code.

    `left_out`: values of metrics, and columns, that were not kept since there were too many names.
    """

    def __init__(self, reward: str, notice: Callable[[str, Text], None]) -> None:
        self.reward, self._notice = reward, notice
        self.left_out = 0
        self._metrics: dict[str, str] = {}  # as logged: as kept
        self._columns: dict[str, str] = {}

    def metrics(self, given: Iterable[tuple[str, float]]) -> list[tuple[str, float]]:
        """Those that are kept, in order, under their names; values as they are, also NaN and infinities."""
        named = ((self._named(name, self._metrics, MOST_METRICS, is_own), value) for name, value in given)
        return [(name, value) for name, value in named if name is not None]

    def columns(self, given: Iterable[tuple[str, list[Any]]]) -> list[tuple[str, list[Any]]]:
        """Those that are kept, in order, with cells of bounded size."""

        def own(name: str) -> bool:
            return name.casefold() in COLUMNS or name == self.reward or name.startswith("custom/")

        named = ((self._named(name, self._columns, MOST_COLUMNS, own), values) for name, values in given)
        return [(name, [cell(value) for value in values]) for name, values in named if name is not None]

    def _named(self, name: str, known: dict[str, str], most: int, own: Callable[[str], bool]) -> str | None:
        clean = cleaned(name)
        if clean in known:
            return known[clean]
        if len(known) >= most:
            if not self.left_out:
                self._notice("names_left_out", left_out_words(self.reward, clean, most))
            self.left_out += 1
            return None
        kept = clean
        if own(clean) and not clean.startswith(f"custom/{self.reward}/"):
            kept = f"custom/{self.reward}/{clean}"
            self._notice("renamed", renamed_words(self.reward, clean, kept))
        known[clean] = kept
        return kept


def cell(value: Any) -> Any:
    """A value of a table; a long text, or a list that is long when written, as its beginning."""
    if isinstance(value, list | dict):
        written = json.dumps(value, ensure_ascii=False)
        return value if len(written) <= LONGEST_CELL else cell(written)
    if isinstance(value, str) and len(value) > LONGEST_CELL:
        return value[: LONGEST_CELL - 1] + "…"
    return value


def renamed_words(reward: str, name: str, kept: str) -> Text:
    """A name of the trainer's."""
    return Text(
        en=f"the reward {reward} logs {name!r}, a name that the trainer or the recorder uses itself. What it logs "
        f"under such names is recorded as {kept} and the like",
        ko=f"보상 {reward}이(가) 기록한 {name!r}은(는) 학습기나 기록기가 쓰는 이름입니다. 이런 값은 {kept}처럼 "
        "따로 기록합니다",
    )


def left_out_words(reward: str, name: str, most: int) -> Text:
    """Too many names."""
    return Text(
        en=f"the reward {reward} logs more than {most} different names; {name!r} and further new ones are not "
        "recorded. Use the same names at every step",
        ko=f"보상 {reward}이(가) 서로 다른 이름을 {most}개 넘게 기록합니다. {name!r}부터 새 이름은 기록하지 "
        "않습니다. 단계마다 같은 이름을 쓰세요",
    )
