"""Which questions the model practises on."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

from backend.config.fields import setting
from backend.text import Text as T

GROUP = "data"


class DataSettings(BaseModel):
    dataset: str = setting(
        "arithmetic",
        T("Dataset", "데이터셋"),
        T(
            "A set stored on the Data page, `arithmetic` (generated), `article-math`, a file (.jsonl, .json, .csv, "
            ".tsv, .parquet) or a hub name. A file needs a `prompt` column, or dataset_args that name another.",
            "데이터 페이지에 저장한 데이터셋, `arithmetic`(생성), `article-math`, 파일(.jsonl, .json, .csv, .tsv, "
            ".parquet), 허브 이름 중 하나. 파일에는 `prompt` 열이 있거나 dataset_args로 정해야 합니다.",
        ),
        GROUP,
        basic=True,
        trl="ScriptArguments.dataset_name",
        suggestions=("arithmetic", "article-math"),
    )
    dataset_args: dict[str, Any] = setting(
        {},
        T("Arguments of the dataset", "데이터셋 인자"),
        T(
            "What a generated set takes (operations, digits, difficulty, rows), or the subset and split of a hub set.",
            "생성 데이터의 연산, 자릿수, 난이도, 행 수 또는 허브 데이터의 하위 집합과 split.",
        ),
        GROUP,
        trl=None,
    )
    dataset_sha256: str | None = setting(
        None,
        T("Hash of the data set", "데이터셋 해시"),
        T(
            "Which state of a stored data set is used. Filled in at the start; empty: the newest.",
            "저장된 데이터셋의 어느 상태를 쓸지. 시작할 때 채워지며, 비워 두면 최신.",
        ),
        GROUP,
        trl=None,
    )
    eval_size: int = setting(
        200,
        T("Held-out rows", "평가 행 수"),
        T(
            "Rows kept away from training for the evaluations before, during and after. 0: none.",
            "학습에 쓰지 않고 전·중·후 평가에 쓰는 행 수. 0이면 떼어 두지 않습니다.",
        ),
        GROUP,
        ge=0,
        trl=None,
    )
    seed: int = setting(
        42,
        T("Seed", "시드"),
        T(
            "Of the weights' start, the order of prompts and the sampling.",
            "초기 가중치, 프롬프트 순서, 샘플링의 시드.",
        ),
        GROUP,
        basic=True,
        ge=0,
        le=2**32 - 1,
    )
    data_seed: int | None = setting(
        None,
        T("Data seed", "데이터 시드"),
        T(
            "Seed of the split and of generated data. Empty: the seed above.",
            "데이터 분할과 생성에 쓰는 시드. 비워 두면 위의 시드.",
        ),
        GROUP,
        ge=0,
        le=2**32 - 1,
    )
    max_prompt_tokens: int | None = setting(
        None,
        T("Longest prompt", "최대 프롬프트 길이"),
        T(
            "In tokens. TRL never shortens prompts; longer ones are left out and counted. Empty: what fits the model.",
            "토큰 수. TRL은 프롬프트를 자르지 않으므로 더 긴 행은 빼고 그 수를 알립니다. 비워 두면 모델이 받는 만큼.",
        ),
        GROUP,
        ge=1,
        near=(256, 1024),
        trl=None,
    )
    shuffle_dataset: bool = setting(
        True,
        T("Shuffle", "섞기"),
        T(
            "Shuffle the training prompts. Off for a curriculum in file order.",
            "학습 프롬프트를 섞습니다. 파일 순서대로 학습하려면 끄세요.",
        ),
        GROUP,
    )
    dataloader_num_workers: int = setting(
        0,
        T("Loader processes", "로더 프로세스 수"),
        T(
            "Extra processes that read rows. 0 is right for small sets.",
            "행을 읽는 추가 프로세스 수. 작은 데이터는 0이 맞습니다.",
        ),
        GROUP,
        ge=0,
    )
    dataloader_drop_last: bool = setting(
        False,
        T("Drop last batch", "마지막 배치 버리기"),
        T(
            "TRL's sampler already leaves out rows that do not fill a generation batch.",
            "생성 배치를 채우지 못하는 행은 TRL 샘플러가 이미 제외합니다.",
        ),
        GROUP,
    )
    pad_to_multiple_of: Literal["auto"] | int | None = setting(
        "auto",
        T("Pad to a multiple of", "패딩 배수"),
        T(
            "Pads token rows to a multiple of this. auto: no padding except on Neuron.",
            "토큰 길이를 이 배수로 맞춥니다. auto: Neuron이 아니면 맞추지 않습니다.",
        ),
        GROUP,
        ge=1,
    )
