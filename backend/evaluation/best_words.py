"""Whether the best weights of a run are better than its last ones, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from backend.headline import signed_points
from backend.text import Text

NAMED = 4  # steps with the same accuracy that are named; more are counted


def best_words(
    best: Mapping[str, Any], last_step: int, fresh: Mapping[str, Any] | None, verdict: str, tied: Sequence[int] = ()
) -> Text:
    """`best`: {"step", "accuracy", "low", "high", "n"} on the rows that chose it; `fresh`: {"n", "best", "last",
    "difference", "low", "high"} on rows that chose neither; `verdict`: as in workers.best.conclusion; `tied`: later
    steps that were exactly as accurate, so that the best is the first of several and not the one."""
    if verdict == "same_step":
        chosen = _chosen(best, ())
        return Text(en=f"{chosen.en} It is the last step.", ko=f"{chosen.ko} 마지막 스텝입니다.")
    chosen = _chosen(best, tied)
    if fresh is None:
        return Text(
            en=f"{chosen.en} No fresh rows were left to compare it with step {last_step}, the last one, so the peak "
            "may be luck; a smaller evaluate_rows leaves some.",
            ko=f"{chosen.ko} 마지막 {last_step}스텝과 비교할 새 행이 없어 우연일 수 있습니다. evaluate_rows를 줄이면 "
            "행이 남습니다.",
        )
    told = {
        "best_better": Text(en="is better than the last", ko="더 낫습니다"),
        "last_better": Text(en="is worse than the last", ko="마지막보다 못합니다"),
        "no_difference": Text(en="cannot be told apart from the last", ko="마지막과 차이가 확인되지 않습니다"),
    }[verdict]
    low, high, points = (signed_points(fresh[name]) for name in ("low", "high", "difference"))
    step, n = best["step"], fresh["n"]
    also = {"best_better": "도 ", "last_better": "는 ", "no_difference": "는 "}[verdict]
    return Text(
        en=f"{chosen.en} On {n} fresh rows, which chose neither, it {told.en}: {fresh['best']:.0%} at step {step}, "
        f"{fresh['last']:.0%} at the last step {last_step} (difference {points} points, 95% interval {low} to {high}).",
        ko=f"{chosen.ko} 선택에 쓰지 않은 새 {n}행에서{also}{told.ko}: {step}스텝 {fresh['best']:.0%}, "
        f"마지막 {last_step}스텝 {fresh['last']:.0%}(차이 {points}%p, 95% 구간 {low} ~ {high}).",
    )


def worse_than(before: float, said: Text) -> Text:
    """`said`, behind the word that the best is below the accuracy `before` training."""
    return Text(
        en=f"Even the best step is worse than no training: before training it was {before:.0%}. {said.en}",
        ko=f"가장 나은 스텝도 학습 전({before:.0%})보다 낮습니다. {said.ko}",
    )


def _chosen(best: Mapping[str, Any], tied: Sequence[int]) -> Text:
    low, high, n, share = f"{best['low']:.0%}", f"{best['high']:.0%}", best["n"], f"{best['accuracy']:.0%}"
    if not tied:
        return Text(
            en=f"Step {best['step']} had the highest accuracy on the {n} rows that chose it: {share} "
            f"(95% interval {low} to {high}).",
            ko=f"선택에 쓴 {n}행에서 {best['step']}스텝의 정확도가 {share}로 가장 높았습니다(95% 구간 {low} ~ {high}).",
        )
    steps = [best["step"], *tied]
    if len(steps) > NAMED:
        which = Text(en=f"{len(steps)} steps", ko=f"스텝 {len(steps)}개")
    else:
        which = Text(
            en=f"Steps {', '.join(map(str, steps[:-1]))} and {steps[-1]}", ko=f"스텝 {', '.join(map(str, steps))}"
        )
    return Text(
        en=f"{which.en} were equally accurate, and the highest, on the {n} rows that chose the best: {share} (95% "
        f"interval {low} to {high}). The first, step {best['step']}, was kept.",
        ko=f"선택에 쓴 {n}행에서 {which.ko}의 정확도가 {share}로 같고 가장 높았습니다(95% 구간 {low} ~ {high}). "
        f"그중 처음인 {best['step']}스텝을 남겼습니다.",
    )
