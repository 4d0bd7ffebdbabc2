"""Side by side: two models answer the same prompt in a process of its own, which ends when nobody asks."""
