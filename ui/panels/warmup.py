"""The supervised warm-up: its loss and how often the next token is right."""

from backend.text import Text
from ui.panels import Panel, Row, Series

PANEL = Panel(
    id="warmup",
    title=Text(en="Warm-up (SFT)", ko="준비 학습 (SFT)"),
    help=Text(
        en="Supervised steps before GRPO: loss a token in nats, and the share of next tokens that it gets right.",
        ko="GRPO 이전의 지도 학습 단계: 토큰당 손실(nat)과 다음 토큰을 맞힌 비율입니다.",
    ),
    order=200,
    group="sft",
    rows=(
        Row(Text(en="loss (nats)", ko="손실 (nat)"), zero=True),
        Row(Text(en="next token right", ko="다음 토큰 정확도"), format=".0%"),
    ),
    series=(
        Series("loss", Text(en="loss", ko="손실"), "ink", "sft"),
        Series("mean_token_accuracy", Text(en="next token right", ko="다음 토큰 정확도"), "green", "sft", row=1),
    ),
)
