"""The audit on rewards that a person might write: what is wrong with each is found, and nothing else is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit.lab_audit import CHAT, INTS, LARGE, TEXTS, failing, runner, verdicts, words


@pytest.fixture
def run(tmp_path: Path) -> Any:
    return runner(tmp_path)


CORRECT = {
    "named column": "def f(completions, ground_truth, **kwargs):\n"
    "    return by_row(completions, ground_truth, lambda c, g: float(last(c) == str(g)))",
    "from kwargs": "def f(completions, **kwargs):\n"
    "    return by_row(completions, kwargs['ground_truth'], lambda c, g: float(last(c) == str(g)))",
    "asked of kwargs": "def f(completions, **kwargs):\n"
    "    return by_row(completions, kwargs.get('ground_truth'), lambda c, g: float(last(c) == str(g)))",
    "the first tag": "def f(completions, ground_truth, **kwargs):\n"
    "    first = lambda c: (re.search(r'<answer>(.*?)</answer>', text(c), re.S) or [None, None])[1]\n"
    "    return by_row(completions, ground_truth, lambda c, g: float((first(c) or '').strip() == str(g)))",
    "plus and minus": "def f(completions, ground_truth, **kwargs):\n"
    "    return by_row(completions, ground_truth, lambda c, g: 1.0 if last(c) == str(g) else -1.0)",
    "a little for the form": "def f(completions, ground_truth, **kwargs):\n"
    "    return by_row(completions, ground_truth, lambda c, g: 1.0 if last(c) == str(g) else 0.1 * bool(last(c)))",
    "async": "async def f(completions, ground_truth, **kwargs):\n"
    "    return by_row(completions, ground_truth, lambda c, g: float(last(c) == str(g)))",
    "None without a tag": "def f(completions, ground_truth, **kwargs):\n"
    "    return by_row(completions, ground_truth, lambda c, g: None if last(c) is None else float(last(c) == str(g)))",
    "true and false": "def f(completions, ground_truth, **kwargs):\n"
    "    return by_row(completions, ground_truth, lambda c, g: last(c) == str(g))",
    "the number after the hashes": "def f(completions, ground_truth, **kwargs):\n"
    "    return by_row(completions, ground_truth, lambda c, g: float(text(c).split('####')[-1].strip() == str(g)))",
    "boxed": "def f(completions, ground_truth, **kwargs):\n"
    "    boxes = lambda c: [each.strip() for each in re.findall('boxed{(.*?)}', text(c))]\n"
    "    return by_row(completions, ground_truth, lambda c, g: float(boxes(c)[-1:] == [g]))",
}  # fmt: skip

OWN_FORMS = {
    "a line of its own": "def f(completions, ground_truth, **kwargs):\n"
    "    found = lambda c: re.search(r'FINAL ANSWER\\s*[:=]\\s*(.+?)\\s*$', text(c))\n"
    "    return by_row(completions, ground_truth, lambda c, g: float(bool(found(c)) and found(c)[1] == g))",
    "marks of its own": "START, END, LEFT, RIGHT = '<work>', '<end_work>', '<SOLUTION>', '</SOLUTION>'\n"
    "FORM = re.compile(rf'^\\s*{START}.+?{END}\\s*{LEFT}(.+?){RIGHT}\\s*$', re.S)\n"
    "def f(completions, ground_truth, **kwargs):\n"
    "    found = lambda c: FORM.search(text(c))\n"
    "    return by_row(completions, ground_truth, lambda c, g: float(bool(found(c)) and found(c)[1].strip() == g))",
    "cut at a word": "def f(completions, ground_truth, **kwargs):\n"
    "    return by_row(completions, ground_truth, lambda c, g: float(text(c).split('RESULT IS')[-1].strip() == g))",
    "bold": "def f(completions, ground_truth, **kwargs):\n"
    "    bold = lambda c: (re.findall(r'\\*\\*(.+?)\\*\\*', text(c)) or [''])[-1].strip()\n"
    "    return by_row(completions, ground_truth, lambda c, g: float(bold(c) == g))",
}


@pytest.mark.parametrize("name", OWN_FORMS)
def test_a_form_of_ones_own_is_read_from_the_source(run: Any, name: str) -> None:
    found = run(OWN_FORMS[name])
    assert verdicts(found)["f.gold"] == "pass"
    assert found["verdict"] == "pass"


def test_a_form_that_cannot_be_guessed_does_not_stop(run: Any) -> None:
    body = (
        "def f(completions, ground_truth, **kwargs):\n"
        "    words = lambda c: dict(line.split('=', 1) for line in text(c).splitlines() if line.count('=') == 1)\n"
        "    return by_row(completions, ground_truth, lambda c, g: float(words(c).get('r') == g))"
    )
    found = run(body)
    gold = next(check for check in found["checks"] if check["id"] == "f.gold")
    assert (gold["verdict"], gold["stops"]) == ("warn", False)
    assert "it may want one that was not" in gold["words"]["en"]


@pytest.mark.parametrize("rows", [TEXTS, CHAT], ids=["plain", "chat"])
@pytest.mark.parametrize("name", CORRECT)
def test_a_correct_reward_passes(run: Any, name: str, rows: list[dict[str, Any]]) -> None:
    found = run(CORRECT[name], rows)
    bad = {id: verdict for id, verdict in verdicts(found).items() if verdict in ("warn", "fail")}
    assert bad == {}
    assert found["verdict"] == "pass"


def test_a_correct_reward_is_done_in_two_seconds(run: Any) -> None:
    run(CORRECT["from kwargs"])  # the sandbox starts
    # Whatever else the machine does: one of ten.
    assert any(run(CORRECT["from kwargs"])["seconds"] < 2 for _ in range(10))


def test_tags_are_not_an_answer(run: Any) -> None:
    body = "def f(completions, **kwargs):\n    return [float('<answer>' in text(c)) for c in completions]"
    found = run(body)
    assert failing(found) == {"f.other_gold"}
    assert "gives the maximum to a wrong answer" in words(found, "f.other_gold")
    example = next(check for check in found["checks"] if check["id"] == "f.other_gold")["examples"][0]
    assert "<answer>" in example["completion"]
    assert example["score"] == 1.0
    # Beside a reward that judges the answer it is what it should be.
    assert failing(run(body, beside=["accuracy"], values={"reward_weights": [0.2, 1.0]})) == set()


def test_tags_beside_a_ground_truth_that_is_not_read(run: Any) -> None:
    body = "def f(completions, ground_truth, **kwargs):\n    return [float('<answer>' in text(c)) for c in completions]"
    assert "f.other_gold" in failing(run(body))


def test_an_int_against_a_string_is_named_by_its_cause(run: Any) -> None:
    body = (
        "def f(completions, ground_truth, **kwargs):\n"
        "    return by_row(completions, ground_truth, lambda c, g: float(last(c) == g))"
    )
    found = run(body, INTS)
    assert failing(found) == {"f.type"}
    assert words(found, "f.type").startswith("type: the ground truths are numbers (12)")
    assert next(check for check in found["checks"] if check["id"] == "f.type")["stops"]
    assert run(body, TEXTS)["verdict"] == "pass"


def test_a_string_against_a_number_too(run: Any) -> None:
    body = (
        "def f(completions, ground_truth, **kwargs):\n"
        "    return by_row(completions, ground_truth, lambda c, g: float(str(last(c)).isdigit() and int(last(c)) == g))"
    )
    assert failing(run(body, TEXTS)) == {"f.type"}
    assert failing(run(body, INTS)) == set()


def test_chance(run: Any) -> None:
    found = run("def f(completions, **kwargs):\n    return [random.random() for c in completions]")
    assert failing(found) == {"f.deterministic"}
    assert "Not deterministic" in words(found, "f.deterministic")


def test_slow(run: Any) -> None:
    body = (
        "def f(completions, ground_truth, **kwargs):\n    time.sleep(0.15 * len(completions))\n"
        "    return by_row(completions, ground_truth, lambda c, g: float(last(c) == g))"
    )
    found = run(body, TEXTS[:6])
    assert {id for id, verdict in verdicts(found).items() if verdict == "warn"} == {"f.speed"}
    assert "while the GPU waits" in words(found, "f.speed")
    assert found["seconds"] < 120


def test_a_pattern_that_backtracks(run: Any) -> None:
    body = (
        "PATTERN = re.compile(r'^(\\w+\\s?)*<answer>(.*?)</answer>$')\n"
        "def f(completions, ground_truth, **kwargs):\n"
        "    return by_row(completions, ground_truth, lambda c, g: float(bool(PATTERN.search(text(c)))))"
    )
    found = run(body)
    assert failing(found) == {"f.patterns"}
    assert found["seconds"] < 60


def test_a_text_that_holds_it_up(run: Any) -> None:
    body = (
        "def f(completions, ground_truth, **kwargs):\n"
        "    form = lambda g: '(x+' + 'x+)+' + g\n"
        "    return by_row(completions, ground_truth, lambda c, g: float(bool(re.search(form(g), text(c)))))"
    )
    found = run(body, budget_s=30.0)
    assert failing(found) == {"f.hangs"}
    assert "one such answer holds up the whole step" in words(found, "f.hangs")
    assert found["seconds"] < 120


def test_the_same_for_every_text(run: Any) -> None:
    found = run("def f(completions, **kwargs):\n    return [1.0 for c in completions]")
    assert verdicts(found)["f.constant"] == "warn"


def test_it_never_ends(run: Any) -> None:
    found = run("def f(completions, **kwargs):\n    while True:\n        pass", budget_s=12.0)
    assert failing(found) == {"f.hangs"}
    assert found["seconds"] < 60


def test_longer_is_better(run: Any) -> None:
    found = run("def f(completions, **kwargs):\n    return [len(text(c)) / 1000 for c in completions]")
    assert verdicts(found)["f.length"] == "warn"
    assert "The longer text scores higher" in words(found, "f.length")
    shorter = run("def f(completions, **kwargs):\n    return [-len(text(c)) / 1000 for c in completions]")
    assert verdicts(shorter)["f.length"] == "pass"
    assert failing(found) | failing(shorter) == set()


def test_a_gold_anywhere_in_the_text(run: Any) -> None:
    body = (
        "def f(completions, ground_truth, **kwargs):\n"
        "    return by_row(completions, ground_truth, lambda c, g: float(g in text(c)))"
    )
    assert failing(run(body)) >= {"f.several", "f.listed", "f.outside", "f.right_then_wrong"}


def test_the_repeated_premise_pays(run: Any) -> None:
    rows = [{**row, "prompt": f"All {row['ground_truth']} are red. Is it so?"} for row in TEXTS]
    body = (
        "def f(prompts, completions, ground_truth, **kwargs):\n"
        "    said = lambda p, c: .7 if last(c) and last(c) in text(p) else 0.0\n"
        "    return [1.0 if last(c) == g else said(p, c) for p, c, g in zip(prompts, completions, ground_truth)]"
    )
    found = run(body, rows)
    assert verdicts(found)["f.premise"] == "warn"
    assert "70% of the way" in words(found, "f.premise")


def test_spellings_that_a_model_will_write(run: Any) -> None:
    body = (
        "def f(completions, ground_truth, **kwargs):\n"
        "    return by_row(completions, ground_truth, lambda c, g: float(last(c) == g))"
    )
    found = run(body, LARGE)
    assert verdicts(found)["f.equivalents"] == "warn"
    assert "thousands separators (12,000)" in words(found, "f.equivalents")
    assert "thousands" not in words(run(body, TEXTS), "f.equivalents")
