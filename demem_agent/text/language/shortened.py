"""Stops that end no sentence: behind an abbreviation, and in German behind the number of a thing.

"Hoe heet dhr. Maas" and "im 2. Obergeschoss" go on behind the stop. What an abbreviation stands
before tells whether it does: a title stands before a name, "art." before a number, "ca." before
anything. A word that begins sentences, as "She" in "I saw the dr. She was kind", is no name. The
lists are in English, German, Dutch, French, Spanish, Portuguese and Italian, written for DeMem by
hand. Where it cannot be told the sentence goes on: two quoted as one lose nothing.
"""

from __future__ import annotations

import re
from functools import cache

from demem_agent.later import pattern
from demem_agent.text.language.languages import ENGLISH, stop_words

__all__ = ["goes_on"]

#: What people and firms are called by, before a name.
_TITLES = frozenset(
    """dr dra drs mr mrs ms mx prof profa rev capt sgt lt messrs pres
    hr hrn frl fam dipl habil
    dhr mevr mw mej mevrouw wed fam jhr
    mme mmes mlle mlles mgr
    sra srta srs sras dña doña eng enga arq
    sig sigg dott avv ing geom mons cav
    sr""".split()
)
#: The same where they are words of their own in another language, and what stands before them.
_TITLES_BEHIND = {
    "fa": pattern(r"\b(?:bij|van|door|voor|met|via|naar|aan|de|der|die|firma|bei|von) fa$"),
    "ir": pattern(r"\b(?:bij|van|door|voor|met|heet|is|aan|prof\.|de) ir$"),
    "ds": pattern(r"\b(?:bij|van|door|voor|met|heet|is|aan|onze) ds$"),
    "arch": pattern(r"(?:l['’]|\b(?:il|del|dal|al) )arch$"),
    "rag": pattern(r"\b(?:il|del|dal|al|dalla|la) rag$"),
    "pr": pattern(r"\b(?:le|du|au|la) pr$"),
    "me": pattern(r"\b(?:chez|par|avec|est) me$"),
    "lic": pattern(r"\b(?:el|la|del|al) lic$"),
    "fr": pattern(r"(?<!\b[Aa][mb] )\bFr$"),
}
#: What stands before anything else of its sentence, and never at the end.
_AHEAD = frozenset(
    """ca bzw inkl exkl zzgl evtl ggf vgl sog bzgl betr einschl bijv ong resp dwz env cad aprox
    mio mrd tsd abt
    """.split()
)
#: The same, where it is not "a hidden gem".
_GERMAN_GEM = pattern(
    r"(?:^|[^\w\s] ?|\b(?!(?:an?|the|this|that|hidden|real|little|true|rare|such)\b)\w+ )gem$"
)
#: What may end a sentence, and does where a capital letter follows.
_MAY_END = frozenset("etc usw ecc enz mwst std sek".split())
#: What stands before a number.
_NUMBERED = frozenset(
    """nr nrs num núm tel tél str blz hfst art arts abs kap ziff pag pagg pág págs max min
    jan feb mär mrt apr abr avr jun juin jul juil aug sept okt ott nov dec dez dic déc gen ene giu
    lug mo wo vr za zo lun mer gio ven dom mon tue tues wed thu thur thurs fri sab mié jue sáb jeu
    """.split()
)
#: One letter for a word or a name: "v. Gogh"; behind a figure it is none.
_LETTER = pattern(r"(?<!\w)(?<!\d )[vz]$")
_NEXT_WORD = pattern(r"[\"“„«'‘(]*([^\W_][\w’'-]*)")
#: What belongs to a name where another word of it follows.
_PARTICLES = frozenset(
    """van von vom zu zum zur de den der des di da dal del della dello dei degli du la le lo los las
    les do dos das el ten ter te al san santa mac mc d l o bin ibn""".split()
)
_NAME_ENDS = pattern(r"(?:\s+(?:de[nr]?|het|la|las|los|t[er]n?))*\s+[^\W\d_a-zß-öø-ÿ]")
#: Words that begin a sentence, beside those of every language that tell little.
_BEGINNERS = frozenset(
    "danke bitte ja nein super okay ok thanks yes no please bedankt nee grazie sì gracias sí merci"
    " oui non obrigado obrigada sim não tschüss bis heute morgen gestern danach".split()
)
_LANGUAGES = (ENGLISH, "german", "dutch", "french", "spanish", "portuguese", "italian")
#: Words that tell little, and are names as well.
_NAMES = frozenset("will an may".split())
#: Before the number of a thing in German: "im 2. Obergeschoss", "der 4. Versuch"; not "I am 30."
_ORDINAL = pattern(
    r"(?:^|[\s(])(?:(?<!\bI )(?<!\bi )am|(?<!\bI )(?<!\bi )im|vom|zum|zur|beim|der|das|dem|des|die"
    r"|den|ins|jede[nmrs]?|[msd]?eine?[nmrs]?|unsere?[nmrs]?|ihre?[nmrs]?|ab dem|seit dem"
    r"|\d{1,2}\. (?:und|oder|bis|auf den|zum))\s\d{1,2}$",
    re.IGNORECASE,
)
#: Characters before a stop that are looked at.
_NEAR = 40
#: Words of more than one letter behind which a sentence may go on: most stops are behind others.
_MAY_GO_ON = _TITLES.union(_TITLES_BEHIND, _AHEAD, _MAY_END, _NUMBERED, {"gem"})


def goes_on(text: str, stop: int, after: int) -> bool:
    """Whether the sentence with a stop at ``text[stop]`` goes on at ``text[after]``."""
    last = _last_word(text, stop)
    if not last or after >= len(text):
        return False
    word = last.lower()
    if word not in _MAY_GO_ON and len(word) > 1 and not word[0].isdigit():
        return False
    before = text[max(stop - _NEAR, 0) : stop]
    if word[0].isdigit():
        return _ORDINAL.search(before) is not None and not _begins_sentence(text, after)
    if word in _NUMBERED and (text[after].isdigit() or text[after] in "#§"):
        return True
    if word in _MAY_END:
        return not text[after].isupper() and not text[after].isdigit()
    if last.isupper() and len(word) > 1:
        return False  # "the meeting with HR."
    if word in _AHEAD or _is_title(word, before) or _is_gem(word, before):
        return not _begins_sentence(text, after)
    if len(word) == 1 and _LETTER.search(before):
        return text[after].isupper() and not _begins_sentence(text, after)
    return False


def _last_word(text: str, stop: int) -> str:
    """Return the word that ends at a stop, or in the line that does; "" where there is none."""
    least = max(stop - _NEAR, 0)
    end = stop - 1 if stop > least and text[stop - 1] == "\n" else stop
    start = end
    while start > least and text[start - 1].isalnum():
        start -= 1
    return text[start:end]


def _is_gem(word: str, before: str) -> bool:
    return word == "gem" and _GERMAN_GEM.search(before) is not None


def _is_title(word: str, before: str) -> bool:
    if word in _TITLES:
        return True
    behind = _TITLES_BEHIND.get(word)
    return behind is not None and behind.search(before) is not None


def _begins_sentence(text: str, after: int) -> bool:
    """Whether a word begins a sentence rather than a name or a noun: "She", "Dann"."""
    found = _NEXT_WORD.match(text, after)
    if found is None:
        return False
    word = re.split(r"['’]", found[1])[0].lower()
    if word in _PARTICLES and _NAME_ENDS.match(text, found.end()):
        return False
    is_capital = found[1][0].isupper()
    return word in _BEGINNERS or (is_capital and word in _every_function_word())


@cache
def _every_function_word() -> frozenset[str]:
    return frozenset[str]().union(*map(stop_words, _LANGUAGES)) - _NAMES
