"""Hindsight: a model writes facts of what is retained, and what they amount to together."""

from __future__ import annotations

import asyncio
import os
import weakref
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from demem_agent.evaluate.rivals.asking.gate import Gate

__all__ = ["HindsightFacts", "no_database"]

#: The variable of the environment that names its PostgreSQL.
_DATABASE = "HINDSIGHT_API_DATABASE_URL"


class HindsightFacts:
    """A bank of its ``MemoryEngine`` for each dialogue, in the PostgreSQL that it is told of."""

    def __init__(self, _: Path, gate: Gate) -> None:
        self._runner = asyncio.Runner()
        self._engine = self._runner.run(_opened(gate))
        self._bank = uuid4().hex
        weakref.finalize(self, _closed, self._runner, self._engine)

    def tell(self, passages: Sequence[str], at: datetime | None) -> None:
        """Retain a session as one text."""
        from hindsight_api.models import RequestContext

        told = "\n".join(passages)
        retained = self._engine.retain_async(
            self._bank, told, event_date=at, request_context=RequestContext()
        )
        self._runner.run(retained)

    def find(self, query: str, most: int) -> list[str]:
        """Return the memories that it recalls, by its own order and limit of 4,096 tokens."""
        from hindsight_api.models import RequestContext

        recalled = self._engine.recall_async(self._bank, query, request_context=RequestContext())
        return [found.text for found in self._runner.run(recalled).results][:most]


def no_database() -> list[str]:
    """Return what is missing where its own PostgreSQL cannot start and no other is named."""
    as_root = hasattr(os, "geteuid") and os.geteuid() == 0
    if as_root and _DATABASE not in os.environ:
        return [f"{_DATABASE}: its own does not run as root"]
    return []


async def _opened(gate: Gate) -> Any:
    """Return an engine with the model and the encoder of the gate, and no reranker."""
    os.environ.setdefault(_DATABASE, "pg0://demem-bench")
    # Else it looks for models to fetch, though it is given others.
    os.environ["HINDSIGHT_API_EMBEDDINGS_PROVIDER"] = "openai"
    os.environ["HINDSIGHT_API_RERANKER_PROVIDER"] = "rrf"
    from hindsight_api import MemoryEngine
    from hindsight_api.engine.cross_encoder import RRFPassthroughCrossEncoder
    from hindsight_api.engine.embeddings import OpenAIEmbeddings
    from hindsight_api.engine.task_backend import SyncTaskBackend

    engine = MemoryEngine(
        memory_llm_provider="openai",
        memory_llm_api_key="unused",
        memory_llm_model=gate.model,
        memory_llm_base_url=gate.url,
        embeddings=OpenAIEmbeddings(api_key="unused", model="shipped", base_url=gate.url),
        cross_encoder=RRFPassthroughCrossEncoder(),
        task_backend=SyncTaskBackend(),
        skip_llm_verification=True,
    )
    await engine.initialize()
    return engine


def _closed(runner: asyncio.Runner, engine: Any) -> None:
    runner.run(engine.close())
    runner.close()
