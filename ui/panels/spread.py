"""Spread: how far rewards differ, and how many groups do not differ at all."""

from backend.text import Text
from ui.panels import Panel, Row, Series

PANEL = Panel(
    id="spread",
    title=Text(en="Reward spread", ko="보상 분산"),
    help=Text(
        en="reward_std is taken over the whole batch. frac_reward_zero_std is the share of completions in tied groups "
        'as TRL logs it. It can miss them: with scale_rewards "batch" it looks at the whole batch, and a group tied at '
        "a total such as 1.2 keeps a tiny standard deviation by rounding, which TRL does not count as zero. The dashed "
        "line is recomputed from the recorded groups.",
        ko="reward_std는 배치 전체의 표준편차입니다. "
        "frac_reward_zero_std는 TRL이 기록한, 보상이 모두 같은 그룹의 비율입니다. 놓치는 경우가 있습니다. "
        'scale_rewards가 "batch"이면 배치 전체를 기준으로 하고, '
        "총보상이 1.2처럼 딱 떨어지지 않으면 반올림으로 아주 작은 표준편차가 남아 TRL이 0으로 세지 않습니다. "
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
