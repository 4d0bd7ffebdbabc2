"""Completion length in tokens, how many completions were cut off, and all tokens so far."""

from backend.text import Text
from ui.panels import Panel, Row, Series

PANEL = Panel(
    id="length",
    title=Text(en="Completion length, tokens", ko="답변 길이와 토큰"),
    help=Text(
        en="Mean, with the band from the shortest to the longest. Terminated: only completions that ended by "
        "themselves. Truncated: the share that hit max_completion_length.",
        ko="평균과 최소-최대 범위. 종료됨은 스스로 끝난 답변만의 평균이고, "
        "잘림은 max_completion_length에 걸린 비율입니다.",
    ),
    order=40,
    rows=(
        Row(Text(en="tokens a completion", ko="답변당 토큰"), zero=True),
        Row(Text(en="truncated", ko="잘림"), format=".0%", range=(-0.02, 1.02)),
        Row(Text(en="tokens so far", ko="누적 토큰"), format=".3~s", zero=True),
    ),
    series=(
        Series("completions/min_length", Text(en="min", ko="최소"), "blue", role="low"),
        Series("completions/max_length", Text(en="min to max", ko="최소-최대"), "blue", role="high"),
        Series("completions/mean_length", Text(en="mean", ko="평균"), "blue", width=2),
        Series(
            "completions/mean_terminated_length",
            Text(en="mean, terminated", ko="종료된 답변 평균"),
            "green",
            dash="dot",
        ),
        Series("completions/clipped_ratio", Text(en="truncated", ko="잘림"), "vermillion", row=1),
        Series("num_tokens", Text(en="tokens so far", ko="누적 토큰"), "ink", row=2, smooth=False),
    ),
)
