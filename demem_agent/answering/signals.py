"""What is seen of a sentence that may answer a question, and of an answer that quotes some.

Words meet as in the late interaction of ColBERT (Khattab and Zaharia, 2020): each content word of
the question by the nearest word of the sentence, one of the same stem fully, and rare words of the
reading count more.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from demem_agent.answering.candidates import Sentence
from demem_agent.changes.owners import narrates
from demem_agent.encoders import as_matrix
from demem_agent.later import dataclass, pattern
from demem_agent.scoring.intent import Intent, intent_of
from demem_agent.scoring.odds import logit
from demem_agent.scoring.wording import Wording, wording_of
from demem_agent.text.language.words import clean
from demem_agent.text.times.named import names_time_in_any_language
from demem_agent.types import Encoder, Line, Question, number_of

__all__ = ["ANSWER", "SENTENCE", "Seen", "seen"]

Floats = NDArray[np.float64]
Marks = NDArray[np.bool_]

_WORD = pattern(r"[^\W_]+")

#: What is seen of a sentence.
SENTENCE = (
    "behind",  # points of the score by which its line is behind the best line; at most 0
    "bears",  # log-odds that its line bears on the question
    "cosine",  # of the question and the sentence, in [-1, 1]
    "line_cosine",  # of the question and the line
    "met",  # share of the question's words that its words stand for, in [0, 1]
    "line_met",  # the same of its line
    "asks",  # whether it ends with a question mark
    "echo",  # share of its own words that the question has, in [0, 1]
    "answers",  # how far what another speaker said right before it asks the same, in [0, 1]
    "reply",  # probability that the assistant's words are asked for, where those are its own
    "stale",  # whether what it says is marked as superseded
    "replaced",  # whether its line stands behind another one as a whole
    "later",  # how near a later sentence is, in [0, 1], the less the further its line is behind
    "later_now",  # the same, unless it is asked how it was
    "time",  # whether a time is asked for, and it names one
    "number",  # whether a number is asked for, and it has one
    "length",  # logarithm of its characters
    "named",  # whether the question has the name of who says it
)
#: What is seen of an answer that quotes one sentence before others.
ANSWER = (
    "held",  # log-odds that the memory holds what is asked
    "bears",  # as of the sentence
    "share",  # logarithm of the probability that the sentence answers, before others
    "met",  # as of the sentence
    "most_met",  # of the sentence that meets most
    "weakest",  # the least that a word of the question is met by the line
    "weakest_read",  # the least that one is met by any line
    "lacking",  # the most that a word of the question counts that no line meets
    "time",  # as of the sentence
    "number",  # as of the sentence
    "reply",  # as of the sentence
    "answers",  # as of the sentence
    "line_cosine",  # as of the sentence
)
_OF_FIRST = ("bears", "met", "time", "number", "reply", "answers", "line_cosine")
#: Characters of each end of a question whose words are looked at.
_END = 500
#: What meeting a word that is not the same one counts at most.
_RELATED = 0.95
#: Points of the score by which a line is behind the best before a later one says nothing.
_FAR = 4.0
_QUESTION_MARKS = ("?", "？", "؟")


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """What is seen of n sentences, at least one, for a question of m words.

    Attributes:
        table: :data:`SENTENCE`, shape (n, len(SENTENCE)).
        met: how far each word of the question is met by each sentence's line, shape (n, m).
        counts: what each word counts, shape (m,).
        held: log-odds that the memory holds what is asked.
    """

    table: Floats
    met: Floats
    counts: Floats
    held: float

    def of(self, name: str) -> Floats:
        """Return a column of the table, shape (n,)."""
        column: Floats = self.table[:, SENTENCE.index(name)]
        return column

    def answer(self, first: int, share: float) -> Floats:
        """Return :data:`ANSWER` of an answer, shape (len(ANSWER),).

        Args:
            first: which sentence is quoted before others.
            share: logarithm of the probability that it answers, before other sentences.
        """
        of_any = self.met.max(axis=0)
        found = {
            **{name: float(self.of(name)[first]) for name in _OF_FIRST},
            "held": self.held,
            "share": share,
            "most_met": float(self.of("met").max()),
            "weakest": float(self.met[first].min(initial=1.0)),
            "weakest_read": float(of_any.min(initial=1.0)),
            "lacking": float(((1.0 - of_any) * self.counts).max(initial=0.0)),
        }
        return np.array([found[name] for name in ANSWER])


def seen(question: Question, found: Sequence[Sentence], encoder: Encoder) -> Seen:
    """Return what is seen of some sentences, at least one.

    Args:
        encoder: that places the question and the sentences.
    """
    query = question.query
    if len(query) > 2 * _END:
        query = f"{query[:_END]} {query[-_END:]}"
    intent = intent_of(question.query, question.at.date() if question.at else None)
    lines = list(dict.fromkeys(one.line for one in found))
    place = {line: nth for nth, line in enumerate(lines)}
    of_line = np.array([place[one.line] for one in found])
    cosine, line_cosine, alike = _cosines(query, found, lines, encoder)
    named = _named(question.query, found)
    told = (
        f"{one.evidence.speaker}: {one.text}" if by else one.text
        for one, by in zip(found, named.tolist(), strict=True)
    )
    words = wording_of([query, *told])
    met, counts = _meeting(words)
    own_met = met @ counts / max(counts.sum(), 1e-9)
    echo = _echoes(words)
    line_met = np.stack([met[of_line == line].max(axis=0) for line in of_line])
    scores = np.array([one.line.score for one in found])
    now = 0.0 if intent.before else 1.0
    later = _later(found, alike, scores)
    columns = {
        "behind": scores - scores.max(),
        "bears": np.array([logit(one.line.probability) for one in found]),
        "cosine": cosine,
        "line_cosine": line_cosine[of_line],
        "met": own_met,
        "line_met": line_met @ counts / max(counts.sum(), 1e-9),
        "echo": echo,
        "answers": _after_echoes(found, echo * own_met),
        "later": later,
        "later_now": now * later,
        "named": named,
        **_told(question, intent, words, found),
    }
    table = np.stack([columns[name] for name in SENTENCE], axis=1)
    return Seen(table, line_met, counts, logit(question.reading.probability))


def _named(query: str, found: Sequence[Sentence]) -> Marks:
    """Return whether a question has the name of who says each sentence, shape (n,)."""
    asked = set(_WORD.findall(query.lower()))
    speakers = [_WORD.findall((one.evidence.speaker or "").lower()) for one in found]
    return np.array([not asked.isdisjoint(names) for names in speakers])


def _told(
    question: Question, intent: Intent, words: Wording, found: Sequence[Sentence]
) -> dict[str, Floats]:
    """Return what each sentence shows by itself."""
    behind = [last for last, _ in question.reading.replaced]
    reply = intent.message.reply
    rows = []
    for nth, one in enumerate(found):
        text, speaker = one.text, one.evidence.speaker or ""
        own = slice(words.starts[nth + 1], words.starts[nth + 2])
        rows.append(
            {
                "asks": text.rstrip().endswith(_QUESTION_MARKS),
                "reply": reply if narrates(speaker) else 0.0,
                "stale": one.superseded is not None,
                "replaced": one.is_within_any(behind) and not one.replaced,
                "time": intent.is_of_time and names_time_in_any_language(text),
                "number": intent.is_of_number and bool(words.number[own].any()),
                "length": np.log(max(len(text), 1)),
            }
        )
    return {name: np.array([row[name] for row in rows], np.float64) for name in rows[0]}


def _cosines(
    query: str, found: Sequence[Sentence], lines: Sequence[Line], encoder: Encoder
) -> tuple[Floats, Floats, Floats]:
    """Return the cosines of the question and n sentences and m lines; and of all sentences.

    Shapes (n,), (m,) and (n, n).
    """
    texts = [clean(one) for one in (query, *(s.text for s in found), *(ln.text for ln in lines))]
    vectors = as_matrix(encoder.encode(texts), len(texts)).astype(np.float64)
    own = vectors[1 : len(found) + 1]
    to_query = vectors[1:] @ vectors[0]
    return to_query[: len(found)], to_query[len(found) :], own @ own.T


def _meeting(words: Wording) -> tuple[Floats, Floats]:
    """Return how far each sentence meets each word of the question, and what each word counts.

    The words of the question are the first line of ``words``. Shapes (n, m) and (m,).
    """
    n = len(words.starts) - 2
    first = np.arange(words.starts[1])
    asked = first[words.content[first]]
    if not len(asked):
        asked = first[~words.mark[first]]
    asked = asked[np.unique(words.stems[asked], return_index=True)[1]]
    said = slice(words.starts[1], None)
    length = np.linalg.norm(words.vectors, axis=1, keepdims=True)
    unit = words.vectors / np.maximum(length, 1e-9)
    near = np.clip(unit[asked] @ unit[said].T, 0.0, _RELATED).astype(np.float64)
    near[words.number[asked]] = 0.0  # no number stands for another
    near[words.stems[asked][:, None] == words.stems[said][None, :]] = 1.0
    met = np.zeros((n, len(asked)))
    for nth in range(n):
        begin, end = words.starts[nth + 1 : nth + 3] - words.starts[1]
        if end > begin:
            met[nth] = near[:, begin:end].max(axis=1)
    holding = (met > 0.75).sum(axis=0)
    return met, np.log1p(n / (1 + holding))


def _echoes(words: Wording) -> Floats:
    """Return the share of each sentence's content words that the question has; 1 for none of them.

    The words of the question are the first line of ``words``. Shape (n,).
    """
    asked = words.stems[: words.starts[1]]
    shares = []
    for begin, end in pairwise(words.starts[1:].tolist()):
        own = words.stems[begin:end][words.content[begin:end]]
        shares.append(float(np.isin(own, asked).mean()) if len(own) else 1.0)
    return np.array(shares)


def _after_echoes(found: Sequence[Sentence], echo: Floats) -> Floats:
    """Return by how much each sentence is of a reply to what echoes the question, shape (n,).

    Args:
        echo: how much each sentence does.
    """
    most: dict[int, tuple[float, str | None]] = {}
    for one, echoed in zip(found, echo.tolist(), strict=True):
        before = (echoed, one.evidence.speaker)
        number = number_of(one.evidence.id)
        most[number] = max(most.get(number, before), before, key=itemgetter(0))
    after = []
    for one in found:
        echoed, speaker = most.get(number_of(one.evidence.id) - 1, (0.0, None))
        after.append(echoed if speaker != one.evidence.speaker else 0.0)
    return np.array(after)


def _later(found: Sequence[Sentence], alike: Floats, scores: Floats) -> Floats:
    """Return how near a later sentence is to each, in [0, 1], shape (n,)."""
    order = np.array([number_of(one.evidence.id) for one in found])
    counts = np.clip(1.0 - (scores.max() - scores) / _FAR, 0.0, 1.0)
    near = np.clip(alike, 0.0, 1.0) * counts[None, :]
    found_later: Floats = (near * (order[None, :] > order[:, None])).max(axis=1)
    return found_later
