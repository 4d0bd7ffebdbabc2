def near_length(completions, completion_ids, target=200, width=100, **kwargs):
    """1 at the target number of tokens, falling to 0 at `width` tokens below or above it."""
    return [max(0.0, 1.0 - abs(len(ids) - target) / width) for ids in completion_ids]
