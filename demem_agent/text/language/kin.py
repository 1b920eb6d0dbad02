"""Whose a person is of whom a sentence speaks: "Dunja's husband", "la sœur de Luca", "my boss".

A sentence that has somebody's name may be of their husband, and one that has "my" is of who says
it. Who may be somebody's is told by the table of ``turned.py``, in English, German, French,
Spanish, Italian, Portuguese and Dutch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from demem_agent.later import dataclass, pattern
from demem_agent.text.language.turned import kin_in

__all__ = [
    "SPEAKERS",
    "Relative",
    "bare_mention",
    "first_person",
    "own_things",
    "relatives",
    "relatives_of",
]

#: Whose somebody is of whom the speaker says "my".
SPEAKERS = ""
#: Whose, where only a pronoun tells: that may be anybody.
SOMEBODY = "*"

_ARTICLE = (
    r"(?:the |de[rmns]? |het |die |das |la |le |les |el |los |las |il |lo |gli |i |os? |as? "
    r"|l['’])?"
)
_MY = (
    r"my|our|mein(?:e[nmrs]?)?|unser(?:e[nmrs]?)?|mi|mis|nuestr[oa]s?|mon|ma|mes|notre|nos"
    r"|(?:il |la |i |le )?(?:mi[oae]|miei|nostr[oaei])"
    r"|(?:o |a |os |as )?(?:meus?|minhas?|noss[oa]s?)|mijn|onze?"
)
_THEIR = (
    r"his|her|their|sein(?:e[nmrs]?)?|ihr(?:e[nmrs]?)?|sus?|son|sa|ses|leurs?|suoi?|sua|sue|seus?"
    r"|dele|dela|zijn|haar|hun"
)
#: Up to two words of a relation, so that "mother-in-law" and "older sister" are known as one.
_RELATION = r"(?P<relation>[^\W\d_]+(?:[- ][^\W\d_]+){0,2})"
_OWNED = pattern(rf"(?P<owner>[^\W\d_][\w-]*?)['’]s? {_RELATION}")
#: "Petras Tochter": two capitals, as in German alone.
_GENITIVE = pattern(
    r"(?<!\w)(?P<owner>[^\W\d_a-zß-öø-ÿ][\w-]+?)s (?P<relation>[A-ZÄÖÜ][^\W\d_]+)(?![\w'’])"
)
_OF = pattern(
    r"(?P<relation>[^\W\d_]+(?:-[^\W\d_]+){0,2}) (?:of|von|vom|van|de|du|do|da|del|di|d['’]) ?"
    rf"{_ARTICLE}(?P<owner>[^\W\d_][\w-]*)(?![\w-]| van\b)"  # "heet de man van" is no French
)
#: What stands in every text that one of these is in; looked for first, since most have none.
_SIGN_OWNED = pattern(r"['’]")
_SIGN_GENITIVE = pattern(r"s [A-ZÄÖÜ]")
_SIGN_OF = pattern(r" (?:of|v[oa]n|vom|d[eu]l?|do|da|di|d['’])")
_FORMS = ((_SIGN_OWNED, _OWNED), (_SIGN_GENITIVE, _GENITIVE), (_SIGN_OF, _OF))
_POSSESSED = pattern(rf"(?<![\w'’])(?:(?P<my>(?i:{_MY}))|(?P<their>(?i:{_THEIR}))) {_RELATION}")
_FIRST_PERSON = pattern(
    r"(?<![\w'’])(?i:i|me|my|mine|we|our|ich|mich|mir|wir|mein\w*|unser\w*|yo|me|mi|mis|je|moi|mon"
    r"|ma|mes|nous|io|mio|mia|miei|mie|eu|meu|minha|meus|minhas|ik|mij|mijn|wij|ons)(?!\w)|\bj['’]"
)
_WORD = pattern(r"[^\W_]+")
#: Letters of an article before a relation.
_ARTICLE_BEFORE = 4


@dataclass(frozen=True, slots=True)
class Relative:
    """Somebody's relative in a text: whose, who that may be, and where it stands.

    Attributes:
        owner: a name in lower case; :data:`SPEAKERS`, or "*" where a pronoun tells no more.
    """

    owner: str
    who: frozenset[str]
    start: int
    end: int


def relatives(text: str) -> list[Relative]:
    """Return the relatives of somebody in a text, in no order."""
    found = [*relatives_of(text)]
    for match in _POSSESSED.finditer(text):
        who = _who(match["relation"]) or _who(match[0])  # "her man" is a husband in Dutch
        if who:
            owner = SPEAKERS if match["my"] else SOMEBODY
            found.append(Relative(owner, who, *match.span()))
    return found


def relatives_of(text: str, owners: Set[str] | None = None) -> Iterator[Relative]:
    """Yield the relatives of somebody who is named in a text.

    Args:
        owners: of these alone, in lower case; of anybody if None.
    """
    for sign, form in _FORMS:
        if sign.search(text):
            yield from _by(form, text, owners)


def bare_mention(text: str, name: str) -> bool:
    """Whether a text has a name that does not only tell whose relative somebody is."""
    places = [match.span() for match in _WORD.finditer(text) if _is_name(match[0], name)]
    within = [(one.start, one.end) for one in relatives_of(text) if _is_name(one.owner, name)]
    for start, end in places:
        if not any(first <= start and end <= last for first, last in within):
            return True
    return False


def first_person(text: str) -> bool:
    """Whether a text has a word for who says it."""
    return _FIRST_PERSON.search(text) is not None


def own_things(text: str) -> Iterator[str]:
    """Yield the few words behind each "my" of a text: what its speaker has."""
    for match in _POSSESSED.finditer(text):
        if match["my"]:
            yield match["relation"]


def _by(form: re.Pattern[str], text: str, owners: Set[str] | None) -> Iterator[Relative]:
    behind = "'s " if form is _OWNED else ""  # so that "son" is no French "his"
    for match in form.finditer(text):
        owner = match["owner"].lower()
        if owners is not None and owner not in owners:
            continue
        who = _who(behind + match["relation"]) or _who_of(text, match)
        if who:
            yield Relative(owner, who, *match.span())


def _who_of(text: str, match: re.Match[str]) -> frozenset[str]:
    """Return who somebody may be by an article and a preposition: "de man van" is a husband."""
    return _who(text[max(match.start() - _ARTICLE_BEFORE, 0) : match.start("owner")])


def _who(relation: str) -> frozenset[str]:
    """Return who somebody may be by the words of a relation, none where it is no person."""
    return frozenset[str]().union(*kin_in(relation.casefold()))


def _is_name(word: str, name: str) -> bool:
    """Whether a word is a name, also as German writes what is of it: "Petras"."""
    word = word.lower()
    return word in (name, f"{name}s")
