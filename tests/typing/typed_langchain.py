"""What a strictly typed user of the langchain adapter gets; mypy reads it, and nothing runs it."""

from __future__ import annotations

from typing import Any, assert_type

from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.retrievers import BaseRetriever

from demem_adapters.common import Memories
from demem_adapters.langchain import (
    MemoryMiddleware,
    MemoryRetriever,
    SlotSelector,
    ToolChoiceMiddleware,
    tools,
    wrap,
)


def agent(model: BaseChatModel, memories: Memories) -> None:
    worked = ToolChoiceMiddleware(memories, lambda tool, result: "error" not in str(result))
    memory = MemoryMiddleware(memories, namespace="ana")
    create_agent(model, tools(memories, namespace="ana"), middleware=[memory, worked])


def retriever(plain: BaseRetriever, memories: Memories) -> BaseRetriever:
    found = MemoryRetriever(memories=memories, namespace=lambda call: call["user"]).invoke("When?")
    assert_type(found, list[Document])
    selecting = wrap(plain, limit=2000)
    assert_type(selecting.selector, SlotSelector)
    assert_type(selecting.invoke("When?"), list[Document])
    return selecting


def whose(runtime: Any) -> str | None:
    user: str | None = getattr(runtime.context, "user", None)
    return user
