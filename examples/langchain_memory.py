"""An agent with memory and two users: python examples/langchain_memory.py

The model is a fake one, made to answer with the remembered line that is nearest to the question.
Each turn is a conversation of its own: what is known later comes from memory. Needs ``pip install
'demem-agent[langchain]'``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import SimpleChatModel
from langchain_core.messages import BaseMessage, HumanMessage

from demem_adapters.common import Memories
from demem_adapters.langchain import MemoryMiddleware, MemoryRetriever

TURNS = (
    ("ana", "The boiler in the kitchen has a brass valve, fitted in 2019."),
    ("ana", "My sister Ines visits in October and brings her two dogs along."),
    ("ben", "I am new here."),
    ("ana", "Which valve is in the kitchen's boiler?"),
    ("ben", "Which valve is in the kitchen's boiler?"),
)


@dataclass
class Who:
    """The context of a run: whose conversation it is."""

    user: str


class Fake(SimpleChatModel):
    """A model that answers with what was recalled."""

    @property
    def _llm_type(self) -> str:
        return "fake"

    def _call(self, messages: list[BaseMessage], *_: Any, **__: Any) -> str:
        *shown, asked = [message.text for message in messages]
        lines = "\n".join(shown).splitlines()
        said = [line for line in lines if line.startswith("- user: ")]
        told = [line for line in said if "boiler" in line]
        known = f"You told me: {told[0][8:]}" if told else "I know nothing of it."
        return known if asked.endswith("?") else "Noted."


def whose(runtime: Any) -> str | None:
    """Return whose memory a run has."""
    return getattr(runtime.context, "user", None)


if __name__ == "__main__":
    memories = Memories(limit=400)  # Memories("sqlite:///bot.db") keeps them
    memory = MemoryMiddleware(memories, namespace=whose)
    agent = create_agent(Fake(), system_prompt="Be brief.", middleware=[memory], context_schema=Who)
    for user, text in TURNS:
        done = agent.invoke({"messages": [HumanMessage(text)]}, context=Who(user))
        answer = done["messages"][-1]
        print(f"{user}: {text}\nbot: {answer.text}")
        memories.feedback(answer.id, namespace=user, thumbs=True)
    retriever = MemoryRetriever(memories=memories, namespace=lambda call: call["user"], k=2)
    for user in ("ana", "ben"):
        found = retriever.invoke("kitchen's boiler", user=user)
        print(user, [document.page_content for document in found])
