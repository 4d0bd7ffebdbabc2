"""disk and push."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from backend.cli.output import Output
from backend.cli.runs import open_services
from backend.errors import Refused
from backend.text import Text


def size(count: float | None) -> str:
    """12.3 MB of bytes (1 MB = 1,000,000 bytes); – where nobody can tell."""
    if count is None:
        return "–"
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:,.2f} GB"


def disk(args: argparse.Namespace, out: Output) -> int:
    services = open_services(args)
    if args.run is None:
        if args.clean:
            raise Refused(
                Text(en="--clean: name the run whose parts are to go", ko="--clean: 지울 실행을 함께 지정하세요")
            )
        found = services.exports.disk()
        out.answer(found, list(_all(found, out)))
        return 0
    run = services.find(args.run)
    if args.clean:
        found = services.exports.clean(run.id, args.clean, dry_run=not args.yes)
        lines = [f"{part['id']}: {size(part['bytes'])} in {part['files']} files" for part in found["parts"]]
        verb = "would be freed; nothing was removed (--yes removes them)" if found["dry_run"] else "freed"
        out.answer(found, [*lines, f"{size(found['freed'])} {verb}"])
        return 0
    found = services.exports.disk(run.id)
    rows = [
        [part["id"], size(part["bytes"]), part["words"]["en"], _cost(part)] for part in found["parts"] if part["bytes"]
    ]
    head = [f"{found['run']}  {found['name']}  {size(found['total'])} (free on this disk: {size(found['free'])})"]
    out.answer(found, [*head, *out.table(["part", "size", "what it is", "removing it"], rows)])
    return 0


def _cost(part: dict[str, Any]) -> str:
    why = part.get("why_not")
    return f"not now: {why['en']}" if why else part["costs"]["en"]


def _all(found: dict[str, Any], out: Output) -> Iterator[str]:
    runs = [[run["run"], run["name"], run["state"], size(run["bytes"]), _largest(run)] for run in found["runs"]]
    yield from out.table(["run", "name", "state", "size", "most of it"], runs) if runs else ["no runs yet"]
    yield from (f"{entry['id']}: {size(entry['bytes'])}" for entry in found["other"])
    samples = found["samples"]
    limit = "" if samples["budget"] is None else f" of {size(samples['budget'])} (GRPO_STUDIO_KEEP_SAMPLES_MB)"
    yield f"texts of sampled completions, in the database: {size(samples['bytes'])}{limit}"
    yield f"{size(found['used'])} in use here, {size(found['free'])} of {size(found['total'])} free on this disk"


def _largest(run: dict[str, Any]) -> str:
    parts = sorted(run["parts"], key=lambda part: -part["bytes"])[:3]
    return ", ".join(f"{part['id']} {size(part['bytes'])}" for part in parts)


def push(args: argparse.Namespace, out: Output) -> int:
    services = open_services(args)
    run = services.find(args.run)
    if args.dry_run:
        planned = services.exports.push_plan(run.id, args.repo, args.what, args.checkpoint, args.public)
        out.answer(planned, list(_planned(planned)))
        return 0

    def progress(done: int, total: int, what: Text) -> None:
        out.status(what.en + (f" {done} of {total}" if total and done >= 0 else ""))

    sent = services.exports.push(run.id, args.repo, args.what, args.checkpoint, public=args.public, progress=progress)
    out.end_status()
    seen = "private" if sent["private"] else "public"
    out.answer(sent, [f"{sent['url']} ({seen}): {len(sent['files'])} files, {size(sent['bytes'])}"])
    return 0


def _planned(planned: dict[str, Any]) -> Iterator[str]:
    seen = "private" if planned["private"] else "public"
    yield f"would send {planned['what']} ({planned['checkpoint']}) to {planned['url']}, {seen}"
    yield from (f"  {file['name']}  {size(file['bytes'])}" for file in planned["files"])
    about = "" if planned["exact"] else " at least; the export is still to be made"
    yield f"  together {size(planned['bytes'])}{about}"
    yield f"token: {'there is one in HF_TOKEN' if planned['token'] else 'none in HF_TOKEN'}"
    if planned["why"] is not None:
        yield f"cannot be sent: {planned['why']['en']}"
    yield "card:"
    yield from (f"  {line}" for line in planned["card"].splitlines())
