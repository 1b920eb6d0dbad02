"""The salutation and the closing of a letter, which tell nothing of those whom they name."""

from __future__ import annotations

import re

from demem_agent.later import pattern

__all__ = ["greetings", "without_greetings"]

_BEGINS = r"(?:^|(?<=[\n\"“'‘])|(?<=[.!?:] ))[ \t]*"
_NAMES = r"[A-Z][\w'’-]*\.?(?: (?:and |& )?[A-Z][\w'’-]*\.?){0,3}"
#: "Dear Mia," and "Hi team,".
_SALUTATION = pattern(
    rf"{_BEGINS}(?i:dear|hi|hello|hey|good (?:morning|afternoon|evening))"
    rf"(?: (?i:my|dear|dearest|there)){{0,2}}"
    rf" (?:{_NAMES}|(?i:all|team|everyone|everybody|colleagues|friends|folks|both))\s*[,!:;\n–—-]",
    re.MULTILINE,
)
#: "Your loving Gran" and "Best regards, Sandra", with which a text, a line or a quotation ends.
_CLOSING = pattern(
    rf"{_BEGINS}(?:"
    r"(?i:(?:(?:with )?(?:best|kind|kindest|warm|warmest|many) )?(?:regards|wishes)"
    r"|(?:very )?(?:sincerely|truly|faithfully)(?: yours)?|yours(?: \w+)?|cheers|thanks|take care"
    r"|(?:with |lots of |all my |much )?(?:love|kisses|hugs)(?: and \w+)?)"
    r"(?:,|\n| (?i:from))\s*"
    r"|(?i:your (?:ever )?(?:loving|affectionate|devoted|faithful|old|dear|friend),?)\s+"
    rf"){_NAMES}(?=\W*$|[\"”'’])",
    re.MULTILINE,
)
#: "— Ben" on the last line.
_SIGNED = pattern(rf"(?<=\n)[ \t]*(?:--|–|—)[ \t]*{_NAMES}\s*\Z")


def greetings(text: str) -> list[tuple[int, int]]:
    """Return the (start, end) of the salutations, closings and signatures of a text."""
    found = [*_SALUTATION.finditer(text), *_CLOSING.finditer(text), *_SIGNED.finditer(text)]
    return [match.span() for match in found]


def without_greetings(text: str) -> str:
    """Return a text without the salutation and the closing of a letter that stands in it."""
    return _CLOSING.sub(" ", _SALUTATION.sub(" ", text))
