"""models and doctor."""

from __future__ import annotations

import argparse
from typing import Any

from backend.cli.output import Output
from backend.cli.runs import open_services
from backend.errors import Refused
from backend.settings import Settings
from backend.text import Text


def models(args: argparse.Namespace, out: Output) -> int:
    services = open_services(args, settle=False)
    if args.action == "fetch":
        if not args.model:
            raise Refused(
                Text(en="models fetch: name the model to fetch", ko="models fetch: 받을 모델의 이름을 지정하세요")
            )
        path = services.fetch_model(args.model, out.status)
        out.end_status()
        out.answer({"model": args.model, "path": path}, [f"{args.model} is at {path}"])
        return 0
    entries = services.models()
    rows = [[entry["name"], "here" if entry["here"] else "not fetched", _line(entry["title"])] for entry in entries]
    out.answer({"models": entries}, out.table(["name", "", "what"], rows))
    return 0


def _line(text: Any) -> str:
    return text["en"] if isinstance(text, dict) else str(text)


def doctor(args: argparse.Namespace, out: Output) -> int:
    """Exit code 1 when something would keep a run from working."""
    from backend.doctor import examine

    report = examine(Settings.from_environment(args.home))
    rows = [[finding["status"], finding["name"], finding["words"]["en"]] for finding in report["checks"]]
    out.answer(report, out.table(["", "", ""], rows)[1:])
    return 0 if report["ok"] else 1
