"""The demo as one JSON document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from demem_agent.cli.demo.story import Asked, Forgotten, Learned, Split, Story, Strict, Suppressed
from demem_agent.cli.json_values import Json, evidence_value, slot_values

__all__ = ["story_value"]


def story_value(story: Story) -> Json:
    """Return everything that the demo shows as one JSON value."""
    limit = story.settings.slot_limit
    return {
        "settings": asdict(story.settings),
        "remembered": {"turns": story.turns, "sessions": story.sessions},
        "slots": slot_values(story.slots, limit),
        "answers": list(map(_asked, story.asked)),
        "feedback": list(map(_learned, story.learned)),
        "split": _split(story.split, limit),
        "suppressed": _suppressed(story.suppressed),
        "forgotten": _forgotten(story.forgotten),
        "check": {"ok": True, **story.checked},
    }


def _asked(one: Asked) -> Json:
    return {
        "id": one.answer.id,
        "question": one.question,
        "answer": one.answer.text,
        "slot": one.answer.route.slot,
        "evidence": list(map(evidence_value, one.cited)),
    }


def _learned(one: Learned) -> Json:
    certificate = one.report.certificate
    return {
        "id": one.answer.id,
        "question": one.need.question,
        "answer": one.answer.text,
        "reference": one.need.reference,
        "rewards": dict(one.report.rewards),
        "tested": one.report.tested,
        "certificate": certificate.id if certificate else None,
        "decision": certificate.decision if certificate else None,
    }


def _split(split: Split, limit: int) -> Json:
    never_split, undone = split.fingerprints
    return {
        "certificate": asdict(split.certificate),
        "shared": _stricts(split.kept_shared),
        "after": _stricts(split.after),
        "slots": slot_values(split.slots, limit),
        "undo": {"never_split": never_split, "undone": undone},
    }


def _suppressed(suppressed: Suppressed) -> Json:
    return {
        "certificate": asdict(suppressed.certificate),
        "strict": _stricts(suppressed.strict),
        "evidence": _strict(suppressed.evidence),
    }


def _forgotten(forgotten: Forgotten) -> Json:
    return {
        "source_id": forgotten.source_id,
        "receipt": asdict(forgotten.receipt),
        "before": forgotten.before.answer.text,
        "after": forgotten.after.answer.text,
    }


def _stricts(answers: Sequence[Strict]) -> list[Json]:
    return list(map(_strict, answers))


def _strict(one: Strict) -> Json:
    return {
        "question": one.need.question,
        "slot": one.slot,
        "answer": one.answer,
        "score": round(one.score, 4),
    }
