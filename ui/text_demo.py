"""The words of recorded runs and of a public demo."""

from __future__ import annotations

from backend.text import Text

TEXTS: dict[str, Text] = {
    "demo.bar": Text(en="Recorded runs and demo", ko="기록된 실행과 데모"),
    "demo.label": Text(en="Public demo", ko="공개 데모"),
    "demo.lead": Text(
        en="Explore real runs that were recorded, or train a tiny model yourself: one run at a time, at most {steps} "
        "steps and {minutes} minutes. Everybody sees every run.",
        ko="기록된 실제 실행을 살펴보거나 아주 작은 모델을 직접 학습해 보세요. 한 번에 하나, 최대 "
        "{steps}스텝·{minutes}분까지입니다. 모든 실행은 누구에게나 보입니다.",
    ),
    "demo.recorded": Text(en="Recorded", ko="기록된 실행"),
    "demo.start": Text(en="Start the quickstart", ko="빠른 시작 실행"),
    "demo.building": Text(
        en="The model is being built: step {step} of {total}. Training and chat begin after that.",
        ko="모델을 만드는 중: {step}/{total} 스텝. 끝나면 학습과 대화를 할 수 있습니다.",
    ),
    "demo.build_label": Text(en="Building the model", ko="모델 생성"),
    "demo.mine": Text(en="Your run is number {position} in the queue.", ko="내 실행은 대기열 {position}번째입니다."),
    "demo.waiting": Text(en="{n} waiting", ko="{n}개 대기 중"),
    "demo.running": Text(en="another run is training", ko="다른 학습이 실행 중입니다"),
    "demo.would_wait": Text(
        en="a quickstart started now waits at place {place}", ko="지금 시작하면 대기열 {place}번째로 기다립니다"
    ),
    "demo.no_data": Text(
        en="Data sets cannot be added on this public demo: its runs train on the built-in ones. On your own machine "
        "you can bring files, hub sets and generated rows.",
        ko="공개 데모에는 데이터셋을 추가할 수 없고, 실행은 내장 데이터셋으로 학습합니다. 내 컴퓨터에서 실행하면 파일, "
        "허브 데이터셋, 생성기를 쓸 수 있습니다.",
    ),
    "demo.refused": Text(en="Not started: {why}", ko="시작하지 못했습니다: {why}"),
    "demo.open": Text(en="Explore recorded runs", ko="기록된 실행 보기"),
    "demo.open_failed": Text(en="Not opened: {why}", ko="열지 못했습니다: {why}"),
}
