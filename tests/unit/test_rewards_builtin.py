"""What the built-in rewards say about single completions: the policies that public bug reports taught."""

from __future__ import annotations

import pytest

from backend import rewards

CHAT = [{"role": "user", "content": "2 + 2"}]

ACCURACY = [
    ("<answer> 42 </answer>", "42", 1.0),
    ("<answer>\n42\n</answer>", "42", 1.0),
    ("<answer>42.</answer>", "42", 0.0),
    ("<ANSWER>42</ANSWER>", "42", 0.0),
    ("<answer></answer>", "dog", 0.0),
    ("<answer>a dog or a cat</answer>", "dog", 0.0),
    ("<answer>dog</answer><answer>cat</answer>", "dog", 0.0),
    ("<answer>dog</answer> no: <answer>cat</answer>", "cat", 1.0),
    ("<answer>42", "42", 0.0),
    ("42", "42", 0.0),
    ("<answer>42</answer>", 42, 1.0),
    ("<answer>42</answer>", 42.0, 0.0),
    ("<answer>42.0</answer>", 42.0, 1.0),
    ("<answer>007</answer>", "7", 0.0),
    ("<answer>b</answer>", ["a", "b"], 1.0),
    ("<answer>True</answer>", True, None),
    ("<answer>42</answer>", None, None),
    ("<answer></answer>", "", None),
    ("<answer>3</answer>", [], None),
    ("<think><answer>3</answer></think><answer>4</answer>", "3", 0.0),
    ("<think>maybe <answer>3</answer> but", "3", 0.0),
    ("work\n</think><answer>3</answer>", "3", 1.0),
    ("<think>a</think><think>b <answer>3</answer>", "3", 0.0),
]

FORMAT = [
    ("<answer>7</answer>", {}, 1.0),
    ("so <answer> -7.5 </answer>\n", {}, 1.0),
    ("<answer>seven</answer>", {}, 1.0),
    ("<answer>dog</answer>", {}, 1.0),
    ("<answer>1,000</answer>", {}, 1.0),
    ("<answer>\\frac{1}{2}</answer>", {"template": "answer"}, 1.0),
    ("<answer>84개</answer>", {}, 1.0),
    ("<answer>seven</answer>", {"content": "text"}, 1.0),
    ("<answer>seven</answer>", {"content": "number"}, 0.0),
    ("<answer>1,000</answer>", {"content": "number"}, 0.0),
    ("so <answer> -7.5 </answer>", {"content": "number"}, 1.0),
    ("<answer>7</answer> done", {}, 0.0),
    ("<answer>7", {}, 0.0),
    ("7</answer>", {}, 0.0),
    ("<answer>a<b</answer>", {"content": "text"}, 1.0),
    ("<answer>a<answer>b</answer>", {}, 1.0),
    ("<answer>a</answer>b</answer>", {}, 0.0),
    ("<answer></answer>", {}, 0.0),
    ("<think> a <answer>9</answer>", {}, 0.0),
    ("<think> a <answer>8</answer></think><answer>9</answer>", {}, 1.0),
    ("<think> a </think><answer>8</answer><think> b <answer>9</answer>", {}, 0.0),
    ("a <answer>9</answer>", {"prefilled": True}, 0.0),
    ("a</think> <answer>9</answer>", {"prefilled": True}, 1.0),
    ("a</think> <answer>9</answer>", {}, 1.0),
    ("<think>a <answer>9</answer>", {"content": "number"}, 0.0),
    ("<think>a \\boxed{9}", {"template": "thinking_boxed"}, 0.0),
    ("a \\boxed{9}", {"template": "thinking_boxed", "prefilled": True}, 0.0),
    ("<think>a</think><answer>x > 3</answer>", {"template": "think_answer"}, 1.0),
    ("<think>a</think><answer>x<y</answer>", {"template": "think_answer"}, 1.0),
    ("<think>a</think><answer><b>9</b></answer>", {"template": "think_answer"}, 1.0),
    ("<think>a</think><answer>9<think></answer>", {"template": "think_answer"}, 0.0),
    ("<think>a</think><answer>9</think></answer>", {"template": "think_answer"}, 0.0),
    ("<think>a</think><answer>9<answer></answer>", {"template": "think_answer"}, 0.0),
    ("<answer> </answer>", {"content": "text"}, 0.0),
    ("<think>\nline1\nline2\n</think>\n<answer>9</answer>", {"template": "think_answer"}, 1.0),
    ("<think>\r\nline1\r\n</think>\r\n<answer>9</answer>", {"template": "think_answer"}, 1.0),
    ("<answer>9</answer>", {"template": "think_answer"}, 0.0),
    ("<think>a</think><answer>9</answer>" * 50, {"template": "think_answer"}, 0.0),
    ("2 plus 2\n</think>\n<answer>4</answer>", {"template": "think_answer"}, 0.0),
    ("2 plus 2\n</think>\n<answer>4</answer>", {"template": "think_answer", "prefilled": True}, 1.0),
    ("<think>a</think> hm <answer>9</answer>", {"template": "think_answer"}, 0.0),
]


def shapes(completion: str) -> list[object]:
    """The same completion as TRL hands it over for a plain prompt and for a conversation."""
    return [completion, [{"role": "assistant", "content": completion}]]


@pytest.mark.parametrize(("completion", "gold", "want"), ACCURACY)
def test_accuracy(completion: str, gold: object, want: float | None) -> None:
    score = rewards.get("accuracy")
    assert score([CHAT, CHAT], shapes(completion), ground_truth=[gold, gold]) == [want, want]


@pytest.mark.parametrize(("completion", "args", "want"), FORMAT)
def test_format(completion: str, args: dict[str, object], want: float) -> None:
    score = rewards.get("format", args)
    assert score(["2 + 2", "2 + 2"], shapes(completion)) == [want, want]


def test_format_does_not_stall_on_a_thousand_open_tags() -> None:
    score = rewards.get("format", {"content": "number"})
    assert score([""], ["<answer>" * 20_000 + "x" * 20_000 + "</answer>"]) == [0.0]


def test_content_blocks_are_read() -> None:
    blocks = [{"role": "assistant", "content": [{"type": "text", "text": "<answer>4</answer>"}]}]
    silent = [{"role": "assistant", "content": None}]
    assert rewards.get("accuracy")(["", ""], [blocks, silent], ground_truth=["4", "4"]) == [1.0, 0.0]
