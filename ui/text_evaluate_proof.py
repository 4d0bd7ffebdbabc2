"""The words of the Evaluate page under its table: proof, what changed in the model, the control, the problems."""

from __future__ import annotations

from backend.text import Text

TEXTS: dict[str, Text] = {
    # Proof
    "evaluate.proof": Text(en="Did the trained weights answer?", ko="학습된 가중치가 실제로 답했는가"),
    "evaluate.adapter_active": Text(en="active", ko="적용됨"),
    "evaluate.adapter_inactive": Text(en="inactive", ko="적용되지 않음"),
    "evaluate.adapter_unknown": Text(en="not checked", ko="확인하지 않음"),
    "evaluate.hash": Text(en="trained weights (SHA-256)", ko="학습된 가중치 (SHA-256)"),
    "evaluate.base_hash": Text(en="base weights (SHA-256)", ko="기준 모델 가중치 (SHA-256)"),
    "evaluate.base_as_recorded": Text(en="as recorded when training began", ko="학습 시작 때 기록과 같음"),
    "evaluate.base_other": Text(en="not those recorded when training began", ko="학습 시작 때 기록과 다름"),
    "evaluate.kind_adapter": Text(en="adapter (LoRA)", ko="어댑터 (LoRA)"),
    "evaluate.kind_full": Text(en="all weights", ko="전체 가중치"),
    "evaluate.kind_model": Text(en="a model without a run", ko="실행이 없는 모델"),
    "evaluate.logits": Text(en="largest logit difference", ko="로짓 차이의 최댓값"),
    "evaluate.on_prompts": Text(en="on {n} prompts", ko="프롬프트 {n}개에서"),
    "evaluate.identical": Text(en="all answers identical", ko="모든 답변이 같음"),
    "evaluate.yes": Text(en="yes", ko="예"),
    "evaluate.no": Text(en="no", ko="아니요"),
    "evaluate.padding_ok": Text(en="padding", ko="패딩"),
    "evaluate.padding_differs": Text(en="padding", ko="패딩"),
    "evaluate.padding_unknown": Text(en="padding not checked", ko="패딩 확인하지 않음"),
    "evaluate.padding_same": Text(en="same tokens at batch 1 and 8", ko="배치 1과 8에서 같은 토큰"),
    "evaluate.padding_logits": Text(en="largest logit difference", ko="로짓 차이의 최댓값"),
    # What changed in the model
    "evaluate.shift": Text(en="What changed in the model", ko="모델에서 달라진 것"),
    "evaluate.shift_lead": Text(
        en="Completions of the training, read again by both models. If GRPO works as meant, tokens of completions with "
        "a positive advantage became likelier, and those with a negative one less so.",
        ko="학습 때의 답변을 두 모델로 다시 읽은 결과입니다. GRPO가 뜻대로 작동하면 어드밴티지가 양수인 답변의 토큰은 "
        "확률이 오르고 음수인 답변의 토큰은 내려갑니다.",
    ),
    "evaluate.shift_positive": Text(en="positive advantage", ko="양의 어드밴티지"),
    "evaluate.shift_negative": Text(en="negative advantage", ko="음의 어드밴티지"),
    "evaluate.shift_words": Text(
        en="{mean} nats a token ({low} to {high}); {tokens} tokens of {completions} completions",
        ko="토큰당 {mean} nat ({low} ~ {high}). 답변 {completions}개의 토큰 {tokens}개",
    ),
    "evaluate.advantage": Text(en="advantage {n}", ko="어드밴티지 {n}"),
    "evaluate.tokens": Text(
        en="Tokens by the change of their log-probability; the arrow keys move",
        ko="로그 확률 변화로 나타낸 토큰. 화살표 키로 이동",
    ),
    "evaluate.key": Text(en="change of log-probability (nats)", ko="로그 확률 변화 (nat)"),
    "evaluate.key_marks": Text(
        en="▴ likelier, ▾ less likely, unmarked: less than 0.1", ko="▴ 확률 상승, ▾ 확률 하락, 표시 없음: 0.1 미만"
    ),
    "evaluate.token_hint": Text(
        en="Point at a token, or move with the arrow keys, to read its value.",
        ko="토큰을 가리키거나 화살표 키로 이동하면 값을 볼 수 있습니다.",
    ),
    "evaluate.token_words": Text(
        en="“{text}”: base {base}, trained {trained}, change {delta} nats",
        ko="“{text}”: 기준 {base}, 학습 후 {trained}, 변화 {delta} nat",
    ),
    "evaluate.tokens_cut": Text(en="the first {n} tokens", ko="처음 {n}개 토큰"),
    # While training
    "evaluate.timeline": Text(en="Held-out accuracy while training", ko="학습 중 평가 정확도"),
    "evaluate.timeline_lead": Text(
        en="Blue: while training, on the rows that choose the best; framed: the best, filled: the last. Grey: before "
        "and after, on all held-out rows. A click on a blue point shows the samples of its step.",
        ko="파란색: 학습 중, 최고를 고르는 행에서. 마름모는 최고, 채운 점은 마지막. 회색: 학습 전후, 모든 평가 행에서. "
        "파란 점을 누르면 그 스텝의 샘플을 볼 수 있습니다.",
    ),
    "evaluate.best": Text(en="best", ko="최고"),
    "evaluate.last": Text(en="last", ko="마지막"),
    "evaluate.at_step": Text(
        en="step {step}: {share} ({range}), n = {n}", ko="스텝 {step}: {share} ({range}), n = {n}"
    ),
    "evaluate.best_at": Text(en="best, step {step}", ko="최고, 스텝 {step}"),
    "evaluate.last_at": Text(en="last, step {step}", ko="마지막, 스텝 {step}"),
    "evaluate.best_fresh": Text(en="best on {n} fresh rows", ko="최고, 새 행 {n}개에서"),
    "evaluate.last_fresh": Text(en="last on {n} fresh rows", ko="마지막, 새 행 {n}개에서"),
    # The control
    "evaluate.control": Text(en="Control: rewards shuffled", ko="대조 실험: 보상 섞기"),
    "evaluate.control_lead": Text(
        en="The same run once more, with the rewards shuffled inside each group, so that they say nothing about the "
        "answers. A gain that it makes too was not taught by the rewards.",
        ko="같은 실행을 한 번 더 하되, 그룹 안에서 보상을 섞어 답변과 무관하게 만듭니다. 이 실행에서도 생기는 향상은 "
        "보상이 가르친 것이 아닙니다.",
    ),
    "evaluate.control_start": Text(en="Train the control (rewards shuffled)", ko="대조 실행 학습하기 (보상 섞기)"),
    "evaluate.control_cost": Text(
        en="trains as long as this run did: about {time}", ko="이 실행만큼 걸립니다: 약 {time}"
    ),
    "evaluate.run_gain": Text(en="gain of {name}", ko="{name}의 향상"),
    "evaluate.control_gain": Text(en="the control's gain", ko="대조 실행의 향상"),
    # Problems
    "evaluate.problems": Text(en="Problems", ko="문제별 결과"),
    "evaluate.won": Text(en="Won", ko="새로 맞힘"),
    "evaluate.lost": Text(en="Lost", ko="새로 틀림"),
    "evaluate.both_right": Text(en="Both right", ko="둘 다 맞음"),
    "evaluate.both_wrong": Text(en="Both wrong", ko="둘 다 틀림"),
    "evaluate.none_won": Text(en="No problem is right only after training.", ko="학습 후에만 맞힌 문제가 없습니다."),
    "evaluate.none_lost": Text(en="No problem was lost by training.", ko="학습 후에 새로 틀린 문제가 없습니다."),
    "evaluate.none_both_right": Text(en="No problem is right on both sides.", ko="양쪽 모두 맞힌 문제가 없습니다."),
    "evaluate.none_both_wrong": Text(en="No problem is wrong on both sides.", ko="양쪽 모두 틀린 문제가 없습니다."),
    "evaluate.mark_right": Text(en="right", ko="맞음"),
    "evaluate.mark_wrong": Text(en="wrong", ko="틀림"),
    "evaluate.mark_unjudged": Text(en="not judged", ko="채점 불가"),
    "evaluate.no_answer": Text(en="no answer stored", ko="저장된 답변 없음"),
    "evaluate.extracted": Text(en="read as", ko="읽은 답"),
    "evaluate.nothing": Text(en="nothing", ko="없음"),
    "evaluate.reason": Text(en="why", ko="이유"),
    "evaluate.score": Text(en="score", ko="점수"),
    "evaluate.tokens_n": Text(en="{n} tokens", ko="토큰 {n}개"),
    "evaluate.samples": Text(en="samples: {right} of {k} right", ko="샘플 {k}개 중 {right}개 맞음"),
    "evaluate.back": Text(en="Back", ko="이전"),
    "evaluate.next": Text(en="Next", ko="다음"),
    "evaluate.page": Text(en="{from} to {to} of {n}", ko="{n}개 중 {from}~{to}"),
}
