"""Runs that plain TRL made, taken in from their output folder."""
