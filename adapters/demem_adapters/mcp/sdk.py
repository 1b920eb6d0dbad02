"""What the server needs of the MCP SDK, by the names of 2.x; 1.30 has most of it elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

try:
    from mcp.server.transport_security import TransportSecuritySettings
    from mcp.types import ToolAnnotations
except ImportError as error:
    raise ImportError(
        "the mcp adapter needs the MCP SDK: pip install 'demem-agent[mcp]'"
    ) from error
if TYPE_CHECKING:
    from mcp.server.mcpserver import Context, MCPServer
    from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError

    NEW: bool
else:
    try:
        from mcp.server.mcpserver import Context, MCPServer
        from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError

        NEW = True
    except ImportError:  # mcp 1.x, where a missing resource is an error like any other
        from mcp.server.fastmcp import Context
        from mcp.server.fastmcp import FastMCP as MCPServer
        from mcp.server.fastmcp.exceptions import ResourceError as ResourceNotFoundError
        from mcp.server.fastmcp.exceptions import ToolError

        NEW = False

__all__ = [
    "NEW",
    "Context",
    "MCPServer",
    "ResourceNotFoundError",
    "ToolAnnotations",
    "ToolError",
    "TransportSecuritySettings",
]
