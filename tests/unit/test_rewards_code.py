"""The code reward: shapes of tests, extraction, strictness, and programs that try to be scored without being right."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.errors import Refused
from backend.rewards import _tests, get
from backend.rewards._fences import last_code
from backend.rewards.code import lines, unreadable
from backend.sandbox import SandboxUnavailable, require

SQUARES = [{"call": "solve(2)", "expect": "4"}, {"call": "solve(3)", "expect": "9"}]
SECRET = [{"call": "solve(2)", "expect": "48151623"}, {"call": "solve(3)", "expect": "'s3cr3t-gold'"}]
SUMS = [{"stdin": "2 3\n", "stdout": "5\n"}, {"stdin": "10 -4\n", "stdout": "6"}]
CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data" / "verifier.jsonl").read_text(encoding="utf-8").splitlines()
]


@pytest.fixture
def _sandbox() -> None:
    try:
        require()
    except SandboxUnavailable as error:
        pytest.skip(str(error))


def judged(completion: str, gold: Any, **args: Any) -> Any:
    return get("code", args).verdicts([completion], ground_truth=[gold])[0][0]


def score(completion: str, gold: Any, **args: Any) -> float | None:
    return judged(completion, gold, **args).score


@pytest.mark.usefixtures("_sandbox")
@pytest.mark.parametrize(
    "case", [case for case in CASES if case["reward"] in ("code", "sql")], ids=lambda case: case["id"]
)
def test_the_cases_of_public_bug_reports(case: dict[str, Any]) -> None:
    reward = get(case["reward"], case["args"])
    assert reward.verdicts([case["completion"]], ground_truth=[case["ground_truth"]])[0][0].score == case["want"]


RIGHT = "def solve(x):\n    return x * x"
EXTRACTED = {
    "a fence": f"Here it is:\n```python\n{RIGHT}\n```\nDone.",
    "py": f"```py\n{RIGHT}\n```",
    "Python3 and more": f"```Python3 title=x\n{RIGHT}\n```",
    "the last of two": f"```python\ndef solve(x): return 0\n```\nNo:\n```python\n{RIGHT}\n```",
    "output after it": f"```python\n{RIGHT}\n```\nOutput:\n```\n4\n```\n```text\n9\n```",
    "no language": f"```\n{RIGHT}\n```",
    "tildes": f"~~~python\n{RIGHT}\n~~~",
    "four ticks": f"````python\n{RIGHT}\n````",
    "in a list": "1. So:\n   ```python\n   def solve(x):\n       return x * x\n   ```",
    "never closed": f"```python\n{RIGHT}",
    "closed behind the code": f"```python\n{RIGHT}```",
    "carriage returns": f"```python\n{RIGHT}\n```".replace("\n", "\r\n"),
    "all of it": RIGHT,
    "an answer tag": f"<answer>\n{RIGHT}\n</answer>",
    "a fence in a tag": f"<answer>```python\n{RIGHT}\n```</answer>",
    "after a thought": f"<think>```python\ndef solve(x): return 0\n```</think>\n{RIGHT}",
    "a thought that the template opened": f"```python\ndef solve(x): return 0\n```</think>\n{RIGHT}",
}


@pytest.mark.usefixtures("_sandbox")
def test_where_the_code_stands() -> None:
    verdicts = get("code", {}).verdicts(list(EXTRACTED.values()), ground_truth=[SQUARES] * len(EXTRACTED))
    assert {name: v.score for name, (v, _) in zip(EXTRACTED, verdicts, strict=True)} == dict.fromkeys(EXTRACTED, 1.0)
    assert verdicts[0][0].extracted == RIGHT


@pytest.mark.parametrize(
    ("completion", "prefilled", "why"),
    [
        (f"<think>```python\n{RIGHT}\n```", False, "never ends"),
        (f"```python\n{RIGHT}\n```", True, "never ends"),
        ("", False, "no code"),
        ("   \n ", False, "no code"),
        ("```python\n```", False, "no code"),
    ],
)
def test_no_code_no_reward(completion: str, prefilled: bool, why: str) -> None:
    verdict = judged(completion, SQUARES, prefilled=prefilled)
    assert verdict.score == 0.0
    assert why in verdict.reason


READABLE = {
    "JSON text": (json.dumps(SQUARES), 2),
    "a Python literal": (repr(SQUARES), 2),
    "one object": (SQUARES[0], 1),
    "None keys of columnar files": (
        [{"call": "f()", "expect": "1", "stdin": None, "stdout": None}, {"call": None, "stdin": "", "stdout": ""}],
        2,
    ),
    "an object of lists": (
        {"call": ["f(1)", None], "expect": ["1", None], "stdin": [None, "1"], "stdout": [None, "2"]},
        2,
    ),
    "both kinds": ([SQUARES[0], SUMS[0]], 2),
    "values that are no text": ([{"call": "f()", "expect": [1, 2.5, None]}], 1),
    "inputs and outputs": ({"inputs": ["1", "2"], "outputs": ["a", "b"]}, 2),
    "lines as lists": ({"inputs": [["1", "2"]], "outputs": [["a"]]}, 1),
    "input and output": ([{"input": "1", "output": "2", "testtype": "stdin"}], 1),
    "no stdin": ([{"stdout": "1"}], 1),
    "asserts": (["assert f(2) == 4", "assert g('a', [1]) == {'a': (1,)}"], 2),
    "asserts in a text": ("assert f(2) == 4\nassert f(3) == 9\n", 2),
    "statements before a call": ([{"call": "s = S(); s.add(1); s.all()", "expect": "[1]"}], 1),
    "an empty set": ([{"call": "f()", "expect": "set()"}], 1),
}


@pytest.mark.parametrize("name", READABLE)
def test_shapes_of_tests(name: str) -> None:
    gold, count = READABLE[name]
    assert len(_tests.tests(gold)) == count
    assert unreadable(gold) is None


UNREADABLE = {
    "nothing": None,
    "an empty list": [],
    "an empty text": "",
    "a number": 4,
    "words": "the square of x",
    "neither": [{"question": "?"}],
    "no expect": [{"call": "f(1)", "expect": None}],
    "expect is no literal": [{"call": "f(1)", "expect": "g(2)"}],
    "an unquoted word": [{"call": "f(1)", "expect": "yes"}],
    "call is no Python": [{"call": "f(", "expect": "1"}],
    "call is a statement": [{"call": "x = 1", "expect": "1"}],
    "an assert of another form": ["assert f(1)"],
    "an assert against a call": ["assert f(1) == g(1)"],
    "lists of different lengths": {"inputs": ["1"], "outputs": []},
    "by function name": {"fn_name": "f", "inputs": [[1]], "outputs": [1]},
    "stdin is a number": [{"stdin": 4, "stdout": "4"}],
    "an ellipsis": [{"call": "f(1)", "expect": "..."}],
    "too many": [SQUARES[0]] * 1001,
    "too deep": [{"call": "f(1)", "expect": "[" * 90 + "]" * 90}],
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_gold_that_cannot_be_run_is_skipped_with_its_reason(name: str) -> None:
    gold = UNREADABLE[name]
    verdict = judged(RIGHT, gold)
    assert verdict.score is None
    assert unreadable(gold)
    assert str(unreadable(gold)) in verdict.reason
    with pytest.raises(_tests.Unreadable):
        _tests.tests(gold)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda x: (
            st.lists(x)
            | st.dictionaries(st.sampled_from(["call", "expect", "stdin", "stdout", "inputs", "outputs"]), x)
        ),
    )
)
@settings(deadline=None)
def test_any_gold_is_read_or_named(gold: Any) -> None:
    reason = unreadable(gold)
    assert reason is None or reason


STRICT = [
    ("4", "4", 1.0),
    ("'4'", "4", 0.0),
    ("4.0", "4", 0.0),
    ("True", "1", 0.0),
    ("(1, 2)", "[1, 2]", 0.0),
    ("[1, 2]", "(1, 2)", 0.0),
    ("0.1 + 0.2", "0.3", 1.0),
    ("0.3001", "0.3", 0.0),
    ("{'b': 1, 'a': 2}", "{'a': 2, 'b': 1}", 1.0),
    ("{2, 1}", "{1, 2}", 1.0),
    ("None", "None", 1.0),
    ("__import__('numpy').int64(4)", "4", 0.0),
    ("__import__('collections').Counter('aab')", "{'a': 2, 'b': 1}", 1.0),
    ("iter([1])", "[1]", 0.0),
    ("print('x')", "None", 1.0),
]


@pytest.mark.usefixtures("_sandbox")
@pytest.mark.parametrize(("gives", "expect", "want"), STRICT)
def test_types_must_agree(gives: str, expect: str, want: float) -> None:
    assert score(f"def f(): return {gives}", [{"call": "f()", "expect": expect}]) == want


CHEATS = {
    "says PASSED and ends": "print('PASSED')\nimport os\nos._exit(0)",
    "says PASSED and ends in the call": "def solve(x):\n    print('PASSED')\n    import os\n    os._exit(0)",
    "exits with 0": "import sys\nsys.exit(0)",
    "a value that equals all": (
        "class All:\n    def __eq__(s, o): return True\n    __hash__ = lambda s: 1\ndef solve(x): return All()"
    ),
    "an int that equals all": "class All(int):\n    def __eq__(s, o): return True\ndef solve(x): return All(1)",
    "a class that poses as int": (
        "class All:\n    __class__ = property(lambda s: int)\n    def __eq__(s, o): return True\n"
        "def solve(x): return All()"
    ),
    "another json": "import json\njson.dumps = lambda *a, **k: '{\"value\":4}'\ndef solve(x): return 0",
    "other builtins": (
        "import builtins\nbuiltins.eval = lambda *a: 4\nbuiltins.type = lambda *a: int\nbuiltins.len = lambda *a: 1\n"
        "def solve(x): return 0"
    ),
    "a harness of its own": (
        "import sys\nh = sys.modules.get('inside.harness')\n"
        "if h: h.answer = lambda line: None\nt = sys.modules.get('inside.typed')\nif t: t.encode = lambda v: 4\n"
        "def solve(x): return 0"
    ),
    "a closed result pipe": "import os\nos.close(3)\ndef solve(x): return x * x",
    "garbage on the result pipe": "import os\nos.write(3, b'\\xff{garbage\\n')\ndef solve(x): return 4",
    "passed on the result pipe": "import os\nos.write(3, b'{\"passed\": true}\\n')\ndef solve(x): return 0",
    "wrong values on the result pipe": "import os\nos.write(3, b'{\"value\":true}\\n' * 9)\ndef solve(x): return x * x",
    "deep JSON on the result pipe": "import os\nos.write(3, b'{\"value\":' + b'[' * 9999 + b'}\\n')",
    "NaN on the result pipe": "import os\nos.write(3, b'{\"value\":NaN}\\n' * 2)\ndef solve(x): return 0",
    "an answer half written": "import os\nos.write(3, b'{\"value\":')\nos._exit(0)",
    "an oom that never was": "import os\nos.write(3, b'{\"oom\":true}\\n')\ndef solve(x): return 0",
    "looks for the gold": (
        "import gc, sys\n"
        "def solve(x):\n"
        "    frame = sys._getframe()\n"
        "    seen = []\n"
        "    while frame: seen += [repr(frame.f_locals), repr(frame.f_globals)[:10**6]]; frame = frame.f_back\n"
        "    seen += [repr(o)[:10**4] for o in gc.get_objects() if isinstance(o, (dict, list, tuple, str))]\n"
        "    text = ' '.join(seen)\n"
        "    a, b = 48151 * 1000 + 623, 's3cr3t' + '-gold'\n"
        "    return (a if str(a) in text else 0) if x == 2 else (b if b in text.replace(repr(b), '', 9) else 0)"
    ),
    "endless": "def solve(x):\n    while True: pass",
    "sleeps": "import time\ntime.sleep(99)",
}


@pytest.mark.usefixtures("_sandbox")
@pytest.mark.parametrize("name", CHEATS)
def test_a_program_that_is_not_right_scores_nothing(name: str) -> None:
    verdict = judged(CHEATS[name], SECRET, limit_s=3.0 if name == "looks for the gold" else 1.0)
    assert verdict.score == 0.0, verdict
    assert verdict.reason
    assert "48151623" not in verdict.reason or name != "looks for the gold"


@pytest.mark.usefixtures("_sandbox")
def test_a_forged_line_is_no_more_than_a_returned_value() -> None:
    """It may write the right value itself: then it has computed it, as if it had returned it."""
    forged = 'import os\nos.write(3, b\'{"value":4}\\n{"value":9}\\n\')\nos._exit(0)'
    assert score(forged, SQUARES) == 1.0


@pytest.mark.usefixtures("_sandbox")
def test_partial_credit_is_the_share_of_the_tests() -> None:
    half = "def solve(x): return 4"
    assert score(half, SQUARES) == 0.0
    assert score(half, SQUARES, partial=True) == 0.5
    assert score("print(5)", SUMS, partial=True) == 0.5
    assert score("print(5)", SUMS) == 0.0
    hangs = "def solve(x):\n    while x > 2: pass\n    return x * x"
    assert score(hangs, SQUARES, partial=True, limit_s=2.0) == 0.5
    assert score(RIGHT, [*SQUARES, {"stdin": "", "stdout": "no"}], partial=True) == pytest.approx(2 / 3)


@pytest.mark.usefixtures("_sandbox")
def test_a_program_that_hangs_costs_its_limit_once() -> None:
    many = [{"stdin": str(n), "stdout": str(n)} for n in range(100)]
    begun = time.monotonic()
    for partial in (False, True):
        assert score("while True: pass", many, limit_s=0.5, partial=partial) == 0.0
    assert time.monotonic() - begun < 45  # 100 s, where each of its inputs cost the limit


@pytest.mark.usefixtures("_sandbox")
def test_a_batch_keeps_its_order_and_runs_the_same_program_once() -> None:
    completions = [RIGHT, "def solve(x): return 0", "def solve(", RIGHT, ""] * 4
    golds = [SQUARES, SQUARES, SQUARES, None, SQUARES] * 4
    reward = get("code", {})
    assert reward([""] * 20, completions, ground_truth=golds) == [1.0, 0.0, 0.0, None, 0.0] * 4


@pytest.mark.usefixtures("_sandbox")
@pytest.mark.parametrize(
    ("source", "want"),
    [
        ("print('5 ')\nprint()", 1.0),
        ("print('5\\r')", 1.0),
        ("print(' 5')", 0.0),
        ("print('5')\nprint('5')", 0.0),
        ("print(5, end='')", 1.0),
        ("print(5)\nraise SystemExit", 1.0),
        ("print(5)\nraise SystemExit(1)", 0.0),
        ("print(5)\n1 / 0", 0.0),
        ("print(5)\nimport os\nos._exit(0)", 0.0),
        ("import sys\nsys.stderr.write('warning')\nprint(5)", 1.0),
        ("def main(): print(5)\nif __name__ == '__main__': main()", 1.0),
    ],
)
def test_what_is_printed(source: str, want: float) -> None:
    assert score(source, [{"stdin": "2 3", "stdout": "5\n"}]) == want


@given(
    st.lists(st.text(alphabet="ab 12", max_size=5), max_size=5),
    st.lists(st.sampled_from(["", " ", "\t", "\r"]), max_size=5),
)
@settings(deadline=None)
def test_white_space_at_line_ends_is_forgiven(body: list[str], ends: list[str]) -> None:
    padded = [line + (ends[i] if i < len(ends) else "") for i, line in enumerate(body)]
    assert lines("\n".join(padded)) == lines("\n".join(body)) == lines("\n".join(body) + "\n\n")


@pytest.mark.usefixtures("_sandbox")
def test_much_output_is_allowed_where_it_is_expected() -> None:
    wanted = "x" * 200_000
    assert score("print('x' * 200_000)", [{"stdin": "", "stdout": wanted}]) == 1.0
    assert "more than" in judged("while True: print('x' * 999)", [{"stdin": "", "stdout": "x"}]).reason


@pytest.mark.usefixtures("_sandbox")
def test_large_sources_and_answers() -> None:
    long = RIGHT + "\n# " + "x" * 50_000
    assert score(long, SQUARES) == 1.0
    assert "characters" in judged("x" * 300_000, SQUARES).reason
    assert score("def f(): return list(range(100_000))", [{"call": "f()", "expect": str(list(range(100_000)))}]) == 1.0
    assert score("def f(): return 'x' * (1 << 28)", [{"call": "f()", "expect": "1"}]) == 0.0
    assert score("x = []\nx.append(x)\ndef f(): return x", [{"call": "f()", "expect": "[]"}]) == 0.0


@pytest.mark.parametrize("args", [{"memory_mb": 1}, {"memory_mb": 10**9}, {"limit_s": 0.0}, {"partial": 1}, {"x": 1}])
def test_wrong_arguments_are_refused(args: dict[str, Any]) -> None:
    with pytest.raises(Refused):
        get("code", args)


def test_a_search_for_fences_takes_linear_time() -> None:
    for text in ("```a\n" * 12_000, "```python\nx```" * 4_000, "`" * 50_000, "~~~\n" * 12_000, " " * 50_000):
        begun = time.thread_time()
        last_code(text, ("python",))
        assert time.thread_time() - begun < 1.0
