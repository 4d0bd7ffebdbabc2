"""From arguments to an exit code: 0 done, 1 failed, 2 refused."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Sequence

from backend.cli.output import Output, printable
from backend.cli.parser import UsageError, build_parser
from backend.errors import NotFound, Refused, StudioError, WrongState

log = logging.getLogger(__name__)


class PrintableFormatter(logging.Formatter):
    """Log lines hold what rewards and rows say: none of it may drive the terminal."""

    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record))


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; its messages go to stderr, its answer to stdout."""
    words = list(sys.argv[1:] if argv is None else argv)
    out = Output("--json" in words)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(PrintableFormatter("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    try:
        args = build_parser().parse_args(words)
        # What a library prints must not stand beside the one JSON document.
        with contextlib.redirect_stdout(sys.stderr):
            return args.command(args, out)
    except UsageError as error:
        out.error(error.message, usage=error.usage)
        return 2
    except (Refused, NotFound, WrongState) as error:
        out.refused(error)
        return 2
    except StudioError as error:
        out.refused(error)
        return 1
    except RecursionError:
        out.error("the values are nested too deeply to be read")
        return 2
    except BrokenPipeError:
        # The reader of the answer has gone (`... | head`): nothing is wrong, and nobody is there to be told.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        if out.answered:
            out.say("interrupted")
        else:
            out.error("interrupted")
        return 1
    except Exception as error:
        log.debug("the command failed", exc_info=True)
        out.error(f"{type(error).__name__}: {error}", hint="run with GRPO_STUDIO_DEBUG=1 for the traceback")
        if os.environ.get("GRPO_STUDIO_DEBUG"):
            raise
        return 1
