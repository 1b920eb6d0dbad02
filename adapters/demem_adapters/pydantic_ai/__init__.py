"""Memory for Pydantic AI: capabilities that recall and remember, and that choose among tools."""

from __future__ import annotations

try:
    from demem_adapters.pydantic_ai.choosing import ToolChoice
    from demem_adapters.pydantic_ai.remembering import LongTermMemory
except ImportError as error:
    raise ImportError(
        "this adapter needs pydantic-ai-slim: pip install 'demem-agent[pydantic-ai]'"
    ) from error

__all__ = ["LongTermMemory", "ToolChoice"]
