"""models and doctor."""

from __future__ import annotations

import argparse

from backend.cli.output import Output
from backend.cli.runs import open_services
from backend.errors import Refused
from backend.services import Services
from backend.settings import Settings
from backend.text import Text

READY = {True: "here", False: "not here", None: "on the hub"}


def models(args: argparse.Namespace, out: Output) -> int:
    services = open_services(args, settle=False)
    if args.action == "fetch":
        return _fetch(services, args.model, out)
    entries = services.models()
    rows = [[entry["name"], READY[entry["ready"]], entry["about"]["en"]] for entry in entries]
    out.answer({"models": entries}, out.table(["name", "", "what it is"], rows))
    return 0


def _fetch(services: Services, name: str | None, out: Output) -> int:
    if not name:
        raise Refused(
            Text(en="models fetch: name the model to fetch", ko="models fetch: 받을 모델의 이름을 지정하세요")
        )

    def progress(stage: str, done: int, total: int | None) -> None:
        share = f" {done / 1e6:.0f} of {total / 1e6:.0f} MB" if stage == "download" and total else ""
        out.status(f"{name}: {stage}{share}")

    path = str(services.fetch_model(name, progress))
    out.end_status()
    out.answer({"model": name, "path": path}, [f"{name} is at {path}"])
    return 0


def doctor(args: argparse.Namespace, out: Output) -> int:
    """Exit code 1 when something would keep a run from working."""
    from backend.doctor import examine

    report = examine(Settings.from_environment(args.home))
    rows = [[finding["status"], finding["name"], finding["words"]["en"]] for finding in report["checks"]]
    out.answer(report, out.table(["", "", ""], rows)[1:])
    return 0 if report["ok"] else 1
