"""Where a step's time goes."""

from backend.text import Text
from ui.panels import Panel, Row, Series

PANEL = Panel(
    id="timing",
    title=Text(en="Time a step", ko="스텝 시간"),
    help=Text(
        en="Seconds spent on generating completions, scoring them, and updating the weights.",
        ko="답변 생성, 채점, 가중치 갱신에 걸린 시간(초)입니다.",
    ),
    order=70,
    rows=(Row(Text(en="seconds", ko="초"), zero=True),),
    series=(
        Series("time/generate", Text(en="generate", ko="생성"), "sky", role="stack"),
        Series("time/reward", Text(en="score", ko="채점"), "orange", role="stack"),
        Series("time/update", Text(en="update", ko="갱신"), "purple", role="stack"),
    ),
)
