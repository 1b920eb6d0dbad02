"""The command line ``demem``, which needs the extra ``cli`` (typer and rich).

Nothing else in the library imports either of the two.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec

from demem_agent.cli.faults import report
from demem_agent.errors import MissingExtra

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    0: done. 1: the caller's mistake. 2: a fault. 130 and 141: interrupted, and the reader of a pipe
        went away.

    Args:
        arguments: without the program's name; those of the process when None.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    if find_spec("rich") is None or find_spec("typer") is None:
        return report(MissingExtra("the command line", "cli"), given)
    from demem_agent.cli.app import run

    return run(given)
