"""What a strictly typed user of the autogen adapter gets; mypy reads it, and nothing runs it."""

from __future__ import annotations

from typing import assert_type

from autogen_agentchat.agents import AssistantAgent
from autogen_core.memory import Memory
from autogen_core.models import ChatCompletionClient

from demem_adapters.common import Memories
from demem_adapters.contrib.autogen import LongTermMemory, RememberingClient
from demem_agent import FeedbackReport


async def agent(plain: ChatCompletionClient, memories: Memories) -> Memory:
    memory = LongTermMemory(memories, "ana")
    client = memory.wrap(plain)
    assert_type(client, RememberingClient)
    AssistantAgent("bot", model_client=client)
    assert_type(await client.feedback(thumbs=True), FeedbackReport)
    return memory
