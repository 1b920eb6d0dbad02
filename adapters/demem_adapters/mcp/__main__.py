"""Serve a memory to MCP clients: ``python -m demem_adapters.mcp --memory bot.db``."""

from __future__ import annotations

from demem_adapters.mcp.serving import main

if __name__ == "__main__":
    raise SystemExit(main())
