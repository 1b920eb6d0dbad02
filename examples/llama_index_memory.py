"""Chat engines that remember what left their history: python examples/llama_index_memory.py

Each user's history holds about one turn; what leaves it goes to DeMem and comes back when it bears
on a question. The model is a fake one, made to answer with the remembered line that is nearest to
the question. Needs ``pip install 'demem-agent[llama-index]'``.
"""

from __future__ import annotations

from typing import Any

from llama_index.core.base.llms.types import ChatMessage, ChatResponse
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms.mock import MockLLM
from llama_index.core.memory import Memory

from demem_adapters.common import Memories
from demem_adapters.llama_index import MemoryBlock, MemoryRetriever

TURNS = (
    ("ana", "The boiler in the kitchen has a brass valve, fitted in 2019."),
    ("ana", "My sister Ines visits in October and brings her two dogs along."),
    ("ben", "I am new here."),
    ("ana", "Which valve is in the kitchen's boiler?"),
    ("ben", "Which valve is in the kitchen's boiler?"),
)


class Fake(MockLLM):
    """A model that answers with what was recalled."""

    def chat(self, messages: Any, **_: Any) -> ChatResponse:
        """Answer a question with the remembered line, and note everything else."""
        shown = "\n".join(message.content or "" for message in messages).splitlines()
        told = [line for line in shown if line.startswith("- user: ") and "boiler" in line]
        known = f"You told me: {told[0][8:]}" if told else "I know nothing of it."
        said = known if shown[-1].endswith("?") else "Noted."
        return ChatResponse(message=ChatMessage(role="assistant", content=said))


def memory_of(name: str, block: MemoryBlock) -> Memory:
    """Make a user's history, which holds about one turn."""
    return block.history(
        session_id=name,
        token_limit=60,  # words, by the tokenizer below
        token_flush_size=1,
        chat_history_token_ratio=0.2,
        tokenizer_fn=str.split,
    )


if __name__ == "__main__":
    memories = Memories(limit=275)
    block = MemoryBlock(memories=memories, namespace=lambda session: session)
    histories = {name: memory_of(name, block) for name in ("ana", "ben")}
    for name, turn in TURNS:
        engine = SimpleChatEngine.from_defaults(llm=Fake(max_tokens=None), memory=histories[name])
        print(f"{name}: {turn}\nbot: {engine.chat(turn)}")
    print("\nRetrieved for 'When does Ines come?':")
    retriever = MemoryRetriever(memories, namespace="ana", limit=200)
    for node in retriever.retrieve("When does Ines come?"):
        print(f"  {node.score:.2f}  {node.text}")
