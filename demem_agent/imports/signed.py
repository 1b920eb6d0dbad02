"""Plain text in which people say who speaks: lines that begin as "Ana: ..." does.

A single such line may be anything, "Address: 14 Elm Row" as well. So a text is taken for what
people said only where nearly all of its paragraphs begin so, and by the looks of it with names: one
of them comes again, or what stands behind each is a sentence. What people call notes is no name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from demem_agent.turns import Turn

__all__ = ["LOOKED_AT", "is_name", "is_signed", "signed_turns"]

#: Lines by which it is told what a text is, the first of it.
LOOKED_AT = 200
#: Share of its paragraphs, or of the lines in them, that begin with a name at least.
_MOST = 0.8
_FEWEST = 2
#: Share of what stands behind the names that are sentences at least, where a name comes again.
_TOLD = 1 / 3
#: Up to three words, a colon, and what is said.
_SIGNED = re.compile(
    r"(?P<name>[^\W\d_][\w'’.-]*(?: [^\W\d_][\w'’.-]*){0,2}):[^\S\n]+(?P<said>\S.*)", re.DOTALL
)
#: What the sides of a chat are called in small letters.
_SIDES = frozenset("me you user assistant human ai bot ich yo moi".split())
_WORD = re.compile(r"[^\W\d_]+")
#: What a line begins with that is of nobody.
_LABELS = frozenset(
    """note notes nb todo task tasks ps re fw fwd subject betreff asunto from von de to an para cc
    bcc date datum fecha time zeit hora when where what who why how address adresse dirección phone
    telefon mobile email mail e-mail name names title author summary overview question answer q a
    step example warning important update edit tip tips idea ideas plan goal goals reason result
    status version monday tuesday wednesday thursday friday saturday sunday montag dienstag
    mittwoch donnerstag freitag samstag sonntag today tomorrow ingredients method recipe remember
    reminder pros cons http https file path url link price cost total""".split()
)

#: Little words of several languages.
_LITTLE = frozenset(
    """i you we he she it they me my your our his her the a an is are was were am be been do does
    did have has had will would can could not no yes and or but so to of in on at for with that this
    there what when where why how ich du wir er sie es ist sind war habe hat nicht das der die ein
    eine und aber zu mit auf yo tú él ella es está son fue no el la un una y pero que de en con je
    tu il elle on est sont le les et mais pas eu você ele ela é não o um uma mas io sei lui lei non
    che ma con ik jij hij zij niet het een en maar van""".split()
)


def is_signed(lines: Sequence[str]) -> bool:
    """Whether the first lines of a text are what people said, each with a name before it."""
    told = [line.strip() for line in lines if line.strip()]
    found = [signed for signed in map(_signed, told) if signed is not None]
    if len(found) < _FEWEST:
        return False
    begun = list(_beginnings(lines))
    opening = sum(_signed(line) is not None for line in begun)
    if len(found) < _MOST * len(told) and opening < _MOST * len(begun):
        return False
    names = {name for name, _ in found}
    sentences = sum(_is_sentence(said) for _, said in found)
    least = _TOLD if len(names) < len(found) else 1.0
    return sentences >= least * len(found)


def signed_turns(lines: Iterable[str]) -> Iterator[Turn]:
    """Yield the turns of such a text; a line without a name goes on from the one before it.

    A paragraph that begins without one is of nobody.
    """
    speaker: str | None = None
    gathered: list[str] = []
    for line in lines:
        signed = _signed(line.strip())
        if signed is None and line.strip():
            gathered.append(line.rstrip())
            continue
        yield from _ended(speaker, gathered)
        speaker = None
        if signed is not None:
            speaker, said = signed
            gathered.append(said)
    yield from _ended(speaker, gathered)


def _ended(speaker: str | None, gathered: list[str]) -> Iterator[Turn]:
    text = "\n".join(gathered).strip()
    gathered.clear()
    if text:
        yield Turn(text, speaker=speaker)


def _beginnings(lines: Iterable[str]) -> Iterator[str]:
    """Yield the first line of each paragraph."""
    is_new = True
    for line in lines:
        if line.strip() and is_new:
            yield line.strip()
        is_new = not line.strip()


def _signed(line: str) -> tuple[str, str] | None:
    """Return the name that a line begins with and what is said; None where it has none."""
    found = _SIGNED.fullmatch(line)
    if found is None:
        return None
    if not is_name(found["name"]):
        return None
    return found["name"], found["said"]


def is_name(name: str) -> bool:
    """Whether one or more words look like what somebody is called: none of them is in small
    letters, and notes are not called so.
    """
    if name in _SIDES:
        return not {name} & _LABELS
    words = name.split()
    if not all(word[0].isupper() or not word[0].islower() for word in words):
        return False
    return words[0].lower() not in _LABELS and words[-1].lower() not in _LABELS


def _is_sentence(said: str) -> bool:
    """Whether something said has one of the little words that a value has not."""
    return not _LITTLE.isdisjoint(_WORD.findall(said.lower()))
