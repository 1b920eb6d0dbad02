"""A DSPy program with memory and two users: python examples/dspy_memory.py

The model is a fake one, made to answer with the remembered line that is nearest to the question.
Each call is on its own: what is known later comes from memory. Needs ``pip install
'demem-agent[dspy]'``.
"""

from __future__ import annotations

from typing import Any

import dspy
from dspy.utils import DummyLM

from demem_adapters.common import Memories
from demem_adapters.contrib.dspy import MemoryRetriever, WithMemory

TURNS = (
    ("ana", "The boiler in the kitchen has a brass valve, fitted in 2019."),
    ("ana", "My sister Ines visits in October and brings her two dogs along."),
    ("ben", "I am new here."),
    ("ana", "Which valve is in the kitchen's boiler?"),
    ("ben", "Which valve is in the kitchen's boiler?"),
)


class Echo(dspy.Module):
    """Puts what a model would say from the prompt into DSPy's fake model, and asks it."""

    def __init__(self) -> None:
        super().__init__()
        self.ask = dspy.Predict("memory, question -> answer")

    def forward(self, memory: str, question: str) -> Any:
        """Answer a question with the remembered line, and note everything else."""
        said = [line for line in memory.splitlines() if line.startswith("- user: ")]
        told = [line for line in said if "boiler" in line]
        known = f"You told me: {told[0][8:]}" if told else "I know nothing of it."
        answer = known if question.endswith("?") else "Noted."
        with dspy.context(lm=DummyLM([{"answer": answer}])):
            return self.ask(memory=memory, question=question)


if __name__ == "__main__":
    memories = Memories(limit=400)
    bot = WithMemory(Echo(), memories, namespace=lambda user, **_: user, keep=("user",))
    for name, turn in TURNS:
        prediction = bot(question=turn, user=name)
        print(f"{name}: {turn}\nbot: {prediction.answer}")
    print("\nHelpful?", memories.feedback(prediction.call_id, namespace=name, thumbs=False).rewards)
    dspy.configure(rm=MemoryRetriever(memories, namespace=lambda user: user))
    for name in ("ana", "ben"):
        print(name, dspy.Retrieve(k=2)("Which valve is in the boiler?", user=name).passages)
