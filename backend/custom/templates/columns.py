def value_and_unit(completions, ground_truth, unit, log_extra, log_metric, **kwargs):
    """0.7 for the number and 0.3 for its unit; every column of the rows comes by its name, one entry a completion."""
    scores, extracted = [], []
    for completion, value, wanted in zip(completions, ground_truth, unit, strict=True):
        words = text_of(completion).split()
        number = next((word for word in words if word.strip(".,") == str(value)), None)
        named = any(word.strip(".,") == wanted for word in words)
        scores.append(0.7 * (number is not None) + 0.3 * named)
        extracted.append(number)
    log_extra("extracted", extracted)  # shown beside the score
    log_metric("unit_named", sum(score in (0.3, 1.0) for score in scores) / len(scores))
    return scores


def text_of(completion):
    """TRL gives a text where the prompt is a text, and a list of messages where it is one."""
    return completion if isinstance(completion, str) else completion[-1]["content"]
