"""A public Space: what may be done there, and the recorded runs to explore."""
