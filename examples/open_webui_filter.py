"""
title: DeMem
description: Remembers what each user said, and gives it to the model when it bears on a question.
version: 0.1.0
required_open_webui_version: 0.5.0
requirements: demem-agent[sqlite]
"""

import asyncio
import os
from typing import Any, Literal

from pydantic import BaseModel, Field

from demem_adapters.common import logged
from demem_adapters.open_webui import ChatMemory, opened

#: Where Open WebUI keeps its own data.
_FOLDER = os.environ.get("DATA_DIR", ".")


class Filter:
    """A filter to paste into Open WebUI: Admin Panel, Functions, +."""

    class Valves(BaseModel):
        """What an administrator can set."""

        memory: str = Field(
            default=f"sqlite:///{_FOLDER}/demem.db", description="Where memories are kept."
        )
        limit: int = Field(default=2000, ge=1, description="Most characters put before a model.")
        inject: Literal["user", "system", "merged"] = Field(
            default="user",
            description="A message before the user's, one of the system's, or part of the user's.",
        )
        temporary: bool = Field(default=False, description="In temporary chats as well.")
        priority: int = Field(default=0, description="Filters with a lower number run first.")

    class UserValves(BaseModel):
        """What a user can set."""

        enabled: bool = Field(default=True, description="Remember what I say, and recall it.")

    def __init__(self) -> None:
        self.valves = self.Valves()

    async def inlet(
        self,
        body: dict[str, Any],
        __user__: dict[str, Any] | None = None,
        __metadata__: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Put what is remembered before the model."""
        memory = await asyncio.to_thread(self._memory, __user__)
        return body if memory is None else await memory.inlet(body, __user__, __metadata__)

    async def outlet(
        self,
        body: dict[str, Any],
        __user__: dict[str, Any] | None = None,
        __metadata__: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Remember what was said."""
        memory = await asyncio.to_thread(self._memory, __user__)
        return body if memory is None else await memory.outlet(body, __user__, __metadata__)

    def _memory(self, user: dict[str, Any] | None) -> ChatMemory | None:
        """Return what remembers; None where the user wants none, or it cannot be opened."""
        valves = self.valves
        if not getattr((user or {}).get("valves"), "enabled", True):
            return None
        with logged("no memory was opened"):
            return opened(valves.memory, valves.limit, valves.inject, valves.temporary)
        return None
