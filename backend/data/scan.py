"""One pass over a source: rows for a set, and everything there is to say about it.

Memory grows with the rows only by a few 8-byte hashes each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from backend.data import clip, split
from backend.data.convert import Converter, changes
from backend.data.faults import Fault, Record, Table
from backend.data.golds import GoldCheck
from backend.data.mapping import FileMapping
from backend.data.mapping import found as used_mapping
from backend.data.messages import empty, said
from backend.data.offers import offers
from backend.data.repeats import Repeats
from backend.text import Text

PREVIEW, RENDERED, MOST_PROBLEMS, MOST_COLUMNS = 50, 3, 200, 1000
LONG = 8_000  # characters of a prompt; how many tokens that is, only a tokenizer can tell
GIVE_UP = 50  # rows without a named column, before the whole file is taken to have none
ALWAYS = ("usable", "bad_rows", "blank_prompt", "blank_ground_truth", "blank_lines", "duplicate_prompts",
          "conflicting_answers", "duplicate_ids", "conflicting_ids", "long_prompts", "longest_prompt",
          "unreadable_ground_truth")  # fmt: skip
Take = Callable[[dict[str, Any], int], None]


@dataclass(slots=True)
class Scan:
    """What a pass has found. `counts` has every count; `problems` the first MOST_PROBLEMS that a person should see,
    `changes` what was read otherwise than it stands there."""

    table: Table
    mapping: FileMapping
    rows: int = 0
    columns: dict[str, int] = field(default_factory=dict)
    filled: dict[str, int] = field(default_factory=dict)
    out_columns: dict[str, None] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    problems: list[tuple[str, Fault]] = field(default_factory=list)
    changes: list[Fault] = field(default_factory=list)
    preview: list[dict[str, Any]] = field(default_factory=list)
    rendered: list[dict[str, Any]] = field(default_factory=list)
    notes: list[Text] = field(default_factory=list)
    offers: list[dict[str, Any]] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        bad = self.counts["bad_rows"] if self.mapping.bad_rows == "refuse" else 0
        return not bad and not self.counts["fatal"] and self.counts["usable"] > 0

    def warn(self, faults: Iterable[Fault]) -> None:
        """What does not keep a row from being used."""
        for fault in faults:
            if len(self.problems) < MOST_PROBLEMS:
                self.problems.append(("warn", fault))

    def to_json(self) -> dict[str, Any]:
        counts = {
            "rows": self.rows,
            **dict.fromkeys(ALWAYS, 0),
            **{k: v for k, v in sorted(self.counts.items()) if k != "fatal" and (v or k in ALWAYS)},
        }
        return {
            "ok": self.ok,
            "rows": self.rows,
            "columns": list(self.columns),
            "encoding": self.table.encoding,
            "delimiter": self.table.delimiter,
            "problems": [
                {"row": f.row, "column": f.column, "what": f.what.to_json(), "level": level, "code": f.code}
                for level, f in [*self.problems, *(("info", change) for change in self.changes)]
            ],
            "counts": counts,
            "preview": self.preview,
            "rendered": self.rendered,
            "mapping": used_mapping(self.mapping, self.columns),
            "offers": self.offers,
            "notes": [note.to_json() for note in self.notes],
            "kind": self.mapping.kind,
            "bytes": self.table.size,
            "filled": self.filled,
        }


def scan(table: Table, mapping: FileMapping, take: Take | None = None) -> Scan:
    """Read a table to its end. `take(row, key)` gets every usable row. Errors of reading are problems of the result."""
    with closing(table):
        return _scan(table, mapping, take)


def _scan(table: Table, mapping: FileMapping, take: Take | None) -> Scan:
    found = Scan(table, mapping)
    converter = Converter(mapping)
    same = Repeats()
    golds = GoldCheck(mapping.rewards) if mapping.kind == "prompts" else None
    codes: Counter[str] = Counter()
    for item in table.records:
        if isinstance(item, Record):
            _look(found, item)
            made = converter(item)
        else:
            made = item
            found.rows = max(found.rows, item.row or 0)
        if isinstance(made, Fault):
            codes[made.code] += 1
            _bad(found, made)
            if made.fatal or (
                made.code == "no_column" and not found.counts["usable"] and codes["no_column"] >= GIVE_UP
            ):
                found.counts["fatal"] += 1
                break
            continue
        assert isinstance(item, Record)
        key = split.key(made["prompt"])
        found.counts["usable"] += 1
        if len(found.out_columns) < MOST_COLUMNS:
            found.out_columns.update(dict.fromkeys(made))
        _measure(found, made)
        gold = made.get("ground_truth")
        same.add(item.number, made["prompt"], key, gold, item.values)
        if golds is not None:
            golds.add(item.number, made)
        if len(found.rendered) < RENDERED:
            found.rendered.append(clip.shown(made))
        if take is not None:
            take(made, key)
    _close(found, converter, same, golds)
    return found


def _look(found: Scan, item: Record) -> None:
    found.rows = item.number
    for name, value in item.values.items():
        if name not in found.columns and len(found.columns) >= MOST_COLUMNS:
            continue
        found.columns[name] = found.columns.get(name, 0) + 1
        if not empty(value):
            found.filled[name] = found.filled.get(name, 0) + 1
    if len(found.preview) < PREVIEW:
        found.preview.append(clip.row(item.values))


def _changed(found: Scan, faults: list[Fault]) -> None:
    """What was read otherwise than it stands there: for people in the notes, and with its column among the problems,
    where no number of faulty rows keeps it out."""
    found.notes += [fault.what for fault in faults]
    found.changes = faults[:MOST_PROBLEMS]


def _no_numbers(found: Scan) -> int:
    """How many ground truths are NaN, which is taken for a missing one."""
    column = "ground_truth" if found.mapping.ground_truth is None else found.mapping.ground_truth
    rows = found.table.not_numbers.get(column, ())
    if rows:
        some = ", ".join(map(str, rows[:5])) + (", …" if len(rows) > 5 else "")
        what = Text(f"NaN is no number: these ground truths count as missing (row {some})",
                    f"NaN은 수가 아니므로 정답이 없는 것으로 봅니다({some}행)")  # fmt: skip
        found.warn([Fault(rows[0], column, what, "not_a_number")])
    return len(rows)


def _bad(found: Scan, fault: Fault) -> None:
    found.counts["bad_rows"] += 1
    found.counts[fault.code] += 1
    left_out = found.mapping.bad_rows == "drop" and not fault.fatal
    if fault.code == "no_column" and found.counts["no_column"] > 1 and not found.counts["usable"]:
        return  # so far no row has it: said once
    if len(found.problems) < MOST_PROBLEMS:
        found.problems.append(("warn" if left_out else "error", fault))


def _measure(found: Scan, row: Mapping[str, Any]) -> None:
    prompt = row["prompt"]
    length = len(prompt) if isinstance(prompt, str) else sum(len(said(message["content"])) for message in prompt)
    found.counts["longest_prompt"] = max(found.counts["longest_prompt"], length)
    if length > LONG:
        found.counts["long_prompts"] += 1
    if found.mapping.kind == "prompts" and empty(row.get("ground_truth")):
        found.counts["blank_ground_truth"] += 1


def _close(found: Scan, converter: Converter, same: Repeats, golds: GoldCheck | None) -> None:
    table, counts = found.table, found.counts
    found.warn(same.find())
    counts.update(same.counts)
    found.notes += table.notes
    counts["blank_lines"] = len(table.blank_lines)
    if table.blank_lines:
        some = ", ".join(map(str, table.blank_lines[:5])) + (", …" if len(table.blank_lines) > 5 else "")
        found.notes.append(
            Text(f"blank lines passed over: {len(table.blank_lines)} (line {some})",
                 f"빈 줄 {len(table.blank_lines)}개는 건너뛰었습니다({some}번째 줄)")
        )  # fmt: skip
    _changed(found, [*table.changes, *changes(converter)])
    if golds is not None:
        for fault in golds.faults():
            found.warn([fault])
        counts.update(golds.counts)
        counts["unreadable_ground_truth"] += counts["bool_ground_truth"] + _no_numbers(found)
        found.notes += golds.notes()
    if counts["long_prompts"]:
        longest, many = counts["longest_prompt"], counts["long_prompts"]
        have = "prompt has" if many == 1 else "prompts have"
        found.notes.append(
            Text(
                f"{many} {have} more than {LONG:,} characters (the longest {longest:,}); "
                "a run leaves out those that are too long for its model, and counts them",
                f"{LONG:,}자를 넘는 프롬프트가 {many}개입니다(최대 {longest:,}자). "
                "모델이 받을 수 없이 긴 것은 실행에서 빼고 그 수를 알립니다",
            )
        )
    for name, many in (
        ("blank_template_cells", converter.blank_fields),
        ("dropped_answers", converter.dropped_answers),
    ):
        if many:
            counts[name] = many
    if golds is not None and counts["usable"] and counts["blank_ground_truth"] == counts["usable"]:
        en = "no row has a ground truth: rewards that compare with one will give no score"
        found.notes.append(Text(en, "정답이 있는 행이 없습니다. 정답과 비교하는 보상은 점수를 매기지 못합니다"))
    if not found.rows and not counts["fatal"]:
        found.counts["fatal"] += 1
        found.problems.append(
            ("error", Fault(None, None, Text("has no rows: it is empty", "행이 없습니다(빈 파일)"), "empty"))
        )
    suits = golds.suits() if golds is not None else None
    found.offers = offers(found.mapping, converter, found.columns, counts, suits, table.encoding)
