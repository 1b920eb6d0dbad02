"""An agent with memory and two users: python examples/autogen_memory.py

The model is AutoGen's own fake, made to answer with the remembered line that is nearest to the
question. Each turn has an agent of its own: what is known later comes from memory. Needs ``pip
install 'demem-agent[autogen]'``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from autogen_agentchat.agents import AssistantAgent
from autogen_core.models import CreateResult, LLMMessage
from autogen_ext.models.replay import ReplayChatCompletionClient

from demem_adapters.common import Memories
from demem_adapters.contrib.autogen import LongTermMemory

TURNS = (
    ("ana", "The boiler in the kitchen has a brass valve, fitted in 2019."),
    ("ana", "My sister Ines visits in October and brings her two dogs along."),
    ("ben", "I am new here."),
    ("ana", "Which valve is in the kitchen's boiler?"),
    ("ben", "Which valve is in the kitchen's boiler?"),
)


class Fake(ReplayChatCompletionClient):
    """A model client that answers with what was recalled."""

    async def create(self, messages: Sequence[LLMMessage], **call: Any) -> CreateResult:
        """Answer a question with the remembered line, and note everything else."""
        *recalled, asked = [str(message.content) for message in messages]
        lines = "\n".join(recalled).splitlines()
        said = [line for line in lines if line.startswith("- user: ")]
        told = [line for line in said if "boiler" in line]
        known = f"You told me: {told[0][8:]}" if told else "I know nothing of it."
        self.chat_completions.append(known if asked.endswith("?") else "Noted.")
        return await super().create(messages, **call)


async def main() -> None:
    """Run the turns, each with an agent of its own, and show what is remembered."""
    memories = Memories(limit=400)
    for name, turn in TURNS:
        client = LongTermMemory(memories, name).wrap(Fake([]))
        agent = AssistantAgent("bot", model_client=client, system_message="Be brief.")
        result = await agent.run(task=turn)
        print(f"{name}: {turn}\nbot: {result.messages[-1].to_text()}")
    report = await client.feedback(thumbs=False)
    print("\nHelpful?", report.rewards)
    for name in ("ana", "ben"):
        print(name, [item.text for item in memories.of(name).evidence()])


if __name__ == "__main__":
    asyncio.run(main())
