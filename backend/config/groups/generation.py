"""How completions are sampled."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

from backend.config.fields import setting
from backend.text import Text as T

GROUP = "generation"


class GenerationSettings(BaseModel):
    num_generations: int = setting(
        8,
        T("Completions per prompt (G)", "프롬프트당 답변 수(G)"),
        T(
            "The group whose rewards are compared. The generation batch must be a multiple of it.",
            "보상을 서로 비교하는 그룹의 크기. 생성 배치가 이 수의 배수여야 합니다.",
        ),
        GROUP,
        basic=True,
        ge=2,
        near=(2, 8),
    )
    max_completion_length: int = setting(
        256,
        T("Longest completion", "최대 답변 길이"),
        T(
            "In tokens. What is longer is cut off and usually earns nothing.",
            "토큰 수. 더 길면 잘리고 보통 보상을 받지 못합니다.",
        ),
        GROUP,
        basic=True,
        ge=1,
        near=(64, 256),
    )
    temperature: float = setting(
        1.0,
        T("Temperature", "온도"),
        T(
            "Too low and the group's answers are all the same; too high and they are noise.",
            "너무 낮으면 그룹의 답이 모두 같아지고, 너무 높으면 잡음이 됩니다.",
        ),
        GROUP,
        basic=True,
        gt=0,
        near=(0.7, 1.0),
    )
    top_p: float = setting(
        1.0,
        T("Top p", "Top p"),
        T(
            "Sample from the likeliest tokens of this total. In (0, 1].",
            "누적 확률이 이 값이 될 때까지의 토큰에서 뽑습니다. (0, 1].",
        ),
        GROUP,
        gt=0,
        le=1,
        near=(0.95, 1.0),
    )
    top_k: int = setting(
        0,
        T("Top k", "Top k"),
        T("Sample from this many likeliest tokens. 0: all.", "확률이 높은 토큰 수. 0이면 전체."),
        GROUP,
        ge=0,
    )
    min_p: float | None = setting(
        None,
        T("Min p", "Min p"),
        T(
            "Leave out tokens less likely than this share of the likeliest.",
            "가장 높은 확률의 이 비율보다 낮은 토큰을 뺍니다.",
        ),
        GROUP,
        ge=0,
        le=1,
    )
    repetition_penalty: float = setting(
        1.0,
        T("Repetition penalty", "반복 벌점"),
        T(
            "Above 1 discourages repetition. Also distorts the sampling distribution.",
            "1보다 크면 반복을 줄입니다. 샘플링 분포도 왜곡됩니다.",
        ),
        GROUP,
        gt=0,
        near=(1.0,),
    )
    generation_batch_size: int | None = setting(
        None,
        T("Generation batch", "생성 배치"),
        T(
            "Completions sampled at once. Not together with steps per generation.",
            "한 번에 생성하는 답변 수. 생성당 스텝 수와 함께 쓸 수 없습니다.",
        ),
        GROUP,
        ge=1,
    )
    steps_per_generation: int | None = setting(
        None,
        T("Batches per generation", "생성당 배치 수"),
        T(
            "Batches that one generation feeds. Empty: the gradient accumulation.",
            "한 번의 생성으로 쓰는 배치 수. 비워 두면 그래디언트 누적 값.",
        ),
        GROUP,
        ge=1,
    )
    generation_kwargs: dict[str, Any] | None = setting(
        None,
        T("Extra sampling arguments", "추가 샘플링 인자"),
        T(
            "For GenerationConfig or vLLM's SamplingParams; they override the fields above.",
            "GenerationConfig나 vLLM SamplingParams에 전달되며 위 항목보다 우선합니다.",
        ),
        GROUP,
    )
    chat_template_kwargs: dict[str, Any] | None = setting(
        None,
        T("Chat template arguments", "챗 템플릿 인자"),
        T("Such as enable_thinking for Qwen3.", "Qwen3의 enable_thinking 등."),
        GROUP,
    )
    cache_implementation: Literal["static", "offloaded_static", "dynamic", "offloaded", "quantized"] | None = setting(
        None,
        T("KV cache kind", "KV 캐시 종류"),
        T("Empty: transformers chooses.", "비워 두면 transformers가 고릅니다."),
        GROUP,
    )
    use_transformers_continuous_batching: bool = setting(
        False,
        T("Continuous batching", "연속 배칭"),
        T(
            "transformers' own batching engine for generation. Not for image models.",
            "transformers의 생성용 배칭 엔진. 이미지 모델에는 쓸 수 없습니다.",
        ),
        GROUP,
    )
    transformers_continuous_batching_config: dict[str, Any] | None = setting(
        None,
        T("Continuous batching settings", "연속 배칭 설정"),
        T("Arguments of ContinuousBatchingConfig.", "ContinuousBatchingConfig의 인자."),
        GROUP,
    )
    ds3_gather_for_generation: bool = setting(
        True,
        T("Gather weights (ZeRO-3)", "가중치 모으기(ZeRO-3)"),
        T(
            "DeepSpeed ZeRO-3 only: gather the weights to generate.",
            "DeepSpeed ZeRO-3에서만: 생성할 때 가중치를 모읍니다.",
        ),
        GROUP,
    )
    max_tool_calling_iterations: int | None = setting(
        None,
        T("Tool calls at most", "도구 호출 한도"),
        T(
            "Rounds of tool calls in one completion. Only for agents with tools.",
            "답변 하나에서 도구를 부르는 횟수. 도구를 쓰는 에이전트에만 해당합니다.",
        ),
        GROUP,
        ge=0,
    )
