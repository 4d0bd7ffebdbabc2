"""A run's records as files: metrics as CSV, completions as JSONL, the configuration as YAML, a plain TRL script.

The CSV is safe to open in a spreadsheet (no header starts a formula; the cells are numbers). The JSONL is exact.
Configuration and script pass the redactor: they are meant to be shared.
"""

from __future__ import annotations

import csv
import errno
import io
import math
import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import yaml

from backend.errors import Refused, StudioError
from backend.processes.redact import Redactor, secrets_of
from backend.settings import Settings
from backend.text import Text
from storage.reader import Reader
from storage.records import Run

KINDS = ("metrics", "completions", "config", "script")
NO_PLACE = (errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.ELOOP)  # the path is of no use
# Excel takes the full-width forms of these signs for the signs themselves.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
FIRST = ("reward", "reward_std", "frac_reward_zero_std")


def export(settings: Settings, reader: Reader, run: Run, what: str, out: Path) -> Path:
    """Write one kind of record to `out` and return its path. Refused for an unknown kind or a path of no use."""
    if what == "metrics":
        return _write(out, metrics_csv(reader, run.id))
    if what == "completions":
        return _write(out, completions_jsonl(reader, run.id))
    if what == "config":
        return _write(out, [_redacted(config_yaml(run))])
    if what == "script":
        from backend.script import script_of

        return _write(out, [_redacted(script_of(settings, run))])
    raise Refused(
        Text(
            en=f"what={what!r}: must be one of {', '.join(KINDS)}",
            ko=f"what={what!r}: {', '.join(KINDS)} 중 하나여야 합니다",
        )
    )


def metrics_csv(reader: Reader, run_id: str) -> Iterator[str]:
    """One row a step of GRPO, columns named as TRL names them, evaluation's (eval_...) beside them.

    A run that never came to GRPO gives its warm-up instead. A value that was not logged is an empty cell; NaN and
    the infinities are written nan, inf, -inf.
    """
    latest = reader.latest(run_id)
    phases = ("train", "eval") if any(phase == "train" for phase, _ in latest) else ("sft",)
    names = _ordered({name for phase, name in latest if phase in phases})
    yield csv_row(["step", *(safe_header(name) for name in names)])
    for step, values in _by_step(reader, run_id, phases):
        yield csv_row([str(step), *(cell(values.get(name)) for name in names)])


def _by_step(reader: Reader, run_id: str, phases: tuple[str, ...]) -> Iterator[tuple[int, dict[str, float]]]:
    """The phases side by side, in order of step."""
    if len(phases) == 1:
        yield from reader.table(run_id, phases[0])
        return
    beside = dict(reader.table(run_id, phases[1]))
    for step, values in reader.table(run_id, phases[0]):
        for earlier in sorted(s for s in beside if s < step):
            yield earlier, beside.pop(earlier)
        yield step, values | beside.pop(step, {})
    yield from sorted(beside.items())


def _ordered(names: Iterable[str]) -> list[str]:
    rest = set(names)
    first = [name for name in FIRST if name in rest]
    return first + sorted(rest - set(first))


def safe_header(name: str) -> str:
    """A name that a spreadsheet would run as a formula gets an apostrophe in front."""
    return f"'{name}" if name.startswith(FORMULA) else name


def cell(value: float | None) -> str:
    if value is None:
        return ""
    if math.isfinite(value):
        return repr(value)
    return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"


def csv_row(cells: Sequence[str]) -> str:
    """One row, ended by a line feed.

    Python before 3.13 quotes only the characters of the writer's own line end, and a bare carriage return in a cell
    would begin a row of its own, formula and all: so the writer is told both.
    """
    line = io.StringIO()
    csv.writer(line, lineterminator="\r\n").writerow(cells)
    return line.getvalue()[:-2] + "\n"


def completions_jsonl(reader: Reader, run_id: str) -> Iterator[str]:
    """One completion a line, exact: also lone surrogates and control characters come back as they were."""
    from backend.samples import lines

    every = (
        lines.of_group(group, position)
        for group in reader.completions(run_id)
        if not group.dropped
        for position in range(len(group.completions))
    )
    yield from lines.jsonl(every)


def config_yaml(run: Run) -> str:
    """Every setting of the run; `--config` and `train` take it as it is."""
    head = f"# The settings of run {run.id}. Train it again: python -m backend train --config THIS_FILE\n"
    return head + yaml.safe_dump(run.config, allow_unicode=True, sort_keys=False, width=110)


def _redacted(text: str) -> str:
    redactor = Redactor(secrets_of(os.environ))
    return redactor.clean(text.encode("utf-8", "surrogatepass")).decode("utf-8", "replace")


def write_text(out: Path, text: str) -> Path:
    """A text of this project's own making (a report, a card), by the same rules as every export."""
    return _write(out, [text.encode("utf-8", "replace")])


def write_parts(out: Path, pieces: Iterable[str]) -> Path:
    """Lines, by the same rules."""
    return _write(out, pieces)


def write_bytes(out: Path, pieces: Iterable[bytes]) -> Path:
    """Bytes, by the same rules."""
    return _write(out, pieces)


def _write(out: Path, parts: Iterable[str] | Iterable[bytes]) -> Path:
    """All or nothing: a temporary file beside `out`, then a rename. What is no file (a pipe, a terminal) is written
    as it is, and a link stays a link."""
    try:
        target = _target(out)
        if isinstance(target, int) or not _replaceable(target):
            with open(target, "wb", closefd=not isinstance(target, int)) as file:
                file.writelines(_bytes(parts))
            return out.absolute()
        temporary = target.with_name(f".{secrets.token_hex(6)}.part")
        try:
            with temporary.open("wb") as file:
                file.writelines(_bytes(parts))
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except BrokenPipeError:  # the reader of a pipe has seen enough
        raise
    except OSError as error:
        why = error.strerror or str(error)
        kind = Refused if error.errno in NO_PLACE else StudioError
        raise kind(
            Text(
                en=f"out={out}: cannot be written ({why}); give a file in an existing folder",
                ko=f"out={out}: 쓸 수 없습니다({why}). 이미 있는 폴더 안의 파일을 지정하세요",
            )
        ) from error
    return target


def _bytes(parts: Iterable[str] | Iterable[bytes]) -> Iterator[bytes]:
    for part in parts:
        yield part.encode("utf-8") if isinstance(part, str) else part


def is_stdout(out: Path) -> bool:
    """Whether this path is the program's own standard output (/dev/stdout, also when that leads to a file)."""
    try:
        return os.path.samestat(out.stat(), os.fstat(1))
    except (OSError, ValueError):
        return False


def _target(out: Path) -> Path | int:
    """What to write: the file that links lead to, or 1 for standard output, which may be a file to be gone on with."""
    if not out.name:
        raise IsADirectoryError(errno.EISDIR, "it is not the name of a file")
    if is_stdout(out):
        return 1
    try:
        target = out.resolve()
    except RuntimeError as error:  # links in a circle
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from error
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder")
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "it is a folder")
    return target if target.exists() or not out.exists() else out


def _replaceable(target: Path) -> bool:
    return target.is_file() or not target.exists()
