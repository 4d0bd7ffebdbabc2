def value_and_unit(completions, ground_truth, unit, log_extra, log_metric, **kwargs):
    """0.7 for the number and 0.3 for its unit; every column of the rows comes by its name, one entry a completion."""
    scores, extracted, units = [], [], []
    for completion, value, wanted in zip(completions, ground_truth, unit, strict=True):
        words = [word.strip(".,") for word in text_of(completion).split()]
        number = str(value) if str(value) in words else None
        units.append(wanted in words)
        scores.append(0.7 * (number is not None) + 0.3 * units[-1])
        extracted.append(number)
    log_extra("extracted", extracted)  # shown beside the score
    log_metric("unit_named", sum(units) / len(units))
    return scores


def text_of(completion):
    """TRL gives a text where the prompt is a text, and a list of messages where it is one."""
    return completion if isinstance(completion, str) else completion[-1]["content"]
