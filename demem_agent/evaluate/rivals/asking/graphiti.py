"""Graphiti, which Zep is made of: a model writes a graph of facts between entities."""

from __future__ import annotations

import asyncio
import os
import warnings
import weakref
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from demem_agent.evaluate.rivals.asking.gate import Gate

__all__ = ["GraphitiFacts"]

#: When a passage was said whose time is not known: an episode must have one.
_SOME_TIME = datetime(2000, 1, 1, tzinfo=UTC)


class GraphitiFacts:
    """A graph in an embedded Kuzu: a passage is an episode, and ``search`` finds facts."""

    def __init__(self, folder: Path, gate: Gate) -> None:
        self._runner = asyncio.Runner()
        weakref.finalize(self, self._runner.close)
        self._graph = self._runner.run(_opened(folder, gate))

    def tell(self, passages: Sequence[str], at: datetime | None) -> None:
        """Add an episode for each passage."""
        from graphiti_core.nodes import EpisodeType

        for text in passages:
            episode = self._graph.add_episode(
                name="message",
                episode_body=text,
                source=EpisodeType.message,
                source_description="conversation",
                reference_time=at or _SOME_TIME,
            )
            self._runner.run(episode)

    def find(self, query: str, most: int) -> list[str]:
        """Return the facts that its search finds, with the days between which they hold."""
        found = self._runner.run(self._graph.search(query, num_results=most))
        return [f"{edge.fact}{_held(edge)}" for edge in found]


def _held(edge: Any) -> str:
    """Say between which days a fact holds, as far as the graph knows."""
    begun, ended = (f"{at:%d %B %Y}" if at else "" for at in (edge.valid_at, edge.invalid_at))
    return f" ({begun} - {ended})" if begun or ended else ""


async def _opened(folder: Path, gate: Gate) -> Any:
    """Return a graph in a folder, with the model and the encoder of the gate."""
    os.environ["GRAPHITI_TELEMETRY_ENABLED"] = "false"
    from graphiti_core import Graphiti
    from graphiti_core.cross_encoder.openai_reranker_client import OpenAIRerankerClient
    from graphiti_core.driver.kuzu_driver import KuzuDriver
    from graphiti_core.embedder.openai import OpenAIEmbedder, OpenAIEmbedderConfig
    from graphiti_core.llm_client.config import LLMConfig
    from graphiti_core.llm_client.openai_generic_client import OpenAIGenericClient

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of Kuzu, as the settings say
        driver = KuzuDriver(str(folder / "graph.kuzu"))
    # The driver's own method of this name does nothing, and its searches fail without.
    await driver.graph_ops.build_indices_and_constraints(driver)
    asked = LLMConfig("unused", gate.model, gate.url, small_model=gate.model)
    return Graphiti(
        graph_driver=driver,
        llm_client=OpenAIGenericClient(asked),
        embedder=OpenAIEmbedder(OpenAIEmbedderConfig(api_key="unused", base_url=gate.url)),
        cross_encoder=OpenAIRerankerClient(asked),  # must be given; its plain search asks none
    )
