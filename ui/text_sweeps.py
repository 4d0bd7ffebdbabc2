"""The words of the Sweeps page: the list, a new sweep, one sweep with its table and plot. `_1` is the form for one."""

from __future__ import annotations

from backend.text import Text

TEXTS: dict[str, Text] = {
    # The list
    "sweeps.title": Text("Sweeps", "스윕"),
    "sweeps.lead": Text(
        "Train a grid of settings, one run a point, and see which setting is better and whether that can be told.",
        "설정 조합마다 실행을 하나씩 학습해, 어느 설정이 나은지와 그 차이를 믿을 수 있는지 봅니다.",
    ),
    "sweeps.new": Text("New sweep", "새 스윕"),
    "sweeps.none": Text("No sweep yet", "아직 스윕이 없습니다"),
    "sweeps.none_body": Text(
        "A sweep takes a preset or a run, a few fields and the values to try: loss_type grpo, dapo and dr_grpo, say, "
        "with three seeds each.",
        "프리셋이나 실행을 바탕으로 몇 가지 필드와 시도할 값을 정합니다. 예: loss_type을 grpo, dapo, dr_grpo로, 시드 "
        "3개씩.",
    ),
    "sweeps.none_demo": Text(
        "This public demo starts no sweeps. On your own machine they stand here.",
        "공개 데모에서는 스윕을 시작할 수 없습니다. 자신의 컴퓨터에서는 여기에 표시됩니다.",
    ),
    "sweeps.all": Text("All sweeps", "전체 스윕"),
    "sweeps.gone": Text("This sweep is not here", "이 스윕은 없습니다"),
    "sweeps.gone_body": Text("It was deleted, or the address is wrong.", "삭제되었거나 주소가 잘못되었습니다."),
    "sweeps.col_name": Text("Sweep", "스윕"),
    "sweeps.col_state": Text("State", "상태"),
    "sweeps.col_over": Text("Fields", "필드"),
    "sweeps.col_runs": Text("Runs", "실행"),
    "sweeps.col_left": Text("Left", "남은 시간"),
    "sweeps.col_age": Text("Age", "경과"),
    "sweeps.finished_of": Text("{n} of {all} ended", "{all}개 중 {n}개 종료"),
    # A new sweep
    "sweeps.base": Text("Start from", "바탕 설정"),
    "sweeps.base_preset": Text("Preset", "프리셋"),
    "sweeps.base_run": Text("Run", "실행"),
    "sweeps.base_which": Text("Which one", "선택"),
    "sweeps.fields": Text("What to vary", "바꿀 필드"),
    "sweeps.fields_help": Text(
        "Several values of a field make the grid; a single value is set for every run.",
        "값이 여러 개인 필드가 조합을 이루고, 값이 하나인 필드는 모든 실행에 적용됩니다.",
    ),
    "sweeps.search": Text("Add a field: label or TRL name", "필드 추가: 이름 또는 TRL 이름"),
    "sweeps.often": Text("Often tried", "자주 쓰는 필드"),
    "sweeps.no_field": Text("No setting is called like that.", "그런 이름의 설정이 없습니다."),
    "sweeps.method": Text("Method (sets several fields)", "방법 (여러 필드를 함께 정함)"),
    "sweeps.values": Text("Values of {field}", "{field}의 값"),
    "sweeps.values_hint": Text("values, separated by commas", "쉼표로 구분한 값"),
    "sweeps.lists_hint": Text("lists, separated by semicolons", "세미콜론으로 구분한 목록"),
    "sweeps.base_value": Text("base: {value}", "바탕 값: {value}"),
    "sweeps.offer": Text("Add {value}", "{value} 추가"),
    "sweeps.remove": Text("Remove {field}", "{field} 빼기"),
    "sweeps.seeds": Text("Seeds", "시드"),
    "sweeps.seeds_help": Text(
        "Each setting is trained once a seed. Three or more tell a difference from luck.",
        "설정마다 시드 수만큼 학습합니다. 3개 이상이면 우연과 차이를 구분할 수 있습니다.",
    ),
    "sweeps.name": Text("Name", "이름"),
    "sweeps.name_hint": Text("made from the fields", "필드 이름으로 지음"),
    "sweeps.plan": Text("What this will do", "실행 계획"),
    "sweeps.plan_none": Text(
        "Add a field with two values or more, or two seeds.", "값이 둘 이상인 필드나 시드 두 개를 추가하세요."
    ),
    "sweeps.plan_runs": Text("{n} runs", "실행 {n}개"),
    "sweeps.plan_runs_1": Text("1 run", "실행 1개"),
    "sweeps.plan_grid": Text("{settings} settings × {seeds} seeds", "설정 {settings}개 × 시드 {seeds}개"),
    "sweeps.plan_settings": Text("{settings} settings", "설정 {settings}개"),
    "sweeps.plan_time": Text("about {time}", "약 {time}"),
    "sweeps.plan_devices": Text("{n} at once, one a device", "장치마다 하나씩 동시에 {n}개"),
    "sweeps.plan_devices_1": Text("one after the other on one device", "장치 하나에서 차례로"),
    "sweeps.plan_refused": Text("{n} of {all} points cannot run", "조합 {all}개 중 {n}개는 실행할 수 없습니다"),
    "sweeps.plan_points": Text("points: {points}", "해당 조합: {points}"),
    "sweeps.more_points": Text("and {n} more", "외 {n}개"),
    "sweeps.leave_out": Text("Leave these {n} points out and run the others", "이 조합 {n}개를 빼고 나머지만 실행"),
    "sweeps.would_do": Text("would do", "가능한 값"),
    "sweeps.plan_warns": Text("{n} of {all} points", "조합 {all}개 중 {n}개"),
    "sweeps.inert": Text(
        "{field} changes nothing here, so its values make the same run: {why}",
        "{field}은(는) 여기서 효과가 없어 값을 바꿔도 같은 실행입니다: {why}",
    ),
    "sweeps.why_empty": Text("Nothing to vary yet.", "아직 바꿀 필드가 없습니다."),
    "sweeps.why_refused": Text(
        "Some points break a rule: change their values or leave them out.",
        "규칙에 어긋나는 조합이 있습니다. 값을 바꾸거나 그 조합을 빼세요.",
    ),
    "sweeps.why_none": Text("No point can run.", "실행할 수 있는 조합이 없습니다."),
    "sweeps.why_wrong": Text("Something above is not understood.", "위에 이해할 수 없는 값이 있습니다."),
    "sweeps.start": Text("Start {n} runs", "실행 {n}개 시작"),
    "sweeps.start_1": Text("Start 1 run", "실행 1개 시작"),
    "sweeps.start_0": Text("Start", "시작"),
    "sweeps.starting": Text("Starting…", "시작하는 중…"),
    "sweeps.audit_warns": Text(
        "The audit of rewards and rows warns. Look at it, then start all the same.",
        "보상과 데이터 점검에 경고가 있습니다. 확인한 뒤 그대로 시작할 수 있습니다.",
    ),
    "sweeps.audit_stops": Text(
        "The audit of rewards and rows stops this sweep.", "보상과 데이터 점검에서 문제가 발견되어 시작할 수 없습니다."
    ),
    "sweeps.start_all_the_same": Text("Start all the same", "그대로 시작"),
    # One sweep
    "sweeps.of_preset": Text("preset {name}", "프리셋 {name}"),
    "sweeps.of_run": Text("from run {name}", "바탕 실행: {name}"),
    "sweeps.progress": Text("Progress of the sweep", "스윕 진행 상황"),
    "sweeps.count_state": Text("{n} {state}", "{state} {n}"),
    "sweeps.missing": Text("missing", "없음"),
    "sweeps.left": Text("about {time} left", "약 {time} 남음"),
    "sweeps.stop": Text("Stop the sweep", "스윕 중지"),
    "sweeps.stop_title": Text(
        "Empties its queue; what runs saves a checkpoint and stops",
        "대기 중인 실행을 빼고, 진행 중인 실행은 체크포인트를 저장한 뒤 멈춥니다",
    ),
    "sweeps.stop_now": Text("End at once", "지금 바로 종료"),
    "sweeps.resume": Text("Resume the sweep", "스윕 이어서 하기"),
    "sweeps.resume_title": Text(
        "Stopped runs go on from their checkpoints, missing ones start",
        "멈춘 실행은 체크포인트에서 이어지고 없는 실행은 새로 시작합니다",
    ),
    "sweeps.retry": Text("Try the failed ones again", "실패한 실행 다시 시도"),
    "sweeps.compare": Text("Compare the curves", "곡선 비교"),
    "sweeps.csv": Text("CSV", "CSV"),
    "sweeps.csv_title": Text("The table, one line a run", "실행마다 한 줄인 표"),
    "sweeps.delete": Text("Delete", "삭제"),
    "sweeps.delete_title": Text("Delete the sweep {name}?", "스윕 {name}을(를) 삭제할까요?"),
    "sweeps.delete_body": Text(
        "Its table goes. Its runs stay as ordinary runs.", "표는 사라지고 실행은 일반 실행으로 남습니다."
    ),
    "sweeps.delete_yes": Text("Delete the sweep", "스윕 삭제"),
    "sweeps.deleted": Text(
        "The sweep was deleted; its runs are still here.", "스윕을 삭제했습니다. 실행은 남아 있습니다."
    ),
    "sweeps.not_resumed": Text("Could not go on: {what}", "이어서 하지 못함: {what}"),
    "sweeps.left_out": Text("{n} points were left out", "제외한 조합 {n}개"),
    "sweeps.left_out_1": Text("1 point was left out", "제외한 조합 1개"),
    "sweeps.table": Text("Settings", "설정별 결과"),
    "sweeps.table_lead": Text(
        "Accuracy and change on held-out rows with 95% intervals. ± is the spread about the trend over the last half "
        "of training: less is steadier.",
        "평가 정확도와 변화는 95% 구간과 함께 표시합니다. ±는 학습 후반 절반에서 추세를 뺀 표준편차로, 작을수록 "
        "안정적입니다.",
    ),
    "sweeps.one_seed": Text(
        "One seed a setting: the intervals are over held-out rows alone. What another seed would give is not in them.",
        "설정마다 시드가 하나라 구간은 평가 행에 대한 것뿐입니다. 다른 시드에서 어떻게 될지는 들어 있지 않습니다.",
    ),
    "sweeps.c_setting": Text("setting", "설정"),
    "sweeps.c_done": Text("ended", "완료"),
    "sweeps.c_accuracy": Text("accuracy after", "학습 후 정확도"),
    "sweeps.c_gain": Text("change", "변화"),
    "sweeps.c_reward": Text("reward", "보상"),
    "sweeps.c_length": Text("length", "길이"),
    "sweeps.c_reward_spread": Text("reward ±", "보상 ±"),
    "sweeps.c_grad_spread": Text("grad. norm ±", "그래디언트 노름 ±"),
    "sweeps.c_seconds": Text("time", "시간"),
    "sweeps.c_finding": Text("diagnosis", "진단"),
    "sweeps.seeds_only": Text("seeds only", "시드만"),
    "sweeps.seed": Text("seed {n}", "시드 {n}"),
    "sweeps.best": Text("best", "최고"),
    "sweeps.range": Text("{low} to {high}", "{low} ~ {high}"),
    "sweeps.seeds_range": Text("seeds {low} to {high}", "시드별 {low} ~ {high}"),
    "sweeps.points": Text("{n} pp", "{n}%p"),
    "sweeps.tokens": Text("{n} tok", "{n} 토큰"),
    "sweeps.not_finite": Text("{n} values are no numbers", "숫자가 아닌 값 {n}개"),
    "sweeps.open_run": Text("Open run {name}", "실행 {name} 열기"),
    "sweeps.no_run": Text("no run", "실행 없음"),
    "sweeps.runs": Text("Runs", "실행"),
    "sweeps.f_learning": Text("learning", "학습됨"),
    "sweeps.f_learning_slowly": Text("learning slowly", "느리게 학습됨"),
    "sweeps.f_not_learning": Text("not learning", "학습되지 않음"),
    "sweeps.f_broken": Text("broken", "고장"),
    "sweeps.f_cannot_tell": Text("cannot tell", "판단 불가"),
    # The plot
    "sweeps.plot": Text("Settings and results side by side", "설정과 결과 한눈에 보기"),
    "sweeps.plot_lead": Text(
        "A line is a setting, coloured by its accuracy. Point at a line or at a row of the table to follow it.",
        "선 하나가 설정 하나이고 색은 정확도입니다. 선이나 표의 행을 가리키면 그 설정만 강조됩니다.",
    ),
    "sweeps.plot_label": Text("{label}: accuracy {accuracy}", "{label}: 정확도 {accuracy}"),
    # On the Runs page and on Live
    "sweeps.kind": Text("Sweep · {n} runs", "스윕 · 실행 {n}개"),
    "sweeps.unfold": Text("Show its runs", "실행 펼치기"),
    "sweeps.fold": Text("Hide its runs", "실행 접기"),
    "sweeps.result": Text("Result", "결과"),
    "sweeps.place": Text("{place} of {of} in the queue", "대기열 {of}개 중 {place}번째"),
    "sweeps.next": Text("Run next", "먼저 실행"),
    "sweeps.live_place": Text(
        "Waiting in the queue: number {place} of {of}. It starts by itself when a device is free.",
        "대기열 {of}개 중 {place}번째입니다. 장치가 비면 자동으로 시작합니다.",
    ),
}
