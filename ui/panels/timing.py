"""Where a step's time goes, and what comes of it."""

from backend.text import Text
from ui.panels import Panel, Row, Series

PANEL = Panel(
    id="timing",
    title=Text(en="Time a step, throughput", ko="스텝 시간과 처리량"),
    help=Text(
        en="Seconds spent on generating completions, scoring them, and updating the weights.",
        ko="답변 생성, 채점, 가중치 갱신에 걸린 시간(초)입니다.",
    ),
    order=70,
    rows=(
        Row(Text(en="seconds", ko="초"), zero=True),
        Row(Text(en="completions a second", ko="초당 답변 수"), zero=True),
    ),
    series=(
        Series("time/generate", Text(en="generate", ko="생성"), "sky", role="stack"),
        Series("time/reward", Text(en="score", ko="채점"), "orange", role="stack"),
        Series("time/update", Text(en="update", ko="갱신"), "purple", role="stack"),
        Series("completions_per_s", Text(en="completions a second", ko="초당 답변 수"), "green", row=1),
    ),
)
