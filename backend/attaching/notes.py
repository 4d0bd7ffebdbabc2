"""What is said of a run that was taken in: what its folder lacks, and what was taken to be so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.attaching.folder import CHECKPOINT, Folder
from backend.attaching.history import History
from backend.errors import Refused
from backend.text import Text


@dataclass(frozen=True, slots=True)
class Found:
    """`told`: what is kept with the run; `broken`: files that were left out, with why; `unread`: other logs of the
    folder; `later`: steps that a log in JSON lines has after the last checkpoint; `last_file`: the step of the newest
    completions; `common`: how many rows of one prompt stand together."""

    told: Mapping[str, Any]
    folder: Folder
    history: History
    names: Sequence[str]
    dropped: Sequence[str]
    broken: Sequence[Refused]
    unread: Sequence[str]
    later: int
    last_file: int
    common: int
    size: int | None
    total: int | None
    before: Sequence[str]


def notes(found: Found) -> Iterator[Text]:
    yield from _whole(found)
    yield from _log(found)
    yield from _groups(found)


def _whole(found: Found) -> Iterator[Text]:
    if found.before:
        listed = ", ".join(found.before[:3])
        yield Text(
            en=f"this folder was taken in before, as {listed}; this is another run, and that one is as it was",
            ko=f"이 폴더는 이미 {listed}(으)로 가져왔습니다. 이번 것은 별도의 실행이며 이전 실행은 그대로입니다",
        )
    if found.dropped:
        listed = ", ".join(found.dropped)
        yield Text(
            en=f"left out: {listed}. A run that was trained elsewhere has none of these, and alerts nobody",
            ko=f"제외한 설정: {listed}. 외부에서 학습한 실행에는 쓰이지 않으며 알림도 보내지 않습니다",
        )
    for error in found.broken:
        yield Text(en=f"left out: {error.text.en}", ko=f"제외: {error.text.ko}")
    path = found.folder.path
    if CHECKPOINT.fullmatch(path.name) or (path.name == "completions" and not found.history.rows):
        yield Text(
            en=f"this is a part of an output_dir; what else the training wrote is in {path.parent}",
            ko=f"output_dir의 일부입니다. 학습이 기록한 나머지는 {path.parent}에 있습니다",
        )
    if found.folder.others and not found.folder.completions:
        yield Text(
            en=f"{found.folder.others:,} Parquet files in completions/ are not named completions_STEP.parquet and were "
            "left out",
            ko=f"completions/의 Parquet 파일 {found.folder.others:,}개는 completions_STEP.parquet 형식의 이름이 "
            "아니어서 제외했습니다",
        )


def _log(found: Found) -> Iterator[Text]:
    last = found.history.last_step
    if not found.history.rows:
        yield Text(
            en="no log: the curves are those that the completions tell",
            ko="로그가 없어 생성 답으로 알 수 있는 곡선만 있습니다",
        )
    elif found.last_file > last:
        yield Text(
            en=f"the log ends at step {last:,}, the completions go on to {found.last_file:,}: trainer_state.json is of "
            "the last checkpoint. A later one, or a log in JSON lines, would give the curves of the rest",
            ko=f"로그는 {last:,}스텝에서 끝나고 생성 답은 {found.last_file:,}스텝까지 있습니다. trainer_state.json은 "
            "마지막 체크포인트의 것입니다. 이후 체크포인트나 JSON Lines 로그가 있으면 나머지 곡선도 볼 수 있습니다",
        )
    elif found.total and last < found.total:
        yield Text(
            en=f"the log ends at step {last:,} of {found.total:,}: the training was stopped there, or is not over. "
            "Take it in again when it is",
            ko=f"로그가 전체 {found.total:,}스텝 중 {last:,}스텝에서 끝납니다. 학습이 중단되었거나 아직 끝나지 "
            "않았습니다. 끝난 뒤 다시 가져오세요",
        )
    if found.history.rows and not found.names and "reward" not in found.history.names():
        yield Text(
            en="the log tells no reward: this may be another training than GRPO, of which little can be said here",
            ko="로그에 보상이 없습니다. GRPO가 아닌 학습일 수 있으며, 그러면 여기서 알 수 있는 것이 적습니다",
        )
    if found.later:
        yield Text(
            en=f"{found.later:,} steps after the last checkpoint come from the log in JSON lines",
            ko=f"마지막 체크포인트 이후 {found.later:,}스텝은 JSON Lines 로그에서 가져왔습니다",
        )
    if found.unread:
        listed = ", ".join(found.unread[:5])
        yield Text(
            en=f"not read: {listed}. The log of the most entries counts; give another one by its path",
            ko=f"읽지 않은 파일: {listed}. 항목이 가장 많은 로그를 사용했습니다. 다른 로그는 경로로 지정하세요",
        )
    if found.history.back:
        yield Text(
            en="the log begins anew before the step that it had reached, as after a resume: of a step that is there "
            "twice the later entry counts",
            ko="재개한 것처럼 로그가 이전 스텝에서 다시 시작됩니다. 같은 스텝이 두 번 있으면 나중 항목을 사용했습니다",
        )
    if skipped := found.told["skipped_lines"]:
        yield Text(
            en=f"{skipped} lines of the log are no entries and were left out",
            ko=f"로그에서 항목이 아닌 {skipped}줄은 제외했습니다",
        )


def _groups(found: Found) -> Iterator[Text]:
    told, folder = found.told, found.folder
    if size := told["guessed_num_generations"]:
        yield Text(
            en=f"num_generations is taken as {size}, from rows of the same prompt and their advantages; if it was "
            "another: --set num_generations=N",
            ko=f"같은 프롬프트의 행과 어드밴티지로 num_generations를 {size}(으)로 보았습니다. 다르면 "
            "--set num_generations=N으로 지정하세요",
        )
    elif found.size and found.common and found.common % found.size:
        yield Text(
            en=f"num_generations={found.size} does not fit: {found.common} rows of one prompt stand together. Groups "
            "are cut where the prompt changes",
            ko=f"num_generations={found.size}이(가) 맞지 않습니다. 같은 프롬프트의 행이 {found.common}개씩 있습니다. "
            "프롬프트가 바뀌는 곳에서 그룹을 나누었습니다",
        )
    if found.common == 1:
        yield Text(
            en="the rows of one prompt do not stand together, or each prompt has one row only: what was a group is not "
            "known, and nothing is said of dead groups",
            ko="같은 프롬프트의 행이 모여 있지 않거나 프롬프트마다 한 행뿐입니다. 그룹을 알 수 없어 죽은 그룹은 "
            "판단하지 않습니다",
        )
    if (every := told["groups_every"]) > 1:
        yield Text(
            en=f"groups of every {every}-th step are kept; the curves are whole",
            ko=f"{every}스텝마다 하나씩 그룹을 저장했습니다. 곡선은 모두 있습니다",
        )
    if told["tokens"] == "estimated":
        yield Text(
            en="token counts are estimated from the texts: there is no tokenizer.json in the folder",
            ko="폴더에 tokenizer.json이 없어 토큰 수를 글자 수로 추정했습니다",
        )
    if not folder.completions:
        yield Text(
            en="no completions: TRL writes them with log_completions=True (from 0.28 on); without them dead groups and "
            "what the rewards paid for cannot be told",
            ko="생성 답이 없습니다. TRL은 log_completions=True일 때만 기록합니다(0.28부터). 없으면 죽은 그룹이나 "
            "보상이 무엇에 점수를 주었는지 알 수 없습니다",
        )
    elif not told["weights_fit"] and len(found.names) > 1:
        yield Text(
            en="reward_weights are taken as 1 each: the log does not tell them",
            ko="로그로 reward_weights를 알 수 없어 모두 1로 보았습니다",
        )
