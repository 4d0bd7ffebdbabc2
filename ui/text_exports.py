"""What the files view says: exports of the weights, the hub, the disk. Keys ending in `_1` are the form for one."""

from __future__ import annotations

from backend.text import Text

WEIGHTS: dict[str, Text] = {
    "exports.open": Text("Files…", "파일…"),
    "exports.title": Text("Files and disk", "파일과 디스크"),
    "exports.title_of": Text("Files of {name}", "{name}의 파일"),
    "exports.back": Text("← All runs", "← 실행 목록"),
    "exports.no_run": Text(
        "Choose a run above or below to see its files.", "위나 아래에서 실행을 고르면 파일이 보입니다."
    ),
    "exports.gone": Text("This run is no longer here.", "이 실행은 더 이상 없습니다."),
    "exports.weights": Text("Trained weights", "학습된 가중치"),
    "exports.weights_lead": Text(
        "An export is loaded again in a fresh process before it is kept: it must give the same greedy tokens.",
        "내보낸 가중치는 새 프로세스에서 다시 불러와 greedy 토큰이 같은지 확인한 뒤에만 남깁니다.",
    ),
    "exports.checkpoint": Text("Checkpoint", "체크포인트"),
    "exports.what": Text("As", "형식"),
    "exports.what_adapter": Text("adapter", "어댑터"),
    "exports.what_merged": Text("merged", "병합"),
    "exports.what_model": Text("whole model", "전체 모델"),
    "exports.about_adapter": Text(
        "The LoRA adapter alone: small, and it needs its base model to run.",
        "LoRA 어댑터만 내보냅니다. 작지만 쓰려면 기준 모델이 있어야 합니다.",
    ),
    "exports.about_merged": Text(
        "Base and adapter as one model in safetensors: larger, and it runs by itself.",
        "기준 모델과 어댑터를 합친 safetensors 모델입니다. 크지만 혼자서 실행됩니다.",
    ),
    "exports.about_model": Text(
        "All weights in safetensors; this run trained the whole model.",
        "전체 가중치를 safetensors로 내보냅니다. 이 실행은 모델 전체를 학습했습니다.",
    ),
    "exports.make": Text("Make the export", "내보내기"),
    "exports.there": Text("It is there already, below.", "이미 아래에 있습니다."),
    "exports.busy": Text("One export is being made.", "내보내기가 진행 중입니다."),
    "exports.none": Text("No export yet.", "아직 내보낸 것이 없습니다."),
    "exports.none_saved": Text("This run has saved no weights.", "이 실행에는 저장된 가중치가 없습니다."),
    "exports.begins": Text("beginning", "시작하는 중"),
    "exports.progress": Text("Progress", "진행 상황"),
    "exports.lost": Text("the server does not answer", "서버가 응답하지 않음"),
    "exports.stop": Text("Stop", "중지"),
    "exports.stopped": Text("Stopped. Nothing is left of it.", "중지했습니다. 남은 파일은 없습니다."),
    "exports.made": Text("The export is made and verified.", "내보내고 검증했습니다."),
    "exports.verified": Text("verified", "검증됨"),
    "exports.not_verified": Text("not verified", "검증 안 됨"),
    "exports.stale": Text(
        "The run has other weights by now (it was resumed): make it again.",
        "그 뒤로 실행의 가중치가 바뀌었습니다(이어서 학습). 다시 내보내세요.",
    ),
    "exports.files": Text("{n} files", "파일 {n}개"),
    "exports.files_1": Text("1 file", "파일 1개"),
    "exports.see_files": Text("Files", "파일"),
    "exports.download": Text("Download .zip", ".zip 다운로드"),
    "exports.delete": Text("Delete", "삭제"),
    "exports.delete_title": Text("Delete this export?", "내보낸 파일을 삭제할까요?"),
    "exports.delete_body": Text(
        "It frees {size}. The run keeps its weights, so that it can be made again.",
        "{size}를 비웁니다. 실행의 가중치는 남으므로 다시 내보낼 수 있습니다.",
    ),
    "exports.delete_yes": Text("Delete the export", "내보낸 파일 삭제"),
    "exports.deleted": Text("The export is deleted.", "내보낸 파일을 삭제했습니다."),
    "exports.papers": Text("Report and model card", "보고서와 모델 카드"),
    "exports.papers_lead": Text(
        "Written anew from the records each time; the report in this page’s language.",
        "매번 기록에서 새로 만듭니다. 보고서는 이 화면의 언어로 나옵니다.",
    ),
    "exports.report": Text("Report (HTML)", "보고서 (HTML)"),
    "exports.card": Text("Model card", "모델 카드"),
}

HUB: dict[str, Text] = {
    "exports.push": Text("Push to the hub…", "허브에 올리기…"),
    "exports.push_title": Text("Push {name} to the hub", "허브에 올리기: {name}"),
    "exports.push_repo": Text("Repository", "저장소"),
    "exports.push_repo_form": Text(
        "Write it as org/name, for example me/my-model.", "org/name 형식으로 쓰세요. 예: me/my-model"
    ),
    "exports.push_private": Text("private repository", "비공개 저장소"),
    "exports.push_look": Text("Show what would be sent", "보낼 내용 보기"),
    "exports.push_would_private": Text(
        "{n} files, {size}, would go to the private repository {repo}. Nothing is sent yet.",
        "파일 {n}개({size})를 비공개 저장소 {repo}에 올립니다. 아직 아무것도 보내지 않았습니다.",
    ),
    "exports.push_would_public": Text(
        "{n} files, {size}, would go to the public repository {repo}, which anybody can read. Nothing is sent yet.",
        "파일 {n}개({size})를 누구나 볼 수 있는 공개 저장소 {repo}에 올립니다. 아직 아무것도 보내지 않았습니다.",
    ),
    "exports.push_estimate": Text(
        "It is not made yet: it is made and verified first, and the sizes are estimates.",
        "아직 만들지 않았습니다. 먼저 만들어 검증한 뒤 올리며, 크기는 추정값입니다.",
    ),
    "exports.push_card": Text("The model card that goes along", "함께 올라가는 모델 카드"),
    "exports.push_token": Text("A token was found in the server’s environment.", "서버 환경 변수에 토큰이 있습니다."),
    "exports.push_no_token": Text(
        "No token: set HF_TOKEN in the server’s environment and start it again. It is never typed into this page.",
        "토큰이 없습니다. 서버 환경 변수 HF_TOKEN을 설정하고 다시 시작하세요. 이 화면에는 입력하지 않습니다.",
    ),
    "exports.push_send": Text("Send {n} files ({size}) to {repo}", "{repo}에 파일 {n}개({size}) 보내기"),
    "exports.pushed": Text("Sent:", "올렸습니다:"),
}

DISK: dict[str, Text] = {
    "exports.disk_run": Text("Disk of this run", "이 실행의 디스크"),
    "exports.disk_lead": Text(
        "What each part is for, and what removing it would cost. Choose what may go.",
        "각 부분의 쓰임과, 지우면 무엇을 잃는지 보여 줍니다. 지울 것을 고르세요.",
    ),
    "exports.disk_lead_kept": Text(
        "What each part is for. None of it can be removed apart from the run.",
        "각 부분의 쓰임입니다. 실행을 남겨 두고 따로 지울 수 있는 것은 없습니다.",
    ),
    "exports.free": Text("Free {size}…", "{size} 비우기…"),
    "exports.free_title": Text("Delete these files?", "이 파일들을 삭제할까요?"),
    "exports.free_body": Text("It frees {size} and cannot be undone.", "{size}를 비우며 되돌릴 수 없습니다."),
    "exports.free_what": Text("To be deleted: {what}.", "삭제할 것: {what}."),
    "exports.free_yes": Text("Delete the files", "파일 삭제"),
    "exports.freed": Text("{size} are free again.", "{size}를 비웠습니다."),
    "exports.disk_home": Text("Disk by run", "실행별 디스크"),
    "exports.disk_total": Text("{size} used, {free} free on the disk", "{size} 사용, 디스크 여유 {free}"),
    "exports.all_runs": Text("All runs", "모든 실행"),
}

TEXTS: dict[str, Text] = WEIGHTS | HUB | DISK
