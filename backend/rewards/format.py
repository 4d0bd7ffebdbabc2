"""format: the completion has the form that was asked for (first reference article, sections 41 and 57)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from backend.rewards._patterns import check_pattern, refuse
from backend.rewards.verdict import Verdict, after_reasoning

LABEL = {"en": "Format", "ko": "형식"}
HELP = {
    "en": "1 when the completion has the chosen form, else 0: it ends with <answer>...</answer> (answer), is one "
    "<think>...</think> and then one <answer>...</answer> (think_answer) or one \\boxed{...} (thinking_boxed), or "
    "matches a pattern of your own from its first to its last character (pattern; a dot matches line ends too). With "
    "content=number only a bare number may stand in the tag or box. It never looks at whether the answer is right.",
    "ko": "응답이 고른 형식을 지키면 1, 아니면 0입니다. answer: <answer>...</answer>로 끝남. think_answer: "
    "<think>...</think> 하나에 <answer>...</answer> 하나. thinking_boxed: <think>...</think> 하나에 \\boxed{...} "
    "하나. pattern: 직접 쓴 정규식이 응답 전체와 일치(점은 줄바꿈도 포함). "
    "content=number면 태그나 상자 안에 숫자만 있어야 합니다. 답이 맞는지는 보지 않습니다.",
}
BOUNDS = (0.0, 1.0)
ISOLATED = ("pattern",)

OWN_TAG = re.compile(r"</?(?:think|answer)>")
NUMBER = re.compile(r"[-+]?[0-9]+(?:\.[0-9]+)?")
NOT_ONCE = {
    "think_answer": "not one thought followed by one answer",
    "thinking_boxed": "not one thought followed by one box",
}


def judge(
    completion: str,
    *,
    template: Literal["answer", "think_answer", "thinking_boxed", "pattern"] = "answer",
    content: Literal["number", "text"] | None = None,
    prefilled: bool = False,
    pattern: str | None = None,
    limit_s: float = 5.0,
) -> Verdict:
    """`template`: "answer" (anything, then the tag at the end), "think_answer" (one thought, then one answer),
    "thinking_boxed" (one thought, then text with one box) or "pattern" (implied where a `pattern` is given).

    `content`: what may stand in the tag or box: "text" (section 41, and where nothing is said), which is anything but
    a <think> or <answer> tag, or "number", a bare one (section 57). `prefilled`: the chat template has opened the
    thought; one that never closes has no answer. `limit_s`: seconds that a pattern may take.
    """
    text = completion.strip()
    if prefilled and not text.startswith("<think>"):
        text = "<think>" + text
    if pattern:
        fits = re.fullmatch(pattern, text, re.DOTALL) is not None
        return Verdict(1.0, text, "matches the pattern") if fits else Verdict(0.0, text, "does not match the pattern")
    if template == "answer":
        rest = after_reasoning(text)
        if rest is None:
            return Verdict(0.0, reason="the reasoning never ends, so there is no answer")
        text = rest
    else:
        thought, closed, text = text.partition("</think>")
        once = thought.startswith("<think>") and thought.count("<think>") == 1
        if not (once and closed) or "<think>" in text or "</think>" in text:
            return Verdict(0.0, reason=NOT_ONCE[template])
        text = text.strip()
        if template == "think_answer":
            if any((thought + text).count(tag) != 1 for tag in ("<answer>", "</answer>")):
                return Verdict(0.0, reason=NOT_ONCE[template])
            if not text.startswith("<answer>"):
                return Verdict(0.0, reason=NOT_ONCE[template])
    inside, fault = _boxed(text) if template == "thinking_boxed" else _tagged(text)
    if inside is None:
        return Verdict(0.0, reason=fault)
    if content == "number":
        fits = NUMBER.fullmatch(inside) is not None
    else:
        fits = bool(inside) and (template == "thinking_boxed" or not OWN_TAG.search(inside))
    where = "box" if template == "thinking_boxed" else "tag"
    if fits:
        return Verdict(1.0, inside, f"has the form {template}")
    return Verdict(0.0, inside, f"the {where} does not hold what is asked for")


def _tagged(text: str) -> tuple[str | None, str]:
    """What the tag at the end holds; None, and why, where there is none."""
    if not text.endswith("</answer>"):
        return None, "does not end with </answer>"
    _, opened, inside = text.removesuffix("</answer>").rpartition("<answer>")
    return (inside.strip(), "") if opened else (None, "</answer> without <answer>")


def _boxed(text: str) -> tuple[str | None, str]:
    """What the one box holds, its braces balanced; None, and why, where there is not one."""
    _, opened, rest = text.partition("\\boxed{")
    if not opened or "\\boxed{" in rest:
        return None, NOT_ONCE["thinking_boxed"]
    depth = 1
    for at, letter in enumerate(rest):
        if letter in "{}" and not (at and rest[at - 1] == "\\"):
            depth += 1 if letter == "{" else -1
            if not depth:
                return rest[:at].strip(), ""
    return None, "the box is never closed"


def check(args: Mapping[str, Any]) -> None:
    """Refused for a pattern that does not compile, is missing, or contradicts the template."""
    check_pattern("format", args["pattern"], wanted=args["template"] == "pattern")
    if args["pattern"] is not None and args["template"] not in ("answer", "pattern"):
        refuse("format.pattern", args["pattern"], 'the template "pattern"', "template을 pattern으로")
