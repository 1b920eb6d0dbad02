"""An agent that learns which of its tools work where: python examples/langchain_tools.py

A help desk resets passwords. Which tool works depends on the system behind a department, which
neither the request nor the tools' descriptions tell. The model is a fake one: it calls what its
hint says has worked, avoids what the hint says has not, and else takes the tools as they come,
until one works. Needs ``pip install 'demem-agent[langchain]'``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool, StructuredTool

from demem_adapters.common import HINT, Memories
from demem_adapters.langchain import ToolChoiceMiddleware

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


class Fake(BaseChatModel):
    """A model that trusts its hint, and calls tools until one of them works."""

    tools: tuple[str, ...] = ()

    @property
    def _llm_type(self) -> str:
        return "fake"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Fake:
        return Fake(tools=tuple(tool.name for tool in tools))

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **_: Any,
    ) -> ChatResult:
        results = [message for message in messages if isinstance(message, ToolMessage)]
        hints = [message.text for message in messages if HINT in message.text]
        said = AIMessage("It is reset.")
        if not results or results[-1].text != "done":
            tool = next_tool(self.tools, "".join(hints), [str(one.name) for one in results])
            said = AIMessage("", tool_calls=[{"name": tool, "args": {}, "id": f"c{len(results)}"}])
        return ChatResult(generations=[ChatGeneration(message=said)])


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

    def tool(self, name: str) -> BaseTool:
        """Make a tool that resets a password, if it is the one for the department."""

        def use() -> str:
            if WORKS[self.team] == name:
                return "done"
            self.failed += 1
            return "no such account"

        return StructuredTool.from_function(use, name=name, description="Reset a password.")


def worked(tool: str, result: Any) -> bool:
    """Say what a call of a tool came to."""
    return isinstance(result, ToolMessage) and result.text == "done"


def failures(*, hint: bool) -> list[int]:
    """Return how many calls fail in each round."""
    desk = Desk()
    choice = ToolChoiceMiddleware(Memories(), worked, hint=hint)
    agent = create_agent(Fake(), [desk.tool(name) for name in TOOLS], middleware=[choice])
    counts = []
    for asked in ROUNDS:
        desk.failed = 0
        for team in WORKS:
            desk.team = team
            agent.invoke({"messages": [HumanMessage(asked.format(team=team))]})
        counts.append(desk.failed)
    return counts


if __name__ == "__main__":
    print(f"{'calls that fail, for 6 tasks':<32}{'round 1':>9}{'round 2':>9}{'round 3':>9}")
    for name, hint in (("without a hint", False), ("with a hint of what worked", True)):
        print(f"{name:<32}" + "".join(f"{count:>9}" for count in failures(hint=hint)))
