"""What the Chat page says. Keys ending in `_1` are the form for one; `{n}` and its kin are filled in by the page."""

from __future__ import annotations

from backend.text import Text

FORM: dict[str, Text] = {
    "chat.open": Text("Chat", "대화"),
    "chat.title": Text("Chat, side by side", "대화: 나란히 비교"),
    "chat.lead": Text(
        "The same question to two models: same template, same seed, same sampling.",
        "같은 질문을 두 모델에 던집니다. 템플릿, 시드, 샘플링이 모두 같습니다.",
    ),
    "chat.question": Text("Question", "질문"),
    "chat.left": Text("Left", "왼쪽"),
    "chat.right": Text("Right", "오른쪽"),
    "chat.runs": Text("Runs", "실행"),
    "chat.models": Text("Models", "모델"),
    "chat.nobody": Text("nobody (one side only)", "없음 (한쪽만)"),
    "chat.checkpoint": Text("checkpoint", "체크포인트"),
    "chat.checkpoint_base": Text("base, before training", "기준 모델 (학습 전)"),
    "chat.checkpoint_final": Text("trained, final", "학습된 모델 (마지막)"),
    "chat.checkpoint_best": Text("trained, best", "학습된 모델 (최고)"),
    "chat.short_base": Text("base", "기준"),
    "chat.short_final": Text("final", "마지막"),
    "chat.short_best": Text("best", "최고"),
    "chat.checkpoint_step": Text("checkpoint of step {n}", "{n}스텝 체크포인트"),
    "chat.at_step": Text("step {n}", "{n}스텝"),
    "chat.swap": Text("Swap left and right", "왼쪽과 오른쪽 바꾸기"),
    "chat.mode": Text("What is asked", "질문 종류"),
    "chat.mode_held": Text("Held-out problem", "평가 문제"),
    "chat.mode_own": Text("Own prompt", "직접 입력"),
    "chat.previous": Text("Previous problem", "이전 문제"),
    "chat.next": Text("Next problem", "다음 문제"),
    "chat.random": Text("Random", "무작위"),
    "chat.problem_at": Text("problem {n} of {total}", "{total}개 중 {n}번째 문제"),
    "chat.no_rows": Text("The chosen run has no held-out rows here.", "선택한 실행의 평가 행이 여기에 없습니다."),
    "chat.prompt": Text("Prompt", "프롬프트"),
    "chat.truth": Text("ground truth", "정답"),
    "chat.truth_optional": Text(
        "Ground truth (optional: with it the run’s rewards score)", "정답 (선택: 넣으면 실행의 보상으로 채점)"
    ),
    "chat.system": Text("System prompt", "시스템 프롬프트"),
    "chat.raw": Text("without the chat template: the text goes in as it is", "채팅 템플릿 없이 텍스트를 그대로 넣기"),
    "chat.temperature": Text("temperature (0: greedy)", "온도 (0이면 greedy)"),
    "chat.top_p": Text("top_p", "top_p"),
    "chat.max_tokens": Text("tokens at most", "최대 토큰"),
    "chat.seed": Text("seed", "시드"),
    "chat.n": Text("answers a side", "한쪽당 답변 수"),
    "chat.from_to": Text("{least} to {most}", "{least}~{most}"),
    "chat.whole_from_to": Text("whole number, {least} to {most}", "{least}~{most} 정수"),
    "chat.ask": Text("Ask", "질문하기"),
    "chat.stop": Text("Stop", "중지"),
    "chat.keys": Text("Ctrl+Enter asks, Escape stops", "Ctrl+Enter로 질문, Esc로 중지"),
    "chat.new": Text("New conversation", "새 대화"),
    "chat.missing_side": Text("Choose who answers on the left.", "왼쪽에서 답할 모델을 고르세요."),
    "chat.missing_model": Text(
        "The model is still being built; it can be asked after that.",
        "모델을 아직 만드는 중입니다. 끝나면 질문할 수 있습니다.",
    ),
    "chat.choose": Text("choose a model", "모델 고르기"),
    "chat.missing_weights": Text("One side has no weights.", "가중치가 없는 쪽이 있습니다."),
    "chat.no_weights": Text(
        "{name} is not there: the run has not saved it, or it was deleted.",
        "{name}이(가) 없습니다. 아직 저장되지 않았거나 삭제되었습니다.",
    ),
    "chat.recorded_weights": Text(
        "This run is a recording: its figures are here, its weights are not. Train a run (the quickstart, for example) "
        "to compare base and trained; until then a model can be asked alone.",
        "기록된 실행이라 수치만 있고 가중치는 들어 있지 않습니다. 빠른 시작 같은 실행을 학습하면 학습 전과 후를 비교할 "
        "수 있고, 그 전에는 모델 하나에만 질문할 수 있습니다.",
    ),
    "chat.not_fetched": Text("not fetched yet", "아직 받지 않음"),
    "chat.missing_prompt": Text("Write a prompt first.", "프롬프트를 입력하세요."),
    "chat.missing_problem": Text("Choose a problem first.", "문제를 먼저 고르세요."),
    "chat.missing_number": Text("One of the numbers cannot be used.", "쓸 수 없는 숫자가 있습니다."),
    "chat.wait_first": Text("Wait for the answers, or stop them.", "답변을 기다리거나 중지한 뒤에 여세요."),
    "chat.empty": Text("Nothing asked yet", "아직 질문이 없습니다"),
    "chat.empty_lead": Text(
        "Ask a problem that no training step has seen, and compare what the model says before and after.",
        "학습에 쓰지 않은 문제를 던져 보고, 학습 전과 후의 답을 비교해 보세요.",
    ),
}

ANSWERS: dict[str, Text] = {
    "chat.begin": Text("Asking…", "질문하는 중…"),
    "chat.queued": Text("Waiting for the question before this one (place {n}).", "앞의 질문을 기다리는 중 ({n}번째)."),
    "chat.starting": Text("Starting, {s} s", "준비하는 중, {s}초"),
    "chat.after_left": Text("Answers after the left side.", "왼쪽 다음에 답합니다."),
    "chat.loading_model": Text("Loading the model, {s} s", "모델 불러오는 중, {s}초"),
    "chat.writing": Text("Writing…", "답변 생성 중…"),
    "chat.weights": Text("weights {hash}", "가중치 {hash}"),
    "chat.base_weights": Text("on {hash}", "기준 {hash}"),
    "chat.with_adapter": Text("with its adapter", "어댑터 사용"),
    "chat.no_adapter": Text("no adapter", "어댑터 없음"),
    "chat.greedy": Text("greedy", "greedy"),
    "chat.sampled": Text("temperature {temperature}, top_p {top_p}", "온도 {temperature}, top_p {top_p}"),
    "chat.at_most": Text("at most {n} tokens", "최대 {n}토큰"),
    "chat.seeded": Text("seed {seed}", "시드 {seed}"),
    "chat.times": Text("{n} answers a side", "한쪽당 {n}개"),
    "chat.answer_name": Text("{side}: answer {n}", "{side}: {n}번째 답변"),
    "chat.n_answers": Text("{n} answers", "답변 {n}개"),
    "chat.no_answer": Text("No answer.", "답변이 없습니다."),
    "chat.stopped": Text("stopped", "중지됨"),
    "chat.broken": Text("The stream ended before the answer did.", "답변이 끝나기 전에 연결이 끊겼습니다."),
    "chat.failed_here": Text("No answer: it failed.", "실패해서 답변이 없습니다."),
    "chat.empty_text": Text("(empty)", "(빈 답변)"),
    "chat.thought": Text("Reasoning, {n} characters", "추론 {n}자"),
    "chat.thought_now": Text("Reasoning… {n} characters", "추론 중… {n}자"),
    "chat.thought_open": Text("Reasoning that never ended, {n} characters", "끝나지 않은 추론 {n}자"),
    "chat.verdict_right": Text("right", "맞음"),
    "chat.verdict_wrong": Text("wrong", "틀림"),
    "chat.verdict_unknown": Text("not judged", "판정 없음"),
    "chat.tokens": Text("{n} tokens", "{n}토큰"),
    "chat.eos": Text("ended by itself", "스스로 끝남"),
    "chat.cut": Text("cut off", "잘림"),
    "chat.seconds": Text("{s} s", "{s}초"),
    "chat.total": Text("reward {score}", "보상 {score}"),
    "chat.extracted": Text("What the reward read as the answer", "보상이 답으로 읽은 부분"),
    "chat.right_of": Text("right {right} of {n}", "{n}개 중 {right}개 맞음"),
    "chat.distinct": Text("different texts {n}", "서로 다른 답 {n}개"),
    "chat.mean_reward": Text("mean reward {score}", "평균 보상 {score}"),
    "chat.mean_tokens": Text("{n} tokens on average", "평균 {n}토큰"),
    "chat.ended_of": Text("ended by themselves {ended} of {n}", "{n}개 중 {ended}개 스스로 끝남"),
    "chat.same_weights": Text(
        "Both sides are the same weights, so nothing here says what training changed. Choose the base on one side.",
        "양쪽이 같은 가중치라서 학습으로 무엇이 바뀌었는지 알 수 없습니다. 한쪽을 기준 모델로 바꾸세요.",
    ),
    "chat.same_answers": Text(
        "{left} and {right} have given the same answer {n} times out of {n}. Either training has changed little, or "
        "its adapter is not in use. “What changed” under an answer shows whether the probabilities moved at all.",
        "{left}와(과) {right}이(가) {n}번 모두 같은 답을 했습니다. 학습으로 거의 바뀌지 않았거나 어댑터가 쓰이지 않은 "
        "것입니다. 답변 아래의 ‘달라진 것’에서 확률이 움직였는지 확인하세요.",
    ),
}

CHANGED: dict[str, Text] = {
    "chat.changed": Text("What changed", "달라진 것"),
    "chat.changed_close": Text("Hide what changed", "달라진 것 닫기"),
    "chat.changed_title": Text(
        "Log-probability of each token, right against left", "토큰별 로그 확률, 왼쪽 대비 오른쪽"
    ),
    "chat.changed_wait": Text("Both sides are reading this answer…", "양쪽 모델이 이 답변을 읽는 중…"),
    "chat.changed_sum": Text(
        "Sum over {n} tokens (log-probability, nats): left {left}, right {right}, difference {difference}; "
        "{moved} moved by {clear} or more.",
        "{n}토큰 로그 확률의 합(nat): 왼쪽 {left}, 오른쪽 {right}, 차이 {difference}. {clear} 이상 움직인 토큰 "
        "{moved}개.",
    ),
    "chat.token_hint": Text(
        "Point at a token, or go through them with ← and →.", "토큰에 마우스를 올리거나 ←, →로 옮겨 가세요."
    ),
    "chat.token": Text(
        "left {left}, right {right}, difference {difference}", "왼쪽 {left}, 오른쪽 {right}, 차이 {difference}"
    ),
    "chat.legend_minus": Text("likelier on the left", "왼쪽에서 더 높은 확률"),
    "chat.legend_none": Text("about equal (under {clear} nats)", "거의 같음 ({clear} nat 미만)"),
    "chat.legend_plus": Text("likelier on the right", "오른쪽에서 더 높은 확률"),
}

REST: dict[str, Text] = {
    "chat.state_off": Text(
        "No model is loaded; it loads with the first question.", "불러온 모델이 없습니다. 첫 질문 때 불러옵니다."
    ),
    "chat.state_loading": Text("loading a model", "모델 불러오는 중"),
    "chat.state_busy": Text("answering", "답변 생성 중"),
    "chat.state_ready": Text("loaded", "불러옴"),
    "chat.state_lost": Text("The server does not answer.", "서버가 응답하지 않습니다."),
    "chat.memory": Text("uses {gb} GB", "메모리 {gb} GB"),
    "chat.waiting": Text("{n} waiting", "{n}개 대기"),
    "chat.ends_in": Text("ends in {time} when idle", "사용하지 않으면 {time} 후 종료"),
    "chat.free": Text("Free memory", "메모리 비우기"),
    "chat.freed": Text("The models are unloaded.", "모델을 메모리에서 내렸습니다."),
    "chat.history": Text("Earlier conversations", "이전 대화"),
    "chat.history_n": Text("Earlier conversations ({n})", "이전 대화 ({n})"),
    "chat.history_none": Text("None yet.", "아직 없습니다."),
    "chat.untitled": Text("untitled", "제목 없음"),
    "chat.turns": Text("{n} questions", "질문 {n}개"),
    "chat.turns_1": Text("1 question", "질문 1개"),
    "chat.export": Text("Export JSONL", "JSONL 내보내기"),
    "chat.delete": Text("Delete", "삭제"),
    "chat.delete_title": Text("Delete this conversation?", "이 대화를 삭제할까요?"),
    "chat.delete_body": Text(
        "Its questions and answers ({n}) are removed. This cannot be undone.",
        "질문과 답변({n}개)을 지웁니다. 되돌릴 수 없습니다.",
    ),
    "chat.delete_yes": Text("Delete the conversation", "대화 삭제"),
    "chat.deleted": Text("The conversation is deleted.", "대화를 삭제했습니다."),
}

TEXTS: dict[str, Text] = FORM | ANSWERS | CHANGED | REST
