"""Runs beside each other: curves, settings, evaluations, seeds."""
