"""Write a new adapter: ``python -m demem_adapters.new NAME``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from demem_adapters.new.writing import Refused, written


def main(arguments: Sequence[str] | None = None) -> int:
    """Write an adapter, and tell what was written; 2 where nothing was."""
    parser = argparse.ArgumentParser(
        prog="python -m demem_adapters.new", description="Write a new adapter, to begin from."
    )
    parser.add_argument("name", metavar="NAME", help="of the framework, as in x_y")
    parser.add_argument(
        "--requires",
        action="append",
        default=[],
        metavar="REQUIREMENT",
        help="what its extra installs, such as 'x-y>=1.2'; again for another",
    )
    parser.add_argument(
        "--root", type=Path, default=Path(), help="the checkout of DeMem (this folder)"
    )
    given = parser.parse_args(arguments)
    try:
        files = written(given.root, given.name, given.requires)
    except Refused as refused:
        print(f"nothing was written: {refused}", file=sys.stderr)
        return 2
    for file in files:
        print(file.relative_to(given.root))
    print(f"\nNow: python -m pytest tests/adapters/test_{given.name}.py, then CONTRIBUTING.md.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
