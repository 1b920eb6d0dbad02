"""Memory as an MCP server: ``make_server`` makes one, ``serve`` serves it over stdio or HTTP, and
``mount`` gives memory to a server of yours.
"""

from __future__ import annotations

from demem_adapters.common import Memories
from demem_adapters.mcp.server import make_app, make_server, mount
from demem_adapters.mcp.serving import main, serve

__all__ = ["Memories", "main", "make_app", "make_server", "mount", "serve"]
