"""What is over: sold, given up, cancelled, stopped; and which earlier sentence said that it was so.

The rules know English, were written by hand and are narrow. What is over is named by words that
the earlier sentence has as well, and that one says that somebody has it, does it or plans it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Literal

from demem_agent.later import dataclass, pattern
from demem_agent.slots.successions.states import not_now, stated
from demem_agent.slots.successions.whose import AFTER_WHO, WHO, same_person, speaks_of, whose
from demem_agent.text.language.words import stems, terms

__all__ = ["Ending", "ended"]

Kind = Literal["thing", "habit", "plan", "intent", "work", "person", "course", "weekly"]

#: What is over, up to where something else is said of it.
_OVER = (
    r" (?P<what>.+?)(?=\s*(?:[,.;:!?()–]|$)"
    r"|\s(?:because|since|so|and|but|last|this|after|when|while|yesterday|today|as|due|until|for"
    r"|now|already|an? (?:week|month|few)"
    r"|on (?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|at (?:the )?(?:school|fair|market|auction)"
    r"|in (?:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|spring|summer|autumn|winter))\b)"
)


def _told(verbs: str, *, to_whom: bool = False) -> re.Pattern[str]:
    """Return how it is told that something is over, which may have been given to somebody."""
    what = _OVER.replace("(?P<what>.+?)", r"(?P<what>.+?)(?: to .+?)?") if to_whom else _OVER
    return pattern(f"{WHO}{AFTER_WHO}(?i:{verbs}){what}")


#: An employer by somebody who writes no capitals; what is no name is left as well.
_LEFT_SMALL = (
    r"left (?P<what>(?!(?:home|work|school|college|uni|university|church|town|early|late|earlier"
    r"|later|already|it|them|him|her|me|us|you|my|our|his|their|the|an?|this|that|there|here|some"
    r"|something|everything|because|before|after|when|with|without|at|for|from|in|on|to|early"
    r"|\w+ly|\w+ing)\b)[a-z][\w'-]+)"
    r"(?= last (?:week|month|year)\b|\s*(?:[.!;]|$))"
)
#: What is to take place and that it is: "the trip to Rome is", "Dinner's"; at the very start it
#: needs no capital.
_EVENT = (
    r"(?P<who>)(?P<what>\b(?:[Tt]he|[Oo]ur|[Mm]y)(?: [\w'-]+?){1,4}?|\b[A-Z][\w-]+|^[a-z]+)"
    r"(?: (?:is|was|are|were|got|has been|have been)|['’]s(?: been)?)(?: now| just)?"
)
_WEEKDAY = r"(?i:mon|tues|wednes|thurs|fri|satur|sun)day"
#: How something is said to be over, and as what it may have been said before.
_ENDS: tuple[tuple[re.Pattern[str], tuple[Kind, ...]], ...] = (
    (
        _told(
            "sold(?: off)?|sell|gave away|given away|got rid of|gotten rid of|rid of"
            "|traded(?: in)?|donated|threw (?:out|away)|pawned|scrapped|rehomed|returned",
            to_whom=True,
        ),
        ("thing",),
    ),
    (
        pattern(
            f"{WHO}{AFTER_WHO}(?i:gave|given|traded|threw) (?P<what>[\\w' -]+?)"
            r" (?:away|in|out)(?=\s*(?:[.,!;]|$))"
        ),
        ("thing",),
    ),
    (
        _told(
            "quit|gave up(?: on)?|given up|dropped out of|stepped down (?:as|from)|deleted"
            r"|uninstalled|stopped(?= \w+ing\b)|unsubscribed from|no longer"
            r"|dropped(?! (?:off|by|in|out|my|the|an?|it|his|her)\b)"
        ),
        ("habit", "thing", "work"),
    ),
    (_told("cancell?ed|called off|call off|cancel"), ("plan", "thing", "habit")),
    (
        pattern(
            f"{WHO}{AFTER_WHO}(?i:called|call|had to call) (?P<what>[\\w' -]+?)"
            r" off(?=\s*(?:[.,!;]|$))"
        ),
        ("plan",),
    ),
    (
        _told(r"(?:withdr(?:awing|ew|awn)|(?:pull|back|bow)(?:ing|ed)? out)(?: from| of)"),
        ("plan", "habit"),
    ),
    (_told("finished|completed|submitted|handed in"), ("course",)),
    (
        pattern(
            f"{WHO}{AFTER_WHO}(?i:switched|changed|upgraded) to (?:the|an?|my) [\\w-]+"
            r" (?P<what>[\w-]+)(?=\s*(?:[.,!;]|$))"
        ),
        ("habit", "thing"),
    ),
    (
        pattern(
            r"\b(?P<who>)(?P<what>[A-Z]\w+|(?:[Mm]y|[Oo]ur) \w+(?: \w+)?)"
            r"(?: (?:just|sadly|has|recently))* (?:died|passed away)\b"
        ),
        ("thing", "habit"),
    ),
    (
        pattern(
            r"\b(?P<who>)(?:[Ii] and )?(?P<what>[A-Z]\w+)(?: and [Ii])?(?: have)?"
            r" (?:broke up|broken up|split up|separated|(?:got|are) divorced)\b"
        ),
        ("person",),
    ),
    (
        _told("broke up with|broken up with|split up with|divorced|separated from"),
        ("person",),
    ),
    (
        pattern(
            f"{WHO}{AFTER_WHO}(?i:switched|changed|migrated|upgraded|transferred|moved)"
            r"(?: \w+){0,2}? from (?P<what>[\w' -]+?) (?:over )?to\b"
        ),
        ("habit", "thing", "work"),
    ),
    (
        pattern(
            f"{WHO}{AFTER_WHO}(?i:swapped|traded|exchanged|replaced)(?: in)?"
            r" (?P<what>[\w' -]+?) (?:for|with) "
        ),
        ("habit", "thing"),
    ),
    (
        pattern(
            f"{WHO}{AFTER_WHO}(?i:left) (?P<what>[A-Z][\\w' -]*?)"
            r"(?= for (?:[A-Z]|an? )| in [A-Z]| last| after|\s*(?:[.!,;]|$))"
        ),
        ("work",),
    ),
    (
        pattern(
            f"{WHO}{AFTER_WHO}(?i:left) (?P<what>the [A-Z][\\w' -]*?)"
            r"(?= for (?:[A-Z]|an? )| last (?:week|month|year|spring|summer|autumn|fall|winter)\b"
            r"|\s*(?:[.!;]|$))"
        ),
        ("work",),
    ),
    (pattern(f"{WHO}{AFTER_WHO}{_LEFT_SMALL}"), ("work",)),
    (
        pattern(
            f"{WHO}(?:['’]m| am| is| are|['’]s)?(?: (?:just|also|really))*(?: not| do not| does not"
            r"| don['’]t| doesn['’]t|isn['’]t| isn['’]t| aren['’]t| can['’]t| cannot)"
            r" (?P<what>[^.!?;,]{2,60}?) any ?(?:more|longer)\b"
        ),
        ("habit", "thing", "work"),
    ),
    (
        pattern(
            rf"{WHO}(?:['’](?:m|re|s|ll)|\s*\b(?:am|are|is|was|were|do|does|did|will|have|has|ca|wo))?"
            r"(?:\s*\b(?i:just|now|actually|really|probably))*"
            r"(?:\s*\b(?i:not|cannot)|n['’]t)\b(?: (?:be|going to|gonna))*"
            r" (?P<what>[^.!?;,]{2,60}?) after all\b"
        ),
        ("intent",),
    ),
    (
        pattern(
            f"{WHO}{AFTER_WHO}(?i:decided|chosen|chose|ended up)(?: in the end)?"
            r" (?:against|not(?: to)?)(?P<what>(?: [\w'’-]+){1,8}?)"
            r"(?=\s*(?:[,.;:!?()–]|$)|\s(?:because|since|so|and|but|after all|as|due)\b)"
        ),
        ("intent",),
    ),
    (
        pattern(
            f"{WHO}{AFTER_WHO}(?i:changed (?:my|our|his|her|their) minds?) about"
            r"(?P<what>(?: [\w'’-]+){1,8}?)(?=\s*(?:[,.;:!?()–]|$))"
        ),
        ("intent",),
    ),
    (
        pattern(rf"{_EVENT}(?:n['’]t| not)? (?:fell through|happening|taking place)\b"),
        ("intent", "plan"),
    ),
    (
        pattern(
            rf"{_EVENT} (?:cancell?ed|called off"
            r"|(?<=is |re |ow |['’]s )off(?=\s*(?:[.,!;]|$)))"
        ),
        ("plan", "thing"),
    ),
    (
        pattern(
            rf"{_EVENT} (?:moved|rescheduled|postponed|pushed|shifted|brought)"
            r"(?: back| forward)? (?:to|until|till)\b"
        ),
        ("plan",),
    ),
    (
        pattern(
            r"^\W*(?P<who>)(?P<what>(?:(?i:the|our|my) )?[A-Za-z][\w'-]+(?: [\w'-]+)?)"
            r"(?: (?:has|have|was|is|got)(?: been)?)?(?: now)? moved to"
            rf" (?:(?:{_WEEKDAY})s\b|(?:{_WEEKDAY}),? from now on\b|every (?:{_WEEKDAY})\b)"
        ),
        ("weekly",),
    ),
    (
        pattern(
            r"^\W*(?P<who>)(?P<what>[A-Z][\w-]+(?: for [A-Z][\w-]+)?)(?: (?:has|was|is))?(?: been)?"
            r" (?:stopped|discontinued)(?: completely| altogether)?"
            r" (?:as of|from|for good|completely|altogether)\b"
        ),
        ("habit", "thing"),
    ),
    (
        pattern(
            r"^\W*(?P<who>(?!))?(?:(?i:today (?:is|was)|it['’]s|it was) )?(?:[Mm]y )?"
            r"(?i:last day at) (?P<what>[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)*)"
            r"(?=(?: today| yesterday)?\s*(?:[.!,;]|$))"
        ),
        ("work",),
    ),
)
#: A post that is over, whatever it was.
_JOBLESS = pattern(
    f"{WHO}{AFTER_WHO}(?i:(?:quit|left|lost|resigned from|gave up)"
    r" (?:my|our|his|her|their|the)(?: [\w-]+)?? (?:job|position|role)(?! as)\b"
    r"|fired\b|laid off\b|made redundant\b|retired(?! the| my)\b|resigned(?! to)\b"
    r"|quit(?=\s*(?:[.!,;]|$)))"
)
#: That something is had, is to come, or somebody is near.
_HAS = pattern(
    rf"{WHO}{AFTER_WHO}(?:have|has|own|owns|drive|drives|ride|rides|use|uses|using|keep|keeps|bought|got|purchased"
    r"|adopted|subscribed?|subscribes|pay|pays)\b"
    r"|\b(?:[Mm]y|[Oo]ur)(?: [\w-]+){1,3} (?:is|are|has|have)\b"
)
_PLANS = pattern(
    r"\b(?:going|gonna|will|plans?|planning|planned|booked|scheduled|subscribed?|subscribes|have"
    r"|subscription|has|tickets?|reserved|reservation|organi[sz]ing|starts?|hosting)\b|['’]ll\b"
    r"|\b(?:is|are) (?:on|at|in|this|next)\b|['’](?:m|re) \w+ing\b"
    r"|\bon (?i:mon|tues|wednes|thurs|fri|satur|sun)day\b"
    r"|\b(?i:mon|tues|wednes|thurs|fri|satur|sun)day at\b"
)
#: That something is meant to be done, or only wished.
_MEANS_TO = pattern(
    r"\b(?:going to|gonna|will|plan(?:s|ned|ning)?|booked|signed up|applied|want(?:s|ed)?"
    r"|hop(?:e|es|ing)|think(?:ing)? (?:of|about)|agreed|decided to|intend(?:s|ed)?|about to"
    r"|would like|tickets?)\b"
    r"|['’](?:ll|d like)\b|(?:['’](?:m|re|s)|\b(?:am|are|is))(?: \w+ly| also| all)? \w+ing\b"
)
_MEANS_NOT = pattern(r"\b(?:not|never)\b|n['’]t\b|\b(?:would have|last|ago|yesterday)\b")
_UNDER_WAY = pattern(
    r"(?:['’](?:m|re|s)|\b(?:am|are|is|been))(?: (?:still|also|currently|now|halfway through))*"
    r" (?:reading|watching|writing|building|knitting|making|painting|working on|learning"
    r"|preparing)\b"
)
_WEEKLY = pattern(rf"\b(?:{_WEEKDAY}s|(?:every|each) {_WEEKDAY})\b")
_NEAR = pattern(
    r"\b(?:dating|engaged|married|girlfriend|boyfriend|partner|wife|husband|together|seeing)\b"
)
#: What a speaker who names nobody does since.
_BEGUN = pattern(r"^\W*(?:just |finally )?(?:joined|signed up|started|subscribed)\b", re.IGNORECASE)
#: What somebody did once, rather than does.
_PAST = pattern(
    r"\b(?:I|[Ww]e|[Hh]e|[Ss]he|[Tt]hey)(?:['’]d| had)? (?:\w+ly |just |also )?"
    r"(?!started|joined|signed|subscribed|need)(?:\w+ed|went|did|made|had|was|were|took|saw|met"
    r"|ate|drank|ran|came|gave|told|said|thought|quit|sold|used to)\b"
)
_WISHED = pattern(
    r"\b(?:want|wants|would|could|might|should|need|maybe|hope|wish|let['’]s|please|thinking|trying"
    r"|stop\w*|quit\w*|cancel\w*|sell\w*)\b",
    re.IGNORECASE,
)

#: Verbs that tell nothing of what it is that is over.
_LIGHT = frozenset(
    stems(
        [
            *("go", "going", "do", "doing", "take", "taking", "have", "having", "play", "playing"),
            *("use", "using", "be", "being", "work", "working", "get", "getting", "make", "making"),
            *("start", "starting"),
        ]
    )
)
#: Words beside those that name it.
_WEAK = frozenset(
    stems(
        [
            *("old", "new", "entire", "whole", "usual", "daily", "own", "stuff", "things", "lot"),
            *("subscription", "membership", "school", "class", "classes", "lesson", "lessons"),
            *("course", "club", "team"),
        ]
    )
)
#: Words for a journey, which may have been told without one: "we fly to Rome".
_JOURNEYS = frozenset(
    stems(["trip", "flight", "holiday", "vacation", "journey", "visit", "tour", "excursion"])
)
_GOES_TO = pattern(
    r"\b(?:go|going|goes|fly|flying|flies|travel|travell?ing|driving|off|sailing|cycling|heading)"
    r" (?:back |over |down |up )?to (?P<to>[A-Z][\w-]+)"
)
#: Share of the words that name what is over that an earlier sentence has at least.
MOST = 0.6


@dataclass(frozen=True, slots=True)
class Ending:
    """That something is over for somebody.

    Attributes:
        kinds: as what it may have been said before.
        who: as :func:`whose` returns it; None where nobody is named.
        words: the stems that name it; none for a post that is not named.
        head: the last of them. names: those that are names, of which one has to be there.
    """

    kinds: tuple[Kind, ...]
    who: str | None
    words: frozenset[str]
    names: frozenset[str]
    head: str = ""

    def ends(self, said: str, held: frozenset[str]) -> bool:
        """Whether an earlier sentence, of stems that it has, says what is over by this."""
        if not self.words:
            return _works(said, self.who)
        if not (self._is_named(held) or self._is_journey_to(said, held)):
            return False
        if not self._may_be_of(said):
            return False
        return any(_SAID[kind](said, self.who) for kind in self.kinds)

    def _is_journey_to(self, said: str, held: frozenset[str]) -> bool:
        """Whether it is a journey that is over, and a sentence tells of where it goes."""
        if not self.names or self.words.isdisjoint(_JOURNEYS):
            return False
        goes = _GOES_TO.search(said)
        if goes is None or self.names.isdisjoint(stems([goes["to"].lower()])):
            return False
        return self.words - _JOURNEYS <= held

    def _is_named(self, held: frozenset[str]) -> bool:
        """Whether enough of the words are there, and no other name in their place."""
        if self.head not in held or (self.names and self.names.isdisjoint(held)):
            return False
        return len(self.words & held) >= math.ceil(MOST * len(self.words))

    def _may_be_of(self, said: str) -> bool:
        if self.who is None:
            return True
        who = speaks_of(said)
        if who is None or who in self.words:
            return self.who == ""
        return same_person(who, self.who)


def ended(said: str) -> Ending | None:
    """Return what a sentence says to be over; None where it says nothing of the kind."""
    if not_now(said):
        return None
    jobless = _JOBLESS.search(said)
    if jobless is not None:
        return Ending(("work",), whose(jobless), frozenset(), frozenset())
    for pattern_, kinds in _ENDS:
        found = pattern_.search(said)
        if found is not None:
            return _named(found, kinds)
    return None


def _named(found: re.Match[str], kinds: tuple[Kind, ...]) -> Ending | None:
    what = found["what"]
    said = [word for word in terms(what) if word not in _LIGHT]
    told = [word for word in said if word not in _WEAK] or said
    words = frozenset(told)
    capitals = [word.lower() for word in _CAPITAL.findall(what)]
    names = frozenset(stems(capitals)) & words
    who = None if found["who"] == "" else whose(found)
    return Ending(kinds, who, words, names, told[-1]) if told else None


_CAPITAL = pattern(r"\b[A-Z][\w-]*")


def _works(said: str, who: str | None) -> bool:
    state = stated(said, "work")
    return state is not None and who is not None and same_person(state.who, who)


def _is_had(said: str, _: str | None) -> bool:
    return _HAS.search(said) is not None and not _WISHED.search(said)


def _is_done(said: str, _: str | None) -> bool:
    """Whether it is of what somebody does rather than did or would do."""
    is_of_somebody = speaks_of(said) is not None or _BEGUN.search(said) is not None
    return is_of_somebody and not (_PAST.search(said) or _WISHED.search(said))


def _is_planned(said: str, _: str | None) -> bool:
    return _PLANS.search(said) is not None and not _WISHED.search(said)


def _is_meant(said: str, _: str | None) -> bool:
    """Whether it is of what somebody means to do."""
    return _MEANS_TO.search(said) is not None and not _MEANS_NOT.search(said)


def _is_under_way(said: str, _: str | None) -> bool:
    return _UNDER_WAY.search(said) is not None and not _WISHED.search(said)


def _is_weekly(said: str, _: str | None) -> bool:
    return _WEEKLY.search(said) is not None and not _WISHED.search(said)


def _is_near(said: str, _: str | None) -> bool:
    return _NEAR.search(said) is not None


_SAID: Mapping[Kind, Callable[[str, str | None], bool]] = {
    "thing": _is_had,
    "habit": _is_done,
    "plan": _is_planned,
    "intent": _is_meant,
    "work": _works,
    "person": _is_near,
    "course": _is_under_way,
    "weekly": _is_weekly,
}
