"""The demo as one JSON document."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from demem_agent.cli.demo.story import Asked, Learned, Story, Strict
from demem_agent.cli.json_values import evidence_value, slot_value

__all__ = ["story_value"]

Json = dict[str, Any]


def story_value(story: Story) -> Json:
    limit = story.settings.slot_limit
    return {
        "settings": asdict(story.settings),
        "remembered": {"turns": story.turns, "sessions": story.sessions},
        "slots": [slot_value(slot, limit) for slot in story.slots],
        "answers": [_asked(one) for one in story.asked],
        "feedback": [_learned(one) for one in story.learned],
        "split": {
            "certificate": asdict(story.split.certificate),
            "shared": [_strict(one) for one in story.split.kept_shared],
            "after": [_strict(one) for one in story.split.after],
            "slots": [slot_value(slot, limit) for slot in story.split.slots],
            "undo": {
                "never_split": story.split.fingerprints[0],
                "undone": story.split.fingerprints[1],
            },
        },
        "suppressed": {
            "certificate": asdict(story.suppressed.certificate),
            "strict": [_strict(one) for one in story.suppressed.strict],
            "evidence": _strict(story.suppressed.evidence),
        },
        "forgotten": {
            "source_id": story.forgotten.source_id,
            "receipt": asdict(story.forgotten.receipt),
            "before": story.forgotten.before.answer.text,
            "after": story.forgotten.after.answer.text,
        },
        "check": {"ok": True, **story.checked},
    }


def _asked(one: Asked) -> Json:
    return {
        "id": one.answer.id,
        "question": one.question,
        "answer": one.answer.text,
        "slot": one.answer.route.slot,
        "evidence": [evidence_value(item) for item in one.cited],
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


def _strict(one: Strict) -> Json:
    return {
        "question": one.need.question,
        "slot": one.slot,
        "answer": one.answer,
        "score": round(one.score, 4),
    }
