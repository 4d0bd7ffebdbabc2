"""Making an export: a temporary folder, a child that loads the weights, a stranger that loads the result, a rename.

Whatever interrupts it, nothing stands under the final name that is not whole and proved; what a kill leaves behind is
removed when the next export begins.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from backend.config.schema import RunConfig
from backend.errors import StudioError
from backend.exporting import child, comparing, places, sources
from backend.exporting.planning import Plan, about, require_room
from backend.processes import launcher
from backend.settings import PROJECT
from backend.text import Text
from backend.workers import checkpoints

Progress = Callable[[int, int, Text], None]
TOKENS = 24  # most new tokens of an answer
KEPT = 4  # positions of each answer whose logits are compared over the whole vocabulary
CARD = "README.md"
MERGE_SCRIPT = PROJECT / "backend" / "workers" / "merge_stranger.py"
STAGES = {
    "check": Text(en="checking the weights against their manifest", ko="가중치를 매니페스트와 대조하는 중"),
    "load": Text(en="loading the trained weights", ko="학습된 가중치를 불러오는 중"),
    "answers": Text(en="noting what the trained weights answer", ko="학습된 가중치의 답을 기록하는 중"),
    "merge": Text(en="merging base and adapter", ko="기준 모델과 어댑터를 병합하는 중"),
    "save": Text(en="writing the weights", ko="가중치를 쓰는 중"),
    "copy": Text(en="copying the files", ko="파일을 복사하는 중"),
    "verify": Text(en="loading it in a fresh process and comparing", ko="새 프로세스에서 불러와 답을 비교하는 중"),
    "finish": Text(en="writing it through to the disk", ko="디스크에 확정하는 중"),
}  # fmt: skip


class Told:
    """The newest that a child has told; called, it is passed on again, so that a stop is noticed in between."""

    def __init__(self, progress: Progress, stage: str) -> None:
        self.progress, self.stage, self.done, self.total = progress, stage, -1, 0

    def take(self, message: Mapping[str, Any]) -> None:
        if message.get("stage") in STAGES:
            self.stage, self.total = message["stage"], int(message.get("total") or 0)
            self.done = int(message.get("done") or 0) if self.total else -1
        self()

    def __call__(self) -> None:
        self.progress(self.done, self.total, STAGES[self.stage])


def make(planned: Plan, target: Path, card: str, prompts: list[Any], progress: Progress) -> Path:
    """Make it at `target`, which must not exist yet. `progress` may raise to stop it. Returns `target`."""
    with places.in_words(target), places.locked(planned.settings, planned.run) as keep, places.scratch(target) as part:
        require_room(planned, part)
        facts_of = prove_or_make(planned, part, prompts, progress, keep)
        out = part / "out"
        progress(0, 0, STAGES["finish"])
        (out / CARD).write_text(card, encoding="utf-8")
        manifest = about(planned) | facts_of | {"crc32": places.crcs(out)}
        checkpoints.write_manifest(out, **manifest)
        if not planned.merged:
            require_same(planned, out)
        places.sync(out)
        if target.exists():
            raise places.exists(target)
        out.rename(target)
        places.sync_folder(target.parent)
    return target


def require_same(planned: Plan, out: Path) -> None:
    """The copied weights are the saved ones, bit by bit: somebody may have written to them since they were checked."""
    saved, copied = (checkpoints.read_manifest(folder) or {"files": {}} for folder in (planned.source.folder, out))
    for name in planned.source.files:
        if sources.WEIGHTS.fullmatch(name) and saved["files"].get(name) != copied["files"].get(name):
            raise StudioError(
                Text(
                    en=f"{name} changed while it was copied; export again",
                    ko=f"복사하는 동안 {name}이(가) 바뀌었습니다. 다시 내보내세요",
                )
            )


def prove(planned: Plan, made: Path, prompts: list[Any], progress: Progress) -> None:
    """Prove an export that is there already, and note the proof in its manifest. One that fails it is removed."""
    with places.locked(planned.settings, planned.run) as keep, places.scratch(made) as part:
        try:
            found = prove_or_make(planned, part, prompts, progress, keep, made)
        except comparing.Mismatch:
            places.remove(made)
            raise
        manifest = checkpoints.read_manifest(made) or {}
        told = {key: value for key, value in manifest.items() if key not in {"files", "version"}}
        checkpoints.write_manifest(made, **(told | found))


def prove_or_make(
    planned: Plan, part: Path, prompts: list[Any], progress: Progress, keep: list[int], made: Path | None = None
) -> dict[str, Any]:
    """The files in part/out (unless `made` is there already), and the proof that they answer as they should.

    Facts for the manifest: "dtype", "verified", and "notes" where the proof adds one.
    """
    out, work = part / "out", part / "work"
    if made is None and not planned.merged:
        copy(planned, out, progress)
    told = _merge(planned, out, work, prompts, progress, keep, write=made is None)
    verified = _stranger(planned, made or out, work, prompts, progress, keep, told)
    found: dict[str, Any] = {"dtype": told["dtype"], "verified": verified | {"device": told["device"]}}
    if verified.get("lost"):
        found["notes"] = [note.to_json() for note in (*planned.notes, _lost(planned, told["change"]))]
    return found


def _lost(planned: Plan, change: float) -> Text:
    return Text(
        en=f"What the training changed (at most {change:.2g} in a logit) is no larger than the rounding of "
        f"{planned.dtype}: the merged weights may have lost it. The adapter keeps it.",
        ko=f"학습이 바꾼 크기(로짓 최대 {change:.2g})가 {planned.dtype} 반올림 오차보다 크지 않아 병합된 가중치에서 "
        "사라졌을 수 있습니다. 어댑터에는 남아 있습니다.",
    )


def copy(planned: Plan, out: Path, progress: Progress) -> None:
    """The source's files, and the adapter's settings with the base where it is now."""
    total, done = planned.source.bytes, 0
    for name in planned.source.files:
        with (planned.source.folder / name).open("rb") as read, (out / name).open("wb") as write:
            while piece := read.read(2**20):
                write.write(piece)
                done += len(piece)
                progress(done, total, STAGES["copy"])
    if planned.what == "adapter" and planned.base is not None:
        path = out / sources.ADAPTER_CONFIG
        config = json.loads(path.read_text(encoding="utf-8"))
        config["base_model_name_or_path"] = planned.base.name
        path.write_text(json.dumps(config, indent=2, ensure_ascii=False), encoding="utf-8")


def _merge(
    planned: Plan, out: Path, work: Path, prompts: list[Any], progress: Progress, keep: list[int], *, write: bool
) -> dict[str, Any]:
    config = RunConfig(**planned.run.config)
    init = {name: value for name, value in (config.model_init_kwargs or {}).items() if name != "quantization_config"}
    if planned.base is not None and planned.base.shared and config.model_revision:
        init["revision"] = config.model_revision
    request = {
        "what": planned.what if write else "check",
        "source": str(planned.source.folder),
        "out": str(out),
        "work": str(work),
        "run_dir": str(planned.settings.run_dir(planned.run.id)),
        "adapter": planned.source.adapter,
        "base": planned.base.name if planned.base else None,
        "shown": planned.base.shown if planned.base else None,
        "dtype": planned.dtype,
        "init": init,
        "device": "cpu" if config.use_cpu else "auto",
        "trust": bool(config.trust_remote_code),
        "prompts": prompts,
        "template": dict(config.chat_template_kwargs or {}),
        "tokens": min(TOKENS, config.max_completion_length or TOKENS),
        "kept": KEPT,
    }
    path = work / "request.json"
    path.write_text(json.dumps(request), encoding="utf-8")
    told = Told(progress, "load")

    def tick() -> None:
        if told.stage == "save":
            told.done = min(told.total, places.size_of(out))
        told()

    argv = [sys.executable, "-m", "backend.workers.merge", str(path)]
    env = environment(planned)
    return child.talk(argv, work / "merge.log", on_message=told.take, tick=tick, env=env, keep=keep)


def environment(planned: Plan) -> dict[str, str]:
    """As a run's, without the keys of services; the hub's token stays, for a base that needs it."""
    env = launcher.environment(os.environ, planned.settings)
    return {name: value for name, value in env.items() if name not in launcher.SERVICE_KEYS.values()}


def _stranger(
    planned: Plan, folder: Path, work: Path, prompts: list[Any], progress: Progress, keep: list[int],
    told: Mapping[str, Any],
) -> dict[str, Any]:  # fmt: skip
    """The fresh process, and the comparison. StudioError where it cannot load the export, Mismatch where it differs."""
    config = RunConfig(**planned.run.config)
    mine = comparing.read(work)
    place = work / "stranger"
    place.mkdir()
    request = {
        "folder": str(folder),
        "adapter": planned.what == "adapter",
        "dtype": planned.dtype,
        "device": told["device"],
        "trust": bool(config.trust_remote_code),
        "prompts": prompts,
        "template": dict(config.chat_template_kwargs or {}),
        "tokens": min(TOKENS, config.max_completion_length or TOKENS),
        "kept": KEPT,
        "forced": [answer["tokens"] for answer in mine[0]],
        "out": str(place),
    }
    path = place / "request.json"
    path.write_text(json.dumps(request), encoding="utf-8")
    # Threads that spin while they wait fight with what else runs here (docs/log.md).
    env = {"OMP_WAIT_POLICY": "PASSIVE"} | environment(planned) | {"OMP_NUM_THREADS": str(told["threads"])}

    heard = Told(progress, "verify")
    argv = [sys.executable, "-I", str(MERGE_SCRIPT), str(path)]
    try:
        child.talk(
            argv, place / "log", on_message=heard.take, tick=heard, env=env,
            cwd=place, keep=keep,
        )  # fmt: skip
    except child.Failed as error:
        raise StudioError(
            Text(
                en=f"the export does not load in a fresh process, so it was removed: {error.text.en}",
                ko=f"새 프로세스에서 불러오지 못해 내보낸 파일을 지웠습니다: {error.text.ko}",
            )
        ) from error
    return comparing.compare(
        mine, comparing.read(place), merged=planned.merged, dtype=planned.dtype, change=told["change"]
    )
