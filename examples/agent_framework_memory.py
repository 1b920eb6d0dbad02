"""An agent with memory and two users: python examples/agent_framework_memory.py

The chat client is a fake one, made to answer with the remembered line that is nearest to the
question. Each turn is a session of its own: what is known later comes from memory. Needs ``pip
install 'demem-agent[agent-framework]'``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from agent_framework import (
    Agent,
    AgentSession,
    BaseChatClient,
    ChatResponse,
    FunctionInvocationLayer,
    InMemoryHistoryProvider,
    Message,
)

from demem_adapters.agent_framework import MemoryProvider
from demem_adapters.common import Memories

TURNS = (
    ("ana", "The boiler in the kitchen has a brass valve, fitted in 2019."),
    ("ana", "My sister Ines visits in October and brings her two dogs along."),
    ("ben", "I am new here."),
    ("ana", "Which valve is in the kitchen's boiler?"),
    ("ben", "Which valve is in the kitchen's boiler?"),
)


class Fake(FunctionInvocationLayer[Any], BaseChatClient[Any]):
    """A chat client that answers with what was recalled."""

    async def _inner_get_response(
        self, *, messages: Sequence[Message], stream: bool, options: Mapping[str, Any], **_: Any
    ) -> Any:
        *recalled, asked = [message.text for message in messages]
        lines = "\n".join(recalled).splitlines()
        said = [line for line in lines if line.startswith("- user: ")]
        told = [line for line in said if "boiler" in line]
        known = f"You told me: {told[0][8:]}" if told else "I know nothing of it."
        answer = Message("assistant", [known if asked.endswith("?") else "Noted."])
        return ChatResponse(messages=[answer], response_id=f"r{id(answer)}", finish_reason="stop")


async def main() -> None:
    """Run the turns, each in a session of its own, and correct the last answer."""
    memories = Memories(limit=400)
    memory = MemoryProvider(memories, namespace=lambda session: session.state["user"])
    agent = Agent(Fake(), context_providers=[InMemoryHistoryProvider(), memory])
    for name, turn in TURNS:
        session = AgentSession()
        session.state["user"] = name
        response = await agent.run(turn, session=session)
        print(f"{name}: {turn}\nbot: {response.text}")
    correction = "It is a brass valve, fitted in 2019."
    report = memories.feedback(response.response_id or "", namespace=name, correction=correction)
    print(f"The correction is remembered as {report.remembered}.")


if __name__ == "__main__":
    asyncio.run(main())
