"""An agent with memory and two users: python examples/strands_memory.py

The model is a fake one, made to answer with the remembered line that is nearest to the question.
Each turn is an agent of its own: what is known later comes from memory. Needs ``pip install
'demem-agent[strands]'``.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

from strands import Agent
from strands.models import Model

from demem_adapters.common import Memories
from demem_adapters.strands import LongTermMemory

TURNS = (
    ("ana", "The boiler in the kitchen has a brass valve, fitted in 2019."),
    ("ana", "My sister Ines visits in October and brings her two dogs along."),
    ("ben", "I am new here."),
    ("ana", "Which valve is in the kitchen's boiler?"),
    ("ben", "Which valve is in the kitchen's boiler?"),
)


class Fake(Model):
    """A model that answers with what was recalled."""

    async def stream(self, messages: Any, *_: Any, **__: Any) -> AsyncGenerator[Any, None]:
        """Answer a question with the remembered line, and note everything else."""
        asked, *recalled = [block["text"] for block in messages[-1]["content"]]
        lines = "".join(recalled).splitlines()
        said = [line for line in lines if line.startswith("- user: ")]
        told = [line for line in said if "boiler" in line]
        known = f"You told me: {told[0][8:]}" if told else "I know nothing of it."
        yield {"messageStart": {"role": "assistant"}}
        answer = known if asked.endswith("?") else "Noted."
        yield {"contentBlockDelta": {"delta": {"text": answer}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}

    def structured_output(self, *_: Any, **__: Any) -> AsyncGenerator[Any, None]:
        """Give none: this model has no structured output."""
        raise NotImplementedError

    def update_config(self, **_: Any) -> None:
        """Nothing to set."""

    def get_config(self) -> dict[str, Any]:
        """Return the configuration: there is none."""
        return {}


if __name__ == "__main__":
    memories = Memories(limit=400)
    for name, turn in TURNS:
        memory = LongTermMemory(memories, name)
        agent = Agent(model=Fake(), memory_manager=memory, callback_handler=None)
        result = agent(turn)
        print(f"{name}: {turn}\nbot: {result}", end="")
    call = result.message["tracking_id"]
    print("\nHelpful?", memories.feedback(call, namespace=name, thumbs=False).rewards)
    for name in ("ana", "ben"):
        print(name, [item.text for item in memories.of(name).evidence()])
