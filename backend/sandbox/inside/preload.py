"""Everything that a program may import is imported before the door closes: nothing can be opened afterwards.

So a program finds the same modules on every tier, for every user, wherever Python's own files lie: the standard library
and numpy, but for what draws windows, talks to devices, runs tests or is on its way out of the library, and but for
encodings that few texts have. Each module that is there costs every fork a little: its shared library most of all. What
is not there raises ModuleNotFoundError.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import pkgutil
import sys
import warnings

NAMES_LEFT_OUT = """
__main__ antigravity curses dbm ensurepip idlelib lib2to3 multiprocessing pydoc pydoc_data readline rlcompleter syslog
test this tkinter turtle turtledemo unittest venv webbrowser wsgiref xmlrpc
aifc asynchat asyncore audioop cgi cgitb chunk crypt distutils imghdr imp mailcap msilib nis nntplib ossaudiodev pipes
smtpd sndhdr spwd sunau telnetlib uu xdrlib
encodings
"""
LEFT_OUT = set(NAMES_LEFT_OUT.split())
ENCODINGS = """
aliases ascii base64_codec charmap cp1252 cp437 cp949 euc_kr hex_codec idna iso8859_1 iso8859_15 johab latin_1 punycode
quopri_codec raw_unicode_escape rot_13 undefined unicode_escape utf_16 utf_16_be utf_16_le utf_32 utf_32_be utf_32_le
utf_7 utf_8 utf_8_sig uu_codec zlib_codec
"""
ALSO = (
    "unittest.mock",
    "multiprocessing.pool",
    "multiprocessing.dummy",
    "multiprocessing.popen_fork",
    "__future__",
    "_strptime",
    "numpy",
)
NOT_BELOW = {"__main__", "test", "tests"}
PARTS_OF_NUMPY = """
char ctypeslib dtypes exceptions fft lib.recfunctions lib.stride_tricks linalg ma polynomial random rec strings
typing
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
        for name in names:
            _with_all_below(name)
        for name in (*(f"encodings.{name}" for name in ENCODINGS.split()), *ALSO, *NUMPY):
            with contextlib.suppress(Exception):
                importlib.import_module(name)
    for name in ONE_THREAD:
        os.environ.pop(name, None)
    sys.path.clear()  # what is not here is not found, rather than found and refused
    sys.path_importer_cache.clear()
    gc.collect()
    gc.freeze()


def _with_all_below(name: str) -> None:
    """A module and what its package holds; what this platform has not is passed over."""
    with contextlib.suppress(Exception):
        module = importlib.import_module(name)
        for entry in pkgutil.iter_modules(getattr(module, "__path__", ())):
            if entry.name not in NOT_BELOW:
                _with_all_below(f"{name}.{entry.name}")
