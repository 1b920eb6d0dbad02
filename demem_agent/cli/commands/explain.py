"""``demem explain``: why an answer came from where it did, why a slot was split, what holds now,
and why an action was chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import RenderableType

from demem_agent import Evidence, Route, SlotMemory, SplitCertificate
from demem_agent.cli.json_values import Json, decision_value, evidence_value, lines_value
from demem_agent.cli.memory_options import Place
from demem_agent.cli.output import Output
from demem_agent.cli.tables.cells import cell
from demem_agent.cli.tables.certificate import certificate_parts
from demem_agent.cli.tables.choices import explained_parts
from demem_agent.cli.tables.context import context_parts, lines_read
from demem_agent.cli.tables.decisions import verdict_text
from demem_agent.cli.tables.successions import succession_words, successions_table
from demem_agent.errors import CertificateRefused, InvalidInput, NotFound
from demem_agent.splitting.replaying import replay
from demem_agent.types import Context, Explained, Version, by_id

__all__ = ["explain"]

#: What an id is of, by its first letter.
_KINDS = {"a": "answer", "c": "certificate", "d": "decision", "e": "evidence"}


def explain(
    id: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            help="Of an answer, such as a1, a certificate, as c1, evidence, as e1, or a decision, "
            "as d1.",
        ),
    ],
    place: Place,
    output: Output,
) -> None:
    """Explain an answer, a certificate, what has become of a line, or a decision.

    An answer: why this slot and this evidence, and what feedback said of lines. A certificate:
    whether its numbers agree. Evidence: what has taken its place, and whose place it has taken. A
    decision among actions: what was known of each, and whether a certificate had parted its
    situation from those like it.
    """
    with place.open() as memory:
        if id in by_id(memory.decisions()):
            _explain_decision(memory.explain(id), output)
            return
        certificates = by_id(memory.certificates())
        if id in certificates:
            _explain_certificate(certificates[id], output)
            return
        items = by_id(memory.evidence())
        if id in items:
            _explain_line(items[id], items, memory.history(id), output)
            return
        contexts = by_id(memory.contexts())
        if id not in contexts:
            raise _not_found(id)
        naming = [certificate for certificate in certificates.values() if id in certificate.pair]
        _explain_answer(contexts[id], naming, memory, output)


def _not_found(id: str) -> NotFound | InvalidInput:
    kind = _KINDS.get(id[:1]) if id[1:].isdigit() else None
    if kind:
        return NotFound(kind, id)
    says = f"nothing has the id {id!r}: answers are a1, evidence e1, certificates c1, decisions d1"
    return InvalidInput("id", id, "of an answer, evidence, a certificate or a decision", says)


def _explain_decision(explained: Explained, output: Output) -> None:
    document = {**asdict(explained), "decision": decision_value(explained.decision)}
    output.show(document, *explained_parts(explained))


def _explain_certificate(certificate: SplitCertificate, output: Output) -> None:
    refusal = _refusal(certificate)
    replayed = {"agrees": refusal is None, "refusal": refusal}
    document = {**asdict(certificate), "replay": replayed}
    output.show(document, *certificate_parts(certificate), _replay_line(certificate, refusal))


def _explain_line(
    item: Evidence,
    live: Mapping[str, Evidence],
    versions: Sequence[Version],
    output: Output,
) -> None:
    """Show what was before an item and what came after it, as far as that goes."""
    chain = [one for version in versions for one in version.replaces]
    document = {"evidence": evidence_value(item), "successions": list(map(asdict, chain))}
    parts: list[RenderableType] = [cell(f"{item.id}: {item.text}", "bold")]
    own = [one for one in chain if one.old[0] == item.id]
    parts += [cell(succession_words(one, live)) for one in own]
    if not own:
        parts.append(cell("Nothing is known to have taken its place.", "dim"))
    if chain:
        parts.append(successions_table("The chain that it stands in", chain, live))
    output.show(document, *parts)


def _refusal(certificate: SplitCertificate) -> str | None:
    """Return why the certificate does not replay; None when it does."""
    try:
        replay(certificate)
    except CertificateRefused as refused:
        return str(refused)
    return None


def _replay_line(certificate: SplitCertificate, refusal: str | None) -> RenderableType:
    if refusal is None:
        return cell(
            "Replay: computed again from its own scores, it comes to the same decision.", "green"
        )
    if certificate.regime == "none":
        return cell(
            "Replay: nothing to compute again, as this split was made without a test.", "yellow"
        )
    return cell(f"Replay: refused, {refusal}.", "red")


def _explain_answer(
    context: Context, naming: list[SplitCertificate], memory: SlotMemory, output: Output
) -> None:
    route = _route_now(context, memory)
    parts: list[RenderableType] = [*context_parts(context, route, memory)]
    for certificate in naming:
        parts.append("")
        parts += certificate_parts(certificate)
    if not naming:
        parts.append(cell("No certificate names this answer.", "dim"))
    document = {
        "answer": _context_value(context),
        "route": asdict(route) if route else None,
        "evidence": lines_value(lines_read(context, memory), memory, context.supports),
        "verdicts": _verdict_values(context, memory),
        "certificates": list(map(asdict, naming)),
    }
    output.show(document, *parts)


def _route_now(context: Context, memory: SlotMemory) -> Route | None:
    """Return where its question would go now; None when it was forgotten."""
    if not context.query:
        return None
    return memory.route(
        context.query, at=context.at, asker=context.asker, conditions=context.conditions
    )


def _verdict_values(context: Context, memory: SlotMemory) -> list[Json]:
    live = by_id(memory.evidence())
    values: list[Json] = []
    for verdict in context.verdicts:
        id, start, end, odds = verdict
        text = verdict_text(verdict, live)
        values.append({"id": id, "start": start, "end": end, "text": text, "log_odds": odds})
    return values


def _context_value(context: Context) -> Json:
    at = context.at.isoformat() if context.at else None
    return {**asdict(context), "at": at}
