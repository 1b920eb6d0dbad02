"""A server of fastmcp's with a tool of its own, given memory: python examples/fastmcp_memory.py

Needs ``pip install 'demem-agent[mcp]' fastmcp``.
"""

from __future__ import annotations

import asyncio

from fastmcp import Client, FastMCP

from demem_adapters.common import Memories
from demem_adapters.mcp import mount

app = FastMCP("workshop")


@app.tool
def add(first: int, second: int) -> int:
    """Add two numbers."""
    return first + second


async def main() -> None:
    """Connect to the server in this process, and use its tools and those of the memory."""
    mount(app, Memories(), prefix="memory_")  # Memories("sqlite:///bot.db") keeps what is said
    async with Client(app) as client:
        print("tools:", *sorted(tool.name for tool in await client.list_tools()))
        print("add:", (await client.call_tool("add", {"first": 2, "second": 3})).data)
        for text in (
            "The boiler in the kitchen has a brass valve, fitted in 2019.",
            "My sister Ines visits in October and brings her two dogs along.",
        ):
            await client.call_tool("memory_remember", {"text": text})
        asked = {"question": "Which valve is in the kitchen's boiler?", "limit": 120}
        found = await client.call_tool("memory_recall", asked)
        print(found.content[0].text)


if __name__ == "__main__":
    asyncio.run(main())
