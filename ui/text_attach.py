"""Texts of "open a TRL run" on the Runs page."""

from __future__ import annotations

from backend.text import Text

TEXTS: dict[str, Text] = {
    "attach.open": Text("Open a TRL run", "TRL 실행 열기"),
    "attach.title": Text("Open a run that TRL made elsewhere", "다른 곳에서 TRL로 학습한 실행 열기"),
    "attach.lead": Text(
        "The output_dir of a GRPOTrainer on the machine of this server, or a log in JSON lines. With "
        "log_completions=True its completions are there too. Nothing in the folder is changed or executed.",
        "이 서버가 있는 컴퓨터에 있는 GRPOTrainer의 output_dir 또는 JSON Lines 로그 파일입니다. log_completions=True로 "
        "학습했다면 답변도 함께 가져옵니다. 폴더의 내용은 바꾸거나 실행하지 않습니다.",
    ),
    "attach.path": Text("Folder or file", "폴더 또는 파일"),
    "attach.name": Text("Name (optional)", "이름(선택)"),
    "attach.every": Text("Groups of every n-th step", "n스텝마다 그룹 보관"),
    "attach.every_help": Text(
        "1 keeps the completions of all steps. More makes a long training fit; metrics are kept whole.",
        "1이면 모든 스텝의 답변을 가져옵니다. 값을 키우면 긴 학습도 담을 수 있으며, 지표는 모두 보관합니다.",
    ),
    "attach.go": Text("Take it in", "가져오기"),
    "attach.cancel": Text("Close", "닫기"),
    "attach.reading": Text("Reading the folder…", "폴더를 읽는 중…"),
    "attach.progress": Text("{what}: {done} of {total} files", "{what}: 파일 {total}개 중 {done}개"),
    "attach.stop": Text("Stop reading", "읽기 중단"),
    "attach.stopped": Text("Stopped. Nothing was taken in.", "중단했습니다. 가져온 실행이 없습니다."),
    "attach.done": Text(
        "{name}: {steps} steps, {completions} completions.", "{name}: {steps}스텝, 답변 {completions}개."
    ),
}
