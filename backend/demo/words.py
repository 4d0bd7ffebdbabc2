"""What a visitor of a public Space is told, in both languages."""

from __future__ import annotations

from backend.text import Text

REFUSED = Text(
    en="This is a public demo: what you asked for works only where GRPO Studio runs on your own machine.",
    ko="이 작업은 공개 데모에서 할 수 없습니다. 내 컴퓨터에서 GRPO Studio를 실행하면 할 수 있습니다.",
)
NO_CODE = Text(
    en="This is a public demo: nobody's code is run here. Custom rewards work where GRPO Studio runs on your machine.",
    ko="공개 데모에서는 코드를 실행하지 않습니다. 사용자 보상은 내 컴퓨터에서 GRPO Studio를 실행할 때 쓸 수 있습니다.",
)
NO_FILES = Text(
    en="This is a public demo: it takes no files and keeps no data sets. Your own rows can be used where GRPO Studio "
    "runs on your machine.",
    ko="공개 데모에서는 파일을 올리거나 데이터셋을 저장할 수 없습니다. 내 컴퓨터에서 GRPO Studio를 실행하면 됩니다.",
)
NOT_YOURS = Text(
    en="This run belongs to another visitor: only who started it can stop or delete it.",
    ko="다른 방문자의 실행입니다. 시작한 사람만 중지하거나 삭제할 수 있습니다.",
)
RECORDED = Text(
    en="This run was recorded for everybody and stays as it is.",
    ko="모두를 위해 기록해 둔 실행이라 바꿀 수 없습니다.",
)
NO_VISITOR = Text(
    en="Only the page of this demo can start runs: the request does not say which visitor it comes from.",
    ko="이 데모의 화면에서만 실행을 시작할 수 있습니다. 요청에 방문자 정보가 없습니다.",
)
ONE_EACH = Text(
    en="Your run is still waiting or running. On this demo everybody has one at a time: stop it, or wait for its end.",
    ko="내 실행이 아직 대기 중이거나 진행 중입니다. 이 데모에서는 한 사람이 한 번에 하나만 실행할 수 있으니, 멈추거나 "
    "끝날 때까지 기다리세요.",
)
FULL = Text(
    en="The queue of this demo is full. Try again in a few minutes.",
    ko="이 데모의 대기열이 가득 찼습니다. 몇 분 후 다시 시도하세요.",
)
MANY_STARTS = Text(
    en="Many runs were started on this demo within the last hour. Try again later.",
    ko="최근 한 시간 동안 이 데모에서 실행이 많이 시작되었습니다. 나중에 다시 시도하세요.",
)


def building(step: int, total: int) -> Text:
    return Text(
        en=f"The embedded model is being built (step {step} of {total}). It takes a few minutes after the start of the "
        "Space; the recorded runs are there already.",
        ko=f"내장 모델을 만드는 중입니다({step}/{total} 스텝). Space가 시작된 뒤 몇 분 걸리며, 기록된 실행은 지금도 "
        "볼 수 있습니다.",
    )


NOT_BUILT = Text(
    en="The embedded model could not be built here, so nothing can be trained. The recorded runs can be explored.",
    ko="내장 모델을 만들지 못해 학습할 수 없습니다. 기록된 실행은 볼 수 있습니다.",
)
