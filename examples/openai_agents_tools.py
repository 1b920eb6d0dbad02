"""An agent that learns which of its tools work where: python examples/openai_agents_tools.py

A help desk resets passwords. Which tool works depends on the system behind a department, which
neither the request nor the tools' descriptions tell. The model is the SDK's scripted one: it calls
what its hint says has worked, avoids what the hint says has not, and else takes the tools as they
come, until one works. Needs ``pip install 'demem-agent[openai-agents]'``.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence

from agents import Agent, Runner, Tool, function_tool, set_tracing_disabled
from agents.testing import ModelCall, ModelStep, ScriptedModel, assistant_message, function_call

from demem_adapters.common import HINT, Memories
from demem_adapters.openai_agents import ToolChoice

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
#: More calls of the model than any run needs.
MOST_CALLS = 1 + len(TOOLS)


def reply(call: ModelCall) -> ModelStep:
    """Trust the hint, and call tools until one of them works."""
    if any(item.get("output") == "done" for item in call.input):
        return ModelStep([assistant_message("It is reset.")])
    contents = [str(item.get("content")) for item in call.input]
    hints = [content for content in contents if HINT in content]
    used = [str(item["name"]) for item in call.input if item.get("type") == "function_call"]
    tool = next_tool([tool.name for tool in call.tools], "".join(hints), used)
    return ModelStep([function_call(tool, {}, call_id=f"call-{len(used)}")])


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

    def tool(self, name: str) -> Tool:
        """Make a tool that resets a password, if it is the one for the department."""

        def use() -> str:
            if WORKS[self.team] == name:
                return "done"
            self.failed += 1
            return "no such account"

        return function_tool(use, name_override=name, description_override="Reset a password.")


def worked(tool: str, result: object) -> bool:
    """Say what a call of a tool came to."""
    return result == "done"


async def failures(*, hint: bool) -> list[int]:
    """Return how many calls fail in each round."""
    desk = Desk()
    choice = ToolChoice(Memories(), worked, hint=hint)
    tools = [desk.tool(name) for name in TOOLS]
    counts = []
    for asked in ROUNDS:
        desk.failed = 0
        for team in WORKS:
            desk.team = team
            model = ScriptedModel([ModelStep.respond(reply)] * MOST_CALLS)
            agent = Agent("Help desk", model=model, tools=tools)
            said = asked.format(team=team)
            await Runner.run(agent, said, hooks=choice, run_config=choice.run_config())
        counts.append(desk.failed)
    return counts


async def main() -> None:
    """Compare an agent that is given no hint with one that is."""
    set_tracing_disabled(True)  # tracing would send to OpenAI
    print(f"{'calls that fail, for 6 tasks':<32}{'round 1':>9}{'round 2':>9}{'round 3':>9}")
    for name, hint in (("without a hint", False), ("with a hint of what worked", True)):
        counts = await failures(hint=hint)
        print(f"{name:<32}" + "".join(f"{count:>9}" for count in counts))


if __name__ == "__main__":
    asyncio.run(main())
