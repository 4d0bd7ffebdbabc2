def has_keywords(completions, keywords=("because", "therefore"), **kwargs):
    """The share of the keywords that stand in the completion, whatever their case."""
    scores = []
    for completion in completions:
        text = text_of(completion).casefold()
        scores.append(sum(word.casefold() in text for word in keywords) / len(keywords))
    return scores


def text_of(completion):
    """TRL gives a text where the prompt is a text, and a list of messages where it is one."""
    return completion if isinstance(completion, str) else completion[-1]["content"]
