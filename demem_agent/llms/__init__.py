"""Language models behind any address that speaks OpenAI's protocol.

Nothing else in this library knows a provider. The client that this needs is imported with the first
call, not with this package.
"""

from __future__ import annotations

from demem_agent.llms.answerer import ModelAnswerer
from demem_agent.llms.calls.breaker import Breaker
from demem_agent.llms.calls.health import Health
from demem_agent.llms.calls.retry import Retry
from demem_agent.llms.change_judge import ModelChangeJudge
from demem_agent.llms.compressor import ModelCompressor
from demem_agent.llms.judges import ModelJudge
from demem_agent.llms.model import (
    ChatModel,
    Completion,
    Message,
    Options,
    Prompt,
    Usage,
    shared_prefix,
)
from demem_agent.llms.note_taker import ModelNoteTaker
from demem_agent.llms.openai_chat import OpenAIChat
from demem_agent.llms.openai_embeddings import OpenAIEmbeddings
from demem_agent.llms.recording import Recorded
from demem_agent.llms.router import ModelRouter
from demem_agent.llms.spending import PROCESS, Ledger, Limit, Spending
from demem_agent.llms.stream import Stream
from demem_agent.llms.structured import Reply, asked_for

__all__ = [
    "PROCESS",
    "Breaker",
    "ChatModel",
    "Completion",
    "Health",
    "Ledger",
    "Limit",
    "Message",
    "ModelAnswerer",
    "ModelChangeJudge",
    "ModelCompressor",
    "ModelJudge",
    "ModelNoteTaker",
    "ModelRouter",
    "OpenAIChat",
    "OpenAIEmbeddings",
    "Options",
    "Prompt",
    "Recorded",
    "Reply",
    "Retry",
    "Spending",
    "Stream",
    "Usage",
    "asked_for",
    "shared_prefix",
]
