"""What a reward is worth on the rows that it will judge: a verdict a check, with the offending text."""

from backend.lab.audit.run import audit, made

__all__ = ["audit", "made"]
