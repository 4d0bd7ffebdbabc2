"""The process of a trusted reward: python trusted_child.py SOCKET LIFELINE. A JSON line in, a JSON line out.

It has the user's environment, network and folder. What ends it is outside: the parent at the limit, the kernel when
the parent is gone.
"""

from __future__ import annotations

import faulthandler
import json
import os
import socket
import sys
from pathlib import Path

PROJECT = str(Path(__file__).resolve().parents[2])


def main() -> None:
    sys.path[0] = PROJECT
    from backend.custom.inside.server import Server
    from backend.killable.child import die_with_parent

    sys.path[0] = ""  # the user's folder, as a script of theirs would have it; ours must not shadow their modules
    channel, lifeline = int(sys.argv[1]), int(sys.argv[2])
    sys.argv = [""]
    os.set_inheritable(channel, False)
    die_with_parent(lifeline)
    faulthandler.enable(sys.__stderr__ or 2)
    with socket.socket(fileno=channel) as connection, connection.makefile("rb") as lines:
        setup = json.loads(next(lines))
        server = Server(setup["source"], setup["name"], setup["function"], sockets=True)
        for line in lines:
            connection.sendall(json.dumps(server.handle(json.loads(line))).encode() + b"\n")


if __name__ == "__main__":
    main()
