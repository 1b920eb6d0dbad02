"""mem0's ``AsyncMemory``: the calls of :class:`~demem_adapters.mem0.Memory`, awaited."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Self

from demem_adapters.mem0.memory import Memory
from demem_adapters.mem0.places import Config

__all__ = ["AsyncMemory"]


class AsyncMemory:
    """A memory with mem0's calls that never blocks the event loop; arguments as of ``Memory``."""

    def __init__(self, config: Config = None) -> None:
        self._memory = Memory(config)
        self.memories = self._memory.memories

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Self:
        """Make one from a configuration as mem0 has it."""
        return cls(config_dict)

    async def add(self, messages: object, **about: Any) -> dict[str, Any]:
        """Remember what was said, and return what is new of it."""
        return await asyncio.to_thread(self._memory.add, messages, **about)

    async def search(self, query: str, **about: Any) -> dict[str, Any]:
        """Return the memories that bear on a query, best first."""
        return await asyncio.to_thread(self._memory.search, query, **about)

    async def get(self, memory_id: str) -> dict[str, Any] | None:
        """Return one memory by its id; None where there is none."""
        return await asyncio.to_thread(self._memory.get, memory_id)

    async def get_all(self, **about: Any) -> dict[str, Any]:
        """Return memories in the order in which they were added."""
        return await asyncio.to_thread(self._memory.get_all, **about)

    async def update(self, memory_id: str, text: str | None = None, **about: Any) -> dict[str, str]:
        """Change what a memory says, or what is kept beside it."""
        return await asyncio.to_thread(self._memory.update, memory_id, text, **about)

    async def delete(self, memory_id: str) -> dict[str, str]:
        """Erase a memory for good."""
        return await asyncio.to_thread(self._memory.delete, memory_id)

    async def delete_all(self, **whose: Any) -> dict[str, str]:
        """Erase all memories that have all of the ids that are given."""
        return await asyncio.to_thread(self._memory.delete_all, **whose)

    async def history(self, memory_id: str) -> list[dict[str, Any]]:
        """Return what became of a memory, the oldest first."""
        return await asyncio.to_thread(self._memory.history, memory_id)

    async def reset(self) -> None:
        """Erase every memory of the store."""
        await asyncio.to_thread(self._memory.reset)

    def close(self) -> None:
        """Release the store, where this has opened it."""
        self._memory.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()
