"""One record of a source as one row for TRL, or the fault that keeps it from being one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from backend.data.faults import BadRow, Fault, Record, clip
from backend.data.mapping import RESERVED, FileMapping, Template
from backend.data.messages import as_answer, as_messages, is_blank, pair, said
from backend.data.prompts import Prompt, as_prompt, prompt_id, row
from backend.text import Text

MOST_NAMES = 10_000  # of columns that are remembered
TOLD = {
    "python_messages": Text("messages written as Python text were read as messages",
                            "파이썬 표기로 적힌 메시지를 메시지로 읽었습니다"),
    "bools_as_text": Text("Boolean ground truths became text", "불리언 정답을 글자로 바꿨습니다"),
}  # fmt: skip


class Converter:
    """Prompts or, with kind "sft", warm-up rows. `renamed` and `left_out` are complete once all rows have passed.

    Rows must agree in being plain or conversations; the first one decides.
    """

    def __init__(self, mapping: FileMapping) -> None:
        self.mapping = mapping
        self.template = Template(mapping.template) if mapping.template is not None else None
        self.renamed: dict[str, str] = {}
        self.left_out: dict[str, None] = {}
        self.no_column: str | None = None
        self.blank_fields = 0
        self.dropped_answers = 0
        self.told: Counter[str] = Counter()
        self._shape: type | None = None
        self._seen: dict[str, None] = {}

    def __call__(self, record: Record) -> dict[str, Any] | Fault:
        if len(self._seen) < MOST_NAMES:
            self._seen.update(dict.fromkeys(record.values))
        try:
            made = self._sft(record.values) if self.mapping.kind == "sft" else self._prompts(record.values)
            self._same_shape(made["prompt"])
        except BadRow as bad:
            return bad.at(record.number)
        return made

    # --- prompts ---

    def _prompts(self, values: Mapping[str, Any]) -> dict[str, Any]:
        m = self.mapping
        used = m.messages or ("messages" if m.prompt is None and _only(values, "messages", "prompt") else None)
        prompt_column = used or m.prompt or "prompt"
        prompt = self._prompt(values, prompt_column)
        gold_column = "ground_truth" if m.ground_truth is None else m.ground_truth
        if m.ground_truth and m.ground_truth not in self._seen:
            raise self._missing("ground_truth", m.ground_truth, values)
        gold = values.get(gold_column)
        if isinstance(prompt, list) and prompt[-1]["role"] == "assistant":
            prompt, answer = self._without_answer(prompt, prompt_column)
            gold = answer if m.last_assistant == "ground_truth" else gold
        if isinstance(gold, bool):
            gold = self._bool_gold(gold, gold_column)
        self._ends_with_question(prompt, prompt_column)
        prompt = self._with_system(prompt, values)
        taken = {gold_column, m.system} | (set() if self.template else {prompt_column})
        others = {self._name(k, values): v for k, v in values.items() if k not in taken}
        return row(prompt, gold, **others)

    def _prompt(self, values: Mapping[str, Any], column: str) -> Prompt:
        if self.template is not None:
            return self._filled(values)
        if column not in values:
            raise self._missing("prompt", column, values)
        return as_messages(values[column], column, self.told)

    def _filled(self, values: Mapping[str, Any]) -> str:
        template = self.template
        assert template is not None
        unknown = template.unknown(values)
        if unknown is not None:
            raise self._missing("template", unknown, values)
        blank = sum(is_blank(values[name]) for name in template.columns)
        if template.columns and blank == len(template.columns):
            where = ", ".join(template.columns)
            raise BadRow(template.columns[0], "blank_prompt", f"the prompt is blank: {where} holds nothing",
                         f"프롬프트가 비어 있습니다: {where}에 값이 없습니다")  # fmt: skip
        self.blank_fields += blank
        return template.fill(values)

    def _bool_gold(self, gold: bool, column: str) -> str:
        """As text, where that was asked for: no reward takes a Boolean, which Python would have equal 1 or 0."""
        text = "true" if gold else "false"
        if self.mapping.bool_ground_truth == "refuse":
            raise BadRow(
                column,
                "bool_ground_truth",
                f'the ground truth is the Boolean {text}; as text ("{text}") it can be judged '
                "(bool_ground_truth: text)",
                f'정답이 불리언 {text}입니다. 글자("{text}")로 바꾸면 쓸 수 있습니다(bool_ground_truth: text)',
            )
        self.told["bools_as_text"] += 1
        return text

    def _without_answer(self, messages: list[dict[str, Any]], column: str) -> tuple[list[dict[str, Any]], str]:
        """The messages before the last answer, and its text."""
        if self.mapping.last_assistant == "refuse":
            raise BadRow(
                column,
                "last_assistant",
                "the last message of the prompt is the assistant's; it must be the user's "
                "(last_assistant: drop leaves the answer out, ground_truth takes it as the ground truth)",
                "프롬프트의 마지막 메시지가 assistant의 것입니다. user의 메시지여야 합니다"
                "(last_assistant: drop은 답변을 버리고, ground_truth는 정답으로 씁니다)",
            )
        answer = said(messages[-1]["content"])
        rest = messages
        while rest and rest[-1]["role"] == "assistant":
            rest = rest[:-1]
        self.dropped_answers += 1
        return rest, answer

    @staticmethod
    def _ends_with_question(prompt: Prompt, column: str) -> None:
        if isinstance(prompt, list) and (not prompt or prompt[-1]["role"] not in ("user", "tool")):
            last = prompt[-1]["role"] if prompt else "-"
            raise BadRow(
                column,
                "no_question",
                f"the last message of the prompt is the {last}'s; it must be the user's",
                f"프롬프트의 마지막 메시지가 {last}의 것입니다. user의 메시지여야 합니다",
            )

    def _with_system(self, prompt: Prompt, values: Mapping[str, Any]) -> Prompt:
        m = self.mapping
        system = m.system_prompt
        if m.system is not None:
            if m.system not in values:
                raise self._missing("system", m.system, values)
            system = None if is_blank(values[m.system]) else str(values[m.system])
        if isinstance(prompt, str):
            return as_prompt(prompt, system=system) if m.chat or m.system_prompt or m.system else prompt
        if system and prompt[0]["role"] != "system":
            return [{"role": "system", "content": system}, *prompt]
        return prompt

    def _name(self, column: str, values: Mapping[str, Any]) -> str:
        """The name under which a further column reaches the rewards: not one that the trainer uses itself."""
        if column not in RESERVED:
            return column
        known = self.renamed.get(column)
        if known is None:
            known = column + "_"
            while known in self._seen or known in values:
                known += "_"
            self.renamed[column] = known
        return known

    # --- rows for the warm-up ---

    def _sft(self, values: Mapping[str, Any]) -> dict[str, Any]:
        m = self.mapping
        talk = m.messages or ("messages" if not (m.prompt or m.completion or self.template) else None)
        if talk is not None and (m.messages or _only(values, talk, "completion")):
            if talk not in values:
                raise self._missing("messages", talk, values)
            used = {talk}
            messages = as_messages(values[talk], talk, self.told)
            if isinstance(messages, str) or messages[-1]["role"] != "assistant" or len(messages) < 2:
                raise BadRow(talk, "no_answer", "the last message must be the assistant's, after a question",
                             "마지막 메시지는 질문 뒤에 온 assistant의 답변이어야 합니다")  # fmt: skip
            prompt: Prompt = messages[:-1]
            completion: Prompt = [messages[-1]]
        else:
            column = m.completion or "completion"
            prompt_column = m.prompt or "prompt"
            used = {column, *(self.template.columns if self.template else (prompt_column,))}
            prompt = self._prompt(values, prompt_column)
            if column not in values:
                raise self._missing("completion", column, values)
            prompt, completion = pair(prompt, as_answer(values[column], column, self.told))
        system = m.system_prompt or m.system
        prompt = self._with_system(prompt, values)
        if (system or m.chat) and isinstance(completion, str):
            completion = [{"role": "assistant", "content": completion}]
        self.left_out.update(dict.fromkeys(k for k in values if k not in used and k != m.system))
        return {"prompt": prompt, "completion": completion, "prompt_id": prompt_id(prompt)}

    # --- both ---

    def _same_shape(self, prompt: Prompt) -> None:
        if self._shape is None:
            self._shape = type(prompt)
        if not isinstance(prompt, self._shape):
            raise BadRow(None, "mixed", "plain prompts and message lists in one file; set chat to true",
                         "일반 프롬프트와 메시지 목록이 섞여 있습니다. chat을 true로 두세요")  # fmt: skip

    def _missing(self, key: str, column: str, values: Mapping[str, Any]) -> BadRow:
        self.no_column = self.no_column or key
        there = clip(", ".join(map(str, values)), 300) or "-"
        return BadRow(
            column,
            "no_column",
            f"no column {column!r} for the {key}. Columns: {there}",
            f"{key}(으)로 쓸 {column!r} 열이 없습니다. 열: {there}",
        )


def _only(values: Mapping[str, Any], wanted: str, other: str) -> bool:
    return wanted in values and other not in values


def changes(converter: Converter) -> list[Fault]:
    """What was read otherwise than it stands in the source. Complete once all rows have passed."""
    found = [
        Fault(
            None,
            old,
            Text(
                f"the column {old} is called {new} here: "
                + ("a reward cannot be given a column of this name" if old == "self" else
                   f"the trainer uses the name {old} itself"),
                f"{old} 열은 여기서 {new}입니다. "
                + ("보상에 이 이름의 열을 넘길 수 없습니다" if old == "self" else
                   f"{old}는 학습기가 직접 쓰는 이름입니다"),
            ),
            "renamed",
        )
        for old, new in converter.renamed.items()
    ]  # fmt: skip
    if converter.left_out:
        names = clip(", ".join(converter.left_out), 200)
        found.append(Fault(None, None, Text(f"left out of the warm-up rows: {names}", f"워밍업 행에서 뺀 열: {names}"),
                           "left_out"))  # fmt: skip
    for code, words in TOLD.items():
        if many := converter.told[code]:
            rows = "1 row" if many == 1 else f"{many} rows"
            found.append(Fault(None, None, Text(f"{words.en}, in {rows}", f"{words.ko}({many}개 행)"), code))
    return found
