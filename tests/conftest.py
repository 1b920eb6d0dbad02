"""Let tests import what they share (``machine.py``): pytest's importlib mode leaves their folder off the path."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))
# What it asserts is told like what a test file asserts.
pytest.register_assert_rewrite("adapter_contract")
