"""What is said anew outright, whatever the words: an object in JSON told again, a slip put right.

A config that is pasted again with other values sets these anew, one by one; what it leaves out
holds as it was. Two objects are of one thing where they name it alike (``"device": "gate-7"``), or
name nothing, have the same keys and stand behind the same words. Records of what happened, each
with its time or its event, replace none. A slip is put right by what follows with an asterisk, as
in "*14th" right after "on the 13th".
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher

from demem_agent.later import dataclass, pattern
from demem_agent.text.language.words import content_terms, terms
from demem_agent.text.values import leaves, objects

__all__ = ["put_right", "values_replaced"]

#: Values that one object replaces, at most, and objects of one text that are looked at.
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
#: What puts a slip right: an asterisk on either side of one to three words.
_SLIP = pattern(r"\*\s?([\w'’:.-]+(?: [\w'’:.-]+){0,2})|([\w'’:.-]+(?: [\w'’:.-]+){0,2})\s?\*")
_WORD = pattern(r"[\w'’:-]+(?:\.\d+)*")
#: How alike two words are of which one is a slip of the other; numbers always are.
_ALIKE = 0.5

#: (start, end) in a text.
_Stretch = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Object:
    """An object in JSON.

    Attributes:
        values: by their path, each with where ``"key": value`` stands.
        names: those at the top that say what it is of, by key.
        beside: the stems of what the text says beside its objects.
    """

    values: Mapping[str, tuple[str, int, int]]
    names: Mapping[str, str]
    beside: frozenset[str]

    @property
    def happened(self) -> bool:
        """Whether it tells of something that happened."""
        return not _HAPPENED.isdisjoint(self.values)


def values_replaced(old: str, new: str) -> list[_Stretch]:
    """Return where the values stand in an older text that objects of a newer one have replaced."""
    if "{" not in old or "{" not in new:  # as of nearly all
        return []
    found: dict[_Stretch, None] = {}
    for later in _objects_in(new):
        for earlier in reversed(list(_objects_in(old))):
            if not later.happened and _same_thing(earlier, later):
                for path in sorted(earlier.values.keys() & later.values.keys()):
                    value, start, end = earlier.values[path]
                    if value != later.values[path][0]:
                        found[start, end] = None
    return list(found)[:MOST]


def _objects_in(text: str) -> Iterator[_Object]:
    found = objects(text)[:OBJECTS]
    beside = text
    for start, end in reversed(found):
        beside = f"{beside[:start]} {beside[end:]}"
    said = frozenset(content_terms(beside))
    for start, end in found:
        values: dict[str, tuple[str, int, int]] = {}
        for path, first, place, last in leaves(text, start, end):
            plain = json.dumps(json.loads(text[place:last]), sort_keys=True)
            values[path] = plain, first, last
        names = {path: values[path][0] for path in values if _is_name(path)}
        yield _Object(values, names, said)


def _is_name(path: str) -> bool:
    low = path.lower()
    return low in _NAMES or low.endswith(("_id", "-id"))


def _same_thing(old: _Object, new: _Object) -> bool:
    both = old.names.keys() & new.names.keys()
    if both:
        return all(old.names[key] == new.names[key] for key in both)
    if old.names and not new.names:
        return any(_is_told(name, new.beside) for name in old.names.values())
    if old.names or new.names:
        return False
    keys = old.values.keys() & new.values.keys()
    if len(keys) < _FEWEST or not new.values.keys() <= old.values.keys():
        return False
    return new.beside <= old.beside and bool(new.beside)


def _is_told(name: str, beside: frozenset[str]) -> bool:
    words = frozenset(terms(name))
    return bool(words) and words <= beside


def put_right(old: str, new: str) -> bool:
    """Whether a text puts a slip right that stands in the one before it, as "*14th" does."""
    found = _SLIP.fullmatch(new.strip()) if "*" in new else None
    if found is None:
        return False
    meant = (found[1] or found[2]).lower()
    return any(_is_slip_of(meant, typed.lower()) for typed in _WORD.findall(old))


def _is_slip_of(meant: str, typed: str) -> bool:
    """Whether a word was typed in place of another of its kind."""
    if meant == typed:
        return False
    if meant[0].isdigit() or typed[0].isdigit():
        return meant[0].isdigit() and typed[0].isdigit()
    return SequenceMatcher(None, meant, typed).ratio() >= _ALIKE
