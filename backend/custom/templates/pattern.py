import re

PATTERN = re.compile(r"<think>.+?</think>\s*<answer>.+?</answer>\s*", re.DOTALL)


def follows_pattern(completions, **kwargs):
    """1 where the whole completion has the demanded form, else 0."""
    return [float(PATTERN.fullmatch(text_of(completion)) is not None) for completion in completions]


def text_of(completion):
    """TRL gives a text where the prompt is a text, and a list of messages where it is one."""
    return completion if isinstance(completion, str) else completion[-1]["content"]
