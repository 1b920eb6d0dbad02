"""A certificate as a person can follow it: what sharing would cost, and what was done about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from demem_agent import SplitCertificate
from demem_agent.channels import row_of
from demem_agent.cli.tables.cells import (
    add_columns,
    add_figures,
    cell,
    counted,
    grid,
    number,
    numbers,
    sentence,
    table,
)
from demem_agent.types import Candidate

__all__ = ["certificate_parts", "certificates_table", "decision_words"]

_NAMES = {
    "current": "the slot as it is",
    "split first": "the first part of a split",
    "split second": "the second part of a split",
}


def certificate_parts(certificate: SplitCertificate) -> Iterator[RenderableType]:
    """Yield the parts of a certificate.

    They are the pair, the answers, the candidates, the radius against the threshold with the
    decision, and the conditions.
    """
    letters = _letters(certificate)
    yield cell(f"Certificate {certificate.id}: {decision_words(certificate)}", "bold")
    yield _pair(certificate)
    yield _answers(letters)
    yield _candidates(certificate, letters)
    yield _verdict(certificate)
    if certificate.rivals:
        yield cell(_scope(certificate))
    yield cell(f"Conditions: {certificate.conditions}.", "dim")


def _scope(certificate: SplitCertificate) -> str:
    """Say what a certificate that names rivals says of readings."""
    if certificate.undone:
        return "It was taken back, and says nothing of readings any more."
    sides = zip(certificate.pair, reversed(certificate.rivals), strict=True)
    told = [f"where {id} is decided again, {item} stands behind" for id, (item, *_) in sides]
    return f"In readings: {'; '.join(told)}."


def certificates_table(certificates: Sequence[SplitCertificate]) -> Table:
    """Show one line a certificate."""
    shown = table()
    add_columns(shown, "id", "pair", no_wrap=True)
    shown.add_column("questions", overflow="fold", ratio=1)
    add_figures(shown, "radius", "threshold")
    shown.add_column("decision", overflow="fold")
    for certificate in certificates:
        queries = [query or "(forgotten)" for query in certificate.queries]
        shown.add_row(
            certificate.id,
            " ".join(certificate.pair),
            cell("\n".join(queries)),
            number(certificate.radius),
            number(certificate.threshold),
            cell(decision_words(certificate)),
        )
    return shown


def decision_words(certificate: SplitCertificate) -> str:
    """Say what was done."""
    if certificate.decision == "suppressed":
        taken_back = ", taken back" if certificate.undone else ""
        pinned = "is pinned and " if certificate.pinned else ""
        held = f"suppressed, slot {certificate.slot} {pinned}stays whole"
        if certificate.undivided and not (certificate.saturated or certificate.pinned):
            held = "suppressed, there is nothing to divide"
        return f"{held}{taken_back}"
    undone = ", undone" if certificate.undone else ""
    return f"slot {certificate.slot} split, slot {certificate.new_slot} opened{undone}"


def _letters(certificate: SplitCertificate) -> dict[str, str]:
    """Name every answer that was given by a letter: most contents give the same few."""
    letters: dict[str, str] = {}
    for candidate in certificate.candidates:
        for answer in candidate.answers:
            letters.setdefault(answer, chr(ord("A") + len(letters)))
    return letters


def _pair(certificate: SplitCertificate) -> Table:
    pair = grid()
    both = zip(certificate.pair, certificate.queries, certificate.channels, strict=True)
    for id, query, channel in both:
        known_by = cell(f"  [{row_of(channel).words}]", "dim")
        pair.add_row(id, sentence(query or "(forgotten)", known_by))
    return pair


def _answers(letters: Mapping[str, str]) -> Table:
    answers = grid()
    for answer, letter in letters.items():
        answers.add_row(f"{letter} ", cell(answer or "(nothing, or forgotten)"))
    return answers


def _candidates(certificate: SplitCertificate, letters: Mapping[str, str]) -> Table:
    shown = table(framed=True)
    shown.add_column("if both shared", overflow="fold")
    add_columns(shown, "question", "answered")
    shown.add_column("scores", justify="right", no_wrap=True)
    add_columns(shown, "reward within", no_wrap=True)
    add_figures(shown, "loses at least")
    for candidate in certificate.candidates:
        name = cell(_name(candidate))
        held = cell(_held(certificate, candidate), "dim")
        first = _side(certificate, candidate, 0, letters)
        second = _side(certificate, candidate, 1, letters)
        shown.add_row(name, *first)
        shown.add_row(held, *second, end_section=True)
    return shown


def _held(certificate: SplitCertificate, candidate: Candidate) -> str:
    if certificate.regime in ("confidence sequence", "pairwise preference"):
        return "(whatever it was read from)"
    if certificate.regime == "rival lines":
        return "(in the default reading)"
    return f"({counted({'items': len(candidate.cover)})} in it)"


def _name(candidate: Candidate) -> str:
    if candidate.name in _NAMES:
        return _NAMES[candidate.name]
    if candidate.slot is None:
        return candidate.name
    return f"slot {candidate.slot}, where one is routed"


def _side(
    certificate: SplitCertificate, candidate: Candidate, n: int, letters: Mapping[str, str]
) -> tuple[Text, ...]:
    """Return the cells of one question of the pair under one candidate."""
    loss = candidate.losses[n]
    is_worst = loss == max(candidate.losses)
    return (
        cell(certificate.pair[n]),
        cell(letters[candidate.answers[n]]),
        cell(numbers(candidate.scores[n]) or "unknown"),
        cell(f"[{number(candidate.lower[n])}, {number(candidate.upper[n])}]"),
        cell(number(loss), "bold" if is_worst else "dim"),
    )


def _verdict(certificate: SplitCertificate) -> Text:
    worst = [number(max(candidate.losses)) for candidate in certificate.candidates]
    radius = f"{number(certificate.radius)} > {number(certificate.threshold)}"
    slots = "all slots were active" if certificate.saturated else "a slot was free"
    return sentence(
        f"Whichever they share, one of the two loses at least {', '.join(worst)}. ",
        "The smallest is the radius: ",
        cell(radius, "bold"),
        f", the threshold while {slots}. Hence: ",
        cell(decision_words(certificate), "bold"),
        ".",
    )
