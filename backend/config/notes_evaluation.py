"""Notes on evaluations while training, the best weights, and the control run."""

from __future__ import annotations

from collections.abc import Iterable

from backend.config.report import Note
from backend.config.schema import RunConfig
from backend.text import Text
from backend.workers.schedule import rows_that_choose

FEW_ROWS = 30  # below, the intervals of two steps hardly ever part


def rows_on_the_way(config: RunConfig) -> int:
    """Rows that each evaluation while training answers."""
    return rows_that_choose(config.eval_size, config.evaluate_rows)


def evaluation_notes(config: RunConfig, steps: int | None) -> Iterable[Note]:
    """`steps`: optimizer steps of the whole run, None where nobody knows."""
    if "grpo" not in config.stages:
        return
    if config.evaluate_steps is not None and config.eval_size == 0:
        text = Text(
            "there are no held-out rows (eval_size 0), so nothing is evaluated while training and no best weights are "
            "kept; 200 would do",
            "평가 행이 없어(eval_size 0) 학습 중 평가를 하지 않고 최고 가중치도 남지 않습니다. 200 정도면 됩니다",
        )
        yield Note("warn", "evaluate_steps", text, "evaluate_no_rows")
    elif config.evaluate_steps is not None and steps and config.evaluate_steps > steps:
        text = Text(
            f"the run has {steps} steps, so no evaluation takes place on the way and no best weights are kept; "
            f"{max(1, steps // 5)} would give {steps // max(1, steps // 5)}",
            f"실행이 {steps}스텝이라 학습 중 평가가 한 번도 없고 최고 가중치도 남지 않습니다. {max(1, steps // 5)}이면 "
            f"{steps // max(1, steps // 5)}번 평가합니다",
        )
        yield Note("warn", "evaluate_steps", text, "evaluate_beyond")
    elif config.evaluate_steps is not None:
        yield from _rows(config)
    if config.evaluate_steps is not None and config.keep_best and config.load_best_model_at_end:
        text = Text(
            "the trainer then ends with its own best weights, which count as the last ones: keep_best compares those; "
            "leave it off to compare with the true last ones",
            "트레이너가 자신의 최고 가중치로 끝나 그것이 마지막 가중치로 여겨집니다. keep_best로 마지막과 비교하려면 "
            "끄세요",
        )
        yield Note("warn", "load_best_model_at_end", text, "two_bests")
    if config.shuffle_rewards:
        text = Text(
            "a control: the scores change places at random inside each group, so that nothing can be learned from them",
            "대조 실행입니다. 그룹 안에서 점수가 무작위로 섞이므로 점수에서 배울 수 있는 것이 없습니다",
        )
        yield Note("warn", "shuffle_rewards", text, "control")


def _rows(config: RunConfig) -> Iterable[Note]:
    rows = rows_on_the_way(config)
    if config.keep_best and rows >= config.eval_size:
        text = Text(
            f"all {config.eval_size} held-out rows choose the best weights and none is left fresh, so whether the peak "
            f"was luck cannot be told at the end; {max(1, config.eval_size // 2)} would leave half",
            f"평가 행 {config.eval_size}개를 모두 최고 가중치 선택에 써서 남는 행이 없습니다. 최고점이 우연인지 끝에 "
            f"확인할 수 없습니다. {max(1, config.eval_size // 2)}이면 절반이 남습니다",
        )
        yield Note("warn", "evaluate_rows", text, "none_fresh")
    elif rows < FEW_ROWS:
        text = Text(
            f"{rows} rows an evaluation: accuracy moves by {100 / rows:.0f} points a row, and the highest of several "
            "such looks is mostly luck",
            f"평가마다 {rows}행이라 한 행에 정확도가 {100 / rows:.0f}%p씩 움직입니다. "
            "여러 번 중 최고점은 대개 우연입니다",
        )
        yield Note("warn", "evaluate_rows", text, "few_rows")
