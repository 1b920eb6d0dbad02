"""A certificate as a person can follow it: what sharing each content would cost, and what was done
about it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from demem_agent import SplitCertificate
from demem_agent.cli.tables.cells import cell, grid, number, numbers, sentence, table
from demem_agent.feedback.channels import row_of
from demem_agent.types import Candidate

__all__ = ["certificate_parts", "certificates_table", "decision_words"]

_NAMES = {
    "current": "the slot as it is",
    "split first": "the first part of a split",
    "split second": "the second part of a split",
}


def certificate_parts(certificate: SplitCertificate) -> Iterator[RenderableType]:
    """Give the pair, the answers, the candidates, the radius against the threshold, the decision,
    the conditions.
    """
    letters = _letters(certificate)
    yield cell(f"Certificate {certificate.id}: {decision_words(certificate)}", "bold")
    yield _pair(certificate)
    yield _answers(letters)
    yield _candidates(certificate, letters)
    yield _verdict(certificate)
    yield cell(f"Conditions: {certificate.conditions}.", "dim")


def certificates_table(certificates: Sequence[SplitCertificate]) -> Table:
    """Show one line a certificate."""
    shown = table()
    for name in ("id", "pair"):
        shown.add_column(name, no_wrap=True)
    shown.add_column("questions", overflow="fold", ratio=1)
    for name in ("radius", "threshold"):
        shown.add_column(name, justify="right")
    shown.add_column("decision", overflow="fold")
    for certificate in certificates:
        shown.add_row(
            certificate.id,
            " ".join(certificate.pair),
            cell("\n".join(query or "(forgotten)" for query in certificate.queries)),
            number(certificate.radius),
            number(certificate.threshold),
            cell(decision_words(certificate)),
        )
    return shown


def decision_words(certificate: SplitCertificate) -> str:
    """Say what was done."""
    if certificate.decision == "suppressed":
        return f"suppressed, slot {certificate.slot} {'is pinned and ' if certificate.pinned else ''}stays whole"
    return f"slot {certificate.slot} split, slot {certificate.new_slot} opened{', undone' if certificate.undone else ''}"


def _letters(certificate: SplitCertificate) -> dict[str, str]:
    """Name every answer that was given by a letter: most contents give the same few."""
    answers = dict.fromkeys(
        answer for candidate in certificate.candidates for answer in candidate.answers
    )
    return {answer: chr(ord("A") + n) for n, answer in enumerate(answers)}


def _pair(certificate: SplitCertificate) -> Table:
    pair = grid()
    for id, query, channel in zip(
        certificate.pair, certificate.queries, certificate.channels, strict=True
    ):
        pair.add_row(
            id, sentence(query or "(forgotten)", cell(f"  [{row_of(channel).words}]", "dim"))
        )
    return pair


def _answers(letters: Mapping[str, str]) -> Table:
    answers = grid()
    for answer, letter in letters.items():
        answers.add_row(f"{letter} ", cell(answer or "(nothing, or forgotten)"))
    return answers


def _candidates(certificate: SplitCertificate, letters: Mapping[str, str]) -> Table:
    shown = table(framed=True)
    shown.add_column("if both shared", overflow="fold")
    for name in ("question", "answered"):
        shown.add_column(name)
    shown.add_column("scores", justify="right", no_wrap=True)
    shown.add_column("reward within", no_wrap=True)
    shown.add_column("loses at least", justify="right")
    for candidate in certificate.candidates:
        held = f"({len(candidate.cover)} item{'' if len(candidate.cover) == 1 else 's'} in it)"
        if certificate.regime == "confidence sequence":
            held = "(whatever it was read from)"
        shown.add_row(cell(_name(candidate)), *_side(certificate, candidate, 0, letters))
        shown.add_row(
            cell(held, "dim"), *_side(certificate, candidate, 1, letters), end_section=True
        )
    return shown


def _name(candidate: Candidate) -> str:
    if candidate.slot is None:
        return _NAMES.get(candidate.name, candidate.name)
    return _NAMES.get(candidate.name) or f"slot {candidate.slot}, where one is routed"


def _side(
    certificate: SplitCertificate, candidate: Candidate, n: int, letters: Mapping[str, str]
) -> tuple[Text, ...]:
    loss = candidate.losses[n]
    return (
        cell(certificate.pair[n]),
        cell(letters[candidate.answers[n]]),
        cell(numbers(candidate.scores[n]) or "unknown"),
        cell(f"[{number(candidate.lower[n])}, {number(candidate.upper[n])}]"),
        cell(number(loss), "bold" if loss == max(candidate.losses) else "dim"),
    )


def _verdict(certificate: SplitCertificate) -> Text:
    worst = ", ".join(number(max(candidate.losses)) for candidate in certificate.candidates)
    slots = "all slots were active" if certificate.saturated else "a slot was free"
    return sentence(
        f"Whichever they share, one of the two loses at least {worst}. The smallest is the radius: ",
        cell(f"{number(certificate.radius)} > {number(certificate.threshold)}", "bold"),
        f", the threshold while {slots}. Hence: ",
        cell(decision_words(certificate), "bold"),
        ".",
    )
