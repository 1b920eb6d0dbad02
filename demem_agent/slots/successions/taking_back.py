"""How people put right at once what they have just written, in seven languages.

"no sorry, not walnuts: hazelnuts", "ik bedoelde Lyon", "actually 13, they cut a page",
"*hazelnuts". Such a message begins with a word of taking back, or with the sign for a slip; what it
says else is the value that holds, and maybe the one that does not. The languages are English,
German, Dutch, French, Spanish, Portuguese and Italian; the forms were written by hand.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from difflib import SequenceMatcher
from functools import cache
from itertools import product

from demem_agent.later import dataclass, pattern
from demem_agent.text.language.kinds import holds
from demem_agent.text.language.languages import ENGLISH, stop_words

__all__ = ["Mended", "has_place_for", "is_name", "may_mend", "mended", "names"]

#: That something just said was a mistake, by itself; and what may begin an answer as well.
_SORRY = (
    r"(?:sorry|wait|oops|whoops|my (?:bad|mistake)|hang on|hold on|typo|pardon"
    r"|wacht|oeps|foutje|scusa(?:te)?|aspetta(?:te)?|ops|anzi|warte|quatsch|ups|verzeihung"
    r"|entschuldigung|perd[oó]na?|espera|digo|attend(?:s|ez)|oups|désolée?|desculp[ae]|aliás"
    r"|perdão)\b"
)
_ACTUALLY = r"(?:actually|eigenlijk|eigentlich|enfin|in realtà|en realidad|en fait|na verdade)\b"
_NO = rf"(?:(?:no|nope|nee|nein|non|não|ah|oh)\b|{_ACTUALLY})"
_GAP = r"[,.:!… –—-]+"
_FIRST = rf"^\W*(?P<first>(?:(?:{_SORRY}|{_NO}){_GAP})+)"
_IS_SORRY = pattern(_SORRY, re.IGNORECASE)
_IS_ANOTHER = pattern(rf"{_SORRY}|{_ACTUALLY}", re.IGNORECASE)
#: A word of each of them, and of what follows: without one nothing is put right.
_ONE_OF = frozenset(
    """no nope sorry wait oops whoops bad mistake hang hold typo pardon actually ah oh nee wacht
    oeps foutje eigenlijk bedoel bedoelde correctie non scusa scusate aspetta aspettate ops anzi
    realtà volevo intendevo correzione nein warte quatsch ups verzeihung entschuldigung
    eigentlich meinte korrektur berichtigung perdón perdon perdona perdono espera digo realidad
    decir corrección attends attendez oups désolé désolée enfin fait voulais veux correction
    rectification não desculpa desculpe aliás perdão verdade dizer correção""".split()
)
#: Which value was meant; not a sentence that explains: "ik bedoel dat hij komt".
_MEANT = pattern(
    rf"^\W*(?:(?:{_SORRY}|{_NO}){_GAP})*(?:(?:ik bedoel(?:de)?|volevo dire|intendevo|ich meinte"
    r"|(?:quise|quería) decir|je (?:voulais|veux) dire|(?:quis|queria) dizer)[,:]? "
    r"|(?:correctie|correzione|korrektur|berichtigung|corrección|rectification|correção)"
    r"\s*[:,–-]\s*)"
    r"(?!(?:dat|het|dit|maar|hoe|er|je|ik|we|che|grazie|ciao|dass|es|das|damit|gracias|que|algo"
    r"|merci|obrigad[oa]|il|elle|ça)\b(?! \d))"
    r"(?P<value>[^.!?%\n]{1,50}?)(?=\s*(?:[.!?:;\n]|$))",
    re.IGNORECASE,
)
_NOT = r"(?:not|niet|geen|non|nicht|kein(?:e[nmr]?)?|pas|no|não)"
_BUT = r"(?:\s*[:;–—-]+\s*|,? (?:but|maar|ma|bensì|sondern|sino|mais|mas) |, )"
_WAS = r"(?P<was>[^.!?%,:;\n]{2,30}?)"
_VALUE = r"(?P<value>[^.!?%,:;\n]{1,40}?)"
_OVER = r"(?=\s*(?:[.!?,:;\n(–—]|$))"
#: The value that does not hold, with the one that does.
_DENIED = (
    pattern(rf"{_FIRST}{_NOT} {_WAS}{_BUT}{_VALUE}{_OVER}", re.IGNORECASE),
    pattern(rf"{_FIRST}{_VALUE},? (?:and |e |en |und |y |et )?{_NOT} {_WAS}{_OVER}", re.IGNORECASE),
)
#: A value alone, and what explains it: "actually 13, they cut a page".
_ALONE = pattern(
    rf"{_FIRST}(?:(?:it['’]?s|it is|het is|è|sono|es ist|es sind|es|son|c['’]est|é|são) )?"
    rf"{_VALUE}{_OVER}",
    re.IGNORECASE,
)
_PAUSES = pattern(r"[,.:!…–—-]")
#: Of somebody who says or does something: "sorry, I forgot".
_SAYS = pattern(
    r"\b(?:i|we|you|he|she|they|ik|we|wij|jij|hij|ich|wir|du|er|je|j['’]\w+|nous|tu|yo|io|eu)\b",
    re.IGNORECASE,
)
#: A slip mended: "*hazelnuts" or "hazelnuts*"; neither an item of a list nor "*very* good".
_SLIP = pattern(
    r"^\s*(?:\*(?P<value>[^\W_][^*.!?%:\n]{1,30}?)|(?P<then>[^\W_][^*.!?%:\n]{1,30}?)\*)[.!]*\s*$"
)
#: Words of a value at most, and of one that is put in the place of a word like it.
FEW = 4
FEWEST = 3
#: Letters of words that are compared, and how far one is like another that it mends.
LETTERS = 4
ALIKE = 0.6
_WORD = pattern(r"[^\W\d_]+")
_NUMBER = pattern(r"^\W*\d[\d.,:]*\W*$")
_FIGURE = pattern(r"\d+")
_NAME = pattern(r"^[^\W\d_a-zß-öø-ÿ][\w'’-]+(?: [^\W\d_a-zß-öø-ÿ][\w'’-]+)?$")
_NAME_INSIDE = pattern(r"(?<=[\w,;:)] )[^\W\d_a-zß-öø-ÿ][\w'’-]+")
_THANKS = frozenset(
    "thanks thank bedankt dank danke grazie gracias merci obrigado obrigada".split()
)
_LANGUAGES = (ENGLISH, "german", "dutch", "french", "spanish", "portuguese", "italian")


@dataclass(frozen=True, slots=True)
class Mended:
    """A value that is put in the place of another.

    Attributes:
        value: what holds.
        was: what does not, as far as it is named.
        sorry: whether it is said that something was a mistake.
        meant: whether it is said to be what was meant.
        alone: whether it stands behind a word of taking back, and no more.
    """

    value: str
    was: str = ""
    sorry: bool = False
    meant: bool = False
    alone: bool = False


def may_mend(words: Collection[str]) -> bool:
    """Whether a message of some words in lower case may put something right; most do not."""
    return not _ONE_OF.isdisjoint(words)


def mended(said: str) -> Mended | None:
    """Return the value that a message puts in the place of one just said; None for none."""
    meant = _MEANT.match(said)
    if meant is not None and len(meant["value"].split()) <= FEW:
        return Mended(meant["value"].strip(), sorry=True, meant=True)
    for form in _DENIED:
        found = form.match(said)
        if found is None or not (_is_short(found["value"]) and _is_short(found["was"])):
            continue
        # "No creaky floors, no stairs" lists what is not there.
        if _PAUSES.search(found["first"]) or _IS_ANOTHER.search(found["first"]):
            sorry = _IS_SORRY.search(found["first"]) is not None
            return Mended(found["value"].strip(), found["was"].strip(), sorry)
    alone = _ALONE.match(said)
    if alone is not None and _IS_ANOTHER.search(alone["first"]):
        value = alone["value"].strip()
        if not _is_short(value, FEWEST) or _SAYS.search(value):
            return None
        return Mended(value, alone=True)
    slip = _SLIP.match(said)
    if slip is not None and _is_short(slip["value"] or slip["then"], FEWEST):
        return Mended(slip["value"] or slip["then"])
    return None


def is_name(value: str) -> bool:
    """Whether a value is a word or two with capitals."""
    return _NAME.match(value) is not None


def names(was: str, said: str) -> bool:
    """Whether a sentence has what is said not to hold: one of its words, in some form."""
    told = _telling(said) | set(said.split())
    for word in _telling(was) or set(was.lower().split()):
        if word in told or any(_is_form(word, other) for other in told):
            return True
    return False


def has_place_for(value: str, said: str) -> bool:
    """Whether a sentence has a word that a value mends: a number, a name, a colour, or one like it.

    "*hazelnuts" mends "walnuts", and "*Lyon" a name inside the sentence.
    """
    if _NUMBER.match(value):
        return bool(_figures(said) - _figures(value))
    if _NAME.match(value) and _NAME_INSIDE.search(said):
        return value not in said
    if holds("colour", value, frozenset()):
        return holds("colour", said, frozenset())
    mending, told = _telling(value), _telling(said)
    if not mending or mending <= told:
        return bool(mending and _figures(value) and _figures(said) - _figures(value))
    return any(_is_like(one, other) for one, other in product(mending - told, told - mending))


def _figures(text: str) -> set[str]:
    return set(_FIGURE.findall(text))


def _telling(text: str) -> set[str]:
    return set(_WORD.findall(text.lower())) - _little()


def _is_like(one: str, other: str) -> bool:
    """Whether one of two words may have been written for the other."""
    if min(len(one), len(other)) < LETTERS:
        return False
    return SequenceMatcher(None, one, other, autojunk=False).ratio() >= ALIKE


def _is_form(one: str, other: str) -> bool:
    """Whether two words begin alike, as those do of which one is a form of the other."""
    same = min(len(one), len(other)) - 1
    return same >= LETTERS - 1 and one[:same] == other[:same] and abs(len(one) - len(other)) <= 2


def _is_short(value: str, most: int = FEW) -> bool:
    return bool(value.strip()) and len(value.split()) <= most


@cache
def _little() -> frozenset[str]:
    return frozenset[str]().union(_THANKS, *map(stop_words, _LANGUAGES))
