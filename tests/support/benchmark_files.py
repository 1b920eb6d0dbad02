"""Import a file of ``benchmarks/``, which is no package and not on the path."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "benchmarks"


def benchmark(name: str, room: str = "") -> Any:
    """Return a benchmark's module; those beside it can be imported only while it is.

    Args:
        room: the folder within ``benchmarks/`` that it is in.
    """
    folder = str(FOLDER / room)
    sys.path.insert(0, folder)
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(folder)
