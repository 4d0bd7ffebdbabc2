"""disk and push: the arguments."""

from __future__ import annotations

from typing import Any

RUN_HELP = "an id, the beginning of one, a name, or `last` for the newest"


def declare(add: Any, common: Any, settings: Any) -> None:
    disk = add("disk", "disk", "say what lies on the disk, run by run; remove parts of an ended run")
    disk.add_argument("run", metavar="RUN", nargs="?", help=RUN_HELP)
    disk.add_argument(
        "--clean",
        metavar="PART",
        nargs="+",
        action="extend",
        default=[],
        help="parts to remove: checkpoints, optimizer, final, best, exports, sft, logs. Without --yes it only says "
        "what that would free",
    )
    disk.add_argument("--yes", action="store_true", help="yes, remove them")

    push = add("push", "disk", "send a run's weights with their card to the hub (the token in HF_TOKEN)")
    push.add_argument("run", metavar="RUN", help=RUN_HELP)
    push.add_argument("--repo", required=True, metavar="ORG/NAME", help="private unless --public")
    push.add_argument(
        "--what",
        choices=("adapter", "merged", "model"),
        help="default: the adapter where anybody can have its base, else merged",
    )
    push.add_argument("--checkpoint", default="final", metavar="C", help="final (the default), best or checkpoint-N")
    push.add_argument("--public", action="store_true", help="for everybody to see")
    push.add_argument("--dry-run", action="store_true", help="say what would be sent, and send nothing")
