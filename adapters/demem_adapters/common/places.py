"""Where in the conversations of a memory a call stands.

One user may have several conversations at once, which go on in turn and in which the same may be
said ("yes"). What is shown before a message, or the provider's own id of what it keeps, tells after
which item it was said; what was said after others is another conversation, or an earlier part of
this one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from demem_adapters.common.asking import ASSISTANT, is_person
from demem_adapters.common.digests import digest
from demem_adapters.common.links import after_of, answered_by
from demem_adapters.common.said import kept_as
from demem_adapters.common.texts import Spoken
from demem_agent import Evidence

__all__ = ["Standing", "Words", "standing_of"]

#: Messages of a conversation that are compared at most.
_MOST_SHOWN = 60

#: What somebody said, with their name.
Words = tuple[str, str]
#: Whether it is the user's, and the text: as conversations show it.
_Shown = tuple[bool, str]


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a call stands.

    Attributes:
        after: the id of what was said before it, as :data:`~demem_adapters.common.links.AFTER`
            keeps it.
        since: what was said there and the answers to it, oldest first.
        is_shown: whether what stands before it is known: then ``since`` goes on from there.
    """

    after: str
    since: list[Evidence]
    is_shown: bool


def standing_of(
    items: Sequence[Evidence],
    before: Sequence[Spoken],
    said: Sequence[Words],
    *,
    holding: Collection[str],
    kept: str = "",
) -> Standing:
    """Return where a call stands.

    Args:
        items: what is remembered of the session, oldest first; also answers that were made anew
            since, which an application may show again.
        before: what the application shows of the conversation before what the user says.
        said: what the user says, as it is kept.
        holding: the ids of those that are no answers made anew since.
        kept: by which the provider knows what it keeps of the conversation before; "" for nothing.
    """
    after, begin, is_shown = _after(items, before, said, kept)
    since = [item for item in _since(items, after, begin) if item.id in holding]
    return Standing(after, since, is_shown)


def _after(
    items: Sequence[Evidence], before: Sequence[Spoken], said: Sequence[Words], kept: str
) -> tuple[str, int, bool]:
    """Return after what something is said, the number of the first item that may have been said
    there too, and whether what stands before it is known.
    """
    if kept:
        return f"kept:{digest(kept)}", 0, True
    talks = _Talks(items)
    shown = talks.known_of(before)
    if shown:
        number = talks.place_of(shown, said)
        return items[number].id, number + 1, True
    beginning = f"shown:{digest([kept_as(one.text) for one in before])}" if before else ""
    after = talks.begun_after(said, beginning)
    return after, 0, bool(before) and after == beginning


def _since(items: Sequence[Evidence], after: str, begin: int) -> list[Evidence]:
    """Return what was said after a message, and the answers to it.

    What has no links was remembered by other means, and may be of any conversation.
    """
    found: list[Evidence] = []
    ids: set[str | None] = {None}
    for item in items[begin:]:
        if is_person(item.speaker):
            if after_of(item) in (after, None):
                found.append(item)
                ids.add(item.id)
        elif answered_by(item) in ids:
            found.append(item)
    return found


class _Talks:
    """The conversations of a session."""

    def __init__(self, items: Sequence[Evidence]) -> None:
        self.items = items
        self.shown_as: list[_Shown] = [(is_person(item.speaker), item.text) for item in items]
        self.numbers = {item.id: number for number, item in enumerate(items)}
        #: The messages that users said after one, by its id.
        self.after: defaultdict[str, list[int]] = defaultdict(list)
        for number, item in enumerate(items):
            link = after_of(item)
            if link is not None:
                self.after[link].append(number)

    def known_of(self, before: Sequence[Spoken]) -> list[_Shown]:
        """Return of the last messages that are shown those that are remembered.

        An answer that was cut off is not.
        """
        remembered = frozenset(self.shown_as)
        pairs = [(one.by_user, kept_as(one.text)) for one in before[-_MOST_SHOWN:]]
        return [pair for pair in pairs if pair in remembered]

    def place_of(self, shown: Sequence[_Shown], said: Sequence[Words]) -> int:
        """Return the number of the last message that is shown.

        Of several that say the same, it is the one with the most of what is shown before it; then
        the one after which the most of this was said, without the last, which may be new; then the
        last.
        """
        numbers = [n for n, pair in enumerate(self.shown_as) if pair == shown[-1]]
        if len(numbers) == 1:
            return numbers[0]
        return max(numbers, key=lambda n: (self._alike(n, shown), self._said_after(n, said), n))

    def begun_after(self, said: Sequence[Words], beginning: str) -> str:
        """Return after which message this was said, where nothing tells that is shown before it.

        An application that shows the last messages alone may show none but the user's: then some of
        these are remembered. That the last is may be chance.
        """
        earlier = frozenset(said[:-1])
        if not earlier:
            last = self._waiting()
            again = last is not None and (last.speaker, last.text) == said[0]
            return (after_of(last) if again and last is not None else None) or beginning
        found, most = beginning, self._known_among(beginning, earlier)
        for link, numbers in sorted(self.after.items(), key=lambda one: -one[1][-1]):
            known = self._known_among(link, earlier) if numbers else 0
            if known > most:
                found, most = link, known
        return found

    def _waiting(self) -> Evidence | None:
        """Return what was said last of all, if no answer has come to it."""
        last = self.items[-1] if self.items else None
        return None if last is None or last.speaker == ASSISTANT else last

    def _known_among(self, link: str, words: frozenset[Words]) -> int:
        said: set[Words] = set()
        for number in self.after.get(link, ()):
            item = self.items[number]
            said.add((item.speaker or "", item.text))
        return len(said & words)

    def _said_after(self, number: int, said: Sequence[Words]) -> int:
        return self._known_among(self.items[number].id, frozenset(said[:-1]))

    def _alike(self, number: int, shown: Sequence[_Shown]) -> int:
        """Return how many messages up to one are the same as those that are shown."""
        count = 1
        for pair in reversed(shown[:-1]):
            before = next((n for n in self._before(number) if self.shown_as[n] == pair), None)
            if before is None:
                break
            number = before
            count += 1
        return count

    def _before(self, number: int) -> Iterator[int]:
        """Yield which messages may stand before one in its conversation, the likeliest first."""
        item = self.items[number]
        link = after_of(item) if is_person(item.speaker) else answered_by(item)
        if is_person(item.speaker) and link is not None:
            yield from (n for n in reversed(self.after[link]) if n < number)
        if link in self.numbers:
            yield self.numbers[link]
        elif link is None and number:
            yield number - 1
