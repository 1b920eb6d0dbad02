"""What holds now comes first: a line that another has taken the place of stands right behind it.

The line that holds takes the better place of both. What a question asks for turns that round: how
it was before, a time when the old line held, or the old value by its name. That it no longer holds
is said all the same. A question of how it is now believes a succession sooner.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date, datetime
from itertools import chain, product, starmap
from operator import attrgetter

import numpy as np

from demem_agent.later import dataclass
from demem_agent.reading.ask import Ask
from demem_agent.scoring import Ranking, moment
from demem_agent.scoring.index import Stretch, rows_of
from demem_agent.slots.filtering import Within, within
from demem_agent.slots.state import State
from demem_agent.slots.successions.beginning import since_when
from demem_agent.slots.successions.claims import Claim
from demem_agent.slots.successions.lineage import HOLDS
from demem_agent.slots.successions.of_corrections import told_from
from demem_agent.slots.successions.turns import implied, tells_another, values_gone
from demem_agent.slots.successions.withdrawals import withdrawal
from demem_agent.text.language.changes import asks_of_now, asks_of_the_past
from demem_agent.text.language.earlier import earlier_asked
from demem_agent.text.language.numbers import digits
from demem_agent.text.language.words import content_terms
from demem_agent.text.times.dates import ranges
from demem_agent.text.values import is_entry
from demem_agent.types import Line, Succession, Superseded

__all__ = ["Current", "current", "noted", "ordered", "withheld"]

#: Confidence from which on a succession counts where the question asks how it is now.
NOW = 0.35
#: Confidence from which on one counts where the question is of what both lines speak of.
SHARED = 0.2
#: Share of a question's words in the old line that are in the new one as well for that, and how
#: many they are at least.
MUCH = 0.3
FEWEST = 2
#: Passages that are looked at, best first: more fit in no usual reading.
LOOKED = 100
#: What keeps an old line behind the one that holds: the last digit of a score.
BEHIND = 0.0001


_NAMES = attrgetter("names")
_NUMBERS = attrgetter("numbers")


@dataclass(frozen=True, slots=True)
class Current:
    """What a question makes of lines that no longer hold.

    Attributes:
        least: confidence from which on a succession counts, in [0, 1].
        past: whether it asks for how something was.
        until: the last day of the latest time that it speaks of.
        words: its stems; numbers in digits.
        moves: whether readings of the memory move or withhold anything.
        within: what a filter leaves; what has come since counts only if it is left. None without.
    """

    least: float
    past: bool
    until: date | None
    words: frozenset[str]
    moves: bool
    within: Within | None = None

    def admits(self, line: Stretch) -> bool:
        """Whether a line may be told of."""
        return self.within is None or self.within.holds(line[0])


def current(state: State, ask: Ask) -> Current:
    """Look at a question for what it asks of time."""
    if not state.successions or state.settings.stale == "show":
        return Current(HOLDS, past=True, until=None, words=frozenset(), moves=False)
    return Current(
        least=NOW if asks_of_now(ask.query) else HOLDS,
        past=asks_of_the_past(ask.query) or earlier_asked(ask.query) is not None,
        until=_latest(ask),
        words=frozenset(content_terms(digits(ask.query))),
        moves=True,
        within=within(state, ask.where),
    )


def _latest(ask: Ask) -> date | None:
    times = ranges(ask.query, ask.at.date() if ask.at else None)
    return max((time.last for time in times), default=None)


def ordered(
    state: State, asked: Current, ranking: Ranking, among: Collection[int] | None = None
) -> Ranking:
    """Return a ranking in which what holds stands ahead of what it has taken the place of.

    Args:
        among: the rows that may move or be moved for; all unless given.
    """
    if not asked.moves:
        return ranking
    looked = ranking.rows[:LOOKED].tolist()
    if among is not None:
        looked = [row for row in looked if row in among]
    followed = _followed(state, asked, looked)
    if among is not None:
        followed = _only(followed, among)
    if not followed:
        return ranking
    scores = dict(zip(ranking.rows.tolist(), ranking.scores.tolist(), strict=True))
    followed = {row: ahead for row, ahead in followed.items() if row in scores}
    for behind, ahead in followed.items():
        for row in ahead:
            scores[row] = max(scores.get(row, scores[behind]), scores[behind])
    for _ in range(len(followed)):
        if not _put_behind(scores, followed):
            break
    rows = np.fromiter(scores.keys(), np.intp, len(scores))
    exact = np.fromiter(scores.values(), np.float64, len(scores))
    return replace(ranking, rows=rows).rescored(exact)


def _only(
    followed: Mapping[int, tuple[int, ...]], among: Collection[int]
) -> dict[int, tuple[int, ...]]:
    """Return what is to stand behind what, of some rows alone."""
    found: dict[int, tuple[int, ...]] = {}
    for behind, ahead in followed.items():
        kept = tuple(row for row in ahead if row in among)
        if behind in among and kept:
            found[behind] = kept
    return found


def _put_behind(scores: dict[int, float], followed: Mapping[int, tuple[int, ...]]) -> bool:
    """Put each row behind those that are to be ahead of it; tell whether any moved."""
    moved = False
    for behind, ahead in followed.items():
        most = round(min(scores[row] for row in ahead) - BEHIND, 4)
        if scores[behind] > most:
            scores[behind] = most
            moved = True
    return moved


def _followed(state: State, asked: Current, rows: list[int]) -> dict[int, tuple[int, ...]]:
    """Return the rows that are to stand behind others, each with those."""
    index = state.passage_index()
    lineage = state.derived.current
    found: dict[int, dict[int, None]] = {}
    for row, item in zip(rows, index.passages.items(rows), strict=True):
        if not lineage.superseded(item):  # as most are not
            continue
        line = index.passages[row].stretch
        for succession in _bearing(state, asked, line):
            for new in rows_of(index, [_holding(state, asked, succession)]):
                behind, ahead = row, new
                if _asks_of_old(state, asked, succession):
                    behind, ahead = new, row
                if new != row:
                    found.setdefault(behind, {})[ahead] = None
    return {behind: tuple(ahead) for behind, ahead in found.items()}


def _bearing(state: State, asked: Current, line: Stretch) -> list[Succession]:
    """Return the successions of a line, where what it no longer says is what a question is of."""
    found = _believed(state, asked, line)
    return found if found and _bears(state, asked, line, found) else []


def _believed(state: State, asked: Current, line: Stretch) -> list[Succession]:
    """Return the successions of a line that count for a question, the surest of each part.

    One that is not so sure counts where the question is of what both lines speak of; none that was
    found counts where it is of the rest of the old one.
    """
    lineage = state.derived.current

    def counts(one: Succession, confidence: float) -> bool:
        if not asked.admits(one.new):
            return False
        touched = asked.words & _words(state, one.old)
        both = len(touched & _followed_by(state, one))
        if confidence < asked.least:
            return both >= max(FEWEST, MUCH * len(touched))
        return both >= MUCH * len(touched) or one.how != "found"

    return lineage.of_line(line, min(asked.least, SHARED), counts)


def _holding(state: State, asked: Current, succession: Succession) -> Stretch:
    """Return the line that holds in the end; the next one where a filter leaves that out."""
    lineage = state.derived.current
    line = lineage.holding(succession.old, max(asked.least, HOLDS))
    if line == succession.old:  # it is not as sure as that
        line = lineage.holding(succession.new, asked.least)
    return line if asked.admits(line) else succession.new


def _followed_by(state: State, one: Succession) -> frozenset[str]:
    """Return what the new line of a succession tells of, whatever is asked."""
    known = state.cache.followed.get(one.id)
    if known is None:
        known = _words(state, one.new) | _told_without(state, one)
        state.cache.followed[one.id] = known
    return known


def _told_without(state: State, one: Succession) -> frozenset[str]:
    """Return what the new line of a succession tells of without words for it.

    "I moved to Lisbon" is of where somebody lives. What is taken back is of all that was said, and
    so is what is said to be over: "Sold the Trafic" of "I drive a Trafic".
    """
    found: frozenset[str] = frozenset()
    for claim in _claims(state, one.new):
        if withdrawal(claim.said) is not None or _is_over_by(state, one.old, claim):
            return _words(state, one.old)
        found |= implied(claim)
    return found


def _is_over_by(state: State, old: Stretch, claim: Claim) -> bool:
    """Whether a sentence says that what a line says is over."""
    before = _claims(state, old)
    if any(tells_another(one, claim) for one in before):
        return True
    endings = [one for one in (claim.ended, claim.amended) if one is not None]
    return any(ending.ends(one.said, one.held) for ending in endings for one in before)


def _words(state: State, line: Stretch) -> frozenset[str]:
    item, start, end = line
    return state.cache.held_by(state.evidence[item], start, end)


def _asks_of_old(state: State, asked: Current, succession: Succession) -> bool:
    """Whether a question asks for the past, a time before the succession, or the old value."""
    if asked.past:
        return True
    at = _since(state, succession)
    if asked.until is not None and at is not None and asked.until < at.date():
        return True
    return not asked.words.isdisjoint(_replaced(state, succession))


def _replaced(state: State, succession: Succession) -> set[str]:
    """Return the names and numbers of an old line that have others in their place.

    Where the new line has no other name, the names of the old one are no part of what changed.
    """
    item, start, end = succession.old
    start = max(start, told_from(state.evidence[item]))  # a question is not its own old value
    old, new = (_claims(state, line) for line in ((item, start, end), succession.new))
    gone = set(chain.from_iterable(starmap(values_gone, product(old, new))))
    if gone:
        return gone
    for values in (_NAMES, _NUMBERS):
        before = _united(map(values, old))
        since = _united(map(values, new))
        if since - _words(state, succession.old):
            gone |= before - _words(state, succession.new)
    return gone


def _united(sets: Iterable[frozenset[str]]) -> set[str]:
    return set().union(*sets)


def _bears(state: State, asked: Current, line: Stretch, found: Iterable[Succession]) -> bool:
    """Whether a question is about what no longer holds rather than the rest of a line."""
    if any(_is_value_of(state, asked, one.old) for one in found):
        return True
    stale = [one.old for one in found]
    behind = 0.0
    beside = 0.0
    for claim in _claims(state, line):
        share = _share(state, asked, claim)
        if any(claim.start < end and start < claim.end for _, start, end in stale):
            behind = max(behind, share)
        else:
            beside = max(beside, share)
    return behind >= beside


def _is_value_of(state: State, asked: Current, line: Stretch) -> bool:
    """Whether a stretch is a value in JSON, of a key that a question has."""
    item, start, end = line
    if not is_entry(state.evidence[item].text, start, end):
        return False
    return not asked.words.isdisjoint(_words(state, line))


def _share(state: State, asked: Current, claim: Claim) -> float:
    idf = state.passage_index().lexical.idf
    return sum(map(idf, asked.words & claim.held))


def _claims(state: State, line: Stretch) -> tuple[Claim, ...]:
    item, start, end = line
    return state.cache.claims_of(state.evidence[item], start, end)


def withheld(state: State, asked: Current, ranking: Ranking) -> tuple[Ranking, tuple[str, ...]]:
    """Leave out the lines of which nothing holds any more; return the ids of their items.

    One that says something else as well stays, and is marked.
    """
    if state.settings.stale != "withhold" or not asked.moves:
        return ranking, ()
    index = state.passage_index()
    lineage = state.derived.current
    rows: list[int] = []
    gone: dict[str, None] = {}
    for row in ranking.rows.tolist():
        passage = index.passages[row]
        if lineage.superseded(passage.evidence_id):
            line = passage.stretch
            over = _believed(state, asked, line)
            over = [one for one in over if not _asks_of_old(state, asked, one)]
            if _is_over(state, line, over):
                rows.append(row)
                gone[passage.evidence_id] = None
    return ranking.without_rows(np.array(rows, np.intp)), tuple(gone)


def _is_over(state: State, line: Stretch, found: Iterable[Succession]) -> bool:
    """Whether successions are of every sentence of a line."""
    item, start, end = line
    text = state.evidence[item].text
    for one in found:
        _, first, last = one.old
        text = f"{text[:first]}{' ' * (last - first)}{text[last:]}"
    return not text[start:end].strip()


def noted(state: State, asked: Current, lines: Iterable[Line]) -> Iterator[Line]:
    """Yield lines with what in them no longer holds."""
    lineage = state.derived.current
    for line in lines:
        over: tuple[Superseded, ...] = ()
        if asked.moves and lineage.superseded(line.evidence.id):
            over = _superseded(state, asked, line)
        yield replace(line, superseded=over) if over else line


def _superseded(state: State, asked: Current, line: Line) -> tuple[Superseded, ...]:
    whole = (line.evidence.id, line.start, line.end)
    found = []
    for one in _believed(state, asked, whole):
        noted = Superseded(
            start=max(one.old[1], line.start),
            end=min(one.old[2], line.end),
            by=_holding(state, asked, one),
            at=_until(state, one),
            succession=one.id,
            asked=_asks_of_old(state, asked, one),
        )
        found.append(noted)
    found.sort(key=lambda one: (one.start, one.end))
    return tuple(found)


def _until(state: State, one: Succession) -> datetime | None:
    """Return since when a line holds that has taken the place of another.

    It is None where that was settled and is no later than the old one: an edited file has its old
    times, and what is taken back was said before.
    """
    before, since = state.evidence[one.old[0]].at, _since(state, one)
    if one.how == "found" or before is None or since is None:
        return since
    return since if moment(since) > moment(before) else None


def _since(state: State, one: Succession) -> datetime | None:
    item, start, end = one.new
    return since_when(state.evidence[item], start, end)
