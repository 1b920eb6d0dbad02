"""Which of what LlamaIndex hands over is remembered already.

Its messages have no ids, and a session may be handed over as often as one likes, in part and whole,
by several processes; another conversation may have the same session, and the same may be said in it
again. So a message is known by its mark: a digest of all that was said up to it in its
conversation. The mark is kept beside it, to go on from where another process has left off.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from demem_adapters.common import digest
from demem_adapters.common.links import LEFT, UP_TO
from demem_agent import Evidence

__all__ = ["Session", "Words"]

#: Who says something, and what.
Words = tuple[str, str]
#: How many messages in a row are not the same as others by chance.
_NO_CHANCE = 2
#: Of how many messages that have left a history the marks are held.
_MOST_LEFT = 400


@dataclass(slots=True)
class Session:
    """A session as it was handed over in this process.

    Attributes:
        name: LlamaIndex's id of it.
        start: the mark of what was said before what has left its history, "" where that is all.
        left: marks of what has left it since, the oldest first.
        is_over: whether it was handed over as a whole since.
    """

    name: str | None
    start: str = ""
    left: list[str] = field(default_factory=list)
    is_over: bool = False

    def marks_of_left(self, items: Sequence[Evidence], said: Sequence[Words]) -> list[str]:
        """Return the mark of each message that leaves the history.

        Args:
            items: what is remembered of the session, oldest first.
        """
        now = self.left[-1] if self.left else None
        if now is None:
            self.start = now = self._start_of_left(items, said)
        elif self.is_over and not self._knows(items, said, now):
            self.start = now = ""  # what was handed over leaves it first: it is another history
            self.left.clear()
            self.is_over = False
        marks = self._marked(now, said)
        self.left += marks
        del self.left[:-_MOST_LEFT]
        return marks

    def marks_of_whole(self, items: Sequence[Evidence], said: Sequence[Words]) -> list[str]:
        """Return the mark of each message of a session that is handed over from its beginning.

        What has left the history may have been taken for the end of a conversation before it.

        Args:
            items: as in :meth:`marks_of_left`.
        """
        known = set(_marks_of(items))
        most: list[str] = []
        most_known = -1
        for start in ("", *self._beginnings(said)):
            marks = self._marked(start, said)
            count = len(known.intersection(marks))
            if count > most_known:
                most, most_known = marks, count
        self.is_over = True
        return most

    def _beginnings(self, said: Sequence[Words]) -> Iterator[str]:
        """Yield after which marks all that has left the history since is what this begins with."""
        befores = [self.start, *self.left]
        for place, before in enumerate(befores[: len(self.left)]):
            rest = self.left[place:]
            if place and len(rest) < _NO_CHANCE:
                return
            if self._marked(before, said[: len(rest)]) == rest:
                yield before

    def _start_of_left(self, items: Sequence[Evidence], said: Sequence[Words]) -> str:
        """Return after what was said what leaves the history as the first in this process.

        A history is left in its order: after what had left it before, or else from its beginning;
        where it was handed over as well, somewhere behind that.
        """
        gone = [place for place, item in enumerate(items) if item.metadata.get(LEFT)]
        behind = items[gone[-1] :] if gone else items
        starts = _marks_of(behind)
        if not gone:
            starts = ["", *starts]
        if len(said) < _NO_CHANCE:
            starts = starts[:1]
        for start in starts:
            if self._knows(items, said, start):
                return start
        marks = _marks_of(items)
        return marks[-1] if marks else ""

    def _knows(self, items: Sequence[Evidence], said: Sequence[Words], start: str) -> bool:
        """Whether messages were handed over before, or as far as anything was."""
        marks = _marks_of(items)
        known = set(marks)
        for mark in self._marked(start, said):
            if mark not in known:
                return marks[-1:] == [start]
            start = mark
        return True

    def _marked(self, start: str, said: Sequence[Words]) -> list[str]:
        """Return the mark of each message; ``start`` is that of what was said before."""
        marks: list[str] = []
        for words in said:
            start = digest(start, self.name, *words)
            marks.append(start)
        return marks


def _marks_of(items: Sequence[Evidence]) -> list[str]:
    marks: list[str] = []
    for item in items:
        mark = item.metadata.get(UP_TO)
        if isinstance(mark, str):
            marks.append(mark)
    return marks
