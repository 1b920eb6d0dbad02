"""What a sentence about a car sets, and in which situation: small tables of general words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from demem_agent.text.language.words import content_terms

__all__ = ["Call", "condition_clause", "conditions_of", "decisive", "words_of"]

Kind = Literal["number", "switch", "direction", "word", "free"]

ON = "on"
OFF = "off"

#: Arguments of a call that tell where, not what.
_PLACES = frozenset({"seat", "zone", "side", "window"})
_CALL = re.compile(r"carcontrol_(\w+)\((.*)\)")
_ARGUMENT = re.compile(r"(\w+)=(\"[^\"]*\"|[\w.]+)")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
#: A number that is no time, temperature outside or part of a word.
_NUMBER = re.compile(r"(?<![\w.:-])(\d+(?:\.\d+)?)(?![\w:°]|\.\d|-\w)")
_SWITCHED = re.compile(
    r"\b(?P<on>enabl\w+|activat\w+|turn\w* (?:\w+ )?on|(?:on|true)(?=[.!?']|$)|automatically|"
    r"love seeing|want to see|open\w*|kept on)\b|"
    r"\b(?P<off>disabl\w+|deactivat\w+|turn\w* (?:\w+ ){0,4}off|off(?=[.!?' ]|$)|clos\w+|"
    r"mut\w+|silenc\w+|false|no need|don't need|distracting)\b",
    re.I,
)

#: Words that exclude each other; the last one said holds.
_GROUPS: tuple[tuple[str, ...], ...] = (
    tuple("white blue green red orange purple cyan yellow pink gold".split()),
    ("2d", "3d", "north up", "heading up"),
    ("detailed", "simple", "mute"),
    ("single loop", "sequential", "shuffle", "loop all"),
    ("inside", "outside"),
    ("480p", "720p", "1080p", "4k"),
    tuple("english chinese german french spanish japanese korean".split()),
    ("purify", "defog", "eco", "cool", "heat", "auto"),
    ("highest", "high", "medium", "low", "lowest"),
)
#: Words of a function's name that are no part of the device.
_VERBS = frozenset({"switch", "play", "open"})
_SETTING = frozenset({"set", "enabled"})
_DIRECTIONS = ("face", "feet", "window")
#: Other words for a value, as people say them.
_ALSO = {
    "mute": r"mut\w+|silen\w+|without interruptions",
    "single loop": r"single loop|(?:on )?repeat|over and over|loop(?:ed)?",
    "shuffle": r"shuffl\w+|mix it up",
    "purify": r"purif\w+",
    "defog": r"defog\w*",
    "detailed": r"detail\w*",
    "simple": r"simpl\w+",
    "face": r"face|upper vents",
    "feet": r"feet|foot",
    "window": r"windows?|windshield",
    "inside": r"inside|recirculat\w+|close the intake",
    "north up": r"north up|north (?:is )?(?:always )?(?:at the top|up)",
    "3d": r"3d|three d",
    "2d": r"2d|two d",
}
_UNITS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"

#: A fact of a situation, and the words that tell it.
_CONDITIONS = {
    "night": r"night(?:time)?|dark(?:ness)?|dusk",
    "day": r"day ?time|daylight|during the day|sunny",
    "rain": r"rain\w*|pouring|storm\w*",
    "snow": r"snow\w*|icy|ice",
    "fog": r"fog(?:gy)?",
    "cold": r"cold|freezing|chilly|frost\w*",
    "hot": r"hot|heat ?wave|scorching|sweltering",
    "on a call": r"(?:conference|phone|video) call|(?:on|her|his|a) call",
    "headache": r"headache|migraine",
    "back pain": r"(?:back|injury) (?:hurts|pain)|back is (?:killing|really hurting)|sore|tweaked",
    "tired": r"tired|exhausted|sleepy|drowsy",
    "children": r"kids?|children|baby",
    "highway": r"highway|motorway|freeway",
    "dust": r"dust\w*",
}
_FACTS = {fact: re.compile(rf"\b(?:{words})\b", re.I) for fact, words in _CONDITIONS.items()}
_CLAUSE = re.compile(
    r"\b((?:when(?:ever)?|if|while|during)\b[^.,;:!?]*|"
    r"(?:for|at|in) (?:the )?(?:night|day|daytime|evening|morning|city|highway|rain|snow|winter)"
    r"(?: driving)?\b)",
    re.I,
)


def _spelt() -> dict[str, str]:
    found = {word: str(number) for number, word in enumerate(_UNITS.split())}
    found |= {"fifteen": "15", "sixteen": "16", "seventeen": "17", "eighteen": "18"}
    found["nineteen"] = "19"
    digits = _UNITS.split()[1:10]
    for ten, word in enumerate(_TENS.split(), 2):
        found[word] = str(ten * 10)
        for unit, small in enumerate(digits, 1):
            found[f"{word} {small}"] = str(ten * 10 + unit)
    found["hundred"] = "100"
    return found


_SPELT = _spelt()
_SPELT_OUT = re.compile(rf"\b(?:{'|'.join(sorted(_SPELT, key=len, reverse=True))})\b")


@dataclass(frozen=True, slots=True)
class Call:
    """A call that sets a device of the car to a value."""

    device: str
    value: str
    kind: Kind

    @property
    def free(self) -> bool:
        """Whether its values come from no list, as the name of a place."""
        return self.kind == "free"

    def stated(self, text: str) -> str | None:
        """Return what a text sets the device to: the last value of its kind; None if it has none.

        Off counts as a value of every device.
        """
        plain = _plain(text)
        if self.kind == "free":
            return self.value if _plain(self.value) in plain else None
        if self.kind == "number":
            numbers = _NUMBER.findall(plain)
            return numbers[-1] if numbers else _only_off(plain)
        if self.kind == "direction":
            return _directed(plain)
        if self.kind == "switch":
            return _switched(plain)
        return _last_of(self._group(), plain) or _only_off(plain)

    def mentioned(self, text: str) -> bool:
        """Whether a text has the value anywhere."""
        plain = _plain(text)
        if self.kind == "number":
            return self.value in _NUMBER.findall(plain)
        if self.kind in ("word", "free"):
            return re.search(_pattern(self.value), plain) is not None
        return self.stated(text) == self.value

    def answer(self, asker: str) -> str:
        """Say what the call does, for whom."""
        first, *_ = asker.split()
        if self.value in (ON, OFF):
            return f"Turn the {self.device} {self.value} for {first}."
        return f"Set the {self.device} to {self.value} for {first}."

    def _group(self) -> tuple[str, ...]:
        for group in _GROUPS:
            if self.value in group:
                return group
        return (self.value,)


def decisive(calls: Sequence[str], memories: str) -> Call | None:
    """Return the call whose value tells the memories of a question apart.

    None where a number is in no memory, so that it has to be computed, or where no value is.
    """
    found = _calls(calls)
    for call in found:
        if call.kind == "number" and not _in_one(call, memories):
            return None
    held = [call for call in found if _in_one(call, memories)]
    held.sort(key=lambda call: (call.kind == "free", call.kind == "switch"))
    return held[0] if held else None


def _in_one(call: Call, memories: str) -> bool:
    """Whether one of the memories mentions the value; their dates and times do not count."""
    for line in memories.splitlines():
        _, _, said = line.partition("M, ")
        if call.mentioned(said):
            return True
    return False


def _calls(given: Sequence[str]) -> list[Call]:
    found = []
    for text in given:
        match = _CALL.match(text)
        if not match:
            continue
        for name, value in _ARGUMENT.findall(match[2]):
            if name not in _PLACES:
                found.append(_call(match[1], value.strip('"')))
    return list(dict.fromkeys(found))


def _call(function: str, value: str) -> Call:
    device = _device(function)
    plain = _plain(value)
    if plain in ("true", "false"):
        return Call(device, ON if plain == "true" else OFF, "switch")
    if _NUMBER.fullmatch(plain):
        return Call(device, plain, "number")
    if "direction" in device:
        return Call(device, _directed(plain) or plain, "direction")
    if any(plain in group for group in _GROUPS):
        return Call(device, plain, "word")
    return Call(device, value, "free")


def _device(function: str) -> str:
    """Return the device that a function sets, in words."""
    words = _CAMEL.sub(" ", function).replace("_", " ").split()
    words = [word if word.isupper() else word.lower() for word in words]
    if "navigate" in words:
        return "navigation destination"
    verbs = _SETTING if _SETTING & set(words) else _VERBS
    words = [word for word in words if word not in verbs]
    return " ".join(word for word, _ in groupby(words))


def _plain(text: str) -> str:
    low = text.lower().replace("_", " ").replace("’", "'")
    low = re.sub(r"(?<=[a-z])-(?=[a-z])", " ", low)
    return _SPELT_OUT.sub(lambda match: _number(match, low), low)


def _number(match: re.Match[str], text: str) -> str:
    """Write a spelt number in digits; "one" is mostly no number, as in "this one"."""
    if match[0] == "one" and not re.search(
        r"(?:level|to|at|setting|speed) $", text[: match.start()]
    ):
        return match[0]
    return _SPELT[match[0]]


def _pattern(value: str) -> str:
    plain = _plain(value)
    return rf"\b(?:{_ALSO.get(plain, re.escape(plain))})\b"


def _last_of(group: Sequence[str], plain: str) -> str | None:
    """Return the word of a group that is said last."""
    last: tuple[int, str] | None = None
    for word in group:
        for match in re.finditer(_pattern(word), plain):
            last = max(last or (-1, ""), (match.start(), word))
    return last[1] if last else None


def _directed(plain: str) -> str | None:
    """Return where the air is to blow, by the last sentence that tells it."""
    for sentence in reversed(re.split(r"(?<=[.!?])[\s']+", plain)):
        told = [word for word in _DIRECTIONS if re.search(_pattern(word), sentence)]
        if told:
            return " ".join(told)
    return None


def _switched(plain: str) -> str | None:
    found = None
    for match in _SWITCHED.finditer(plain):
        found = ON if match["on"] else OFF
    return found


def _only_off(plain: str) -> str | None:
    return OFF if _switched(plain) == OFF else None


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text that matter, by stem, numbers in digits."""
    return frozenset(content_terms(_plain(text)))


def conditions_of(text: str) -> tuple[str, ...]:
    """Return the facts of the situation that a text tells."""
    return tuple(fact for fact, words in _FACTS.items() if words.search(text))


def condition_clause(text: str) -> str:
    """Return the clause that says when something holds; empty if there is none."""
    match = _CLAUSE.search(text)
    return match[1].strip().lower().replace("i'm", "I'm").replace(" i ", " I ") if match else ""
