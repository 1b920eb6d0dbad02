"""Values told again without the words that they had before: "Down to 68 kg!", "new number: ...".

Such a line names no more than the value, which the earlier one has of the same kind, and says of
the speaker. The rules know English, were written by hand and are narrow.
"""

from __future__ import annotations

from demem_agent.later import dataclass, pattern
from demem_agent.text.language.words import stems

__all__ = ["Retold", "retold"]

_KILOS = r"(?:kgs?|kilos?|kilograms?)"
_POUNDS = r"(?:lbs?|pounds)"
_STONE = r"stone"
#: By unit: a weight in it.
_WEIGHTS = {
    unit: pattern(rf"\b\d{{2,3}}(?:[.,]\d+)? ?{unit}\b") for unit in (_KILOS, _POUNDS, _STONE)
}
_NOW_WEIGHS = pattern(
    r"^\W*(?:(?:i['’]m|i am)(?: now)? |now )?(?:down|up) to "
    rf"\d{{2,3}}(?:[.,]\d+)? ?(?:{_KILOS}|{_POUNDS}|{_STONE})\b(?=\s*(?:now\b|today\b|[.!,;]|$))"
)
_WEIGHS = pattern(
    r"\b(?:i weigh|my weight(?: is)?:?|i['’]m(?: at)?|i am(?: at)?)(?: about| now)? \d"
)
_DIGITS = r"\+?\d(?:[ ./()-]{0,2}\d){6,14}\b"
_PHONE = r"(?:(?:phone|mobile|cell|telephone) )?number"
_NEW_NUMBER = pattern(
    r"^\W*(?:(?:i['’]ve got|i['’]ve|i have|i got|got|this is|here['’]s|here is) )?(?:a |my )?new "
    rf"{_PHONE}(?: is)?\s*[:=,–-]?\s*{_DIGITS}"
)
_OWN_NUMBER = pattern(rf"\bmy {_PHONE}(?: is)?:?\s*{_DIGITS}")
_WEIGH = frozenset(stems(["weigh", "weight", "kg", "kilos", "lbs", "pounds", "stone"]))
_NUMBER = frozenset(stems(["number"]))


@dataclass(frozen=True, slots=True)
class Retold:
    """That the speaker has another value of a kind.

    Attributes:
        kinds: ("weight",) or ("number",).
        who: "", the speaker.
        words: stems, of which a sentence has one that tells the value before.
        unit: pattern of the unit that both are in; "" for a number.
    """

    kinds: tuple[str, ...]
    who: str
    words: frozenset[str]
    unit: str = ""

    def ends(self, said: str, _: frozenset[str]) -> bool:
        """Whether an earlier sentence tells the value that this one takes the place of."""
        low = said.lower()
        if not self.unit:
            return _OWN_NUMBER.search(low) is not None
        return _WEIGHS.search(low) is not None and _WEIGHTS[self.unit].search(low) is not None


def retold(said: str) -> Retold | None:
    """Return what value of its speaker a sentence tells anew; None where it tells none."""
    low = said.lower()
    if _NEW_NUMBER.match(low):
        return Retold(("number",), "", _NUMBER)
    if not _NOW_WEIGHS.match(low):
        return None
    unit = next(unit for unit, weight in _WEIGHTS.items() if weight.search(low))
    return Retold(("weight",), "", _WEIGH, unit)
