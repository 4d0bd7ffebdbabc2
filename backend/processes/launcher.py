"""Starting runs: the queue, the environment a run gets, and the shim, in a session of its own.

What a run gets of the environment: everything but variables whose name looks secret. A few are passed on all the
same, since training needs them: HF_TOKEN (gated models and data sets on the hub), its old name
HUGGING_FACE_HUB_TOKEN, DATABASE_URL (where the run writes), and the key of a service named in `report_to`. Their
values are redacted from the log. The shim holds every service's key, for the run that it may start after its own.
On a public Space nothing of this is passed on but DATABASE_URL: whoever starts a run there is nobody's friend.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from backend import device
from backend.demo import limits
from backend.errors import StudioError, WrongState
from backend.processes import devices, reasons, runfiles
from backend.processes.identity import send
from backend.processes.locks import FileLock, supported
from backend.processes.redact import is_secret_name
from backend.processes.runfiles import Stop, StopMode
from backend.settings import PROJECT, Settings, on_space
from backend.text import Text
from storage import queue
from storage.db import Database
from storage.reader import Reader
from storage.records import Run, RunState
from storage.runs import transition

log = logging.getLogger(__name__)
PASSED_ON = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "DATABASE_URL")
SERVICE_KEYS = {
    "wandb": "WANDB_API_KEY",
    "comet_ml": "COMET_API_KEY",
    "neptune": "NEPTUNE_API_TOKEN",
    "swanlab": "SWANLAB_API_KEY",
    "clearml": "CLEARML_API_SECRET_KEY",
}
WORKER_VARIABLE = "GRPO_STUDIO_WORKER"  # for tests only: the module that stands in for backend.workers.train
WORKER = "backend.workers.train"
QUEUE_LOCK, TURN_S = "device.lock.queue", 5.0
_shims: list[subprocess.Popen[bytes]] = []


def environment(source: Mapping[str, str], settings: Settings) -> dict[str, str]:
    """What the shim gets; the worker's is the same without the keys in `withheld`."""
    passed = {"DATABASE_URL"} if on_space() else {*PASSED_ON, *SERVICE_KEYS.values()}
    kept = {name: value for name, value in source.items() if name in passed or not is_secret_name(name)}
    if "DATABASE_URL" in kept:
        kept["DATABASE_URL"] = absolute_url(kept["DATABASE_URL"])
    kept |= {
        "GRPO_STUDIO_HOME": str(settings.home),
        "PYTHONUNBUFFERED": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }
    if on_space():
        kept |= {"OMP_NUM_THREADS": str(limits.THREADS), "HF_HUB_OFFLINE": "1"}
    return kept


def bounds() -> list[str]:
    """What the shim holds a run to: on a public Space less time, memory and priority than a person's own run has."""
    if not on_space():
        return []
    seconds, memory, grace = limits.SECONDS, limits.MEMORY_MB, limits.GRACE_S
    return [f"--limit-s={seconds}", f"--limit-grace-s={grace}", f"--limit-mb={memory}", f"--nice={limits.NICE}"]


def absolute_url(url: str) -> str:
    """A relative SQLite path means the folder of who gave it; a run works in another one."""
    scheme, separator, path = url.partition(":///")
    if not separator or not scheme.startswith("sqlite") or not path or path.startswith(("/", ":memory:")):
        return url
    path, mark, options = path.partition("?")
    return f"{scheme}:///{quote(str(Path(unquote(path)).resolve()))}{mark}{options}"


def withheld(config: Mapping[str, Any]) -> list[str]:
    """The keys of services that this run does not report to."""
    used = config.get("report_to") or ()
    return [key for service, key in SERVICE_KEYS.items() if service not in used]


def worker_argv(settings: Settings, run_id: str) -> list[str]:
    module = os.environ.get(WORKER_VARIABLE) or WORKER
    return [sys.executable, "-m", module, "--home", str(settings.home), "--run", run_id]


def start_next(settings: Settings, db: Database, names: tuple[str, ...] | None = None) -> str | None:
    """Start the run whose turn it is on one of the devices `names`; its id, or None when every device has a run, none
    waits or another process was faster.

    One process at a time looks for the next and claims it, so that runs start in the order of the queue. The run's lock
    is taken before the claim and handed to the shim, so that a started run is never without a holder.
    """
    reap()
    if not supported():
        return None
    names = names or device.claimable()
    if not queue.waiting(db, len(names)):
        return None
    with _turn(settings):
        here = devices.present(names)
        for run_id in queue.waiting(db, len(here)) if here else ():
            try:
                lock = FileLock.take(settings.run_dir(run_id) / "run.lock")
            except OSError as error:
                log.warning("run %s cannot be started: %s", run_id, error)
                transition(db, run_id, RunState.QUEUED, RunState.FAILED, reason=reasons.bad_folder(error).en)
                continue
            if lock is None:
                continue
            with lock:
                if not queue.claim(db, run_id, len(here)):
                    run = Reader(db).run(run_id)
                    if run is not None and run.state is RunState.QUEUED:
                        return None  # the device went to another one
                    if run is None:
                        _unmake(settings.run_dir(run_id))
                    continue  # stopped or deleted since it was listed: the next one's turn
                run = Reader(db).run(run_id)
                if run is None:
                    return None
                try:
                    launch(settings, run, lock, here)
                except OSError as error:
                    log.warning("run %s could not be launched: %s", run_id, error)
                    reason = f"the worker could not be started: {error}"
                    transition(db, run_id, RunState.STARTING, RunState.FAILED, reason=reason)
                    continue
            return run_id
    return None


@contextmanager
def _turn(settings: Settings) -> Iterator[None]:
    """Held while a run is chosen, claimed and launched. A holder that hangs, or a home folder that cannot be written,
    is waited for no longer than TURN_S: each claim is a compare-and-set all the same."""
    lock = None
    try:
        lock = FileLock.take(settings.home / QUEUE_LOCK, TURN_S)
    except OSError as error:
        log.warning("%s cannot be locked: %s", settings.home / QUEUE_LOCK, error)
    try:
        yield
    finally:
        if lock is not None:
            lock.release()


def _unmake(folder: Path) -> None:
    """Taking the lock of a run that was deleted meanwhile has made its folder again; anything else in it stays."""
    with suppress(OSError):
        (folder / "run.lock").unlink()
        folder.rmdir()


def launch(settings: Settings, run: Run, lock: FileLock, names: Sequence[str] = ()) -> None:
    """Start the shim of a run whose lock is held here; it takes the first of the devices `names` that is free. Raises
    OSError when no process can be started."""
    folder = settings.run_dir(run.id)
    (folder / "logs").mkdir(parents=True, exist_ok=True)
    argv = [sys.executable, "-m", "backend.processes.shim", "--home", str(settings.home), "--run", run.id]
    argv += ["--attempt", str(run.attempt), "--lock-fd", str(lock.fd)]
    argv += bounds()
    for name in filter(None, names):
        argv += ["--device", name]
    for name in withheld(run.config):
        argv += ["--withhold", name]
    argv += ["--", *worker_argv(settings, run.id)]
    with (folder / "logs" / "shim.log").open("ab") as out:
        shim = subprocess.Popen(
            argv,
            cwd=PROJECT,
            env=environment(os.environ, settings),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
            pass_fds=(lock.fd,),
        )
    lock.hand_over()
    _shims.append(shim)


def reap() -> None:
    """Collect shims that were started here and have ended, so that a long-lived server keeps no zombies."""
    _shims[:] = [shim for shim in _shims if shim.poll() is None]


def ask_to_stop(settings: Settings, run: Run, mode: StopMode, grace_s: float) -> None:
    """Leave the wish where the shim looks, and wake it. A run without a shim yet finds the wish when it has one.

    Where the wish cannot be written (a full disk) the signal says it, with the shim's own grace time; StudioError
    when there is no shim to be signalled either.
    """
    folder = settings.run_dir(run.id)
    fault: OSError | None = None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        runfiles.write_stop(folder, Stop(run.attempt, mode, grace_s))
    except OSError as error:
        log.warning("run %s: the wish to stop could not be written: %s", run.id, error)
        fault = error
    pids = runfiles.read_pids(folder, run.attempt)
    told = (
        pids is not None
        and pids.shim is not None
        and send(pids.shim, signal.SIGTERM if mode == "save" else signal.SIGUSR1)
    )
    if fault is not None and not told:
        raise StudioError(
            Text(
                en=f"run {run.id} could not be asked to stop: {folder / 'stop.json'} cannot be written "
                f"({fault.strerror or fault}). Make room or mend the folder, then stop it again.",
                ko=f"실행 {run.id}에 중지를 요청하지 못했습니다. {folder / 'stop.json'}에 쓸 수 없습니다"
                f"({fault.strerror or fault}). 디스크 공간이나 폴더를 확인한 뒤 다시 중지하세요.",
            )
        ) from fault


def require_lock(settings: Settings, run_id: str, timeout: float = 10.0) -> FileLock:
    """The lock of an ended run, whose last processes may still be going. WrongState when they do not go."""
    lock = FileLock.take(settings.run_dir(run_id) / "run.lock", timeout)
    if lock is None:
        raise WrongState(
            Text(
                en=f"run {run_id} is still ending; try again in a moment",
                ko=f"실행 {run_id}이(가) 아직 끝나는 중입니다. 잠시 후 다시 시도하세요",
            )
        )
    return lock
