"""The model card: a header that the hub can read, and markdown that no text of others breaks."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from huggingface_hub import ModelCard
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from backend import report
from backend.report import markdown
from backend.report.shown import visible
from tests.report_support import HOSTILE, RUN, Bench, bench, side, whole

READER = MarkdownIt("commonmark").enable("table").enable("strikethrough")


@pytest.fixture(scope="module")
def cards(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    found = {}
    for name, hostile in (("full", ""), ("hostile", HOSTILE)):
        made = whole(tmp_path_factory.mktemp(name), hostile)
        found[name] = report.card(made, RUN)
        made.store.db.close()
    return found


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Bench]:
    made = bench(tmp_path)
    yield made
    made.store.db.close()


def header(card: str) -> dict[str, Any]:
    assert card.startswith("---\n")
    return yaml.safe_load(card[4 : card.index("\n---\n", 4)])


def tokens(card: str) -> list[Token]:
    return READER.parse(card[card.index("\n---\n", 4) + 5 :])


def test_the_header_is_what_the_hub_reads(cards: dict[str, str]) -> None:
    parsed: Any = ModelCard(cards["full"], ignore_metadata_errors=False).data
    found = parsed.to_dict()
    assert found["library_name"] == "transformers"
    assert {"grpo", "trl"} <= set(found["tags"])
    assert "datasets" not in found, "a generated set is no set of the hub"
    assert "base_model" not in found, "a model that was built here is none of the hub"
    assert parsed.eval_results is not None
    result = parsed.eval_results[0]
    assert (result.metric_type, result.metric_value, result.dataset_name) == ("accuracy", 0.9, "덧셈")
    assert result.metric_args == {"n": 60}
    assert "n = 60" in (result.metric_name or "")
    assert "79.9 … 95.3%" in (result.metric_name or "")


def test_hub_names_are_named_and_local_ones_are_not(empty: Bench) -> None:
    for number, (config, expected) in enumerate((
        ({"model": "Qwen/Qwen2.5-0.5B-Instruct", "dataset": "openai/gsm8k", "peft": "lora"},
         ("Qwen/Qwen2.5-0.5B-Instruct", ["openai/gsm8k"], "peft")),
        ({"model": "smollm2-135m", "dataset": "arithmetic"},
         ("HuggingFaceTB/SmolLM2-135M-Instruct", None, "transformers")),
        ({"model": "/models/mine", "dataset": "/rows/a.jsonl", "peft": "lora"}, (None, None, "peft")),
    )):  # fmt: skip
        run = f"20261129-13450{number}-ab2c"
        empty.create(run, "a run", **config)
        found = header(report.card(empty, run))
        assert (found.get("base_model"), found.get("datasets"), found["library_name"]) == expected
        merged = header(report.card(empty, run, merged=True))
        assert merged["library_name"] == "transformers"


def test_the_loading_code_is_python(cards: dict[str, str], empty: Bench) -> None:
    empty.create(RUN, "lora", model="Qwen/Qwen3-0.6B", peft="lora", chat_template_kwargs={"enable_thinking": False})
    code = ""
    for card in (*cards.values(), report.card(empty, RUN)):
        code = next(token.content for token in tokens(card) if token.type == "fence" and token.info == "python")
        assert ast.parse(code).body
    assert "AutoPeftModelForCausalLM" in code
    assert "enable_thinking=False" in code


def test_it_says_what_was_found_and_how(cards: dict[str, str]) -> None:
    card = cards["full"]
    for part in (
        "Accuracy 33% → 90% on 60 held-out problems", "| accuracy | 33.3% (22.7 … 45.9%) | 90.0%",
        "| pass@4 |", "ab" * 32,
        "12" * 32, "Won 36, lost 2", "control run with the scores shuffled", "torch `2.9.0`", "`A CPU`", "Seed: 42",
        "max_steps: 60", "### Lost: 2", "| `format` | 0.2 | `{\"content\": \"number\"}` | built in |",
        "3 of 2,000 training rows were left out", "The trained side is `best`",
    ):  # fmt: skip
        assert part in card, part


def test_hostile_texts_do_not_break_the_markdown(cards: dict[str, str]) -> None:
    """The same structure as without them: headings, lists, tables and fences, and nothing new."""
    card = cards["hostile"]
    card.encode("utf-8")
    assert header(card)["model-index"][0]["name"] == visible(" ".join(HOSTILE.split()))

    def outline(text: str) -> list[str]:
        following = [(token, after) for token, after in pairwise(tokens(text)) if token.type == "heading_open"]
        return [token.tag + after.content.split(":")[0] for token, after in following]

    assert outline(card)[1:] == outline(cards["full"])[1:]
    found = tokens(card)
    every = [*found, *(child for token in found for child in token.children or [])]
    kinds = {token.type for token in every}
    assert not kinds & {"link_open", "image", "s_open", "em_open", "html_inline", "setext"}
    assert [token.content for token in every if token.type == "html_block"] == [
        "<details>\n<summary>All settings</summary>\n", "</details>\n",
    ]  # fmt: skip
    fences = [token.content for token in found if token.type == "fence" and token.info == "text"]
    shown = visible(HOSTILE) + "\n"
    assert fences.count(shown) >= 3 * 10
    for row, cells in rows(found):
        assert cells in (4, 5), row


def rows(found: list[Token]) -> Iterator[tuple[int, int]]:
    cells, row = 0, 0
    for token in found:
        if token.type == "tr_open":
            cells, row = 0, row + 1
        cells += token.type in ("td_open", "th_open")
        if token.type == "tr_close":
            yield row, cells


TEXT = st.text(st.sampled_from("`|~\\*_[]()<>&#-+.!$:@ \n\t\x00\u202eab1{}=") | st.characters(), max_size=40)


@given(TEXT)
def test_a_text_in_a_sentence_reads_as_itself(text: str) -> None:
    for escape in (markdown.escaped, markdown.prose):
        found = READER.parse(f"before {escape(text)} after")
        assert [token.type for token in found] == ["paragraph_open", "inline", "paragraph_close"]
        children = found[1].children or []
        assert {child.type for child in children} <= {"text", "text_special"}
        said = "".join(child.content for child in children)
        assert " ".join(said.split()) == " ".join(f"before {' '.join(visible(text).split())} after".split())


@given(TEXT)
def test_a_name_as_code_reads_as_itself_also_in_a_table(text: str) -> None:
    name = " ".join(visible(text).split())
    children = READER.parse(f"a {markdown.code(text)} b")[1].children or []
    if name:
        assert [child.content for child in children if child.type == "code_inline"] == [name]
    found = READER.parse(f"| a | b |\n|---|---|\n| {markdown.cell(text)} | c |\n")
    assert [cells for _, cells in rows(found)] == [2, 2]


@given(TEXT)
def test_a_block_reads_as_itself(text: str) -> None:
    found = READER.parse(f"{markdown.fence(text)}\n\nafter")
    assert [token.type for token in found] == ["fence", "paragraph_open", "inline", "paragraph_close"]
    assert found[0].content == visible(text) + "\n" if visible(text) else True


def test_cards_of_runs_that_have_little(empty: Bench) -> None:
    empty.create(RUN, "")
    card = report.card(empty, RUN)
    assert "No evaluation on held-out problems is stored" in card
    assert "model-index" not in header(card)
    other = "20261129-134501-ab2d"
    empty.create(other, "unjudged")
    empty.evaluated(other, {"before": side(lambda row: None, 4), "after": side(lambda row: None, 4)})
    assert "No answer could be judged" in report.card(empty, other)
