"""Which model learns, and how it is loaded."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

from backend.config.fields import setting
from backend.text import Text as T

DType = Literal["auto", "float32", "bfloat16", "float16"]
GROUP = "model"


class ModelSettings(BaseModel):
    name: str = setting(
        "",
        T("Name of the run", "실행 이름"),
        T(
            "Free text, for display only. Empty: made from the preset and the number of the run.",
            "화면에만 쓰이는 자유로운 이름입니다. 비워 두면 프리셋 이름과 번호로 만듭니다.",
        ),
        GROUP,
        basic=True,
        trl="GRPOConfig.run_name",
    )
    model: str = setting(
        "embedded",
        T("Model", "모델"),
        T(
            "A hub name (org/name), a local folder, `embedded` (a tiny model built here) or `smollm2-135m`.",
            "허브 이름(org/name), 로컬 폴더, `embedded`(여기서 만드는 아주 작은 모델), `smollm2-135m` 중 하나.",
        ),
        GROUP,
        basic=True,
        trl="ModelConfig.model_name_or_path",
        suggestions=("embedded", "smollm2-135m", "Qwen/Qwen2.5-0.5B-Instruct"),
    )
    model_args: dict[str, Any] = setting(
        {},
        T("Arguments of the model", "모델 인자"),
        T(
            "For models that the project builds itself: their size and how they are warmed up.",
            "프로젝트가 직접 만드는 모델의 크기와 준비 학습 방법입니다.",
        ),
        GROUP,
        trl=None,
    )
    model_revision: str | None = setting(
        None,
        T("Model revision", "모델 리비전"),
        T(
            "Branch, tag or commit on the hub. Empty: the main branch.",
            "허브의 브랜치, 태그, 커밋. 비워 두면 main 브랜치.",
        ),
        GROUP,
        trl="ModelConfig.model_revision",
    )
    dtype: DType = setting(
        "auto",
        T("Weight type", "가중치 자료형"),
        T(
            "Precision of the loaded weights. auto: bfloat16 for LoRA on a device that has it, else float32.",
            "불러올 가중치의 정밀도. auto: LoRA이고 장치가 지원하면 bfloat16, 아니면 float32.",
        ),
        GROUP,
        trl="ModelConfig.dtype",
    )
    attn_implementation: str | None = setting(
        None,
        T("Attention implementation", "어텐션 구현"),
        T(
            "eager, sdpa, flash_attention_2 ... Empty: transformers chooses.",
            "eager, sdpa, flash_attention_2 등. 비워 두면 transformers가 고릅니다.",
        ),
        GROUP,
        trl="ModelConfig.attn_implementation",
        suggestions=("sdpa", "eager", "flash_attention_2"),
    )
    trust_remote_code: bool = setting(
        False,
        T("Trust remote code", "원격 코드 실행 허용"),
        T(
            "Runs Python code that comes with a hub model. Only for sources you trust.",
            "허브 모델에 딸린 파이썬 코드를 실행합니다. 믿을 수 있는 출처에만 쓰세요.",
        ),
        GROUP,
    )
    model_init_kwargs: dict[str, Any] | None = setting(
        None,
        T("Extra loading arguments", "추가 로딩 인자"),
        T(
            "Passed to from_pretrained as they are; dtype, revision and attention have fields of their own.",
            "from_pretrained에 그대로 전달됩니다. dtype, revision, 어텐션은 전용 항목을 쓰세요.",
        ),
        GROUP,
    )
    router_aux_loss_coef: float | None = setting(
        None,
        T("Router auxiliary loss", "라우터 보조 손실"),
        T(
            "Load-balancing weight of a mixture-of-experts model. Fails on other models. Empty: the model's own.",
            "MoE 모델의 부하 균형 손실 가중치. MoE가 아니면 실패합니다. 비워 두면 모델의 값.",
        ),
        GROUP,
        ge=0,
    )
    disable_dropout: bool = setting(
        False,
        T("Disable dropout", "드롭아웃 끄기"),
        T(
            "TRL generates in train mode, so dropout also disturbs the samples. On: dropout is 0 everywhere.",
            "TRL은 train 모드로 생성하므로 드롭아웃이 샘플도 흔듭니다. 켜면 모든 드롭아웃이 0이 됩니다.",
        ),
        GROUP,
    )
    cast_lm_head_to_fp32: bool = setting(
        False,
        T("Output layer in float32", "출력층 float32"),
        T(
            "Casts lm_head of policy and reference to float32, as ScaleRL does. Not with an adapter on lm_head.",
            "정책·기준 모델의 lm_head를 float32로 바꿉니다(ScaleRL). lm_head에 어댑터가 있으면 쓸 수 없습니다.",
        ),
        GROUP,
    )
