"""An agent with memory and two users: python examples/pydantic_ai_memory.py

The model is Pydantic AI's own fake, made to answer with the remembered line that is nearest to the
question. Each run is a conversation of its own: what is known later comes from memory. Needs ``pip
install 'demem-agent[pydantic-ai]'``.
"""

from __future__ import annotations

from dataclasses import dataclass

from pydantic_ai import Agent
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

from demem_adapters.common import Memories
from demem_adapters.pydantic_ai import LongTermMemory

TURNS = (
    ("ana", "The boiler in the kitchen has a brass valve, fitted in 2019."),
    ("ana", "My sister Ines visits in October and brings her two dogs along."),
    ("ben", "I am new here."),
    ("ana", "Which valve is in the kitchen's boiler?"),
    ("ben", "Which valve is in the kitchen's boiler?"),
)
#: Parts of a request that hold words.
Words = (SystemPromptPart, UserPromptPart)


@dataclass
class User:
    """What a run depends on: who is talking."""

    name: str


def answer(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
    """Answer a question with the remembered line, and note everything else."""
    texts: list[str] = []
    for message in messages:
        if isinstance(message, ModelRequest):
            texts += [str(part.content) for part in message.parts if isinstance(part, Words)]
    *recalled, asked = texts
    lines = "".join(recalled).splitlines()
    said = [line for line in lines if line.startswith("- user: ")]
    told = [line for line in said if "boiler" in line]
    known = f"You told me: {told[0][8:]}" if told else "I know nothing of it."
    return ModelResponse(parts=[TextPart(known if asked.endswith("?") else "Noted.")])


if __name__ == "__main__":
    memories = Memories(limit=400)
    memory = LongTermMemory(memories, namespace=lambda ctx: ctx.deps.name)
    agent = Agent(FunctionModel(answer), deps_type=User, capabilities=[memory])
    for name, turn in TURNS:
        result = agent.run_sync(turn, deps=User(name))
        print(f"{name}: {turn}\nbot: {result.output}")
    print("\nHelpful?", memories.feedback(result.run_id, namespace=name, thumbs=False).rewards)
    for name in ("ana", "ben"):
        print(name, [item.text for item in memories.of(name).evidence()])
