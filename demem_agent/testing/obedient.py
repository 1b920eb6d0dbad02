"""A model of no intelligence that does as the prompts of this library ask.

It is for tests of what comes after a model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from demem_agent.text.language.words import content_terms

__all__ = ["obedient"]

Reply = dict[str, object]

_SOURCE = re.compile(r"^\[(e\d+)\]([*~]?) (.*)$", re.MULTILINE)
_LINE = re.compile(r"^\[(?:old|new)\] (?:.*?: )?(.*)$", re.MULTILINE)
_LIMIT = re.compile(r"At most (\d+) ")
_SLOT = re.compile(r"<demem:slot>\s*(\d+)(.*?)</demem:slot>", re.DOTALL)


def obedient(messages: Sequence[Mapping[str, object]]) -> str:
    """Reply to a request as ``Provider`` passes it on, in ``Provider(obedient)``.

    It answers with the line of the reading that shares most words with the question, marks and
    grades by shared words, summarises by the first lines that fit, those that are needed ahead,
    notes every sentence that is no question, and has a line replaced by one with half its words.

    Raises:
        ValueError: for a prompt that is not one of this library's.
    """
    system = str(messages[0]["content"])
    user = str(messages[1]["content"])
    for verb, task in _TASKS.items():
        if system.startswith(f"You {verb}"):
            return json.dumps(task(system, user))
    raise ValueError(f"no prompt of this library begins so: {system[:60]!r}")


def _answer(system: str, user: str) -> Reply:
    block, _, asked = user.rpartition("\n\n")
    _, _, query = asked.partition(":")
    question = set(content_terms(query))
    best = max(_quotes(block), key=lambda quote: _shared(question, quote), default="")
    if not _shared(question, best):
        return {"known": False, "answer": "", "quotes": []}
    _, _, said = best.partition(": ")
    return {"known": True, "answer": said or best, "quotes": [best]}


def _quotes(block: str) -> Iterator[str]:
    """Yield the lines of a reading, without their bullets."""
    for line in block.splitlines():
        if line.startswith("- "):
            yield line.removeprefix("- ")


def _shared(question: set[str], text: str) -> int:
    """Count the words of a question that a text has too."""
    return len(question.intersection(content_terms(text)))


def _mark(system: str, user: str) -> Reply:
    return {"right": _share(user) == 1.0}


def _grade(system: str, user: str) -> Reply:
    return {"grade": round(4 * _share(user))}


def _share(user: str) -> float:
    """Return the share of the words that should be in the answer which are."""
    known, _, answer = user.partition("\n\nAnswer to be marked: ")
    _, has_reference, reference = known.partition("Reference answer: ")
    _, _, memory = known.partition("\n\n")
    should = reference or answer
    held = answer if has_reference else memory
    wanted = set(content_terms(should))
    found = wanted.intersection(content_terms(held))
    return len(found) / max(len(wanted), 1)


def _summarise(system: str, user: str) -> Reply:
    limit = int(_LIMIT.findall(system)[-1])
    entries: list[Reply] = []
    size = 0
    for item, text in _needed_first(user):
        size += len(text) + 3
        if size > limit:
            break
        entries.append({"text": f"- {text}", "from": [item]})
    return {"entries": entries}


def _needed_first(user: str) -> Iterator[tuple[str, str]]:
    """Yield the id and the text of each source, those that are marked as needed ahead."""
    sources = _SOURCE.findall(user)
    for item, _, text in sorted(sources, key=lambda source: not source[1]):
        yield item, text


def _notes(system: str, user: str) -> Reply:
    notes: list[Reply] = []
    for item, mark, text in _SOURCE.findall(user):
        _, _, said = text.rpartition(": ")
        sentences = map(str.strip, re.split(r"(?<=[.!])\s", said))
        telling = [one for one in sentences if one and "?" not in one and not mark]
        notes += [{"text": one, "from": [item]} for one in telling]
    return {"entries": notes}


def _compare(system: str, user: str) -> Reply:
    old, new = (set(content_terms(said)) for said in _LINE.findall(user))
    replaces = 2 * len(old & new) >= len(old)
    verdict = "replaces" if replaces else "other"
    return {"verdict": verdict, "reason": f"they share {len(old & new)} words"}


def _sort(system: str, user: str) -> Reply:
    _, _, query = user.rpartition("Question:")
    question = set(content_terms(query))
    shared: dict[int, int] = {}
    for number, text in _SLOT.findall(system):
        shared[int(number)] = _shared(question, text)
    return {"slot": max(shared, key=lambda slot: (shared[slot], -slot))}


#: What is done, by the verb after "You" with which a prompt begins.
_TASKS: Mapping[str, Callable[[str, str], Reply]] = {
    "answer": _answer,
    "mark": _mark,
    "grade": _grade,
    "write": _summarise,
    "keep": _notes,
    "sort": _sort,
    "compare": _compare,
}
