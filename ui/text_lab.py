"""What the Reward Lab says. Keys ending in `_1` are the form for one; `{n}` and its kin are filled in by the page."""

from __future__ import annotations

from backend.text import Text

TEXTS: dict[str, Text] = {
    "lab.title": Text("Reward Lab", "보상 실험실"),
    "lab.lead": Text(
        "Try rewards and rows here before a GPU hour is spent.",
        "GPU 시간을 쓰기 전에 보상과 데이터를 여기서 시험해 보세요.",
    ),
    "lab.nav": Text("Sections of the Reward Lab", "보상 실험실의 항목"),
    "lab.nav_score": Text("Score", "채점"),
    "lab.nav_audit": Text("Audit", "점검"),
    "lab.nav_advantages": Text("Advantages", "어드밴티지"),
    "lab.nav_probe": Text("Probe", "탐색"),
    "lab.nav_replay": Text("Replay", "재채점"),
    "lab.nav_custom": Text("Custom rewards", "사용자 보상"),
    "lab.custom_failed": Text(
        "The editor for custom rewards could not be loaded.", "사용자 보상 편집기를 불러오지 못했습니다."
    ),
    # Set-up
    "lab.setup": Text("Set-up of the bench", "실험 설정"),
    "lab.rewards": Text("Rewards", "보상"),
    "lab.rewards_none": Text("Choose at least one reward.", "보상을 하나 이상 고르세요."),
    "lab.add_reward": Text("Add a reward…", "보상 추가…"),
    "lab.built_in": Text("Built in", "기본 제공"),
    "lab.own": Text("Your own", "사용자 보상"),
    "lab.weight": Text("weight", "가중치"),
    "lab.weight_of": Text("Weight of {name}", "{name} 가중치"),
    "lab.remove_reward": Text("Remove {name}", "{name} 빼기"),
    "lab.reward_unknown": Text("no such reward", "없는 보상"),
    "lab.custom_version": Text("your own, version {version}", "사용자 보상, 버전 {version}"),
    "lab.arguments": Text("{n} arguments", "인자 {n}개"),
    "lab.arguments_1": Text("1 argument", "인자 1개"),
    "lab.rows_title": Text("Rows", "데이터"),
    "lab.dataset": Text("Dataset or file", "데이터셋 또는 파일"),
    "lab.rows": Text("How many rows", "행 수"),
    "lab.n_rows": Text("{n} rows", "{n}행"),
    "lab.n_rows_1": Text("1 row", "1행"),
    "lab.dataset_args": Text("Arguments of the dataset", "데이터셋 인자"),
    "lab.to_data": Text("Import or make a set", "데이터셋 가져오기·만들기"),
    "lab.suits": Text("Use the rewards it was made for: {names}", "이 데이터에 맞는 보상 쓰기: {names}"),
    "lab.set_stored": Text("A stored set of {rows} rows.", "저장된 데이터셋, {rows}행."),
    "lab.set_built_in": Text("Built in; its rows are made here.", "기본 제공 데이터셋. 행은 여기서 만듭니다."),
    "lab.set_file": Text("Read from the file {path} on this machine.", "이 컴퓨터의 파일 {path}에서 읽습니다."),
    "lab.set_other": Text(
        "Not stored here: a name on the hub, or none.", "여기에 저장되지 않은 이름입니다(허브 이름일 수 있음)."
    ),
    "lab.start_here": Text("New run from here", "이대로 새 실행 만들기"),
    "lab.handed": Text(
        "Rewards and rows are as they stand on the bench ({n} settings).",
        "보상과 데이터를 실험실에 있는 그대로 옮겼습니다(설정 {n}개).",
    ),
    "lab.take_draft": Text("Take from New run", "새 실행에서 가져오기"),
    "lab.take_draft_title": Text(
        "Rewards and dataset as they stand on the New run page", "새 실행 페이지에 있는 보상과 데이터셋"
    ),
    # Shared
    "lab.verdict_pass": Text("pass", "통과"),
    "lab.verdict_warn": Text("warn", "주의"),
    "lab.verdict_fail": Text("fail", "실패"),
    "lab.verdict_skip": Text("not tried", "해당 없음"),
    "lab.empty_text": Text("(empty)", "(빈 텍스트)"),
    "lab.more": Text("more", "더 보기"),
    "lab.less": Text("less", "접기"),
    "lab.mean_of": Text("mean {mean} over {n}", "{n}개 평균 {mean}"),
    "lab.without_score": Text("{n} without a score", "점수 없음 {n}개"),
    "lab.without_score_1": Text("1 without a score", "점수 없음 1개"),
    "lab.no_scores": Text("No score", "점수 없음"),
    "lab.choose_run": Text("Choose a run", "실행 선택"),
    "lab.no_run": Text("No run with completions yet", "답변이 있는 실행이 아직 없습니다"),
    "lab.stop": Text("Stop", "멈추기"),
    "lab.interval": Text("{low} to {high}", "{low}~{high}"),
    "lab.row": Text("row {n}", "{n}행"),
    "lab.truth": Text("ground truth", "정답"),
    "lab.no_truth": Text("none", "없음"),
    "lab.total": Text("total", "합계"),
    # Score
    "lab.completions": Text("Completions", "답변"),
    "lab.source_made": Text("made here", "자동 생성"),
    "lab.source_own": Text("your own", "직접 입력"),
    "lab.source_run": Text("from a run", "실행에서"),
    "lab.source_made_lead": Text(
        "Each row's ground truth in the format that the rewards ask for. Edit any text: it is scored again.",
        "행마다 정답을 보상이 요구하는 형식으로 적은 답변입니다. 고치면 바로 다시 채점합니다.",
    ),
    "lab.source_made_some": Text(
        "{n} of {all} rows have no ground truth that these rewards could be given an answer from: type one.",
        "{all}행 중 {n}행은 이 보상에 맞는 답변을 만들 정답이 없습니다. 직접 입력하세요.",
    ),
    "lab.source_made_some_1": Text(
        "1 of {all} rows has no ground truth that these rewards could be given an answer from: type one.",
        "{all}행 중 1행은 이 보상에 맞는 답변을 만들 정답이 없습니다. 직접 입력하세요.",
    ),
    "lab.source_own_lead": Text(
        "Type or paste a completion for each row. They stay in this browser.",
        "행마다 답변을 입력하거나 붙여 넣으세요. 이 브라우저에 남습니다.",
    ),
    "lab.source_run_lead": Text(
        "The newest groups of a run. Rewards that need other columns than the ground truth have no score here.",
        "실행의 최근 그룹입니다. 정답 말고 다른 열이 필요한 보상은 여기서 점수가 없습니다.",
    ),
    "lab.pick_run": Text("Choose a run to see its completions scored.", "실행을 고르면 그 답변을 채점합니다."),
    "lab.no_rows": Text("No rows.", "행이 없습니다."),
    "lab.head_completion": Text("completion", "답변"),
    "lab.head_verdicts": Text("reward, score, what was read, why", "보상, 점수, 읽은 값, 이유"),
    "lab.head_total": Text("total", "합계"),
    "lab.text_here": Text("Type a completion", "답변 입력"),
    "lab.completion_of": Text("Completion for row {n}", "{n}행의 답변"),
    "lab.add_completion": Text("+ completion", "+ 답변"),
    "lab.remove_completion": Text("Remove this completion", "이 답변 빼기"),
    "lab.hidden_characters": Text("holds characters that cannot be seen: {what}", "보이지 않는 문자가 있음: {what}"),
    "lab.extracted": Text("What the reward read as the answer", "보상이 답으로 읽은 부분"),
    "lab.reward_raised": Text("the reward failed", "보상 오류"),
    "lab.n_completions": Text("{n} completions", "답변 {n}개"),
    "lab.n_completions_1": Text("1 completion", "답변 1개"),
    "lab.paste": Text("Paste several", "여러 개 붙여 넣기"),
    "lab.paste_use": Text("Use these", "이 답변 쓰기"),
    "lab.paste_how": Text(
        "A completion a line; or texts of several lines with --- between them; or JSON lines with completion, "
        "ground_truth, prompt.",
        "한 줄에 답변 하나. 여러 줄짜리는 --- 줄로 나누세요. completion, ground_truth, prompt가 있는 JSON 줄도 됩니다.",
    ),
    # Conflicts
    "lab.conflicts": Text("Do the rewards pull against each other?", "보상끼리 서로 반대로 당기나요?"),
    "lab.conflicts_lead": Text(
        "Correlation inside groups: only what differs inside a group is learnt.",
        "그룹 안의 상관입니다. 그룹 안에서 달라지는 것만 학습되기 때문입니다.",
    ),
    "lab.conflict_one": Text("There is only one reward.", "보상이 하나뿐입니다."),
    "lab.conflict_groups": Text(
        "Groups with two or more completions are needed.", "답변이 둘 이상인 그룹이 필요합니다."
    ),
    "lab.conflict_against": Text("against each other", "서로 반대"),
    "lab.conflict_fine": Text("fine", "문제 없음"),
    "lab.conflict_unclear": Text("too little to tell", "판단 보류"),
    "lab.conflict_constant": Text("nothing to compare", "비교 불가"),
    "lab.conflict_interval": Text(
        "{r} inside groups, 95% interval {low} to {high}, {groups} groups",
        "그룹 안 상관 {r}, 95% 구간 {low}~{high}, 그룹 {groups}개",
    ),
    # Audit
    "lab.audit_lead": Text(
        "Every reward is given answers whose score is known beforehand: right, equal in another spelling, wrong, "
        "empty, far too long.",
        "점수를 미리 아는 답변(정답, 표기만 다른 정답, 오답, 빈 답변, 지나치게 긴 답변)으로 보상을 하나씩 시험합니다.",
    ),
    "lab.audit_run": Text("Run the audit", "점검 시작"),
    "lab.audit_progress_label": Text("Progress of the audit", "점검 진행률"),
    "lab.audit_begins": Text("Reading the rows…", "데이터를 읽는 중…"),
    "lab.audit_at": Text("Trying {what}", "시험 중: {what}"),
    "lab.audit_took": Text("{rows} rows, {time} s", "{rows}행, {time}초"),
    "lab.audit_together": Text("All rewards together", "보상 전체"),
    "lab.audit_format": Text("Answers are written as: {format}.", "답변 형식: {format}."),
    "lab.audit_old": Text("The bench has changed since this audit.", "점검한 뒤 설정이 바뀌었습니다."),
    "lab.audit_pass": Text("Nothing speaks against these rewards: {n} checks passed.", "문제 없음: {n}개 항목 통과."),
    "lab.audit_pass_1": Text("Nothing speaks against these rewards: 1 check passed.", "문제 없음: 1개 항목 통과."),
    "lab.audit_warn": Text("{n} things to look at before a run.", "실행 전에 살펴볼 것이 {n}개 있습니다."),
    "lab.audit_warn_1": Text("1 thing to look at before a run.", "실행 전에 살펴볼 것이 1개 있습니다."),
    "lab.audit_fail": Text("{n} checks fail. Mend them before a run.", "{n}개 항목 실패. 실행 전에 고치세요."),
    "lab.audit_fail_1": Text("1 check fails. Mend it before a run.", "1개 항목 실패. 실행 전에 고치세요."),
    "lab.audit_skip": Text("Nothing could be checked on these rows.", "이 데이터로는 점검할 것이 없습니다."),
    "lab.audit_rest": Text("{n} other checks", "다른 항목 {n}개"),
    "lab.audit_rest_1": Text("1 other check", "다른 항목 1개"),
    "lab.audit_all": Text("{n} checks", "항목 {n}개"),
    "lab.audit_all_1": Text("1 check", "항목 1개"),
    "lab.examples": Text("{n} texts", "텍스트 {n}개"),
    "lab.examples_1": Text("the text", "텍스트 1개"),
    "lab.scored": Text("scored", "점수"),
    "lab.expected": Text("expected", "기대값"),
}
