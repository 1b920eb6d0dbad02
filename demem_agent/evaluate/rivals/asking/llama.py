"""LlamaIndex: the block of its memory that has a model extract facts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from demem_agent.evaluate.rivals.asking.gate import Gate

__all__ = ["LlamaFacts"]


class LlamaFacts:
    """A ``FactExtractionMemoryBlock`` with its limit of 50 facts, told a session at a time.

    It has no search: all facts are given for every question. A ``Memory`` around it would hand it
    only what is over some 21,000 tokens, and give the rest word for word.
    """

    def __init__(self, _: Path, gate: Gate) -> None:
        from llama_index.core.memory import FactExtractionMemoryBlock
        from llama_index.llms.openai_like import OpenAILike

        model = OpenAILike(gate.model, api_base=gate.url, api_key="unused", is_chat_model=True)
        self._block = FactExtractionMemoryBlock(name="facts", llm=model)

    def tell(self, passages: Sequence[str], at: datetime | None) -> None:
        """Have the block extract the facts of a session, its date ahead of them."""
        from llama_index.core.llms import ChatMessage

        dated = [f"[{at:%d %B %Y}]", *passages] if at else passages
        messages = [ChatMessage(role="user", content=text) for text in dated]
        asyncio.run(self._block.aput(messages, from_short_term_memory=True))

    def find(self, query: str, most: int) -> list[str]:
        """Return all facts, the newest first: the block does not say which go for want of room."""
        return self._block.facts[::-1]
