"""The page's own words in both languages. Modules named ui/text_*.py add theirs, in a `TEXTS` of the same kind."""

from __future__ import annotations

import importlib
import pkgutil

import ui
from backend.text import Text

TEXTS: dict[str, Text] = {
    # Frame
    "app.name": Text(en="GRPO Studio", ko="GRPO Studio"),
    "app.skip": Text(en="Skip to the page", ko="본문으로 건너뛰기"),
    "app.nav": Text(en="Pages", ko="페이지"),
    "app.run": Text(en="run", ko="실행"),
    "app.choose_run": Text(en="Choose a run", ko="실행 선택"),
    "app.no_runs": Text(en="No run yet", ko="아직 실행이 없습니다"),
    "app.device": Text(en="device", ko="장치"),
    "app.cpu": Text(en="CPU {n} cores", ko="CPU 코어 {n}개"),
    "app.language": Text(en="Language", ko="언어"),
    "app.theme": Text(en="Switch between light and dark", ko="밝은 화면과 어두운 화면 전환"),
    "app.loading": Text(en="Loading…", ko="불러오는 중…"),
    "app.retry": Text(en="Try again", ko="다시 시도"),
    "app.close": Text(en="Close", ko="닫기"),
    "app.cancel": Text(en="Cancel", ko="취소"),
    "app.offline": Text(
        en="The server does not answer. Training goes on without it; this page will catch up by itself.",
        ko="서버가 응답하지 않습니다. 학습은 서버와 상관없이 계속되며, 다시 연결되면 화면이 자동으로 따라잡습니다.",
    ),
    "app.page_failed": Text(en="This page could not be opened.", ko="이 페이지를 열지 못했습니다."),
    "app.unknown": Text(en="–", ko="–"),
    "app.step": Text(en="step", ko="스텝"),
    # States of a run
    "state.queued": Text(en="queued", ko="대기 중"),
    "state.starting": Text(en="starting", ko="시작하는 중"),
    "state.running": Text(en="running", ko="실행 중"),
    "state.stopping": Text(en="stopping", ko="멈추는 중"),
    "state.stopped": Text(en="stopped", ko="멈춤"),
    "state.succeeded": Text(en="finished", ko="완료"),
    "state.failed": Text(en="failed", ko="실패"),
    "state.lost": Text(en="lost", ko="유실"),
    # Stages of a run
    "stage.build": Text(en="build model", ko="모델 생성"),
    "stage.sft": Text(en="warm-up (SFT)", ko="준비 학습 (SFT)"),
    "stage.evaluate_before": Text(en="evaluate before", ko="학습 전 평가"),
    "stage.grpo": Text(en="GRPO", ko="GRPO"),
    "stage.probe": Text(en="probe", ko="탐색"),
    "stage.evaluate_base": Text(en="evaluate base", ko="기준 모델 평가"),
    "stage.evaluate_trained": Text(en="evaluate trained", ko="학습된 모델 평가"),
    "stage.evaluate_fresh": Text(en="best against last", ko="최고·마지막 재평가"),
    "stage.evaluate_after": Text(en="evaluate after", ko="학습 후 평가"),
}


def all_texts() -> dict[str, dict[str, str]]:
    """Every text of the page as {key: {"en", "ko"}}; two modules may not name the same key."""
    merged = dict(TEXTS)
    for module in pkgutil.iter_modules(ui.__path__):
        if not module.name.startswith("text_"):
            continue
        more: dict[str, Text] = importlib.import_module(f"ui.{module.name}").TEXTS
        twice = merged.keys() & more.keys()
        if twice:
            raise ValueError(f"ui/{module.name}.py names texts that exist already: {sorted(twice)}")
        merged.update(more)
    return {key: text.to_json() for key, text in merged.items()}
