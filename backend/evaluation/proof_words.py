"""What the checks of an evaluation found, in words."""

from __future__ import annotations

from backend.text import Text


def padding_words(differs: bool, rows: int, same: int, moved: float) -> Text:
    """Of `rows` prompts `same` got the same greedy answer alone and in a batch; `moved`: the largest change of a
    logit; `differs`: by more than rounding."""
    if differs:
        return Text(
            en=f"Padding changes what this model says: in a batch, logits move by up to {moved:.3g} and {rows - same} "
            f"of {rows} greedy answers change. The figures cannot be trusted.",
            ko=f"패딩이 답을 바꿉니다. 배치에 넣으면 로짓이 최대 {moved:.3g} 달라지고 그리디 답 {rows}개 중 "
            f"{rows - same}개가 바뀝니다. 수치를 믿을 수 없습니다.",
        )
    if same < rows:
        return Text(
            en=f"{rows} prompts of mixed lengths, alone and in one batch: {same} greedy answers are the same; the "
            f"others turn at near ties, for logits differ by rounding only (up to {moved:.2g}).",
            ko=f"길이가 다른 프롬프트 {rows}개를 하나씩, 또 한 배치로: 그리디 답 {same}개가 같습니다. 나머지는 거의 "
            f"동점인 곳에서 갈렸고, 로짓 차이는 반올림 수준입니다(최대 {moved:.2g}).",
        )
    return Text(
        en=f"{rows} prompts of mixed lengths, alone and in one batch: the same greedy answers, logits within "
        f"{moved:.2g}.",
        ko=f"길이가 다른 프롬프트 {rows}개를 하나씩, 또 한 배치로: 그리디 답이 모두 같고 로짓 차이는 최대 "
        f"{moved:.2g}입니다.",
    )


def adapter_words(verdict: str, difference: float | None, prompts: int, kind: str, checked: bool | None) -> Text:
    """What the comparison of the two sides' logits and answers says. `checked`: whether the base is known to be the
    run's; None where there is nothing to know (no run, or another base was asked for)."""
    what = Text("adapter", "어댑터가") if kind == "adapter" else Text("trained model", "학습된 모델이")
    if verdict == "inactive":
        return Text(
            en=f"the {what.en} does nothing: every answer is the base's and no logit differs on {prompts} prompts. It "
            "was not loaded, or it was never trained.",
            ko=f"{what.ko} 아무 일도 하지 않습니다. 모든 답이 기준 모델과 같고 프롬프트 {prompts}개에서 로짓이 "
            "하나도 다르지 않습니다. 적용되지 않았거나 학습되지 않은 것입니다.",
        )
    about = Text("", "")
    if checked is not None:
        about = (
            Text(" The base is the model that the run began from.", " 기준 모델은 실행이 시작한 그 모델입니다.")
            if checked
            else Text(" The run did not record which model it began from.", " 실행이 시작한 모델의 기록은 없습니다.")
        )
    if verdict == "active" and difference is not None:
        return Text(
            en=f"The {what.en} is active: logits differ from the base's by up to {difference:.3g} on {prompts} "
            f"prompts.{about.en}",
            ko=f"{what.ko} 작동합니다. 프롬프트 {prompts}개에서 로짓이 기준 모델과 최대 {difference:.3g} "
            f"다릅니다.{about.ko}",
        )
    return Text(
        en=f"The two sides cannot be compared logit by logit.{about.en}",
        ko=f"두 모델의 로짓은 직접 비교할 수 없습니다.{about.ko}",
    )


def base_differs(model: str) -> Text:
    """The reason for refusing a base that is not what the run began from."""
    return Text(
        en=f"the base is not the model that the run began from: the weights of {model} have another fingerprint than "
        "the run recorded when it started, so they were trained or replaced since. Nothing is compared with them; give "
        "the original model as the base.",
        ko=f"기준 모델이 실행이 시작한 모델이 아닙니다. {model}의 가중치 지문이 실행 시작 때의 기록과 달라, 그 뒤 "
        "학습되었거나 바뀐 것입니다. 이 모델과는 비교하지 않습니다. 원래 모델을 기준 모델로 지정하세요.",
    )


def shift_words(positive: dict[str, float] | None, negative: dict[str, float] | None) -> Text:
    """Whether training moved tokens the way their advantages point (mean change of log-probability, nats a token)."""
    if positive is None or negative is None:
        return Text(
            en="There are no stored training completions on both sides of the mean to compare.",
            ko="평균보다 나은 답변과 못한 답변이 모두 저장되어 있지 않아 비교할 수 없습니다.",
        )
    up, down = positive["mean"], negative["mean"]
    en = (
        f"Tokens of completions that beat their group changed by {up:+.3f} nats each, those of worse ones by "
        f"{down:+.3f}. "
    )
    ko = f"그룹 평균보다 나은 답변의 토큰은 로그 확률이 {up:+.3f}(nat), 못한 답변의 토큰은 {down:+.3f} 바뀌었습니다. "
    apart = positive["low"] > negative["high"]
    if apart:
        return Text(en=en + "Training pushed them apart, as it should.", ko=ko + "학습이 의도한 방향으로 벌어졌습니다.")
    if positive["high"] < negative["low"]:
        return Text(en=en + "That is the wrong way round.", ko=ko + "방향이 거꾸로입니다.")
    return Text(
        en=en + "The intervals overlap: no clear effect on them.", ko=ko + "구간이 겹쳐 뚜렷한 차이가 없습니다."
    )
