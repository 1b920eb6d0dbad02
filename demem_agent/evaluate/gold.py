"""What of a dialogue a question rests on: whole turns, or the words of them that are quoted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from demem_agent.errors import InvalidInput
from demem_agent.evaluate.data.dialogue import Probe
from demem_agent.evaluate.words import words
from demem_agent.turns import Turn

__all__ = ["TurnsById", "check_quotes", "gold_turns"]

#: Turns by their ``source_id``, which several may have.
TurnsById = Mapping[str | None, Sequence[Turn]]


def gold_turns(probe: Probe, turns: TurnsById) -> Iterator[Turn]:
    """Yield the turns that a question rests on, those with quotes once for each, cut to it.

    Args:
        turns: of the dialogue, with all that the question names as evidence.
    """
    for turn in _evidence(probe, turns):
        quotes = [quote for quote in probe.quotes if _has(turn, quote)]
        if not quotes:
            yield turn
        for quote in quotes:
            yield replace(turn, text=quote)


def check_quotes(field: str, probe: Probe, turns: TurnsById) -> None:
    """Check that every quote stands in the evidence of its question.

    Signs, case and white space are no matter.

    Raises:
        InvalidInput: naming the field, for one that does not, or that has no word in it.
    """
    evidence = list(_evidence(probe, turns))
    for quote in probe.quotes:
        if not words(quote) or not any(_has(turn, quote) for turn in evidence):
            raise InvalidInput(field, quote, "words in a row of a turn that is evidence")


def _evidence(probe: Probe, turns: TurnsById) -> Iterable[Turn]:
    for id in dict.fromkeys(probe.evidence):
        yield from turns[id]


def _has(turn: Turn, quote: str) -> bool:
    """Whether a turn has the words of a quote in a row."""
    return f" {' '.join(words(quote))} " in f" {' '.join(words(turn.text))} "
