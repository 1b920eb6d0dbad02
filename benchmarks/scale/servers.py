"""A PostgreSQL server of a benchmark's own."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "tests" / "support"))

from postgres_server import Server, programs

__all__ = ["own_server"]


@contextmanager
def own_server(*, durable: bool = True) -> Iterator[Server]:
    """Run a server until this ends; where there is none to run, the program ends and says so."""
    bin = programs()
    if bin is None:
        sys.exit("no PostgreSQL: pip install pgserver")
    server = Server(bin, durable=durable)
    try:
        yield server
    finally:
        server.close()
