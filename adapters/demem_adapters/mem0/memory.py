"""mem0's ``Memory``, kept by this library."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from demem_adapters.common.passages import kept_beside, passages
from demem_adapters.mem0.adding import (
    about_it,
    day_field,
    new_among,
    same_scope,
    shown_as_added,
    turns_in,
    without_ids,
)
from demem_adapters.mem0.facts import EXPIRES, Fact, facts_of, is_expired
from demem_adapters.mem0.filters import matching, named_ids, users_of
from demem_adapters.mem0.places import Config, memories_of
from demem_adapters.mem0.whose import IDS, SOURCE, may_be_in, owner, scope
from demem_agent import InvalidInput, Reading, SlotMemory
from demem_agent.reading import Reads
from demem_agent.turns import Turn, text_field, unit_field, whole_field

__all__ = ["Memory"]

#: How many memories are given unless a call says it, as in mem0.
_MOST = 20
#: What a search reads at first for each memory that it is to give, in characters, and by what that
#: grows.
_EACH, _GROWTH = 500, 4
_UNSET: Any = object()


@dataclass(frozen=True, slots=True)
class _Within:
    """A namespace that is searched: what it holds, and what of that is meant."""

    memory: SlotMemory
    facts: Sequence[Fact]
    meant: Sequence[Fact]


class Memory:
    """What was said by users and agents, with mem0's calls; safe to share between threads.

    Every user has a memory of their own, under their ``user_id``: the same that other adapters
    have on this namespace. What is added without one is kept with the agent, or else with the run.

    Args:
        config: ``Memories`` of yours, the URL of a store such as ``sqlite:///bot.db``, or a
            configuration as mem0 has it, of which ``{"demem": {"url": ..., **options}}`` counts and
            the rest is passed over with a warning; unless given, all ends with the process.
    """

    def __init__(self, config: Config = None) -> None:
        self.memories, self._owns = memories_of(config)
        self._lock = threading.Lock()

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Self:
        """Make one from a configuration as mem0 has it."""
        return cls(config_dict)

    def add(
        self,
        messages: object,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        timestamp: object = None,
        expiration_date: object = None,
        infer: bool = True,
        memory_type: str | None = None,
        prompt: str | None = None,
    ) -> dict[str, Any]:
        """Remember what was said, as it was said, and return what is new of it.

        Args:
            messages: a text, a message, or a list of them; what users and assistants said in it.
            user_id, agent_id, run_id: whose it is; one at least.
            metadata: kept beside each text, at most 4 KB.
            timestamp: when it was said: seconds since 1970, or a time or a day.
            expiration_date: the last day on which it is found.
            infer: whether the beginning of a list that is there already, as the end of what was
                said within the same ids, is passed over; else all of it is added.
            memory_type: "procedural_memory", which is kept beside it.
            prompt: of no meaning: no model is asked.

        Raises:
            InvalidInput: naming the field and its range; nothing was added.
        """
        whose = scope(user_id, agent_id, run_id)
        about = about_it(whose, metadata, expiration_date, memory_type)
        turns: Sequence[Turn] = turns_in(messages, whose, about, timestamp)
        with self._lock:
            if infer:
                held = [fact for fact in self._facts(whose.namespace) if same_scope(fact, whose)]
                turns = new_among(turns, held)
            done = self.memories.of(whose.namespace).ingest_many(turns) if turns else []
        added: list[dict[str, Any]] = []
        for turn, one in zip(turns, done, strict=True):
            if one.evidence_id is not None:
                added.append(shown_as_added(turn, raw=not infer))
        return {"results": added}

    def search(
        self,
        query: str,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        limit: int | None = None,
        filters: Mapping[str, Any] | None = None,
        threshold: float | None = None,
        top_k: int | None = None,
        rerank: bool = False,
        explain: bool = False,
        reference_date: object = None,
        show_expired: bool = False,
    ) -> dict[str, Any]:
        """Return the memories that bear on a query, best first.

        Args:
            user_id, agent_id, run_id: whose; or in ``filters``, one at least.
            limit, top_k: the most that are given, 20 unless either says it.
            filters: conditions on whose, on ``created_at`` and ``updated_at``, and on metadata.
            threshold: the least score, in [0, 1].
            rerank: of no meaning: a reranker that the memories have always ranks.
            explain: whether each result has ``score_details``.
            reference_date: when it is asked, which "last week" goes by; now unless given.
            show_expired: whether what has expired is found as well.

        Raises:
            InvalidInput: naming the field and its range.
        """
        asked = text_field("query", query).strip()
        most = _most(limit, top_k)
        least = 0.0 if threshold is None else unit_field("threshold", threshold)
        chosen = _filters(filters, user_id, agent_id, run_id)
        found: list[tuple[Fact, dict[str, float]]] = []
        for within in self._within(chosen, show_expired):
            found += _ranked(within, asked, most, reference_date)
        found.sort(key=lambda pair: -pair[1]["score"])
        results: list[dict[str, Any]] = []
        for fact, scores in found[:most]:
            if scores["score"] >= least:
                details = {"score_details": {**scores, "threshold": least}} if explain else {}
                results.append({**fact.shown(), "score": scores["score"], **details})
        return {"results": results}

    def get(self, memory_id: str) -> dict[str, Any] | None:
        """Return one memory by its id; None where there is none."""
        fact = self._find(memory_id)
        return None if fact is None else {**fact.shown(), "score": None}

    def get_all(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        filters: Mapping[str, Any] | None = None,
        limit: int | None = None,
        top_k: int | None = None,
        show_expired: bool = False,
    ) -> dict[str, Any]:
        """Return memories in the order in which they were added; arguments as of ``search``."""
        most = _most(limit, top_k)
        chosen = _filters(filters, user_id, agent_id, run_id)
        listed: list[dict[str, Any]] = []
        for within in self._within(chosen, show_expired):
            listed += [fact.shown() for fact in within.meant]
        return {"results": listed[:most]}

    def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expiration_date: Any = _UNSET,
        data: str | None = None,
    ) -> dict[str, str]:
        """Change what a memory says, or what is kept beside it; ``history`` has what it said.

        Args:
            text: what it says from now on; ``data`` is its older name.
            metadata: what is added to its own, or changed of it.
            expiration_date: the last day on which it is found; None for no such day.

        Raises:
            InvalidInput: for an id that no memory has, or nothing to change.
        """
        says = text if text is not None else data
        if says is None and metadata is None and expiration_date is _UNSET:
            raise InvalidInput("text", None, "given, or else metadata or expiration_date")
        fact = self._known(memory_id)
        beside = {**kept_beside(fact.now), **without_ids(metadata or {})}
        if expiration_date is None:
            beside.pop(EXPIRES, None)
        elif expiration_date is not _UNSET:
            beside[EXPIRES] = day_field(expiration_date)
        memory = self.memories.of(fact.namespace)
        told = fact.now.text if says is None else says
        memory.update(fact.now.id, told, metadata=beside)
        return {"message": "Memory updated successfully!"}

    def delete(self, memory_id: str) -> dict[str, str]:
        """Erase a memory for good, with all that it said before.

        Raises:
            InvalidInput: for an id that no memory has.
        """
        self._erase(self._known(memory_id))
        return {"message": "Memory deleted successfully!"}

    def delete_all(
        self,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> dict[str, str]:
        """Erase all memories that have all of the ids that are given, for good.

        By a user alone, all that is known of them goes, whoever remembered it.

        Raises:
            InvalidInput: where none is given.
        """
        given = scope(user_id, agent_id, run_id).given()
        for name in self._names(given):
            if owner(name) == given:
                self.memories.delete(name)
                continue
            is_meant = matching(given)
            for fact in self._facts(name):
                if is_meant(fact.payload()):
                    self._erase(fact)
        return {"message": "Memories deleted successfully!"}

    def history(self, memory_id: str) -> list[dict[str, Any]]:
        """Return what became of a memory, the oldest first; nothing of one that was deleted."""
        fact = self._find(memory_id)
        return [] if fact is None else fact.history()

    def reset(self) -> None:
        """Erase every memory of the store, of all users."""
        for name in self.memories.names():
            self.memories.delete(name)

    def close(self) -> None:
        """Release the store, where this has opened it."""
        if self._owns:
            self.memories.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        return {"memories": self.memories, "_owns": self._owns}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept, _lock=threading.Lock())

    def _facts(self, namespace: str) -> list[Fact]:
        memory = self.memories.known(namespace)
        return [] if memory is None else facts_of(namespace, memory)

    def _names(self, filters: Mapping[str, Any]) -> list[str]:
        """Return the namespaces in which something may be meant."""
        users = users_of(filters)
        if users is None:
            return self.memories.names()
        return [name for name in sorted(users) if self.memories.known(name) is not None]

    def _within(self, filters: Mapping[str, Any], show_expired: bool) -> Iterator[_Within]:
        """Yield the memories in which something is meant, with what that is."""
        is_meant = matching(filters)
        for name in self._names(filters):
            memory = self.memories.known(name)
            facts = [] if memory is None else facts_of(name, memory)
            meant: list[Fact] = []
            for fact in facts:
                payload = fact.payload()
                if is_meant(payload) and (show_expired or not is_expired(payload)):
                    meant.append(fact)
            if memory is not None and meant:
                yield _Within(memory, facts, meant)

    def _find(self, memory_id: str) -> Fact | None:
        """Return a memory by its id; the namespace that the id was made for is looked at first."""
        names = self.memories.names()
        names.sort(key=lambda name: not may_be_in(memory_id, name))
        for name in names:
            for fact in self._facts(name):
                if fact.id == memory_id:
                    return fact
        return None

    def _known(self, memory_id: str) -> Fact:
        fact = self._find(memory_id)
        if fact is None:
            raise InvalidInput("memory_id", memory_id, "the id of a memory")
        return fact

    def _erase(self, fact: Fact) -> None:
        """Forget all versions of a memory; the first, by which it is known, goes last."""
        for item in reversed(fact.versions):
            self.memories.forget(fact.namespace, item.id)


def _most(limit: int | None, top_k: int | None) -> int:
    given = limit if top_k is None else top_k
    return _MOST if given is None else whole_field("top_k", given, 0)


def _filters(filters: Mapping[str, Any] | None, *ids: object) -> Mapping[str, Any]:
    """Return a filter with the ids that were given beside it.

    Raises:
        InvalidInput: where none of the three ids is named.
    """
    chosen = dict(filters or {})
    for name in IDS:
        if isinstance(chosen.get(name), str | int) and chosen[name] != "*":
            chosen |= scope(**{name: chosen[name]}).given()
    if any(id is not None for id in ids):
        chosen = {"AND": [scope(*ids).given(), chosen]}
    matching(chosen)  # reports what is wrong in it
    if not named_ids(chosen):
        raise InvalidInput("filters", filters, "with one at least of user_id, agent_id, run_id")
    return chosen


def _ranked(
    within: _Within, query: str, most: int, asked_at: Any
) -> list[tuple[Fact, dict[str, float]]]:
    """Return what of a memory is meant, as it ranks it, with scores: as many as are wanted."""
    by_item = {fact.now.id: fact for fact in within.meant}
    how = _leaving(within)
    how["mode"] = "evidence"
    how["floor"] = 0  # as many as were asked for: who wants fewer gives a threshold
    how["limit"] = limit = _EACH * max(most, 1)
    if asked_at is not None:
        how["at"] = asked_at
    whole = 2 * sum(len(fact.now.text) for fact in within.meant) + _EACH
    scored = _scored(within.memory.read(query, **how), by_item)
    while len(scored) < min(most, len(by_item)) and limit < _GROWTH * whole:
        how["limit"] = limit = limit * _GROWTH
        scored = _scored(within.memory.read(query, **how), by_item)
    return scored


def _leaving(within: _Within) -> Reads:
    """Return what has a reading hold what is meant and nothing else.

    Memories of this facade are named by their ids, so that what is not meant has no say in it;
    where others are among them, these are left out of the reading alone.
    """
    now = {fact.now.id for fact in within.meant}
    how: Reads = {"without": [item.id for item in within.memory.evidence() if item.id not in now]}
    if len(within.meant) < len(within.facts):
        items = [fact.now for fact in within.meant]
        if all(item.source == SOURCE and item.source_id is not None for item in items):
            how["where"] = {"source": SOURCE, "source_ids": [item.source_id for item in items]}
    return how


def _scored(reading: Reading, by_item: Mapping[str, Fact]) -> list[tuple[Fact, dict[str, float]]]:
    """Return the memories in a reading, each with its scores, best first.

    The score is the probability that a memory bears on the query; that memory holds what was asked
    at all is beside it.
    """
    scored: list[tuple[Fact, dict[str, float]]] = []
    for passage in passages(reading):
        if passage.evidence is not None and passage.evidence.id in by_item:
            scores = {
                "score": passage.probability,
                "raw_score": passage.score,
                "probability": reading.probability,
            }
            scored.append((by_item[passage.evidence.id], scores))
    return scored
