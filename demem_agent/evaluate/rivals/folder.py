"""A folder that a system keeps its files in, and what it takes there."""

from __future__ import annotations

import shutil
import weakref
from pathlib import Path
from tempfile import mkdtemp

__all__ = ["Folder"]


class Folder:
    """An empty folder, which goes when nothing holds it any more.

    Attributes:
        path: where it is.
    """

    def __init__(self) -> None:
        self.path = Path(mkdtemp(prefix="demem-rival-"))
        # Some rivals keep their files open to the end of the process.
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)

    def size(self) -> int:
        """Return how many bytes its files have."""
        return sum(path.stat().st_size for path in self.path.rglob("*") if path.is_file())
