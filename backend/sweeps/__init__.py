"""A grid of settings as one: made, queued, stopped, resumed, and what came of it."""
