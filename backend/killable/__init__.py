"""Calls that can be killed: a pool of child processes, each call with a limit of its own, enforced from outside.

`shared().map("package.module:function", [{"name": value}, ...], limit_s=5.0)` gives one `Result` a call, in order.
The function runs in a child that has no torch, a limit on its memory, and that dies with this process.
"""

from backend.killable.pool import Pool, Result, shared

__all__ = ["Pool", "Result", "shared"]
