"""Which devices runs may take, and the lock that is a device.

A shim starts the next run long after whoever started it, maybe with another list of devices than the server that is up
by now: a device that was taken out of the list in between must not get a run again. So each list that a person's
process works with is noted in the home folder, and shims go by the note.
"""

from __future__ import annotations

import logging
import re
import shutil
import subprocess
from pathlib import Path

from backend import device
from backend.estimate import DeviceFacts
from backend.processes import runfiles
from backend.processes.locks import FileLock, held, supported
from backend.settings import Settings

log = logging.getLogger(__name__)
NOTE = "devices.json"
WHOLE = "device.lock"  # of the only device, or of all there are: held alone by a run that was given none by name
ASK_S = 5


def note(settings: Settings) -> tuple[str, ...]:
    """The devices of this process, noted for the shims; a machine that never had a choice keeps no note."""
    names = device.claimable()
    try:
        if (_noted(settings) or ("",)) != names:
            runfiles.write_json(settings.home / NOTE, {"names": names})
    except OSError as error:  # a full disk: shims go by what they were started with
        log.warning("the list of devices was not noted: %s", error)
    return names


def noted(settings: Settings) -> tuple[str, ...]:
    """The devices of the last process that noted any; this process's own without a note."""
    try:
        return _noted(settings) or device.claimable()
    except OSError:
        return device.claimable()


def _noted(settings: Settings) -> tuple[str, ...] | None:
    names = (runfiles.read_json(settings.home / NOTE) or {}).get("names")
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        return None
    return tuple(names)


def present(names: tuple[str, ...]) -> tuple[str, ...]:
    """Those of `names` that the machine still has. torch would train on the CPU, without a word, on one that is gone.
    What cannot be asked (no nvidia-smi, a part of a GPU) counts as there."""
    program = shutil.which("nvidia-smi")
    if names == ("",) or program is None or not device.torch_drives_cuda():
        return names
    command = [program, "--query-gpu=index,uuid", "--format=csv,noheader"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=ASK_S, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return names
    known = [part.strip() for line in answer.splitlines() for part in line.split(",") if part.strip()]
    here = tuple(name for name in names if name.startswith("MIG-") or _is_one(name, known))
    if known and len(here) < len(names):
        log.warning("not on this machine: %s; no run is given to it", ", ".join(sorted(set(names) - set(here))))
    return here if known else names


def _is_one(name: str, known: list[str]) -> bool:
    """An index, or as much of a UUID as tells it from the others, as CUDA reads them."""
    return name in known or (name.startswith("GPU-") and any(each.startswith(name) for each in known))


def facts(settings: Settings, every: bool = False) -> DeviceFacts:
    """The device that a run started now would get: the first of the list that is free. Where none is, or with `every`
    (many runs, which get all of them in turn), the one with the least memory: what fits there fits whichever it is."""
    names = device.claimable()
    if names == ("",) or not device.torch_drives_cuda():
        return device.facts()
    free = [name for name in names if not supported() or not held(settings.home / lock_name(name))]
    asked = names if every or not free else free[:1]
    found = [gpu for gpu in map(_gpu, asked) if gpu is not None]
    return min(found, key=lambda gpu: (gpu.total_bytes, gpu.free_bytes)) if found else device.facts()


def _gpu(name: str) -> DeviceFacts | None:
    program = shutil.which("nvidia-smi")
    if program is None:
        return None
    command = [program, f"--query-gpu={device.QUERY}", "--format=csv,noheader,nounits", f"--id={name}"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=ASK_S, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    gpu = device.parse_gpu(answer)
    if gpu is None:
        return None
    return DeviceFacts("cuda", gpu["name"], gpu["total"], gpu["free"], gpu["bf16"], device.cores())


def lock_name(name: str) -> str:
    """The file in the home folder whose lock is the device; the only one has no name."""
    return f"device-{re.sub('[^A-Za-z0-9]', '_', name)}.lock" if name else WHOLE


def take(home: Path, name: str, timeout: float = 0.0) -> list[FileLock] | None:
    """The device, or None while somebody has it. A run without a device of its own may use any of them, so it and
    those with one keep each other out: after a change of the list both kinds may be about."""
    own = FileLock.take(home / lock_name(name), timeout)
    if own is None or not name:
        return None if own is None else [own]
    among = FileLock.take(home / WHOLE, shared=True)
    if among is None:
        own.release()
        return None
    return [own, among]
