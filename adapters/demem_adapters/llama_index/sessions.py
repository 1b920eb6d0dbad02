"""Which of what LlamaIndex hands over is remembered already.

Its messages have no ids, and a session may be handed over as often as one likes, in part and whole,
by several processes; another conversation may have the same session, and the same may be said in it
again. So a message is known by its mark: a digest of all that was said up to it in its
conversation. The mark is kept beside it, to go on from where another process has left off.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from demem_adapters.common import ASSISTANT, digest
from demem_adapters.common.links import BEGINS, LEFT, UP_TO
from demem_agent import Evidence

__all__ = ["Session", "Words"]

#: Who says something, and what.
Words = tuple[str, str]
#: How many messages in a row are not the same as others by chance.
_NO_CHANCE = 2
#: How many histories of a session may go on in turn.
_OTHERS = 8


@dataclass(slots=True)
class Session:
    """A session as it was handed over in this process.

    Attributes:
        name: LlamaIndex's id of it.
        start: the mark of what was said before its history begins, "" for nothing, None where that
            is not known yet.
        now: the same of the history as it is now.
        has_moved: whether anything has left it since it was shown.
        is_over: whether it was handed over as a whole since.
        last: the mark of what was shown last of it.
        begun: by the mark of its first message, the mark before a conversation that begins as
            another one does.
        others: the marks before other histories that were shown, the latest last.
    """

    name: str | None
    start: str | None = None
    now: str | None = None
    has_moved: bool = False
    is_over: bool = False
    last: str = ""
    begun: dict[str, str] = field(default_factory=dict)
    others: list[str] = field(default_factory=list)

    def marks_of_shown(self, items: Sequence[Evidence], said: Sequence[Words]) -> list[str]:
        """Return the mark of each message of the history as it is now.

        Args:
            items: what is remembered of the session, oldest first.
        """
        now = self.now
        if now is None:
            now = self._start_of_shown(items, said)
        elif not self.has_moved or self._is_other(items, said, now):
            now = self._start_of_known(items, said)
        if self._is_begun_anew(items, said, now):
            now = _marks_of(items)[-1]
            self.begun[self._marked(now, said[:1])[0]] = now
        if now != self.now:
            self._begin(now)
        self.has_moved = False
        marks = self._marked(now, said)
        self.last = marks[-1]
        return marks

    def marks_of_left(self, items: Sequence[Evidence], said: Sequence[Words]) -> list[str]:
        """Return the mark of each message that leaves the history."""
        now = self.now
        if now is None:
            now = self._start_of_left(items, said)
            self._begin(now)
        elif self.is_over and not self._knows_any(items, said, now):
            now = ""  # what was handed over leaves it first: it is another history
            self._begin(now)
        marks = self._marked(now, said)
        self.now = marks[-1]
        self.has_moved = True
        return marks

    def marks_of_whole(self, items: Sequence[Evidence], said: Sequence[Words]) -> list[str]:
        """Return the mark of each message of a session that is handed over from its beginning.

        It may have been taken for the end of a conversation before it. That is looked for only
        where no conversation that is known to begin so accounts for it: a short exchange may well
        have been said before, amid another one.
        """
        self.is_over = True
        marks = _marks_of(items)
        known = set(marks)
        begun = _begun_in(items)

        def worth(start: str) -> tuple[bool, int, bool]:
            count = len(known.intersection(self._marked(start, said)))
            # Of two that begin alike, and are known as far, it is the latest.
            return self._accounts_for(items, said, start), count, start in begun[:1]

        own = [self.start] if self.has_moved else [self.start, self.now]
        begin_so = self._beginning_so([*filter(None, own), *begun], said, known)
        most = max(["", *begin_so], key=worth)
        is_accounted_for, most_known, _ = worth(most)
        if not is_accounted_for:
            no_chance = max(min(_NO_CHANCE, len(said)), len(said) / 2)
            for start in self._beginning_so(marks, said, known):
                count = len(known.intersection(self._marked(start, said)))
                if count >= no_chance and count > most_known:
                    most, most_known = start, count
        return self._marked(most, said)

    def _beginning_so(
        self, starts: Sequence[str], said: Sequence[Words], known: Collection[str]
    ) -> list[str]:
        """Return after which of these marks the first message is known."""
        return [start for start in starts if self._marked(start, said[:1])[0] in known]

    def _begin(self, start: str) -> None:
        if self.now is not None:
            self.others = [*(one for one in self.others if one != self.now), self.now][-_OTHERS:]
        self.start = self.now = start
        self.is_over = False

    def _start_of_shown(self, items: Sequence[Evidence], said: Sequence[Words]) -> str:
        """Return after what was said what a history shows that another process may have kept.

        It holds what was said last of all, then. Else it is another history, unless its beginning
        has left it.
        """
        marks = ["", *_marks_of(items)]
        for start in ("", *marks[-1 - len(said) :]):
            if marks[-1] in self._marked(start, said):
                return start
        return marks[-1] if said[0][0] == ASSISTANT else ""

    def _start_of_known(self, items: Sequence[Evidence], said: Sequence[Words]) -> str:
        """Return after what was said the history is that goes on; else that of which most is known,
        "" for another one.
        """
        now = self.now or ""
        made = self._marked(now, said)
        if self.last in made and _is_one_turn(said[made.index(self.last) + 1 :]):
            return now
        known = set(_marks_of(items))
        most, most_known = "", 0
        for start in (*reversed(self.others), now):
            count = len(known.intersection(self._marked(start, said)))
            if count > most_known:
                most, most_known = start, count
        return most

    def _is_other(self, items: Sequence[Evidence], said: Sequence[Words], now: str) -> bool:
        """Whether nothing is shown of what was remembered after what has left the history."""
        return _marks_of(items)[-1:] != [now] and not self._knows_any(items, said, now)

    def _is_begun_anew(self, items: Sequence[Evidence], said: Sequence[Words], start: str) -> bool:
        """Whether it is another history that begins with the same words.

        Of a history that goes on, or whose last answer is made anew, more than the beginning would
        be shown once the user has said more.
        """
        if any(speaker == ASSISTANT for speaker, _ in said):
            return False
        made = self._marked(start, said)
        marks = [item.metadata.get(UP_TO) for item in items]
        known = [mark for mark in made if mark in marks]
        behind = items[marks.index(known[-1]) + 1 :] if known else ()
        return any(item.speaker != ASSISTANT for item in behind)

    def _start_of_left(self, items: Sequence[Evidence], said: Sequence[Words]) -> str:
        """Return after what was said what leaves a history that another process may have kept.

        It is left in its order: after what had left it before, or else from its beginning; where it
        is known already, somewhere behind that.
        """
        gone = [place for place, item in enumerate(items) if item.metadata.get(LEFT)]
        since = items[gone[-1] :] if gone else items
        begun, behind = _begun_in(since), _marks_of(since)
        for start in [*begun, *behind, ""] if gone else [*begun, "", *behind]:
            if self._knows(items, said, start):
                return start
        marks = _marks_of(items)
        return marks[-1] if marks else ""

    def _knows(self, items: Sequence[Evidence], said: Sequence[Words], start: str) -> bool:
        """Whether messages are known, all of them or as far as anything was said after them."""
        marks = _marks_of(items)
        known = set(marks)
        made = self._marked(start, said)
        first_new = next((place for place, mark in enumerate(made) if mark not in known), None)
        return first_new is None or (first_new > 0 and made[first_new - 1] == marks[-1])

    def _accounts_for(self, items: Sequence[Evidence], said: Sequence[Words], start: str) -> bool:
        """Whether messages are known as far as anything was said after them, and are all that was:
        a conversation that has gone on after them would be handed over with that.
        """
        return self._knows(items, said, start) and not self._has_gone_on(
            items, self._marked(start, said)[-1]
        )

    def _has_gone_on(self, items: Sequence[Evidence], mark: str) -> bool:
        """Whether anything of its conversation was said right after what has this mark."""
        return any(
            item.metadata.get(UP_TO) == digest(mark, self.name, item.speaker, item.text)
            for item in items
            if BEGINS not in item.metadata
        )

    def _knows_any(self, items: Sequence[Evidence], said: Sequence[Words], start: str) -> bool:
        return not set(_marks_of(items)).isdisjoint(self._marked(start, said))

    def _marked(self, start: str, said: Sequence[Words]) -> list[str]:
        """Return the mark of each message; ``start`` is that of what was said before."""
        marks: list[str] = []
        for words in said:
            start = digest(start, self.name, *words)
            marks.append(start)
        return marks


def _begun_in(items: Sequence[Evidence]) -> list[str]:
    """Return the marks before conversations that begin as others do, the latest first."""
    found: list[str] = []
    for item in reversed(items):
        start = item.metadata.get(BEGINS)
        if isinstance(start, str):
            found.append(start)
    return found


def _is_one_turn(said: Sequence[Words]) -> bool:
    """Whether no more than one answer was given in what was said, in one piece or several."""
    sides = [speaker == ASSISTANT for speaker, _ in groupby(said, key=lambda one: one[0])]
    return sum(sides) <= 1


def _marks_of(items: Sequence[Evidence]) -> list[str]:
    marks: list[str] = []
    for item in items:
        mark = item.metadata.get(UP_TO)
        if isinstance(mark, str):
            marks.append(mark)
    return marks
