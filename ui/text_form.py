"""What the New run and Runs pages say. Keys ending in `_1` are the form for one; `{n}` and its kin are filled in
by the page."""

from __future__ import annotations

from backend.text import Text

FORM: dict[str, Text] = {
    "form.title": Text("New run", "새 실행"),
    "form.lead": Text(
        "Pick a preset and change what you like. What it will do is shown before it starts.",
        "프리셋을 고르고 필요한 값만 바꾸세요. 시작하기 전에 무엇을 하게 될지 보여 줍니다.",
    ),
    "form.loading": Text("Loading the settings…", "설정을 불러오는 중…"),
    "form.load_failed": Text("The settings could not be loaded: {why}", "설정을 불러오지 못했습니다: {why}"),
    "form.again": Text("Try again", "다시 시도"),
    "form.presets": Text("Preset", "프리셋"),
    "form.preset_changes": Text("What differs from its source ({n})", "원본과 다른 점 ({n})"),
    "form.method": Text("Method", "방법"),
    "form.method_other": Text("as set below", "아래 설정대로"),
    "form.method_lead": Text(
        "A named method sets the few values that make it: loss, clipping, scaling.",
        "이름 있는 방법을 고르면 그 방법을 이루는 손실, 클리핑, 스케일 값만 바꿉니다.",
    ),
    "form.method_laid": Text(
        "{method}: {n} settings are as the method has them.", "{method}: 설정 {n}개를 이 방법대로 맞췄습니다."
    ),
    "form.method_laid_1": Text(
        "{method}: 1 setting is as the method has it.", "{method}: 설정 1개를 이 방법대로 맞췄습니다."
    ),
    "form.source": Text("Source: {source}", "출처: {source}"),
    "form.step_model": Text("Model", "모델"),
    "form.step_model_lead": Text(
        "what learns, and which of its weights move", "무엇을 학습하고 어떤 가중치를 움직일지"
    ),
    "form.step_data": Text("Data", "데이터"),
    "form.step_data_lead": Text(
        "the prompts, and the rows held out to judge by", "프롬프트와, 평가용으로 떼어 둘 데이터"
    ),
    "form.step_rewards": Text("Rewards", "보상"),
    "form.step_rewards_lead": Text(
        "what makes one completion better than another", "어떤 답변이 더 좋은지 정하는 기준"
    ),
    "form.step_training": Text("Training", "학습"),
    "form.step_training_lead": Text("how long, how large, and how boldly", "얼마나 오래, 얼마나 크게, 얼마나 과감하게"),
    "form.search": Text("Find any setting, by plain or TRL name", "설정 찾기: 우리말 이름이나 TRL 이름"),
    "form.search_clear": Text("Clear the search", "검색 지우기"),
    "form.more": Text("More settings", "더 많은 설정"),
    "form.found": Text("{n} settings", "설정 {n}개"),
    "form.found_1": Text("1 setting", "설정 1개"),
    "form.found_none": Text("No setting has “{query}” in its name.", "이름에 “{query}”가 들어간 설정이 없습니다."),
    "form.only_changed": Text("Changed only", "바뀐 것만"),
    "form.none_changed": Text("Nothing differs from the preset.", "프리셋과 다른 값이 없습니다."),
    "form.changed": Text("{n} changed", "{n}개 변경"),
    "form.changed_1": Text("1 changed", "1개 변경"),
    "form.wrong": Text("{n} to mend", "고칠 값 {n}개"),
    "form.wrong_1": Text("1 to mend", "고칠 값 1개"),
    "form.settings": Text("{n} settings", "설정 {n}개"),
    "form.settings_1": Text("1 setting", "설정 1개"),
    "form.count_of": Text("{n} of {all} settings", "설정 {all}개 중 {n}개"),
    "form.leave_out": Text("Leave {field} out", "{field} 빼기"),
    "form.discard": Text("Discard the draft", "변경 모두 버리기"),
    "form.discarded": Text("The draft is discarded.", "변경한 값을 버렸습니다."),
    "form.switched": Text(
        "The preset is now {preset}; your {n} changes are set aside.",
        "프리셋을 {preset}(으)로 바꾸면서 변경 {n}개를 빼 두었습니다.",
    ),
    "form.switched_1": Text(
        "The preset is now {preset}; your change is set aside.",
        "프리셋을 {preset}(으)로 바꾸면서 변경 1개를 빼 두었습니다.",
    ),
    "form.handed": Text(
        "{n} settings come from another page; everything else is as you left it.",
        "다른 페이지에서 설정 {n}개를 가져왔습니다. 나머지는 그대로입니다.",
    ),
    "form.undo": Text("Bring back", "되돌리기"),
    "form.dismiss": Text("Close this message", "알림 닫기"),
    "form.reset": Text("Back to the preset’s value: {value}", "프리셋 값으로 되돌리기: {value}"),
    "form.default": Text("default {value}", "기본값 {value}"),
    "form.preset_value": Text("preset {value}", "프리셋 {value}"),
    "form.not_set": Text("not set", "지정 안 함"),
    "form.at_least": Text("at least {min}", "{min} 이상"),
    "form.at_most": Text("at most {max}", "{max} 이하"),
    "form.above": Text("above {min}", "{min} 초과"),
    "form.below": Text("below {max}", "{max} 미만"),
    "form.between": Text("{min} to {max}", "{min}~{max}"),
    "form.on": Text("on", "켬"),
    "form.off": Text("off", "끔"),
    "form.auto": Text("automatic", "자동"),
    "form.list_hint": Text("separated by commas", "쉼표로 구분"),
    "form.would_do": Text("would do:", "쓸 수 있는 값:"),
    "form.use": Text("Use {value} for {field}", "{field}에 {value} 쓰기"),
    "form.add_pair": Text("Add an argument", "인자 추가"),
    "form.pair_name": Text("name", "이름"),
    "form.pair_value": Text("value", "값"),
    "form.pair_remove": Text("Remove {name}", "{name} 빼기"),
    "form.pair_empty": Text("none", "없음"),
    "form.reward_name": Text("Reward function", "보상 함수"),
    "form.reward_weight": Text("Weight", "가중치"),
    "form.reward_add": Text("Add a reward", "보상 추가"),
    "form.reward_remove": Text("Remove the reward {name}", "보상 {name} 빼기"),
    "form.reward_none": Text(
        "No reward yet. Without one there is nothing to learn from.",
        "아직 보상이 없습니다. 보상이 없으면 배울 것이 없습니다.",
    ),
    "form.reward_share": Text("{share} of the total", "전체의 {share}"),
    "form.plan": Text("What this will do", "이렇게 진행됩니다"),
    "form.checking": Text("checking…", "확인 중…"),
    "form.check_failed": Text(
        "The values could not be checked ({why}). It is tried again every few seconds.",
        "값을 확인하지 못했습니다({why}). 몇 초마다 다시 시도합니다.",
    ),
    "form.plan_none": Text(
        "The plan appears once every value can be used.", "모든 값이 맞으면 계획이 여기에 나옵니다."
    ),
    "form.plan_story_cycle": Text(
        "Each generation takes {prompts} prompts and writes {group} completions to each: {completions} to score, "
        "learned from in {cycle} updates. {steps} steps in all.",
        "한 번 생성할 때 프롬프트 {prompts}개에 답변을 {group}개씩, 모두 {completions}개를 만들어 채점하고 "
        "{cycle}번 업데이트합니다. 전체 {steps}스텝입니다.",
    ),
    "form.plan_story_cycle_1": Text(
        "Each generation takes 1 prompt and writes {group} completions to it, learned from in {cycle} updates. "
        "{steps} steps in all.",
        "한 번 생성할 때 프롬프트 1개에 답변 {group}개를 만들어 채점하고 {cycle}번 업데이트합니다. "
        "전체 {steps}스텝입니다.",
    ),
    "form.plan_story_1": Text(
        "Each step takes 1 prompt and writes {group} completions to it to score. That is done {steps} times.",
        "스텝마다 프롬프트 1개에 답변 {group}개를 만들어 채점합니다. 이를 {steps}번 반복합니다.",
    ),
    "form.plan_story": Text(
        "Each step takes {prompts} prompts and writes {group} completions to each: {completions} to score. "
        "That is done {steps} times.",
        "스텝마다 프롬프트 {prompts}개에 답변을 {group}개씩, 모두 {completions}개를 만들어 채점합니다. "
        "이를 {steps}번 반복합니다.",
    ),
    "form.prompts_per_step": Text("prompts a step", "스텝당 프롬프트"),
    "form.completions_per_step": Text("completions a step", "스텝당 답변"),
    "form.steps_per_epoch": Text("steps an epoch", "에폭당 스텝"),
    "form.total_steps": Text("steps in all", "전체 스텝"),
    "form.cycle": Text("updates a generation", "생성당 업데이트"),
    "form.tokens_at_most": Text("tokens at most", "최대 토큰"),
    "form.memory": Text("Memory", "메모리"),
    "form.memory_of": Text("{total} of {free} free", "{free} 중 {total} 사용"),
    "form.memory_alone": Text("{total}; what is free is not known", "{total}, 남은 용량은 알 수 없음"),
    "form.memory_over": Text("{over} more than is free", "남은 용량보다 {over} 많음"),
    "form.memory_unknown": Text("Not known before the model is here.", "모델을 받기 전에는 알 수 없습니다."),
    "form.limits": Text("What this estimate leaves out", "이 추정에 빠진 것"),
    "form.time": Text("Time", "시간"),
    "form.time_about": Text("about {time}", "약 {time}"),
    "form.time_unknown": Text("Known after the first three steps.", "처음 세 스텝이 지나면 알 수 있습니다."),
    "form.stop": Text("Must change", "바꿔야 함"),
    "form.warn": Text("Warning", "경고"),
    "form.inert": Text("No effect", "효과 없음"),
    "form.renamed": Text("Old name", "옛 이름"),
    "form.info": Text("Note", "참고"),
    "form.goto": Text("Go to {field}", "{field}(으)로 가기"),
    "form.name": Text("Name of the run", "실행 이름"),
    "form.name_hint": Text("for you to know it by", "알아보기 쉬운 이름"),
    "form.start": Text("Start the run", "실행 시작"),
    "form.starting": Text("Starting…", "시작하는 중…"),
    "form.why_checking": Text("The values are being checked.", "값을 확인하고 있습니다."),
    "form.why_errors": Text("{n} values must change first.", "먼저 값 {n}개를 바꿔야 합니다."),
    "form.why_errors_1": Text("1 value must change first.", "먼저 값 1개를 바꿔야 합니다."),
    "form.why_offline": Text("The server does not answer.", "서버가 응답하지 않습니다."),
    "form.why_building": Text(
        "The model is still being built; runs can start after that.",
        "모델을 아직 만드는 중입니다. 끝나면 시작할 수 있습니다.",
    ),
    "form.ready": Text("Ready.", "시작할 수 있습니다."),
    "form.start_failed": Text("The run did not start: {why}", "실행을 시작하지 못했습니다: {why}"),
    "form.sheet_open": Text("Show what this will do", "진행 계획 보기"),
    "form.sheet_close": Text("Hide what this will do", "진행 계획 접기"),
    "form.sheet_line": Text(
        "{completions} completions a step · {steps} steps", "스텝당 답변 {completions}개 · {steps}스텝"
    ),
    "form.paste": Text("Paste a TRL config", "TRL 설정 붙여넣기"),
    "form.paste_lead": Text(
        "YAML, JSON, Python such as GRPOConfig(...), flags, or name=value lines. "
        "Old names are mapped, and it is said which.",
        "YAML, JSON, GRPOConfig(...) 같은 파이썬, 명령줄 옵션, 이름=값 줄을 읽습니다. "
        "옛 이름은 새 이름으로 바꾸고 알려 줍니다.",
    ),
    "form.paste_take": Text("Take these values", "이 값 쓰기"),
    "form.paste_cancel": Text("Leave the form as it is", "그대로 두기"),
    "form.pasted": Text("{n} values taken from the pasted text.", "붙여넣은 글에서 값 {n}개를 가져왔습니다."),
    "form.pasted_1": Text("1 value taken from the pasted text.", "붙여넣은 글에서 값 1개를 가져왔습니다."),
}

RUNS: dict[str, Text] = {
    "runs.title": Text("Runs", "실행 목록"),
    "runs.filter": Text("Filter by name, state, preset or model", "이름, 상태, 프리셋, 모델로 거르기"),
    "runs.count": Text("{n} runs", "실행 {n}개"),
    "runs.count_1": Text("1 run", "실행 1개"),
    "runs.count_of": Text("{n} of {all} runs", "실행 {all}개 중 {n}개"),
    "runs.new": Text("New run", "새 실행"),
    "runs.state": Text("State", "상태"),
    "runs.name": Text("Run", "실행"),
    "runs.preset": Text("Preset, model", "프리셋, 모델"),
    "runs.progress": Text("Progress", "진행"),
    "runs.eta": Text("Left", "남은 시간"),
    "runs.reward": Text("Reward", "보상"),
    "runs.accuracy": Text("Accuracy", "정확도"),
    "runs.age": Text("Age", "시작"),
    "runs.duration": Text("Took", "걸린 시간"),
    "runs.actions": Text("Actions", "작업"),
    "runs.steps": Text("{step} of {total}", "{step}/{total}스텝"),
    "runs.no_steps": Text("no step yet", "아직 스텝 없음"),
    "runs.attempt": Text("attempt {n}", "{n}번째 시도"),
    "runs.rows": Text("{n} rows", "{n}행"),
    "runs.rows_of": Text("{n} of {total} rows", "{total}행 중 {n}행"),
    "runs.no_rows": Text("no row yet", "아직 답한 행 없음"),
    "runs.kind_evaluate": Text("Evaluation", "평가"),
    "runs.kind_evaluate_of": Text("Evaluation · {name}", "평가 · {name}"),
    "runs.kind_control": Text("Control", "대조 실행"),
    "runs.kind_control_of": Text("Control · {name}", "대조 실행 · {name}"),
    "runs.kind_attached": Text("Trained elsewhere", "외부에서 학습"),
    "runs.kind_probe": Text("Probe", "탐색"),
    "runs.kind_gone": Text("a deleted run", "삭제된 실행"),
    "runs.base_trained": Text("base {before}, trained {after}", "기준 모델 {before}, 학습된 모델 {after}"),
    "runs.from_to": Text("{before} before training, {after} after", "학습 전 {before}, 학습 후 {after}"),
    "runs.in_training": Text("in training", "학습 중"),
    "runs.open": Text("Open", "열기"),
    "runs.stop": Text("Stop and keep checkpoint", "체크포인트 남기고 멈추기"),
    "runs.stop_answers": Text("Stop and keep the answers", "답변 남기고 멈추기"),
    "runs.resume_rows": Text("Go on", "이어서 하기"),
    "runs.stop_now": Text("Stop now", "지금 바로 멈추기"),
    "runs.unqueue": Text("Take out of the queue", "대기 취소"),
    "runs.resume": Text("Resume", "이어서 학습"),
    "runs.delete": Text("Delete", "삭제"),
    "runs.delete_title": Text("Delete this run?", "이 실행을 삭제할까요?"),
    "runs.delete_what": Text(
        "{name}: its metrics, completions, log and checkpoints are removed from this machine. This cannot be undone.",
        "{name}: 지표, 답변, 로그, 체크포인트가 이 컴퓨터에서 지워집니다. 되돌릴 수 없습니다.",
    ),
    "runs.delete_yes": Text("Delete the run and its files", "실행과 파일 삭제"),
    "runs.deleted": Text("{name} is deleted.", "{name}을(를) 삭제했습니다."),
    "runs.gone": Text(
        "{name} is not there any more: it was deleted, perhaps in another window.",
        "{name}이(가) 더는 없습니다. 다른 창에서 삭제한 것 같습니다.",
    ),
    "runs.refused": Text("That did not work: {why}", "처리하지 못했습니다: {why}"),
    "runs.offline": Text(
        "The server does not answer. What you see is from {time}; it is asked again every few seconds.",
        "서버가 응답하지 않습니다. 지금 보이는 것은 {time} 기준이며, 몇 초마다 다시 묻습니다.",
    ),
    "runs.loading": Text("Loading the runs…", "실행 목록을 불러오는 중…"),
    "runs.empty": Text("No run yet", "아직 실행이 없습니다"),
    "runs.empty_lead": Text(
        "The quickstart trains a tiny model to add: about four minutes on this machine, nothing to download.",
        "퀵스타트는 작은 모델에게 덧셈을 가르칩니다. 이 컴퓨터에서 4분쯤 걸리고, 내려받을 것은 없습니다.",
    ),
    "runs.quickstart": Text("Start the quickstart", "퀵스타트 시작"),
    "runs.own": Text("Set up a run yourself", "직접 설정하기"),
    "runs.no_match": Text("No run has “{query}” in it.", "“{query}”에 맞는 실행이 없습니다."),
    "runs.clear": Text("Show all runs", "모두 보기"),
}

TEXTS: dict[str, Text] = {**FORM, **RUNS}
