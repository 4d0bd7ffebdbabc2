def exact_answer(completions, ground_truth, **kwargs):
    """1 where the text of the last <answer> tag is the ground truth, else 0."""
    return [score(text_of(completion), gold) for completion, gold in zip(completions, ground_truth, strict=True)]


def score(text, gold):
    if gold is None:
        return None  # left out: not a 0
    _, found, rest = text.rpartition("<answer>")
    answer, closed, _ = rest.partition("</answer>")
    if not (found and closed):
        return 0.0
    return float(answer.strip() == str(gold).strip())


def text_of(completion):
    """TRL gives a text where the prompt is a text, and a list of messages where it is one."""
    return completion if isinstance(completion, str) else completion[-1]["content"]
