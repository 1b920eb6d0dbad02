"""CrewAI's records kept in a memory: the storage backend that its memory stands on."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from demem_adapters.common import Memories, digest
from demem_adapters.common.passages import Passage, fitting, passages
from demem_agent import Evidence, Reading
from demem_agent.encoders import as_matrix, default_encoder
from demem_agent.types import Encoder

try:
    from crewai.memory.types import MemoryMatch, MemoryRecord, ScopeInfo
except ImportError as error:
    raise ImportError("this adapter needs crewai: pip install 'demem-agent[crewai]'") from error

__all__ = ["SAID_BY", "MemoryStorage", "wanting"]

#: In the metadata of a record, which CrewAI puts before a model: who said it, and on which day.
SAID_BY, _ON = "said by", "said on"
#: Before the JSON of what has no place of its own in evidence.
_MARK = "crewai:"
#: How much more is read where some of it may not be shown.
_WIDER = 8

_Wanted = Callable[[MemoryRecord], bool]


class MemoryStorage:
    """Keep CrewAI's records in one memory: the storage that :class:`LongTermMemory` stands on.

    A record is a piece of evidence. CrewAI's own memory may use this as well, which then goes on to
    ask its language model what to keep: ``Memory(storage=storage, embedder=storage.embed)``.

    Args:
        memories: where the records are kept.
        namespace: of the memory that holds them, whatever their scopes.
        encoder: of the memories, where they have one of their own.
    """

    def __init__(
        self, memories: Memories, namespace: str = "/", *, encoder: Encoder | None = None
    ) -> None:
        self.memories, self.namespace, self.encoder = memories, namespace, encoder

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Give the vectors of texts by the memories' encoder: an ``embedder`` for CrewAI that calls
        no provider.
        """
        return (
            as_matrix((self.encoder or default_encoder()).encode([*texts]), len(texts)).tolist()
            if texts
            else []
        )

    def keep(self, record: MemoryRecord, *, at: datetime | None = None) -> None:
        """Remember a record; the memories' clock dates it unless ``at`` says when it was said."""
        about = record.model_dump(
            mode="json", include={"scope", "categories", "importance", "source", "private"}
        )
        about["metadata"] = {
            name: value for name, value in record.metadata.items() if name not in (SAID_BY, _ON)
        }
        source = _MARK + json.dumps(about, default=str)
        by = record.metadata.get(SAID_BY)
        self.memories.remember(
            self.namespace, record.content, speaker=by, at=at, source=source, source_id=record.id
        )

    def read(
        self,
        query: str,
        wanted: _Wanted,
        shown: Callable[[MemoryMatch], str],
        vector: Sequence[float] | None = None,
    ) -> tuple[Reading | None, list[MemoryMatch]]:
        """Read for a query: the wanted records, best first, with the passages of them that were
        read.

        As many as are within the limit in the form in which they are ``shown``, a line break after
        each.
        """
        reading = self.memories.recall(self.namespace, query, vector=vector)
        if reading is None:
            return None, []
        read = [*map(self._match, passages(reading))]
        if not all(
            wanted(match.record) for match in read
        ):  # what is wanted gets the room that the rest has taken
            wider = self.memories.recall(
                self.namespace, query, limit=_WIDER * reading.limit, vector=vector
            )
            read = [match for match in map(self._match, passages(wider)) if wanted(match.record)]
        sized = [Passage(shown(match) + "\n", score=number) for number, match in enumerate(read)]
        fit = fitting(
            sized, lambda passage: passage.text, reading.limit, self.memories.measure(reading.unit)
        )
        return reading, [read[int(passage.score)] for passage in fit]

    def _match(self, passage: Passage) -> MemoryMatch:
        if passage.evidence is not None:
            record = self._record(passage.evidence, passage.text)
        else:  # the summary of a slot
            record = MemoryRecord(
                id=digest(passage.text), content=passage.text, scope=self.namespace
            )
        return MemoryMatch(record=record, score=1 / (1 + math.exp(-passage.score)))

    def _record(self, evidence: Evidence, text: str) -> MemoryRecord:
        source, at = evidence.source or "", evidence.at
        about: dict[str, Any] = (
            json.loads(source.removeprefix(_MARK))
            if source.startswith(_MARK)
            else {"source": evidence.source}
        )
        told = {SAID_BY: evidence.speaker, _ON: f"{at:%Y-%m-%d}" if at else None}
        about["metadata"] = {name: value for name, value in told.items() if value} | about.get(
            "metadata", {}
        )
        if at is not None:  # CrewAI's times are in UTC and do not say so
            about["created_at"] = at.astimezone(UTC).replace(tzinfo=None)
        return MemoryRecord(
            id=evidence.source_id or evidence.id, content=text, **{"scope": self.namespace, **about}
        )

    def _items(self, record_id: str | None = None) -> list[Evidence]:
        memory = self.memories.known(self.namespace)
        items = memory.evidence() if memory is not None else ()
        return [
            item for item in items if record_id is None or (item.source_id or item.id) == record_id
        ]

    def _kept(self, *filters: Any) -> list[tuple[str, MemoryRecord]]:
        """Give the records in scope, categories and metadata, oldest first, with the ids of their
        evidence.
        """
        wanted = wanting(*filters)
        kept = [(item.id, self._record(item, item.text)) for item in self._items()]
        return [(evidence_id, record) for evidence_id, record in kept if wanted(record)]

    def _erase(self, evidence: Sequence[str]) -> int:
        for evidence_id in evidence:
            self.memories.of(self.namespace).forget(evidence_id)
        return len(evidence)

    def save(self, records: list[MemoryRecord]) -> None:
        """Remember records, each as of when it was created."""
        for record in records:
            self.keep(record, at=_local(record.created_at))

    def search(
        self,
        query_embedding: list[float],
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        metadata_filter: dict[str, Any] | None = None,
        limit: int = 10,
        min_score: float = 0.0,
    ) -> list[tuple[MemoryRecord, float]]:
        """Read for a vector that :meth:`embed` has given; a score is its cosine to what was read of
        a record.
        """
        wanted = wanting(scope_prefix, categories, metadata_filter)
        _, matches = self.read("", wanted, lambda match: match.record.content, query_embedding)
        found = [match.record for match in matches]
        vectors = as_matrix(
            [query_embedding, *self.embed([record.content for record in found])], len(found) + 1
        )
        scored = zip(found, (vectors[1:] @ vectors[0]).tolist(), strict=True)
        return [pair for pair in sorted(scored, key=lambda pair: -pair[1]) if pair[1] >= min_score][
            :limit
        ]

    def delete(
        self,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        """Erase for good the records that meet all that is asked, and give their number."""
        kept = self._kept(scope_prefix, categories, metadata_filter)
        asked = ((e, r) for e, r in kept if record_ids is None or r.id in record_ids)
        return self._erase(
            [e for e, r in asked if older_than is None or _local(r.created_at) < _local(older_than)]
        )

    def update(self, record: MemoryRecord) -> None:
        """Remember a record anew, and erase for good what it was."""
        before = [item.id for item in self._items(record.id)]
        self.save([record])
        self._erase(before)

    def get_record(self, record_id: str) -> MemoryRecord | None:
        """Give a record, or None."""
        return next((self._record(item, item.text) for item in self._items(record_id)), None)

    def list_records(
        self, scope_prefix: str | None = None, limit: int = 200, offset: int = 0
    ) -> list[MemoryRecord]:
        """Give records, newest first."""
        kept = [record for _, record in reversed(self._kept(scope_prefix))]
        return sorted(kept, key=lambda record: record.created_at, reverse=True)[
            offset : offset + limit
        ]

    def get_scope_info(self, scope: str) -> ScopeInfo:
        """Tell what is in a scope."""
        times = [record.created_at for _, record in self._kept(scope)]
        return ScopeInfo(
            path=scope,
            record_count=len(times),
            categories=[*self.list_categories(scope)],
            oldest_record=min(times, default=None),
            newest_record=max(times, default=None),
            child_scopes=self.list_scopes(scope),
        )

    def list_scopes(self, parent: str = "/") -> list[str]:
        """Give the scopes right below one."""
        above = parent.rstrip("/") + "/"
        below = {
            record.scope.removeprefix(above)
            for _, record in self._kept(parent)
            if record.scope.startswith(above)
        }
        return sorted({above + path.split("/")[0] for path in below if path})

    def list_categories(self, scope_prefix: str | None = None) -> dict[str, int]:
        """Count the records of each category."""
        named = [name for _, record in self._kept(scope_prefix) for name in record.categories]
        return {name: named.count(name) for name in sorted({*named})}

    def count(self, scope_prefix: str | None = None) -> int:
        """Count the records in a scope."""
        return len(self._kept(scope_prefix))

    def reset(self, scope_prefix: str | None = None) -> None:
        """Erase all records in a scope for good."""
        self.delete(scope_prefix)

    async def asave(self, records: list[MemoryRecord]) -> None:
        """Remember records, without blocking the event loop."""
        await asyncio.to_thread(self.save, records)

    async def asearch(
        self, query_embedding: list[float], *given: Any, **about: Any
    ) -> list[tuple[MemoryRecord, float]]:
        """Search, without blocking the event loop."""
        return await asyncio.to_thread(self.search, query_embedding, *given, **about)

    async def adelete(self, *given: Any, **about: Any) -> int:
        """Erase, without blocking the event loop."""
        return await asyncio.to_thread(self.delete, *given, **about)


def wanting(
    scope: str | None = None,
    categories: list[str] | None = None,
    metadata: dict[str, Any] | None = None,
) -> _Wanted:
    below = (scope or "").rstrip("/")

    def wanted(record: MemoryRecord) -> bool:
        inside = not below or record.scope == below or record.scope.startswith(f"{below}/")
        tagged = not categories or not {*categories}.isdisjoint(record.categories)
        return (
            inside
            and tagged
            and all(record.metadata.get(name) == value for name, value in (metadata or {}).items())
        )

    return wanted


def _local(time: datetime) -> datetime:
    """Give a time of CrewAI's, which is in UTC if it does not say so, as the clock on the wall
    shows it.
    """
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone().replace(tzinfo=None)
