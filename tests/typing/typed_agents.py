"""What strictly typed users of the adapters for agents get; mypy reads it, and nothing runs it."""

from __future__ import annotations

from typing import Any, assert_type

import agents
import strands
from agent_framework import ContextProvider
from google.adk.memory import BaseMemoryService
from haystack.components.agents import Agent as HaystackAgent
from haystack.components.generators.chat.types import ChatGenerator
from llama_index.core.memory import Memory
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore
from mcp.server.mcpserver import MCPServer
from pydantic_ai import Agent
from strands.memory import MemoryManager

from demem_adapters.agent_framework import MemoryProvider
from demem_adapters.common import Memories
from demem_adapters.google_adk import MemoryService
from demem_adapters.haystack import memory_hooks
from demem_adapters.llama_index import MemoryBlock, MemoryRetriever
from demem_adapters.mcp import make_server
from demem_adapters.openai_agents import MemorySession
from demem_adapters.pydantic_ai import LongTermMemory
from demem_adapters.strands import LongTermMemory as StrandsMemory
from demem_agent import FeedbackReport


async def openai_agents(agent: agents.Agent[str], plain: agents.Session, held: Memories) -> None:
    session = MemorySession(plain, held, namespace=lambda context: str(context))
    assert_type(session.run_config(), agents.RunConfig)
    await agents.Runner.run(agent, "Hello.", session=session, run_config=session.run_config())
    assert_type(await session.feedback(thumbs=True), FeedbackReport)


def pydantic_ai(held: Memories) -> None:
    agent = Agent("test", deps_type=str, capabilities=[LongTermMemory(held)])
    assert_type(agent.run_sync("Hello.", deps="ana").output, str)


def strands_agents(held: Memories) -> MemoryManager:
    memory = StrandsMemory(held, "ana")
    strands.Agent(memory_manager=memory)
    return memory


def haystack(model: ChatGenerator, held: Memories) -> None:
    HaystackAgent(chat_generator=model, hooks=memory_hooks(held, namespace="ana"))


def llama_index(held: Memories) -> BaseRetriever:
    Memory.from_defaults(memory_blocks=[MemoryBlock(memories=held, namespace="ana")])
    retriever = MemoryRetriever(held, namespace="ana")
    assert_type(retriever.retrieve("When?"), list[NodeWithScore])
    return retriever


def services(held: Memories) -> tuple[BaseMemoryService, ContextProvider]:
    return MemoryService(held), MemoryProvider(held)


def mcp(held: Memories) -> Any:
    server = make_server(held, namespace="ana")
    assert_type(server, MCPServer)
    return server
