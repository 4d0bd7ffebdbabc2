"""Training an adapter instead of all weights, and a quantised base under it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from backend.config.fields import setting
from backend.text import Text as T

GROUP = "lora"


class LoraSettings(BaseModel):
    peft: Literal["none", "lora", "qlora"] = setting(
        "none",
        T("What is trained", "학습 방식"),
        T(
            "none: all weights; lora: a small adapter; qlora: an adapter on a 4-bit base.",
            "none: 전체 가중치, lora: 작은 어댑터, qlora: 4비트 모델 위의 어댑터.",
        ),
        GROUP,
        basic=True,
        trl="ModelConfig.use_peft",
    )
    lora_r: int = setting(
        16,
        T("LoRA rank", "LoRA 랭크"),
        T("Width of the adapter.", "어댑터의 폭."),
        GROUP,
        basic=True,
        ge=1,
        trl="LoraConfig.r",
    )
    lora_alpha: int = setting(
        32,
        T("LoRA alpha", "LoRA 알파"),
        T("The adapter is scaled by alpha / rank.", "어댑터를 알파/랭크로 키웁니다."),
        GROUP,
        ge=1,
        trl="LoraConfig.lora_alpha",
    )
    lora_dropout: float = setting(
        0.0,
        T("LoRA dropout", "LoRA 드롭아웃"),
        T(
            "Also acts while TRL generates, so it distorts the samples. 0 is right for GRPO.",
            "TRL이 생성할 때도 작동해 샘플을 왜곡합니다. GRPO에는 0이 맞습니다.",
        ),
        GROUP,
        ge=0,
        lt=1,
        near=(0.0, 0.05),
        trl="LoraConfig.lora_dropout",
    )
    lora_target_modules: list[str] | str | None = setting(
        "all-linear",
        T("LoRA layers", "LoRA 대상 층"),
        T(
            "`all-linear`, or names such as q_proj, v_proj. Never lm_head.",
            "`all-linear` 또는 q_proj, v_proj 같은 이름. lm_head는 불가.",
        ),
        GROUP,
        trl="LoraConfig.target_modules",
    )
    lora_bias: Literal["none", "all", "lora_only"] = setting(
        "none",
        T("LoRA bias", "LoRA 편향"),
        T("Which biases are trained.", "함께 학습할 편향."),
        GROUP,
        trl="LoraConfig.bias",
    )
    lora_modules_to_save: list[str] | None = setting(
        None,
        T("Also train whole", "통째로 학습할 층"),
        T("Layers trained in full beside the adapter.", "어댑터와 함께 통째로 학습할 층."),
        GROUP,
        trl="LoraConfig.modules_to_save",
    )
    use_rslora: bool = setting(
        False,
        T("Rank-stabilised scaling", "랭크 안정화 스케일"),
        T("Scale by alpha / sqrt(rank).", "알파/√랭크로 키웁니다."),
        GROUP,
        trl="LoraConfig.use_rslora",
    )
    use_dora: bool = setting(
        False,
        T("DoRA", "DoRA"),
        T("Also learn the length of each weight vector.", "가중치 벡터의 크기도 학습합니다."),
        GROUP,
        trl="LoraConfig.use_dora",
    )
    load_in_4bit: bool | None = setting(
        None,
        T("4-bit base", "4비트 모델"),
        T("Empty: on with qlora. Needs bitsandbytes.", "비워 두면 qlora일 때 켜짐. bitsandbytes 필요."),
        GROUP,
        trl="BitsAndBytesConfig.load_in_4bit",
    )
    load_in_8bit: bool = setting(
        False,
        T("8-bit base", "8비트 모델"),
        T("Instead of 4-bit, with qlora.", "4비트 대신, qlora에서."),
        GROUP,
        trl="BitsAndBytesConfig.load_in_8bit",
    )
    bnb_4bit_quant_type: Literal["nf4", "fp4"] = setting(
        "nf4",
        T("4-bit kind", "4비트 종류"),
        T("nf4 suits trained weights.", "학습된 가중치에는 nf4."),
        GROUP,
        trl="BitsAndBytesConfig.bnb_4bit_quant_type",
    )
    bnb_4bit_use_double_quant: bool = setting(
        True,
        T("Double quantisation", "이중 양자화"),
        T("Quantise the scales too: 0.4 bits less a weight.", "스케일도 양자화해 가중치당 0.4비트를 아낍니다."),
        GROUP,
        trl="BitsAndBytesConfig.bnb_4bit_use_double_quant",
    )
    bnb_4bit_compute_dtype: Literal["auto", "float32", "bfloat16", "float16"] = setting(
        "auto",
        T("4-bit compute type", "4비트 연산 자료형"),
        T("auto: the device's best.", "auto: 장치에 가장 맞는 것."),
        GROUP,
        trl="BitsAndBytesConfig.bnb_4bit_compute_dtype",
    )
