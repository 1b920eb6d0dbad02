"""Have somebody judge which lines later ones have taken the place of, outside the write path.

What a judge says is kept with its reason, so that no pair is asked about twice: of lines that both
hold as what was undone. It can be taken back, and goes with either line.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from demem_agent.changes.candidates import candidates, stretch_over
from demem_agent.errors import CollaboratorError
from demem_agent.flows.commit import committed
from demem_agent.requests import Flow, JudgeChange
from demem_agent.scoring.index import Stretch, rows_of
from demem_agent.slots.ledger import unkeyed
from demem_agent.slots.notes_superseded import with_notes
from demem_agent.slots.records import Delta
from demem_agent.slots.state import State
from demem_agent.summaries.grounding import note_text
from demem_agent.text.quoting.saying import dated
from demem_agent.types import ChangeJudged, ChangeTask, ChangeVerdict, Succession

__all__ = ["due", "is_in_vain", "judge"]

#: Characters of a reason that are kept.
LONGEST = 300
#: Pairs that may fail in one call.
PATIENCE = 3

_Pair = tuple[Stretch, Stretch]


def due(state: State) -> list[_Pair]:
    """Return the pairs of an older and a newer line that a judge is to be asked about, in order."""
    if not state.evidence:
        return []
    index = state.passage_index()
    found = candidates(index, state.derived.current)
    pairs = [(index.passages[old].stretch, index.passages[new].stretch) for old, new in found]
    return [pair for pair in pairs if _is_open(state, pair)]


def is_in_vain(done: Iterable[ChangeJudged]) -> bool:
    """Whether so much has failed that nothing more is asked."""
    return sum(bool(one.failed) for one in done) >= PATIENCE


def judge(state: State, pair: _Pair) -> Flow[ChangeJudged | None]:
    """Have two lines judged, and keep what is said of them.

    Nothing is kept where the judge fails, or the pair was settled or forgotten meanwhile; the
    result says why.

    Returns:
        None where that was so before the judge was asked.
    """
    if not _is_open(state, pair):
        return None
    old, new = pair
    lines = (dated(state.evidence[item], start, end) for item, start, end in pair)
    try:
        given: ChangeVerdict = yield JudgeChange(ChangeTask(*lines))
    except CollaboratorError as error:
        return ChangeJudged(old, new, failed=str(error))
    if not _is_open(state, pair):
        return ChangeJudged(old, new, failed="it was settled or forgotten meanwhile")
    made = _made(state, pair, given)
    seq = state.head.seq + 1
    head = replace(state.head, seq=seq, successions=state.head.successions + len(made))
    yield from committed(state, Delta(head, (unkeyed(seq, "judge"),), successions=made))
    return ChangeJudged(old, new, given.verdict, made[0].reason, made[0].id)


def _is_open(state: State, pair: _Pair) -> bool:
    """Whether two lines are there to be read, and nothing was settled of their items."""
    (old, _, _), (new, _, _) = pair
    hidden = state.hidden
    there = all(item in state.evidence and item not in hidden for item in (old, new))
    return there and state.derived.current.is_open(old, new)


def _made(state: State, pair: _Pair, given: ChangeVerdict) -> tuple[Succession, ...]:
    """Return what keeps a verdict: of lines that both hold, a succession that was undone."""
    old, new = pair
    replaces = given.verdict == "replaces"
    if replaces:
        index = state.passage_index()
        row, later = (rows_of(index, [line])[0] for line in pair)
        old = stretch_over(index, row, later)
    made = Succession(
        id=f"s{state.head.successions + 1}",
        old=old,
        new=new,
        confidence=given.confidence if replaces else 0.0,
        how="judged",
        undone=not replaces,
        after=state.head.contexts,
        reason=note_text(given.reason)[:LONGEST] or given.verdict,
    )
    return with_notes(state, (made,)) if replaces else (made,)
