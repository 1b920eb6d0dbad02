"""Memory for LangGraph: a store that keeps what the inner store keeps, and searches it with a
memory.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Container, Generator, Iterable, Iterator, Mapping
from itertools import count
from typing import Any

from demem_adapters.common import Memories, Recent
from demem_adapters.common.passages import passages
from demem_agent import Evidence, SlotMemory

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
#: Operations that the inner store is asked to carry out; what it gave comes back, a list of
#: results.
Flow = Generator[list[Op], Any, list[Result]]

#: By this memory tells the items of a store from what else it may hold.
SOURCE = "store"
#: Fields that are text and nothing but: their names are not remembered.
_PLAIN = frozenset({"text", "content", "memory"})
_ALL = 1_000_000
#: Items of which it is known how late memory has looked at them: many more than are put at the same
#: time.
_MOST_HELD = 10_000
#: What a search reads at first for each item that it is to give, in characters, and by what that
#: grows.
_EACH, _GROWTH = 500, 4


def wrap(
    store: BaseStore,
    memories: Memories,
    *,
    owner: Owner = ".".join,
    text: Callable[[Mapping[str, Any]], str] | None = None,
) -> SlotStore:
    """Give a store like this one whose searches in natural language are answered from memory.

    Args:
        owner: whose memory a namespace belongs to; one of its own each (labels hold no dot) unless
            given.
        text: what of a value is remembered; unless given, the fields that the store's ``index``
            names, or all (:func:`text_of`). Nothing is of a value that was put with
            ``index=False``, and only these fields where its own ``index`` names some.
    """
    return SlotStore(store, memories, owner, text or _indexed_by(store))


class SlotStore(BaseStore):
    """What :func:`wrap` gives: every operation goes to the inner store, but for searches with a
    query.

    Such a search gives the items of the inner store, filtered by it, the best first; those that
    memory did not rank follow, as in the inner store, without a score. A score tells the order and
    nothing else. Items are remembered after the inner store has taken them, as it then holds them;
    :meth:`catch_up` does so for what it held before.
    """

    def __init__(
        self,
        inner: BaseStore,
        memories: Memories,
        owner: Owner,
        text: Callable[[Mapping[str, Any]], str],
    ) -> None:
        self._inner, self._memories, self._owner, self._text = inner, memories, owner, text
        self._lock = threading.Lock()
        #: Each look at the inner store has a number, taken before it; by item, that of the look
        #: that memory holds.
        self._looks, self._held = count(), Recent[str, int](_MOST_HELD)
        self.supports_ttl, self.ttl_config = inner.supports_ttl, inner.ttl_config

    def __getattr__(self, name: str) -> Any:
        if (
            name.startswith("__") or name == "_inner"
        ):  # while it is copied there is no inner store yet
            raise AttributeError(name)
        return getattr(self._inner, name)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        flow = self._batch(list(ops))
        asks, gives = _advance(flow)
        while asks is not None:
            asks, gives = _advance(flow, self._inner.batch(asks))
        return gives

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        flow = self._batch(list(ops))
        asks, gives = await asyncio.to_thread(_advance, flow)
        while asks is not None:
            asks, gives = await asyncio.to_thread(_advance, flow, await self._inner.abatch(asks))
        return gives

    def catch_up(self, namespace_prefix: Path = ()) -> int:
        """Remember what the inner store holds already; gives the number of items looked at."""
        look = next(self._looks)
        return self._catch_up(self._inner.search(namespace_prefix, limit=_ALL), look)

    async def acatch_up(self, namespace_prefix: Path = ()) -> int:
        """Remember what the inner store holds already, as :meth:`catch_up` does, without blocking
        the event loop.
        """
        look = next(self._looks)
        found = await self._inner.asearch(namespace_prefix, limit=_ALL)
        return await asyncio.to_thread(self._catch_up, found, look)

    def _catch_up(self, items: list[SearchItem], look: int) -> int:
        for item in items:
            self._remember(PutOp(item.namespace, item.key, item.value), look)
        return len(items)

    def _batch(self, ops: list[Op]) -> Flow:
        results: dict[int, Result] = {}
        for n, op in enumerate(
            ops
        ):  # before anything is put: a batch reads what was there before it
            if isinstance(op, SearchOp) and op.query and op.query.strip():
                found = yield from self._search(op)
                if found is not None:
                    results[n] = found
        rest = [n for n in range(len(ops)) if n not in results]
        if rest:
            results.update(zip(rest, (yield [ops[n] for n in rest]), strict=True))
        owned = (
            op for op in ops if isinstance(op, PutOp) and self._owner(op.namespace) is not None
        )
        puts = {(put.namespace, put.key): put for put in owned}
        if puts:  # another may have put since: what the inner store has now is remembered
            look = next(self._looks)
            items = yield [GetOp(path, key, refresh_ttl=False) for path, key in puts]
            for put, item in zip(puts.values(), items, strict=True):
                self._remember(put._replace(value=item.value if item else None), look)
        return [results[n] for n in range(len(ops))]

    def _search(self, op: SearchOp) -> Generator[list[Op], Any, list[SearchItem] | None]:
        """Give what a search finds; None where nothing under its prefix is to be remembered."""
        (below,) = yield [
            ListNamespacesOp((MatchCondition("prefix", op.namespace_prefix),), limit=_ALL)
        ]
        owners = dict.fromkeys(map(self._owner, below))
        known = [memory for name in owners if (memory := self._memories.known(name)) is not None]
        if not known:
            return None
        (every,) = yield [op._replace(query=None, limit=_ALL, offset=0, refresh_ttl=False)]
        items: dict[Place, Item] = {(item.namespace, item.key): item for item in every}
        end = op.offset + op.limit
        read = [
            pair for memory in known for pair in _read(memory, op.query or "", items, end).items()
        ]
        ranked = sorted(read, key=lambda pair: -pair[1])
        scores = {place: 1 / n for n, (place, _) in enumerate(ranked, 1)}
        page = list(scores | dict.fromkeys(items))[op.offset : end]
        if op.refresh_ttl and self.supports_ttl and page:
            yield [GetOp(path, key) for path, key in page]
        return [_scored(items[place], scores.get(place)) for place in page]

    def _remember(self, put: PutOp, look: int) -> None:
        """Have memory hold the text of an item as it is now, unless it has looked at it later than
        this.
        """
        name = self._owner(put.namespace)
        if name is None:
            return
        place = json.dumps([*put.namespace, put.key])
        text = _indexed(put, self._text).strip()
        with self._lock:
            if look < self._held.get(place, look):
                return
            memory = self._memories.known(name)
            items = memory.evidence() if memory is not None else ()
            held = next((item for item in items if item.source_id == place), None)
            if memory is not None and held and held.text != text:
                memory.forget(held.id)
            if text and (held is None or held.text != text):
                # A session of its own: items are no conversation, in which neighbours bear on each
                # other.
                self._memories.remember(name, text, session=place, source=SOURCE, source_id=place)
            self._held[place] = look


def text_of(value: Mapping[str, Any]) -> str:
    """Give a value as text, one field a line; the name of a field that is called text or content is
    left out.
    """
    return "\n".join(_leaves("", value))


def _indexed_by(store: BaseStore) -> Callable[[Mapping[str, Any]], str]:
    """Give what takes the text out of a value as the store's own index does; some stores call the
    fields otherwise.
    """
    config = getattr(store, "index_config", None) or {}
    named = config.get("fields") or config.get("text_fields") or ()
    fields = [named] if isinstance(named, str) else [*named]
    if not fields or "$" in fields:
        return text_of
    return lambda value: "\n".join(
        found for path in fields for found in get_text_at_path(value, path)
    )


def _leaves(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(str(key), inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _leaves(name, inner)
    elif value is not None and str(value).strip():
        yield str(value) if not name or name in _PLAIN else f"{name}: {value}"


def _indexed(put: PutOp, text: Callable[[Mapping[str, Any]], str]) -> str:
    if put.value is None or put.index is False:
        return ""
    if put.index is None:
        return text(put.value)
    return "\n".join(found for path in put.index for found in get_text_at_path(put.value, path))


def _read(
    memory: SlotMemory, query: str, places: Container[Place], wanted: int
) -> dict[Place, float]:
    """Read the best of a memory that are kept at these places, as many as wanted if there are, with
    their scores.
    """
    size, most = (
        _EACH * max(wanted, 1),
        3 * sum(len(item.text) for item in memory.evidence()) + _EACH,
    )
    while True:
        found: dict[Place, float] = {}
        for passage in passages(memory.read(query, limit=size, mode="evidence")):
            if (place := _place(passage.evidence)) in places:
                found.setdefault(place, passage.score)
        if len(found) >= wanted or size > most:
            return found
        size *= _GROWTH


def _place(item: Evidence | None) -> Place:
    """Give the namespace and key of an item of the store; what else a memory holds is nowhere."""
    *path, key = (
        json.loads(item.source_id)
        if item and item.source == SOURCE and item.source_id
        else ["", ""]
    )
    return tuple(path), key


def _scored(item: Item, score: float | None) -> SearchItem:
    return SearchItem(item.namespace, item.key, item.value, item.created_at, item.updated_at, score)


def _advance(flow: Flow, given: list[Result] | None = None) -> tuple[list[Op] | None, list[Result]]:
    """Take a flow one step on, to what it asks for or, at its end, to None and what it gives.

    A function of its own, since no thread can be left by StopIteration.
    """
    try:
        return flow.send(given), []
    except StopIteration as end:
        return None, end.value
