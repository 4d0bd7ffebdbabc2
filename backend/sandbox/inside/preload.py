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
PACKAGES = (
    "encodings",
    "collections",
    "concurrent.futures",
    "importlib",
    "json",
    "email",
    "xml.etree",
    "html",
    "urllib",
)
NUMPY = ("numpy.linalg", "numpy.fft", "numpy.random", "numpy.polynomial", "numpy.ma", "numpy.lib.stride_tricks")
ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def preload() -> None:
    """Imports it all and puts it out of the garbage collector's sight, so that children share the pages."""
    for name in ONE_THREAD:  # read once, when numpy loads; a forked child must not have had threads
        os.environ[name] = "1"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        names = [name for name in sorted(sys.stdlib_module_names) if name not in LEFT_OUT and not name.startswith("_")]
        for name in [*names, "__future__", "_strptime", *_below(PACKAGES), *NUMPY, "numpy", "pysqlite3"]:
            with contextlib.suppress(Exception):
                importlib.import_module(name)
    for name in ONE_THREAD:
        os.environ.pop(name, None)
    gc.collect()
    gc.freeze()


def _below(packages: tuple[str, ...]) -> list[str]:
    found: list[str] = []
    for package in packages:
        with contextlib.suppress(ImportError):
            module = importlib.import_module(package)
            found += [f"{package}.{entry.name}" for entry in pkgutil.iter_modules(module.__path__)]
    return [name for name in found if not name.endswith("__main__")]
