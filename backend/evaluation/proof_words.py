"""What the checks of an evaluation found, in words."""

from __future__ import annotations

from backend.text import Text


def padding_words(differs: bool, rows: int, same: int, moved: float, lengths: tuple[int, int], more: int) -> Text:
    """Of `rows` prompts, `lengths` (shortest, longest) in tokens, `same` got the same greedy answer alone and in a
    batch that was padded by `more` positions beyond the longest; `moved`: the largest change of a logit; `differs`: by
    more than rounding."""
    if differs:
        return Text(
            en=f"Padding changes what this model says: in a batch, logits move by up to {moved:.3g} and {rows - same} "
            f"of {rows} greedy answers change. The figures cannot be trusted.",
            ko=f"패딩이 답을 바꿉니다. 배치에 넣으면 로짓이 최대 {moved:.3g} 달라지고 greedy 답 {rows}개 중 "
            f"{rows - same}개가 바뀝니다. 수치를 믿을 수 없습니다.",
        )
    low, high = lengths
    span, span_ko = (f"{low}", f"{low}") if low == high else (f"{low} to {high}", f"{low}~{high}")
    batch = f"one batch, padded by {more} positions more than the longest needs" if more else "one padded batch"
    batch_ko = f"가장 긴 것보다 {more}자리 더 패딩한 한 배치로" if more else "패딩한 한 배치로"
    en = f"{rows} prompts of {span} tokens, alone and in {batch}: "
    ko = f"{span_ko}토큰 프롬프트 {rows}개를 하나씩, 또 {batch_ko}: "
    if same < rows:
        return Text(
            en=en + f"{same} greedy answers are the same; the others turn at near ties, for logits differ by rounding "
            f"only (up to {moved:.2g}).",
            ko=ko + f"greedy 답 {same}개가 같습니다. 나머지는 거의 동점인 곳에서 갈렸고, 로짓 차이는 반올림 "
            f"수준입니다(최대 {moved:.2g}).",
        )
    return Text(
        en=en + f"the same greedy answers, logits within {moved:.2g}.",
        ko=ko + f"greedy 답이 모두 같고 로짓 차이는 최대 {moved:.2g}입니다.",
    )


def adapter_words(verdict: str, difference: float | None, prompts: int, kind: str, checked: bool | None) -> Text:
    """What the comparison of the two sides' logits and answers says. `checked`: whether the base is known to be the
    run's; None where there is nothing to know (no run, or another base was asked for)."""
    what = Text("adapter", "어댑터가") if kind == "adapter" else Text("trained model", "학습된 모델이")
    if verdict == "inactive":
        most = (
            Text(f"no logit differs on {prompts} prompts", f"프롬프트 {prompts}개에서 로짓이 하나도 다르지 않습니다")
            if not difference
            else Text(
                f"logits differ by at most {difference:.2g} on {prompts} prompts, which is rounding",
                f"프롬프트 {prompts}개에서 로짓 차이는 최대 {difference:.2g}로 반올림 수준입니다",
            )
        )
        return Text(
            en=f"the {what.en} does nothing: every answer is the base's and {most.en}. It was not loaded, or it was "
            "never trained.",
            ko=f"{what.ko} 아무 일도 하지 않습니다. 모든 답이 기준 모델과 같고 {most.ko}. 적용되지 않았거나 학습되지 "
            "않은 것입니다.",
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
    if difference is not None:
        return Text(
            en=f"Some answers differ, but logits differ by at most {difference:.2g} on {prompts} prompts, which may be "
            f"rounding: whether the {what.en} does anything cannot be told.{about.en}",
            ko=f"답 일부가 다르지만 프롬프트 {prompts}개에서 로짓 차이는 최대 {difference:.2g}로 반올림일 수 있어, "
            f"{what.ko} 작동하는지 알 수 없습니다.{about.ko}",
        )
    return Text(
        en=f"The two sides cannot be compared logit by logit.{about.en}",
        ko=f"두 모델의 로짓은 직접 비교할 수 없습니다.{about.ko}",
    )


def not_numbers(when: str, name: str, broken: int, prompts: int) -> Text:
    """The reason for refusing a side (base or trained) whose logits are NaN or infinite."""
    which = Text("base", "기준 모델") if when == "base" else Text("trained model", "학습된 모델")
    return Text(
        en=f"the {which.en} ({name}) computes no numbers: its logits are NaN or infinite after {broken} of {prompts} "
        "prompts. Its weights are broken (training that diverged, or a damaged file), or its data type is too small.",
        ko=f"{which.ko}({name})의 출력이 숫자가 아닙니다. 프롬프트 {prompts}개 중 {broken}개에서 로짓이 NaN이거나 "
        "무한대입니다. 가중치가 망가졌거나(발산한 학습, 손상된 파일) 데이터 타입의 범위를 넘은 것입니다.",
    )


def begun_anew(when: str, stored: int, old: str, new: str) -> str:
    """An event's message: the stored answers of a side are of other weights than those there are now."""
    return (
        f"the {when} side is begun anew: its {stored} stored answers are of other weights ({old[:12]}) than those that "
        f"are there now ({new[:12]})"
    )


def base_differs(model: str, settings: bool = False) -> Text:
    """The reason for refusing a base that is not what the run began from; `settings`: in its configuration."""
    what = (
        Text("settings of {m} (config.json)", "{m}의 설정(config.json)이")
        if settings
        else Text("weights of {m}", "{m}의 가중치 지문이")
    )
    en, ko = what.en.format(m=model), what.ko.format(m=model)
    return Text(
        en=f"the base is not the model that the run began from: the {en} have another fingerprint than the run "
        "recorded when it started, so they were trained or replaced since. Nothing is compared with them; give the "
        "original model as the base.",
        ko=f"기준 모델이 실행이 시작한 모델이 아닙니다. {ko} 실행 시작 때의 기록과 달라, 그 뒤 학습되었거나 바뀐 "
        "것입니다. 이 모델과는 비교하지 않습니다. 원래 모델을 기준 모델로 지정하세요.",
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
        f"Tokens of completions that beat their group changed by {signed(up)} nats each, those of worse ones by "
        f"{signed(down)}. "
    )
    ko = (
        f"그룹 평균보다 나은 답변의 토큰은 로그 확률이 평균 {signed(up)} nat, 못한 답변의 토큰은 {signed(down)} nat "
        "바뀌었습니다. "
    )
    apart = positive["low"] > negative["high"]
    if apart:
        return Text(en=en + "Training pushed them apart, as it should.", ko=ko + "학습이 의도한 방향으로 벌어졌습니다.")
    if positive["high"] < negative["low"]:
        return Text(en=en + "That is the wrong way round.", ko=ko + "방향이 거꾸로입니다.")
    return Text(
        en=en + "The intervals overlap: no clear effect on them.", ko=ko + "구간이 겹쳐 뚜렷한 차이가 없습니다."
    )


def signed(value: float) -> str:
    """With its sign, three decimals: +0.020, −0.021."""
    return f"{value:+.3f}".replace("-", "−")
