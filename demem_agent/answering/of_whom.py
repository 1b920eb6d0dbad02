"""Whether a sentence is of another person than a question: of Dunja's husband, not of Dunja.

A sentence that has somebody's name may be of a relative of theirs, "my sister" is of who says it,
and "I" is of who speaks, not of who asks. Only what is said in so many words counts: a sentence
that names nobody may be of anybody.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet

from demem_agent.later import dataclass, pattern
from demem_agent.scoring.features.speakers import telling_names
from demem_agent.text.language.kin import (
    SOMEBODY,
    SPEAKERS,
    Relative,
    bare_mention,
    first_person,
    own_things,
    relatives,
    relatives_of,
)
from demem_agent.text.language.languages import STOPWORDS
from demem_agent.text.language.questions import asks_for
from demem_agent.text.language.turned import kin_in
from demem_agent.text.language.words import content_terms

__all__ = ["Whom", "is_of_another", "whom_asked"]

_WORD = pattern(r"[^\W_]+")
#: Words of several languages by which a question without kin asks for a relative.
_OF_RELATIVES = frozenset(
    """married marry family related relatives verheiratet familie verwandt mariée marié famille
    casado casada familia sposato sposata famiglia família""".split()
)


@dataclass(frozen=True, slots=True)
class Whom:
    """Of whom a question is.

    Attributes:
        words: of the question, in lower case; matter: the stems of what it asks.
        named: those of the words that are names.
        relatives: of somebody, that it is of.
        oneself: whether it is of who asks, and of nobody named.
        asker: the name of who asks in lower case, if they speak here; "" where that is open.
        open: whether it may ask for somebody's relatives without naming any.
    """

    words: frozenset[str]
    matter: frozenset[str]
    named: frozenset[str]
    relatives: tuple[Relative, ...]
    oneself: bool
    asker: str
    open: bool


def whom_asked(
    query: str, asker: str | None, speakers: Iterable[str | None], names: Iterable[str] = ()
) -> Whom:
    """Return of whom a question is.

    Args:
        speakers: of the lines that are read.
        names: that the question is known to have, in lower case, beside theirs.
    """
    words = frozenset(_WORD.findall(query.lower()))
    people = telling_names(speakers)
    named = frozenset(_names_among(query, people)).union(names)
    by = (asker or "").casefold()
    own = first_person(query)
    is_open = asks_for(query) == "person" or bool(kin_in(query.casefold()))
    return Whom(
        words=words,
        matter=frozenset(content_terms(query)) - named,
        named=named,
        relatives=tuple(relatives(query)),
        oneself=own and not named,
        asker=by if people.issuperset(_words(by)) else "",
        open=is_open or not _OF_RELATIVES.isdisjoint(words),
    )


def _names_among(query: str, people: AbstractSet[str]) -> Iterator[str]:
    """Yield the words of a query that are names: "will" is not "Will", nor is its first word."""
    for found in _WORD.finditer(query):
        low = found[0].lower()
        is_word = low in STOPWORDS and (found[0] == low or not found.start())
        if low in people and not is_word:
            yield low


def is_of_another(whom: Whom, text: str, speaker: str | None) -> bool:
    """Whether a sentence, by what it says, is of another person than a question."""
    said_by = _words(speaker)
    if whom.relatives:
        return _is_other_relative(whom, relatives(text), said_by)
    if not whom.open and _is_of_a_relative(whom, text, said_by):
        return True
    if whom.named:
        return _is_speakers_own(whom, text, said_by)
    return _is_said_of_themselves(whom, text, said_by)


def _is_other_relative(whom: Whom, told: Iterable[Relative], said_by: frozenset[str]) -> bool:
    """Whether a sentence has another one's relative, or another relative, and not the one."""
    others = False
    for one in told:
        for asked in whom.relatives:
            alike = bool(one.who & asked.who)
            owned = _owned_alike(whom, asked, one, said_by)
            if alike and owned is not False:
                return False
            others = others or (alike and owned is False) or (not alike and owned is True)
    return others


def _owned_alike(
    whom: Whom, asked: Relative, told: Relative, said_by: frozenset[str]
) -> bool | None:
    """Whether two relatives are the same one's; None where that is open."""
    if SOMEBODY in (asked.owner, told.owner):
        return None
    theirs = said_by if told.owner == SPEAKERS else frozenset({told.owner})
    if asked.owner != SPEAKERS:
        return asked.owner in theirs or asked.owner.removesuffix("s") in theirs
    if not whom.asker:
        return True if told.owner == SPEAKERS else None
    return not theirs.isdisjoint(_words(whom.asker))


def _is_of_a_relative(whom: Whom, text: str, said_by: frozenset[str]) -> bool:
    """Whether a sentence has who is asked about only as the one whose relative somebody is."""
    told = relatives_of(text, whom.words - said_by)
    return any(not bare_mention(text, one.owner) for one in told)


def _is_speakers_own(whom: Whom, text: str, said_by: frozenset[str]) -> bool:
    """Whether a sentence is of what its speaker has, and another one is asked about."""
    if not said_by.isdisjoint(whom.named) or not whom.named.isdisjoint(_words(text)):
        return False
    return any(not whom.matter.isdisjoint(content_terms(thing)) for thing in own_things(text))


def _is_said_of_themselves(whom: Whom, text: str, said_by: frozenset[str]) -> bool:
    """Whether somebody else than who asks of themselves says it of themselves."""
    if not whom.oneself or not whom.asker or not said_by:
        return False
    return said_by.isdisjoint(_words(whom.asker)) and first_person(text)


def _words(text: str | None) -> frozenset[str]:
    return frozenset(_WORD.findall((text or "").casefold()))
