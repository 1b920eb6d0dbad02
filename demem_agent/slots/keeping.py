"""What counts as kept, and in which order it goes where a memory may keep only so much.

All text that somebody wrote and that could be read again counts, each text once, in the memory's
unit; metadata as the JSON that it is. Labels do not (who spoke or asked, sessions, sources, keys),
nor do vectors and numbers. Summaries have a bound of their own, K times L.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from itertools import islice
from typing import Literal, TypeVar

from demem_agent.errors import InvalidInput, MemoryFull
from demem_agent.later import dataclass
from demem_agent.settings import Settings
from demem_agent.slots.choosing.kept import Kept, by_last_decision
from demem_agent.slots.choosing.names import is_forgotten
from demem_agent.slots.records import Certified, Delta
from demem_agent.slots.state import State
from demem_agent.text.language.words import content_terms
from demem_agent.text.times.dates import moment
from demem_agent.text.units import Measure
from demem_agent.types import Context, Evidence, Storage, number_of

__all__ = [
    "Brought",
    "Piece",
    "by_age",
    "by_worth",
    "certificate_piece",
    "context_piece",
    "item_piece",
    "new_items",
    "require_place",
    "require_room",
    "rests_on",
    "specificity",
    "storage_of",
]

#: Situations and names of actions may take so much of the storage before anything else goes.
SHARE = 0.25
#: The latest answers of which nothing was told yet: so many wait for it, and go late.
WAITING = 10
#: A line that feedback speaks for by so much, in log-odds, held nearly all that was told: one that
#: holds all of it has 6.
SURE = 5.4

Kind = Literal[
    "evidence", "answer", "reference", "certificate", "context", "name", "situation", "action"
]


@dataclass(frozen=True, slots=True)
class Brought:
    """What a call has just brought, or changed: it goes after all else.

    Attributes:
        items, contexts: by their ids.
        slot: the number of the one that was named.
        decision: id of what was decided among actions.
    """

    items: frozenset[str] = frozenset()
    contexts: frozenset[str] = frozenset()
    slot: int | None = None
    decision: str | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """What goes as a whole: an item, the words of an answer, all of a context, and so on.

    Attributes:
        id: of the item, context, certificate or situation; of a slot's name, its number; of an
            action, its name.
        size: what it measures, in the memory's unit.
        is_free: whether no decision rests on it, so that some more such may go at a time.
    """

    kind: Kind
    id: str
    size: int
    is_free: bool = False


def storage_of(state: State) -> Storage:
    """Return how much a memory keeps, and how much it may."""
    evidence = sum(_item_size(state, item) for item in state.evidence)
    contexts = sum(_context_size(state, id) for id in state.contexts)
    certificates = sum(_certificate_size(state, id) for id in state.certificates)
    names = sum(state.measure(slot.name or "") for slot in state.slots.values())
    situations = sum(_situation_size(state, id) for id in state.situations)
    actions = sum(_action_size(state, name) for name in state.playbook().actions)
    return Storage(
        used=evidence + contexts + certificates + names + situations + actions,
        limit=state.settings.storage,
        unit=state.settings.unit,
        evidence=evidence,
        contexts=contexts,
        certificates=certificates,
        names=names,
        situations=situations,
        actions=actions,
    )


def require_room(settings: Settings, measure: Measure, field: str, *texts: str) -> None:
    """Refuse texts that would exceed the storage of a memory alone; the first one is at fault.

    Raises:
        InvalidInput: naming the field and what there is room for.
    """
    limit = settings.storage
    if limit is None:
        return
    beside = sum(map(measure, texts[1:]))
    if measure(texts[0]) + beside > limit:
        most = max(limit - beside, 0)
        allowed = f"at most {most} {settings.unit}, as the memory's storage is {limit}"
        raise InvalidInput(field, texts[0], allowed)


def new_items(state: State, delta: Delta) -> list[Evidence]:
    """Return the items that a delta brings, and not those that it only encodes anew."""
    coming = (stored.evidence for stored in delta.evidence)
    return [item for item in coming if item.id not in state.evidence]


def require_place(state: State, delta: Delta, new: Sequence[Evidence]) -> None:
    """Refuse new items for which nothing may go that would have to.

    Where the memory forgets by itself, that are items that a user wants kept; else all that are
    there. A version that is updated makes way for the next.

    Raises:
        MemoryFull: naming the bound.
    """
    settings = state.settings
    refuses = settings.when_full == "refuse"
    staying: Set[str] = state.evidence.keys() if refuses else state.kept - _updated(delta)
    why = "no item is to be forgotten for it" if refuses else "all the others are marked as kept"
    if settings.most_items is not None and len(staying) + len(new) > settings.most_items:
        raise MemoryFull("most_items", settings.most_items, why)
    if settings.storage is not None:
        held = sum(_item_size(state, item) for item in staying)
        if held + sum(state.measure(item.text) for item in new) > settings.storage:
            raise MemoryFull("storage", settings.storage, why)


def _updated(delta: Delta) -> set[str]:
    """Return the items that new ones are updates of."""
    return {one.old[0] for one in delta.successions if one.how == "updated"}


def rests_on(context: Context) -> frozenset[str]:
    """Return the items that a decision rests on, as far as feedback tells.

    They are those of which a line was told to be right. Unless one of them holds all that was told,
    what rewarded answers rested on counts as well: words alone do not always name the line.
    """
    right = {item for item, _, _, weight in context.verdicts if weight > 0}
    wrong = {item for item, _, _, weight in context.verdicts if weight < 0}
    if any(weight >= SURE for *_, weight in context.verdicts):
        return frozenset(right)
    return frozenset(right | (set(context.kept) - wrong))


def by_worth(state: State, brought: Brought) -> Iterator[Piece]:
    """Yield all that a memory keeps, what is worth least first.

    0. The words of the answer at hand, where they exceed the storage with what else was brought:
       they cannot stay, so nothing else has to go for them.
    1. Items that a later one has taken the place of, oldest first, if no decision rests on them.
       Then situations and names of actions, least recently decided first, as far as they take more
       than a quarter of the storage.
    2. Records of what was done: the texts of certificates, the words of answers that were told of,
       and answers that nothing was told of, but for the latest ten; oldest first. Then what was
       told in words, where it is known which items are right by it.
    3. Items that no decision rests on, the least specific first: the lower the mean idf of its
       words, the more of what an item says is said elsewhere. What the answer at hand was read
       from goes last of these.
    4. Questions of which it is not known what is right, those that wait for it among them, oldest
       first.
    5. What was decided, oldest decision first: the question with what was told of it, then the
       items that no later decision rests on.
    6. Situations and names of actions, then names of slots.
    7. What the call at hand has brought, if nothing else is left.
    """
    queue = _Queue.of(state, brought)
    yield from queue.too_long_answers()
    yield from queue.superseded()
    crowding = list(queue.crowding())
    yield from crowding
    yield from queue.records()
    yield from queue.undecided()
    yield from queue.open_questions()
    yield from queue.decided()
    yield from queue.situations(without=len(crowding))
    yield from queue.rest()


def by_age(state: State, brought: Brought) -> Iterator[Piece]:
    """Yield all that a memory keeps, the oldest first.

    Items and questions go by their dates; what has none goes with the one that came before it.
    Ahead of them go the words of the answer at hand, as in :func:`by_worth`, and the texts of
    certificates, which are copies.
    """
    queue = _Queue.of(state, brought)
    yield from queue.too_long_answers()
    for id in state.certificates:
        yield certificate_piece(state, id)
    yield from queue.aged()
    yield from queue.situations()
    yield from queue.rest()


@dataclass(frozen=True, slots=True)
class _Queue:
    """The pieces of a memory by what decisions make of them.

    Attributes:
        last: of each item that a decision rests on, the number of the last one that does.
        waiting: ids of the latest contexts of which nothing was told yet.
        at_hand: the situation that the call decided in, and the actions that it offered.
    """

    state: State
    brought: Brought
    last: dict[str, int]
    waiting: frozenset[str]
    at_hand: frozenset[Kept]

    @classmethod
    def of(cls, state: State, brought: Brought) -> _Queue:
        last: dict[str, int] = {}
        untold = []
        for id, stored in state.contexts.items():
            for item in rests_on(stored.context):
                last[item] = max(last.get(item, 0), number_of(id))
            if not stored.context.rewards:
                untold.append(id)
        # A retry brings what may be forgotten by now.
        live = replace(brought, items=brought.items & state.evidence.keys())
        waiting = frozenset(sorted(untold, key=number_of)[-WAITING:])
        return cls(state, live, last, waiting, _at_hand(state, brought))

    def too_long_answers(self) -> Iterator[Piece]:
        if self._brings_too_much():
            yield from self._answers_at_hand()

    def aged(self) -> Iterator[Piece]:
        """Yield the items and contexts that were there before this call, by their dates."""
        dated: list[tuple[float, Piece]] = []
        items = [one for one in self.state.evidence.values() if one.id not in self.brought.items]
        for when, item in _with_moments(items):
            dated.append((when, item_piece(self.state, item.id, is_free=True)))
        contexts = [context for _, context in self._earlier_contexts()]
        for when, context in _with_moments(contexts):
            dated.append((when, context_piece(self.state, context.id)))
        for _, piece in sorted(dated, key=_moment_of):
            yield piece

    def superseded(self) -> Iterator[Piece]:
        for item in self._free_items():
            if self._is_superseded(item):
                yield item_piece(self.state, item, is_free=True)

    def records(self) -> Iterator[Piece]:
        for id in self.state.certificates:
            yield certificate_piece(self.state, id)
        for id, context in self._earlier_contexts():
            if context.rewards:
                yield Piece("answer", id, self.state.measure(context.answer))
            elif id not in self.waiting:
                yield context_piece(self.state, id)
        for id, context in self._earlier_contexts():
            if context.reference is not None and rests_on(context):
                yield Piece("reference", id, self.state.measure(context.reference))

    def undecided(self) -> Iterator[Piece]:
        at_hand = self._read_at_hand()
        ranked = []
        for item in self._free_items():
            if not self._is_superseded(item):
                rank = (item in at_hand, specificity(self.state, item), number_of(item))
                ranked.append((rank, item))
        for _, item in sorted(ranked):
            yield item_piece(self.state, item, is_free=True)

    def open_questions(self) -> Iterator[Piece]:
        for id, context in self._earlier_contexts():
            if id in self.waiting or (context.rewards and not rests_on(context)):
                yield context_piece(self.state, id)

    def decided(self) -> Iterator[Piece]:
        resting: dict[int, list[str]] = {}
        for item, number in self.last.items():
            if item in self.state.evidence and item not in self.brought.items:
                resting.setdefault(number, []).append(item)
        for id, stored in self.state.contexts.items():
            if id not in self.brought.contexts and rests_on(stored.context):
                yield context_piece(self.state, id)
            for item in sorted(resting.get(number_of(id), ()), key=number_of):
                yield item_piece(self.state, item)

    def crowding(self) -> Iterator[Piece]:
        """Yield the first of the situations and actions, as far as they exceed their share."""
        held = storage_of(self.state)
        over = held.situations + held.actions - SHARE * (held.limit or held.used)
        if over <= 0:
            return
        for piece in self.situations():
            yield piece
            over -= piece.size
            if over <= 0:
                break

    def situations(self, without: int = 0) -> Iterator[Piece]:
        """Yield situations and actions in their order, but for so many first ones."""
        yield from islice(self._decided_in(), without, None)

    def _decided_in(self) -> Iterator[Piece]:
        for kept in by_last_decision(self.state):
            if kept not in self.at_hand:
                yield _kept_piece(self.state, kept)

    def rest(self) -> Iterator[Piece]:
        for number, slot in sorted(self.state.slots.items()):
            if number != self.brought.slot:
                yield Piece("name", str(number), self.state.measure(slot.name or ""))
        if not self._brings_too_much():
            yield from self._answers_at_hand()
        for id in sorted(self.brought.contexts, key=number_of):
            yield context_piece(self.state, id)
        for item in sorted(self.brought.items, key=number_of):
            yield item_piece(self.state, item)
        if self.brought.slot in self.state.slots:
            name = self.state.slots[self.brought.slot].name or ""
            yield Piece("name", str(self.brought.slot), self.state.measure(name))
        for kept in sorted(self.at_hand):
            yield _kept_piece(self.state, kept)

    def _answers_at_hand(self) -> Iterator[Piece]:
        for id in sorted(self.brought.contexts, key=number_of):
            answer = self.state.contexts[id].context.answer
            yield Piece("answer", id, self.state.measure(answer))

    def _brings_too_much(self) -> bool:
        """Whether what the call has brought exceeds the storage alone, as a long answer makes it.

        All else that a call can bring was refused at the door.
        """
        items = sum(_item_size(self.state, item) for item in self.brought.items)
        contexts = sum(_context_size(self.state, id) for id in self.brought.contexts)
        limit = self.state.settings.storage
        return limit is not None and items + contexts > limit

    def _earlier_contexts(self) -> Iterator[tuple[str, Context]]:
        """Yield the contexts that were there before this call, by their ids."""
        for id, stored in self.state.contexts.items():
            if id not in self.brought.contexts:
                yield id, stored.context

    def _free_items(self) -> Iterator[str]:
        """Yield the items that no decision rests on and that were there before this call."""
        for item in self.state.evidence:
            if item not in self.last and item not in self.brought.items:
                yield item

    def _is_superseded(self, item: str) -> bool:
        """Whether it was settled that most of an item does not hold any more."""
        length = len(self.state.evidence[item].text)
        found = self.state.derived.current.of_line((item, 0, length))
        return 2 * sum(one.old[2] - one.old[1] for one in found) > length

    def _read_at_hand(self) -> frozenset[str]:
        read: set[str] = set()
        for id in self.brought.contexts:
            for item, _, _ in self.state.contexts[id].context.read:
                read.add(item)
        return frozenset(read)


Dated = TypeVar("Dated", Evidence, Context)


def _with_moments(records: Iterable[Dated]) -> Iterator[tuple[float, Dated]]:
    """Yield records, in order of their coming, with when they were said; undated ones as before."""
    when = moment(None)
    for record in records:
        if record.at is not None:
            when = moment(record.at)
        yield when, record


def _moment_of(dated: tuple[float, Piece]) -> float:
    return dated[0]


def item_piece(state: State, item: str, *, is_free: bool = False) -> Piece:
    """Return an item as what may go."""
    return Piece("evidence", item, _item_size(state, item), is_free)


def context_piece(state: State, id: str) -> Piece:
    """Return all of a context as what may go."""
    return Piece("context", id, _context_size(state, id))


def certificate_piece(state: State, id: str) -> Piece:
    """Return the texts of a certificate as what may go."""
    return Piece("certificate", id, _certificate_size(state, id))


def _kept_piece(state: State, kept: Kept) -> Piece:
    """Return the words of a situation, or the name of an action, as what may go."""
    kind, id = kept
    size = _situation_size if kind == "situation" else _action_size
    return Piece(kind, id, size(state, id))


def _at_hand(state: State, brought: Brought) -> frozenset[Kept]:
    """Return what a call has decided in, and what it offered."""
    if brought.decision is None:
        return frozenset()
    made = state.choices[brought.decision]
    found: set[Kept] = {("action", name) for name in made.actions}
    found.add(("situation", made.situation))
    return frozenset(found)


def specificity(state: State, item: str) -> float:
    """Return the mean idf of the words of an item; 0.0 where it has none."""
    lexical = state.passage_index().lexical
    words = set(content_terms(state.evidence[item].text))
    total = sum(lexical.idf(word) for word in sorted(words))
    return round(total / max(len(words), 1), 6)


def _item_size(state: State, item: str) -> int:
    evidence = state.evidence[item]
    texts = (evidence.text, evidence.metadata.text)
    return state.cache.size_of(item, evidence, texts, state.measure)


def _context_size(state: State, id: str) -> int:
    context = state.contexts[id].context
    texts = (context.query, context.answer, context.reference or "", *context.conditions)
    return state.cache.size_of(id, context, texts, state.measure)


def _situation_size(state: State, id: str) -> int:
    situation = state.situations[id].situation
    texts = (situation.text, *situation.conditions)
    return state.cache.size_of(id, situation, texts, state.measure)


def _action_size(state: State, name: str) -> int:
    return 0 if is_forgotten(name) else state.measure(name)


def _certificate_size(state: State, id: str) -> int:
    certified = state.certificates[id]
    return state.cache.size_of(id, certified, tuple(_texts_of(certified)), state.measure)


def _texts_of(certified: Certified) -> Iterable[str]:
    """Yield what a certificate quotes, and what it keeps of the slot that it split."""
    yield from certified.certificate.queries
    for candidate in certified.certificate.candidates:
        yield from candidate.answers
    before = certified.before
    if before is not None:
        yield before.name or ""
        yield before.summary.text
        yield before.written.text if before.written else ""
