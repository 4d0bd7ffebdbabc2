"""attach: a run that plain TRL made."""

from __future__ import annotations

import argparse
from pathlib import Path

from backend import config
from backend.cli.output import Output
from backend.cli.runs import open_services


def attach(args: argparse.Namespace, out: Output) -> int:
    read = config.load_file(Path(args.config)) if args.config else None
    given = config.merge(None, read, config.parse_sets(args.set))
    services = open_services(args)
    found = services.attaching.attach(args.path, args.name, given, groups_every=args.groups_every)
    lines = [f"{found['run']}  {found['name']}: {found['steps']:,} steps, {found['completions']:,} completions"]
    lines += [f"note: {note['en']}" for note in found["notes"]]
    out.answer(found, [*lines, f"next: python -m backend diagnose {found['run']}"])
    return 0
