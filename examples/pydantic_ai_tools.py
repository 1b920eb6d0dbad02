"""An agent that learns which of its tools work where: python examples/pydantic_ai_tools.py

A help desk resets passwords. Which tool works depends on the system behind a department, which
neither the request nor the tools' descriptions tell. The model is Pydantic AI's own fake: it calls
what its hint says has worked, avoids what the hint says has not, and else takes the tools as they
come, until one works. Needs ``pip install 'demem-agent[pydantic-ai]'``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pydantic_ai import Agent, Tool
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

from demem_adapters.common import HINT, Memories
from demem_adapters.pydantic_ai import ToolChoice

TOOLS = ("directory", "mail_link", "on_site_visit")
#: What works, and nobody has told the agent.
WORKS = {
    "sales": "directory",
    "marketing": "mail_link",
    "accounting": "on_site_visit",
    "purchasing": "mail_link",
    "legal": "directory",
    "warehouse": "on_site_visit",
}
ROUNDS = (
    "Reset the password of a colleague in {team}.",
    "Please reset a password of a colleague in {team}",
    "A colleague in {team}: reset the password, please",
)


def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Trust the hint, and call tools until one of them works."""
    parts: list[Any] = []
    for message in messages:
        parts += message.parts
    results = [part for part in parts if isinstance(part, ToolReturnPart)]
    if any(part.content == "done" for part in results):
        return ModelResponse(parts=[TextPart("It is reset.")])
    prompts = [str(part.content) for part in parts if isinstance(part, UserPromptPart)]
    hints = [prompt for prompt in prompts if HINT in prompt]
    tools = [tool.name for tool in info.function_tools]
    tool = next_tool(tools, "".join(hints), [part.tool_name for part in results])
    return ModelResponse(parts=[ToolCallPart(tool, {})])


def next_tool(tools: Sequence[str], hint: str, used: Sequence[str]) -> str:
    """Return what a model would call that trusts its hint: a tool not used in this run yet."""
    avoided: list[str] = re.findall(r"not (\w+): \d", hint)
    told: list[str] = re.findall(r"(\w+): \d", hint)
    worked = [name for name in told if name not in avoided]
    untold = [name for name in tools if name not in (*worked, *avoided)]
    return next(name for name in (*worked, *untold, *avoided) if name not in used)


class Desk:
    """The tools of a department, and how many calls of them have failed."""

    def __init__(self) -> None:
        self.team = ""
        self.failed = 0

    def tool(self, name: str) -> Tool[Any]:
        """Make a tool that resets a password, if it is the one for the department."""

        def use() -> str:
            if WORKS[self.team] == name:
                return "done"
            self.failed += 1
            return "no such account"

        return Tool(use, takes_ctx=False, name=name, description="Reset a password.")


def worked(tool: str, result: object) -> bool:
    """Say what a call of a tool came to."""
    return result == "done"


def failures(*, hint: bool) -> list[int]:
    """Return how many calls fail in each round."""
    desk = Desk()
    choice = ToolChoice(Memories(), worked, hint=hint)
    tools = [desk.tool(name) for name in TOOLS]
    agent = Agent(FunctionModel(reply), tools=tools, capabilities=[choice])
    counts = []
    for asked in ROUNDS:
        desk.failed = 0
        for team in WORKS:
            desk.team = team
            agent.run_sync(asked.format(team=team))
        counts.append(desk.failed)
    return counts


if __name__ == "__main__":
    print(f"{'calls that fail, for 6 tasks':<32}{'round 1':>9}{'round 2':>9}{'round 3':>9}")
    for name, hint in (("without a hint", False), ("with a hint of what worked", True)):
        print(f"{name:<32}" + "".join(f"{count:>9}" for count in failures(hint=hint)))
