"""Which of what a user says now is remembered already: a call that failed is often made again, and
most applications show a conversation from its beginning in each call.

What is remembered is compared with what is shown. Where the application shows what was said before,
that says where in the memory the user's new messages begin; where it shows nothing, only what no
answer has come to yet can be the same again.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain, pairwise

from demem_adapters.common.asking import ASSISTANT, is_person
from demem_adapters.common.said import kept_as
from demem_adapters.common.texts import Spoken
from demem_agent import Evidence

__all__ = ["MOST_ITEMS", "anchor_of", "of_session", "remembered_among", "remembered_of"]

#: How many items of a session, and messages of a conversation, are compared at most.
MOST_ITEMS = 400
_MOST_SHOWN = 60

#: Messages of the user's in a row: what is remembered between two answers.
Run = list[Evidence]


def of_session(items: Sequence[Evidence], session: str | None) -> list[Evidence]:
    """Return what a user and the assistant said last in a session, oldest first."""
    found: list[Evidence] = []
    for item in reversed(items):
        if item.session == session and item.speaker is not None:
            found.append(item)
            if len(found) == MOST_ITEMS:
                break
    found.reverse()
    return found


def remembered_of(
    items: Sequence[Evidence],
    before: Sequence[Spoken],
    said: Sequence[str],
    speaker: str,
    *,
    named: bool = False,
    goes_on: bool = False,
) -> list[str | None]:
    """Return by which id each of the user's new messages is remembered; None for those that are
    not.

    Args:
        items: what is remembered of the session, oldest first.
        before: what the application shows of the conversation before them.
        said: the messages, as they are kept.
        speaker: who says them.
        named: whether they have ids: those that an answer has come to are known by them.
        goes_on: whether the turn has begun before, and is shown with what came of it since.
    """
    place = _place_of(items, before)
    runs = [_of_speaker(run, speaker) for run in _runs(items[0 if place is None else place + 1 :])]
    waiting = runs[-1]
    if goes_on:
        own = _of_speaker(items, speaker)
        return _in_order(_texts(own), said, {item.id for item in own})
    if named:
        return _known_of(waiting, said)
    if place is None or len(runs) == 1:
        own = _of_speaker(items, speaker)
        answered = own[: len(own) - len(waiting)]
        begun = _begun_before(answered, waiting, said)
        earlier = _in_order(_texts(answered), said[:begun], {item.id for item in answered})
        return earlier + _known_of(waiting, said[begun:])
    if len(said) == 1:
        # A turn that is carried out again: nothing was said since but what came of it.
        again = next((item.id for item in runs[0] if item.text == said[0]), None)
        return [again] if again and not waiting else _known_of(waiting, said)
    # The last of what is said may be new, though it was said so in another conversation.
    last = {item.id for item in (*runs[0], *waiting)}
    for run in runs:
        for one, following in pairwise(run):
            if one.text == said[-2]:
                last.add(following.id)
    return _in_order(_texts([*chain.from_iterable(runs)]), said, last)


def remembered_among(items: Sequence[Evidence], conversation: Sequence[Spoken]) -> list[str | None]:
    """Return by which id each message of a whole conversation is remembered; None for those that
    are not.

    Args:
        items: what is remembered of the session, oldest first.
    """
    held = [(item.id, (is_person(item.speaker), item.text)) for item in items]
    said = [(one.by_user, kept_as(one.text)) for one in conversation]
    return _in_order(held, said, {item.id for item in items})


def _begun_before(answered: Run, waiting: Run, said: Sequence[str]) -> int:
    """Return how many messages were said before those that no answer has come to yet: a turn that
    was answered is shown with another ending since.

    What is shown before something that is remembered was not said after it.
    """
    texts = frozenset(item.text for item in waiting)
    if said[0] in texts or all(item.text != said[0] for item in answered):
        return 0
    return next((n for n, text in enumerate(said) if text in texts), 0)


def _texts(run: Run) -> list[tuple[str, object]]:
    return [(item.id, item.text) for item in run]


def anchor_of(items: Sequence[Evidence], said: Sequence[str]) -> str:
    """Return the id of what a user said before all of this, "" for the first; for its keys.

    It is the same when a turn is carried out again at once, and another when the same is said once
    more after something else.

    Args:
        items: what is remembered of the session, oldest first.
    """
    users = [item for item in items if is_person(item.speaker)]
    runs = [run for run in _runs(items) if run]
    texts = [item.text for item in runs[-1]] if runs else []
    for size in range(min(len(texts), len(said)), 0, -1):
        if texts[-size:] == [*said[:size]]:
            users = users[:-size]
            break
    return users[-1].id if users else ""


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


def _known_of(run: Run, said: Sequence[str]) -> list[str | None]:
    """Return by which id each message is remembered among what no answer has come to yet.

    One message alone that is remembered further back was said again since ("Rome", "Oslo",
    "Rome").
    """
    texts = [item.text for item in run]
    for size in range(min(len(texts), len(said)), 0, -1):
        if texts[-size:] == [*said[:size]]:
            known: list[str | None] = [item.id for item in run[-size:]]
            return known + [None] * (len(said) - size)
    if len(said) == 1 or said[0] not in texts:
        return [None] * len(said)
    shown = run[texts.index(said[0]) :]
    ids = _in_order(_texts(shown), said, {item.id for item in shown})
    if ids[-2] is None:  # the last one alone may as well be said again
        ids[-1] = None
    return ids


def _in_order(
    held: Sequence[tuple[str, object]], said: Sequence[object], last: Collection[str]
) -> list[str | None]:
    """Return by which id each message is remembered: as many as can be in their order.

    Of the messages it is the first that can be, of what is remembered the last.

    Args:
        held: what is remembered, each with its id.
        last: what the last message may be.
    """
    rows, columns = len(held), len(said)

    def same(row: int, column: int) -> bool:
        id, what = held[row - 1]
        return what == said[column - 1] and (column < columns or id in last)

    most = [[0] * (columns + 1) for _ in range(rows + 1)]
    for row in range(1, rows + 1):
        for column in range(1, columns + 1):
            found = max(most[row - 1][column], most[row][column - 1])
            if same(row, column):
                found = max(found, most[row - 1][column - 1] + 1)
            most[row][column] = found
    ids: list[str | None] = [None] * columns
    row, column = rows, columns
    while row and column:
        if most[row][column - 1] == most[row][column]:
            column -= 1
        elif same(row, column) and most[row][column] == most[row - 1][column - 1] + 1:
            row -= 1
            column -= 1
            ids[column] = held[row][0]
        else:
            row -= 1
    return ids
