"""A memory served over stdio, and a client that uses it: python examples/mcp_memory.py

The client starts ``python -m demem_adapters.mcp`` as any MCP client would, and calls its tools.
Needs ``pip install 'demem-agent[mcp]'``.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from mcp import ClientSession, StdioServerParameters, stdio_client

TURNS = (
    ("Ana", "The boiler in the kitchen has a brass valve, fitted in 2019."),
    ("Ana", "The gate in the garden squeaks whenever the wind comes from the east."),
    ("Ben", "My sister Ines visits in October and brings her two dogs along."),
)
QUESTION = "Which valve is in the kitchen's boiler?"


async def main(folder: Path) -> None:
    """Start the server in a folder, and call its tools."""
    command = ["-m", "demem_adapters.mcp", "--memory", str(folder / "bot.db"), "--limit", "150"]
    server = StdioServerParameters(command=sys.executable, args=command, env=dict(os.environ))
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        print("tools:", *(tool.name for tool in (await session.list_tools()).tools))

        async def call(tool: str, **arguments: Any) -> str:
            content: Any = (await session.call_tool(tool, arguments)).content
            return str(content[0].text) if content else ""

        for speaker, text in TURNS:
            await call("remember", speaker=speaker, text=text)
        print(await call("recall", question=QUESTION))
        verdict = {"answer": "Brass.", "correction": "Steel, since May."}
        told = json.loads(await call("feedback", question=QUESTION, **verdict))
        print(f"answer {told['answer_id']}: the correction is remembered as {told['remembered']}")
        explained = json.loads(await call("explain", question=QUESTION))
        print("about it:", [item["id"] for item in explained["items"]])
        forgotten = json.loads(await call("forget", evidence_id="e1"))
        print("forgotten:", forgotten["evidence"])
        print("a mistake:", await call("forget", evidence_id="e1"))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(Path(folder)))
