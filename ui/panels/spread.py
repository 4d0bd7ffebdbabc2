"""Spread: how far rewards differ, and how many groups do not differ at all."""

from backend.text import Text
from ui.panels import Panel, Row, Series

PANEL = Panel(
    id="spread",
    title=Text(en="Reward spread", ko="보상 분산"),
    help=Text(
        en="reward_std is taken over the whole batch. frac_reward_zero_std is the share of completions in groups "
        'without spread as TRL logs it: with scale_rewards other than "group" it looks at the whole batch and sees '
        "no tied group. The dashed line is recomputed from the recorded groups.",
        ko="reward_std는 배치 전체의 표준편차입니다. "
        "frac_reward_zero_std는 TRL이 기록한, 보상이 모두 같은 그룹의 비율인데 "
        'scale_rewards가 "group"이 아니면 배치 전체를 기준으로 해서 동점 그룹을 보지 못합니다. '
        "점선은 기록된 그룹에서 다시 계산한 값입니다.",
    ),
    order=30,
    rows=(
        Row(Text(en="reward_std", ko="reward_std"), zero=True),
        Row(Text(en="zero-std groups", ko="표준편차 0인 그룹"), format=".0%", range=(-0.02, 1.02)),
    ),
    series=(
        Series("reward_std", Text(en="reward_std", ko="reward_std"), "ink"),
        Series("frac_reward_zero_std", Text(en="frac_reward_zero_std", ko="frac_reward_zero_std"), "vermillion", row=1),
        Series("signal/zero_std", Text(en="recomputed", ko="다시 계산"), "muted", row=1, dash="dot", smooth=False),
    ),
)
