"""An adapter put on its base, every tensor of the file in its place, or refused in words.

PEFT goes on where tensors are missing (those stay as they were made: no change) and where some found no place, with a
warning or nothing at all; an adapter that is loaded by half answers almost like the base, and nobody would know.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from peft import PeftModel, get_peft_model_state_dict
from safetensors import SafetensorError, safe_open

from backend.errors import Refused
from backend.text import Text

WEIGHTS = "adapter_model.safetensors"


def put_on(base: Any, folder: Path) -> PeftModel:
    """The base with the adapter of `folder`, not trainable. Refused, in words, where it has no weights, where a tensor
    of the file found no place in the model, or where a place found no tensor."""
    names = _names(folder)
    model = PeftModel.from_pretrained(base, str(folder), is_trainable=False, use_safetensors=True)
    places = set(get_peft_model_state_dict(model, save_embedding_layers=False))
    # The embeddings, which PEFT saves beside an adapter that changes them, go into the base.
    strangers = sorted(name for name in names - places if name not in model.state_dict())
    missing = sorted(places - names)
    if strangers or missing:
        raise Refused(_not_whole(folder.name, len(names), strangers, missing))
    return model


def _names(folder: Path) -> set[str]:
    if not (folder / WEIGHTS).is_file():
        raise Refused(
            Text(
                en=f"the folder {folder.name} has an adapter's settings and no weights: {WEIGHTS} is missing",
                ko=f"{folder.name} 폴더에 어댑터 설정만 있고 가중치가 없습니다: {WEIGHTS} 파일이 없습니다",
            )
        )
    try:
        with safe_open(folder / WEIGHTS, "pt") as file:
            return set(file.keys())
    except SafetensorError as error:
        raise Refused(
            Text(
                en=f"{folder.name}/{WEIGHTS} cannot be read: {error}",
                ko=f"{folder.name}/{WEIGHTS} 파일을 읽을 수 없습니다: {error}",
            )
        ) from error


def _not_whole(name: str, count: int, strangers: list[str], missing: list[str]) -> Text:
    en, ko = [], []
    if strangers:
        en.append(f"{len(strangers)} of its {count} tensors found no place in the model ({strangers[0]})")
        ko.append(f"텐서 {count}개 중 {len(strangers)}개가 모델에 들어갈 자리가 없습니다({strangers[0]})")
    if missing:
        en.append(f"{len(missing)} places of the model found no tensor ({missing[0]})")
        ko.append(f"모델의 {len(missing)}곳에 맞는 텐서가 없습니다({missing[0]})")
    return Text(
        en=f"the adapter {name} was not loaded whole: {'; '.join(en)}. Is it of this model and this version?",
        ko=f"어댑터 {name}이(가) 온전히 적용되지 않습니다: {', '.join(ko)}. 이 모델과 버전의 어댑터인지 확인하세요.",
    )
