"""Where files are written to without a disk, on systems that have such a place."""

from __future__ import annotations

from pathlib import Path

__all__ = ["IN_RAM"]

_SHARED = Path("/dev/shm")
#: As ``tempfile`` takes it: None for where it writes anyway.
IN_RAM = _SHARED if _SHARED.is_dir() else None
