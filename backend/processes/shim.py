"""The parent of one worker, `python -m backend.processes.shim --home H --run ID --attempt N [--lock-fd FD] [-- argv]`.

It outlives the page and the web server, holds run.lock for as long as the run lives, keeps the log, passes a stop
on, ends what does not end by itself, and writes exit.json. It loads neither torch nor the database while it waits.

Signals: SIGTERM asks the worker to save and stop; SIGUSR1 kills the whole group at once. The same wish may lie in
stop.json, written before there was anybody to signal. A SIGTERM without stop.json (the machine shuts down) counts
as a wish to save and stop.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import select
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from backend.processes import devices, process_tree, reasons, runfiles
from backend.processes.cgroup import oom_kills
from backend.processes.identity import identify
from backend.processes.locks import FileLock
from backend.processes.redact import Redactor, secrets_of
from backend.processes.runfiles import Exit, Pids, StopMode
from backend.processes.worker_log import RotatingLog
from backend.settings import Settings
from backend.text import Text

TICK_S = 0.5


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may take on a machine that is everybody's; None: as much as there is. `grace_s`: to save and end."""

    seconds: float | None = None
    grace_s: float = 30.0
    memory_mb: int | None = None  # resident, of the worker and all it started


class Shim:
    """One attempt of one run, from the lock to exit.json."""

    def __init__(
        self,
        settings: Settings,
        run_id: str,
        attempt: int,
        argv: list[str],
        withhold: Sequence[str] = (),
        limits: Limits | None = None,
        names: Sequence[str] = (),
    ) -> None:
        self.settings, self.run_id, self.attempt, self.argv = settings, run_id, attempt, argv
        self.devices = tuple(names) or ("",)
        self.claimed = ""  # the device of this run, where there are several
        self.withhold = withhold
        self.limits = limits or Limits()
        self.over: Text | None = None  # the limit that ended the run
        self.dir = settings.run_dir(run_id)
        self.redactor = Redactor(secrets_of(os.environ))
        self.log = RotatingLog(self.dir / "logs")
        self.asked: StopMode | None = None
        self.grace_s = runfiles.GRACE_S
        self.deadline: float | None = None  # monotonic: when the grace time is over
        self.forced = False
        self._until: float | None = None  # monotonic: when the time of the run is up
        self._signals: set[int] = set()
        self._wake, waker = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC) if hasattr(os, "pipe2") else os.pipe()
        os.set_blocking(waker, False)
        signal.set_wakeup_fd(waker)

    def run(self) -> None:
        for wanted in (signal.SIGTERM, signal.SIGUSR1, signal.SIGCHLD):
            signal.signal(wanted, lambda number, _frame: self._signals.add(number))
        for unwanted in (signal.SIGINT, signal.SIGHUP):
            # A handler and not SIG_IGN: what is ignored would stay ignored in the worker too.
            signal.signal(unwanted, lambda _number, _frame: None)
        try:
            process_tree.become_subreaper()
        except OSError as error:  # a strict sandbox: orphans will be found by their mark instead
            print(f"not a subreaper: {error}", file=sys.stderr)  # noqa: T201
        me = identify(os.getpid())
        runfiles.write_pids(self.dir, Pids(self.attempt, me, None))
        held = self._wait_for_device()
        if held is None:
            self._write_exit(None, None, 0)
            return
        before = oom_kills()
        reader, writer = os.pipe()
        try:
            pid = process_tree.start_worker(self.argv, self._environment(), writer)
        except (OSError, subprocess.SubprocessError) as error:
            self._write_exit(127, None, 0, error=f"{self.argv[0]}: {getattr(error, 'strerror', None) or error}")
            return
        finally:
            os.close(writer)
        try:
            runfiles.write_pids(self.dir, Pids(self.attempt, me, identify(pid)))
        except OSError as error:  # a full disk: the worker goes on, and the mark in its environment finds it
            print(f"pid.json was not written: {error}", file=sys.stderr)  # noqa: T201
        os.set_blocking(reader, False)
        self._until = None if self.limits.seconds is None else time.monotonic() + self.limits.seconds
        code, signum = self._watch(pid, reader)
        after = oom_kills()
        kills = None if before is None or after is None else after - before
        self._drain(reader)
        self._write_exit(code, signum, kills)
        self.log.close()
        for lock in held:
            lock.release()

    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name not in self.withhold}
        if self.claimed:
            kept["CUDA_VISIBLE_DEVICES"] = self.claimed
        return kept | {process_tree.MARK: process_tree.mark(self.settings.home, self.run_id)}

    def _wait_for_device(self) -> list[FileLock] | None:
        """One worker at a time on a device: the one before may have said its end and still hold memory."""
        while True:
            for name in self.devices:
                self._read_wishes()
                if self.asked:
                    return None
                locks = devices.take(self.settings.home, name, timeout=TICK_S / len(self.devices))
                if locks is not None:
                    self.claimed = name
                    return locks

    def _watch(self, pid: int, reader: int) -> tuple[int | None, int | None]:
        """Pump and wait until the worker has ended; then end what it left. (exit code, signal)"""
        passed_on = False
        open_pipe = True
        while not process_tree.has_ended(pid):
            self._read_wishes()
            self._hold_to_limits(pid)
            if self.asked == "save" and not passed_on:
                passed_on = True
                self.deadline = time.monotonic() + self.grace_s
                process_tree.signal_one(pid, signal.SIGTERM)
            if self.asked == "now" or (self.deadline is not None and time.monotonic() > self.deadline):
                self.forced = self.asked != "now"
                break
            open_pipe = self._pump(reader, open_pipe)
        return process_tree.end_all(pid)

    def _hold_to_limits(self, pid: int) -> None:
        """Ask the worker to save and end where its time is up; end it at once where it takes too much memory."""
        limits = self.limits
        if self.asked == "now":
            return
        if limits.memory_mb is not None and process_tree.memory_mb(pid) > limits.memory_mb:
            self.over, self.asked = reasons.memory_limit(limits.memory_mb), "now"
        elif (
            self.over is None
            and self._until is not None
            and time.monotonic() > self._until
            and limits.seconds is not None
        ):
            self.over, self.grace_s = reasons.time_limit(limits.seconds), limits.grace_s
            if self.deadline is not None:  # a wish to stop from before does not lengthen the time
                self.deadline = min(self.deadline, time.monotonic() + limits.grace_s)
            self.asked = self.asked or "save"

    def _pump(self, reader: int, open_pipe: bool) -> bool:
        """Wait for output, a signal or the tick. False once every writer has closed its end."""
        ready, _, _ = select.select([self._wake, *([reader] if open_pipe else [])], [], [], TICK_S)
        if self._wake in ready:
            with contextlib.suppress(BlockingIOError):
                os.read(self._wake, 4096)
        if reader in ready:
            data = os.read(reader, 65_536)
            self.log.write(self.redactor.feed(data))
            return bool(data)
        if not ready:
            self.log.write(self.redactor.flush())  # a prompt without a newline is shown after a moment of silence
        return open_pipe

    def _drain(self, reader: int) -> None:
        """What the pipe still holds. A process that escaped may keep it open, so an empty pipe is the end too."""
        with contextlib.suppress(BlockingIOError):
            while data := os.read(reader, 65_536):
                self.log.write(self.redactor.feed(data))
        self.log.write(self.redactor.flush())
        if self.log.lost:
            print(f"{self.log.lost} bytes of the log were lost: the disk is full", file=sys.stderr)  # noqa: T201
        os.close(reader)

    def _read_wishes(self) -> None:
        stop = runfiles.read_stop(self.dir, self.attempt)
        if stop is not None:
            self.grace_s = stop.grace_s
        if signal.SIGUSR1 in self._signals or (stop is not None and stop.mode == "now"):
            self.asked = "now"
        elif (signal.SIGTERM in self._signals or stop is not None) and self.asked is None:
            self.asked = "save"

    def _write_exit(self, code: int | None, signum: int | None, kills: int | None, error: str | None = None) -> None:
        runfiles.write_exit(
            self.dir,
            Exit(self.attempt, code, signum, kills, self.asked, self.forced, time.time(), error),
        )


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m backend.processes.shim")
    parser.add_argument("--home", required=True)
    parser.add_argument("--run", required=True)
    parser.add_argument("--attempt", type=int, required=True)
    parser.add_argument("--lock-fd", type=int)
    parser.add_argument("--withhold", metavar="NAME", action="append", default=[], help="a variable not for the worker")
    parser.add_argument("--device", metavar="NAME", action="append", default=[], help="one that the worker may have")
    parser.add_argument("--limit-s", type=float, help="seconds after which the worker is asked to save and end")
    parser.add_argument("--limit-grace-s", type=float, default=30.0, help="seconds that it may take to do so")
    parser.add_argument("--limit-mb", type=int, help="resident memory above which it is ended")
    parser.add_argument("--nice", type=int, default=0, help="how much lower its priority is")
    parser.add_argument("worker", nargs="*")
    args = parser.parse_args(argv)
    settings = Settings(Path(args.home))
    lock = FileLock(args.lock_fd) if args.lock_fd is not None else _own_lock(settings, args.run)
    if lock is None:
        print(f"run {args.run} already has a shim", file=sys.stderr)  # noqa: T201
        return 2
    limits = Limits(args.limit_s, args.limit_grace_s, args.limit_mb)
    if args.lock_fd is not None:
        os.set_inheritable(args.lock_fd, False)
    try:
        if args.nice:
            # Absolute: a shim that another one has started begins with its priority.
            os.setpriority(os.PRIO_PROCESS, 0, args.nice)
        shim = Shim(settings, args.run, args.attempt, args.worker, args.withhold, limits, args.device)
        shim.run()
    finally:
        lock.release()
        _settle(settings)
    if shim.over is not None:
        _tell_limit(settings, args.run, shim.over)
    return 0


def _own_lock(settings: Settings, run_id: str) -> FileLock | None:
    return FileLock.take(settings.run_dir(run_id) / "run.lock")


def _tell_limit(settings: Settings, run_id: str, words: Text) -> None:
    """The reason for the end: the worker that was asked to stop does not know who asked."""
    try:
        from storage.db import Database
        from storage.runs import set_fields, tell

        db = Database(settings.database_url)
        tell(db, run_id, "limit", words.en, "warn", {"words": words.to_json()})
        set_fields(db, run_id, reason=words.en)
        db.close()
    except Exception:
        traceback.print_exc()


def _settle(settings: Settings) -> None:
    """Record the end and start the next run of the queue, with no server up. If it fails, the next reader does it."""
    try:
        from backend.processes.reconcile import reconcile

        reconcile(settings)
    except Exception:
        traceback.print_exc()


if __name__ == "__main__":
    sys.exit(main())
