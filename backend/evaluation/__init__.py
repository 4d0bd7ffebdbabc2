"""Did it get better? Paired comparison of two models on the same held-out rows, and what no learning would give."""
