"""What a feedback says of lines of memory: which were right for this decision, and which were not.

It is said in log-odds, so that what several feedbacks say of a line adds up in any order. A text
that tells what would have been right speaks for the line that holds most of it. A rating speaks for
or against the line that the answer rests on before others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Set

from demem_agent.channels import Signal, row_of
from demem_agent.later import dataclass
from demem_agent.scoring.index import Stretch, rows_of
from demem_agent.slots.recognition import Asked
from demem_agent.slots.records import REWARDED
from demem_agent.slots.state import State
from demem_agent.text.language.numbers import digits
from demem_agent.text.language.words import content_terms
from demem_agent.types import Context, Verdict, number_of

__all__ = ["verdicts_after"]

#: What a text says for a line that holds all of it.
TOLD = 6.0
#: What a rating of 1 says for a line, and one of 0 against it.
RATED = 3.0
#: A line must hold this share of the words of a text, by worth, to be what the text speaks for.
HELD = 0.3
#: Lines of memory that a text is looked for in, besides those that were read.
FOUND = 20
#: What a word counts that the question does not have.
NEWS = 1.5
#: What a word counts that stands in the line before or after.
BESIDE = 0.5
#: What a line is ahead by that the asker said.
OWN = 0.15


@dataclass(frozen=True, slots=True)
class _Told:
    """The words of a text that tells what would have been right, each with its worth."""

    worth: Mapping[str, float]

    def share(self, state: State, stretch: Stretch) -> float:
        """Return the share of the text that a line holds, with what its neighbours add."""
        own = _words(state, stretch)
        beside = _words_beside(state, stretch) - own
        held = self.held(own)
        added = self.held(beside)
        return (held + BESIDE * added) / max(sum(self.worth.values()), 1e-9)

    def held(self, words: Set[str]) -> float:
        """Return the worth of the words of the text that are among some."""
        if self.worth.keys().isdisjoint(words):  # as of most lines
            return 0.0
        return sum(worth for word, worth in self.worth.items() if word in words)


def verdicts_after(
    state: State, context: Context, signal: Signal, level: float, remembered: str | None
) -> tuple[Verdict, ...]:
    """Return the verdicts of a context with what one more feedback says.

    Args:
        level: the reward that it comes to, in [0, 1].
        remembered: id of the evidence that a correction was remembered as.
    """
    total: defaultdict[Stretch, float] = defaultdict(float)
    for item, start, end, weight in context.verdicts:
        total[item, start, end] += weight
    for stretch, weight in _said(state, context, signal, level, remembered):
        total[stretch] += round(weight, 4)  # so that sums do not depend on their order
    found: list[Verdict] = []
    for (item, start, end), weight in total.items():
        if item in state.evidence and round(weight, 4):
            found.append((item, start, end, round(weight, 4)))
    return tuple(sorted(found, key=_place))


def _place(verdict: Verdict) -> tuple[int, int, int]:
    return number_of(verdict[0]), verdict[1], verdict[2]


def _said(
    state: State, context: Context, signal: Signal, level: float, remembered: str | None
) -> Iterable[tuple[Stretch, float]]:
    """Yield the lines that one feedback speaks of, with what it says."""
    lead = _lead(state, context)
    right = None
    if remembered is not None and remembered in state.evidence:
        right = (remembered, 0, len(state.evidence[remembered].text))
        yield right, TOLD
    elif signal.reference is not None:
        right, share = _right_line(state, context, signal)
        if right is not None:
            yield right, TOLD * share
    rates = signal.reward is not None or row_of(signal.channel).tells == "votes"
    if rates and lead is not None and lead != right:
        yield lead, RATED * (2 * level - 1)


def _lead(state: State, context: Context) -> Stretch | None:
    """Return the line that the answer rests on before others, if it is live."""
    if context.lead is None or context.lead >= len(context.read):
        return None
    lead = context.read[context.lead]
    return lead if lead[0] in state.evidence else None


def _right_line(state: State, context: Context, signal: Signal) -> tuple[Stretch | None, float]:
    """Return the line that holds most of a text, and its share of it.

    Where the answer was rated as well, the line that it rests on is that line, or cannot be.
    """
    told = _Told(_worth(state, context, signal.reference or ""))
    lead = _lead(state, context)
    ruled_out = _ruled_out(state, context)
    candidates = [
        stretch
        for stretch in _candidates(state, context, signal.reference or "")
        if stretch not in ruled_out
    ]
    if signal.reward is not None and lead is not None:
        given = _given(state, context, told, lead)
        if signal.reward >= REWARDED and told.share(state, given) >= HELD:
            return given, 1.0
        candidates = [stretch for stretch in candidates if stretch != lead]
    best: Stretch | None = None
    most = 0.0
    for stretch in candidates:
        share = told.share(state, stretch)
        ahead = OWN if _is_own(state, context, stretch) else 0.0
        if share >= HELD and share + ahead > most:
            best = stretch
            most = share + ahead
    return best, min(most, 1.0)


def _given(state: State, context: Context, told: _Told, lead: Stretch) -> Stretch:
    """Return the line that an answer has most of a text from; of several the one it rests on."""
    answer = set(content_terms(context.answer))
    best = lead
    most = told.held(answer & _words(state, lead))
    for line in context.read:
        held = told.held(answer & _words(state, line)) if line[0] in state.evidence else 0.0
        if held > most:
            best, most = line, held
    return best


def _ruled_out(state: State, context: Context) -> set[Stretch]:
    """Return the lines that ratings speak against where the same was decided before."""
    if not state.settings.decisions:
        return set()
    asked = Asked(context.query, context.asker, frozenset(context.conditions))
    known = state.derived.decisions.recognised(asked, state.passage_index())
    found: set[Stretch] = set()
    for one in known:
        if one.id == context.id:  # so that what is said of one answer may come in any order
            continue
        for item, start, end, weight in state.contexts[one.id].context.verdicts:
            if weight <= -RATED / 2:
                found.add((item, start, end))
    return found


def _is_own(state: State, context: Context, stretch: Stretch) -> bool:
    speaker = state.evidence[stretch[0]].speaker
    if context.asker is None or speaker is None:
        return False
    return speaker.casefold() == context.asker.casefold()


def _worth(state: State, context: Context, text: str) -> dict[str, float]:
    """Weigh the words of a text by how rare they are; what the question has not is news."""
    lexical = state.passage_index().lexical
    asked = set(content_terms(digits(context.query)))
    worth = {}
    for word in content_terms(digits(text)):
        worth[word] = lexical.idf(word) * (1.0 if word in asked else NEWS)
    return worth


def _candidates(state: State, context: Context, text: str) -> list[Stretch]:
    """Return what was read, then the other lines of memory that hold most words of a text."""
    index = state.passage_index()
    found = {stretch: None for stretch in context.read if stretch[0] in state.evidence}
    words = content_terms(f"{text} {digits(text)}")  # a line may have a number in either form
    shares = index.lexical.scores(words)[1]
    for row in (-shares).argsort(kind="stable")[:FOUND]:
        found[index.passages[row].stretch] = None
    return list(found)


def _words(state: State, stretch: Stretch) -> frozenset[str]:
    """Return the words of a line and of its speaker's name."""
    item, start, end = stretch
    return state.cache.words_of(state.evidence[item], start, end)


def _words_beside(state: State, stretch: Stretch) -> set[str]:
    """Return the words of the lines before and after a line, in its session."""
    index = state.passage_index()
    rows = rows_of(index, [stretch])
    sessions = index.session.view()
    found: set[str] = set()
    for row in (rows[0] - 1, rows[-1] + 1):
        if 0 <= row < len(index) and sessions[row] == sessions[rows[0]]:
            found |= _words(state, index.passages[row].stretch)
    return found
