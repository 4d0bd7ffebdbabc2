"""The test of a reward before it is saved: the real call, its scores, and every fault with its place."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest

from backend.custom.service import CustomService
from backend.custom.templates import TEMPLATES, Template
from backend.errors import NotFound, Refused
from backend.settings import Settings
from tests.custom_support import NO_SANDBOX

pytestmark = pytest.mark.skipif(NO_SANDBOX, reason="no sandbox on this machine")


@pytest.fixture
def service(tmp_path: Path) -> CustomService:
    return CustomService(Settings(tmp_path))


def tried(service: CustomService, source: str, rows: Any = None, **more: Any) -> dict[str, Any]:
    return service.test(rows, source=textwrap.dedent(source), **more)


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda t: t.file)
@pytest.mark.parametrize("shape", ["plain", "messages"])
def test_every_template_scores_its_rows_in_both_shapes(service: CustomService, template: Template, shape: Any) -> None:
    report = service.test(
        template.to_json()["rows"], source=template.source, level=template.level, confirmed=True, shape=shape
    )
    assert report["ok"], report["error"]
    scores = [row["score"] for row in report["rows"]]
    assert (
        scores
        == {
            "exact": [1.0, 0.0, 0.0],
            "pattern": [1.0, 0.0],
            "length": [1.0, 0.5, 0.0],
            "keywords": [0.5, 0.0],
            "columns": [1.0, 0.7, 0.0],
            "curriculum": [1.0, 0.0],
            "judge": [None, None],  # nobody listens there
        }[template.file]
    )
    saved = service.save(f"from_{template.file}", template.source, template.level, confirmed=True)
    assert saved.version == 1


def test_the_call_is_shown_as_trl_makes_it(service: CustomService) -> None:
    source = "def judge(completions, answer, **kwargs): return [1.0] * len(completions)"
    rows = [{"prompt": [{"role": "user", "content": "q"}], "completion": "a", "answer": "<b>1</b>"}]
    report = tried(service, source, rows)
    call = {each["name"]: each for each in report["call"]}
    assert report["shape"] == "messages"
    assert "'role': 'assistant', 'content': 'a'" in call["completions"]["shown"]
    assert "'role': 'user'" in call["prompts"]["shown"]
    assert call["answer"] == {"name": "answer", "kind": "list of 1 str", "shown": "['<b>1</b>']"}
    assert {"trainer_state", "log_extra", "log_metric"} <= set(call)


def test_extras_metrics_and_prints(service: CustomService) -> None:
    source = """
        def judge(completions, log_extra, log_metric, **kwargs):
            print("안녕")
            log_extra("extracted", ["x", None])
            log_extra("length", [1, 2])
            log_metric("mean", 1.5)
            return [0.5, None]
    """
    report = tried(service, source, [{"completion": "a"}, {"completion": "b"}])
    assert report["ok"]
    assert report["prints"] == "안녕\n"
    assert report["metrics"] == [["mean", 1.5]]
    assert [row["extra"] for row in report["rows"]] == [
        {"extracted": "x", "length": 1}, {"extracted": None, "length": 2},
    ]  # fmt: skip
    assert [row["extracted"] for row in report["rows"]] == ["x", None]


@pytest.mark.parametrize(
    ("source", "line", "said"),
    [
        ("import re\ndef judge(completions, **kwargs:\n    pass", 2, "syntax error"),
        ("def judge(prompts, completions): return [1]", 1, "**kwargs"),
        ("def judge(completions, wanted, **kwargs): return [1]", 1, "no column wanted"),
        ("import re\nimport not_here\ndef judge(completions, **kwargs): return [1]", 2, "not_here"),
        ("def judge(completions, **kwargs): return ['x'] * 4", None, "row 0"),
        ("def a(completions, **kwargs): pass\ndef b(completions, **kwargs): pass", None, "a, b"),
        ("x = 1", None, "no function"),
    ],
)
def test_faults_of_the_whole(service: CustomService, source: str, line: int | None, said: str) -> None:
    report = tried(service, source)
    assert not report["ok"]
    assert said in report["error"]["en"]
    assert report["error"]["ko"]
    assert report["line"] == line


def test_a_fault_of_one_row_is_told_with_its_line(service: CustomService) -> None:
    source = """
        def judge(completions, **kwargs):
            return [part(c) for c in completions]

        def part(completion):
            return 1 / len(completion)
    """
    report = tried(service, source, [{"completion": "a"}, {"completion": ""}])
    assert not report["ok"]
    assert report["error"] is None
    good, bad = report["rows"]
    assert (good["score"], good["failed"], bad["score"], bad["failed"]) == (1.0, False, None, True)
    assert (bad["line"], "ZeroDivisionError" in bad["error"]) == (6, True)
    assert "return 1 / len(completion)" in bad["traceback"]


def test_slow_is_told(service: CustomService) -> None:
    source = "import time\ndef judge(completions, **kwargs):\n    time.sleep(30)"
    report = tried(service, source, [{"completion": "a"}], args={"limit_s": 0.5})
    assert report["rows"][0]["failed"]
    assert "slow" in report["notices"]
    assert report["limit_s"] == 0.5


def test_a_saved_one_by_name_and_a_trusted_one_by_confirmation(service: CustomService) -> None:
    source = "def judge(completions, **kwargs): return [2.0] * len(completions)"
    service.save("mine", source, "sandboxed", False)
    assert [row["score"] for row in service.test(name="mine")["rows"]] == [2.0] * 4
    with pytest.raises(NotFound):
        service.test(name="other")
    with pytest.raises(Refused, match="runs code as you"):
        tried(service, source, level="trusted")
    assert tried(service, source, level="trusted", confirmed=True)["ok"]


def test_rows_that_are_none(service: CustomService) -> None:
    source = "def judge(completions, **kwargs): return [2.0] * len(completions)"
    for rows in ([1], [{"completion": 5}], [{"completion": "a"}] * 65):
        with pytest.raises(Refused, match="rows"):
            tried(service, source, rows)


def test_on_a_public_space_nothing_works(service: CustomService, monkeypatch: pytest.MonkeyPatch) -> None:
    source = "def judge(completions, **kwargs): return [2.0] * len(completions)"
    service.save("mine", source, "sandboxed", False)
    monkeypatch.setenv("SPACE_ID", "me/studio")
    assert service.names() == []
    assert service.facts()["allowed"] is False
    assert "Space" in service.facts()["why"]["ko"]
    for call in (
        lambda: service.test(name="mine"),
        lambda: tried(service, source),
        lambda: service.save("mine", source, "sandboxed", False),
        lambda: service.delete("mine"),
        lambda: service.show("mine"),
        lambda: service.look(source, None, None, "sandboxed", None),
    ):
        with pytest.raises(Refused, match="public Space"):
            call()
