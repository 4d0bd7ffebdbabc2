"""The report: the same bytes each time, every text of others inert, both languages whole, nothing fetched."""

from __future__ import annotations

import html as html_module
import math
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from backend import report
from backend.config.schema import SETTINGS
from backend.errors import NotFound
from backend.report.samples import CHARACTERS, MOST
from backend.report.shown import exact, visible
from backend.report.words import TEXTS
from storage.records import RunState
from tests.report_support import ADAPTER, CONTROL, EVALUATION, HOSTILE, RUN, Bench, bench, rising, side, whole

# Latin words that stand in a Korean text too: names of things, not English.
NAMES = re.compile(
    r"(?<![A-Za-z])(?:top-p|GRPO|Studio|McNemar|pass@\w+|maj@\w+|EOS|SHA-256|UTC|NaN|nats?|LoRA|CPU|GB|Python"
    r"|TRL|KL|vLLM|QLoRA|pp|p|k|x|U\+\w+)(?![A-Za-z])"
)


class Page(HTMLParser):
    """What a browser would see: tags with their attributes, and text with whether it is somebody else's."""

    VOID = frozenset({"meta", "link", "br", "hr", "img", "input"})

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.stack: list[tuple[str, bool]] = []
        self.texts: list[tuple[str, bool]] = []
        self.blocks: list[str] = []  # of exact text
        self.block: int | None = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.append((tag, given))
        if tag not in self.VOID:
            self.stack.append((tag, given.get("translate") == "no" or bool(self.stack and self.stack[-1][1])))
        if given.get("class") == "text":
            self.blocks.append("")
            self.block = len(self.stack)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.stack, f"</{tag}> closes nothing"
        assert self.stack.pop()[0] == tag, f"</{tag}> closes something else"
        if self.block is not None and len(self.stack) < self.block:
            self.block = None

    def handle_data(self, data: str) -> None:
        if self.stack and self.stack[-1][0] == "style":
            return
        theirs = bool(self.stack and self.stack[-1][1])
        self.texts.append((data, theirs))
        if self.block is not None and len(self.stack) >= self.block:
            self.blocks[-1] += data

    @property
    def text(self) -> str:
        return "".join(text for text, _ in self.texts)


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    made = whole(tmp_path_factory.mktemp("full"))
    yield made
    made.store.db.close()


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    made = whole(tmp_path_factory.mktemp("hostile"), HOSTILE)
    yield made
    made.store.db.close()


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Bench]:
    made = bench(tmp_path)
    yield made
    made.store.db.close()


def test_the_same_database_gives_the_same_bytes(full: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    first = report.html(full, RUN, "ko"), report.card(full, RUN)
    monkeypatch.setattr("time.time", lambda: 4e9)
    assert (report.html(full, RUN, "ko"), report.card(full, RUN)) == first


def test_it_says_what_was_found(full: Bench) -> None:
    page = Page(report.html(full, RUN, "en"))
    for part in (
        "Accuracy 33% → 90% on 60 held-out problems", "McNemar's exact test, two-sided: p < 0.0001", "pass@4",
        "36", "ab" * 32, "12" * 32, "The trained weights answered.", "control run (rewards shuffled)", "torch", "A CPU",
        "Started although 1.2 warned: The task is easy.", "3 of 2,000 training rows were left out",
        "16 of 16 rows give the same tokens", "no number (NaN or infinite): 3", "held out, during training",
        "Best and last weights, on fresh rows", "The peak holds.",
        "Change on 59 held-out problems:", "+56.7", "Won: 36", "Lost: 2",
    ):  # fmt: skip
        assert part in page.text, part
    assert not page.stack, "every element is closed"


def test_the_newest_evaluation_on_held_out_rows_is_shown_else_the_runs_own(
    full: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = Page(report.html(full, RUN, "en")).text
    assert f"Evaluation {EVALUATION}" in shown
    monkeypatch.setattr(full.evaluation.__class__, "of", lambda self, run: [])
    own = Page(report.html(full, RUN, "en")).text
    assert "59 problems judged on both sides" in own
    assert "The run's own evaluation" in own
    assert "1 of 60 rows could not be judged" in own


def test_a_control_is_compared_on_the_runs_own_rows(full: Bench) -> None:
    text = Page(report.html(full, RUN, "en")).text
    compared = text[text.index("Against a control") : text.index("Curves")]
    assert re.search(r"this run\s*59", compared), "not the 60 of the evaluation that the report shows"
    assert re.search(r"섞은 보상\s*60", compared)


def test_a_newer_evaluation_that_found_no_effect_is_told(tmp_path: Path) -> None:
    made = whole(tmp_path)
    run = "20261129-164500-ab2f"
    made.create(run, "평가", stages=["evaluate"], evaluation={"run": RUN, "checkpoint": "final", "data": "held-out"})
    made.evaluated(run, {"base": side(lambda row: True, 5), "trained": side(lambda row: True, 5)})
    words = {"en": "The adapter has no effect.", "ko": "어댑터가 효과가 없습니다."}
    made.results(run, adapter=ADAPTER | {"verdict": "inactive", "max_logit_difference": 0.0, "words": words})
    made.end(run, RunState.FAILED, "the adapter has no effect")
    assert f"Evaluation {run} failed: The adapter has no effect." in Page(report.html(made, RUN, "en")).text
    assert f"평가 {run} 실패: 어댑터가 효과가 없습니다." in Page(report.html(made, RUN, "ko")).text
    assert f"Evaluation `{run}` failed: The adapter has no effect." in report.card(made, RUN)
    made.store.db.close()


def test_hostile_texts_are_inert_everywhere(hostile: Bench) -> None:
    for lang in ("en", "ko"):
        text = report.html(hostile, RUN, lang)
        text.encode("utf-8")
        page = Page(text)
        assert not page.stack
        tags = {tag for tag, _ in page.tags}
        assert tags <= {
            "html", "head", "meta", "title", "style", "body", "main", "header", "section", "footer", "article", "p",
            "h1", "h2", "h3", "strong", "span", "code", "div", "table", "thead", "tbody", "tr", "th", "td", "dl", "dt",
            "dd", "ul", "li", "figure", "figcaption", "svg", "path", "line", "text", "circle", "rect", "details",
            "summary",
        }  # fmt: skip
        assert not any(name.startswith("on") for _, given in page.tags for name in given)
        assert page.text.count("{{7*7}}") > 50, "nothing was worked out"
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b\ud800-\udfff]", text)
        assert not any("\ufffd" in block for block in page.blocks), "a symbol, not a replacement"
        shown = str(HOSTILE).replace("\x00", "NUL").replace("\x1b", "ESC").replace("\u202e", "U+202E")
        shown = shown.replace("\ud800", "U+D800").replace("\u200b", "U+200B")
        assert page.blocks.count(shown) >= 3 * MOST, "answers and prompts stand exactly as they are"


def test_exact_text_keeps_every_character_that_can_be_seen() -> None:
    assert str(exact("a<b>\n\tc\r\x00")) == (
        'a&lt;b&gt;\n\tc<span class="control">CR</span><span class="control">NUL</span>'
    )
    assert visible("a\u202eb\U000e0041") == "a[U+202E]b[U+E0041]"
    text = "".join(map(chr, range(0x20, 0x7F))) + "한글 日本 🙂 \t\n"
    assert html_module.unescape(str(exact(text))) == text
    for code in (*range(0x20), *range(0x7F, 0xA0), 0xD800, 0xDFFF, 0x2028, 0xFEFF):
        if chr(code) not in "\t\n":
            assert chr(code) not in visible(chr(code))


def test_nothing_is_fetched_and_nothing_runs(full: Bench, hostile: Bench) -> None:
    for made in (full, hostile):
        text = report.html(made, RUN, "en")
        page = Page(text)
        assert not [tag for tag, given in page.tags if {"src", "href", "srcset", "data", "action"} & given.keys()]
        style = text[text.index("<style>") : text.index("</style>")]
        assert "url(" not in style
        assert "@import" not in style
        policy = next(
            given["content"] for _, given in page.tags if given.get("http-equiv") == "Content-Security-Policy"
        )
        assert policy == "default-src 'none'; style-src 'unsafe-inline'"
        assert not any("url(" in (value or "") for _, given in page.tags for value in given.values())


def english(texts: list[tuple[str, bool]]) -> set[str]:
    labels = {setting.label.ko for setting in SETTINGS.values()}  # the form's, which has tests of its own
    found: set[str] = set()
    for text, theirs in texts:
        if not theirs and text.strip() not in labels:
            found |= set(re.findall(r"[A-Za-z][A-Za-z+@']{1,}", NAMES.sub("", text)))
    return found


def test_the_korean_report_has_no_english_left(full: Bench, empty: Bench) -> None:
    assert english(Page(report.html(full, RUN, "ko")).texts) - {"best", "ab"} == set()
    for run in (EVALUATION, CONTROL):
        assert english(Page(report.html(full, run, "ko")).texts) - {"best", "ab"} == set()
    empty.create(RUN, "비어 있음")
    assert english(Page(report.html(empty, RUN, "ko")).texts) - {"ab"} == set()


def test_every_text_has_both_languages_with_the_same_places() -> None:
    for key, text in TEXTS.items():
        assert text.en, key
        assert text.ko, key
        assert set(re.findall(r"{(\w+)}", text.en)) == set(re.findall(r"{(\w+)}", text.ko)), key


def test_every_text_is_used_and_every_used_text_is_there() -> None:
    folder = Path(report.__file__).parent
    files = [path for path in folder.rglob("*") if path.suffix in (".py", ".j2") and path.name != "words.py"]
    sources = "".join(path.read_text(encoding="utf-8") for path in files).replace("'", '"')
    used = set(re.findall(r"""\bt\("([\w.]+)"[,)]""", sources))
    assert used <= TEXTS.keys()
    families = ("severity.", "kind.", "state.", "measure.", "method.", "moment.", "shift.", "level.", "chart.")
    for key in TEXTS:
        assert f'"{key}"' in sources or key.startswith(families), key


def test_a_run_that_never_began(empty: Bench) -> None:
    empty.create(RUN, "waiting")
    page = Page(report.html(empty, RUN, "en"))
    assert "Not evaluated on held-out problems" in page.text
    assert "This run has not ended" in page.text
    assert "<svg" not in report.html(empty, RUN, "en")
    assert "Not recorded" in page.text


def test_a_run_that_failed_in_the_middle_with_curves_of_no_numbers(empty: Bench) -> None:
    empty.create(RUN, "broken")
    empty.curves(RUN, 25, lambda step, name: math.nan if step > 5 else math.inf if step == 5 else rising(step, name))
    empty.evaluated(RUN, {"before": side(lambda row: None, 8)})
    empty.end(RUN, RunState.FAILED, "killed by the kernel: out of memory")
    text = report.html(empty, RUN, "ko")
    page = Page(text)
    assert "메모리 부족으로 커널이 강제 종료했습니다" in page.text
    assert "숫자가 아님 (NaN, 무한대): 21개" in page.text
    assert not re.search(r"\b(nan|inf|None|undefined)\b", re.sub(r"<style>.*</style>", "", text, flags=re.S))
    assert "기준 모델만 평가했고" in page.text


def test_what_stands_of_the_diagnosis_is_in_the_report(empty: Bench) -> None:
    def found(id: str, state: str, because_of: str | None) -> dict[str, object]:
        said = {"en": f"{id} is seen <b>", "ko": f"{id} 관찰됨 <b>"}
        change = [{"field": "learning_rate", "from": 1e-6, "to": 1e-5}]
        return {
            "id": id, "state": state, "severity": "critical", "because_of": because_of, "since_step": 12, "title": said,
            "text": said, "causes": [{"id": "c", "text": said}], "change": change,
        }  # fmt: skip

    empty.create(RUN, "judged")
    empty.end(RUN)
    findings = [found("Z1", "fired", None), found("Z2", "cleared", None), found("Z3", "fired", "Z1")]
    empty.results(RUN, diagnosis={"findings": findings})
    page = Page(report.html(empty, RUN, "en")).text
    assert "critical: Z1 is seen <b>" in page
    assert "since step 12" in page
    assert "learning_rate" in page
    assert "Z2" not in page
    assert "Z3" not in page
    assert "심각: Z1 관찰됨" in Page(report.html(empty, RUN, "ko")).text
    empty.results(RUN, diagnosis={"findings": []})
    assert "Nothing stands against this run" in Page(report.html(empty, RUN, "en")).text


def test_the_sentence_is_that_of_the_live_page_and_no_older_attempts(empty: Bench) -> None:
    empty.create(RUN, "judged")
    empty.end(RUN)
    said = {
        "en": "Did not learn: the reward rises, right answers do not.",
        "ko": "학습되지 않았습니다: 보상만 오릅니다.",
    }
    empty.results(RUN, diagnosis={"findings": [], "headline": {"text": said}, "attempt": 1})
    assert said["en"] in Page(report.html(empty, RUN, "en")).text
    assert said["ko"] in Page(report.html(empty, RUN, "ko")).text
    empty.results(RUN, diagnosis={"findings": [], "headline": {"text": said}, "attempt": 2})
    assert "What the diagnosis found" not in Page(report.html(empty, RUN, "en")).text


def test_an_evaluation_and_a_control_have_reports_of_their_own(full: Bench) -> None:
    page = Page(report.html(full, EVALUATION, "en")).text
    assert "How it was evaluated" in page
    assert "Curves" not in page
    assert "+56.7" in page
    assert f"control of: {RUN}" in Page(report.html(full, CONTROL, "en")).text


def test_long_texts_are_clipped_with_a_note(empty: Bench) -> None:
    empty.create(RUN, "long")
    empty.evaluated(RUN, {"before": side(lambda row: False, 20, text="x" * 5000), "after": side(lambda row: True, 20)})
    empty.end(RUN)
    page = Page(report.html(empty, RUN, "en"))
    assert f"the first {CHARACTERS:,} of 5,000 characters" in page.text
    assert "Won: 20" in page.text
    assert f"The first {MOST} in the order of the rows" in page.text
    assert max(map(len, page.blocks)) == CHARACTERS


def test_secrets_and_local_paths_stay_here(empty: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_TOKEN", "a-very-secret-word")
    home = str(empty.settings.home)
    empty.create(
        RUN, "paths", model="/home/somebody/models/mine", dataset=f"{home}/rows.jsonl",
        reward_args={"accuracy": {"key": "a-very-secret-word"}},
    )  # fmt: skip
    empty.tell(RUN, "something", f"could not read {home}/rows.jsonl with hf_abcdefghijklmnopqrstuvwx", "warn")
    for text in (report.html(empty, RUN, "en"), report.card(empty, RUN)):
        assert "a-very-secret-word" not in text
        assert "somebody" not in text
        assert home not in text
        assert "hf_abcdef" not in text
        assert "…/mine" in text


def test_there_is_no_report_of_no_run(empty: Bench) -> None:
    with pytest.raises(NotFound):
        report.html(empty, RUN)
    with pytest.raises(NotFound):
        report.card(empty, RUN)
