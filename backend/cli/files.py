"""export."""

from __future__ import annotations

import argparse

from backend.cli.output import Output
from backend.cli.runs import open_services


def export(args: argparse.Namespace, out: Output) -> int:
    services = open_services(args)
    run = services.find(args.run)
    path = services.export(run.id, args.what, args.out)
    out.answer({"run": run.id, "what": args.what, "out": str(path)}, [f"{args.what} of {run.id} written to {path}"])
    return 0
