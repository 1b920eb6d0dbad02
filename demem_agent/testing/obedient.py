"""A model of no intelligence that does as the prompts of this library ask: for tests of what comes
after a model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from demem_agent.text.words import content_terms

__all__ = ["obedient"]

_SOURCE = re.compile(r"^\[(e\d+)\](\*?) (.*)$", re.MULTILINE)
_LIMIT = re.compile(r"At most (\d+) ")
_SLOT = re.compile(r"<demem:slot>\s*(\d+)(.*?)</demem:slot>", re.DOTALL)


def obedient(messages: Sequence[Mapping[str, Any]]) -> str:
    """Reply to a request as ``Provider`` passes it on: give it as ``Provider(obedient)``.

    It answers with the line of the reading that shares most words with the question, marks and
    grades by shared words, and summarises by the first lines that fit, those that are needed ahead.
    """
    system, user = (str(message["content"]) for message in messages[:2])
    tasks = {
        "answer": _answer,
        "mark": _mark,
        "grade": _grade,
        "write": _summarise,
        "keep": _notes,
        "sort": _sort,
    }
    task = next(task for verb, task in tasks.items() if system.startswith(f"You {verb}"))
    return json.dumps(task(system, user))


def _answer(system: str, user: str) -> dict[str, Any]:
    block, _, asked = user.rpartition("\n\n")
    question = set(content_terms(asked.partition(":")[2]))
    lines = [line.removeprefix("- ") for line in block.splitlines() if line.startswith("- ")]
    best = max(lines, key=lambda line: len(question & set(content_terms(line))), default="")
    known = bool(question & set(content_terms(best)))
    return {
        "known": known,
        "answer": best.partition(": ")[2] or best if known else "",
        "quotes": [best] * known,
    }


def _mark(system: str, user: str) -> dict[str, Any]:
    return {"right": _share(user) == 1.0}


def _grade(system: str, user: str) -> dict[str, Any]:
    return {"grade": round(4 * _share(user))}


def _share(user: str) -> float:
    """Give the share of the words that should be in the answer which are."""
    known, _, answer = user.partition("\n\nAnswer to be marked: ")
    should = known.partition("Reference answer: ")[2] or answer
    held = set(
        content_terms(answer if "Reference answer: " in known else known.partition("\n\n")[2])
    )
    words = set(content_terms(should))
    return len(words & held) / max(len(words), 1)


def _summarise(system: str, user: str) -> dict[str, Any]:
    limit = int(_LIMIT.findall(system)[-1])
    found = sorted(_SOURCE.findall(user), key=lambda source: not source[1])
    statements, covers, size = [], [], 0
    for item, _, text in found:
        size += len(text) + 3
        if size > limit:
            break
        statements.append(f"- {text}")
        covers.append([item])
    return {"statements": statements, "covers": covers}


def _notes(system: str, user: str) -> dict[str, Any]:
    inside = user.partition("<demem:message>")[2].partition("</demem:message>")[0]
    return {
        "notes": [
            part.strip()
            for part in re.split(r"(?<=[.!])\s", inside)
            if part.strip() and "?" not in part
        ]
    }


def _sort(system: str, user: str) -> dict[str, Any]:
    question = set(content_terms(user.rpartition("Question:")[2]))
    slots = {int(number): set(content_terms(text)) for number, text in _SLOT.findall(system)}
    return {"slot": max(slots, key=lambda slot: (len(question & slots[slot]), -slot))}
