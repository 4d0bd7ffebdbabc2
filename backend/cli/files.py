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
from backend.samples.exports import WHAT
from backend.samples.filters import NAMES
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
    if args.what in WHAT:
        return _samples(services, run.id, args, out, to_stdout)
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


def _samples(services: Services, run_id: str, args: argparse.Namespace, out: Output, to_stdout: bool) -> int:
    """A .csv where --out ends so, else JSON lines; how many there are and what was left out is told."""
    if args.all and args.what != "best":
        raise Refused(
            Text(
                en=f"--all is of --what best; --what {args.what} takes every one already",
                ko=f"--all은 --what best에만 씁니다. --what {args.what}은(는) 이미 모두 내보냅니다",
            )
        )
    path, made = services.explorer.write(run_id, args.what, Path(args.out), _where(args.where), args.all)
    words = made.count.words(args.what)
    lines = [f"{args.what} of {run_id} written to {path}", words.en]
    if to_stdout:
        for line in lines:
            out.say(line)
    else:
        out.answer({"run": run_id, "what": args.what, "out": str(path), **made.count.to_json()}, lines)
    return 0


def _where(given: list[str]) -> dict[str, str]:
    """--where K=V, by the names of a filter; what is none of them is refused, not passed over."""
    found: dict[str, str] = {}
    for one in given:
        name, sign, value = one.partition("=")
        if not sign or name not in NAMES:
            names = ", ".join(NAMES)
            raise Refused(
                Text(
                    en=f"where={one!r}: must be NAME=VALUE with one of {names}",
                    ko=f"where={one!r}: {names} 중 하나로 이름=값 형식이어야 합니다",
                )
            )
        found[name] = value
    return found


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
