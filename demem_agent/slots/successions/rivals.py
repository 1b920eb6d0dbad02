"""Whether two lines of a memory exclude each other, and which earlier ones a new line excludes.

Two lines exclude each other where they speak of the same thing and set another value, as
``claims.py`` judges sentence by sentence. Whose they are is another question: :func:`rivals` asks
for one owner unless it is told not to, so that the same judgement finds what two people want
otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from demem_agent.scoring.index import Stretch, rows_of
from demem_agent.slots.state import State
from demem_agent.slots.successions.claims import Claim
from demem_agent.slots.successions.model import EXCLUDES, exclusion
from demem_agent.slots.successions.worth import Worth, worth
from demem_agent.text.remembered import kept_lately
from demem_agent.types import number_of

__all__ = ["EXCLUDES", "narrates", "owner", "rivals", "words_of_line", "worth_in"]

#: Speakers who speak of others rather than of themselves.
NARRATORS = frozenset({"assistant", "ai", "bot", "model", "system", "narrator", "agent", "tool"})


def rivals(state: State, one: Stretch, other: Stretch, *, of_two: bool = False) -> float:
    """Return how probably two lines of a memory exclude each other, in [0, 1].

    The likeliest pair of their sentences counts; lines from :data:`EXCLUDES` on are rivals. The
    order in which they are given does not matter: the one that was remembered first counts as the
    earlier.

    Args:
        one, other: (evidence id, start, end), both of live evidence.
        of_two: also lines of different owners; else those give 0.0.
    """
    if not (of_two or _of_one_owner(state, one, other)):
        return 0.0
    earlier, later = sorted((one, other), key=_order)
    pairs = [
        (old, new)
        for old, new in product(_claims(state, earlier), _claims(state, later))
        if not old.held.isdisjoint(new.held)
    ]
    return _likeliest(state, pairs, earlier, later) if pairs else 0.0


def _likeliest(
    state: State, pairs: Iterable[tuple[Claim, Claim]], earlier: Stretch, later: Stretch
) -> float:
    """Return how probably the likeliest of some pairs of sentences exclude each other."""
    old_item = state.evidence[earlier[0]]
    new_item = state.evidence[later[0]]
    soon = old_item.session is not None and old_item.session == new_item.session
    told = not (owner(old_item.speaker) or owner(new_item.speaker))
    known = worth_in(state)
    cosine = _cosine(state, earlier, later)
    return max(exclusion(old, new, known, cosine, soon=soon, told=told) for old, new in pairs)


def words_of_line(state: State, line: Stretch) -> frozenset[str]:
    """Return the words of a line's sentences; two lines without one in common are no rivals."""
    item, start, end = line
    return state.cache.held_by(state.evidence[item], start, end)


def _claims(state: State, line: Stretch) -> tuple[Claim, ...]:
    item, start, end = line
    return state.cache.claims_of(state.evidence[item], start, end)


def owner(speaker: str | None) -> str:
    """Return by whom what a speaker says is owned, in lower case; "" for nobody in particular."""
    name = (speaker or "").strip().casefold()
    return "" if name in NARRATORS else name


@kept_lately(64)  # it is asked of every line
def narrates(speaker: str | None) -> bool:
    """Whether a speaker is an assistant: what it says is advice more often than what holds."""
    return (speaker or "").strip().casefold() in NARRATORS


def worth_in(state: State) -> Worth:
    """Return what words are worth in a memory as it stands."""
    index = state.passage_index()

    def idf(term: str) -> float:
        return worth(len(index), index.lexical.held(term))

    return state.cache.worth_of((state.head.evidence, state.head.forgotten), idf)


def _of_one_owner(state: State, one: Stretch, other: Stretch) -> bool:
    first, second = (owner(state.evidence[item].speaker) for item, _, _ in (one, other))
    return first == second


def _order(line: Stretch) -> tuple[int, int]:
    return number_of(line[0]), line[1]


def _cosine(state: State, one: Stretch, other: Stretch) -> float:
    index = state.passage_index()
    first, second = (index.vectors.of(rows_of(index, [line])) for line in (one, other))
    near = first @ second.T
    return float(near.max(initial=-1.0))
