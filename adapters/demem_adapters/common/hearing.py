"""Which of what a user says now is remembered already: a call that failed is often made again, and
most applications show a conversation from its beginning in each call.

What is remembered is compared with what is shown. Where the application shows what was said before,
that says where in the memory the user's new messages begin; where it shows nothing, only what no
answer has come to yet can be the same again.
"""

from __future__ import annotations

from collections.abc import Sequence

from demem_adapters.common.asking import ASSISTANT, is_person
from demem_adapters.common.said import kept_as
from demem_adapters.common.texts import Spoken
from demem_agent import Evidence

__all__ = ["of_session", "remembered_of"]

#: How many items of a session, and messages of a conversation, are compared at most.
_MOST_ITEMS = 400
_MOST_SHOWN = 60

#: Messages of the user's in a row: what is remembered between two answers.
Run = list[Evidence]


def of_session(items: Sequence[Evidence], session: str | None) -> list[Evidence]:
    """Return what a user and the assistant said last in a session, oldest first."""
    found: list[Evidence] = []
    for item in reversed(items):
        if item.session == session and item.speaker is not None:
            found.append(item)
            if len(found) == _MOST_ITEMS:
                break
    found.reverse()
    return found


def remembered_of(
    items: Sequence[Evidence], before: Sequence[Spoken], said: Sequence[str], speaker: str
) -> list[str | None]:
    """Return by which id each of the user's new messages is remembered; None for those that are
    not.

    Args:
        items: what is remembered of the session, oldest first.
        before: what the application shows of the conversation before them.
        said: the messages, as they are kept.
        speaker: who says them.
    """
    place = _place_of(items, before)
    if place is None:
        return _known_of(_of_speaker(_runs(items)[-1], speaker), said, answered=False)
    runs = _runs(items[place + 1 :])
    # What stands behind other answers is of other conversations, or of what came of another
    # wording; but what no answer has come to may be of this one.
    known = _known_of(_of_speaker(runs[-1], speaker), said, answered=False)
    if len(runs) > 1 and not any(known):
        known = _known_of(_of_speaker(runs[0], speaker), said, answered=True)
    return known


def _place_of(items: Sequence[Evidence], before: Sequence[Spoken]) -> int | None:
    """Return where in the memory the last message is that is shown and remembered; None for none.

    Of several that say the same, it is the one with the most of what is shown before it; then the
    last.
    """
    held = [(is_person(item.speaker), item.text) for item in items]
    known = frozenset(held)
    shown: list[tuple[bool, str]] = []
    for one in before[-_MOST_SHOWN:]:
        pair = (one.by_user, kept_as(one.text))
        if pair in known:  # an answer that was cut off is not
            shown.append(pair)
    if not shown:
        return None
    places = [n for n, pair in enumerate(held) if pair == shown[-1]]
    return max(places, key=lambda place: (_alike(held[: place + 1], shown), place))


def _alike(held: Sequence[tuple[bool, str]], shown: Sequence[tuple[bool, str]]) -> int:
    """Return how many messages are the same in both, from their ends."""
    count = 0
    for one, other in zip(reversed(held), reversed(shown), strict=False):
        if one != other:
            break
        count += 1
    return count


def _is_answer(item: Evidence) -> bool:
    return item.speaker == ASSISTANT


def _runs(items: Sequence[Evidence]) -> list[Run]:
    """Return what users said before each answer, and last what no answer has come to yet."""
    runs: list[Run] = [[]]
    for item in items:
        if not _is_answer(item):
            runs[-1].append(item)
        else:
            runs.append([])
    return runs


def _of_speaker(run: Run, speaker: str) -> Run:
    return [item for item in run if item.speaker == speaker]


def _known_of(run: Run, said: Sequence[str], *, answered: bool) -> list[str | None]:
    """Return by which id each message is remembered, where both begin at the same point or the run
    ends with their beginning.

    One message alone that is remembered further back was said again since ("Rome", "Oslo",
    "Rome"), unless an answer stands behind the run: then it is a turn that is carried out again.
    """
    texts = [item.text for item in run]
    for size in range(min(len(texts), len(said)), 0, -1):
        if texts[-size:] == [*said[:size]]:
            ids: list[str | None] = [item.id for item in run[-size:]]
            return ids + [None] * (len(said) - size)
    if answered or len(said) > 1:
        return _in_order(run, said)
    return [None] * len(said)


def _in_order(run: Run, said: Sequence[str]) -> list[str | None]:
    """Return by which id each message is remembered, each after the one before it."""
    found: list[str | None] = []
    begin = 0
    for text in said:
        place = next((n for n in range(begin, len(run)) if run[n].text == text), None)
        found.append(None if place is None else run[place].id)
        begin = begin if place is None else place + 1
    return found
