"""Run the synthetic laboratory from a checkout: ``demem lab``, with the same options."""

from __future__ import annotations

import sys

from demem_agent.cli import main

if __name__ == "__main__":
    sys.exit(main(["lab", *sys.argv[1:]]))
