"""GRPO Studio's web page: arguments -> settings -> services -> layout -> launch. Runs are processes of their own."""

from __future__ import annotations

import os

# Before gradio is imported: it reads these once.
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")

import argparse
import logging
import signal
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import gradio as gr
from starlette.routing import BaseRoute

from backend.demo.door import DemoDoor
from backend.demo.home import writable_home
from backend.demo.services import DemoServices
from backend.errors import StudioError
from backend.services import Services
from backend.settings import Settings, on_space
from ui import layout
from ui.api import api_routes
from ui.closed import for_public
from ui.guard import Door, guarded, is_guarded, is_loopback

PORTS_TO_TRY = 100


def arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="app.py", description=__doc__, allow_abbrev=False)
    parser.add_argument("--home", help="folder for runs, models and the database (default: .studio)")
    parser.add_argument("--host", default=None, help="address to bind (default: 127.0.0.1; others need a password)")
    parser.add_argument("--port", type=port_number, default=7860, help="first port to try (default: 7860)")
    parser.add_argument("--password-file", help="file whose first line is the password (or set GRPO_STUDIO_PASSWORD)")
    parser.add_argument("--demo", action="store_true", help="start the quickstart run at once and open on it")
    return parser.parse_args(argv)


def port_number(text: str) -> int:
    """A port that can be bound and named in an address."""
    if not text.isdecimal() or len(text) > 5 or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: give a whole number from 1 to 65535")
    return int(text)


def free_port(host: str, first: int) -> int:
    """The first port from `first` on that can be bound; Refused in words when all of them are taken."""
    last = min(first + PORTS_TO_TRY, 65536)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for port in range(first, last):
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            # As the server will bind: a port in TIME_WAIT is free, one that somebody listens on is not.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host.strip("[]"), port))
            except socket.gaierror as error:
                raise StudioError(
                    f"--host {host}: there is no such address on this machine ({error.strerror})."
                ) from error
            except OSError:
                continue
            return port
    raise StudioError(f"Ports {first} to {last - 1} on {host} are all taken or not allowed. Try --port with another.")


def password(path: str | None) -> str | None:
    if path:
        try:
            lines = Path(path).read_text(encoding="utf-8").splitlines()
        except OSError as error:
            raise StudioError(f"--password-file {path}: {error.strerror}") from error
        except ValueError as error:
            raise StudioError(f"--password-file {path}: it is not a text file in UTF-8.") from error
        if not lines or not lines[0].strip():
            raise StudioError(f"--password-file {path}: its first line is empty.")
        return lines[0].strip()
    return os.environ.get("GRPO_STUDIO_PASSWORD") or None


def address(host: str | None, secret: str | None) -> str:
    """The address to bind. Only loopback goes without a password; a Space is guarded by its own front."""
    chosen = host or ("0.0.0.0" if on_space() else "127.0.0.1")
    if not is_loopback(chosen) and secret is None and not on_space():
        raise StudioError(
            f"Refused to listen on {chosen} without a password: anybody on the network could start runs here. "
            "Set GRPO_STUDIO_PASSWORD or give --password-file, or leave --host out."
        )
    return chosen


def routes(services: Services) -> list[BaseRoute]:
    """The page's own: onto all of the services, or on a public Space onto what its visitors may do there."""
    if isinstance(services, DemoServices):
        door: Any = DemoDoor(services)
        return for_public(api_routes(door))
    return api_routes(services)


def open_services(settings: Settings) -> Services:
    return DemoServices(settings) if on_space() else Services(settings)


def serve(services: Services, host: str, port: int, secret: str | None) -> gr.Blocks:
    """Start the server in a thread of its own and return the Blocks, to be closed by the caller."""
    demo = layout.build()
    demo.launch(
        server_name=host,
        server_port=port,
        share=False,
        ssr_mode=False,
        quiet=True,
        inbrowser=False,
        prevent_thread_lock=True,
        run_history=False,
        footer_links=[],
        enable_monitoring=False,
        show_error=False,
        allowed_paths=[],
        theme=layout.theme(),
        head=layout.head(),
        app_kwargs={
            "routes": [*routes(services), *layout.static_routes()],
            "lifespan": guarded(Door.for_bind(host, port, secret)),
        },
    )
    if not is_guarded(demo.app):
        demo.close(verbose=False)
        raise StudioError("Refused to serve without the guard: this version of Gradio does not run its lifespan.")
    return demo


def main(argv: list[str] | None = None, make_services: Callable[[Settings], Services] = open_services) -> int:
    args = arguments(argv)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    for chatty in ("httpx", "alembic"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    stop = threading.Event()
    for name in ("SIGTERM", "SIGINT"):
        signal.signal(getattr(signal, name), lambda *_: stop.set())
    try:
        secret = password(args.password_file)
        host = address(args.host, secret)
        port = free_port(host, args.port)
        home = args.home
        if home is None and on_space() and not os.environ.get("GRPO_STUDIO_HOME"):
            home = writable_home()
        services = make_services(Settings.from_environment(home))
        services.watch()
        query = {}
        if args.demo and not on_space():
            query = {"run": services.start({}, preset="quickstart").id, "tab": "live"}
        demo = serve(services, host, port, secret)
    except StudioError as error:
        print(error, file=sys.stderr)
        return 2
    if port != args.port:
        print(f"Port {args.port} is taken, so this one listens on {port}.", flush=True)
    shown = "127.0.0.1" if host in {"0.0.0.0", "::"} else f"[{host}]" if ":" in host else host
    print(f"http://{shown}:{port}/{'?' + urlencode(query) if query else ''}", flush=True)
    stop.wait()
    # Runs are processes of their own and go on; only the page ends here.
    demo.close(verbose=False)
    services.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
