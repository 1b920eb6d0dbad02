"""Let tests import what they share (``tests/support``): pytest's importlib mode leaves folders off
the path.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent / "support"))
# What it asserts is told like what a test file asserts.
pytest.register_assert_rewrite("adapter_contract")


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder to put first on PATH, whose ``demem`` is the one of the interpreter that runs the
    tests.
    """
    folder = tmp_path / "tools"
    folder.mkdir()
    installed = Path(sys.executable).with_name("demem")
    start = [str(installed)] if installed.exists() else [sys.executable, "-m", "demem_agent.cli"]
    script = folder / "demem"
    script.write_text(f'#!/bin/sh\nexec {shlex.join(start)} "$@"\n')
    script.chmod(0o755)
    return folder
