"""length: how near the completion's length is to a target or a band, or DAPO's soft punishment of over-long ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from backend.rewards._patterns import refuse
from backend.rewards.verdict import Verdict

LABEL = {"en": "Length", "ko": "길이"}
HELP = {
    "en": "target: 1 at exactly `target` units, less the further away on either side, 0 from `tolerance` units away "
    "on (default: the target itself). band: 1 from `low` to `high`, falling to 0 within `tolerance` units outside "
    "(default: at once). soft_overlong (DAPO, equation 13): 0 up to max_length - cache, then falling evenly to -1 at "
    "max_length, and -1 beyond; a longer completion never scores higher. Units are the model's tokens, characters or "
    "words of the whole completion. Tokens need the model's ids, which a run has, or a column `tokens`.",
    "ko": "target: 정확히 `target`이면 1이고 짧든 길든 멀어질수록 줄어 `tolerance`(기본값은 target)만큼 벗어나면 0. "
    "band: `low`~`high`이면 1이고 벗어나면 `tolerance` 안에서 0까지 줄어듭니다(기본값은 바로 0). soft_overlong(DAPO "
    "식 13): max_length - cache까지는 0, 그 뒤 고르게 줄어 max_length에서 -1, 넘으면 -1. 더 긴 응답이 더 높은 점수를 "
    "받는 일은 없습니다. 단위는 응답 전체의 토큰, 글자, 단어 수입니다. 토큰 수는 학습 중에는 모델의 것을 쓰고, 그 "
    "밖에는 `tokens` 열이 있어야 합니다.",
}
BOUNDS = (-1.0, 1.0)
OPTIONAL_COLUMNS = ("completion_ids", "tokens")

SETTINGS_OF = {
    "target": ("target", "tolerance"),
    "band": ("low", "high", "tolerance"),
    "soft_overlong": ("max_length", "cache"),
}
OWN = ("target", "low", "high", "tolerance", "max_length", "cache")


def judge(
    completion: str,
    *,
    completion_ids: Sequence[int] | None = None,
    tokens: int | None = None,
    mode: Literal["target", "band", "soft_overlong"] = "target",
    unit: Literal["tokens", "characters", "words"] = "tokens",
    target: int | None = None,
    low: int | None = None,
    high: int | None = None,
    tolerance: int | None = None,
    max_length: int | None = None,
    cache: int | None = None,
) -> Verdict:
    """`completion_ids`: the completion's token ids; `tokens`: their number, where there are no ids.

    soft_overlong is equation 13 of DAPO (arXiv:2503.14476), with n the length, L_max = `max_length` and
    L_cache = `cache`: 0 for n <= L_max - L_cache; ((L_max - L_cache) - n) / L_cache for L_max - L_cache < n <= L_max;
    -1 for n > L_max.
    """
    if unit == "characters":
        length = len(completion)
    elif unit == "words":
        length = len(completion.split())
    elif completion_ids is not None:
        length = len(completion_ids)
    elif isinstance(tokens, int | float):
        length = int(tokens)
    else:
        return Verdict(None, reason="the number of tokens is not known here: no completion_ids and no column tokens")
    if mode == "soft_overlong":
        assert max_length is not None
        assert cache is not None
        score = -min(max(length - (max_length - cache), 0) / cache, 1.0)
    elif mode == "target":
        assert target is not None
        score = _near(abs(length - target), target if tolerance is None else tolerance)
    else:
        assert low is not None
        assert high is not None
        score = _near(max(low - length, length - high, 0), tolerance or 0)
    return Verdict(score + 0.0, f"{length} {unit}")


def _near(distance: int, tolerance: int) -> float:
    if distance == 0:
        return 1.0
    return max(0.0, 1.0 - distance / tolerance) if tolerance else 0.0


def bounds(args: Mapping[str, Any]) -> tuple[float, float]:
    """The least and the greatest score with these arguments."""
    return (-1.0, 0.0) if args.get("mode") == "soft_overlong" else (0.0, 1.0)


def check(args: Mapping[str, Any]) -> None:
    """Refused for a mode without its numbers, with another's, or with numbers that contradict each other."""
    mode = args["mode"]
    needed = {"target": ("target",), "band": ("low", "high"), "soft_overlong": ("max_length", "cache")}[mode]
    for name in OWN:
        value = args[name]
        least = 1 if name in ("target", "max_length", "cache") else 0
        if value is None:
            if name in needed:
                refuse(f"length.{name}", None, f"a number, which mode={mode} needs", f"mode={mode}에 필요한 숫자")
        elif name not in SETTINGS_OF[mode]:
            owner = " / ".join(m for m, names in SETTINGS_OF.items() if name in names)
            refuse(f"length.{name}", value, f"none: it belongs to mode={owner}", f"없음. mode={owner}에서 쓰는 값")
        elif value < least:
            refuse(f"length.{name}", value, f"at least {least}", f"{least} 이상")
    if mode == "band" and args["low"] > args["high"]:
        refuse("length.low", args["low"], f"at most high ({args['high']})", f"high({args['high']}) 이하")
    if mode == "soft_overlong" and args["cache"] > args["max_length"]:
        most = args["max_length"]
        refuse("length.cache", args["cache"], f"at most max_length ({most})", f"max_length({most}) 이하")
