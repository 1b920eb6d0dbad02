"""What servers of the two kinds call otherwise: those of the MCP SDK, and of ``fastmcp``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from demem_adapters.mcp.sdk import (
    NEW,
    Context,
    MCPServer,
    ResourceNotFoundError,
    ToolAnnotations,
    ToolError,
)
from demem_agent import InvalidInput

__all__ = ["Kit", "kit_of"]


@dataclass(frozen=True, slots=True)
class Kit:
    """What memory needs to be added to a server.

    Attributes:
        context: the type by which a function asks for the framework's context.
        tool_error, resource_error, prompt_error: what the client is told of as it is.
        quotes: whether resources are given their arguments as they stand in an address.
        adds: adds a tool: server, function, name, annotations, and whether its result is structured
            as well.
        message: makes a message of a prompt of its role and its content.
    """

    context: type
    tool_error: type[Exception]
    resource_error: type[Exception]
    prompt_error: type[Exception]
    quotes: bool
    adds: Callable[[Any, Any, str, ToolAnnotations, bool], None]
    message: Callable[[dict[str, Any]], Any]

    def add_tool(
        self,
        server: Any,
        function: Callable[..., Any],
        name: str,
        hints: ToolAnnotations,
        *,
        structured: bool,
    ) -> None:
        """Add a tool to a server."""
        self.adds(server, function, name, hints, structured)


def kit_of(server: object) -> Kit:
    """Return what a server needs.

    Raises:
        InvalidInput: for one of neither kind.
    """
    if isinstance(server, MCPServer):
        return Kit(
            context=Context,
            tool_error=ToolError,
            resource_error=ResourceNotFoundError,
            prompt_error=ValueError,
            quotes=not NEW,
            adds=_add_to_sdk,
            message=dict,
        )
    if any(base.__module__.split(".")[0] == "fastmcp" for base in type(server).__mro__):
        return _of_fastmcp()
    raise InvalidInput("server", server, "an MCPServer of the MCP SDK, or a FastMCP of fastmcp")


def _of_fastmcp() -> Kit:
    from fastmcp import Context as FastContext
    from fastmcp.exceptions import PromptError, ResourceError
    from fastmcp.exceptions import ToolError as FastToolError
    from fastmcp.prompts import Message

    return Kit(
        context=FastContext,
        tool_error=FastToolError,
        resource_error=ResourceError,
        prompt_error=PromptError,
        quotes=False,
        adds=_add_to_fastmcp,
        message=lambda said: Message(said["content"], role=said["role"]),
    )


def _add_to_sdk(
    server: Any, function: Any, name: str, hints: ToolAnnotations, structured: bool
) -> None:
    server.add_tool(function, name=name, annotations=hints, structured_output=structured)
    # Unlike fastmcp the SDK drops arguments that a tool does not have: a misspelt one of forget
    # would erase more than was meant.
    tool = server._tool_manager.get_tool(name)
    model = tool.fn_metadata.arg_model
    model.model_config["extra"] = "forbid"
    model.model_rebuild(force=True)
    tool.parameters["additionalProperties"] = False
    _say_mistakes_in_one_line(tool, ToolError)


def _add_to_fastmcp(
    server: Any, function: Any, name: str, hints: ToolAnnotations, structured: bool
) -> None:
    from fastmcp.exceptions import ValidationError as FastValidationError
    from fastmcp.tools import Tool

    shape: dict[str, Any] = {} if structured else {"output_schema": None}
    tool = Tool.from_function(function, name=name, annotations=hints, **shape)
    _say_mistakes_in_one_line(tool, FastValidationError)
    server.add_tool(tool)


def _say_mistakes_in_one_line(tool: Any, raised: type[Exception]) -> None:
    """Have a tool tell a client what is wrong with its arguments as it tells all else: in one line.

    Args:
        raised: what the tool raises then, with the three lines for each that pydantic writes.
    """
    run = tool.run

    async def run_and_tell(*given: Any, **more: Any) -> Any:
        try:
            return await run(*given, **more)
        except raised as error:
            if not isinstance(error.__cause__, ValidationError):
                raise
            mistakes = [_mistake(one["loc"], one["msg"]) for one in error.__cause__.errors()]
            raise raised(f"{tool.name}: {'; '.join(mistakes)}") from None

    object.__setattr__(tool, "run", run_and_tell)  # it is no field of the tool's


def _mistake(where: tuple[int | str, ...], what: str) -> str:
    return f"{'.'.join(map(str, where))}: {what}"
