"""export."""

from __future__ import annotations

import argparse
from pathlib import Path

from backend.cli.output import Output
from backend.cli.runs import open_services
from backend.errors import Refused
from backend.export import is_stdout
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
    path = services.export(run.id, args.what, args.out)
    line = f"{args.what} of {run.id} written to {path}"
    if to_stdout:
        out.say(line)
    else:
        out.answer({"run": run.id, "what": args.what, "out": str(path)}, [line])
    return 0
