"""What makes a question another one though its words are nearly the same.

"What is Mark allergic to?" is asked again of Mark's dog, of Will, in January, with "not" or with
"where" for "when". Each shares nearly all its words with the first, and what was right for that
says nothing of it. English is understood, and of other languages how they deny and ask, and what
``turned.py`` knows. A situation that is told in several sentences says more than it asks, and is no
such question.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Set

from demem_agent.later import dataclass, pattern
from demem_agent.text.language.asking import asks
from demem_agent.text.language.before import asks_how_it_was_before
from demem_agent.text.language.kin import first_person
from demem_agent.text.language.questions import asks_for
from demem_agent.text.language.same_words import is_everyday, one_word_each
from demem_agent.text.language.turned import Turned, turned
from demem_agent.text.language.words import content_terms

__all__ = ["Asks", "is_another", "plain_words"]

#: A word with a capital inside a sentence that no article makes a thing: "the Berlingo", "der Zug".
_NAMED = pattern(
    r"(?<=[^\W\d_] |[,'’] )(?<!\bthe )(?<!\ba )(?<!\ban )(?<!\bmy )(?<!\bour )(?<!\bder )"
    r"(?<!\bdie )(?<!\bdas )(?<!\bden )(?<!\bdem )(?<!\bein )(?<!\beine )(?<!\bmein )(?<!\bmeine )"
    r"(?P<name>[A-ZÀ-ÖØ-Þ][^\W\d_]*[a-zß-öø-ÿ])(?P<owns>['’]s?\b)?"
)
#: What a noun stands behind in German, which no name does.
_DETERMINED = pattern(
    r"\b(?:welche[nmrs]?|welch|diese[nmrs]?|jede[nmrs]?|kein(?:e[nmrs]?)?|unser(?:e[nmrs]?)?"
    r"|(?:m|d|s)ein(?:e[nmrs]?)?|einer|einem|eines|ihre[nmrs]?|des|beim|fürs|im|ins|vom|zum|zur"
    r"|wie viele?) $",
    re.IGNORECASE,
)
#: Letters of such a word, at most.
_DETERMINER = 12
#: What is somebody's, and what something is of.
_OWNED = pattern(
    r"(?!(?:what|who|where|how|when|why|that|it|here|there|let)['’])\b[^\W\d_]+(?:['’]s|(?<=s)['’])"
    r" ([^\W\d_]+)",
    re.IGNORECASE,
)
_OF = pattern(r"\bof (?:the |my |our |your |his |her |their )?([^\W\d_]+)", re.IGNORECASE)
_DENIED = pattern(
    r"\b(?:not|never|no longer|cannot|without|nicht|nie|niemals|keine?[nmrs]?|jamais|não|nunca)\b"
    r"|n['’]t\b|\b(?:ne|n['’])\b.{1,30}?\bpas\b",
    re.IGNORECASE,
)
#: What denies nothing: "Isn't he allergic to nuts?", "whether or not".
_SEEMS_DENIED = pattern(
    r"^\W*(?:is|are|was|were|do|does|did|has|have|had|can|could|would|should|wo|ca)n['’]t\b"
    r"|\bor not\b|, (?:is|are|was|were|do|does|did|has|have)n['’]t \w+\W*$",
    re.IGNORECASE,
)
_MONTH = "january|february|march|april|may|june|july|august|september|october|november|december"
_WEEKDAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
#: Another time than now: a year, a month, last week, before.
_TIME = pattern(
    r"\b(?:19|20)\d\d\b"
    rf"|\b(?:in|since|until|till|last|next|of|during|by|early|late|\d{{1,2}}) (?:{_MONTH})\b"
    rf"|\b(?:{_MONTH}) \d{{1,2}}\b|\b(?:on|last|next|by|until) {_WEEKDAY}s?\b"
    r"|\b(?:last|next|previous) (?:time|night|week|month|year|spring|summer|autumn|fall|winter)\b"
    r"|\bbefore(?= that\b| then\b| this\b| now\b|\W*$)|\bpreviously\b|\bformerly\b|\bused to\b"
    r"|\boriginally\b|\bin the past\b|\bback then\b|\bearlier\b|\bago\b|\byesterday\b|\btomorrow\b"
    r"|\bas an? (?:child|boy|girl|teenager|student|baby)\b|\b(?:at first|initially)\b",
    re.IGNORECASE,
)
#: "When I am cold, ..." asks for no time.
_NO_TIME = pattern(
    r"\bwhen\b(?! (?:is|are|was|were|do|does|did|will|would|has|have|had|can|could|should|may|must)"
    r"\b)",
    re.IGNORECASE,
)
#: What questions ask for that no other question word stands for, as "what" does.
_KINDS = {
    "time": "time",
    "place": "place",
    "reason": "reason",
    "person": "person",
    "number": "amount",
    "while": "amount",
}
_WORD = pattern(r"\w+")
#: Where a sentence ends before the last one, somebody is quoted or is said to speak.
_ENDS = pattern(
    r"(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bMrs)(?<!\bSt)(?<!\bProf)(?<!\bDra)(?<!\bSr)(?<!\bSra)"
    r"[.!?:]\s+\S|:\s|[\"“”«»]|(?<!\w)['‘]\w"
)


#: The time of a question of how something was before something else.
_BEFORE = "before"


@dataclass(frozen=True, slots=True)
class Asks:
    """What of a question tells it from those in nearly its words.

    Attributes:
        words: all of them, without case and accents; names: those that name somebody.
        owners: names of whose something it is.
        terms: stems of the words that tell something; within: of those somebody's or of something.
        kind: of thing that is asked for, "" where the question word may ask for several.
        times: that are named, other than now.
        oneself: whether it is of who asks: "I", "mein".
        alone: whether it is one sentence that asks.
        turned: of whom it is, of which of several, and where.
    """

    words: frozenset[str]
    names: frozenset[str]
    owners: frozenset[str]
    terms: frozenset[str]
    within: frozenset[str]
    kind: str
    times: frozenset[str]
    denied: bool
    oneself: bool
    alone: bool
    turned: Turned

    @classmethod
    def of(cls, question: str) -> Asks:
        """Take a question apart."""
        times = frozenset(_plain(found[0]) for found in _TIME.finditer(question))
        if asks_how_it_was_before(question):
            times |= {_BEFORE}
        timeless = _TIME.sub(" ", question)
        named = [] if question.istitle() else list(_NAMED.finditer(timeless))
        named = [found for found in named if not is_everyday(found["name"])]
        named = [found for found in named if not _is_determined(timeless, found.start())]
        terms = frozenset(one_word_each(content_terms(question)))
        within = [*_OWNED.findall(question), *_OF.findall(timeless)]
        return cls(
            words=plain_words(question),
            names=frozenset(_plain(found["name"]) for found in named),
            owners=frozenset(_plain(found["name"]) for found in named if found["owns"]),
            terms=terms,
            within=terms.intersection(one_word_each(content_terms(" ".join(within)))),
            kind=_kind(question),
            times=times,
            denied=bool(_DENIED.search(_SEEMS_DENIED.sub(" ", question))),
            oneself=first_person(question),
            alone=asks(question) and not _ENDS.search(question),
            turned=turned(timeless),
        )


def _is_determined(text: str, start: int) -> bool:
    """Whether what starts at a place is a noun of German by what stands before it."""
    return _DETERMINED.search(text, max(start - _DETERMINER, 0), start) is not None


def plain_words(text: str) -> frozenset[str]:
    """Return the words of a text without case and accents."""
    return frozenset(_WORD.findall(_plain(text)))


def is_another(
    now: Asks,
    past: Asks,
    known: Set[str] = frozenset(),
    asker: Set[str] = frozenset(),
    *,
    alike: bool = False,
) -> bool:
    """Whether a question asks for something else than a past one in nearly its words.

    Args:
        known: the words, without case and accents, of names that are meant whether they stand there
            or not: of who asks, and of what was told to be right ("Was it Ms Saar?").
        asker: those of them that are of who asks, of whom "I" is.
        alike: whether they are known to ask for one kind of thing, whatever their question words.
    """
    if not (now.alone and past.alone):
        return False
    if now.denied != past.denied or now.times != past.times:
        return True
    if not alike and now.kind and past.kind and now.kind != past.kind:
        return True
    if now.turned.apart(past.turned, named=bool(now.names or past.names)):
        return True
    if _means_somebody(now, past) or _means_somebody(past, now):
        return True
    if _means_oneself(now, past, asker) or _means_oneself(past, now, asker):
        return True
    # One that names nobody may mean who was named before, but not whose something is.
    if _missing(now.names, past.words | known) or _missing(past.owners, now.words | known):
        return True
    return _within(now, past) or _within(past, now)


def _missing(names: Set[str], words: Set[str]) -> bool:
    """Whether one of some names is not among words, nor as German writes whose something is."""
    return any(
        words.isdisjoint((name, f"{name}s", name.removesuffix("s") or name)) for name in names
    )


def _means_somebody(one: Asks, other: Asks) -> bool:
    """Whether a question is of "him" or "her", whoever that is, and another one is not."""
    if not one.turned.pronouns - other.turned.pronouns:
        return False
    return not (one.names or one.turned.kin) or bool(other.names - one.words)


def _means_oneself(one: Asks, other: Asks, asker: Set[str]) -> bool:
    """Whether a question is of who asks, and another one of somebody else by name."""
    return one.oneself and not other.oneself and bool(other.names - one.words - asker)


def _within(one: Asks, other: Asks) -> bool:
    """Whether a question is of something of what another one, of which it has all, is of."""
    return other.terms < one.terms and bool(one.within - other.terms)


def _kind(question: str) -> str:
    kind = _KINDS.get(asks_for(question), "")
    return "" if kind == "time" and _NO_TIME.search(question) else kind


def _plain(text: str) -> str:
    """Return a text without case and accents."""
    apart = unicodedata.normalize("NFD", text.casefold())
    return "".join(sign for sign in apart if not unicodedata.combining(sign))
