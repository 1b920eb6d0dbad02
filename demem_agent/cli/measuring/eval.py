"""``demem eval``: how well memory finds the evidence in one's own conversation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from demem_agent.cli.measuring.trial import Trial
from demem_agent.cli.output import Output
from demem_agent.evaluate import load_own

__all__ = ["evaluate_own"]


def evaluate_own(
    turns: Annotated[
        Path,
        typer.Argument(metavar="TURNS.jsonl", exists=True, dir_okay=False, help="A turn a line."),
    ],
    questions: Annotated[
        Path,
        typer.Argument(
            metavar="QUESTIONS.jsonl", exists=True, dir_okay=False, help="A question a line."
        ),
    ],
    trial: Trial,
    output: Output,
) -> None:
    """Measure this memory, and others, on your own conversation and questions.

    A turn is as for demem ingest; a question is {"question": ..., "reference": ..., "evidence":
    [source ids of the turns that answer it], "quotes": [the exact words of these that must be read,
    where a turn is long], "category": ..., "at": ..., "answerable": ...}, of which the first two
    are needed; where nothing answers it, "answerable" is false, and it needs no reference.
    docs/evaluation.md defines what is measured, and shows how to add a system.
    """
    trial.ready()
    dialogue = load_own(turns, questions)
    document, parts = trial.told(trial.measure([dialogue]), data=dialogue.name)
    output.show(document, *parts)
