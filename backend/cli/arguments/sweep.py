"""sweep: the arguments."""

from __future__ import annotations

from typing import Any

SWEEP_HELP = "an id, the beginning of one, a name, or `last` for the newest"


def declare(add: Any, common: Any, settings: Any) -> None:
    made = add("sweep", "sweep", "a grid of settings as one: queued, stopped, resumed, and what came of it")
    made.add_argument(
        "--config",
        metavar="F",
        help="a YAML file: preset or from (a run), values, sweep: {field: [values]}, seeds: [..], leave_out: true",
    )
    made.add_argument("--check", action="store_true", help="only say what it would do: runs, time, what is refused")
    made.add_argument("--leave-out", action="store_true", help="leave out the points that break a rule, run the others")
    made.add_argument("--wait", action="store_true", help="follow it to its end; Ctrl-C leaves it running")
    made.add_argument(
        "--strict", action="store_true", help="refuse to start on a warning of the audit instead of saying it"
    )
    actions = made.add_subparsers(dest="action", metavar="ACTION")
    actions.add_parser("list", help="the sweeps there are", parents=[common])
    show = actions.add_parser("show", help="one sweep: its table and which setting is the best", parents=[common])
    show.add_argument("--csv", metavar="PATH", help="write the table, a line a run")
    stop = actions.add_parser("stop", help="empty its queue, save and stop what runs", parents=[common])
    stop.add_argument("--now", action="store_true", help="end what runs at once, without a new checkpoint")
    resume = actions.add_parser("resume", help="go on: stopped runs resume, missing ones start", parents=[common])
    resume.add_argument("--failed", action="store_true", help="try those that failed again, too")
    resume.add_argument("--wait", action="store_true", default=False, help="follow it to its end")
    delete = actions.add_parser("delete", help="forget the grid; its runs stay", parents=[common])
    delete.add_argument("--runs", action="store_true", help="delete its runs with it")
    for each in (show, stop, resume, delete):
        each.add_argument("sweep", metavar="SWEEP", help=SWEEP_HELP)
