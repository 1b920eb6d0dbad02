"""Whether a sentence says of another what is asked of somebody: its subject is another one.

"My bees live in Gerês" does not say where I live, nor "Maja is allergic to walnuts" to what Kasia
is, nor does what somebody else says of themselves. Looked at is who stands before the word that is
asked of; a sentence that has nobody there may be of anybody.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from demem_agent.later import dataclass, pattern
from demem_agent.text.language.languages import ENGLISH
from demem_agent.text.language.words import content_terms, language_of, stems

__all__ = ["Of", "asked_of", "says_of_another"]

_WORD = pattern(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_I = frozenset(
    """i we i'm we're i've we've i'd i'll we'll we'd ich wir je nous yo nosotros nosotras eu nós io
    noi ik wij""".split()
)
_POSSESSIVE = frozenset(
    """my our his her their your mein meine meinen meinem meiner unser unsere unserem dein deine
    sein seine mon ma mes notre nos leur leurs ton ta mi mis nuestro nuestra nuestros nuestras
    meu minha meus minhas nosso nossa nossos nossas seu sua mio mia miei mie nostro nostra suo
    sua mijn onze haar the der die das le la les el los las os as il""".split()
)
#: What stands between a subject and what is said of it.
_BETWEEN = frozenset(
    """is are was were am be been being has have had will would can could may do does did not don't
    doesn't didn't isn't aren't wasn't still now also always only never just really currently both
    all already mostly usually often then probably maybe so very quite too ist sind war waren bin
    hat habe haben wird nicht jetzt noch auch immer nur est sont était suis ai avons ne pas toujours
    es está están estoy soy era estaba no ya también siempre é são sou estou estão não já também
    sempre è sono sta stanno non già anche zijn ben niet nog ook jest są""".split()
)
#: What stands at the beginning for somebody who was named before.
_PRONOUNS = frozenset(
    """he she it they this that these those who what there here everybody everyone nobody somebody
    er sie es das dies wer man il elle ils elles ce ça on él ella ellos ellas ele ela eles elas
    isso lui lei loro hij zij ze""".split()
)
_NAME = r"(?P<name>[^\W\d_a-zß-öø-ÿ][^\W\d_]+)"
_SAID = r"(?P<said>[^\W\d_]{3,})"
_SINCE = r"(?:(?i:still|now|usually|currently|actually|both|all|noch|jetzt) )?"
#: Of whom a question asks what: "do I live", "is Kasia allergic", "wo wohnt Tom", "onde moro".
_FORMS = tuple(
    pattern(form)
    for form in (
        rf"\b(?i:do|does|did|am|is|are|was|were|have|has|had|can|will|should|would)"
        rf" (?:(?P<self>(?i:i|we))|{_NAME}) {_SINCE}{_SAID}",
        rf"\b(?i:wo|wohin|woher|wann|wie|was|warum|womit|bei wem) {_SAID} "
        rf"(?:(?P<self>(?i:ich|wir))\b|{_NAME})",
        rf"\b(?i:waar|waarheen|waarom|wanneer|hoe|wat|bij wie) {_SAID} "
        rf"(?:(?P<self>(?i:ik|wij|we))\b|{_NAME})",
        rf"\b(?i:où|quand|comment|que)(?: est-ce que)? (?P<self>j['’]|je |nous ){_SAID}",
        rf"\b(?i:où|quand|comment|que) {_SAID}(?P<self>-je|-nous)\b",
        rf"\b(?i:où|quand|comment|que) {_SAID} {_NAME}",
        rf"\b(?i:d[óo]nde|onde|dove|cu[áa]ndo|quando|com quem|con quién) {_SAID}(?: [oa])? {_NAME}",
        r"\b(?i:d[óo]nde|onde|dove|cu[áa]ndo|quando) (?P<said>(?P<self>)[^\W\d_]{2,}"
        r"(?:o|ou|amos|emos|imos|iamo))\b",
    )
)
#: How far back a subject is looked for.
_REACH = 5
#: Letters that two forms of a word have in common at least.
_ALIKE = 4


@dataclass(frozen=True, slots=True)
class Of:
    """Of whom a question asks, and the word of what it asks, as a stem.

    Attributes:
        name: in lower case; "" for who asks.
    """

    name: str
    said: str


def asked_of(query: str) -> Of | None:
    """Return of whom a question asks what; None where that is open."""
    for form in _FORMS:
        found = form.search(query)
        if found is None:
            continue
        fields = found.groupdict()
        told = _stem(found["said"])
        if not content_terms(found["said"]):
            continue
        return Of("" if fields.get("self") is not None else fields["name"].lower(), told)
    return None


def says_of_another(of: Of, text: str, speaker: str | None, asker: str | None) -> bool:
    """Whether a sentence says only of others what is asked of one.

    Args:
        speaker: who says the sentence, and asker who asks; each None where nobody knows.
    """
    words = _WORD.findall(text)
    low = [word.lower().replace("’", "'") for word in words]
    if of.name and any(word.removesuffix("'s") == of.name for word in low):
        return False
    places = [nth for nth, stem in _stems_like(of, text, low) if _alike(stem, of)]
    told = [_is_of(of, words[:nth], low[:nth], speaker, asker) for nth in places]
    return bool(told) and all(one is False for one in told)


def _stems_like(of: Of, text: str, low: list[str]) -> Iterable[tuple[int, str]]:
    """Return the stems of words that may be the one asked of, each with its place.

    An English stem begins as its word does, which leaves few.
    """
    language = language_of(text)
    if language != ENGLISH or not text.isascii():
        return enumerate(stems(low, language))
    places = [nth for nth, word in enumerate(low) if word[0] == of.said[0]]
    return zip(places, stems([low[nth] for nth in places]), strict=True)


def _is_of(
    of: Of, words: Sequence[str], low: Sequence[str], speaker: str | None, asker: str | None
) -> bool | None:
    """Whether the subject before a word is the one asked of; None where there is none."""
    nth = len(low) - 1
    while nth >= 0 and low[nth] in _BETWEEN:
        nth -= 1
    if nth < 0:
        return None
    if low[nth] in _I:
        return _speaks(of, speaker, asker)
    before = low[max(nth - _REACH, 0) : nth]
    if _names(words[nth], nth):
        return _is_named(of, low[nth], asker)
    for back in (1, 2, 3):
        if len(before) >= back and before[-back] in _POSSESSIVE:
            return False if not of.name or _is_speaker(of.name, speaker) else None
    return None


def _names(word: str, nth: int) -> bool:
    """Whether a word is a name: it has a capital, and at the beginning is no ordinary word."""
    if not word[:1].isupper() or word.isupper() or word.lower() in _PRONOUNS:
        return False
    return nth > 0 or bool(content_terms(word))


def _is_named(of: Of, name: str, asker: str | None) -> bool | None:
    meant = of.name or (asker or "").lower()
    if not meant:
        return False
    return name in meant.split() or any(name.startswith(part) for part in meant.split())


def _speaks(of: Of, speaker: str | None, asker: str | None) -> bool | None:
    """Whether who says "I" is the one asked of."""
    if not speaker:
        return None
    if of.name:
        return _is_speaker(of.name, speaker)
    return None if asker is None else speaker.casefold() == asker.casefold()


def _is_speaker(name: str, speaker: str | None) -> bool:
    return name in (speaker or "").lower().split()


def _alike(stem: str, of: Of) -> bool:
    """Whether a word is the one asked of, in any form: "wohne", "wohnt"."""
    if stem == of.said:
        return True
    short, long = sorted((stem, of.said), key=len)
    return len(short) >= _ALIKE and long.startswith(short) and len(long) - len(short) <= 2


def _stem(word: str) -> str:
    return stems([word.lower()], language_of(word))[0]
