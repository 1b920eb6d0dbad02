"""Which library this is: its version, and the commit where it is run from a checkout."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import demem_agent

__all__ = ["Library", "this_library"]


@dataclass(frozen=True, slots=True)
class Library:
    """A version of this library.

    Attributes:
        commit: of its checkout, with "-dirty" where files differ from it; None where it is
            installed, and the version says it all.
    """

    version: str
    commit: str | None = None

    def __str__(self) -> str:
        commit = f", commit {self.commit}" if self.commit else ""
        return f"version {self.version}{commit}"

    def is_surely(self, other: Library) -> bool:
        """Whether both are the same code, as far as a version and a commit can say."""
        return not self.why_not(other)

    def why_not(self, other: Library) -> str:
        """Say why the other need not be the same code; "" where it is."""
        if self != other:
            return f"that was {other}, and this is {self}"
        if (self.commit or "").endswith("-dirty"):
            return "files of the checkout differ from its commit"
        return ""


@cache
def this_library() -> Library:
    """Return the version that runs."""
    root = Path(demem_agent.__file__).parents[1]
    return Library(demem_agent.__version__, _commit(root) if (root / ".git").exists() else None)


def _commit(root: Path) -> str | None:
    """Return the commit of a checkout; None where git cannot tell."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, check=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()
