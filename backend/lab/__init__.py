"""The bench: what a reward and its rows are worth before a GPU hour is spent. Torch-free."""
