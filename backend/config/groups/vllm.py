"""Generation by vLLM, in the same process or on a server."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from backend.config.fields import setting
from backend.text import Text as T

GROUP = "vllm"
ISMode = Literal["token_truncate", "token_mask", "sequence_truncate", "sequence_mask"]


class VllmSettings(BaseModel):
    use_vllm: bool = setting(
        False,
        T("Generate with vLLM", "vLLM으로 생성"),
        T(
            "Much faster generation on a CUDA GPU. Needs the vllm package.",
            "CUDA GPU에서 생성이 훨씬 빨라집니다. vllm 패키지 필요.",
        ),
        GROUP,
    )
    vllm_mode: Literal["colocate", "server"] = setting(
        "colocate",
        T("Where vLLM runs", "vLLM 위치"),
        T("In the training process, or on a server of its own.", "학습 프로세스 안 또는 별도 서버."),
        GROUP,
    )
    vllm_model_impl: Literal["vllm", "transformers"] = setting(
        "vllm",
        T("vLLM's model code", "vLLM 모델 구현"),
        T("vLLM's own, or transformers'.", "vLLM 구현 또는 transformers 구현."),
        GROUP,
    )
    vllm_enable_sleep_mode: bool = setting(
        False,
        T("Sleep between generations", "생성 사이 절전"),
        T("Frees vLLM's memory during the update.", "업데이트 동안 vLLM 메모리를 비웁니다."),
        GROUP,
    )
    vllm_structured_outputs_regex: str | None = setting(
        None,
        T("Output pattern", "출력 패턴"),
        T("A regular expression that completions must match.", "답변이 따라야 할 정규식."),
        GROUP,
    )
    vllm_gpu_memory_utilization: float = setting(
        0.3,
        T("Share of GPU memory", "GPU 메모리 비율"),
        T("What colocated vLLM may take.", "같은 프로세스의 vLLM이 쓸 비율."),
        GROUP,
        gt=0,
        le=1,
        near=(0.3,),
    )
    vllm_max_model_length: int | None = setting(
        None,
        T("Context length", "문맥 길이"),
        T("At least the longest prompt plus the longest completion.", "가장 긴 프롬프트 + 최대 답변 길이 이상."),
        GROUP,
        ge=1,
    )
    vllm_tensor_parallel_size: int = setting(
        1,
        T("Tensor parallel", "텐서 병렬"),
        T("Must divide the number of processes, which is 1 here.", "프로세스 수(여기서는 1)의 약수여야 합니다."),
        GROUP,
        ge=1,
    )
    vllm_server_base_url: str | None = setting(
        None, T("Server address", "서버 주소"), T("Instead of host and port.", "호스트와 포트 대신 씁니다."), GROUP
    )
    vllm_server_host: str = setting(
        "0.0.0.0", T("Server host", "서버 호스트"), T("Of `trl vllm-serve`.", "`trl vllm-serve`의 호스트."), GROUP
    )
    vllm_server_port: int = setting(
        8000,
        T("Server port", "서버 포트"),
        T("Of `trl vllm-serve`.", "`trl vllm-serve`의 포트."),
        GROUP,
        ge=1,
        le=65535,
    )
    vllm_server_timeout: float = setting(
        240.0, T("Wait for the server", "서버 대기 시간"), T("Seconds.", "초."), GROUP, gt=0, near=(240.0,)
    )
    vllm_group_port: int = setting(
        51216,
        T("Weight transfer port", "가중치 전송 포트"),
        T("Change it only if it is taken.", "이미 쓰이는 경우에만 바꾸세요."),
        GROUP,
        ge=1,
        le=65535,
    )
    vllm_importance_sampling_correction: bool = setting(
        True,
        T("Correct vLLM's probabilities", "vLLM 확률 보정"),
        T(
            "vLLM and training compute slightly different probabilities; weigh by their ratio.",
            "vLLM과 학습이 계산하는 확률의 작은 차이를 비율로 보정합니다.",
        ),
        GROUP,
    )
    vllm_importance_sampling_mode: ISMode = setting(
        "sequence_mask",
        T("How to correct", "보정 방식"),
        T("Clip or drop, per token or per completion.", "자르거나 버리기, 토큰 또는 답변 단위."),
        GROUP,
    )
    vllm_importance_sampling_clip_max: float | None = setting(
        3.0,
        T("Correction, most", "보정 상한"),
        T("Upper bound of the ratio.", "비율의 상한."),
        GROUP,
        gt=0,
        near=(3.0,),
    )
    vllm_importance_sampling_clip_min: float | None = setting(
        None, T("Correction, least", "보정 하한"), T("Lower bound of the ratio.", "비율의 하한."), GROUP, ge=0
    )
