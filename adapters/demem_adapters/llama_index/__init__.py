"""Memory for LlamaIndex: a block for ``Memory``, a retriever, a selector of retrieved nodes."""

from __future__ import annotations

try:
    from demem_adapters.llama_index.block import MemoryBlock
    from demem_adapters.llama_index.nodes import MemoryPostprocessor, MemoryRetriever
except ImportError as error:
    raise ImportError(
        "this adapter needs llama-index-core: pip install 'demem-agent[llama-index]'"
    ) from error

__all__ = ["MemoryBlock", "MemoryPostprocessor", "MemoryRetriever"]
