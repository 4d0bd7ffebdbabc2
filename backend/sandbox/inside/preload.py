"""Everything that a program may import is imported before the door closes: nothing can be opened afterwards.

So a program finds the same modules on every tier, for every user, wherever Python's own files lie: the standard library
but for what draws windows or runs tests, numpy, and SQLite. What is not here raises ModuleNotFoundError.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import pkgutil
import sys
import warnings

LEFT_OUT = {
    "__main__",
    "antigravity",
    "distutils",
    "ensurepip",
    "idlelib",
    "lib2to3",
    "test",
    "this",
    "tkinter",
    "turtle",
    "turtledemo",
    "venv",
}
NOT_BELOW = {"__main__", "test", "tests"}
PARTS_OF_NUMPY = """
char ctypeslib dtypes exceptions fft lib.recfunctions lib.stride_tricks linalg ma matlib polynomial random rec strings
testing typing
"""
NUMPY = tuple(f"numpy.{name}" for name in PARTS_OF_NUMPY.split())
ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def preload() -> None:
    """Imports it all and puts it out of the garbage collector's sight, so that children share the pages."""
    for name in ONE_THREAD:  # read once, when numpy loads; a forked child must not have had threads
        os.environ[name] = "1"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        names = [name for name in sorted(sys.stdlib_module_names) if name not in LEFT_OUT and not name.startswith("_")]
        for name in [*names, "__future__", "_strptime", "numpy", *NUMPY]:
            _with_all_below(name)
    for name in ONE_THREAD:
        os.environ.pop(name, None)
    sys.path.clear()  # what is not here is not found, rather than found and refused
    sys.path_importer_cache.clear()
    gc.collect()
    gc.freeze()


def _with_all_below(name: str) -> None:
    """A module and what its package holds; what this platform has not is passed over. numpy's own parts are named."""
    with contextlib.suppress(Exception):
        module = importlib.import_module(name)
        if not name.startswith("numpy"):
            for entry in pkgutil.iter_modules(getattr(module, "__path__", ())):
                if entry.name not in NOT_BELOW:
                    _with_all_below(f"{name}.{entry.name}")
