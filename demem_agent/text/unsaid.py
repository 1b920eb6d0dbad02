"""What a question leaves unsaid since it has just been said: "when was that?", "the second one".

In a conversation a question may be about what the last turns were about and name nothing of it. By
itself it finds nothing; with the words of those turns beside it, it does. A question that names
what it is about stays as it is. Small talk in between ("so hungry", "Me too!") is passed over: a
question goes on from what was told before it. English alone is understood.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from demem_agent.later import pattern
from demem_agent.text.language.words import stems, words
from demem_agent.text.sameness import tells_nothing, wording

__all__ = ["in_context", "parted"]

#: Words carried over from one turn, and turns that they are carried over from; turns that are
#: looked at for these, and for what is named side by side.
MOST_WORDS = 12
MOST_TOLD = 2
MOST_LOOKED_AT = 12
MOST_TURNS = 4
#: Words after which nothing more is carried over.
ENOUGH = 4

#: What points back where it ends a clause or stands after a verb or a preposition: "was that",
#: "about it", "did they"; and whose it is: "his".
_POINTS = pattern(
    r"\b(?:about|after|at|before|by|did|do|does|for|from|had|has|have|in|is|are|was|were|will|can"
    r"|could|should|would|like|of|on|to|with|and|but|without)"
    r" (?:that|this|it|those|these|them|they|him|her|he|she|there|one|ones|both|either)\b"
    r"|\b(?:that|it|there|then|one|ones|them|him|her|those|these|this|so|both|same|else)[?.! ]*$"
    r"|^(?:that|it|they|he|she|those|these|this)\b"
    r"|\bof (?:the (?:two|three)|them|these|those)\b"
    r"|\b(?:his|hers|their|its|theirs)\b",
    re.IGNORECASE,
)
#: A question that goes on from another.
_GOES_ON = pattern(
    r"^(?:and|or|but|also|what about|how about|yes|yeah|no|ok|okay)\b", re.IGNORECASE
)
#: Words that tell nothing of what a question is about.
_EMPTY = frozenset(
    """one ones thing things yes yeah ok okay first second third last former latter other long much
    many far often old time times exactly again really mean happen happened happens else please
    tell ask say said sure thank thanks""".split()
)
#: Words of small talk: how one is, food and drink at hand, the weather and the hour, what
#: interrupts, the talk itself, and what is said of any of these.
_SMALL_TALK = frozenset(
    stems(
        [
            *"""hungry starving
        thirsty tired sleepy exhausted knackered yawning yawn bored fine cold hot
        warm freezing ill sick headache food snack lunch dinner breakfast coffee tea cup drink water
        beer pizza weather rain raining rainy sun sunny snow snowing wind windy cloudy sky sunset
        sunrise outside late early hour today tonight tomorrow morning afternoon evening night day
        week weekend monday tuesday wednesday thursday friday saturday sunday bed sleep nap rest
        break bathroom shower phone ring rang door doorbell bell wifi internet connection laptop
        battery keyboard screen charger loud noise noisy neighbours music song radio tv cat dog chat
        talk talking question moment sec second minute bit hang hold wait back brb time happy merry
        cute funny hilarious nice lovely beautiful gorgeous pretty wow gosh ugh god
        haha hehe lol omg anyway sorry thanks welcome worries classic good great cool awesome love
        hate like feel feeling feels look looks sound sounds smell smells going get getting got go
        went come want need make made take put let see seen hear stop never always always least jump
        jumped lie deserve help everything something nothing someone somebody people guy guys dude
        mate right left hope guess think know believe remind imagine slow fast big little whole
        totally pretty quite mine yours likewise same ready busy free luck congrats enjoy cheers bye
        hello hi hey morning yes yeah yep no nope sure ok okay""".split()
        ]
    )
)
#: Words of a turn of small talk beside these, and its characters, at most.
_MOST_OTHERS = 1
_MOST_CHARACTERS = 70
_TOLD = pattern(r"\d|(?<=[a-z,;] )[A-Z](?!['’]|\b)[\w'’-]+")
_NAME = pattern(r"(?<=\w )(?:[A-Z][\w'’-]+)")
_CHOICE = pattern(
    r"\bthe (first|1st|second|2nd|third|3rd|fourth|4th|fifth|5th|last|former|latter)\b"
    r"(?: (?:ones?|options?|of (?:them|these|those)|choices?|suggestions?)\b"
    r"|(?: place)?[?.!, ]*(?:$|please|sounds|is))",
    re.IGNORECASE,
)
_PLACES = {
    "first": 0,
    "1st": 0,
    "former": 0,
    "second": 1,
    "2nd": 1,
    "latter": 1,
    "third": 2,
    "3rd": 2,
    "fourth": 3,
    "4th": 3,
    "fifth": 4,
    "5th": 4,
    "last": -1,
}
_LISTED = pattern(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+(.+)$", re.MULTILINE)
_IN_A_ROW = pattern(r"(?:^|[,;]|\bor\b|\band\b)\s*")
#: Something else, of somebody who was named before: "and her dog?".
_WHOSE = pattern(
    r"^(and|but|what about|how about) (?:his|her|its|their|my|your|our) (?=\w)", re.IGNORECASE
)
_ABOUT = pattern(r"(.*) \[about: ([^\[\]]*)\]", re.DOTALL)
_BRACKETS = pattern(r"[\[\]]")
_SENTENCE = pattern(r"[^.!?\n]+")


def in_context(query: str, turns: Sequence[str]) -> str:
    """Return a query with what it leaves unsaid, from the turns before it: "[about: ...]".

    Args:
        turns: what was said last, in order, by anybody.
    """
    turns = _until_asked(query, turns)
    if not turns or not _is_incomplete(query):
        return query
    carried = _chosen(query, turns) or _carried(query, turns)
    return f"{query} [about: {_BRACKETS.sub('', carried)}]" if carried else query


def parted(query: str) -> tuple[str, str]:
    """Return what a query asks and the words of the conversation that it was only asked after.

    These are none ("") where a query says what it is about by them alone ("when was that?"): it is
    whole with them.
    """
    found = _ABOUT.fullmatch(query)
    if found is None or _leaves_open(_WHOSE.sub(r"\1 ", found[1])):
        return query, ""
    return found[1], found[2]


def _until_asked(query: str, turns: Sequence[str]) -> Sequence[str]:
    """Leave out the last turns where they ask the same and answer it.

    Asked again at once a question means what it meant before; "and then?" goes on.
    """
    if _GOES_ON.match(query):
        return turns
    end = len(turns)
    while True:
        if end and _same(turns[end - 1], query):
            end -= 1
        elif end > 1 and _same(turns[end - 2], query):
            end -= 2
        else:
            return turns[:end] if end else turns


def _same(one: str, other: str) -> bool:
    return one.strip().casefold() == other.strip().casefold()


def _is_incomplete(query: str) -> bool:
    """Whether a query speaks of what it does not name, or may do."""
    return _GOES_ON.match(query) is not None or _leaves_open(query)


def _leaves_open(query: str) -> bool:
    """Whether a query names nothing, chooses one of several things or points back at one."""
    own = [word for word in words(query) if word not in _EMPTY]
    if not own or _CHOICE.search(query):
        return True
    return _POINTS.search(query) is not None and not _NAME.search(query)


def _chosen(query: str, turns: Sequence[str]) -> str:
    """Return the one of several things, named in a turn, that a query chooses by its place."""
    choice = _CHOICE.search(query)
    if choice is None:
        return ""
    place = _PLACES[choice[1].lower()]
    for turn in islice(reversed(turns), MOST_TURNS):
        named = _alternatives(turn)
        if len(named) > max(place, 1):
            return " ".join(named[place].split())
    return ""


def _alternatives(turn: str) -> list[str]:
    """Return what a turn names side by side: the entries of a list, or "this, that or those"."""
    listed = _LISTED.findall(turn)
    if len(listed) > 1:
        return [str(one) for one in listed]
    for sentence in _SENTENCE.findall(turn):
        if " or " in sentence:
            parts = _IN_A_ROW.split(sentence)
            return [part.strip() for part in parts if part.strip()]
    return []


def _carried(query: str, turns: Sequence[str]) -> str:
    """Return the words of the last turns that a query does not have, the latest turn's first."""
    found: dict[str, None] = {}
    for turn in islice(_told_last(turns), MOST_TOLD):
        found.update(dict.fromkeys(islice(_telling(turn), MOST_WORDS)))
        if len(found) >= ENOUGH:
            break
    own = set(words(query))
    return " ".join(word for word in found if word not in own)


def _told_last(turns: Sequence[str]) -> Iterator[str]:
    """Yield turns, the last first, without small talk; all of them where there is nothing else."""
    last = list(islice(reversed(turns), MOST_LOOKED_AT))
    told = [turn for turn in last if not _is_small_talk(turn)]
    yield from told or last


def _is_small_talk(turn: str) -> bool:
    """Whether a turn is of the moment alone: short, of such words, with no number and no name."""
    if len(turn) > _MOST_CHARACTERS or _TOLD.search(turn):
        return False
    if tells_nothing(wording(turn)):
        return True
    others = [stem for stem in stems(words(turn)) if stem not in _SMALL_TALK]
    return len(others) <= _MOST_OTHERS and 2 * len(others) < len(words(turn))


def _telling(turn: str) -> Iterator[str]:
    """Yield the words of a turn that tell something."""
    return (word for word in words(turn) if word not in _EMPTY)
