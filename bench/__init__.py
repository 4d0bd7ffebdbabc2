"""Benchmarks: each prints figures and runs both sides of a comparison in one run. Never part of the tests."""
