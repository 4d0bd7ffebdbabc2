"""A custom reward to begin with, for each common shape. The files are sources for the editor, not modules of ours."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backend.custom.library import Level
from backend.text import Text

ROWS = {
    "question": {"prompt": "What is 2 + 3?", "ground_truth": "5"},
    "measure": {"prompt": "How far is it?", "ground_truth": "12", "unit": "km"},
}


@dataclass(frozen=True, slots=True)
class Template:
    """`file`: its name in this folder, without .py; `rows`: completions to try it on."""

    file: str
    title: Text
    about: Text
    rows: tuple[tuple[str, str], ...]
    level: Level = "sandboxed"

    @property
    def source(self) -> str:
        return Path(__file__).with_name(f"{self.file}.py").read_text(encoding="utf-8")

    def to_json(self) -> dict[str, Any]:
        """With its source and rows."""
        return {
            "id": self.file,
            "title": self.title.to_json(),
            "about": self.about.to_json(),
            "level": self.level,
            "source": self.source,
            "rows": [{**ROWS[kind], "completion": completion} for kind, completion in self.rows],
        }


TEMPLATES = (
    Template(
        "exact",
        Text(en="Exact answer", ko="정답 일치"),
        Text(en="compares the answer tag with a column", ko="answer 태그의 내용을 열의 값과 비교"),
        (("question", "<answer>5</answer>"), ("question", "<answer>6</answer>"), ("question", "five")),
    ),
    Template(
        "pattern",
        Text(en="Pattern", ko="정규식"),
        Text(en="a regular expression over the whole completion", ko="답변 전체에 정규식 적용"),
        (("question", "<think>2 + 3</think><answer>5</answer>"), ("question", "5")),
    ),
    Template(
        "length",
        Text(en="Length", ko="길이"),
        Text(en="counts tokens, with arguments to set", ko="토큰 수를 세고, 인자로 조정"),
        (("question", "word " * 200), ("question", "word " * 150), ("question", "5")),
    ),
    Template(
        "keywords",
        Text(en="Keywords", ko="키워드"),
        Text(en="words that should be there; no model needed", ko="들어 있어야 할 단어. 모델이 필요 없음"),
        (("question", "5, because 2 and 3 make 5"), ("question", "5")),
    ),
    Template(
        "columns",
        Text(en="Several columns", ko="여러 열"),
        Text(en="two columns, log_extra and log_metric", ko="열 두 개, log_extra와 log_metric"),
        (("measure", "It is 12 km."), ("measure", "It is 12 miles."), ("measure", "far")),
    ),
    Template(
        "curriculum",
        Text(en="Changes over the run", ko="학습이 진행되며 변화"),
        Text(en="reads trainer_state", ko="trainer_state를 읽음"),
        (("question", "word " * 350), ("question", "word " * 450)),
    ),
    Template(
        "judge",
        Text(en="Judge over HTTP", ko="HTTP 심사 모델"),
        Text(en="async; needs the network, so trusted", ko="비동기. 네트워크가 필요해 신뢰(trusted) 수준"),
        (("question", "5"), ("question", "I do not know")),
        "trusted",
    ),
)


def find(file: str) -> Template | None:
    """The template of this id."""
    return next((template for template in TEMPLATES if template.file == file), None)
