"""A chat engine that remembers what left its history: python examples/llama_index_memory.py

The history holds about one turn; what leaves it goes to DeMem and comes back when it bears on a question. The model is
a fake that says which remembered lines it was shown. Needs ``pip install 'demem-agent[llama-index]'``.
"""

from __future__ import annotations

from typing import Any

from llama_index.core.base.llms.types import ChatMessage, ChatResponse
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms.mock import MockLLM
from llama_index.core.memory import InsertMethod, Memory

from demem_adapters.llama_index import MemoryBlock, MemoryRetriever
from demem_adapters.shared import Memories

TURNS = (
    "The boiler in the kitchen has a brass valve, fitted in 2019.",
    "The gate in the garden squeaks whenever the wind comes from the east.",
    "My sister Ines visits in October and brings her two dogs along.",
    "Which valve is in the kitchen's boiler?",
)


class Recalling(MockLLM):
    """Says which lines of memory it was shown."""

    def chat(self, messages: Any, **_: Any) -> ChatResponse:
        shown = [line for m in messages for line in (m.content or "").splitlines() if line.startswith("- user")]
        return ChatResponse(message=ChatMessage(role="assistant", content=f"I remember {shown}"))


if __name__ == "__main__":
    memories = Memories(limit=180)
    memory = Memory.from_defaults(
        session_id="monday",
        token_limit=60,  # words, by the tokenizer below
        token_flush_size=1,
        chat_history_token_ratio=0.3,
        tokenizer_fn=str.split,
        memory_blocks=[MemoryBlock(memories=memories, namespace="ana")],
        insert_method=InsertMethod.USER,
    )
    engine = SimpleChatEngine.from_defaults(llm=Recalling(), memory=memory)
    for turn in TURNS:
        print(f"user: {turn}\nbot:  {engine.chat(turn)}")
    print("\nRetrieved for 'When does Ines come?':")
    for node in MemoryRetriever(memories, namespace="ana", limit=200).retrieve("When does Ines come?"):
        print(f"  {node.score:.2f}  {node.text}")
