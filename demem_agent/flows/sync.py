"""Bring a memory up to a list that was edited: what changed, what is new, what is gone.

A turn is known again by its own id or, where it has none, by what it says. What the list said last
is in the ledger, so that what was corrected or forgotten by hand since stays so until the list
itself says something else.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from datetime import datetime
from itertools import chain
from typing import Any

from demem_agent.errors import InvalidInput
from demem_agent.flows.commit import committed
from demem_agent.flows.forget import Selected, forget
from demem_agent.flows.mark import carried, rebuilt_for
from demem_agent.flows.update import Change, Made, carried_over, says_the_same, told_between
from demem_agent.later import dataclass, pattern
from demem_agent.requests import Flow
from demem_agent.slots.ledger import operation, unkeyed
from demem_agent.slots.naming import LEFT, LISTED
from demem_agent.slots.notes_superseded import with_notes
from demem_agent.slots.records import Delta, Operation
from demem_agent.slots.state import State
from demem_agent.slots.versions import beside, versions
from demem_agent.text.language.words import terms
from demem_agent.turns import Turn, request_hash
from demem_agent.types import Evidence, Known, Mark, Receipt, Succession, Synced, Updated, number_of

__all__ = ["Listing", "Plan", "join", "leave", "planned", "require_known", "synced"]

#: Share of the words that two texts have in common from which on one is taken for the other,
#: edited. By hand.
EDITED = 0.5
#: A word that more texts have than this says too little to look for a text by it.
COMMON = 50
_NUMBERED = pattern(r" #\d+$")
#: What follows where nothing but a list itself does.
UPDATES = ("updated",)


@dataclass(frozen=True, slots=True)
class Listing:
    """A list of turns as it is now, checked.

    Attributes:
        source: its name.
        now: dates turns that come without a time; None leaves them undated.
        by: how turns are known again; by their text where their ids are places in the list.
        known: share of it, in [0, 1], that must be known where something would change or go.
    """

    source: str
    turns: tuple[Turn, ...]
    now: datetime | None
    by: Known
    known: float = 0.0


@dataclass(frozen=True, slots=True)
class Entry:
    """What a memory has of one turn of a list.

    Attributes:
        own: the id by which the list knows it, each once.
        item: id of the evidence that it was remembered as; it may be forgotten by now.
        request: hash of what the list said last; "" where the item came another way.
        seq: of the operation that recorded that; 0 without one.
        by_place: whether the id is but a place in the list.
    """

    own: str
    item: str | None
    request: str = ""
    seq: int = 0
    by_place: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done.

    Attributes:
        changes: turns to remember, in order.
        gone: what is in the list no more, but in the memory, by the id of the item that holds.
        unchanged: how many turns are to be left.
        unlisted: what is in neither any more: it was forgotten, and then left the list.
    """

    changes: tuple[Change, ...]
    gone: Mapping[str, Entry]
    unchanged: int
    unlisted: tuple[Entry, ...] = ()

    @property
    def leaves(self) -> bool:
        """Whether something has left the list since."""
        return bool(self.gone or self.unlisted)


def join(state: State, listing: Listing) -> Flow[None]:
    """Settle what holds where several items have the id of one turn of a list.

    They came otherwise than by a list, each time as it was then. What says the same as the turn
    holds, or else the latest; the others are versions that it has taken the place of.
    """
    if listing.by == "text":
        return
    comparison = _Comparison(state, listing)
    made: list[Succession] = []
    marks: dict[str, Mark] = {}
    for old, new in comparison.versions():
        known = [one for one in state.successions.values() if _is_between(one, old, new)]
        number = state.head.successions + 1 + sum(not one.undone for one in made)
        id = known[0].id if known else f"s{number}"
        made.append(replace(told_between(state, old, new), id=id))
        found = {mark.evidence_id: mark for mark in carried(state, old.id, new.id)}
        marks = {**marks, **{id: _both(marks.get(id), mark) for id, mark in found.items()}}
    if made:
        whole = with_notes(state, tuple(made))
        count = state.head.successions + sum(one.id not in state.successions for one in whole)
        seq = state.head.seq + 1
        head = replace(state.head, seq=seq, successions=count)
        told = tuple(marks.values())
        slots = rebuilt_for(state, told)
        lines = (unkeyed(seq, LISTED),)
        delta = Delta(head, lines, slots=slots, successions=whole, marks=told)
        yield from committed(state, delta)


def _both(mark: Mark | None, other: Mark) -> Mark:
    """Return what either of two marks of an item says."""
    if mark is None:
        return other
    return replace(mark, kept=mark.kept or other.kept, hidden=mark.hidden or other.hidden)


def require_known(state: State, listing: Listing) -> None:
    """Refuse what seems to be another list under the same name.

    A turn is known that says the same, or half of it in the same words. Their share is that of the
    list or of what is remembered of it, whichever is more.

    Raises:
        InvalidInput: for less than the share that the listing asks for.
    """
    if not listing.known:
        return
    comparison = _Comparison(state, listing)
    plan = comparison.plan()
    changed = [one for one in plan.changes if one.old is not None]
    if not changed and not plan.gone:
        return
    edited = [one for one in changed if _is_edited(state, one)]
    known = plan.unchanged + len(edited)
    most = min(len(listing.turns), plan.unchanged + len(changed) + len(plan.gone))
    share = known / max(most, 1)
    if share < listing.known:
        allowed = f"at most the share of the list that is known, {share:.2f}, unless it is the same"
        raise InvalidInput("known", listing.known, allowed)


def _is_edited(state: State, change: Change) -> bool:
    """Whether most words of what a turn takes the place of are in it."""
    before = state.evidence[str(change.old)].text
    return any(True for _ in _Alike([before]).to(change.turn.text))


def planned(state: State, listing: Listing) -> Plan:
    """Compare a list with what is remembered of it."""
    return _Comparison(state, listing).plan()


def leave(state: State, plan: Plan, source: str) -> Flow[Receipt | None]:
    """Forget what is in a list no more, with all that it said before.

    That it has left is recorded: should it come back, it is new. Digests of what it said are not
    needed any more, and go.

    Returns:
        None where nothing of it was in the memory.
    """
    near = beside(state)
    said = [sorted(versions(near, [item])) for item in plan.gone]
    items = set(chain.from_iterable(said))
    receipt = yield from forget(state, Selected(items=frozenset(items)))
    operations = []
    left = zip(plan.gone.values(), said, strict=True)
    for seq, (entry, items_of) in enumerate(left, state.head.seq + 1):
        result = {"evidence_id": None, "list": source, "own": entry.own, "left": items_of}
        key = _free(state, f"{source}:{entry.own} @{entry.seq} {LEFT}")
        operations.append(operation(seq, LISTED, key, LEFT, result))
    lines = tuple(operations) or (unkeyed(state.head.seq + 1, LISTED),)
    owns = {entry.own for entry in (*plan.gone.values(), *plan.unlisted)}
    delta = Delta(
        replace(state.head, seq=lines[-1].seq),
        lines,
        withdrawn=tuple(_unsaid(state, source, owns)),
        for_room=True,
    )
    yield from committed(state, delta)
    return receipt if plan.gone else None


def _unsaid(state: State, source: str, owns: Set[str]) -> Iterator[tuple[str, Operation]]:
    """Yield what was recorded of turns that have left a list, without what they said."""
    for key, line in state.keyed.items():
        if line.kind == LISTED and line.request != LEFT:
            told = json.loads(line.result)
            if told["list"] == source and told["own"] in owns:
                yield key, replace(line, request=LEFT)


def synced(plan: Plan, made: Sequence[Made | None], receipt: Receipt | None) -> Synced:
    """Put what was planned and what became of it into words."""
    done = [one for one in made if one is not None]
    return Synced(
        changed=tuple(_updates(done)),
        new=tuple(one.evidence_id for one in done if one.replaced is None),
        gone=tuple(plan.gone),
        unchanged=plan.unchanged,
        skipped=len(made) - len(done),
        receipt=receipt,
    )


def _updates(made: Iterable[Made]) -> Iterator[Updated]:
    for one in made:
        if one.replaced is not None:
            yield Updated(one.evidence_id, one.replaced, one.succession)


class _Comparison:
    """One comparison of a list with a memory; what is claimed is known again."""

    def __init__(self, state: State, listing: Listing) -> None:
        self.state = state
        self.listing = listing
        self.entries = _entries(state, listing.source)
        recorded = [told for told, *_ in _recorded(state)]
        self.left = set(chain.from_iterable(told.get("left", ()) for told in recorded))
        self.by_source: dict[str, list[Evidence]] = defaultdict(list)
        for item in _first_of(state, listing.source):
            self.by_source[item.source_id or ""].append(item)
        self.groups: dict[str, list[str]] = defaultdict(list)
        for own in self.entries:
            self.groups[_NUMBERED.sub("", own)].append(own)
        given = [turn.source_id or "" for turn in listing.turns if listing.by == "id"]
        self.places = _last_place([*self.entries, *given], listing.source)
        self.claimed: set[str] = set()
        self.changes: dict[int, Change] = {}
        self.unchanged = 0

    def plan(self) -> Plan:
        named, placed = self._by_name()
        for id, numbers in named.items():
            self._by_id(id, numbers)
        self._by_text(placed)
        changes = tuple(self.changes[n] for n in sorted(self.changes))
        return Plan(changes, self._gone(), self.unchanged, tuple(self._unlisted()))

    def versions(self) -> Iterator[tuple[Evidence, Evidence]]:
        """Yield what is superseded, and by what, of items that share the id of a single turn."""
        lineage = self.state.derived.current
        named, _ = self._by_name()
        for id, numbers in named.items():
            held = self._under(id) if len(numbers) == 1 else []
            if len(held) < 2:
                continue
            turn = self.listing.turns[numbers[0]]
            same = [one for one in held if says_the_same(one, _given(turn))]
            holds = (same or held)[-1]
            for one in held:
                if one is not holds and not lineage.leads(holds.id, one.id):
                    yield one, holds

    def _under(self, id: str) -> list[Evidence]:
        """Return what stands of the items with an id, in order, unless a list had it twice."""
        entries = [self.entries[own] for own in self.groups.get(id, ())]
        if sum(entry.seq > 0 for entry in entries) > 1:
            return []
        firsts = [one.item for one in entries]
        firsts += [item.id for item in self.by_source.get(id, ())]
        live = self.state.evidence
        known = [one for one in dict.fromkeys(firsts) if one is not None and one in live]
        lineage = self.state.derived.current
        settled = {lineage.holding(one, UPDATES): None for one in sorted(known, key=number_of)}
        return [self.state.evidence[one] for one in settled]

    def _by_name(self) -> tuple[dict[str, list[int]], list[int]]:
        """Return the numbers of the turns that share each id, and of those that have none."""
        named: dict[str, list[int]] = defaultdict(list)
        placed: list[int] = []
        for n, turn in enumerate(self.listing.turns):
            if self.listing.by == "text" or turn.source_id is None:
                placed.append(n)
            else:
                named[turn.source_id].append(n)
        return named, placed

    def _gone(self) -> dict[str, Entry]:
        here: set[str] = set()
        for own in self.claimed & self.entries.keys():
            item = self._standing(self.entries[own])
            if item is not None:
                here.add(item.id)
        here = versions(beside(self.state), here)
        gone: dict[str, Entry] = {}
        for own, entry in self.entries.items():
            item = self._standing(entry)
            if own not in self.claimed and item is not None and item.id not in here:
                gone[item.id] = entry
        return gone

    def _unlisted(self) -> Iterator[Entry]:
        """Yield what is neither in the list nor in the memory, and known by what it said."""
        for own, entry in self.entries.items():
            is_known = entry.seq and entry.request not in ("", LEFT)
            if own not in self.claimed and is_known and entry.item not in self.state.evidence:
                yield entry

    def _by_id(self, id: str, numbers: Sequence[int]) -> None:
        """Compare the turns that share an id with what is remembered under it, or their keys.

        What says the same is known first, and the rest in order.
        """
        rest = [n for n in numbers if not self._known(self.groups.get(id, ()), n)]
        free = [own for own in self.groups.get(id, ()) if own not in self.claimed]
        # What has left the list comes after what has not.
        free.sort(key=lambda own: self.entries[own].item is None)
        for n in rest:
            own = free.pop(0) if free else self._next_own(id)
            if own not in self.entries:
                entry = self._keyed(self.listing.turns[n], own)
                if entry is not None:
                    self.entries[own] = entry
                    if self._known([own], n):
                        continue
            self.claimed.add(own)
            turn = self.listing.turns[n]
            key = turn.key or f"{self.listing.source}:{own}"
            request = request_hash("ingest", turn)
            self._remember(n, turn, self.entries.get(own), request=request, key=key, own=own)

    def _known(self, owned: Sequence[str], n: int) -> bool:
        """Claim which of some entries says what a turn does, what is live of it first."""
        turn = self.listing.turns[n]
        request = request_hash("ingest", turn)
        given = _given(turn)
        said: list[tuple[bool, int, str]] = []
        for own in owned:
            entry = self.entries[own]
            is_said = entry.request == request or self._says(entry, turn)
            if own in self.claimed or not (is_said or self._is_withdrawn(entry)):
                continue
            standing = self._standing(entry)
            said.append((standing is None or not says_the_same(standing, given), len(said), own))
        if not said:
            return False
        self.claimed.add(min(said)[-1])
        self.unchanged += 1
        return True

    def _keyed(self, turn: Turn, own: str) -> Entry | None:
        """Return what is remembered under the key of a turn by ``ingest``.

        What another list has under it is the same where it says the same; what has left a list
        is not remembered.
        """
        line = None if turn.key is None else self.state.keyed.get(turn.key)
        if line is None or line.kind not in ("ingest", LISTED):
            return None
        if line.kind == LISTED and line.request != request_hash("ingest", turn):
            return None
        item = json.loads(line.result)["evidence_id"]
        return None if item in self.left else Entry(own, item, line.request, line.seq)

    def _next_own(self, id: str) -> str:
        """Return an id for one more turn that has an id already."""
        count = 1
        while _nth(id, count) in self.entries or _nth(id, count) in self.claimed:
            count += 1
        return _nth(id, count)

    def _by_text(self, placed: Sequence[int]) -> None:
        """Compare turns without ids with what no id has claimed: the same text first."""
        self._enter_keyed(self.listing.turns[n] for n in placed)
        rest = self._without_known(placed)
        edited = self._edited(rest)
        for n in rest:
            turn = self.listing.turns[n]
            entry = edited.get(n)
            own = self._next_place() if entry is None else entry.own
            self.claimed.add(own)
            key = f"{self.listing.source}:{own}"
            named = replace(turn, source_id=own)
            self._remember(n, named, entry, request=_plain(turn), key=key, own=own)

    def _enter_keyed(self, turns: Iterable[Turn]) -> None:
        """Take in what is remembered under the keys of turns alone."""
        held = {one.item for one in self.entries.values()}
        for turn in turns:
            entry = self._keyed(turn, turn.key or "")
            if entry is not None and entry.item not in held:
                self.entries.setdefault(entry.own, replace(entry, by_place=True))

    def _open(self) -> Iterator[Entry]:
        """Yield the entries that turns without ids may be."""
        for own, entry in self.entries.items():
            if own not in self.claimed and (self.listing.by == "text" or entry.by_place):
                yield entry

    def _without_known(self, placed: Sequence[int]) -> list[int]:
        """Return those of some turns that are not remembered as they are."""
        by_request: dict[str, list[Entry]] = defaultdict(list)
        by_text: dict[str, list[Entry]] = defaultdict(list)
        withdrawn = {one.own: [one] for one in self._open() if self._is_withdrawn(one)}
        for entry in self._open():
            by_request[entry.request].append(entry)
            item = self._standing(entry)
            if item is not None:
                by_text[item.text].append(entry)
        rest = []
        for n in placed:
            turn = self.listing.turns[n]
            requests = (_plain(turn), request_hash("ingest", turn))
            found = [*by_request.get(requests[0], ()), *by_request.get(requests[1], ())]
            found += [one for one in by_text.get(turn.text, ()) if self._says(one, turn)]
            found += withdrawn.get(turn.key or "", ())
            known = next((one for one in found if one.own not in self.claimed), None)
            if known is None:
                rest.append(n)
            else:
                self.claimed.add(known.own)
                self.unchanged += 1
        return rest

    def _edited(self, rest: Sequence[int]) -> dict[int, Entry]:
        """Return which entries some turns are, edited: of the most alike each takes the other."""
        open_entries = [one for one in self._open() if self._standing(one) is not None]
        if not open_entries:
            return {}
        alike = _Alike([self._text(one) for one in open_entries])
        pairs = []
        for n in rest:
            for share, m in alike.to(self.listing.turns[n].text):
                pairs.append((-share, n, m))
        found: dict[int, Entry] = {}
        taken: set[int] = set()
        for _, n, m in sorted(pairs):
            if n not in found and m not in taken:
                found[n] = open_entries[m]
                taken.add(m)
        return found

    def _remember(
        self, n: int, turn: Turn, entry: Entry | None, *, request: str, key: str, own: str
    ) -> None:
        """Have a turn remembered, in the place of what is live of its entry."""
        source = self.listing.source
        if entry is not None and entry.seq:
            key = f"{key} @{entry.seq}"
        old = None if entry is None else self._standing(entry)
        at = turn.at or self.listing.now
        if old is None:
            made = replace(turn, key=None, at=at, source=turn.source or source)
        else:
            made = carried_over(old, {**_given(turn), "at": at})
        self.changes[n] = Change(
            turn=made,
            old=None if old is None else old.id,
            kind=LISTED,
            key=_free(self.state, key),
            request=request,
            noted=(("list", source), ("own", own)),
        )

    def _is_withdrawn(self, entry: Entry) -> bool:
        """Whether what was remembered under a key is forgotten, so that nobody knows what it said.

        What says anything under that key is taken for it, as where it is remembered once more.
        """
        return bool(entry.seq) and not entry.request and entry.item not in self.state.evidence

    def _says(self, entry: Entry, turn: Turn) -> bool:
        """Whether what is live of an entry says what a turn does, at first or by now."""
        if entry.item is None or entry.item not in self.state.evidence:
            return False
        first = self.state.evidence[entry.item]
        standing = self._standing(entry) or first
        given = _given(turn)
        if says_the_same(standing, given):
            return True
        return not entry.request and says_the_same(first, given)

    def _standing(self, entry: Entry) -> Evidence | None:
        """Return what holds of an entry, with what was changed by hand; None if it is forgotten."""
        if entry.item is None or entry.item not in self.state.evidence:
            return None
        lineage = self.state.derived.current
        return self.state.evidence[lineage.holding(entry.item, UPDATES)]

    def _text(self, entry: Entry) -> str:
        item = self._standing(entry)
        return "" if item is None else item.text

    def _next_place(self) -> str:
        self.places += 1
        return f"{self.listing.source}#{self.places}"


class _Alike:
    """Texts, to be found by those that share most of their words."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._words = [Counter(terms(text)) for text in texts]
        self._held: dict[str, list[int]] = defaultdict(list)
        for m, words in enumerate(self._words):
            for word in words:
                self._held[word].append(m)

    def to(self, text: str) -> Iterator[tuple[float, int]]:
        """Yield the texts that are much alike, each with the share of words in common."""
        words = Counter(terms(text))
        near: set[int] = set()
        for word in words:
            held = self._held.get(word, ())
            if len(held) <= COMMON:
                near.update(held)
        for m in sorted(near):
            both = (words & self._words[m]).total()
            share = 2 * both / (words.total() + self._words[m].total())
            if share >= EDITED:
                yield share, m


def _entries(state: State, source: str) -> dict[str, Entry]:
    """Return what a memory has of a list, by the list's ids."""
    entries: dict[str, Entry] = {}
    listed: set[str | None] = set()
    for told, request, seq in _recorded(state):
        listed.add(told["evidence_id"])
        if told["list"] == source:
            own = told["own"]
            by_place = _place(own, source) > 0
            entries[own] = Entry(own, told["evidence_id"], request, seq, by_place)
    count: Counter[str] = Counter()
    for item in _first_of(state, source):
        if item.id not in listed:
            id = item.source_id or ""
            count[id] += 1
            own = _nth(id, count[id])
            by_place = _place(own, source) > 0
            entries.setdefault(own, Entry(own, item.id, by_place=by_place))
    return entries


def _first_of(state: State, source: str) -> Iterator[Evidence]:
    """Yield the items of a source that have an id of their own, but for what updates made."""
    updates = {one.new[0] for one in state.successions.values() if one.how == "updated"}
    for item in state.evidence.values():
        if item.source == source and item.source_id is not None and item.id not in updates:
            yield item


def _recorded(state: State) -> Iterator[tuple[dict[str, Any], str, int]]:
    """Yield what was recorded of turns of lists, with its request and operation, in order."""
    for line in sorted(state.keyed.values(), key=lambda line: line.seq):
        if line.kind == LISTED:
            yield json.loads(line.result), line.request, line.seq


def _is_between(one: Succession, old: Evidence, new: Evidence) -> bool:
    return (one.old[0], one.new[0], one.undone) == (old.id, new.id, False)


def _free(state: State, key: str) -> str:
    """Return a key that nothing was done under: what is changed or new is never a replay."""
    while key in state.keyed:
        key = f"{key}'"
    return key


def _given(turn: Turn) -> dict[str, Any]:
    """Return what a turn says of itself, but for where it comes from."""
    blank = Turn("")
    told = {}
    for name in Turn.__annotations__.keys() - {"key", "source", "source_id"}:
        value = getattr(turn, name)
        if value != getattr(blank, name):
            told[name] = value
    return told


def _plain(turn: Turn) -> str:
    """Digest a turn wherever it stands in its list."""
    return request_hash(LISTED, replace(turn, key=None, source_id=None))


def _nth(id: str, count: int) -> str:
    """Return an id that several turns share, told apart by their order; no other has the same."""
    is_plain = count == 1 and not _NUMBERED.search(id)
    return id if is_plain else f"{id} #{count}"


def _place(own: str, source: str) -> int:
    """Return the place that an id names, such as 2 in "notes.txt#2"; 0 where it names none."""
    number = own.removeprefix(f"{source}#")
    return int(number) if number != own and number.isdecimal() else 0


def _last_place(own: Iterable[str], source: str) -> int:
    return max((_place(one, source) for one in own), default=0)
