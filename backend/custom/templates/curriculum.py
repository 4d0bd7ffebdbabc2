def shorter_later(completions, completion_ids, trainer_state, longest=400, shortest=100, **kwargs):
    """1 within a limit of tokens that falls from `longest` to `shortest` over the run, else 0."""
    share = trainer_state.global_step / max(1, trainer_state.max_steps)
    limit = longest + (shortest - longest) * share
    return [float(len(ids) <= limit) for ids in completion_ids]
