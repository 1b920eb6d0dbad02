"""Two users talk to one LangChain agent that has memory: python examples/langchain_memory.py

Offline: the model below stands for any chat model. Needs: pip install 'demem-agent[langchain]'
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import SimpleChatModel
from langchain_core.messages import BaseMessage

from demem_adapters.langchain import MemoryMiddleware
from demem_adapters.shared import DECLARED, Memories


@dataclass
class Who:
    """The context of a run: whose conversation it is."""

    user: str


class Parrot(SimpleChatModel):
    """Say back what the user said before, if anything was put before it; note what is no question."""

    @property
    def _llm_type(self) -> str:
        return "parrot"

    def _call(self, messages: list[BaseMessage], *_: Any, **__: Any) -> str:
        if not messages[-1].text.endswith("?"):
            return "Noted."
        blocks = [message.text for message in messages if DECLARED in message.text]
        lines = [line for block in blocks for line in block.splitlines() if line.startswith("- user: ")]
        return f"You said: {lines[0].removeprefix('- user: ')}" if lines else "I do not know."


if __name__ == "__main__":
    memories = Memories(limit=500)  # Memories("sqlite:///bot.db") keeps them
    memory = MemoryMiddleware(memories, namespace=lambda runtime: runtime.context.user)
    agent = create_agent(Parrot(), system_prompt="Be brief.", middleware=[memory], context_schema=Who)
    for user, text in (
        ("Ana", "I am allergic to peanuts."),
        ("Ana", "What am I allergic to?"),
        ("Ben", "What am I allergic to?"),
    ):
        answer = agent.invoke({"messages": [{"role": "user", "content": text}]}, context=Who(user))["messages"][-1]
        print(f"{user}: {answer.text}")
        memories.feedback(answer.id, thumbs=True)
    for user in ("Ana", "Ben"):
        print(f"{user}'s memory: {[item.text for item in memories.of(user).evidence()]}")
