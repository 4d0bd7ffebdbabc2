"""Custom rewards in their own processes, in both levels: what TRL gives, what it takes, all that goes wrong."""

from __future__ import annotations

import datetime
import math
import time
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest

from backend.custom import BrokenReward, resolve
from backend.errors import NotFound, Refused, StudioError
from backend.rewards import score_rows
from tests.custom_support import LEVELS, NO_SANDBOX, Logged, reward

EIGHT = [f"answer {n}" for n in range(8)]


@pytest.fixture(params=LEVELS)
def level(request: pytest.FixtureRequest) -> str:
    if request.param == "sandboxed" and NO_SANDBOX:
        pytest.skip("no sandbox on this machine")
    return request.param


def test_it_is_called_as_trl_calls_it(level: str) -> None:
    source = """
        def judge(completions, answer, **kwargs):
            state = kwargs["trainer_state"]
            assert sorted(kwargs) == ["completion_ids", "log_extra", "log_metric", "prompts", "trainer_state", "unit"]
            assert (state.global_step, state.max_steps, state.log_history[-1]["loss"]) == (7, 20, 0.5)
            assert kwargs["prompts"] == ["p", "q"] and kwargs["completion_ids"] == [[1, 2], [3]]
            kwargs["log_extra"]("length", [len(c) for c in completions])
            kwargs["log_extra"]("extracted", ["A", None])
            kwargs["log_metric"]("mean_length", sum(map(len, completions)) / 2)
            return [c == a for c, a in zip(completions, answer)]
    """
    log = Logged()
    state = SimpleNamespace(global_step=7, max_steps=20, log_history=[{"loss": 0.5}], stateful_callbacks=object())
    with reward(source, level) as judge:
        scores = judge(
            ["p", "q"], ["a", "bb"], answer=["a", "x"], unit=["m", "s"], completion_ids=[[1, 2], [3]],
            trainer_state=state, **log.columns(),
        )  # fmt: skip
        assert scores == [1.0, 0.0]
        assert log.extra == [("length", [1, 2]), ("extracted", ["A", None])]
        assert log.metrics == [("mean_length", 1.5)]
        assert [v.extracted for v in judge.take_verdicts()] == ["A", None]
        assert judge.take_verdicts() == []


def test_async_functions_wait_side_by_side(level: str) -> None:
    source = """
        import asyncio

        async def one(completion, all_here):
            await all_here.wait()  # for ever, where one is waited for before the next begins
            return len(completion)

        async def judge(completions, **kwargs):
            all_here = asyncio.Barrier(len(completions))
            return await asyncio.gather(*[one(c, all_here) for c in completions])
    """
    with reward(source, level) as judge:
        assert judge(["p"] * 8, ["a" * n for n in range(8)]) == [float(n) for n in range(8)]


def test_threads_of_an_event_loop_wake_it(level: str) -> None:
    source = """
        import asyncio

        async def judge(completions, **kwargs):
            return await asyncio.gather(*[asyncio.to_thread(len, c) for c in completions])
    """
    with reward(source, level) as judge:
        assert judge(["p"] * 2, ["a", "bb"]) == [1.0, 2.0]


@pytest.mark.parametrize(
    ("returned", "scores"),
    [
        ("[1, 0.5, None, float('nan')]", [1.0, 0.5, None, None]),
        ("[True, False, True, None]", [1.0, 0.0, 1.0, None]),
        ("numpy.array([1, 2, 3, numpy.nan])", [1.0, 2.0, 3.0, None]),
        ("[numpy.float32(0.5), numpy.int64(2), numpy.bool_(True), numpy.array(3.0)]", [0.5, 2.0, 1.0, 3.0]),
        ("(n / 2 for n in range(4))", [0.0, 0.5, 1.0, 1.5]),
        ("tuple(range(4))", [0.0, 1.0, 2.0, 3.0]),
        ("[__import__('fractions').Fraction(1, 2)] * 4", [0.5] * 4),
    ],
)
def test_what_trl_takes_is_taken(level: str, returned: str, scores: list[float | None]) -> None:
    with reward(f"import numpy\ndef judge(completions, **kwargs):\n    return {returned}", level) as judge:
        assert judge(["p"] * 4, EIGHT[:4]) == scores


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        ("[1, 'good', 0, 0]", ["'judge'", "'good'", "str", "row 1"]),
        ("[0, 0, float('inf'), 0]", ["'judge'", "inf", "row 2", "finite"]),
        ("[0, 0, 0, -10**400]", ["'judge'", "row 3", "finite"]),
        ("[1e39, 0, 0, 0]", ["'judge'", "1e+39", "row 0", "finite"]),
        ("[0, 3e38, 0, 0]", ["'judge'", "3e+38", "row 1", "1e+09", "float32"]),
        ("[0, [1, 2], 0, 0]", ["'judge'", "[1, 2]", "list", "row 1"]),
        ("__import__('numpy').ones((4, 1))", ["'judge'", "array([1.])", "ndarray", "row 0"]),
        ("[0, 0, 1j, 0]", ["'judge'", "1j", "complex", "row 2"]),
        ("[1]", ["'judge'", "1 rewards", "4 were expected", "[1]"]),
        ("[1, 2, 3]", ["'judge'", "3 rewards", "4 were expected"]),
        ("[1] * 5", ["'judge'", "5 rewards", "4 were expected"]),
        ("[]", ["'judge'", "0 rewards", "4 were expected"]),
        ("1.0", ["'judge'", "float", "1.0", "4 rewards"]),
        ("{'a': 1}", ["'judge'", "dict", "'a'", "4 rewards"]),
        ("'abcd'", ["'judge'", "str", "'abcd'", "4 rewards"]),
        ("None", ["'judge'", "NoneType", "4 rewards"]),
        ("__import__('numpy').float64(1)", ["'judge'", "float64", "4 rewards"]),
        ("kwargs['log_extra']('n', [1]) or [1] * 4", ["'judge'", "log_extra('n', ...)", "1 values", "4 were expected"]),
        ("kwargs['log_metric']('n', 'x ') or [1] * 4", ["'judge'", "log_metric('n', ...)", "'x '", "number"]),
    ],
)
def test_what_trl_cannot_take_is_refused_with_function_row_and_value(
    level: str, returned: str, said: list[str]
) -> None:
    with reward(f"def judge(completions, **kwargs):\n    return {returned}", level) as judge:
        with pytest.raises(BrokenReward) as refused:
            judge(["p"] * 4, EIGHT[:4])
        for words in said:
            assert words in refused.value.text.en
        assert "judge" in refused.value.text.ko


def test_one_that_raises_is_missing_and_the_others_count(level: str) -> None:
    source = """
        def judge(completions, log_extra, **kwargs):
            scores = []
            for completion in completions:
                scores.append(float(completion.split()[1]))
                if completion == "answer 2":
                    raise ValueError("I do not like " + completion)
            log_extra("n", scores)
            return scores
    """
    log = Logged()
    with reward(source, level) as judge:
        assert judge(["p"] * 8, EIGHT, **log.columns()) == [0.0, 1.0, None, 3.0, 4.0, 5.0, 6.0, 7.0]
        (failure,) = judge.take_failures()
        assert (failure.row, failure.completion, failure.reward) == (2, "answer 2", "judge")
        assert "ValueError" in failure.traceback
        assert "I do not like answer 2" in failure.traceback
        assert 'raise ValueError("I do not like " + completion)' in failure.traceback
        assert "server" not in failure.traceback
        assert ("n", [0.0, 1.0, None, 3.0, 4.0, 5.0, 6.0, 7.0]) in log.extra
        assert ("rewards/judge/failed", 1.0) in log.metrics
        assert judge.restarts == 0
        verdicts = judge.take_verdicts()
        assert "I do not like" in str(verdicts[2].reason)
        assert "alone" in str(verdicts[3].reason)


HANGS = {
    "sleep": "time.sleep(120)",
    "endless": "exec('while True: pass')",
    "holds the interpreter": "re.match(r'(a+)+$', 'a' * 60 + 'b')",
}
DIES = {
    "SystemExit": ("raise SystemExit(3)", 0, "SystemExit"),
    "KeyboardInterrupt": ("raise KeyboardInterrupt", 0, "KeyboardInterrupt"),
    "os._exit": ("os._exit(0)", 2, ""),
    "recursion": ("(lambda f: f(f))(lambda f: f(f))", 0, "RecursionError"),
    "hostile error": (
        "raise type('E', (Exception,), {'__str__': lambda s: 1 / 0, '__repr__': lambda s: 1 / 0})",
        0,
        "E",
    ),
}
ONE_BAD = """
import ctypes, os, re, time
def judge(completions, **kwargs):
    scores = []
    for completion in completions:
        if completion == "answer 1":
            {what}
        scores.append(1.0)
    return scores
"""


@pytest.mark.parametrize("what", HANGS)
def test_one_that_hangs_is_killed_from_outside_and_the_others_are_scored(level: str, what: str) -> None:
    with reward(ONE_BAD.format(what=HANGS[what]), level, limit_s=1.0) as judge:
        begin = time.monotonic()
        assert judge(["p"] * 4, EIGHT[:4]) == [1.0, None, 1.0, 1.0]
        assert time.monotonic() - begin < 60
        assert judge.restarts == 2
        assert "1 s" in judge.take_failures()[0].error
        notices = judge.take_notices()
        assert "slow" in notices["slow"].en
        assert "restarted" in notices["restarted"].en
        assert judge.take_notices() == {}
        assert judge(["p"], ["fine"]) == [1.0]


@pytest.mark.parametrize("what", DIES)
def test_one_that_ends_the_process_is_missing(level: str, what: str) -> None:
    code, restarts, said = DIES[what]
    with reward(ONE_BAD.format(what=code), level) as judge:
        assert judge(["p"] * 4, EIGHT[:4]) == [1.0, None, 1.0, 1.0]
        assert judge.restarts == restarts
        assert said in judge.take_failures()[0].error


def test_a_crash_in_c_is_told_with_its_signal() -> None:
    with reward(ONE_BAD.format(what="ctypes.string_at(0)"), "trusted") as judge:
        assert judge(["p"] * 4, EIGHT[:4]) == [1.0, None, 1.0, 1.0]
        (failure,) = judge.take_failures()
        assert "SIGSEGV" in failure.error
        assert "line 7" in failure.traceback  # faulthandler's word


def test_one_that_eats_the_memory_ends_alone(level: str) -> None:
    grows = "kept = [bytearray(50_000_000) for _ in range(200)]"
    with reward(ONE_BAD.format(what=grows), level, memory_mb=400, limit_s=20.0) as judge:
        assert judge(["p"] * 4, EIGHT[:4]) == [1.0, None, 1.0, 1.0]
        assert "emory" in judge.take_failures()[0].error


def test_when_everything_hangs_the_rest_is_not_tried(level: str) -> None:
    source = "import time\ndef judge(completions, **kwargs):\n    time.sleep(120)"
    with reward(source, level, limit_s=0.3) as judge:
        begin = time.monotonic()
        assert judge(["p"] * 16, ["a"] * 16) == [None] * 16
        assert time.monotonic() - begin < 60
        assert "not tried" in judge.take_failures()[-1].error


def test_prints_are_capped(level: str, tmp_path: Any) -> None:
    source = "def judge(completions, **kwargs):\n    print('x' * 2**20)\n    return [1.0] * len(completions)"
    with reward(source, level) as judge:
        judge.print_to(tmp_path / "prints.log")
        for _ in range(80):
            assert judge(["p"] * 2, EIGHT[:2]) == [1.0, 1.0]
        assert judge.restarts == 0
    size = (tmp_path / "prints.log").stat().st_size
    assert 2**20 <= size < 2**20 + 200
    assert b"is full" in (tmp_path / "prints.log").read_bytes()


def test_globals_live_as_long_as_the_process(level: str) -> None:
    source = """
        import time
        calls = 0

        def judge(completions, **kwargs):
            global calls
            calls += 1
            if completions[0] == "hang":
                time.sleep(120)
            return [calls] * len(completions)
    """
    with reward(source, level, limit_s=1.0) as judge:
        assert [judge(["p"], ["a"])[0] for _ in range(3)] == [1.0, 2.0, 3.0]
        assert judge(["p"], ["hang"]) == [None]
        assert judge(["p"], ["a"]) == [1.0]
        assert judge.restarts == 1


def test_what_the_code_does_to_its_inputs_it_does_to_copies(level: str) -> None:
    source = """
        def judge(completions, answer, prompts, trainer_state, **kwargs):
            for each in (completions, answer, prompts):
                each[0].clear()
                each.clear()
            trainer_state.log_history.clear()
            try:
                trainer_state.global_step = 5
            except AttributeError:
                return [1.0, 1.0]
    """
    messages = [[{"role": "assistant", "content": "a"}], [{"role": "assistant", "content": "b"}]]
    answer, prompts = [["x"], ["y"]], [[{"role": "user", "content": "q"}]] * 2
    state = SimpleNamespace(global_step=1, log_history=[{"loss": 1.0}])
    with reward(source, level) as judge:
        assert judge(prompts, messages, answer=answer, trainer_state=state) == [1.0, 1.0]
    assert messages[0][0]["content"] == "a"
    assert (answer, len(prompts), state.log_history) == ([["x"], ["y"]], 2, [{"loss": 1.0}])


def test_values_that_json_has_no_word_for_arrive_as_they_were(level: str) -> None:
    source = """
        import datetime, decimal, math
        def judge(completions, when, price, raw, share, **kwargs):
            assert when == [datetime.datetime(2026, 1, 2, 3), datetime.date(2026, 1, 2)]
            assert price == [decimal.Decimal("1.10"), None] and raw == [b"\\x00", b""]
            assert math.isnan(share[0]) and share[1] == math.inf
            assert completions[1] == "\\ud800"
            return [1.0, 1.0]
    """
    with reward(source, level) as judge:
        scores = judge(
            ["p", "q"], ["a", "\ud800"], when=[datetime.datetime(2026, 1, 2, 3), datetime.date(2026, 1, 2)],
            price=[Decimal("1.10"), None], raw=[b"\0", b""], share=[math.nan, math.inf],
        )  # fmt: skip
        assert scores == [1.0, 1.0]
        with pytest.raises(StudioError, match="column picture cannot be handed"):
            judge(["p"], ["a"], when=[1], price=[1], raw=[1], share=[1], picture=[object()])


def test_a_source_that_cannot_be_loaded_stops_in_words(level: str) -> None:
    source = "import nowhere_at_all\ndef judge(completions, **kwargs):\n    return [1.0]"
    with reward(source, level) as judge, pytest.raises(StudioError) as refused:
        judge(["p"], ["a"])
    assert "judge" in refused.value.text.en
    assert "line 1" in refused.value.text.en
    assert "nowhere_at_all" in refused.value.text.en


def test_arguments_and_mapped_columns(level: str) -> None:
    source = """
        def judge(completions, solution, bonus=1, words=('x',), **kwargs):
            return [bonus * len(words)] * len(completions)
    """
    args: dict[str, Any] = {"bonus": 3, "words": ["a", "b"], "columns": {"solution": "answer"}}
    with reward(source, level, **args) as judge:
        assert judge.columns == ("answer",)
        assert judge(["p"] * 2, ["a", "b"], answer=["1", "2"]) == [6.0, 6.0]
        with pytest.raises(StudioError, match="needs the column answer"):
            judge(["p"], ["a"], other=["1"])
        verdicts = score_rows(judge, [{"completion": "a", "answer": "1"}, {"completion": "b"}])
        assert [v.score for v in verdicts] == [6.0, None]
    with pytest.raises(Refused, match="no argument 'malus'"), reward(source, level, malus=1):
        pass
    with pytest.raises(Refused, match="limit_s=-1"), reward(source, level, limit_s=-1):
        pass


def test_a_reward_that_fails_on_everything_in_a_run_stops_it(level: str) -> None:
    with reward("def judge(completions, **kwargs):\n    return 1 / 0", level) as judge:
        for _ in range(4):
            assert judge(["p"] * 2, EIGHT[:2]) == [None, None]
        judge.gives_up = True
        with pytest.raises(BrokenReward, match="ZeroDivisionError"):
            judge(["p"] * 2, EIGHT[:2])


def test_several_functions_that_log_in_the_sandbox_see_no_file_and_no_network() -> None:
    if NO_SANDBOX:
        pytest.skip("no sandbox on this machine")
    source = """
        import socket
        def judge(completions, **kwargs):
            caught = 0
            for attempt in (lambda: open("/etc/passwd").read(), lambda: open("x", "w"), lambda: socket.socket()):
                try:
                    attempt()
                except OSError:
                    caught += 1
            return [caught] * len(completions)
    """
    with reward(source, "sandboxed") as judge:
        assert judge(["p"], ["a"]) == [3.0]


def test_trusted_code_has_the_users_folder_and_environment(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "words.txt").write_text("yes\n")
    (tmp_path / "library.py").write_text("VALUE = 4\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MY_TOKEN", "secret")
    source = """
        import os, library
        def judge(completions, **kwargs):
            return [float(os.environ["MY_TOKEN"] == "secret") + library.VALUE + (open("words.txt").read() == "yes\\n")]
    """
    with reward(source, "trusted") as judge:
        assert judge(["p"], ["a"]) == [6.0]


def test_tensors_are_understood_in_trusted_code() -> None:
    source = """
        import torch
        def judge(completions, **kwargs):
            if completions[0] == "list":
                return [torch.tensor(1.0), torch.tensor([2.0]), torch.tensor(True), torch.tensor(float("nan"))]
            if completions[0] == "column":
                return torch.ones(4, 1)
            return torch.arange(4, dtype=torch.bfloat16, requires_grad=True)
    """
    with reward(source, "trusted", limit_s=120.0) as judge:
        assert judge(["p"] * 4, EIGHT[:4]) == [0.0, 1.0, 2.0, 3.0]
        assert judge(["p"] * 4, ["list"] * 4) == [1.0, 2.0, 1.0, None]
        assert judge(["p"] * 4, ["column"] * 4) == [1.0] * 4


def test_a_name_that_is_nowhere_and_a_file(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotFound, match="accuracy"):
        resolve(tmp_path, "nowhere")
    with pytest.raises(Refused, match="cannot be read"):
        resolve(tmp_path, str(tmp_path / "none.py"))
    file = tmp_path / "mine.py"
    file.write_text("def a(completions, **kwargs):\n    return [1]\ndef b(completions, **kwargs):\n    return [2]\n")
    with pytest.raises(Refused, match="a, b"):
        resolve(tmp_path, str(file))
    judge = resolve(tmp_path, f"{file}:b", trusted=True)
    assert judge(["p"], ["x"]) == [2.0]
    judge.close()
    monkeypatch.setenv("SPACE_ID", "me/studio")
    with pytest.raises(Refused, match="public Space"):
        resolve(tmp_path, f"{file}:b", trusted=True)


def test_a_reward_named_as_a_module_hides_none(level: str) -> None:
    source = """
        from __future__ import annotations
        import json, dataclasses

        @dataclasses.dataclass
        class Kept:
            value: float

        def random(completions, **kwargs):
            import random
            return [Kept(float(random.Random(0).random() < 1)).value for _ in completions]
    """
    with reward(source, level) as judge:
        assert judge(["p"], ["a"]) == [1.0]


@pytest.mark.parametrize(
    "forged",
    ["{'scores': [1e999, 1.0], 'extras': [], 'metrics': []}", "{'scores': ['x', 1.0], 'extras': [], 'metrics': []}",
     "{'scores': [1.0] * 3, 'extras': [], 'metrics': []}", "{}", "5"],
)  # fmt: skip
def test_code_that_forges_its_process_answer_gains_nothing(level: str, forged: str) -> None:
    source = f"""
        import gc
        def judge(completions, **kwargs):
            for made in gc.get_objects():
                if type(made).__name__ == "Server":
                    type(made)._answer = lambda self, text: {forged}
            return [1.0] * len(completions)
    """
    with reward(source, level) as judge:
        for _ in range(2):
            assert set(judge(["p"] * 2, ["a", "b"])) <= {1.0, None}
        assert judge.failed
