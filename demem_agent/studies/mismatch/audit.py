"""Audit description against decision: who can share a state, and why retrieval fails."""

from __future__ import annotations

from collections.abc import Sequence

from demem_agent.evaluate.data.dialogue import Dialogue
from demem_agent.studies.asking import Tick, ticked
from demem_agent.studies.mismatch.attribution import Failure, attributed, attribution_sheets
from demem_agent.studies.mismatch.similarity import Pair, pairs_of, similarity_sheets
from demem_agent.studies.sheets import Found

__all__ = ["audit_mismatch"]

NOTES = (
    "Both held: the gold of two questions, in order of time and cut off at L, still holds all of "
    "both; the paper has a model answer from the cut text, and judges. Spearman and AUC: of the "
    "likeness and of who is held; means over dialogues. A failure is a miss (no gold read), "
    "dilution (some), contradiction (all, and another line is quoted) or other. Evidence: gold "
    "that the reading by cosine lacks and this memory's has.",
)


def audit_mismatch(
    dialogues: Sequence[Dialogue], *, seed: int = 0, tick: Tick | None = None
) -> Found:
    """Compare descriptions with decisions in each dialogue, and sum up."""
    pairs: list[Pair] = []
    failures: list[Failure] = []
    for dialogue in ticked(dialogues, tick):
        pairs += pairs_of(dialogue, seed=seed)
        failures += attributed(dialogue)
    sheets = (*similarity_sheets(pairs, seed), *attribution_sheets(failures, seed))
    return Found([*pairs, *failures], sheets, NOTES)
