"""The parts of a run's folder: what each is for, and what removing it costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from backend.text import Text

# Of a checkpoint: what only going on with the training needs.
OPTIMIZER = ("optimizer", "scheduler", "rng_state", "scaler", "generation.safetensors", "reference.safetensors")


@dataclass(frozen=True, slots=True)
class Part:
    """`holds(path)`: whether a file of the run's folder, by its parts below it, belongs here."""

    id: str
    words: Text
    costs: Text
    removable: bool
    holds: Callable[[tuple[str, ...]], bool]


def _under(*folders: str) -> Callable[[tuple[str, ...]], bool]:
    return lambda parts: len(parts) > 1 and parts[0] in folders


def is_optimizer(parts: tuple[str, ...]) -> bool:
    return parts[0] in ("checkpoints", "sft-checkpoints") and len(parts) > 2 and parts[-1].startswith(OPTIMIZER)


PARTS = (
    Part(
        "optimizer",
        Text("Optimizer and random states in the checkpoints", "체크포인트의 옵티마이저와 난수 상태"),
        Text(
            "A resume would begin anew at step 0. The checkpoints can still be evaluated, chatted with and exported.",
            "이어서 하면 0스텝부터 다시 시작합니다. 체크포인트로 평가, 대화, 내보내기는 계속할 수 있습니다.",
        ),
        True,
        is_optimizer,
    ),
    Part(
        "checkpoints",
        Text("Checkpoints of the training, without the optimizer", "학습 중 체크포인트(옵티마이저 제외)"),
        Text(
            "A resume would begin anew at step 0, and the states along the way cannot be evaluated, chatted with or "
            "exported. The final and the best weights stay.",
            "이어서 하면 0스텝부터 다시 시작하고, 중간 상태로 평가, 대화, 내보내기를 할 수 없습니다. 최종 가중치와 "
            "최고 가중치는 남습니다.",
        ),
        True,
        _under("checkpoints", "sft-checkpoints"),
    ),
    Part(
        "final",
        Text("The trained weights", "학습된 최종 가중치"),
        Text(
            "The trained model is gone: no evaluation, chat or export of it. Its curves and texts stay.",
            "학습된 모델이 없어져 평가, 대화, 내보내기를 할 수 없습니다. 곡선과 기록은 남습니다.",
        ),
        True,
        _under("final"),
    ),
    Part(
        "best",
        Text("The best weights by held-out accuracy", "평가 정확도가 가장 높았던 가중치"),
        Text("The best weights are gone; the final ones stay.", "최고 가중치가 없어집니다. 최종 가중치는 남습니다."),
        True,
        _under("best", "best.before", "best.part", "best.gone"),
    ),
    Part(
        "exports",
        Text("Exports that were made", "만들어 둔 내보내기"),
        Text("They can be made again from the weights.", "가중치에서 다시 만들 수 있습니다."),
        True,
        _under("exports"),
    ),
    Part(
        "sft",
        Text("The warm-up's model", "워밍업 모델"),
        Text(
            "An adapter on top of it cannot be used any more, and a resume would do the warm-up again.",
            "그 위에서 학습한 어댑터를 쓸 수 없고, 이어서 할 때 워밍업부터 다시 합니다.",
        ),
        True,
        _under("sft", "sft-adapter"),
    ),
    Part(
        "logs",
        Text("The worker's log", "학습 프로세스 로그"),
        Text("The log can be read no more.", "로그를 더 볼 수 없습니다."),
        True,
        _under("logs"),
    ),
    Part(
        "data",
        Text("The rows it trained and was evaluated on", "학습과 평가에 쓴 행"),
        Text(
            "Only deleting the run removes them: evaluations and a resume need these very rows.",
            "실행을 삭제해야만 지워집니다. 평가와 이어서 학습에 이 행이 필요합니다.",
        ),
        False,
        _under("data"),
    ),
    Part(
        "other",
        Text("Small files of the run", "그 밖의 작은 파일"),
        Text("Only deleting the run removes them.", "실행을 삭제해야만 지워집니다."),
        False,
        lambda parts: True,
    ),
)
DATABASE = Part(
    "database",
    Text("Curves, completions and evaluations in the database (estimated)", "DB의 곡선, 답변, 평가 기록(추정)"),
    Text("Only deleting the run removes them.", "실행을 삭제해야만 지워집니다."),
    False,
    lambda parts: False,
)
BY_ID = {part.id: part for part in (*PARTS, DATABASE)}
