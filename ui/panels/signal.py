"""Signal: GRPO learns only from live groups, and the three ways to die ask for three different cures."""

from backend.text import Text
from ui.panels import Panel, Row, Series

PANEL = Panel(
    id="signal",
    title=Text(en="Signal: share of groups", ko="신호: 그룹 비율"),
    help=Text(
        en="Only a live group (its rewards differ) has an advantage to learn from. All right: the task is too easy. "
        "All wrong: too hard. Tied: between the two, and the reward cannot tell them apart.",
        ko="보상이 서로 다른 '살아 있는' 그룹만 학습 신호(어드밴티지)를 줍니다. 모두 맞음은 문제가 너무 쉽다는 뜻, "
        "모두 틀림은 너무 어렵다는 뜻, 동점은 그 중간에서 보상이 답변을 구별하지 못한다는 뜻입니다.",
    ),
    order=20,
    rows=(Row(Text(en="share of groups", ko="그룹 비율"), format=".0%", range=(0.0, 1.0)),),
    series=(
        Series("signal/live", Text(en="live", ko="살아 있음"), "green", role="stack"),
        Series("signal/tied", Text(en="tied", ko="동점"), "grey", role="stack"),
        Series("signal/all_right", Text(en="all right", ko="모두 맞음"), "sky", role="stack"),
        Series("signal/all_wrong", Text(en="all wrong", ko="모두 틀림"), "vermillion", role="stack"),
    ),
)
