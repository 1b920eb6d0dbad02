"""What a question asks of an earlier time: "my old flat", "who before Novak?", "früher", "avant".

One short table of six languages. What is old stands behind a word that makes it somebody's or the
one that is known ("my old", "die alte"), so that "how old" and "an old car" are none; what came
before something is asked by that one's name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set

from demem_agent.later import dataclass, pattern
from demem_agent.text.times.foreign_days import FOREIGN_MONTHS

__all__ = ["Earlier", "comes_before", "earlier_asked", "says_earlier", "words_in"]

#: ``former``: which of several, behind a word of ``whose`` where it may mean an age. ``was``: that
#: it was so and is no longer. ``before``: what stands ahead of the later one's name.
_WORDS: Mapping[str, Mapping[str, str]] = {
    "English": {
        "whose": r"my|our|your|his|her|their|the|\w+['’]s",
        "former": r"former|previous|prior|ex(?=[- ]\w)"
        r"|last(?= (?:address|employer|doctor|job|flat|house)\b)",
        "old": r"old",
        "was": r"used to|previously|formerly|originally|before(?=\W*$|\s+(?:that|this|was)\b)",
        "before": r"before|prior to",
    },
    "German": {
        "whose": r"(?:mein|dein|sein|ihr|unser)(?:e[nmrs]?)?|de[rmns]|die|das|\w+s",
        "former": r"(?:ehemalig|vorig|vorherig|früher)e[nmrs]?",
        "old": r"alte[nmrs]?",
        "was": r"früher|vorher|zuvor|damals|ehemals|ursprünglich|davor",
        "before": r"vor(?: de[mnr])?",
    },
    "Spanish": {
        "whose": r"mis?|tus?|sus?|nuestr[oa]s?|el|la|los|las",
        "former": r"anterior(?:es)?|previ[oa]s?",
        "old": r"antigu[oa]s?|viej[oa]s?",
        "was": r"antes(?! de)|anteriormente|antiguamente|previamente",
        "before": r"antes (?:del|de(?: la| los| las)?)",
    },
    "French": {
        "whose": r"m[ao]n?|mes|t[ao]n?|tes|s[ao]n?|ses|notre|nos|votre|vos|l['’]|le|la|les|d['’]",
        "former": r"précédente?s?",
        "old": r"ancien(?:ne)?s?|vieux|vieille",
        "was": r"avant(?=\W*$)|auparavant|autrefois|jadis",
        "before": r"avant(?: le| la| les| l['’])?",
    },
    "Italian": {
        "whose": r"mi[oae]i?|miei|tu[oae]i?|su[oae]i?|nostr[oaei]|il|la|i|le|lo|del|della",
        "former": r"precedent[ei]",
        "old": r"vecchi[oae]?|ex",
        "was": r"prima(?! d)|una volta|un tempo|in precedenza|precedentemente",
        "before": r"prima (?:d[ie]l?l?a?|d['’])",
    },
    "Portuguese": {
        "whose": r"meus?|minhas?|teus?|tuas?|seus?|suas?|noss[oa]s?|o|a|os|as|do|da",
        "former": r"anterior(?:es)?|prévi[oa]s?",
        "old": r"antig[oa]s?|velh[oa]s?",
        "was": r"antes(?! d)|anteriormente|antigamente",
        "before": r"antes d[eoa]s?",
    },
}
#: What a name is made of: it has a capital inside a question, and goes on with others.
_NAME = r"(?P<name>[^\W\d_a-zß-öø-ÿ][\w'’&-]*(?: [^\W\d_a-zß-öø-ÿ\d][\w'’&-]*| \d+\w?)*)"
_WORD = pattern(r"[^\W_]+")
#: What a question of the past has, by the word with which it asks for what came before.
_PAST = {
    "before": pattern(r"\b(?:was|were|did|had|used)\b", re.IGNORECASE),
    "prior": pattern(r"\b(?:was|were|did|had|used)\b", re.IGNORECASE),
    "vor": pattern(
        r"\b(?:war(?:en|st)?|hatten?|hattest|hieß(?:en)?|ging(?:en)?|fuhr(?:en)?|nahm(?:en)?"
        r"|\w+te[nt]?|(?:\w{2,4})?ge\w{2,}(?:t|en))\b",
        re.IGNORECASE,
    ),
}
#: Names of times.
_TIMES = frozenset(FOREIGN_MONTHS).union(
    """january february march april may june july august september october november december monday
    tuesday wednesday thursday friday saturday sunday christmas easter montag dienstag mittwoch
    donnerstag freitag samstag sonntag weihnachten ostern silvester frühstück mittag abend
    mitternacht essen wochenende urlaub navidad noël pâques natale pasqua natal páscoa""".split()
)


@dataclass(frozen=True, slots=True)
class Earlier:
    """That a question asks for what was before.

    Attributes:
        than: words of the name of what came later, in lower case; empty where it names none.
        rest: the question without these and without the words by which it asks for an earlier time.
    """

    than: frozenset[str]
    rest: str


def earlier_asked(question: str) -> Earlier | None:
    """Return what a question asks of an earlier time; None where it asks of none."""
    before = _before(question)
    if before is None and _SAID.search(question) is None:
        return None
    than = frozenset(words_in(before["name"])) if before else frozenset[str]()
    rest = question if before is None else question[: before.start()] + question[before.end() :]
    return Earlier(than, _SAID.sub(" ", rest))


def _before(question: str) -> re.Match[str] | None:
    """Return where a question names what came later; what names a time is none.

    In English and German it has to ask of the past: "What do I do before Work?" asks for a habit.
    """
    found = _BEFORE.search(question)
    if found is None or not _TIMES.isdisjoint(words_in(found["name"])):
        return None
    past = _PAST.get(found["before"].split()[0].lower())
    return found if past is None or past.search(question) else None


def says_earlier(text: str) -> bool:
    """Whether a text itself says how something was before: "the number before was 0151"."""
    return _SAID.search(text) is not None


def comes_before(text: str, name: Set[str]) -> bool:
    """Whether a text itself says what came before something of a name: "before Novak I saw ..."."""
    return any(name <= words_in(match["name"]) for match in _BEFORE.finditer(text))


def words_in(text: str) -> frozenset[str]:
    """Return the words of a text as they are written, in lower case."""
    return frozenset(_WORD.findall(text.lower()))


def _column(name: str) -> str:
    return "|".join(row[name] for row in _WORDS.values())


def _said() -> str:
    """Return the pattern of what is said to be former: an old one has to be somebody's."""
    owned = "|".join(rf"(?:{row['whose']}) ?(?:{row['old']})" for row in _WORDS.values())
    return (
        rf"(?<!\w)(?:(?P<former>{_column('former')})|(?P<was>{_column('was')}))(?!\w)"
        rf"|(?<!\w)(?P<old>{owned})(?= \w)"
    )


_SAID = pattern(_said(), re.IGNORECASE)
_BEFORE = pattern(rf"(?<!\w)(?P<before>(?i:{_column('before')})) ?{_NAME}")
