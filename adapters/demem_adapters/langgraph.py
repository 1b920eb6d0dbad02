"""Memory for LangGraph: a store that keeps what another keeps, and searches it with a memory."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from itertools import count
from typing import Any, Literal, TypeVar

from demem_adapters.common import Asker, Conditions, Memories, Recent, Situation
from demem_agent import Evidence, Reading, SlotMemory
from demem_agent.reading import Asking

try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        get_text_at_path,
    )
except ImportError as error:
    raise ImportError(
        "the langgraph adapter needs langgraph: pip install 'demem-agent[langgraph]'"
    ) from error

__all__ = ["SlotStore", "text_of", "wrap"]

Path = tuple[str, ...]
#: Where a store keeps an item: its namespace and key.
Place = tuple[Path, str]
#: Whose memory the items of a store's namespace belong to; None keeps them out of memory.
Owner = Callable[[Path], str | None]
Given = TypeVar("Given")
#: Yields operations that the inner store is asked to carry out; what it gave comes back, a list of
#: results.
Flow = Generator[list[Op], Any, Given]
#: The value of an item, and what takes the text to be remembered out of one.
Value = Mapping[str, Any]
TextOf = Callable[[Value], str]

#: By this memory tells the items of a store from what else it may hold.
SOURCE = "store"
#: Fields that are text and nothing but: their names are not remembered.
_PLAIN = frozenset({"text", "content", "memory"})
_ALL = 1_000_000
#: Items of which it is known how late memory has looked at them: many more than are put at the same
#: time.
_MOST_HELD = 10_000
#: What a search reads at first for each item that it is to give, in characters, and by what that
#: grows: of long items more is needed.
_EACH, _GROWTH = 500, 4
#: A memory of its own for each namespace.
_OF_ITS_OWN: Owner = ".".join


def wrap(
    store: BaseStore,
    memories: Memories,
    *,
    owner: Owner = _OF_ITS_OWN,
    text: TextOf | None = None,
    asker: Asker | None = None,
    conditions: Conditions = (),
) -> SlotStore:
    """Make a store like this one whose searches in natural language are answered from memory.

    Args:
        owner: whose memory a namespace belongs to; one of its own each (labels hold no dot) unless
            given.
        text: what of a value is remembered; unless given, the fields that the store's ``index``
            names, or all (:func:`text_of`). Nothing is of a value that was put with
            ``index=False``, and only these fields where its own ``index`` names some.
        asker, conditions: who searches (nobody in particular unless given: items are said by
            nobody), and what holds; functions of the prefix that is searched as well.
    """
    situation = Situation(asker, conditions, unnamed=None)
    return SlotStore(store, memories, owner, text or _indexed_by(store), situation)


class SlotStore(BaseStore):
    """What :func:`wrap` gives: every operation goes to the inner store, but for searches with a
    query.

    Such a search gives the items of the inner store, filtered by it, the best first; those that
    memory did not rank follow, as in the inner store, without a score. A score is the probability,
    from 0 to 1, that an item bears on the query. Items are remembered after the inner store has
    taken them, as it then holds them, or as soon as that can be done; :meth:`catch_up` does so for
    what it held before, and forgets what it holds no more.
    """

    def __init__(
        self,
        inner: BaseStore,
        memories: Memories,
        owner: Owner,
        text: TextOf,
        situation: Situation,
    ) -> None:
        self._inner = inner
        self._memories = memories
        self._owner = owner
        self._text = text
        self._situation = situation
        self._lock = threading.Lock()
        #: Each look at the inner store has a number, taken before it.
        self._looks = count()
        #: By item, the number of the look that memory holds.
        self._held: Recent[str, int] = Recent(_MOST_HELD)
        #: By item, what of it was to be remembered as it was put, where that was said.
        self._indexes: Recent[str, Literal[False] | list[str]] = Recent(_MOST_HELD)
        self.supports_ttl = inner.supports_ttl
        self.ttl_config = inner.ttl_config

    def __getattr__(self, name: str) -> Any:
        # While it is copied there is no inner store yet.
        if name.startswith("__") or name == "_inner":
            raise AttributeError(name)
        return getattr(self._inner, name)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations on the inner store; searches with a query ask memory as well."""
        flow = self._batch(list(ops))
        asks, gives = _advance(flow)
        while asks is not None:
            asks, gives = _advance(flow, self._inner.batch(asks))
        return gives

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations as :meth:`batch` does, without blocking the event loop."""
        flow = self._batch(list(ops))
        asks, gives = await asyncio.to_thread(_advance, flow)
        while asks is not None:
            asks, gives = await asyncio.to_thread(_advance, flow, await self._inner.abatch(asks))
        return gives

    def catch_up(self, namespace_prefix: Path = ()) -> int:
        """Remember what the inner store holds already, and return how many items that is.

        What it held and holds no more is forgotten: what has expired there, or was deleted without
        this store. All memories that may hold something of it are looked through. With which
        ``index`` an item was put the inner store does not tell: of one that was not put through
        this store, in this process, it is what ``text`` gives.
        """
        look = next(self._looks)
        found = self._inner.search(namespace_prefix, limit=_ALL, refresh_ttl=False)
        return self._catch_up(found, namespace_prefix, look)

    async def acatch_up(self, namespace_prefix: Path = ()) -> int:
        """Remember as :meth:`catch_up` does, without blocking the event loop."""
        look = next(self._looks)
        found = await self._inner.asearch(namespace_prefix, limit=_ALL, refresh_ttl=False)
        return await asyncio.to_thread(self._catch_up, found, namespace_prefix, look)

    def _catch_up(self, items: list[SearchItem], prefix: Path, look: int) -> int:
        there: set[Place] = set()
        for item in items:
            there.add((item.namespace, item.key))
            index = self._indexes.get(_id_of((item.namespace, item.key)))
            self._remember(PutOp(item.namespace, item.key, item.value, index), look)
        for path, key in self._remembered(prefix):
            if (path, key) not in there:
                self._remember(PutOp(path, key, None), look)
        return len(items)

    def _remembered(self, prefix: Path) -> list[Place]:
        """Return the places below a namespace of which memories hold something."""
        found: list[Place] = []
        for name in self._memories.names():
            if not self._may_hold(name, prefix):
                continue
            memory = self._memories.known(name)
            for item in memory.evidence(where={"source": SOURCE}) if memory is not None else ():
                path, key = _place(item)
                if path[: len(prefix)] == prefix and self._owner(path) == name:
                    found.append((path, key))
        return found

    def _may_hold(self, name: str, prefix: Path) -> bool:
        """Whether something below a namespace may be in a memory of that name."""
        if self._owner != _OF_ITS_OWN or not prefix:
            return True
        return f"{name}.".startswith(f"{_OF_ITS_OWN(prefix)}.")

    def _batch(self, ops: list[Op]) -> Flow[list[Result]]:
        # Before anything is put: a batch reads what was there before it.
        results = yield from self._searches(ops)
        rest = [n for n in range(len(ops)) if n not in results]
        if rest:
            given = yield [ops[n] for n in rest]
            results.update(zip(rest, given, strict=True))
        yield from self._puts(ops)
        return [results[n] for n in range(len(ops))]

    def _searches(self, ops: list[Op]) -> Flow[dict[int, Result]]:
        """Return what searches with a query found, by the number of the operation."""
        results: dict[int, Result] = {}
        for n, op in enumerate(ops):
            if isinstance(op, SearchOp) and op.query and op.query.strip():
                found = yield from self._search(op)
                if found is not None:
                    results[n] = found
        return results

    def _puts(self, ops: list[Op]) -> Flow[None]:
        """Remember what was put, as the inner store now has it: another may have put since."""
        puts: dict[Place, PutOp] = {}
        for op in ops:
            if isinstance(op, PutOp) and self._owner(op.namespace) is not None:
                puts[op.namespace, op.key] = op
        if not puts:
            return
        look = next(self._looks)
        items = yield [GetOp(path, key, refresh_ttl=False) for path, key in puts]
        for put, item in zip(puts.values(), items, strict=True):
            self._remember(put._replace(value=item.value if item else None), look)

    def _search(self, op: SearchOp) -> Flow[list[SearchItem] | None]:
        """Return what a search finds; None where nothing under its prefix is to be remembered."""
        known = yield from self._memories_below(op.namespace_prefix)
        if not known:
            return None
        items = yield from self._items_of(op)
        end = op.offset + op.limit
        asking = self._situation.asking(op.namespace_prefix)
        scores = _ranked(known, op.query or "", items, end, asking)
        ranked_first = scores | dict.fromkeys(items)
        page = [*ranked_first][op.offset : end]
        if op.refresh_ttl and self.supports_ttl and page:
            yield [GetOp(path, key) for path, key in page]
        return [_scored(items[place], scores.get(place)) for place in page]

    def _items_of(self, op: SearchOp) -> Flow[dict[Place, Item]]:
        """Return all items that a search without its query finds in the inner store."""
        (every,) = yield [op._replace(query=None, limit=_ALL, offset=0, refresh_ttl=False)]
        return {(item.namespace, item.key): item for item in every}

    def _memories_below(self, path: Path) -> Flow[list[SlotMemory]]:
        """Return the memories that were written to of the owners of the namespaces below one."""
        prefix = MatchCondition("prefix", path)
        (below,) = yield [ListNamespacesOp((prefix,), limit=_ALL)]
        known: list[SlotMemory] = []
        for name in dict.fromkeys(map(self._owner, below)):
            memory = self._memories.known(name)
            if memory is not None:
                known.append(memory)
        return known

    def _remember(self, put: PutOp, look: int) -> None:
        """Have memory hold the text of an item, unless it has looked at it later than this."""
        name = self._owner(put.namespace)
        if name is None:
            return
        place = _id_of((put.namespace, put.key))
        text = _indexed(put, self._text).strip()
        with self._lock:
            if look < self._held.get(place, look):
                return
            self._memories.write_soon(name, lambda: self._replace(name, place, text))
            self._held[place] = look
            self._indexes.pop(place, None)
            if put.index is not None:
                self._indexes[place] = put.index

    def _replace(self, name: str, place: str, text: str) -> None:
        """Have a memory hold this text of a place and no other; none where it is blank."""
        memory = self._memories.known(name)
        items = memory.evidence() if memory is not None else ()
        held = next((item for item in items if item.source_id == place), None)
        if held is not None and held.text == text:
            return
        if memory is not None and held is not None:
            memory.forget(held.id)
        if text:
            # A session of its own: items are no conversation, in which neighbours bear on each
            # other.
            self._memories.remember(name, text, session=place, source=SOURCE, source_id=place)


def text_of(value: Value) -> str:
    """Return a value as text, one field a line.

    The names of fields that are nothing but text (``text``, ``content``, ``memory``) are left out.
    """
    return "\n".join(_leaves("", value))


def _indexed_by(store: BaseStore) -> TextOf:
    """Return what takes the text out of a value as the store's own index does."""
    config = getattr(store, "index_config", None) or {}
    # Some stores call them text_fields.
    named = config.get("fields") or config.get("text_fields") or ()
    fields = [named] if isinstance(named, str) else [*named]
    if not fields or "$" in fields:
        return text_of
    return lambda value: _text_at(value, fields)


def _text_at(value: Value, paths: Iterable[str]) -> str:
    texts: list[str] = []
    for path in paths:
        texts += get_text_at_path(value, path)
    return "\n".join(texts)


def _leaves(name: str, value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(str(key), inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _leaves(name, inner)
    elif value is not None and str(value).strip():
        yield str(value) if not name or name in _PLAIN else f"{name}: {value}"


def _indexed(put: PutOp, text: TextOf) -> str:
    if put.value is None or put.index is False:
        return ""
    if put.index is None:
        return text(put.value)
    return _text_at(put.value, put.index)


def _ranked(
    memories: Iterable[SlotMemory],
    query: str,
    places: Collection[Place],
    wanted: int,
    asking: Asking,
) -> dict[Place, float]:
    """Return the places that memories rank for a query, best first, with their probability."""
    read: list[tuple[Place, float]] = []
    ids = {_id_of(place) for place in places}
    for memory in memories:
        read += _read(memory, query, ids, wanted, asking)
    # Those of one memory stay in its order: the sort is stable, and none is surer than one before.
    return dict(sorted(read, key=lambda pair: -pair[1]))


def _read(
    memory: SlotMemory, query: str, ids: Collection[str], wanted: int, asking: Asking
) -> list[tuple[Place, float]]:
    """Read the best items of a memory that are kept under these ids, with their probability.

    There are as many as wanted, if the memory has them.
    """
    items = memory.evidence()
    left = [item for item in items if item.source == SOURCE and item.source_id in ids]
    if len(left) < len(items):
        # The limit is filled from these alone.
        asking = {**asking, "where": {"source": SOURCE, "source_ids": [*map(_id, left)]}}
    size = _EACH * max(wanted, 1)
    most = 3 * sum(len(item.text) for item in left) + _EACH
    while left:
        # Without a floor: what hardly bears on the query is told from the rest by its score.
        reading = memory.read(query, limit=size, mode="evidence", floor=0.0, **asking)
        found = _scores(reading, ids)
        if len(found) >= min(wanted, len(left)) or size > most:
            return found
        size *= _GROWTH
    return []


def _scores(reading: Reading, ids: Collection[str]) -> list[tuple[Place, float]]:
    """Return the places that a reading holds something of, with probabilities, best first.

    What was remembered since it was looked which items there are is none of these.
    """
    found: dict[Place, float] = {}
    for line in sorted(reading.lines, key=lambda line: -line.score):
        for item in (line.evidence, *line.again):  # as probable, whichever of them is read
            if item.source_id in ids:
                found.setdefault(_place(item), line.probability)
    return [*found.items()]


def _place(item: Evidence) -> Place:
    """Return the namespace and key of an item of the store."""
    *path, key = json.loads(_id(item))
    return tuple(path), key


def _id(item: Evidence) -> str:
    return item.source_id or ""


def _id_of(place: Place) -> str:
    """Return the id under which memory holds an item of the store."""
    path, key = place
    return json.dumps([*path, key])


def _scored(item: Item, score: float | None) -> SearchItem:
    return SearchItem(
        namespace=item.namespace,
        key=item.key,
        value=item.value,
        created_at=item.created_at,
        updated_at=item.updated_at,
        score=score,
    )


def _advance(
    flow: Flow[list[Result]], given: list[Result] | None = None
) -> tuple[list[Op] | None, list[Result]]:
    """Take a flow one step on, to what it asks for or, at its end, to None and what it gives.

    A function of its own, since no thread can be left by StopIteration.
    """
    try:
        return flow.send(given), []
    except StopIteration as end:
        return None, end.value
