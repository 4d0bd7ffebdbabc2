"""How far vLLM's sampling probabilities are from the trainer's own."""

from backend.text import Text
from ui.panels import Panel, Row, Series

PANEL = Panel(
    id="sampling",
    title=Text(en="Sampling mismatch (vLLM)", ko="샘플링 불일치 (vLLM)"),
    help=Text(
        en="Difference of log-probabilities between the sampler and the trainer, and the importance ratio that "
        "corrects for it. Near 0 and near 1 is good.",
        ko="샘플러와 학습기의 로그 확률 차이와 이를 보정하는 중요도 비율입니다. 각각 0과 1에 가까울수록 좋습니다.",
    ),
    order=100,
    rows=(
        Row(Text(en="log-prob difference", ko="로그 확률 차이"), zero=True),
        Row(Text(en="importance ratio", ko="중요도 비율")),
    ),
    series=(
        Series("sampling/sampling_logp_difference/mean", Text(en="mean", ko="평균"), "ink"),
        Series("sampling/sampling_logp_difference/max", Text(en="max", ko="최대"), "vermillion", dash="dot"),
        Series("sampling/importance_sampling_ratio/min", Text(en="min", ko="최소"), "blue", role="low", row=1),
        Series(
            "sampling/importance_sampling_ratio/max", Text(en="min to max", ko="최소-최대"), "blue", "train", "high", 1
        ),
        Series("sampling/importance_sampling_ratio/mean", Text(en="mean", ko="평균"), "blue", row=1),
    ),
)
