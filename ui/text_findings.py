"""The words of what the diagnosis found: beside the live page's sentence, and of a change tried in a new run."""

from __future__ import annotations

from backend.text import Text

TEXTS: dict[str, Text] = {
    "findings.count": Text(en="{n} findings", ko="진단 {n}건"),
    "findings.count_1": Text(en="1 finding", ko="진단 1건"),
    "findings.count_0": Text(en="No findings", ko="진단 없음"),
    "findings.title": Text(en="What the diagnosis found", ko="진단 결과"),
    "findings.as_of": Text(en="as of step {step}", ko="{step}스텝 기준"),
    "findings.none": Text(en="Nothing stands against this run.", ko="문제가 발견되지 않았습니다."),
    "findings.pending": Text(en="Being diagnosed from its records …", ko="기록을 진단하는 중입니다…"),
    "findings.waiting_first": Text(
        en="The first diagnosis comes some seconds after the first step.",
        ko="첫 스텝이 끝나고 몇 초 뒤에 첫 진단이 나옵니다.",
    ),
    "findings.failed": Text(
        en="The records of this run could not be judged. The server's log says why.",
        ko="이 실행의 기록을 진단하지 못했습니다. 이유는 서버 로그에 있습니다.",
    ),
    "findings.again": Text(en="Diagnose again", ko="다시 진단"),
    "findings.again_title": Text(
        en="Judge the stored records with the rules of this version",
        ko="저장된 기록을 지금 버전의 규칙으로 다시 진단합니다",
    ),
    "findings.stop": Text(en="Stop", ko="중단 필요"),
    "findings.critical": Text(en="Critical", ko="심각"),
    "findings.warn": Text(en="Warning", ko="주의"),
    "findings.info": Text(en="Note", ko="참고"),
    "findings.since": Text(en="since step {step}", ko="{step}스텝부터"),
    "findings.span": Text(en="steps {from} to {to}", ko="{from}~{to}스텝"),
    "findings.because_of": Text(en="explained by {id}: {title}", ko="{id}로 설명됩니다: {title}"),
    "findings.causes": Text(en="Likely causes, the likeliest first", ko="가능한 원인 (가능성이 높은 순)"),
    "findings.change": Text(en="Change", ko="바꿀 설정"),
    "findings.apply": Text(en="Apply to a new run", ko="새 실행에 적용"),
    "findings.samples": Text(en="Samples that show it", ko="근거가 되는 샘플"),
    "findings.sample": Text(en="step {step}, group {group}", ko="{step}스텝 그룹 {group}"),
    "findings.sample_one": Text(
        en="step {step}, group {group}, answer {index}", ko="{step}스텝 그룹 {group}의 답변 {index}"
    ),
    "findings.numbers": Text(en="Numbers", ko="수치"),
    "findings.cleared": Text(en="Cleared ({n})", ko="해소됨 ({n})"),
    "findings.symptoms": Text(en="Explained by the above ({n})", ko="위 진단으로 설명되는 항목 ({n})"),
    "findings.untold": Text(en="Cannot tell yet ({n})", ko="아직 판단할 수 없음 ({n})"),
    "findings.needs": Text(en="needs {n} more steps", ko="{n}스텝 더 필요"),
    "findings.needs_1": Text(en="needs 1 more step", ko="1스텝 더 필요"),
    "findings.needs_data": Text(en="not enough records of this kind", ko="이 종류의 기록이 부족합니다"),
    "findings.broken_rule": Text(
        en="This check failed itself and says nothing.", ko="이 검사는 오류로 실행되지 않았습니다."
    ),
    "findings.uncalibrated": Text(
        en="threshold not yet measured on real runs", ko="임계값을 실제 실행으로 아직 검증하지 않음"
    ),
    "findings.applied": Text(
        en="The settings of {name}, with the change of {finding}: {changes}. Changed fields are marked.",
        ko="{name}의 설정에 {finding} 진단의 변경을 적용했습니다: {changes}. 바뀐 항목이 표시됩니다.",
    ),
    "findings.copied": Text(en="The settings of {name}.", ko="{name}의 설정입니다."),
    "findings.gone": Text(
        en="That run is no longer here, so its settings cannot be taken.",
        ko="그 실행이 없어 설정을 가져올 수 없습니다.",
    ),
    "findings.own_field": Text(
        en="{field} is not taken over from a link.", ko="{field} 값은 링크로 설정할 수 없습니다."
    ),
    "findings.unknown_field": Text(
        en="This version has no setting {field}.", ko="이 버전에는 {field} 설정이 없습니다."
    ),
    "findings.in_runs": Text(en="{n} findings stand", ko="남아 있는 진단 {n}건"),
    "findings.in_runs_1": Text(en="1 finding stands", ko="남아 있는 진단 1건"),
}
