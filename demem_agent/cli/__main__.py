"""``python -m demem_agent.cli`` does what ``demem`` does."""

from __future__ import annotations

from demem_agent.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
