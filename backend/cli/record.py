"""record: a run as one file, as the public demo shows recorded ones."""

from __future__ import annotations

import argparse
from pathlib import Path

from backend.cli.output import Output
from backend.cli.runs import open_services
from backend.errors import Refused, StudioError
from backend.text import Text
from storage.portable import TooLarge, dump


def record(args: argparse.Namespace, out: Output) -> int:
    if args.groups_every < 1:
        raise Refused(
            Text(
                en=f"--groups-every {args.groups_every}: a whole number from 1",
                ko=f"--groups-every {args.groups_every}: 1 이상의 정수여야 합니다",
            )
        )
    services = open_services(args)
    run = services.find(args.run)
    path = Path(args.out)
    try:
        size = dump(services.db, run.id, path, groups_every=args.groups_every)
    except ValueError as error:
        raise Refused(
            Text(
                en=f"run {run.id} is {run.state.value}: only a run that has ended can be recorded",
                ko=f"실행 {run.id}은(는) {run.state.value} 상태입니다. 끝난 실행만 기록할 수 있습니다",
            )
        ) from error
    except TooLarge as error:
        option = f"--groups-every {error.groups_every}"
        raise Refused(Text(en=f"{path}: {error.en}: {option}", ko=f"{path}: {error.ko}: {option}")) from error
    except OSError as error:
        raise StudioError(
            Text(
                en=f"{path} could not be written: {error.strerror or error}",
                ko=f"{path}에 쓸 수 없습니다: {error.strerror or error}",
            )
        ) from error
    out.answer({"run": run.id, "file": str(path), "bytes": size}, [f"{path}  {size:,} bytes"])
    return 0
