"""What the form says when the checks of the rewards and rows speak against a start, and of stored sets to choose."""

from __future__ import annotations

from backend.text import Text

TEXTS: dict[str, Text] = {
    "preflight.title": Text("Checked before the start", "시작 전 점검"),
    "preflight.busy": Text("Checking rewards and rows…", "보상과 데이터를 점검하는 중…"),
    "preflight.stopped": Text(
        "The run was not started. {n} checks of the rewards and rows failed.",
        "실행을 시작하지 않았습니다. 보상과 데이터 점검 {n}개를 통과하지 못했습니다.",
    ),
    "preflight.stopped_1": Text(
        "The run was not started. 1 check of the rewards and rows failed.",
        "실행을 시작하지 않았습니다. 보상과 데이터 점검 1개를 통과하지 못했습니다.",
    ),
    "preflight.warned": Text(
        "The run waits for your word: {n} warnings about the rewards and rows.",
        "보상과 데이터에 경고 {n}개가 있습니다. 읽고 결정하세요.",
    ),
    "preflight.warned_1": Text(
        "The run waits for your word: 1 warning about the rewards and rows.",
        "보상과 데이터에 경고 1개가 있습니다. 읽고 결정하세요.",
    ),
    "preflight.why_stopped": Text("What is red above must change first.", "위의 빨간 항목을 먼저 고쳐야 합니다."),
    "preflight.why_warned": Text("Read the warnings above.", "위의 경고를 읽어 보세요."),
    "preflight.anyway": Text("Start all the same", "그래도 시작"),
    "preflight.anyway_lead": Text("with these warnings read and passed over", "이 경고를 읽고 알고서 시작합니다"),
    "preflight.reward": Text("reward {name}", "보상 {name}"),
    "preflight.goto": Text("Go to {field}", "{field}(으)로 가기"),
    "preflight.fails": Text("Fails", "실패"),
    "preflight.row": Text("row {row}", "{row}행"),
    "preflight.score": Text("score {score}", "점수 {score}"),
    "preflight.expected": Text("expected: {expected}", "기대값: {expected}"),
    "preflight.unscored": Text("no score", "점수 없음"),
    "preflight.more": Text("{n} more examples", "예시 {n}개 더"),
    "preflight.more_1": Text("1 more example", "예시 1개 더"),
    "preflight.empty": Text("(empty)", "(비어 있음)"),
    # The dataset fields
    "sets.offer": Text("Stored sets and built-in ones", "저장한 데이터셋과 내장 데이터셋"),
    "sets.rows": Text("{n} rows", "{n}행"),
    "sets.rows_1": Text("1 row", "1행"),
    "sets.built_in": Text("built in", "내장"),
    "sets.use": Text("Use {name}", "{name} 쓰기"),
    "sets.more": Text("{n} more on the Data page", "데이터 페이지에 {n}개 더"),
    "sets.none": Text("Bring your own rows on the Data page", "데이터 페이지에서 내 데이터 가져오기"),
    "sets.manage": Text("Data page", "데이터 페이지"),
}
