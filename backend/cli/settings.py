"""Settings from the command line, and `check`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from backend import config
from backend.cli.output import Output, duration
from backend.device import facts
from backend.errors import Refused
from backend.settings import Settings
from backend.text import Text


def values_of(args: argparse.Namespace) -> dict[str, Any]:
    """--preset, then --config, then --set: the later wins."""
    read = read_file(Path(args.config)) if args.config else None
    return config.merge(args.preset, read, config.parse_sets(args.set))


def read_file(path: Path) -> dict[str, Any]:
    """A mapping from a YAML or JSON file. Refused, in words, when it is neither."""
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise Refused(_both(f"config={path}: {error.strerror}", f"config={path}: 읽을 수 없습니다")) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise Refused(
            _both(f"config={path}: not YAML or JSON: {error}", f"config={path}: YAML이나 JSON이 아닙니다")
        ) from error
    if data is None:
        return {}
    if not isinstance(data, Mapping):
        raise Refused(
            _both(
                f"config={path}: must hold settings as `name: value`, not {type(data).__name__}",
                f"config={path}: `이름: 값` 형식의 설정이어야 합니다",
            )
        )
    return {str(key): value for key, value in data.items()}


def check(args: argparse.Namespace, out: Output) -> int:
    """Exit code 2 when a rule is broken; the answer is the same document either way."""
    checked = config.check(values_of(args), home=Settings.from_environment(args.home).home, device=facts())
    document = checked.to_json("en")
    out.answer(document, list(_lines(document)))
    return 0 if checked.ok else 2


def _lines(document: Mapping[str, Any]) -> Any:
    for error in document["errors"]:
        would_do = f" (would do: {', '.join(map(str, error['suggest']))})" if error["suggest"] else ""
        yield f"error: {error['field']}={error['value']!r}: {error['rule']}{would_do}"
    for note in document["notes"]:
        where = f"{note['field']}: " if note.get("field") else ""
        yield f"{note['kind']}: {where}{note['text']}"
    for name, value in (document["plan"] or {}).items():
        if name == "seconds":
            yield f"time: about {duration(value)}"
        elif isinstance(value, int | float | str):
            yield f"{name}: {value}"
    if document["ok"]:
        yield "ok"


def _both(en: str, ko: str) -> Text:
    return Text(en=en, ko=ko)
