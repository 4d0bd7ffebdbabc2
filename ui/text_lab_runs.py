"""What the Reward Lab says about groups and runs: advantages, probe, replay. `_1` is the form for one."""

from __future__ import annotations

from backend.text import Text

TEXTS: dict[str, Text] = {
    # Advantages
    "lab.adv_lead": Text(
        "Type the rewards of a group, or take groups from a run, and see what GRPO makes of them.",
        "그룹의 보상을 입력하거나 실행에서 가져와, GRPO가 어떤 어드밴티지를 만드는지 보세요.",
    ),
    "lab.group_size": Text("completions a group (G)", "그룹당 답변 수 (G)"),
    "lab.adv_together": Text("several rewards", "보상 합치기"),
    "lab.adv_sum_then_normalize": Text("sum, then normalise", "합한 뒤 정규화"),
    "lab.adv_normalize_then_sum": Text("normalise, then sum (GDPO)", "정규화한 뒤 합 (GDPO)"),
    "lab.adv_from_run": Text("from a run", "실행에서"),
    "lab.step": Text("Step", "스텝"),
    "lab.step_latest": Text("newest", "최근"),
    "lab.no_groups": Text("This run has no groups at that step.", "이 실행에는 그 스텝의 그룹이 없습니다."),
    "lab.adv_column": Text("+ reward", "+ 보상"),
    "lab.adv_group": Text("+ group", "+ 그룹"),
    "lab.adv_less": Text("− group", "− 그룹"),
    "lab.adv_example": Text("Example", "예제"),
    "lab.adv_paste": Text(
        "Several numbers can be pasted into a cell. An empty cell is not scored.",
        "칸에 숫자 여러 개를 붙여 넣을 수 있습니다. 빈칸은 점수 없음입니다.",
    ),
    "lab.adv_number": Text("no.", "번호"),
    "lab.adv_cell": Text("{name}, completion {n}", "{name}, 답변 {n}"),
    "lab.scale_group": Text("÷ group std", "÷ 그룹 표준편차"),
    "lab.scale_batch": Text("÷ batch std", "÷ 배치 표준편차"),
    "lab.scale_none": Text("not divided", "나누지 않음"),
    "lab.scale_gdpo": Text("GDPO (÷ batch std of the sums)", "GDPO (합의 배치 표준편차로 나눔)"),
    "lab.adv_facts": Text("Group {n}: mean {mean}, std {std}", "그룹 {n}: 평균 {mean}, 표준편차 {std}"),
    "lab.adv_all_equal": Text(
        "all equal: every advantage is 0 and nothing is learnt", "모두 같음: 어드밴티지가 0이라 배울 것이 없음"
    ),
    "lab.adv_unscored": Text("no score at all: nothing is learnt", "점수가 하나도 없음: 배울 것이 없음"),
    "lab.adv_dead": Text(
        "{n} of {all} groups are dead ({share}).", "그룹 {all}개 중 {n}개에는 학습 신호가 없습니다({share})."
    ),
    "lab.adv_dead_1": Text(
        "1 of {all} groups is dead ({share}).", "그룹 {all}개 중 1개에는 학습 신호가 없습니다({share})."
    ),
    "lab.adv_batch": Text("Standard deviation of the batch: {std}.", "배치 표준편차: {std}."),
    # Probe
    "lab.probe_lead": Text(
        "Samples the model on these rows as training would, and trains nothing. Tells whether GRPO has something to "
        "learn from.",
        "학습은 하지 않고, 학습 때와 똑같이 모델의 답변을 뽑아 GRPO가 배울 것이 있는지 미리 봅니다.",
    ),
    "lab.field_model": Text("Model", "모델"),
    "lab.field_max_completion_length": Text("Longest completion (tokens)", "최대 답변 길이(토큰)"),
    "lab.field_temperature": Text("Temperature", "온도"),
    "lab.field_probe_prompts": Text("Prompts", "프롬프트 수"),
    "lab.field_probe_completions": Text("Completions a prompt", "프롬프트당 답변 수"),
    "lab.probe_rest": Text(
        "Everything else as on New run: {preset}, {n} changed.",
        "나머지는 새 실행 페이지와 같습니다: {preset}, {n}개 변경.",
    ),
    "lab.probe_start": Text("Start probe", "탐색 시작"),
    "lab.probe_stop": Text("Stop and keep what was sampled", "멈추고 뽑은 답변 남기기"),
    "lab.to_new": Text("Mend it on New run", "새 실행에서 고치기"),
    "lab.probe_log": Text("log", "로그"),
    "lab.probe_at": Text("{n} of {all} prompts", "프롬프트 {all}개 중 {n}개"),
    "lab.probe_waiting": Text("The report grows as prompts are sampled.", "답변을 뽑는 대로 보고서가 채워집니다."),
    "lab.probe_nothing": Text("This probe sampled nothing.", "이 탐색에서는 뽑은 답변이 없습니다."),
    "lab.probe_so_far": Text("So far, over {n} prompts.", "지금까지 프롬프트 {n}개 기준."),
    "lab.probe_earlier": Text("Earlier probes", "지난 탐색"),
    "lab.probe_none": Text("None yet.", "아직 없습니다."),
    "lab.n_prompts": Text("{n} prompts", "프롬프트 {n}개"),
    "lab.n_prompts_1": Text("1 prompt", "프롬프트 1개"),
    "lab.advice_go": Text("go", "진행"),
    "lab.advice_filter": Text("filter", "거르기"),
    "lab.advice_warm_up": Text("warm up first", "먼저 워밍업"),
    "lab.advice_mend": Text("mend first", "먼저 고치기"),
    "lab.unscored": Text(
        "{share} of the completions have no score from any reward.",
        "답변의 {share}는 어떤 보상에서도 점수를 받지 못했습니다.",
    ),
    "lab.fact_accuracy": Text("right answers", "정답률"),
    "lab.fact_reward": Text("mean reward", "평균 보상"),
    "lab.fact_truncated": Text("cut off", "잘림"),
    "lab.fact_tagged": Text("with an answer tag", "답 태그 있음"),
    "lab.fact_tokens": Text("tokens a completion", "답변당 토큰"),
    "lab.fact_seconds": Text("seconds a step, expected", "스텝당 예상 시간(초)"),
    "lab.fact_sampling_only": Text("sampling only", "답변 생성만"),
    "lab.pass_rate": Text("Prompts by pass rate", "정답률별 프롬프트 수"),
    "lab.pass_rate_lead": Text(
        "{n} prompts, {k} completions each; right is what {task} gives its maximum.",
        "프롬프트 {n}개, 각 답변 {k}개. {task}가 최고점을 준 답변이 정답입니다.",
    ),
    "lab.band": Text(
        "{n} of {all} prompts are between {low} and {high}: the learnable band.",
        "프롬프트 {all}개 중 {n}개가 {low}~{high} 사이, 즉 학습 가능 구간에 있습니다.",
    ),
    "lab.band_1": Text(
        "1 of {all} prompts is between {low} and {high}: the learnable band.",
        "프롬프트 {all}개 중 1개가 {low}~{high} 사이, 즉 학습 가능 구간에 있습니다.",
    ),
    "lab.dead": Text("Dead groups to expect", "학습 신호가 없을 그룹 (dead groups)"),
    "lab.dead_lead": Text(
        "Share of groups whose rewards would all be equal, by group size; the thin line is the 95% interval.",
        "그룹 안의 보상이 모두 같아질 비율을 그룹 크기별로 추정했습니다. 가는 선은 95% 구간입니다.",
    ),
    "lab.dead_unknown": Text("cannot be told from this probe", "이 탐색으로는 알 수 없음"),
    "lab.this_run": Text("this setting", "현재 설정"),
    "lab.filter": Text("Keep these {n} prompts as a set", "이 프롬프트 {n}개만 데이터셋으로 남기기"),
    "lab.filter_1": Text("Keep this 1 prompt as a set", "이 프롬프트 1개만 데이터셋으로 남기기"),
    "lab.filter_as": Text("named", "이름"),
    "lab.filter_name": Text("Name of the filtered set", "거른 데이터셋의 이름"),
    "lab.filtered": Text("Stored and chosen above: {name}", "저장하고 위에서 선택함: {name}"),
    # Replay
    "lab.replay_lead": Text(
        "Scores the stored completions of a run again with the rewards above. No GPU, and the run stays as it is.",
        "실행에 저장된 답변을 위의 보상으로 다시 채점합니다. GPU가 필요 없고 실행은 그대로입니다.",
    ),
    "lab.replay_run": Text("Score again", "다시 채점"),
    "lab.replay_scale": Text("advantages", "어드밴티지"),
    "lab.replay_scaled": Text("Advantages {how}.", "어드밴티지: {how}."),
    "lab.scale_own": Text("as in the run", "실행과 같게"),
    "lab.replay_busy": Text("Scoring…", "채점하는 중…"),
    "lab.replay_old": Text("The bench has changed since.", "그 뒤로 설정이 바뀌었습니다."),
    "lab.replay_nothing": Text("This run has no stored completions.", "이 실행에는 저장된 답변이 없습니다."),
    "lab.replay_all": Text(
        "All groups of the run: {groups}, with {completions} completions.",
        "실행의 모든 그룹: {groups}개, 답변 {completions}개.",
    ),
    "lab.replay_some": Text(
        "{groups} of {of} groups, spread over the run; {completions} completions.",
        "실행 전체에서 고르게 고른 그룹 {groups}개({of}개 중), 답변 {completions}개.",
    ),
    "lab.replay_top": Text(
        "Another completion is the best in {top} of {n} live groups.",
        "신호 있는 그룹 {n}개 중 {top}에서 1등 답변이 바뀝니다.",
    ),
    "lab.replay_rank": Text(
        "Rank correlation of the totals inside groups: {rank}.", "그룹 안 합계의 순위 상관: {rank}."
    ),
    "lab.before_after": Text("Before and after", "전과 후"),
    "lab.before": Text("as it ran", "실행 당시"),
    "lab.after": Text("with these rewards", "이 보상으로"),
    "lab.change": Text("change", "변화"),
    "lab.total_mean": Text("mean total", "합계 평균"),
    "lab.dead_groups": Text("dead groups", "신호 없는 그룹 (dead)"),
    "lab.spread": Text("mean size of an advantage", "어드밴티지 크기의 평균"),
    "lab.mean_reward_of": Text("mean of {name}", "{name} 평균"),
    "lab.points": Text("{n} pp", "{n}%p"),
    "lab.advantage_of": Text("advantage {n}", "어드밴티지 {n}"),
    "lab.signal": Text("Signal: share of groups", "신호: 그룹 비율"),
    "lab.part_live": Text("live", "신호 있음"),
    "lab.part_all_right": Text("all at the highest total", "모두 최고 합계"),
    "lab.part_all_wrong": Text("all at the lowest total", "모두 최저 합계"),
    "lab.part_tied": Text("tied", "동점"),
    "lab.flips": Text("What would flip", "뒤집히는 답변"),
    "lab.flips_lead": Text("The best completion of a group is another one now.", "그룹의 1등 답변이 바뀌는 예입니다."),
    "lab.flips_none": Text("None.", "없습니다."),
}
