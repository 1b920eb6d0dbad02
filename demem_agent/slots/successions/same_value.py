"""Whether an earlier sentence names already what a later one says to hold now.

A lease that names the new address is not over on the day of the move there.
"""

from __future__ import annotations

from functools import cache

from demem_agent.later import pattern
from demem_agent.slots.successions.amended import times_in
from demem_agent.text.language.languages import stop_words

__all__ = ["says_the_same_place", "says_the_same_time"]

#: Where somebody lives or works, or has moved to.
_PLACE = pattern(
    r"\b(?:lives?|living|moved|relocated|based|settled|works?|working|habit(?:e|ons|ent)"
    r"|déménagé|emménagé|vis|vit|vivons|travaill(?:e|ons)|wohn(?:e|en|t)|leb(?:e|en|t)"
    r"|arbeite[nt]?|viv(?:o|e|imos|emos)|mud(?:é|ado|ei|ou|ámo)\S*|mor(?:o|a|amos)|trabaj(?:o|a)"
    r"|trabalh(?:o|a))\b"
    r"[^.!?,;]*?(?:\b(?:at|in|into|to|on|near|à|au|aux|en|chez|nach|bei|em|no|na|para)\b|(?= \d))"
    r" ?(?P<place>[^.!?,;]+)"
)
_MOVES = pattern(
    r"\b(?:moved|rescheduled|postponed|pushed|shifted|brought|reporté|décal|adiad|antecipad"
    r"|remarcad|verschoben|verlegt|aplaz|retras)"
)
_WORD = pattern(r"[^\W_]+")
_LANGUAGES = ("english", "german", "spanish", "french", "portuguese")
_NOW = frozenset(
    """now last week month year yesterday today jetzt nun maintenant désormais ahora agora floor
    since seit depuis desde""".split()
)


def says_the_same_place(earlier: str, later: str) -> bool:
    """Whether an earlier sentence has all words of the place that a later one tells."""
    found = _PLACE.search(later.lower())
    if found is None:
        return False
    words = [word for word in _WORD.findall(found["place"]) if word not in _left_out()]
    return bool(words) and set(words) <= set(_WORD.findall(earlier.lower()))


def says_the_same_time(earlier: str, later: str) -> bool:
    """Whether an earlier sentence has the times that something is said to be moved to."""
    low = later.lower()
    if _MOVES.search(low) is None:
        return False
    times = times_in(low)
    return bool(times) and times <= times_in(earlier.lower())


@cache
def _left_out() -> frozenset[str]:
    return _NOW.union(*map(stop_words, _LANGUAGES))
