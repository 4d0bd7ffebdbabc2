"""What a check of the audit says, and how it becomes JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from backend.text import Text

Verdict = Literal["pass", "warn", "fail", "skip"]
CLIPPED = 600  # characters of a completion that an example shows
SHOWN = 3  # examples a check
CONFIG = "config"  # the name under which checks of the whole configuration stand

FIELDS = {
    "golds": "dataset", "type": "dataset", "rows": "dataset", "columns": "dataset", "arguments": "reward_args",
    "weights": "reward_weights", "total": "reward_weights", "signs": "reward_weights", "patterns": "reward_args",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Example:
    """The offending text. `expected` says in short what the score should have been: "max", "< max", "0.5", ..."""

    row: int | None
    completion: str
    score: float | None
    expected: str
    why: Text

    def to_json(self) -> dict[str, Any]:
        text = self.completion
        cut = len(text) - CLIPPED
        shown = f"{text[: CLIPPED // 2]} … ({cut} characters) … {text[-CLIPPED // 2 :]}" if cut > 0 else text
        return {
            "row": self.row,
            "completion": shown,
            "score": self.score,
            "expected": self.expected,
            "why": self.why.to_json(),
        }


@dataclass(frozen=True, slots=True)
class Check:
    """One question that was put to a reward (`reward` None: to the configuration), and the answer."""

    kind: str
    reward: str | None
    verdict: Verdict
    title: Text
    words: Text
    examples: Sequence[Example] = ()
    stops: bool = False
    """Whether it keeps a run from learning at all, so that it cannot be passed over at Start."""

    @property
    def field(self) -> str:
        """The setting to look at."""
        return FIELDS.get(self.kind, "rewards")

    @property
    def id(self) -> str:
        return f"{self.reward or CONFIG}.{self.kind}"

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "kind": self.kind,
            "reward": self.reward,
            "verdict": self.verdict,
            "stops": self.stops,
            "field": self.field,
            "title": self.title.to_json(),
            "words": self.words.to_json(),
            "examples": [example.to_json() for example in self.examples[:SHOWN]],
        }


def overall(checks: Sequence[Check]) -> Verdict:
    verdicts = {check.verdict for check in checks}
    return "fail" if "fail" in verdicts else "warn" if "warn" in verdicts else "pass"


def score_text(score: float | None) -> str:
    return "–" if score is None else f"{score:.4g}"
