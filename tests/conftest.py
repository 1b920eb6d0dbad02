"""Let tests import what they share (``machine.py``): pytest's importlib mode leaves their folder off the path."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
