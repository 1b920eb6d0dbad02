"""CrewAI's records kept in a memory: the storage backend that its memory stands on."""

from __future__ import annotations

import asyncio
import functools
import json
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from demem_adapters.common import Asker, Conditions, Filter, Memories, Situation, digest
from demem_adapters.common.passages import Passage, fitting, passages
from demem_agent import Evidence, Reading
from demem_agent.encoders import as_matrix, default_encoder
from demem_agent.reading import Asking
from demem_agent.types import Encoder

try:
    from crewai.memory.types import MemoryMatch, MemoryRecord, ScopeInfo
except ImportError as error:
    raise ImportError("this adapter needs crewai: pip install 'demem-agent[crewai]'") from error

__all__ = ["SAID_BY", "MemoryStorage", "wanting"]

#: In the metadata of a record, which CrewAI puts before a model: who said it.
SAID_BY = "said by"
#: And on which day.
_ON = "said on"
#: Before the JSON of what has no place of its own in evidence.
_MARK = "crewai:"
#: Fields of a record that evidence has no place for.
_ABOUT = {"scope", "categories", "importance", "source", "private"}

_Wanted = Callable[[MemoryRecord], bool]


class MemoryStorage:
    """Keep CrewAI's records in one memory: the storage that :class:`LongTermMemory` stands on.

    A record is a piece of evidence. CrewAI's own memory may use this as well, which then goes on to
    ask its language model what to keep: ``Memory(storage=storage, embedder=storage.embed)``.

    Args:
        memories: where the records are kept.
        namespace: of the memory that holds them, whatever their scopes.
        encoder: of the memories, where they have one of their own.
        asker, conditions: who asks ("user" unless given), and what holds; also as functions without
            arguments.
        where: which items may be recalled; also as a function.
    """

    def __init__(
        self,
        memories: Memories,
        namespace: str = "/",
        *,
        encoder: Encoder | None = None,
        asker: Asker | None = None,
        conditions: Conditions = (),
        where: Filter | None = None,
    ) -> None:
        self.memories = memories
        self.namespace = namespace
        self.encoder = encoder
        self.situation = Situation(asker, conditions, where)

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Encode texts by the memories' encoder: an ``embedder`` that calls no provider."""
        if not texts:
            return []
        encoder = self.encoder or default_encoder()
        vectors: list[list[float]] = as_matrix(encoder.encode([*texts]), len(texts)).tolist()
        return vectors

    def keep(self, record: MemoryRecord, *, at: datetime | None = None) -> None:
        """Remember a record; the memories' clock dates it unless ``at`` says when it was said."""
        about = record.model_dump(mode="json", include=_ABOUT)
        metadata = dict(record.metadata)
        by = metadata.pop(SAID_BY, None)
        metadata.pop(_ON, None)
        about["metadata"] = metadata
        self.memories.remember(
            self.namespace,
            record.content,
            speaker=by,
            at=at,
            source=_MARK + json.dumps(about, default=str),
            source_id=record.id,
        )

    def read(
        self,
        query: str,
        wanted: _Wanted,
        shown: Callable[[MemoryMatch], str],
        vector: Sequence[float] | None = None,
        asking: Asking | None = None,
    ) -> tuple[Reading | None, list[MemoryMatch]]:
        """Read for a query: the wanted records, best first, with the passages of them that were
        read.

        As many as are within the limit in the form in which they are ``shown``, a line break after
        each; for the storage's own situation unless another is given. The limit is filled from what
        is wanted alone.
        """
        recall = functools.partial(
            self.memories.recall,
            self.namespace,
            query,
            vector=vector,
            **(asking or self.situation.asking()),
        )
        reading = recall()
        read = self._matches(reading)
        if not all(wanted(match.record) for match in read):
            if reading is not None and reading.mode == "evidence":
                # What is wanted gets the room that the rest has taken.
                reading = recall(matching=lambda item: wanted(self._record(item, item.text)))
            read = [match for match in self._matches(reading) if wanted(match.record)]
        if reading is None:
            return None, []

        def line(match: MemoryMatch) -> str:
            return shown(match) + "\n"

        measure = self.memories.measure(reading.unit)
        return reading, [*fitting(read, line, reading.limit, measure)]

    def _matches(self, reading: Reading | None) -> list[MemoryMatch]:
        return [self._match(passage) for passage in passages(reading)]

    def _match(self, passage: Passage) -> MemoryMatch:
        if passage.evidence is not None:
            record = self._record(passage.evidence, passage.text)
        else:  # the summary of a slot
            once = digest(passage.text)
            record = MemoryRecord(id=once, content=passage.text, scope=self.namespace)
        return MemoryMatch(record=record, score=passage.probability)

    def _record(self, evidence: Evidence, text: str) -> MemoryRecord:
        about = _about(evidence)
        told: dict[str, Any] = {}
        if evidence.speaker:
            told[SAID_BY] = evidence.speaker
        if evidence.at is not None:
            told[_ON] = f"{evidence.at:%Y-%m-%d}"
            # CrewAI's times are in UTC and do not say so.
            in_utc = evidence.at.astimezone(UTC)
            about["created_at"] = in_utc.replace(tzinfo=None)
        about["metadata"] = told | about.get("metadata", {})
        about.setdefault("scope", self.namespace)
        return MemoryRecord(id=evidence.source_id or evidence.id, content=text, **about)

    def _items(self, record_id: str | None = None) -> list[Evidence]:
        """Return the items of a record, or all."""
        memory = self.memories.known(self.namespace)
        if memory is None:
            return []
        if record_id is None:
            return [*memory.evidence()]
        return [item for item in memory.evidence() if (item.source_id or item.id) == record_id]

    def _kept(self, *filters: Any) -> list[tuple[str, MemoryRecord]]:
        """Return the records in scope, categories and metadata, oldest first.

        Each comes with the id of its evidence.
        """
        wanted = wanting(*filters)
        kept: list[tuple[str, MemoryRecord]] = []
        for item in self._items():
            record = self._record(item, item.text)
            if wanted(record):
                kept.append((item.id, record))
        return kept

    def _erase(self, evidence: Sequence[str]) -> int:
        for evidence_id in evidence:
            self.memories.of(self.namespace).forget(evidence_id)
        return len(evidence)

    def save(self, records: list[MemoryRecord]) -> None:
        """Remember records, each dated when it was created."""
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
        """Read for a vector that :meth:`embed` has given.

        A score is the cosine of the vector to what was read of a record.
        """
        wanted = wanting(scope_prefix, categories, metadata_filter)
        _, matches = self.read("", wanted, lambda match: match.record.content, query_embedding)
        found = [match.record for match in matches]
        scores = self._cosines(query_embedding, [record.content for record in found])
        ranked = sorted(zip(found, scores, strict=True), key=lambda pair: -pair[1])
        enough = [pair for pair in ranked if pair[1] >= min_score]
        return enough[:limit]

    def _cosines(self, vector: Sequence[float], texts: Sequence[str]) -> list[float]:
        vectors = as_matrix([vector, *self.embed(texts)], len(texts) + 1)
        cosines: list[float] = (vectors[1:] @ vectors[0]).tolist()
        return cosines

    def delete(
        self,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        """Erase for good the records that meet all that is asked, and return their number."""
        gone: list[str] = []
        for evidence_id, record in self._kept(scope_prefix, categories, metadata_filter):
            asked = record_ids is None or record.id in record_ids
            old = older_than is None or _local(record.created_at) < _local(older_than)
            if asked and old:
                gone.append(evidence_id)
        return self._erase(gone)

    def update(self, record: MemoryRecord) -> None:
        """Remember a record anew, and erase for good what it was."""
        before = [item.id for item in self._items(record.id)]
        self.save([record])
        self._erase(before)

    def get_record(self, record_id: str) -> MemoryRecord | None:
        """Return a record, None if there is none of that id."""
        items = self._items(record_id)
        return self._record(items[0], items[0].text) if items else None

    def list_records(
        self, scope_prefix: str | None = None, limit: int = 200, offset: int = 0
    ) -> list[MemoryRecord]:
        """Return records, newest first."""
        kept = [record for _, record in reversed(self._kept(scope_prefix))]
        kept.sort(key=lambda record: record.created_at, reverse=True)
        return kept[offset : offset + limit]

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
        """Return the scopes right below one."""
        above = parent.rstrip("/") + "/"
        found: set[str] = set()
        for _, record in self._kept(parent):
            below = record.scope.removeprefix(above)
            if record.scope.startswith(above) and below:
                found.add(above + below.split("/")[0])
        return sorted(found)

    def list_categories(self, scope_prefix: str | None = None) -> dict[str, int]:
        """Count the records of each category."""
        counts: Counter[str] = Counter()
        for _, record in self._kept(scope_prefix):
            counts.update(record.categories)
        return dict(sorted(counts.items()))

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
    """Return what tells whether a record is in a scope, of a category and has the metadata."""
    below = (scope or "").rstrip("/")
    tags = {*(categories or ())}
    about = metadata or {}

    def wanted(record: MemoryRecord) -> bool:
        if below and record.scope != below and not record.scope.startswith(f"{below}/"):
            return False
        if tags and tags.isdisjoint(record.categories):
            return False
        return all(record.metadata.get(name) == value for name, value in about.items())

    return wanted


def _about(evidence: Evidence) -> dict[str, Any]:
    """Return what was written down of a record; of other evidence, its source."""
    source = evidence.source or ""
    if not source.startswith(_MARK):
        return {"source": evidence.source}
    about: dict[str, Any] = json.loads(source.removeprefix(_MARK))
    return about


def _local(time: datetime) -> datetime:
    """Return a time of CrewAI's as the clock on the wall shows it: without a zone it is in UTC."""
    zoned = time if time.tzinfo else time.replace(tzinfo=UTC)
    return zoned.astimezone().replace(tzinfo=None)
