"""Policy: how random it still is, and how far it has moved. KL and clipping only where they can say something."""

from backend.text import Text
from ui.panels import Panel, Row, Series

PANEL = Panel(
    id="policy",
    title=Text(en="Policy", ko="정책"),
    help=Text(
        en="Entropy a token, in nats, at the sampling temperature. KL to the reference a token. Clipped: the share of "
        "tokens whose ratio was cut.",
        ko="토큰당 엔트로피(nat, 샘플링 온도 기준), 기준 모델에 대한 토큰당 KL, 비율이 잘린 토큰의 비율입니다.",
    ),
    order=50,
    rows=(
        Row(Text(en="entropy (nats)", ko="엔트로피 (nat)"), zero=True),
        Row(Text(en="KL (nats)", ko="KL (nat)"), zero=True),
        Row(Text(en="clipped", ko="클리핑"), format=".1%", zero=True),
    ),
    series=(
        Series("entropy", Text(en="entropy", ko="엔트로피"), "ink"),
        Series("kl", Text(en="KL", ko="KL"), "purple", row=1),
        Series("clip_ratio/low_mean", Text(en="low", ko="아래"), "blue", row=2, inert=0.0),
        Series("clip_ratio/high_mean", Text(en="high", ko="위"), "orange", row=2, inert=0.0),
        Series("clip_ratio/region_mean", Text(en="both", ko="전체"), "muted", row=2, inert=0.0),
        Series("cispo_clip_ratio", Text(en="CISPO", ko="CISPO"), "green", row=2, inert=0.0),
    ),
)
