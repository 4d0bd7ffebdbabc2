"""The report's own words in both languages."""

from __future__ import annotations

from typing import Any

from backend.text import Text

TEXTS: dict[str, Text] = {
    "title": Text("{name} · report", "{name} · 보고서"),
    "kind.train": Text("GRPO run", "GRPO 학습"),
    "kind.control": Text("control run (rewards shuffled)", "대조 실행 (보상 섞음)"),
    "kind.probe": Text("probe", "탐색"),
    "kind.evaluate": Text("evaluation", "평가"),
    "state.queued": Text("queued", "대기 중"),
    "state.starting": Text("starting", "시작하는 중"),
    "state.running": Text("running", "실행 중"),
    "state.stopping": Text("stopping", "멈추는 중"),
    "state.stopped": Text("stopped", "멈춤"),
    "state.succeeded": Text("finished", "완료"),
    "state.failed": Text("failed", "실패"),
    "state.lost": Text("lost", "유실"),
    "not_final": Text(
        "This run has not ended: the figures are those so far.",
        "아직 끝나지 않은 실행입니다. 지금까지의 수치입니다.",
    ),
    "not_evaluated": Text(
        "Not evaluated on held-out problems: whether the model got better is not known.",
        "평가 데이터로 평가하지 않아 모델이 나아졌는지 알 수 없습니다.",
    ),
    "only_control": Text(
        "A control: its rewards were shuffled inside each group, so it can learn nothing from them.",
        "대조 실행: 그룹 안에서 보상을 섞었으므로 보상에서 배울 수 있는 것이 없습니다.",
    ),
    "doubt": Text("Evaluation {run} failed:", "평가 {run} 실패:"),
    "while_training": Text("While training:", "학습 중:"),
    # Evaluation
    "better": Text("Did it get better?", "나아졌나?"),
    "evaluated_on": Text(
        "{n} problems judged on both sides, greedy decoding, the same rows, prompts and scorers.",
        "양쪽 모두 채점된 문제 {n}개. 그리디 디코딩이며 데이터, 프롬프트, 채점기가 같습니다.",
    ),
    "sampled_too": Text(
        "pass@1, pass@{k} and maj@{k} come from {k} samples a problem.",
        "pass@1, pass@{k}, maj@{k}는 문제마다 뽑은 답 {k}개로 계산했습니다.",
    ),
    "sampled_with": Text(
        "They were drawn at temperature {temperature}, top-p {top_p}, seed {seed}.",
        "샘플링 온도 {temperature}, top-p {top_p}, 시드 {seed}.",
    ),
    "own": Text("The run's own evaluation, before and after training.", "이 실행이 학습 전후에 한 평가입니다."),
    "after_the_fact": Text("Evaluation {run}, of checkpoint {checkpoint}.", "평가 {run}, 체크포인트 {checkpoint}."),
    "two_models": Text("Base: {base}. Trained: {trained}.", "기준 모델: {base}. 학습된 모델: {trained}."),
    "other_rows": Text("The rows are those of {data}.", "사용한 데이터: {data}."),
    "measure": Text("measure", "지표"),
    "base": Text("base", "기준 모델"),
    "trained": Text("trained", "학습된 모델"),
    "change": Text("difference", "차이"),
    "interval_note": Text(
        "Small figures are 95% intervals; the difference is taken row by row. Coloured where the interval excludes 0.",
        "작은 숫자는 95% 구간이고, 차이는 같은 문제끼리 비교한 값입니다. 구간에 0이 없을 때만 색을 넣었습니다.",
    ),
    "measure.accuracy": Text("accuracy", "정확도"),
    "measure.format_rate": Text("format kept", "형식 준수율"),
    "measure.mean_length": Text("mean length (tokens)", "평균 길이 (토큰)"),
    "measure.eos_rate": Text("ended by itself (EOS)", "스스로 종료 (EOS)"),
    "measure.mean_reward": Text("mean reward", "평균 보상"),
    "measure.strict": Text("strict: letter for letter", "엄격 일치 (글자 그대로)"),
    "measure.balanced_accuracy": Text("balanced accuracy", "균형 정확도"),
    "measure.pass_at_1": Text("pass@1", "pass@1"),
    "measure.pass_at_k": Text("pass@{k}", "pass@{k}"),
    "measure.maj_at_k": Text("maj@{k}", "maj@{k}"),
    "pp": Text("pp", "%p"),
    "changed_rows": Text("What changed, row by row", "문제별 변화"),
    "won": Text("won (wrong, then right)", "새로 맞힘 (틀림 → 맞음)"),
    "lost": Text("lost (right, then wrong)", "새로 틀림 (맞음 → 틀림)"),
    "both_right": Text("right on both sides", "양쪽 다 맞음"),
    "both_wrong": Text("wrong on both sides", "양쪽 다 틀림"),
    "mcnemar": Text(
        "McNemar's exact test, two-sided: p = {p}. It asks whether as many were won as lost.",
        "McNemar 정확 검정(양측): p = {p}. 새로 맞힌 수와 새로 틀린 수가 같은지 검정합니다.",
    ),
    "mcnemar_small": Text(
        "McNemar's exact test, two-sided: p {p}. It asks whether as many were won as lost.",
        "McNemar 정확 검정(양측): p {p}. 새로 맞힌 수와 새로 틀린 수가 같은지 검정합니다.",
    ),
    "nothing": Text("What no learning would give", "학습 없이 얻는 값"),
    "majority": Text("always the commonest answer", "가장 흔한 답만 내기"),
    "majority_answer": Text("the commonest answer", "가장 흔한 답"),
    "classes": Text("different answers", "서로 다른 정답 수"),
    "chance": Text("guessing among them", "무작위 추측"),
    "breakdown": Text("Accuracy by column", "열별 정확도"),
    "breakdown_note": Text(
        "Many groups are looked at: one in twenty of such intervals misses the truth by chance alone.",
        "여러 그룹을 한꺼번에 보므로 구간 20개 중 하나쯤은 우연히 참값을 벗어납니다.",
    ),
    "value": Text("value", "값"),
    "no_value": Text("(no value)", "(값 없음)"),
    "rows": Text("rows", "행"),
    "others": Text("Other evaluations", "다른 평가"),
    "data": Text("data", "데이터"),
    "held_out": Text("held-out rows", "평가 데이터"),
    "checkpoint": Text("checkpoint", "체크포인트"),
    "fresh": Text("Best and last weights, on fresh rows", "최고 가중치와 마지막 가중치 (새 문제로 재채점)"),
    "fresh_note": Text(
        "The best step was chosen by evaluations during training; choosing flatters, so both are scored again on rows "
        "that took no part in it.",
        "최고 스텝은 학습 중 평가로 골랐고, 고르면 점수가 부풀려집니다. 그래서 고르는 데 쓰지 않은 문제로 둘을 다시 "
        "채점했습니다.",
    ),
    "moment.best": Text("best", "최고"),
    "moment.last": Text("last", "마지막"),
    "step": Text("step", "스텝"),
    # Proof
    "proof": Text("Which weights answered", "어떤 가중치가 답했나"),
    "proof.hash": Text("trained weights (SHA-256)", "학습된 가중치 (SHA-256)"),
    "proof.base_hash": Text("base weights (fingerprint)", "기준 가중치 (지문)"),
    "proof.base_same": Text("the same as when training began", "학습을 시작할 때와 같음"),
    "proof.base_differs": Text("not those that training began with", "학습을 시작할 때와 다름"),
    "proof.logits": Text("largest logit difference", "로짓 최대 차이"),
    "proof.over": Text("over {n} prompts", "프롬프트 {n}개"),
    "proof.identical": Text("all answers identical", "모든 답이 같음"),
    "proof.none": Text(
        "Not recorded: an evaluation after training compares the weights and their logits.",
        "기록이 없습니다. 학습 후 평가를 실행하면 가중치와 로짓을 비교합니다.",
    ),
    "yes": Text("yes", "예"),
    "no": Text("no", "아니요"),
    "padding": Text("left padding", "왼쪽 패딩"),
    "padding_rows": Text(
        "{same} of {rows} rows give the same tokens one at a time and eight at a time",
        "{rows}개 중 {same}개가 하나씩 넣을 때와 여덟 개씩 넣을 때 같은 토큰을 냄",
    ),
    "shift": Text("What moved in training completions", "학습 답변의 확률 변화"),
    "shift_note": Text(
        "Mean change of log-probability, nats a token: if the mechanism works, tokens of completions with a positive "
        "advantage rise against those with a negative one.",
        "토큰당 로그 확률의 평균 변화(nat). 학습이 제대로 작동하면 어드밴티지가 양수인 답변의 토큰이 음수인 쪽보다 "
        "올라갑니다.",
    ),
    "shift.positive": Text("advantage above 0", "어드밴티지 > 0"),
    "shift.negative": Text("advantage below 0", "어드밴티지 < 0"),
    "shift.mean": Text("mean change", "평균 변화"),
    "completions": Text("completions", "답변"),
    "tokens": Text("tokens", "토큰"),
    # Control
    "control": Text("Against a control", "대조 실행과 비교"),
    "control_note": Text(
        "The control is the same run with the scores shuffled inside each group: what it gains, the rewards did not "
        "teach. Only a gain beyond it speaks for them.",
        "대조 실행은 같은 설정에서 그룹 안의 점수만 섞은 것입니다. 대조 실행도 얻은 만큼은 보상이 가르친 것이 아니며, "
        "그보다 더 얻은 만큼만 보상의 효과입니다.",
    ),
    "this_run": Text("this run", "이 실행"),
    "control_of": Text("control of", "대조 대상"),
    # Curves
    "curves": Text("Curves", "학습 곡선"),
    "chart.reward": Text("Reward", "보상"),
    "chart.accuracy": Text("Accuracy", "정확도"),
    "chart.dead": Text("Groups without signal", "신호 없는 그룹"),
    "chart.length": Text("Completion length", "답변 길이"),
    "chart.warm_up": Text("Warm-up: loss", "지도 학습 워밍업: 손실"),
    "chart.entropy": Text("Entropy", "엔트로피"),
    "chart.total": Text("total", "합계"),
    "chart.held_out": Text("held out, greedy", "평가, 그리디"),
    "chart.batch": Text("training batches, sampled", "학습 배치 (샘플링)"),
    "chart.during": Text("held out, during training", "평가, 학습 중"),
    "chart.before_after": Text("held out, before and after", "평가, 학습 전후"),
    "chart.dead_all": Text("all without signal", "신호 없음 전체"),
    "chart.all_right": Text("all right", "모두 맞음"),
    "chart.all_wrong": Text("all wrong", "모두 틀림"),
    "chart.tied": Text("tied", "동점"),
    "chart.mean": Text("mean", "평균"),
    "chart.band": Text("shortest to longest", "최소 ~ 최대"),
    "chart.limit": Text("limit", "한도"),
    "chart.smoothed": Text(
        "Strong: mean of the last {w} logged steps. Faint: as logged.",
        "진한 선: 최근 기록 {w}개의 평균. 흐린 선: 기록 그대로.",
    ),
    "chart.bad": Text("no number (NaN or infinite): {n}", "숫자가 아님 (NaN, 무한대): {n}개"),
    "chart.whiskers": Text("Whiskers: 95% interval.", "세로 막대: 95% 구간."),
    "chart.alt": Text("{title} by step, {unit}. {lines}", "스텝에 따른 {title}, {unit}. {lines}"),
    "unit.reward": Text("mean reward", "평균 보상"),
    "unit.share_answers": Text("share of answers", "답의 비율"),
    "unit.share_groups": Text("share of groups", "그룹 비율"),
    "unit.tokens": Text("tokens a completion", "답변당 토큰"),
    "unit.loss": Text("cross-entropy, nats a token", "교차 엔트로피, 토큰당 nat"),
    "unit.nats": Text("nats a token", "토큰당 nat"),
    # Samples
    "samples": Text("Problems won and lost", "새로 맞힌 문제와 새로 틀린 문제"),
    "samples.won": Text("Won: {n}", "새로 맞힘: {n}개"),
    "samples.lost": Text("Lost: {n}", "새로 틀림: {n}개"),
    "samples.first": Text(
        "The first {shown} in the order of the rows, not chosen.",
        "데이터 순서대로 앞의 {shown}개이며 골라낸 것이 아닙니다.",
    ),
    "samples.more": Text("{n} more", "{n}개 더 보기"),
    "samples.none": Text("None.", "없습니다."),
    "samples.row": Text("row {n}", "{n}번째 행"),
    "samples.truth": Text("ground truth", "정답"),
    "samples.read": Text("read as", "읽은 답"),
    "samples.right_of": Text("{right} of {n} samples right", "샘플 {n}개 중 {right}개 맞음"),
    "samples.right": Text("right", "맞음"),
    "samples.wrong": Text("wrong", "틀림"),
    "samples.cut": Text("cut off", "잘림"),
    "samples.empty": Text("(empty)", "(비어 있음)"),
    "clipped": Text("the first {shown} of {all} characters", "전체 {all}자 중 앞 {shown}자"),
    # How it was trained
    "how": Text("How it was trained", "어떻게 학습했나"),
    "how.evaluated": Text("How it was evaluated", "어떻게 평가했나"),
    "evaluated_run": Text("evaluated run", "평가한 실행"),
    "model": Text("model", "모델"),
    "method": Text("weights trained", "학습한 가중치"),
    "method.lora": Text("LoRA adapter, rank {r}", "LoRA 어댑터, 랭크 {r}"),
    "method.qlora": Text("LoRA adapter on a quantised base, rank {r}", "양자화된 모델 위 LoRA 어댑터, 랭크 {r}"),
    "method.full": Text("all weights", "전체 가중치"),
    "steps": Text("steps", "스텝"),
    "steps_of": Text("{done} of {total}", "{total} 중 {done}"),
    "group": Text("completions a prompt", "프롬프트당 답변 수"),
    "seed": Text("seed", "시드"),
    "data_seed": Text("data seed", "데이터 시드"),
    "dataset": Text("data set", "데이터셋"),
    "data_title": Text("Data", "데이터"),
    "train_rows": Text("rows to train on", "학습 행"),
    "held_rows": Text("rows held out", "평가 행"),
    "data_hash": Text("data hash (SHA-256)", "데이터 해시 (SHA-256)"),
    "train_hash": Text("hash of the training rows (SHA-256)", "학습 행 해시 (SHA-256)"),
    "eval_hash": Text("hash of the held-out rows (SHA-256)", "평가 행 해시 (SHA-256)"),
    "preset": Text("preset", "프리셋"),
    "started": Text("started", "시작"),
    "ended": Text("ended", "종료"),
    "took": Text("time running", "실행 시간"),
    "attempts": Text("attempts", "시도"),
    "attempt_line": Text("attempt {n} from step {step}", "{n}번째 시도, 스텝 {step}부터"),
    "changed_with": Text("changed: {what}", "변경: {what}"),
    "rewards": Text("Rewards", "보상 함수"),
    "reward": Text("reward", "보상"),
    "weight": Text("weight", "가중치"),
    "arguments": Text("arguments", "인자"),
    "version": Text("custom version", "사용자 보상 버전"),
    "built_in": Text("built in", "내장"),
    "settings": Text("Settings", "설정"),
    "settings.changed": Text("What differs from the defaults", "기본값과 다른 설정"),
    "settings.all": Text("All {n} settings", "전체 설정 {n}개"),
    "settings.none": Text("Nothing differs from the defaults.", "모두 기본값입니다."),
    "setting": Text("setting", "설정"),
    "default": Text("default", "기본값"),
    "environment": Text("Environment", "실행 환경"),
    "environment.none": Text(
        "Not recorded: this run began before such records were kept.",
        "기록이 없습니다. 환경을 기록하기 전에 시작한 실행입니다.",
    ),
    "device": Text("device", "장치"),
    "cores": Text("CPU cores", "CPU 코어"),
    "threads": Text("threads", "스레드"),
    "memory": Text("memory", "메모리"),
    "system": Text("system", "운영 체제"),
    "unknown_value": Text("unknown", "알 수 없음"),
    # Events
    "events": Text("What happened", "있었던 일"),
    "events.none": Text("Nothing out of the ordinary was recorded.", "특별한 일이 기록되지 않았습니다."),
    "events.times": Text("{n} times", "{n}번"),
    "level.info": Text("note", "참고"),
    "level.warn": Text("warning", "경고"),
    "level.error": Text("error", "오류"),
    "reason": Text("how it ended", "종료 이유"),
    "made": Text(
        "Made by GRPO Studio from its records of run {run}. The same records give the same report.",
        "GRPO Studio가 실행 {run}의 기록으로 만들었습니다. 같은 기록에서는 같은 보고서가 나옵니다.",
    ),
}


class Words:
    """The texts of one language: t("steps_of", done=1, total=2). KeyError for a key or a value that is missing."""

    def __init__(self, lang: str) -> None:
        self.lang = "ko" if lang == "ko" else "en"

    def __call__(self, key: str, **values: Any) -> str:
        text = TEXTS[key].get(self.lang)
        return text.format(**values) if values else text

    def of(self, text: Text | dict[str, str]) -> str:
        """A text that comes with its words in both languages."""
        return text.get(self.lang) if isinstance(text, Text) else str(text.get(self.lang) or text.get("en") or "")
