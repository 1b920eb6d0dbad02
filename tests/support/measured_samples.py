"""Data to measure, and records of what was measured, as the tests of measuring use them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from command_line import ROOT

from demem_agent.evaluate import Measured

__all__ = ["PNG", "QUESTIONS", "QUICK", "TURNS", "locomo", "record"]

TURNS = ROOT / "examples" / "support_chat.jsonl"
QUESTIONS = ROOT / "examples" / "support_chat_questions.jsonl"
QUICK = ("--system", "demem", "--system", "bm25", "--limit", "500", "--limit", "2000")
PNG = b"\x89PNG\r\n\x1a\n"


def locomo(path: Path, dialogues: int = 2) -> Path:
    """Write dialogues about cats, each with questions of two kinds and one that has no answer."""
    entries = []
    for number in range(dialogues):
        said = (
            f"My cat number {number} is called Miso and sleeps all day.",
            "Our boiler broke again last Tuesday.",
        )
        turns = [
            {"speaker": "Ana", "dia_id": f"D1:{n}", "text": text} for n, text in enumerate(said, 1)
        ]
        asked = (
            ("What is the cat called?", "Miso", "D1:1", 4),
            ("When did the boiler break?", "Tuesday", "D1:2", 2),
        )
        qa = [{"question": q, "answer": a, "evidence": [e], "category": c} for q, a, e, c in asked]
        qa.append(
            {
                "question": "Who is the dog?",
                "adversarial_answer": "Miso",
                "evidence": ["D1:1"],
                "category": 5,
            }
        )
        conversation = {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": turns}
        entries.append({"sample_id": f"conv-{number}", "conversation": conversation, "qa": qa})
    path.write_text(json.dumps(entries), encoding="utf-8")
    return path


def record(
    dialogue: str, recall: float | None = 1.0, system: str = "demem", **given: Any
) -> Measured:
    values = {
        "question": 0,
        "category": "one",
        "limit": 500,
        "half": recall,
        "nine_tenths": recall,
        "f1": recall,
        "contained": recall,
    }
    values |= {"size": 100, "seconds": 0.001} | given
    return Measured(dialogue=dialogue, system=system, recall=recall, **values)
