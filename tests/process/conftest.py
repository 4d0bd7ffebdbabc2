"""The fixture of the process tests."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

from tests.process.harness import Studio


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    if sys.platform != "linux":
        pytest.skip("the guarantees of the shim are Linux's")
    with mock.patch.dict(os.environ):
        made = Studio(tmp_path / "home")
        try:
            yield made
        finally:
            made.close()
