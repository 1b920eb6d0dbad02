"""Which of what a user says now is remembered already: a call that failed is often made again, and
most applications show a conversation from its beginning in each call.

What is remembered is compared with what is shown. Where the application shows what was said before,
that says where in the memory the user's new messages begin (:mod:`demem_adapters.common.places`);
where it shows nothing, only what no answer has come to yet can be the same again.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain, pairwise

from demem_adapters.common.asking import ASSISTANT, is_person
from demem_adapters.common.links import answered_by
from demem_adapters.common.places import Standing, Words
from demem_adapters.common.said import kept_as
from demem_adapters.common.texts import Spoken
from demem_agent import Evidence

__all__ = [
    "MOST_ITEMS",
    "anchor_of",
    "known_of",
    "of_session",
    "remembered_among",
    "remembered_of",
    "waiting_of",
]

#: How many items of a session are compared at most.
MOST_ITEMS = 400

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
    standing: Standing,
    said: Sequence[Words],
    *,
    goes_on: bool = False,
    grows: bool = False,
) -> list[str | None]:
    """Return by which id each of the user's new messages is remembered; None for those that are
    not.

    Args:
        standing: where they stand.
        said: the messages with who says them, as they are kept.
        goes_on: whether the turn has begun before, and is shown with what came of it since.
        grows: whether what the provider keeps of the conversation grows with each answer: what was
            said up to one is not said again.
    """
    speakers = frozenset(speaker for speaker, _ in said)
    runs = [_of_speakers(run, speakers) for run in _runs(standing.since)]
    waiting = runs[-1]
    if goes_on:
        own = _of_speakers(standing.since, speakers)
        return _in_order(_texts(own), said, {item.id for item in own})
    if grows:
        return known_of(waiting, said)
    if not standing.is_shown or len(runs) == 1:
        if len(said) == 1:
            return known_of(waiting, said)
        if not waiting:
            return _of_open(standing.since, speakers, said)
        own = _of_speakers(standing.since, speakers)
        answered = own[: len(own) - len(waiting)]
        begun = _begun_before(answered, waiting, said)
        earlier = _in_order(_texts(answered), said[:begun], {item.id for item in answered})
        return earlier + known_of(waiting, said[begun:])
    if len(said) == 1:
        # A turn that is carried out again: nothing was said since but what came of it.
        again = next((item.id for item in runs[0] if _words(item) == said[0]), None)
        return [again] if again and not waiting else known_of(waiting, said)
    # The last of what is said may be new, though it was said so in another conversation.
    last = {item.id for item in (*runs[0], *waiting)}
    for run in runs:
        for one, following in pairwise(run):
            if _words(one) == said[-2]:
                last.add(following.id)
    return _in_order(_texts([*chain.from_iterable(runs)]), said, last)


def _of_open(
    items: Sequence[Evidence], speakers: Collection[str], said: Sequence[Words]
) -> list[str | None]:
    """Return by which id each message is remembered that no answer was given to; None for the last,
    and where the first is not.

    A conversation whose first call failed may go on when another one has begun since.
    """
    answered = {answered_by(item) for item in items if _is_answer(item)}
    left = [item for item in _of_speakers(items, speakers) if item.id not in answered]
    ids = _in_order(_texts(left), said[:-1], {item.id for item in left})
    return [*ids, None] if ids[0] is not None else [None] * len(said)


def waiting_of(items: Sequence[Evidence], said: Sequence[Words]) -> Run:
    """Return what those who say something have said last, and no answer has come to yet."""
    return _of_speakers(_runs(items)[-1], frozenset(speaker for speaker, _ in said))


def remembered_among(items: Sequence[Evidence], conversation: Sequence[Spoken]) -> list[str | None]:
    """Return by which id each message of a whole conversation is remembered; None for those that
    are not.

    Args:
        items: what is remembered of the session, oldest first.
    """
    held = [(item.id, (is_person(item.speaker), item.text)) for item in items]
    said = [(one.by_user, kept_as(one.text)) for one in conversation]
    return _in_order(held, said, {item.id for item in items})


def _begun_before(answered: Run, waiting: Run, said: Sequence[Words]) -> int:
    """Return how many messages were said before those that no answer has come to yet: a turn that
    was answered is shown with another ending since.

    What is shown before something that is remembered was not said after it.
    """
    words = frozenset(map(_words, waiting))
    if said[0] in words or all(_words(item) != said[0] for item in answered):
        return 0
    return next((n for n, one in enumerate(said) if one in words), 0)


def _texts(run: Run) -> list[tuple[str, object]]:
    return [(item.id, _words(item)) for item in run]


def _words(item: Evidence) -> Words:
    return item.speaker or "", item.text


def anchor_of(items: Sequence[Evidence], said: Sequence[Words], *, grows: bool = False) -> str:
    """Return the id of what a user said before all of this, "" for the first; for its keys.

    It is the same when a turn is carried out again at once, and another when the same is said once
    more after something else.

    Args:
        items: what is remembered of where it is said, oldest first.
        grows: whether it is another after each answer, too.
    """
    users = [item for item in items if is_person(item.speaker)]
    answers = [item for item in items if _is_answer(item)]
    runs = [run for run in _runs(items) if run]
    words = [_words(item) for item in runs[-1]] if runs else []
    for size in range(min(len(words), len(said)), 0, -1):
        if words[-size:] == [*said[:size]]:
            users = users[:-size]
            break
    anchor = users[-1].id if users else ""
    return f"{anchor} {answers[-1].id}" if grows and answers else anchor


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


def _of_speakers(run: Sequence[Evidence], speakers: Collection[str]) -> Run:
    return [item for item in run if item.speaker in speakers]


def known_of(run: Run, said: Sequence[Words]) -> list[str | None]:
    """Return by which id each message is remembered among what no answer has come to yet.

    One message alone that is remembered further back was said again since ("Rome", "Oslo",
    "Rome").
    """
    words = [_words(item) for item in run]
    for size in range(min(len(words), len(said)), 0, -1):
        if words[-size:] == [*said[:size]]:
            known: list[str | None] = [item.id for item in run[-size:]]
            return known + [None] * (len(said) - size)
    if len(said) == 1 or said[0] not in words:
        return [None] * len(said)
    shown = run[words.index(said[0]) :]
    ids = _in_order(_texts(shown), said, {item.id for item in shown})
    if ids[-2] is None or ids[-1] != run[-1].id:
        ids[-1] = None  # the last one alone is said again
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
    if not rows or not columns:
        return [None] * columns

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
