"""Tokens so far, and completions a second."""

from backend.text import Text
from ui.panels import Panel, Row, Series

PANEL = Panel(
    id="tokens",
    title=Text(en="Tokens and throughput", ko="토큰과 처리량"),
    order=90,
    rows=(
        Row(Text(en="tokens so far", ko="누적 토큰"), format=".3~s", zero=True),
        Row(Text(en="completions a second", ko="초당 답변 수"), zero=True),
    ),
    series=(
        Series("num_tokens", Text(en="tokens", ko="토큰"), "ink", smooth=False),
        Series("completions_per_s", Text(en="completions a second", ko="초당 답변 수"), "green", row=1),
    ),
)
