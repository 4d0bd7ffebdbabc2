"""export."""

from __future__ import annotations

import argparse
from pathlib import Path

from backend.cli.output import Output
from backend.cli.runs import open_services
from backend.errors import Refused
from backend.export import is_stdout, write_text
from backend.exporting.planning import WEIGHTS
from backend.exporting.service import DOCUMENTS
from backend.services import Services
from backend.text import Text


def export(args: argparse.Namespace, out: Output) -> int:
    services = open_services(args)
    run = services.find(args.run)
    to_stdout = bool(args.out) and is_stdout(Path(args.out))
    if to_stdout and out.json:
        raise Refused(
            Text(
                en=f"out={args.out}: --json has stdout for its one document; leave one of them out",
                ko=f"out={args.out}: --json은 stdout에 문서 하나만 출력합니다. 둘 중 하나를 빼세요",
            )
        )
    if args.what in WEIGHTS:
        return _weights(services, run.id, args, out)
    if args.what in DOCUMENTS:
        path = write_text(Path(args.out), services.exports.document(run.id, args.what, args.lang)[1])
    else:
        path = services.export(run.id, args.what, args.out)
    line = f"{args.what} of {run.id} written to {path}"
    if to_stdout:
        out.say(line)
    else:
        out.answer({"run": run.id, "what": args.what, "out": str(path)}, [line])
    return 0


def _weights(services: Services, run_id: str, args: argparse.Namespace, out: Output) -> int:
    """A new folder at --out, or with a name that ends in .zip the archive of an export kept with the run."""
    if not args.out:
        raise Refused(Text(en="out='': name the folder or the .zip to write", ko="out='': 쓸 폴더나 .zip을 지정하세요"))
    target = Path(args.out).absolute()
    zipped = target.suffix.lower() == ".zip"

    def progress(done: int, total: int, what: Text) -> None:
        out.status(what.en + (f" {100 * done // total}%" if total and done >= 0 else ""))

    made = services.exports.make(run_id, args.what, args.checkpoint, out=None if zipped else target, progress=progress)
    if zipped:
        made["path"] = str(services.exports.write_archive(run_id, made["name"], target))
    out.end_status()
    lines = [
        f"{made['what']} of {run_id} ({made['checkpoint']}) written to {made['path']}",
        made["verified_words"]["en"],
    ]
    lines += [note["en"] for note in made["notes"] or ()]
    out.answer({"run": run_id, "out": made["path"], **made}, lines)
    return 0
