"""Memory for the OpenAI Agents SDK: a session that remembers and recalls, and a choice of tools."""

from __future__ import annotations

try:
    from demem_adapters.openai_agents.choosing import ToolChoice
    from demem_adapters.openai_agents.session import MemorySession
except ImportError as error:
    raise ImportError(
        "the openai_agents adapter needs the Agents SDK: pip install 'demem-agent[openai-agents]'"
    ) from error

__all__ = ["MemorySession", "ToolChoice"]
