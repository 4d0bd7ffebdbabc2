"""`python -m backend COMMAND`: the command line. See `python -m backend --help`."""

import sys

from backend.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
