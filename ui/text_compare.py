"""Texts of the Compare page."""

from __future__ import annotations

from backend.text import Text

TEXTS: dict[str, Text] = {
    "compare.title": Text("Compare", "비교"),
    "compare.lead": Text(
        "Choose runs to lay their curves over each other and to see in what they differ.",
        "실행을 고르면 곡선을 겹쳐 보고 무엇이 다른지 확인할 수 있습니다.",
    ),
    "compare.none": Text("No run yet to compare.", "아직 비교할 실행이 없습니다."),
    "compare.add": Text("Add a run", "실행 추가"),
    "compare.remove": Text("Take {name} out", "{name} 빼기"),
    "compare.only_one": Text("Add a second run to compare with.", "비교할 실행을 하나 더 추가하세요."),
    "compare.full": Text(
        "12 runs are the most that one chart can tell apart.", "한 차트에서는 최대 12개까지 비교합니다."
    ),
    "compare.click": Text(
        "A click on a run's line opens its samples of that step.",
        "실행의 곡선을 누르면 그 스텝의 샘플이 열립니다.",
    ),
    "compare.gone": Text("Deleted since: {ids}", "삭제된 실행: {ids}"),
    "compare.failed": Text("The comparison could not be read: {why}", "비교를 불러오지 못했습니다: {why}"),
    "compare.evaluations": Text("Held-out rows", "평가 행"),
    "compare.evaluations_lead": Text(
        "Greedy answers before and after training, with 95% intervals. “Against the first” pairs the rows that both "
        "runs answered; an interval that contains 0 tells no difference.",
        "학습 전후의 greedy 답변 정확도와 95% 구간입니다. ‘첫 실행 대비’는 두 실행이 모두 푼 같은 문제끼리 비교하며, "
        "구간에 0이 들어 있으면 차이를 말할 수 없습니다.",
    ),
    "compare.run": Text("Run", "실행"),
    "compare.before": Text("Before", "학습 전"),
    "compare.after": Text("After", "학습 후"),
    "compare.gain": Text("Change", "변화"),
    "compare.against": Text("Against the first", "첫 실행 대비"),
    "compare.reward": Text("Reward at the end", "마지막 보상"),
    "compare.length": Text("Length (tokens)", "길이(토큰)"),
    "compare.spread": Text("Reward spread", "보상 흔들림"),
    "compare.verdict": Text("Finding", "진단"),
    "compare.points": Text("points", "%p"),
    "compare.rows": Text("{n} rows", "{n}행"),
    "compare.settings": Text("Settings that differ", "서로 다른 설정"),
    "compare.settings_same": Text("All settings are alike.", "설정이 모두 같습니다."),
    "compare.setting": Text("Setting", "설정"),
    "compare.unknown": Text("not known", "알 수 없음"),
    "compare.seeds": Text("{n} seeds of one setting", "같은 설정의 시드 {n}개"),
    "compare.seeds_note": Text(
        "Runs that differ in the seed alone are drawn as their mean, with the span from the lowest to the highest.",
        "시드만 다른 실행은 평균선과 최저~최고 범위로 그립니다.",
    ),
    "compare.single": Text("each run", "개별 실행"),
    "compare.without": Text("not on this axis: {names}", "이 축에 그릴 수 없음: {names}"),
    "compare.x_step": Text("step", "스텝"),
    "compare.x_tokens": Text("tokens seen", "누적 토큰"),
    "compare.x_time": Text("seconds of training", "학습 시간(초)"),
    "compare.open": Text("Compare", "비교"),
    "compare.pick": Text("Compare {name}", "{name} 비교 대상에 넣기"),
    "compare.picked_1": Text("Compare 1 run", "실행 1개 비교"),
    "compare.picked": Text("Compare {n} runs", "실행 {n}개 비교"),
}
