"""Reward: the total, and each function on its own."""

from backend.text import Text
from ui.panels import Panel, Row, Series

PANEL = Panel(
    id="reward",
    title=Text(en="Reward", ko="보상"),
    help=Text(
        en="Mean over the completions of a step, before any scaling. Hollow points are evaluations on held-out rows.",
        ko="한 스텝의 답변들에 대한 평균(스케일링 이전). 속이 빈 점은 따로 떼어 둔 데이터에 대한 평가입니다.",
    ),
    order=10,
    wide=True,
    rows=(Row(Text(en="mean reward", ko="평균 보상")),),
    series=(
        Series("rewards/*/mean", Text(en="{0}", ko="{0}"), "reward", width=1.4),
        Series("reward", Text(en="total", ko="합계"), "ink", width=2.2),
        Series("eval_rewards/*/mean", Text(en="{0}, evaluation", ko="{0} 평가"), "reward", "eval", "points"),
        Series("eval_reward", Text(en="total, evaluation", ko="합계 평가"), "ink", "eval", "points"),
        # Made by the page out of the evaluations before and after: mean reward of greedy completions.
        Series("evaluation/mean_reward", Text(en="held out, greedy", ko="평가 행, greedy"), "ink", "eval", "points"),
    ),
)
