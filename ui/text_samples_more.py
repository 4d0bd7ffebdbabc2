"""What the views beside the list of samples say: prompts, the signal budget, plots, export."""

from __future__ import annotations

from backend.text import Text

TEXTS: dict[str, Text] = {
    "smore.none": Text(
        "No completions yet. They are stored with each step of GRPO.",
        "아직 답변이 없습니다. 답변은 GRPO 스텝마다 저장됩니다.",
    ),
    "smore.more": Text("Show more", "더 보기"),
    # Prompts
    "smore.prompts": Text("Prompts of this run", "이 실행의 프롬프트"),
    "smore.prompts_of": Text("{n} of {of} prompts", "프롬프트 {of}개 중 {n}개"),
    "smore.prompts_unjudged": Text(
        "{n} of {of} prompts. No reward of this run decides whether an answer is right, so there is no solve rate.",
        "프롬프트 {of}개 중 {n}개. 이 실행에는 정답을 판정하는 보상이 없어 정답률이 없습니다.",
    ),
    "smore.sort": Text("Order", "정렬"),
    "smore.sort_forgotten": Text("solved and then forgotten first", "풀었다가 잊은 것부터"),
    "smore.sort_first": Text("first asked", "처음 나온 순서"),
    "smore.sort_times": Text("times asked", "출제 횟수"),
    "smore.sort_solve_first": Text("solve rate at first", "처음 정답률"),
    "smore.sort_solve_last": Text("solve rate at last", "마지막 정답률"),
    "smore.turn": Text("Descending", "내림차순"),
    "smore.times": Text("asked", "출제 횟수"),
    "smore.steps": Text("steps", "스텝"),
    "smore.solved": Text("solve rate", "정답률"),
    "smore.forgotten": Text("forgotten", "잊음"),
    # One prompt
    "smore.back": Text("← All prompts", "← 프롬프트 목록"),
    "smore.all_samples": Text("All its completions", "이 프롬프트의 모든 답변"),
    "smore.biography_chart": Text("Solve rate at each asking", "출제별 정답률"),
    "smore.biography_click": Text(
        "A click on a point opens that group. The shape says what the group could teach.",
        "점을 누르면 그 그룹이 열립니다. 모양은 그룹이 무엇을 가르칠 수 있었는지를 나타냅니다.",
    ),
    "smore.state_solved": Text("solved", "풀었음"),
    "smore.state_forgotten": Text("forgotten", "잊음"),
    "smore.state_partly": Text("partly solved", "일부만 풀었음"),
    "smore.state_never": Text("not solved", "못 풀었음"),
    "smore.state_lost": Text("not solved", "못 풀었음"),
    "smore.state_unknown": Text("not judged", "판정 없음"),
    "smore.first": Text("First asked, step {step}", "첫 출제, 스텝 {step}"),
    "smore.latest": Text("Latest, step {step}", "가장 최근, 스텝 {step}"),
    "smore.only": Text("Asked once, step {step}", "1회 출제, 스텝 {step}"),
    "smore.open_group": Text("All {n} completions", "답변 {n}개 모두 보기"),
    "smore.best_answer": Text(
        "best of the group: total {total}, {tokens} tokens", "그룹의 최고 답변: 총 보상 {total}, 토큰 {tokens}개"
    ),
    "smore.an_answer": Text(
        "one of the group, all the same total: {total}, {tokens} tokens",
        "총 보상이 모두 같은 그룹의 답변 하나: 총 보상 {total}, 토큰 {tokens}개",
    ),
    "smore.right_of": Text("{n} of {of} right", "정답 {n}/{of}"),
    "smore.dropped": Text("The text was dropped by retention.", "보존 한도로 본문이 지워졌습니다."),
    "smore.askings": Text("Every asking", "전체 출제 기록"),
    "smore.total_range": Text("total reward, low … high", "총 보상, 최저 … 최고"),
    "smore.highest": Text("highest total reward", "최고 총 보상"),
    "smore.kind": Text("group", "그룹"),
    "smore.kind_live": Text("live", "살아 있음"),
    "smore.kind_all_right": Text("all right", "모두 정답"),
    "smore.kind_all_wrong": Text("all wrong", "모두 오답"),
    "smore.kind_tied": Text("tied", "동점"),
    # Budget
    "smore.budget_chart": Text("Tokens or seconds by what they taught", "학습 기여별 토큰 또는 시간"),
    "smore.budget_by_step": Text("By step", "스텝별"),
    "smore.budget_total": Text("In total", "전체"),
    "smore.budget_click": Text("A click opens the samples of that step.", "막대를 누르면 그 스텝의 샘플이 열립니다."),
    "smore.unit": Text("Of", "단위"),
    "smore.unit_tokens": Text("tokens", "토큰"),
    "smore.unit_seconds": Text("time", "시간"),
    "smore.scale": Text("As", "표시"),
    "smore.scale_share": Text("share", "비율"),
    "smore.scale_amount": Text("amount", "양"),
    "smore.share": Text("share", "비율"),
    "smore.part": Text("went to", "쓰인 곳"),
    "smore.means": Text("taught", "학습 기여"),
    "smore.all": Text("all", "합계"),
    "smore.teaches": Text("✓ yes", "✓ 기여함"),
    "smore.teaches_not": Text("× nothing", "× 기여 없음"),
    "smore.part_live": Text("live groups", "살아 있는 그룹"),
    "smore.part_live_cut": Text("cut off, in live groups", "살아 있는 그룹의 잘린 답변"),
    "smore.part_cut": Text("cut off", "잘림"),
    "smore.part_all_right": Text("dead: all right", "죽음: 모두 정답"),
    "smore.part_all_wrong": Text("dead: all wrong", "죽음: 모두 오답"),
    "smore.part_tied": Text("dead: tied in between", "죽음: 중간 동점"),
    "smore.part_redone": Text("sampled again after a resume", "재개 후 다시 생성"),
    "smore.part_unused": Text("sampled, never used", "생성 후 미사용"),
    "smore.part_live_help": Text("their totals differ", "총 보상이 서로 다름"),
    "smore.part_live_cut_help": Text("reached the length limit", "길이 한도에 걸림"),
    "smore.part_all_right_help": Text("all at the highest total", "모두 최고 총 보상"),
    "smore.part_all_wrong_help": Text("all at the lowest total", "모두 최저 총 보상"),
    "smore.part_tied_help": Text("the same total in between", "중간 값에서 총 보상이 같음"),
    "smore.part_redone_help": Text("taken back by a resume", "재개하면서 취소됨"),
    "smore.part_unused_help": Text("the run ended before", "쓰기 전에 실행이 끝남"),
    "smore.cut_of": Text(
        "{n} of {of} completions were cut off ({tokens} tokens)", "답변 {of}개 중 {n}개가 잘렸습니다(토큰 {tokens}개)"
    ),
    "smore.budget_how": Text(
        "Each token is counted once. Time is the sampling of a step (time/generate), given to its completions by their "
        "tokens. Completions that num_iterations uses several times were sampled once.",
        "토큰은 한 번씩만 셉니다. 시간은 스텝의 생성 시간(time/generate)을 답변의 토큰 수에 따라 나눈 것입니다. "
        "num_iterations로 여러 번 쓰인 답변도 생성은 한 번입니다.",
    ),
    # Plots
    "smore.advantage": Text("Advantages by step", "스텝별 어드밴티지"),
    "smore.advantage_help": Text(
        "The stronger the colour, the more completions (square-root scale). As rewards rise groups tie, and "
        "advantages gather at 0. A click opens the samples of those steps.",
        "색이 뚜렷할수록 답변이 많습니다(제곱근 척도). 보상이 오르면 동점 그룹이 늘어 어드밴티지가 0에 모입니다. "
        "누르면 그 스텝의 샘플이 열립니다.",
    ),
    "smore.spread": Text("standard deviation", "표준편차"),
    "smore.scatter": Text("Total reward against …", "총 보상과의 관계"),
    "smore.against": Text("Against", "비교 대상"),
    "smore.x_tokens": Text("length (tokens)", "길이(토큰)"),
    "smore.x_correct": Text("right or wrong", "정답 여부"),
    "smore.right": Text("right", "정답"),
    "smore.wrong": Text("wrong", "오답"),
    "smore.total": Text("total reward", "총 보상"),
    "smore.ended": Text("ended by itself", "스스로 끝남"),
    "smore.drawn_all": Text("{n} completions. A click opens one.", "답변 {n}개. 점을 누르면 열립니다."),
    "smore.drawn_part": Text(
        "{n} of {of} completions are drawn. A click opens one.",
        "답변 {of}개 중 {n}개를 그렸습니다. 점을 누르면 열립니다.",
    ),
    "smore.drawn_some": Text(
        "{n} of {of} completions are drawn, those an even choice over the steps. A click opens one.",
        "스텝 전체에서 고르게 뽑은 답변 {of}개 중 {n}개를 그렸습니다. 점을 누르면 열립니다.",
    ),
    "smore.scatter_help": Text(
        "The correlation is within live groups, so that easy and hard prompts play no part. Scores of few values are "
        "spread a little.",
        "상관은 살아 있는 그룹 안에서 계산하므로 프롬프트의 난이도는 영향을 주지 않습니다. "
        "값의 종류가 적으면 점을 조금 흩어 그립니다.",
    ),
    # Export
    "smore.export": Text("Export", "내보내기"),
    "smore.export_completions": Text("What the filter finds", "조건에 맞는 답변"),
    "smore.export_completions_help": Text(
        "JSONL is exact; CSV is safe to open in a spreadsheet.",
        "JSONL은 원문 그대로이고, CSV는 스프레드시트에서 안전하게 열립니다.",
    ),
    "smore.export_wrong": Text("Wrong answers", "오답"),
    "smore.export_wrong_help": Text(
        "Of training and of the run's evaluations.", "학습과 이 실행의 평가에서 나온 오답입니다."
    ),
    "smore.export_best": Text("Best answers (SFT)", "최고 답변 (SFT)"),
    "smore.export_best_help": Text(
        "One a prompt: the best of its live groups, unless it is wrong or was cut off. For SFTTrainer.",
        "프롬프트마다 하나: 살아 있는 그룹의 최고 답변. 오답이거나 잘린 답변은 뺍니다. SFTTrainer용.",
    ),
    "smore.export_pairs": Text("Best and worst (DPO)", "최고와 최저 (DPO)"),
    "smore.export_pairs_help": Text(
        "One a live group; ties are left out. For DPOTrainer.",
        "살아 있는 그룹마다 하나. 동점은 뺍니다. DPOTrainer용.",
    ),
}
