"""Texts of the custom-reward editor."""

from __future__ import annotations

from backend.text import Text

TEXTS: dict[str, Text] = {
    "custom.lead": Text(
        en="A Python function that takes the completions and returns one number for each of them, or None where it "
        "does "
        "not apply. It runs in a process of its own, with limits.",
        ko="답변들을 받아 답변마다 숫자 하나, 해당하지 않으면 None을 돌려주는 파이썬 함수입니다. 별도 프로세스에서 "
        "제한을 두고 "
        "실행합니다.",
    ),
    "custom.saved": Text(en="Saved", ko="저장된 보상"),
    "custom.none": Text(
        en="Nothing is saved yet. Begin with a template.", ko="아직 저장한 보상이 없습니다. 템플릿으로 시작하세요."
    ),
    "custom.new": Text(en="New", ko="새로 만들기"),
    "custom.version": Text(en="version {n}", ko="버전 {n}"),
    "custom.versions": Text(en="Version", ko="버전"),
    "custom.delete": Text(en="Delete", ko="삭제"),
    "custom.delete_named": Text(en="Delete {name}", ko="{name} 삭제"),
    "custom.delete_title": Text(
        en="Delete {name} with all its versions?", ko="{name} 보상을 모든 버전과 함께 삭제할까요?"
    ),
    "custom.delete_body": Text(
        en="Runs that use it keep their own copies and can be resumed.",
        ko="이 보상을 쓴 실행에는 사본이 남아 있어 이어서 학습할 수 있습니다.",
    ),
    "custom.deleted": Text(en="{name} is deleted.", ko="{name} 보상을 삭제했습니다."),
    "custom.template": Text(en="Begin with", ko="템플릿"),
    "custom.template_none": Text(en="choose…", ko="고르기…"),
    "custom.name": Text(en="Name", ko="이름"),
    "custom.name_hint": Text(en="letters, digits and _", ko="글자, 숫자, _"),
    "custom.function": Text(en="Function", ko="함수"),
    "custom.choose": Text(en="choose one", ko="하나를 고르세요"),
    "custom.code": Text(en="Python source", ko="파이썬 소스"),
    "custom.code_hint": Text(
        en="Tab indents, Shift+Tab outdents; Escape and then Tab leaves the editor.",
        ko="Tab은 들여쓰기, Shift+Tab은 내어쓰기입니다. Esc를 누른 뒤 Tab을 누르면 편집기를 벗어납니다.",
    ),
    "custom.level": Text(en="Level", ko="실행 수준"),
    "custom.sandboxed": Text(en="Sandboxed", ko="샌드박스"),
    "custom.sandboxed_help": Text(
        en="the standard library and numpy; no network, no files",
        ko="표준 라이브러리와 numpy. 네트워크와 파일은 쓸 수 없음",
    ),
    "custom.trusted": Text(en="Trusted", ko="신뢰(trusted)"),
    "custom.trusted_help": Text(
        en="your environment, packages and network; on this machine only",
        ko="내 환경, 패키지, 네트워크 사용. 이 컴퓨터에서만",
    ),
    "custom.confirm": Text(
        en="I wrote this code or have read it, and run it as me.",
        ko="직접 작성했거나 내용을 확인한 코드이며, 내 권한으로 실행합니다.",
    ),
    "custom.limits": Text(en="Limits and columns", ko="제한과 열 연결"),
    "custom.limit_s": Text(en="Seconds a call may take", ko="호출당 최대 시간(초)"),
    "custom.memory_mb": Text(en="Memory, MB", ko="메모리(MB)"),
    "custom.mapping": Text(en="Columns of another name", ko="이름이 다른 열"),
    "custom.mapping_hint": Text(en="one a line: parameter = column", ko="한 줄에 하나: 인자 = 열"),
    "custom.rows": Text(en="Rows to test it on", ko="시험해 볼 행"),
    "custom.rows_real": Text(en="Take those of the dataset above", ko="위 데이터셋의 행 가져오기"),
    "custom.rows_hint": Text(
        en='JSON, one row a line: "completion", "prompt" and any column',
        ko='한 줄에 하나씩 JSON: "completion", "prompt"와 열들',
    ),
    "custom.rows_bad": Text(en="Line {line} is no JSON object.", ko="{line}번째 줄이 JSON 객체가 아닙니다."),
    "custom.columns": Text(en="Columns: {names}", ko="열: {names}"),
    "custom.columns_given": Text(
        en="and always: prompts, completions, completion_ids, trainer_state, log_extra, log_metric",
        ko="항상 받을 수 있는 값: prompts, completions, completion_ids, trainer_state, log_extra, log_metric",
    ),
    "custom.shape": Text(en="Completions as", ko="답변 형태"),
    "custom.shape_rows": Text(en="the rows are", ko="행에 적힌 대로"),
    "custom.shape_plain": Text(en="texts", ko="문자열"),
    "custom.shape_messages": Text(en="lists of messages", ko="메시지 리스트"),
    "custom.test": Text(en="Test", ko="시험"),
    "custom.testing": Text(en="Testing… {s} s", ko="시험 중… {s}초"),
    "custom.cancel": Text(en="Do not wait", ko="기다리지 않기"),
    "custom.save": Text(en="Save as version {n}", ko="버전 {n}(으)로 저장"),
    "custom.saved_as": Text(en="{name}, version {n}, is saved.", ko="{name} 버전 {n}을(를) 저장했습니다."),
    "custom.same": Text(
        en="Nothing differs from version {n}: it is still the newest.", ko="버전 {n}과 같아 새로 저장하지 않았습니다."
    ),
    "custom.unsaved": Text(en="not saved", ko="저장하지 않음"),
    "custom.leave_title": Text(en="Throw away what is not saved?", ko="저장하지 않은 내용을 버릴까요?"),
    "custom.leave": Text(en="Throw it away", ko="버리기"),
    "custom.result_ok": Text(en="Scored {n} rows in {s} s", ko="{n}개 행을 {s}초에 채점"),
    "custom.result_some": Text(
        en="{failed} of {n} rows failed: in a run they count as missing",
        ko="{n}개 중 {failed}개 행이 실패. 학습에서는 누락으로 셉니다",
    ),
    "custom.result_bad": Text(en="It cannot be used like this", ko="이대로는 쓸 수 없습니다"),
    "custom.call": Text(en="What the trainer gives it", ko="트레이너가 넘기는 값"),
    "custom.row": Text(en="row", ko="행"),
    "custom.score": Text(en="score", ko="점수"),
    "custom.completion": Text(en="completion", ko="답변"),
    "custom.said": Text(en="logged", ko="기록"),
    "custom.failed": Text(en="failed", ko="실패"),
    "custom.skipped": Text(en="left out", ko="제외"),
    "custom.metrics": Text(en="Metrics: {metrics}", ko="지표: {metrics}"),
    "custom.prints": Text(en="Printed, {bytes} bytes", ko="출력 {bytes}바이트"),
    "custom.restarts": Text(en="Its process was restarted {n} times.", ko="프로세스를 {n}번 다시 시작했습니다."),
    "custom.go_line": Text(en="Line {n}", ko="{n}번째 줄"),
    "custom.use_signature": Text(en="Use this signature", ko="이 선언으로 바꾸기"),
    "custom.use_column": Text(en="Take {column} for {parameter}", ko="{parameter}에 {column} 열 쓰기"),
    "custom.use_function": Text(en="Take {name}", ko="{name} 쓰기"),
    "custom.use_trusted": Text(en="Make it trusted", ko="신뢰 수준으로"),
    "custom.broken": Text(en="cannot be used", ko="사용할 수 없음"),
}
