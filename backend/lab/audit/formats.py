"""The formats that an answer can stand in, tried on a reward to see which it reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backend.text import Text

THOUGHT = "Let me work through this one step at a time."


@dataclass(frozen=True, slots=True)
class Format:
    """`before` and `after` stand once around all answers, `left` and `right` around each."""

    id: str
    label: Text
    before: str = ""
    left: str = ""
    right: str = ""
    after: str = ""
    literal: bool = False
    """The answer stands as a JSON value of its own, so that only what is one can be written there."""

    def text(self, *answers: str) -> str:
        return self.before + self.core(answers) + self.after

    def core(self, answers: Sequence[str]) -> str:
        """The answers without what stands around them."""
        return "\n".join(f"{self.left}{answer}{self.right}" for answer in answers)

    @property
    def tagged(self) -> bool:
        """Whether the answer stands between two marks, so that a text outside them is no answer."""
        return bool(self.left and self.right)

    @property
    def thinks(self) -> bool:
        return "</think>" in self.before


def _same(words: str) -> Text:
    return Text(en=words, ko=words)


_THINK = f"<think>\n{THOUGHT}\n</think>\n"
_PREFILLED = f"{THOUGHT}\n</think>\n"

# In order of preference: of several formats that a set of rewards reads, the first is shown as the demanded one.
FORMATS = (
    Format("answer", _same("<answer>…</answer>"), f"{THOUGHT}\n", "<answer>", "</answer>"),
    Format("boxed", _same("\\boxed{…}"), f"{THOUGHT}\n", "\\boxed{", "}"),
    Format("think_answer", _same("<think>…</think> <answer>…</answer>"), _THINK, "<answer>", "</answer>"),
    Format("thinking_boxed", _same("<think>…</think> \\boxed{…}"), _THINK, "\\boxed{", "}"),
    Format("prefilled_answer", _same("…</think> <answer>…</answer>"), _PREFILLED, "<answer>", "</answer>"),
    Format("prefilled_boxed", _same("…</think> \\boxed{…}"), _PREFILLED, "\\boxed{", "}"),
    Format("answer_boxed", _same("<answer>\\boxed{…}</answer>"), f"{THOUGHT}\n", "<answer>\\boxed{", "}</answer>"),
    Format("think_answer_boxed", _same("<think>…</think> <answer>\\boxed{…}</answer>"), _THINK,
           "<answer>\\boxed{", "}</answer>"),
    Format("answer_lines", _same("<answer>⏎…⏎</answer>"), f"{THOUGHT}\n", "<answer>\n", "\n</answer>", "\n"),
    Format("think_answer_lines", _same("<think>⏎…⏎</think>⏎<answer>⏎…⏎</answer>"), _THINK,
           "<answer>\n", "\n</answer>"),
    Format("reasoning_answer", _same("<reasoning>…</reasoning> <answer>…</answer>"),
           f"<reasoning>\n{THOUGHT}\n</reasoning>\n", "<answer>\n", "\n</answer>", "\n"),
    Format("hash", _same("#### …"), f"{THOUGHT}\n", "#### "),
    Format("phrase", Text(en="The answer is ….", ko="The answer is …."), f"{THOUGHT}\n", "The answer is ", "."),
    Format("colon", _same("Answer: …"), f"{THOUGHT}\n", "Answer: "),
    Format("phrase_ko", _same("정답: …"), f"{THOUGHT}\n", "정답: "),
    Format("json_value", _same('{"answer": …}'), "", '{"answer": ', "}", literal=True),
    Format("json", _same('{"answer": "…"}'), "", '{"answer": "', '"}'),
    Format("python", _same("```python …```"), f"{THOUGHT}\n", "```python\n", "\n```"),
    Format("sql", _same("```sql …```"), f"{THOUGHT}\n", "```sql\n", "\n```"),
    Format("fence", _same("```…```"), "", "```\n", "\n```"),
    Format("bare", Text(en="the answer alone", ko="답만")),
)  # fmt: skip
BY_ID = {each.id: each for each in FORMATS}
FOR_CODE = ("python", "fence", "bare")
FOR_SQL = ("sql", "fence", "answer", "think_answer", "bare")
FOR_FORM = ("bare", "fence", "think_answer", "answer")
FOR_TEXT = tuple(each.id for each in FORMATS if each.id not in ("python", "sql"))
