"""docs/settings.md: every setting with its default, what it may be, and its help, made from the fields themselves.

`python -m backend.config.reference` writes it anew; a test compares.
"""

from __future__ import annotations

import json
from pathlib import Path

from backend.config.bounds import bounds_text
from backend.config.fields import GROUPS, default_of
from backend.config.form import trl_name
from backend.config.kinds import kind_of
from backend.config.schema import FIELDS, FIELDS_BY_GROUP, SETTINGS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "settings.md"
HEAD = """# Settings

Every setting of a run: on the form, in a file (`--config`), or as `--set name=value`. Old names of TRL and transformers
are taken too and said. Made by `python -m backend.config.reference`.
"""


def page() -> str:
    """The whole page as Markdown."""
    parts = [HEAD]
    for group, title in GROUPS.items():
        rows = "\n".join(_row(name) for name in FIELDS_BY_GROUP[group])
        parts.append(f"## {title.en}\n\n| setting | default | values | what it is |\n|---|---|---|---|\n{rows}\n")
    return "\n".join(parts)


def _row(name: str) -> str:
    meta = SETTINGS[name]
    passed = trl_name(name)
    whose = "" if passed is None or passed.rsplit(".", 1)[-1] == name else f" (`{passed}`)"
    default = json.dumps(default_of(FIELDS[name]), ensure_ascii=False)
    return f"| `{name}`{whose} | `{default}` | {_cell(_values(name))} | {_cell(f'{meta.label.en}. {meta.help.en}')} |"


def _values(name: str) -> str:
    kind = kind_of(name)
    members = ["one of " + ", ".join(kind.choices) if m == "choice" else m for m in kind.members]
    bounds = bounds_text(SETTINGS[name]).en
    return " or ".join([*members, *(["null"] if kind.optional else [])]) + (f", {bounds}" if bounds else "")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
