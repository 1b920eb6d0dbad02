"""Does a likeness of descriptions tell which two questions can share a memory state?

Paper: appendix "Prevalence of Description-Evidence Mismatch", analysis 1. For pairs of questions
about one dialogue:

* description similarity: the cosine of the directions of two texts' vectors. "Dialogue-history
  segments associated with" a question are taken as the whole sessions of its gold turns, as these
  turns alone, and, beside them, as the question itself;
* evidence compatibility: the gold turns of both, in order of time, are cut off at L characters, and
  it is the share of the two questions of which all gold is held after that: 0, .5 or 1. The paper
  has a model answer from the cut text and judges mark it; a question whose gold is cut off cannot
  be answered, whoever answers it.

Spearman's correlation is that of both; AUC says how well the similarity ranks pairs of which both
hold above the others. Both are of each dialogue, and their mean over dialogues is drawn by
dialogue, since pairs that share a question are not independent: the paper's p is too small for
that.

Prevalence: of the quarter of pairs that are most alike the share that cannot share, and of the
quarter that are least alike the share that can.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from demem_agent.encoders import as_matrix, default_encoder
from demem_agent.evaluate.bootstrap import Interval
from demem_agent.evaluate.data.dialogue import Dialogue, Probe
from demem_agent.evaluate.grouping import grouped
from demem_agent.evaluate.ranks import area, spearman
from demem_agent.slots.records import direction
from demem_agent.studies.intervals import Intervals
from demem_agent.studies.paper import MISMATCH
from demem_agent.studies.sheets import Cell, Sheet, SheetRow
from demem_agent.text.language.words import clean
from demem_agent.turns import Turn
from demem_agent.types import Encoder

__all__ = ["DESCRIPTIONS", "LENGTHS", "Pair", "held_after_cutting", "pairs_of", "similarity_sheets"]

#: What is compared, by name.
DESCRIPTIONS = ("sessions", "gold turns", "questions")
#: L, in characters: the memory's own, and shorter ones, as the gold of two is seldom 2,000 long.
LENGTHS = (2000, 800, 400, 200)
#: The length at which categories and prevalence are told.
_TOLD = 400

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two questions of one dialogue.

    Attributes:
        first, second: their numbers in the dialogue's probes.
        category: of both; "" where they differ.
        alike: by description, the cosine.
        held: by L as text, the share of the two whose gold is held, 0, .5 or 1.
    """

    dialogue: str
    first: int
    second: int
    category: str
    alike: Mapping[str, float]
    held: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question with gold: the places of its turns, and a direction by description."""

    number: int
    category: str
    places: tuple[int, ...]
    directions: Mapping[str, Vector]


def pairs_of(
    dialogue: Dialogue, *, most: int = 1000, seed: int = 0, encoder: Encoder | None = None
) -> list[Pair]:
    """Return pairs of a dialogue's questions that have gold, drawn where there are more.

    Args:
        most: pairs, >= 1; the paper has 1,000 of all its dialogues together.
        encoder: the shipped one unless given.
    """
    asked = list(_asked(dialogue, encoder or default_encoder()))
    pairs = list(combinations(asked, 2))
    if len(pairs) > most:
        rng = np.random.default_rng(seed)
        chosen = np.sort(rng.choice(len(pairs), most, replace=False))
        pairs = [pairs[number] for number in chosen.tolist()]
    texts = [_said(turn) for turn in dialogue.turns]
    return [_pair(dialogue.name, texts, *pair) for pair in pairs]


def held_after_cutting(
    texts: Sequence[str], first: Sequence[int], second: Sequence[int], length: int
) -> float:
    """Return the share of two questions whose gold is whole after all gold is cut off at L.

    Args:
        texts: of all turns; first, second: the places of each question's gold in them.
        length: L, in characters; a line break stands between turns.
    """
    ends: dict[int, int] = {}
    end = -1
    for place in sorted({*first, *second}):
        end += 1 + len(texts[place])
        ends[place] = end
    return float(np.mean([max(map(ends.__getitem__, own)) <= length for own in (first, second)]))


def similarity_sheets(pairs: Sequence[Pair], seed: int) -> tuple[Sheet, ...]:
    """Sum up pairs: what descriptions tell at each L, by category, and how often they mislead."""
    of = Intervals(seed)
    return (_by_length(pairs, of), _by_category(pairs, of), _prevalence(pairs, of))


def _said(turn: Turn) -> str:
    return f"{turn.speaker}: {turn.text}" if turn.speaker else turn.text


def _asked(dialogue: Dialogue, encoder: Encoder) -> Iterator[_Asked]:
    """Yield the questions with gold, each with the directions of its descriptions."""
    vectors = _vectors([_said(turn) for turn in dialogue.turns], encoder)
    sessions = grouped(range(len(dialogue.turns)), lambda n: dialogue.turns[n].session)
    questions = _vectors([probe.question for probe in dialogue.probes], encoder)
    for number, probe in enumerate(dialogue.probes):
        places = tuple(_gold_places(dialogue.turns, probe))
        if places:
            whole = {n for place in places for n in sessions[dialogue.turns[place].session]}
            directions = {
                "sessions": direction(vectors[sorted(whole)].sum(axis=0)),
                "gold turns": direction(vectors[list(places)].sum(axis=0)),
                "questions": direction(questions[number]),
            }
            yield _Asked(number, probe.category, places, directions)


def _gold_places(turns: Sequence[Turn], probe: Probe) -> Iterator[int]:
    wanted = set(probe.evidence) if probe.has_answer else set()
    for place, turn in enumerate(turns):
        if turn.source_id in wanted:
            yield place


def _vectors(texts: Sequence[str], encoder: Encoder) -> Vector:
    return as_matrix(encoder.encode(list(map(clean, texts))), len(texts))


def _pair(dialogue: str, texts: Sequence[str], one: _Asked, other: _Asked) -> Pair:
    alike = {
        name: round(float(one.directions[name] @ other.directions[name]), 4)
        for name in DESCRIPTIONS
    }
    held = {
        str(length): held_after_cutting(texts, one.places, other.places, length)
        for length in LENGTHS
    }
    category = one.category if one.category == other.category else ""
    return Pair(dialogue, one.number, other.number, category, alike, held)


def _by_length(pairs: Sequence[Pair], of: Intervals) -> Sheet:
    rows: list[SheetRow] = [("paper, all pairs", (1000, None, *MISMATCH["all"]))]
    for length, name in product(LENGTHS, DESCRIPTIONS):
        told = _told(pairs, name, length, of)
        rows.append((f"L = {length:,}, {name}", told))
    columns = ("pairs", "both held", "Spearman", "AUC")
    return Sheet("What a likeness tells of who can share a state", columns, tuple(rows))


def _by_category(pairs: Sequence[Pair], of: Intervals) -> Sheet:
    rows: list[SheetRow] = []
    for category, own in grouped(pairs, lambda pair: pair.category).items():
        if category:
            told = _told(own, "sessions", _TOLD, of)
            rows.append((category, (*told, *MISMATCH.get(category, (None, None)))))
    columns = ("pairs", "both held", "Spearman", "AUC", "paper: Spearman", "paper: AUC")
    title = f"By category, sessions, at L = {_TOLD}: pairs within one"
    return Sheet(title, columns, tuple(rows))


def _told(pairs: Sequence[Pair], name: str, length: int, of: Intervals) -> tuple[Cell, ...]:
    """Return how many pairs there are, how many can share, and what a likeness tells of it."""
    both = of.over(pairs, lambda pair: _both(pair, length))
    correlations: dict[str, float] = {}
    areas: dict[str, float] = {}
    for dialogue, own in grouped(pairs, lambda pair: pair.dialogue).items():
        alike = [pair.alike[name] for pair in own]
        held = [pair.held[str(length)] for pair in own]
        correlation = spearman(alike, held)
        if correlation is not None:
            correlations[dialogue] = correlation
        can = [value for value, share in zip(alike, held, strict=True) if share == 1]
        cannot = [value for value, share in zip(alike, held, strict=True) if share < 1]
        ranked = area(can, cannot)
        if ranked is not None:
            areas[dialogue] = ranked
    return len(pairs), both, _mean(correlations, of), _mean(areas, of)


def _both(pair: Pair, length: int) -> bool:
    return pair.held[str(length)] == 1


def _not_both(pair: Pair, length: int) -> bool:
    return not _both(pair, length)


def _mean(values: Mapping[str, float], of: Intervals) -> Interval | None:
    """Return the mean over dialogues; None where no dialogue has the measure."""
    return of.mean(list(values.values()), list(values)) if values else None


def _prevalence(pairs: Sequence[Pair], of: Intervals) -> Sheet:
    rows: list[SheetRow] = []
    for length, name in product(LENGTHS, DESCRIPTIONS):
        alike, unlike = _quarters(pairs, name)
        can = partial(_both, length=length)
        cannot = partial(_not_both, length=length)
        row = (of.over(alike, cannot), of.over(unlike, can))
        rows.append((f"L = {length:,}, {name}", row))
    columns = ("most alike, cannot share", "least alike, can share")
    title = "How often a likeness misleads: the most and the least alike quarter of pairs"
    return Sheet(title, columns, tuple(rows))


def _quarters(pairs: Sequence[Pair], name: str) -> tuple[list[Pair], list[Pair]]:
    """Return of each dialogue the quarter of pairs that are most alike, and the least."""
    most: list[Pair] = []
    least: list[Pair] = []
    for own in grouped(pairs, lambda pair: pair.dialogue).values():
        ordered = sorted(own, key=lambda pair: (pair.alike[name], pair.first, pair.second))
        quarter = max(1, len(ordered) // 4)
        least += ordered[:quarter]
        most += ordered[-quarter:]
    return most, least
