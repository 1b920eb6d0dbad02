"""Memory in a server of the package fastmcp: what the SDK's own server has, in somebody else's."""

from __future__ import annotations

import asyncio
import runpy
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastmcp", reason="pip install fastmcp")

from fastmcp import Client, FastMCP

from demem_adapters.common import DECLARED, Memories
from demem_adapters.mcp import mount
from demem_agent.testing import BagEncoder

VALVE, ASKED = "My boiler has a brass valve.", "Which valve has my boiler?"
TOOLS = "explain feedback forget history recall remember update".split()


@pytest.fixture
def memories() -> Memories:
    return Memories(encoder=BagEncoder())


@pytest.fixture
def app() -> FastMCP:
    """Return a server with a tool of its own."""
    server = FastMCP("app")

    @server.tool
    def recall() -> str:
        """Recall nothing."""
        return "mine"

    return server


def asked(app: FastMCP, request: Callable[[Client], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        async with Client(app) as client:
            return await request(client)

    return asyncio.run(run())


def call(app: FastMCP, tool: str, **given: Any) -> Any:
    return asked(app, lambda client: client.call_tool(tool, given, raise_on_error=False))


def names(app: FastMCP) -> list[str]:
    return sorted(tool.name for tool in asked(app, lambda client: client.list_tools()))


def test_memory_is_there_beside_what_the_server_has(app: FastMCP, memories: Memories) -> None:
    mount(app, memories, prefix="memory_")
    assert names(app) == sorted(["recall", *(f"memory_{tool}" for tool in TOOLS)])
    assert call(app, "recall").data == "mine"
    assert call(app, "memory_remember", text=VALVE).data["evidence_id"] == "e1"
    found = call(app, "memory_recall", question=ASKED)
    assert VALVE in found.content[0].text
    assert found.structured_content is None  # structured as well, it would reach a model twice


def test_a_server_with_memory_can_be_mounted_in_another(app: FastMCP, memories: Memories) -> None:
    inner = FastMCP("memory")
    mount(inner, memories)
    app.mount(inner, namespace="memory")
    call(app, "memory_remember", text=VALVE)
    assert VALVE in call(app, "memory_recall", question=ASKED).content[0].text
    read = asked(app, lambda client: client.read_resource("demem://memory/slots"))
    assert "brass valve" in read[0].text


def test_the_namespace_can_be_told_by_the_request_or_by_each_call(
    app: FastMCP, memories: Memories
) -> None:
    seen: list[Any] = []

    def whose(context: Any) -> str:
        seen.append(context)
        return "ana"

    mount(app, memories, namespace=whose, prefix="own_")
    mount(app, memories, namespace=None, prefix="any_")
    call(app, "own_remember", text=VALVE)
    assert hasattr(seen[0], "request_context")
    assert VALVE in call(app, "any_recall", question=ASKED, namespace="ana").content[0].text
    assert call(app, "any_recall", question=ASKED, namespace="ben").content[0].text == ""


def test_an_error_is_a_result_of_one_line(app: FastMCP, memories: Memories) -> None:
    mount(app, memories, prefix="memory_")
    call(app, "memory_remember", text=VALVE)
    found = call(app, "memory_history", evidence_id="e9")
    assert (found.is_error, found.content[0].text) == (True, "no evidence has the id 'e9'")
    found = call(app, "memory_history")
    assert "\n" not in found.content[0].text
    assert "evidence_id" in found.content[0].text
    with pytest.raises(Exception, match="no certificate has the id 'c9'"):
        asked(app, lambda client: client.read_resource("demem://certificates/c9"))


def test_the_prompt_puts_what_is_remembered_before_a_question(
    app: FastMCP, memories: Memories
) -> None:
    mount(app, memories)
    call(app, "remember", text=VALVE)
    given = asked(app, lambda client: client.get_prompt("with_memory", {"question": ASKED}))
    recalled, question = (message.content.text for message in given.messages)
    assert recalled.startswith(DECLARED)
    assert (VALVE in recalled, question) == (True, ASKED)


def test_its_example_shows_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    example = Path(__file__).parents[2] / "examples" / "fastmcp_memory.py"
    runpy.run_path(str(example), run_name="__main__")
    printed = capsys.readouterr().out
    assert "tools: add memory_explain" in printed
    assert "- The boiler in the kitchen has a brass valve, fitted in 2019." in printed
