"""What held before stands first where a question asks for that: "Who was my doctor before Novak?".

A line that has the later one's name, or says of itself that it holds now, has all the words of such
a question and answers it least. An earlier line on the same matter stands ahead of it, whether
anybody noticed that one took the place of the other or not. Where somebody lived or worked is told
by lines that share no word with the question; these are looked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, islice

import numpy as np

from demem_agent.later import dataclass
from demem_agent.reading.ask import Ask
from demem_agent.scoring import Query, Ranking, moment
from demem_agent.slots.state import State
from demem_agent.slots.successions.foreign_turns import told_abroad_by
from demem_agent.slots.successions.states import IMPLIED, Kind, begun, begun_before, stated
from demem_agent.text.language.asking import asks
from demem_agent.text.language.changes import Sign, tells
from demem_agent.text.language.earlier import (
    Earlier,
    comes_before,
    earlier_asked,
    says_earlier,
    words_in,
)
from demem_agent.text.language.words import content_terms, stems
from demem_agent.text.quoting.pasted import of_oneself
from demem_agent.text.sentences import sentences
from demem_agent.turns import CORRECTION
from demem_agent.types import Evidence, number_of

__all__ = ["Former", "Found", "Said", "former_asked", "former_first", "told_before"]

#: Passages of a ranking that are looked at, best first, and passages that are looked up beside.
LOOKED = 16
MOST = 60
#: Candidates from this share of the best one's score on are rivals: the latest of them counts.
RIVAL = 0.6
#: A word in more passages than this brings no line near another.
COMMON = 12
#: Words by which a question asks where somebody lived or worked, beside those that tell it now.
_ASKED_BY: Mapping[Kind, frozenset[str]] = {
    "home": frozenset(
        """lived gewohnt wohnte gelebt lebte anschrift vivía vivíamos vivías habitais habitait
        vivais vivait logeais morava morávamos vivia abitavo abitava vivevo viveva
        indirizzo""".split()
    ),
    "work": frozenset(
        """worked gearbeitet arbeitete arbeitgeber trabajaba trabajabas empleador travaillais
        travaillait employeur trabalhava lavoravo lavorava azienda""".split()
    ),
}
#: Signs that something holds now, or is new.
_NOW: tuple[Sign, ...] = ("changed", "renews", "now")
#: Languages by whose stems a name is looked for.
_LANGUAGES = ("english", "german", "spanish", "french", "italian", "portuguese")
#: What puts a line ahead of another: the last digit of a score.
AHEAD = 0.0001


@dataclass(frozen=True, slots=True)
class Former:
    """A question of how something was before.

    Attributes:
        earlier: how it asks.
        matter: stems of what it is about.
        kind: of state that it is about; None where of none.
        words: all of the question's stems and words, by which it names somebody.
        oneself: whether it is of who asks.
        asker: who asks, in lower case, if the question is of that one; "" where that is open.
    """

    earlier: Earlier
    matter: frozenset[str]
    kind: Kind | None
    words: frozenset[str]
    oneself: bool
    asker: str


@dataclass(frozen=True, slots=True)
class Said:
    """A line or sentence that may tell of it, with its words, their stems and what it scores."""

    evidence: Evidence
    text: str
    words: frozenset[str]
    score: float

    @classmethod
    def of(cls, evidence: Evidence, text: str, score: float) -> Said:
        return cls(evidence, text, words_in(text).union(content_terms(text)), score)

    @property
    def when(self) -> tuple[float, int]:
        return moment(self.evidence.at), number_of(self.evidence.id)


@dataclass(frozen=True, slots=True)
class Found:
    """Which of some lines tells how it was before, by number, and which how it was later.

    Attributes:
        others: that tell of the matter as it was, too, but not as it was last.
        surely: whether it tells of the very state that is asked for.
    """

    lead: int
    later: tuple[int, ...]
    surely: bool
    others: tuple[int, ...] = ()


def former_asked(question: str, asker: str | None = None) -> Former | None:
    """Return what a question asks of how something was before; None where it asks no such thing."""
    earlier = earlier_asked(question)
    if earlier is None:
        return None
    matter = frozenset(content_terms(earlier.rest))
    words = matter | words_in(earlier.rest)
    oneself = of_oneself(question)
    by = (asker or "").casefold() if oneself else ""
    return Former(earlier, matter, _kind(words), words, oneself, by)


def _kind(matter: frozenset[str]) -> Kind | None:
    for kind, asked_by in _ASKED_BY.items():
        told_by = IMPLIED[kind] | told_abroad_by(kind) | asked_by
        if not matter.isdisjoint(told_by):
            return kind
    return None


@cache
def _telling_of(kind: Kind) -> frozenset[str]:
    """Return stems of which a sentence has one that tells of a state of a kind."""
    return begun_before(kind)


def told_before(asked: Former, said: Sequence[Said], worth: Callable[[str], float]) -> Found | None:
    """Return which line tells how it was before; None where none surely does.

    Args:
        said: best first.
        worth: how rare a word is, at least 0.
    """
    later = [nth for nth, one in enumerate(said) if _is_later(asked, one)]
    states = [nth for nth, one in enumerate(said) if _is_state(asked, one)]
    lead = _state_before(said, states, later)
    if lead is not None:
        return Found(lead, tuple(later), surely=True)
    if not later or _tells_itself(asked, said[0]):
        return None
    first = min((said[nth] for nth in later), key=lambda one: one.when)
    near = first.words - asked.earlier.than
    open_to = [
        nth
        for nth, one in enumerate(said)
        if nth not in later and one.when < first.when and not asks(one.text)
    ]
    on_it = _on_it(asked.matter & near or asked.matter, said, open_to)
    if on_it:
        return Found(on_it[0], tuple(later), surely=False, others=on_it[1:])
    lead = _nearest(near, said, open_to, worth)
    return None if lead is None else Found(lead, tuple(later), surely=False)


def _is_later(asked: Former, one: Said) -> bool:
    """Whether a line is of what came later: it names that, or says that something holds now."""
    than = asked.earlier.than
    if than:
        return than <= one.words and not comes_before(one.text, than) and not asks(one.text)
    return any(map(_says_now, _telling(asked, one)))


def _telling(asked: Former, one: Said) -> Iterator[str]:
    """Yield the sentences of a line that are on the matter."""
    if asked.matter.isdisjoint(one.words) and not _is_state(asked, one):
        return
    for start, end in sentences(one.text):
        said = one.text[start:end]
        if not asked.matter.isdisjoint(content_terms(said)) or _tells_state(asked, one, said):
            yield said


def _says_now(said: str) -> bool:
    holds_now = any(tells(said, sign) for sign in _NOW)
    return holds_now and not says_earlier(said)


def _tells_itself(asked: Former, one: Said) -> bool:
    """Whether a line says itself how it was before."""
    if asked.matter.isdisjoint(one.words):
        return False
    return says_earlier(one.text) or comes_before(one.text, asked.earlier.than)


def _is_state(asked: Former, one: Said) -> bool:
    """Whether a line tells that the one who is asked about is in a state of the kind."""
    if asked.kind is None or one.words.isdisjoint(_telling_of(asked.kind)):
        return False
    return any(_tells_state(asked, one, one.text[slice(*place)]) for place in sentences(one.text))


def _tells_state(asked: Former, one: Said, said: str) -> bool:
    """Whether a sentence of a line does."""
    if asked.kind is None:
        return False
    state = stated(said, asked.kind) or begun(said)
    if state is None or state.kind != asked.kind:
        return False
    if state.who:
        return state.who in asked.words
    speaker = (one.evidence.speaker or "").casefold()
    if asked.asker:
        return speaker == asked.asker
    return asked.oneself or not asked.words.isdisjoint(speaker.split())


def _state_before(said: Sequence[Said], states: Sequence[int], later: Sequence[int]) -> int | None:
    """Return the latest state that was told before any that is known to be later.

    Without such a one it is the one before the last, and where one alone is told, that.
    """
    in_order = sorted(states, key=lambda nth: said[nth].when)
    if later:
        first = min(said[nth].when for nth in later)
        in_order = [nth for nth in in_order if said[nth].when < first and nth not in later]
        return in_order[-1] if in_order else None
    return in_order[max(len(in_order) - 2, 0)] if in_order else None


def _on_it(matter: frozenset[str], said: Sequence[Said], among: Sequence[int]) -> tuple[int, ...]:
    """Return those with most words of the matter and nearly the best score, the latest first."""
    held = {nth: len(matter & said[nth].words) for nth in among}
    most = max(held.values(), default=0)
    if not most:
        return ()
    best = [nth for nth in among if held[nth] == most]
    top = max(said[nth].score for nth in best)
    rivals = [nth for nth in best if said[nth].score >= RIVAL * top]
    return tuple(sorted(rivals, key=lambda nth: said[nth].when, reverse=True))


def _nearest(
    near: frozenset[str], said: Sequence[Said], among: Sequence[int], worth: Callable[[str], float]
) -> int | None:
    """Return the one that shares most with the line of what came later, in rare words."""
    shared = {nth: sum(worth(word) for word in near & said[nth].words) for nth in among}
    best = max(among, key=lambda nth: (shared[nth], said[nth].when), default=None)
    return best if best is not None and shared[best] > 0 else None


def former_first(state: State, ask: Ask, query: Query, ranking: Ranking) -> Ranking:
    """Return a ranking with the line ahead that tells how it was; as it is for other questions."""
    asked = former_asked(query.text, ask.asker)
    if asked is None or not len(ranking.rows):
        return ranking
    index = state.passage_index()
    looked = dict.fromkeys(chain(ranking.rows[:LOOKED].tolist(), _looked_up(state, asked)))
    rows = [row for row in looked if ranking.admits(row)]
    ranking = ranking.with_rows(np.array(rows, np.intp))
    scores = dict(zip(ranking.rows.tolist(), ranking.scores.tolist(), strict=True))
    rows.sort(key=lambda row: -scores[row])
    said = [Said.of(index.said(row), index.text(row), scores[row]) for row in rows]
    found = told_before(asked, said, _worth(state))
    if found is None:
        return ranking
    lead = rows[found.lead]
    ahead_of = rows if found.surely else [rows[nth] for nth in (*found.later, *found.others)]
    most = max(scores[row] for row in ahead_of) + AHEAD
    moved = ranking.scores.copy()
    moved[ranking.rows == lead] = max(scores[lead], most)
    return ranking.rescored(moved)


def _worth(state: State) -> Callable[[str], float]:
    """Return what gives the idf of a word; a common one is worth nothing."""
    lexical = state.passage_index().lexical
    return lambda word: lexical.idf(word) if lexical.held(word) <= COMMON else 0.0


def _looked_up(state: State, asked: Former) -> Iterator[int]:
    """Yield rows of states of the kind, of what came later, and of what has rare words of that.

    A correction is of its own question.
    """
    lexical = state.passage_index().lexical
    hidden = state.passage_index().is_hidden()
    found: list[int] = []
    if asked.kind is not None:
        for term in sorted(_telling_of(asked.kind)):
            found += lexical.rows(term)[:MOST].tolist()
    later = _holding_all(state, asked.earlier.than)
    found += later
    for row in later:
        for term in sorted(set(content_terms(state.passage_index().text(row)))):
            if lexical.held(term) <= COMMON:
                found += lexical.rows(term).tolist()
    index = state.passage_index()
    yield from islice(
        (row for row in found if not hidden[row] and index.said(row).source != CORRECTION), MOST
    )


def _holding_all(state: State, than: frozenset[str]) -> list[int]:
    """Return the first rows that hold a name."""
    lexical = state.passage_index().lexical
    held: set[int] | None = None
    for word in than:
        rows: set[int] = set()
        for term in {word}.union(*(stems([word], language) for language in _LANGUAGES)):
            rows.update(lexical.rows(term).tolist())
        held = rows if held is None else held & rows
    return sorted(held or ())[:LOOKED]
