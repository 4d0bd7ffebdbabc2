"""What a model's name means: the embedded one, those that can be fetched, local folders and hub names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from backend.errors import NotFound
from backend.models import embedded, known
from backend.models.facts import ModelFacts, from_folder
from backend.paths import folder_named
from backend.text import Text

HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")
SMOLLM2 = "smollm2-135m"

Source = Literal["built", "fetched", "hub"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the catalogue. `ready`: usable now, without building or fetching; None where only a try tells."""

    name: str
    title: Text
    about: Text
    source: Source
    ready: bool | None
    facts: ModelFacts | None


def entries(models_dir: Path | None = None) -> list[Entry]:
    """All models that have a name here: the embedded one, the fetchable one, then common hub names."""
    built = models_dir is not None and embedded.is_built(models_dir)
    fetched = models_dir is not None and complete(models_dir / SMOLLM2)
    local = [
        Entry(
            embedded.NAME,
            Text("Embedded (1 M parameters)", "내장 모델(파라미터 100만 개)"),
            Text(
                "A tiny Llama that the project builds itself, in about a minute, and keeps. Knows column addition, "
                "but for the carry.",
                "프로젝트가 1분 남짓에 직접 만들어 보관하는 아주 작은 Llama입니다. 덧셈 필산을 하지만 "
                "받아올림을 자주 빠뜨립니다.",
            ),
            "built",
            built,
            embedded.DEFAULT.facts,
        ),
        Entry(
            SMOLLM2,
            Text("SmolLM2 135M Instruct", "SmolLM2 135M Instruct"),
            Text(
                "A small real chat model (Apache-2.0), 93 MB to fetch. Runs on a CPU.",
                "작지만 실제 대화 모델입니다(Apache-2.0, 93MB 내려받기). CPU에서 돌아갑니다.",
            ),
            "fetched",
            fetched,
            known.HUB["HuggingFaceTB/SmolLM2-135M-Instruct"],
        ),
    ]
    about = Text("Downloaded from the hub at the first use.", "처음 쓸 때 허브에서 내려받습니다.")
    hub = [Entry(name, Text(name, name), about, "hub", None, facts) for name, facts in known.HUB.items()]
    return local + hub


def complete(folder: Path) -> bool:
    return (folder / "config.json").is_file() and any(folder.glob("*.safetensors"))


def resolve(name: str, models_dir: Path, model_args: Mapping[str, Any] | None = None) -> str:
    """What `from_pretrained` takes: the path of a folder that is ready, or a hub name.

    NotFound, with what would do, for a folder that holds no model, the embedded model before it is built,
    smollm2-135m before it is fetched, and a name that means nothing.
    """
    if name == embedded.NAME:
        spec = embedded.parse(model_args)
        if embedded.is_built(models_dir, spec):
            return str(embedded.folder(models_dir, spec))
        raise _missing(
            "model: the embedded model is not built yet; the first run that uses it builds it",
            "model: 내장 모델이 아직 없습니다. 이 모델을 쓰는 첫 실행이 만듭니다",
        )
    if name == SMOLLM2:
        if complete(models_dir / SMOLLM2):
            return str(models_dir / SMOLLM2)
        raise _missing(
            f"model: {SMOLLM2} is not here yet; run: python -m backend models fetch {SMOLLM2}",
            f"model: {SMOLLM2}가 아직 없습니다. 실행: python -m backend models fetch {SMOLLM2}",
        )
    if (folder := folder_named(name)) is not None:
        if (folder / "config.json").is_file():
            return str(folder.resolve())
        raise _missing(
            f"model: {name} is a folder without a config.json; give the folder that save_pretrained wrote",
            f"model: {name} 폴더에 config.json이 없습니다. save_pretrained가 쓴 폴더를 지정하세요",
        )
    if HUB_NAME.fullmatch(name):
        return name
    there = f"{embedded.NAME}, {SMOLLM2}, a folder with a config.json, a hub name such as Qwen/Qwen2.5-0.5B-Instruct"
    raise _missing(
        f"model: {name!r} is none of: {there}",
        f"model: {name!r}는 쓸 수 없습니다. 가능: {embedded.NAME}, {SMOLLM2}, config.json이 있는 폴더, "
        "Qwen/Qwen2.5-0.5B-Instruct 같은 허브 이름",
    )


def _missing(en: str, ko: str) -> NotFound:
    return NotFound(Text(en=en, ko=ko))


def facts(name: str, models_dir: Path | None = None, model_args: Mapping[str, Any] | None = None) -> ModelFacts | None:
    """The sizes of a model without loading it; None where they cannot be known (an unlisted hub name, say)."""
    if name == embedded.NAME:
        return embedded.parse(model_args).facts
    if name == SMOLLM2:
        return known.HUB["HuggingFaceTB/SmolLM2-135M-Instruct"]
    folder = folder_named(name)
    return known.known(name) if folder is None else from_folder(folder)
