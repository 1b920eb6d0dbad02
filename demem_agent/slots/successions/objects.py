"""Which values of an earlier object in JSON a later one of the same thing has replaced.

A config is pasted again with other values: what it sets anew holds in the place of what was set
before, value by value; what it leaves out holds as it was. Two objects are of one thing where they
name it alike (``"device": "gate-7"``), or name nothing, have the same keys and stand behind the
same words. Records of what happened, each with its time or its event, take the place of none.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from demem_agent.later import dataclass
from demem_agent.scoring.index import Stretch
from demem_agent.slots.successions.ahead import Ahead, Passage
from demem_agent.text.language.words import content_terms, terms
from demem_agent.text.values import leaves, objects
from demem_agent.types import Evidence

__all__ = ["Replaced", "replaced"]

#: How sure it is that a value of the same key of the same thing takes the place of another.
CONFIDENCE = 0.9
#: Values that one object replaces, at most, and objects of one item that are looked at.
MOST = 24
OBJECTS = 8
#: Keys that say what an object is of; so do those that end in "id".
_NAMES = frozenset(
    "id name device host hostname sensor service server uuid sku serial slug key model project"
    " job title email file".split()
)
#: Keys of what happened at one time.
_HAPPENED = frozenset(
    "event action type level msg message log time date at timestamp ts datetime created_at".split()
)
#: Keys that two objects that name nothing have in common, at least.
_FEWEST = 2
#: Words of saying that something is set anew.
_ANEW = frozenset(content_terms("changed again now new updated update latest current here is was"))

#: (confidence, old, new)
Replaced = tuple[float, Stretch, Stretch]


@dataclass(frozen=True, slots=True)
class _Object:
    """An object in JSON that stands in an item.

    Attributes:
        values: its values by their path, each with where ``"key": value`` stands.
        names: those at the top that say what it is of, by key.
        beside: the stems of what the item says beside its objects.
    """

    evidence: Evidence
    values: Mapping[str, tuple[str, int, int]]
    names: Mapping[str, str]
    beside: frozenset[str]

    @property
    def happened(self) -> bool:
        """Whether it tells of something that happened."""
        return not _HAPPENED.isdisjoint(self.values)


def replaced(ahead: Ahead, coming: Iterable[Passage]) -> Iterator[Replaced]:
    """Yield which values of earlier objects those of a new item have replaced, and how surely."""
    for passage in coming:
        item = passage.evidence
        if "{" not in item.text:
            return  # as nearly always; much faster
        for new in _objects(item):
            yield from _replaced_by(new, _before(ahead, passage, new))
        return


def _replaced_by(new: _Object, before: Iterable[_Object]) -> Iterator[Replaced]:
    """Yield what one object replaces of earlier ones, the latest value of each key."""
    left = dict(new.values)
    count = 0
    for old in before:
        if new.happened or not _same_thing(old, new):
            continue
        for path in sorted(left.keys() & old.values.keys()):
            was, first, last = old.values[path]
            value, start, end = left.pop(path)
            if was != value and count < MOST:
                count += 1
                yield (
                    CONFIDENCE,
                    (old.evidence.id, first, last),
                    (new.evidence.id, start, end),
                )


def _before(ahead: Ahead, passage: Passage, new: _Object) -> Iterator[_Object]:
    """Yield the earlier objects of an owner that share a word with a new one, the latest first."""
    named = " ".join(new.names.values()) or " ".join(new.values)
    seen: set[str] = set()
    for near in ahead.latest(passage, dict.fromkeys(terms(named))):
        item = near.evidence
        if item.id not in seen and item.id != passage.evidence.id:
            seen.add(item.id)
            yield from reversed(_objects(item))


def _objects(item: Evidence) -> list[_Object]:
    return list(_objects_in(item)) if "{" in item.text else []


def _objects_in(item: Evidence) -> Iterator[_Object]:
    found = objects(item.text)[:OBJECTS]
    beside = item.text
    for start, end in reversed(found):
        beside = f"{beside[:start]} {beside[end:]}"
    said = frozenset(content_terms(beside))
    for start, end in found:
        values: dict[str, tuple[str, int, int]] = {}
        for path, first, place, last in leaves(item.text, start, end):
            values[path] = _plain(item.text[place:last]), first, last
        names = {path: values[path][0] for path in values if _names(path)}
        yield _Object(item, values, names, said)


def _names(path: str) -> bool:
    low = path.lower()
    return low in _NAMES or low.endswith(("_id", "-id"))


def _same_thing(old: _Object, new: _Object) -> bool:
    both = old.names.keys() & new.names.keys()
    if both:
        return all(old.names[key] == new.names[key] for key in both)
    if old.names and not new.names:
        return any(_told(name, new.beside) for name in old.names.values())
    if old.names or new.names:
        return False
    keys = old.values.keys() & new.values.keys()
    if len(keys) < _FEWEST or not new.values.keys() <= old.values.keys():
        return False
    return new.beside - _ANEW <= old.beside and bool(old.beside & new.beside)


def _told(name: str, beside: frozenset[str]) -> bool:
    words = frozenset(terms(name))
    return bool(words) and words <= beside


def _plain(value: str) -> str:
    """Return a value in one way of writing it."""
    return json.dumps(json.loads(value), sort_keys=True)
