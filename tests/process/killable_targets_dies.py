"""A module of the killable pool's tests that ends the process that imports it."""

import os
import sys

if "pytest" not in sys.modules:
    sys.stderr.write("the last words")
    sys.stderr.flush()
    os._exit(3)
