"""The words of the Evaluate page: what is compared, a new evaluation, the table."""

from __future__ import annotations

from backend.text import Text

TEXTS: dict[str, Text] = {
    # Without a run, or without anything to compare
    "evaluate.none": Text(en="No run chosen", ko="선택된 실행이 없습니다"),
    "evaluate.none_body": Text(
        en="An evaluation compares the trained model with its base on the same held-out rows. Choose a run above, or "
        "start the quickstart.",
        ko="학습된 모델과 기준 모델을 같은 평가 행에서 비교합니다. 위에서 실행을 고르거나 빠른 시작을 실행하세요.",
    ),
    "evaluate.first": Text(
        en="Nothing has been compared yet. Start an evaluation above, or wait until the run has evaluated itself.",
        ko="아직 비교한 것이 없습니다. 위에서 평가를 시작하거나, 실행이 스스로 평가를 마칠 때까지 기다리세요.",
    ),
    "evaluate.first_over": Text(
        en="Nothing has been compared yet. Start an evaluation above.",
        ko="아직 비교한 것이 없습니다. 위에서 평가를 시작하세요.",
    ),
    "evaluate.failed_run": Text(
        en="This run failed and left no trained weights to evaluate.",
        ko="이 실행은 실패해 평가할 가중치가 없습니다.",
    ),
    "evaluate.ended_run": Text(
        en="This run ended before any trained weights were saved, so there is nothing to evaluate.",
        ko="이 실행은 학습된 가중치를 저장하기 전에 끝나 평가할 것이 없습니다.",
    ),
    "evaluate.probe_run": Text(
        en="A probe trains nothing, so there is nothing to evaluate. What it found stands under Rewards.",
        ko="탐색 실행은 학습하지 않으므로 평가할 것이 없습니다. 결과는 보상 페이지에 있습니다.",
    ),
    "evaluate.run_log": Text(en="Its log", ko="실행 로그"),
    "evaluate.none_saved": Text(en="none saved", ko="저장된 것 없음"),
    "evaluate.to_breakdown": Text(en="By kind of problem", ko="항목별 정확도"),
    "evaluate.sections": Text(en="On this page", ko="이 페이지의 내용"),
    "evaluate.no_rows": Text(
        en="This run kept no held-out rows (eval_size 0), so it was never evaluated. Evaluate it on a stored set, or "
        "on rows made now.",
        ko="이 실행에는 평가 행이 없어(eval_size 0) 평가한 적이 없습니다. 저장된 데이터셋이나 새로 만든 행으로 "
        "평가하세요.",
    ),
    "evaluate.soon": Text(
        en="The comparison appears here when both sides have answered every row.",
        ko="두 모델이 모든 행에 답하면 비교 결과가 여기에 나타납니다.",
    ),
    # The top
    "evaluate.which": Text(en="Evaluation", ko="평가"),
    "evaluate.own": Text(en="The run's own, before and after", ko="실행 자체의 학습 전후 평가"),
    "evaluate.own_about": Text(
        en="measured by the run itself before and after training · greedy",
        ko="실행이 학습 전과 후에 직접 측정 · greedy",
    ),
    "evaluate.of_checkpoint": Text(en="weights: {name}", ko="가중치: {name}"),
    "evaluate.greedy": Text(en="greedy", ko="greedy"),
    "evaluate.and_samples": Text(
        en="and {k} samples at temperature {temperature}", ko="샘플 {k}개 추가 (온도 {temperature})"
    ),
    "evaluate.seed": Text(en="seed {n}", ko="시드 {n}"),
    "evaluate.report": Text(en="Report", ko="보고서"),
    "evaluate.report_title": Text(en="One HTML file with everything in it", ko="모든 내용을 담은 HTML 파일 하나"),
    "evaluate.card": Text(en="Model card", ko="모델 카드"),
    "evaluate.card_title": Text(en="A model card in Markdown", ko="마크다운 형식의 모델 카드"),
    "evaluate.so_far": Text(en="So far:", ko="지금까지:"),
    "evaluate.proves_nothing": Text(
        en="The evaluation failed, so this proves nothing:", ko="평가가 실패해 다음 수치는 증거가 되지 않습니다:"
    ),
    # A new evaluation
    "evaluate.new": Text(en="Evaluate", ko="평가하기"),
    "evaluate.start": Text(en="Start the evaluation", ko="평가 시작"),
    "evaluate.starting": Text(en="Starting…", ko="시작하는 중…"),
    "evaluate.f_data": Text(en="Rows", ko="평가 행"),
    "evaluate.h_data": Text(
        en="Another set than the training's shows whether it carries over; the run's rewards score it.",
        ko="학습과 다른 데이터에서는 일반화되는지 알 수 있습니다. 채점은 이 실행의 보상이 합니다.",
    ),
    "evaluate.data_held_out": Text(en="held-out rows of the run", ko="실행의 평가 행"),
    "evaluate.data_set": Text(en="stored set", ko="저장된 데이터셋"),
    "evaluate.data_make": Text(en="made now", ko="새로 만들기"),
    "evaluate.set": Text(en="Stored set", ko="저장된 데이터셋"),
    "evaluate.set_words": Text(
        en="Rows that the run was trained on are no proof.", ko="학습에 쓴 행으로는 증명이 되지 않습니다."
    ),
    "evaluate.set_none": Text(
        en="No set is stored yet. Bring one in on the Data page, or make rows now.",
        ko="저장된 데이터셋이 없습니다. 데이터 화면에서 가져오거나 새로 만드세요.",
    ),
    "evaluate.seen": Text(
        en="The run was trained on these rows, or on others of this generator: some may be ones that it has seen. Only "
        "its held-out rows were kept apart.",
        ko="이 실행이 학습한 행이거나 같은 생성기의 행이라 이미 본 것이 섞일 수 있습니다. 따로 떼어 둔 것은 실행의 "
        "평가 행뿐입니다.",
    ),
    "evaluate.generator": Text(en="Generator", ko="생성기"),
    "evaluate.generator_args": Text(en="Its settings", ko="생성 설정"),
    "evaluate.f_n": Text(en="Rows at most (n)", ko="최대 행 수 (n)"),
    "evaluate.h_n": Text(en="400 rows halve the interval of 100.", ko="행이 4배가 되면 구간의 폭이 절반이 됩니다."),
    "evaluate.f_k": Text(en="Samples a row (k)", ko="행당 샘플 수 (k)"),
    "evaluate.h_k": Text(en="For pass@k and maj@k; 0: greedy only.", ko="pass@k, maj@k용. 0이면 greedy만."),
    "evaluate.f_checkpoint": Text(en="Weights", ko="가중치"),
    "evaluate.h_checkpoint": Text(en="Of the trained side.", ko="학습된 모델 쪽."),
    "evaluate.f_seed": Text(en="Seed", ko="시드"),
    "evaluate.h_seed": Text(en="Of the rows chosen and the samples.", ko="행 선택과 샘플링의 시드."),
    "evaluate.f_temperature": Text(en="Temperature", ko="온도"),
    "evaluate.h_temperature": Text(en="Of the k samples.", ko="샘플 k개의 온도."),
    "evaluate.checkpoint_final": Text(en="final", ko="마지막 (final)"),
    "evaluate.checkpoint_best": Text(en="best on held-out rows", ko="평가 정확도 최고 (best)"),
    "evaluate.cost": Text(
        en="Both models answer every row: base first, then trained.",
        ko="두 모델이 모든 행에 답합니다. 기준 모델이 먼저입니다.",
    ),
    "evaluate.waits": Text(
        en="The run is still training: the evaluation waits for the device.",
        ko="아직 학습 중이라 장치가 빌 때까지 평가가 기다립니다.",
    ),
    "evaluate.no_weights": Text(
        en="The trained weights of this run are not here (recorded elsewhere, removed, or never saved), so it cannot "
        "be evaluated anew.",
        ko="이 실행의 학습된 가중치가 여기에 없어(다른 곳에서 기록, 삭제, 또는 저장 전) 새로 평가할 수 없습니다.",
    ),
    "evaluate.no_weights_yet": Text(
        en="No trained weights have been saved yet; come back after the first checkpoint.",
        ko="아직 저장된 가중치가 없습니다. 첫 체크포인트가 저장된 뒤 다시 오세요.",
    ),
    # Under way
    "evaluate.progress": Text(en="Progress of the evaluation", ko="평가 진행 상황"),
    "evaluate.queued": Text(
        en="waiting for the device: another run is using it", ko="다른 실행이 장치를 사용 중이라 대기 중"
    ),
    "evaluate.loading": Text(en="loading the model", ko="모델을 불러오는 중"),
    "evaluate.stop": Text(en="Stop and keep the answers", ko="답변을 저장하고 중지"),
    "evaluate.resume": Text(en="Go on with the rest", ko="나머지 이어서 하기"),
    "evaluate.stopping": Text(en="stopping after the answers at hand", ko="하던 답변까지 마치고 멈추는 중"),
    "evaluate.stopping_load": Text(en="stopping as soon as the model is loaded", ko="모델을 불러오는 대로 멈춥니다"),
    "evaluate.stop_now": Text(en="Stop at once", ko="지금 바로 중지"),
    "evaluate.stop_queued": Text(en="Take out of the queue", ko="대기열에서 빼기"),
    "evaluate.stopped_empty": Text(
        en="Stopped before any answer was stored.", ko="답변이 하나도 저장되기 전에 중지했습니다."
    ),
    "evaluate.stopped": Text(
        en="Stopped at row {done} of {total} ({stage}). The answers so far are stored; going on starts with the next "
        "row.",
        ko="{stage} {total}행 중 {done}행에서 중지했습니다. 지금까지의 답변은 저장되어 있고, 이어서 하면 다음 행부터 "
        "시작합니다.",
    ),
    "evaluate.log": Text(en="its log", ko="로그"),
    # The table
    "evaluate.table": Text(en="Base against trained", ko="기준 모델과 학습된 모델"),
    "evaluate.measure": Text(en="measure", ko="지표"),
    "evaluate.base": Text(en="base", ko="기준 모델"),
    "evaluate.trained": Text(en="trained", ko="학습된 모델"),
    "evaluate.difference": Text(en="difference", ko="차이"),
    "evaluate.points": Text(en="{n} pp", ko="{n}%p"),
    "evaluate.interval": Text(en="{low} to {high}", ko="{low} ~ {high}"),
    "evaluate.m_accuracy": Text(en="accuracy", ko="정확도"),
    "evaluate.m_format_rate": Text(en="format kept", ko="형식 준수율"),
    "evaluate.m_mean_length": Text(en="mean length (tokens)", ko="평균 길이 (토큰)"),
    "evaluate.m_eos_rate": Text(en="ended by itself (EOS)", ko="스스로 종료 (EOS)"),
    "evaluate.m_mean_reward": Text(en="mean reward", ko="평균 보상"),
    "evaluate.m_pass_at_1": Text(en="pass@1", ko="pass@1"),
    "evaluate.m_pass_at_k": Text(en="pass@{k}", ko="pass@{k}"),
    "evaluate.m_maj_at_k": Text(en="maj@{k}", ko="maj@{k}"),
    "evaluate.b_strict": Text(en="exact to the letter", ko="글자까지 정확히 일치"),
    "evaluate.b_balanced": Text(en="each answer counted alike", ko="정답별 균형 정확도"),
    "evaluate.b_majority": Text(en="always the commonest answer", ko="가장 흔한 답만 낼 때"),
    "evaluate.b_chance": Text(en="guessing", ko="찍을 때"),
    "evaluate.sampled": Text(
        en="{k} samples a row at temperature {temperature}", ko="행당 샘플 {k}개, 온도 {temperature}"
    ),
    "evaluate.answer_new": Text(
        en="Something new: pass@{k} rose by {change} ({range}), so it solves problems that {k} tries of the base did "
        "not.",
        ko="새로 배웠습니다: pass@{k} {change}({range}). 기준 모델이 {k}번 시도해도 못 풀던 문제를 풉니다.",
    ),
    "evaluate.answer_steadier": Text(
        en="Steadier, not newly able: single tries got better, and pass@{k} did not measurably ({change}{range}).",
        ko="더 안정적이 되었을 뿐입니다: 한 번의 시도는 나아졌지만 pass@{k}의 변화는 확인되지 않습니다"
        "({change}{range}).",
    ),
    "evaluate.answer_ceiling": Text(
        en="Single tries got better. Whether it can do something new cannot be seen on these problems: the base solves "
        "{base} of them within {k} tries already.",
        ko="한 번의 시도는 나아졌습니다. 새로 할 수 있게 된 것이 있는지는 이 문제들로 알 수 없습니다: 기준 모델도 "
        "{k}번 안에 이미 {base}를 풉니다.",
    ),
    "evaluate.answer_narrower": Text(
        en="Narrower: pass@{k} fell ({change}{range}); some problems that tries of the base solved are lost.",
        ko="좁아졌습니다: pass@{k} {change}({range}). 기준 모델의 여러 시도로는 풀리던 문제 일부를 못 풉니다.",
    ),
    "evaluate.answer_neither": Text(
        en="Neither is shown: neither single tries nor pass@{k} ({change}{range}) rose measurably.",
        ko="어느 쪽도 확인되지 않습니다: 한 번의 시도도 pass@{k}({change}{range})도 올랐다고 할 수 없습니다.",
    ),
    "evaluate.sampled_means": Text(
        en="pass@{k} up: it solves problems that {k} tries of the base never did, so it learned something new. Only "
        "pass@1 and maj@{k} up: it became steadier at what the base could do already.",
        ko="pass@{k}가 오르면 기준 모델이 {k}번 시도해도 못 풀던 문제를 푸는 것이니 새로 배운 것입니다. pass@1과 "
        "maj@{k}만 오르면 이미 할 수 있던 것을 더 안정적으로 하는 것입니다.",
    ),
    "evaluate.no_samples": Text(
        en="Greedy answers only. Evaluate with k samples a row to see whether it learned something new or only became "
        "steadier.",
        ko="greedy 답변만 있습니다. 행당 샘플 k개로 평가하면 새로 배운 것인지, 더 안정적이 되었을 뿐인지 알 수 "
        "있습니다.",
    ),
    "evaluate.n": Text(en="rows judged (n)", ko="채점한 행 (n)"),
    "evaluate.n_title": Text(en="Rows that could be judged on both sides", ko="양쪽 모두 채점할 수 있었던 행"),
    "evaluate.skipped": Text(en="not judged", ko="채점 불가"),
    "evaluate.skipped_title": Text(
        en="Rows that no reward could judge; they count on neither side",
        ko="어떤 보상도 채점하지 못한 행. 어느 쪽에도 넣지 않습니다",
    ),
    "evaluate.left_out": Text(en="too long", ko="너무 긴 행"),
    "evaluate.left_out_title": Text(
        en="Rows whose prompt is too long, left out on both sides", ko="프롬프트가 너무 길어 양쪽에서 뺀 행"
    ),
    "evaluate.p": Text(en="McNemar p", ko="맥니머 검정 p"),
    "evaluate.p_title": Text(
        en="Exact, two-sided: how often a difference this large comes by chance if nothing was learnt",
        ko="양측 정확 검정: 배운 것이 없는데도 우연히 이만큼 차이 날 확률",
    ),
    "evaluate.p_small": Text(en="< 0.0001", ko="< 0.0001"),
    "evaluate.won_lost": Text(en="won / lost", ko="새로 맞힘 / 새로 틀림"),
    "evaluate.won_lost_title": Text(
        en="Problems right only after training, and only before it", ko="학습 후에만 맞힌 문제 / 학습 전에만 맞힌 문제"
    ),
    # The plot, the breakdown
    "evaluate.plot": Text(en="With 95% intervals", ko="95% 신뢰구간"),
    "evaluate.plot_difference": Text(
        en="difference, in percentage points; an interval that holds 0 shows no change",
        ko="차이(%p). 구간에 0이 들어 있으면 달라졌다고 할 수 없습니다",
    ),
    "evaluate.breakdown": Text(en="Accuracy by", ko="항목별 정확도"),
    "evaluate.column": Text(en="Column", ko="열"),
    "evaluate.no_value": Text(en="(none)", ko="(없음)"),
    "evaluate.n_rows": Text(en="{n} rows", ko="{n}행"),
    "evaluate.more_values": Text(en="and {n} more values (in the CSV)", ko="외 값 {n}개 (CSV에 있음)"),
}
