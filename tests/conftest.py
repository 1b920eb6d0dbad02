"""Let tests import what they share (``tests/support``): pytest's importlib mode leaves folders off
the path.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent / "support"))
# What it asserts is told like what a test file asserts.
pytest.register_assert_rewrite("adapter_contract")
