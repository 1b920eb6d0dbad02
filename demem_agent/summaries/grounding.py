"""Whether what a model writes may be kept: a summary (Compress_L), or notes (psi).

A model's text is a proposal. It is kept only if it could have been made from the evidence that it
names: every number and every word with a capital in a statement stands in what the statement
covers, as do half of all its words. Nothing that was needed before may be lost.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import chain

from demem_agent.later import dataclass, pattern
from demem_agent.summaries.compress import Excerpt
from demem_agent.text.language.words import content_terms, stems, words
from demem_agent.text.quoting.containing import on_one_line
from demem_agent.types import Compression, Noting, Proposal, Source

__all__ = [
    "Written",
    "fault_of",
    "fault_of_note",
    "invented",
    "names_not_in",
    "note_text",
    "numbers_not_in",
    "rests_on",
    "sound",
    "source_of",
    "with_found_sources",
    "written",
]

#: Share of the words of a line that was needed before which the statements about it must hold.
NEEDED = 0.6
#: Share of a statement's words that must stand in what it covers: what a model was talked into
#: saying has few.
GROUNDED = 0.5
#: Characters that a note has at most: it is a sentence.
LONGEST_NOTE = 500
_CAPITAL = pattern(r"[^\W\d_a-z][\w'’-]*")
#: A number as a whole, with its sign and all its parts: 5 and 20 are not 5.20.
_NUMBER = pattern(r"(?<![\w.])[-−]?\d+(?:[.,:/-]\d+)*")
_NUMBER_WORDS = frozenset(
    """one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety
    hundred thousand million billion dozen half twice thrice""".split()
)


@dataclass(frozen=True, slots=True)
class Written:
    """A summary that a model wrote and that was found to be made from its evidence.

    Attributes:
        text: at most L.
        covers: per line of it, the ids of the evidence that it was made from.
        author: name of the model.
    """

    text: str
    covers: tuple[tuple[str, ...], ...]
    author: str

    @property
    def cover(self) -> tuple[str, ...]:
        """The ids of all evidence that it was made from, each once."""
        return _each_once(chain.from_iterable(self.covers))


def source_of(excerpt: Excerpt, needed: bool) -> Source:
    """Return an excerpt as a model sees it."""
    return Source(excerpt.evidence_id, excerpt.line.removeprefix("- "), needed)


def written(proposal: Proposal, author: str) -> Written:
    """Return a proposal that has no fault as it is kept."""
    text = "\n".join(_lines(proposal))
    covers = tuple(map(_each_once, proposal.covers))
    return Written(text, covers, author)


def _each_once(ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ids))


def fault_of(proposal: Proposal, task: Compression) -> str | None:
    """Return the first reason why a proposal may not be kept, or None; it quotes nothing."""
    if not proposal.statements or len(proposal.statements) != len(proposal.covers):
        return "statements and covers are not equally many, or none"
    lines = _lines(proposal)
    fault = _first_fault(lines, proposal.covers, task.sources)
    if fault is not None:
        return fault
    if task.measure("\n".join(lines)) > task.limit:
        return f"the statements measure more than {task.limit} {task.unit}"
    lost = _count_lost(lines, proposal.covers, task.sources)
    if lost:
        return f"{lost} of the items marked with * are not in the statements"
    return None


def with_found_sources(
    proposal: Proposal, sources: Sequence[Source], fault: Callable[[str, tuple[str, ...]], object]
) -> Proposal:
    """Return a proposal in which a statement that is not made from what it covers covers the first
    item that it is made from, where there is one: small models copy what was said and lose count.

    Args:
        fault: tells what is wrong with a statement of a cover; None where nothing is.
    """
    covers: list[tuple[str, ...]] = []
    for text, cover in zip(proposal.statements, proposal.covers, strict=True):
        ways = [cover, *((source.evidence_id,) for source in sources)]
        covers.append(next((way for way in ways if fault(text, way) is None), cover))
    return Proposal(proposal.statements, tuple(covers))


def sound(proposal: Proposal, task: Compression) -> Proposal:
    """Return a proposal without the statements that are not made from what they cover.

    It stays as it is where all would go: then what is wrong with it can be told.
    """

    def fault(statement: str, cover: tuple[str, ...]) -> str | None:
        return _fault_of_statement(_line(statement), cover, task.sources)

    placed = with_found_sources(proposal, task.sources, fault)
    pairs = zip(placed.statements, placed.covers, strict=True)
    found = [(text, cover) for text, cover in pairs if fault(text, cover) is None]
    if not found:
        return proposal
    return Proposal(tuple(text for text, _ in found), tuple(cover for _, cover in found))


def fault_of_note(note: str, cover: Sequence[str], task: Noting) -> str | None:
    """Return why a note may not be kept, or None; it quotes nothing."""
    if len(note) > LONGEST_NOTE:
        return f"has more than {LONGEST_NOTE} characters"
    fresh = {source.evidence_id for source in task.sources}
    if fresh.isdisjoint(cover):
        return "covers none of the items that notes are taken of"
    return _fault_of_statement(note, cover, (*task.context, *task.sources))


def note_text(statement: str) -> str:
    """Return a note as it is remembered: on one line, without what would pass for more."""
    return on_one_line(statement.strip().removeprefix("- ")).strip()


def _first_fault(
    lines: Sequence[str], covers: Sequence[Sequence[str]], sources: Sequence[Source]
) -> str | None:
    """Return what is wrong with the first statement that is not made from what it covers."""
    pairs = zip(lines, covers, strict=True)
    for number, (line, cover) in enumerate(pairs, 1):
        fault = _fault_of_statement(line, cover, sources)
        if fault is not None:
            return f"statement {number} {fault}"
    return None


def _fault_of_statement(line: str, cover: Sequence[str], sources: Sequence[Source]) -> str | None:
    live = {source.evidence_id for source in sources}
    if not cover or not live.issuperset(cover):
        return "covers no items, or items that are not there"
    covered = [source for source in sources if source.evidence_id in cover]
    return invented(line, covered)


def _count_lost(
    lines: Sequence[str], covers: Sequence[Sequence[str]], sources: Sequence[Source]
) -> int:
    """Count the items that were needed and are not in the statements."""
    lost = 0
    for source in sources:
        if source.needed and not _is_kept(source, lines, covers):
            lost += 1
    return lost


def _lines(proposal: Proposal) -> list[str]:
    return list(map(_line, proposal.statements))


def _line(statement: str) -> str:
    """Return a statement as one line of a summary; it forges no marks of a reading."""
    return f"- {on_one_line(statement.removeprefix('- '))}"


def invented(line: str, sources: Sequence[Source]) -> str | None:
    """Return what kind of thing a statement says that none of its items does, or None."""
    said = " ".join(source.text for source in sources)
    body = line.removeprefix("- ")
    if not body.strip():
        return "is empty"
    if numbers_not_in(body, said):
        return "has a number that its items do not have"
    if not rests_on(body, said):
        return "has mostly words that its items do not have"
    if names_not_in(body, said):
        return "has a name, or begins with a word, that its items do not have"
    return None


def numbers_not_in(body: str, said: str) -> set[str]:
    """Return the numbers of a statement, in digits or words, that do not stand in what was said."""
    new = set(_NUMBER.findall(body)).difference(_NUMBER.findall(said))
    number_words = _NUMBER_WORDS & _folded_words(body)
    return new | number_words.difference(_folded_words(said))


def _folded_words(text: str) -> set[str]:
    return set(map(str.casefold, re.findall(r"\w+", text)))


def rests_on(body: str, said: str) -> bool:
    """Whether at least half of the words of a statement stand in what was said."""
    meant = set(content_terms(body))
    heard = meant & set(content_terms(said))
    return len(heard) >= GROUNDED * len(meant)


def names_not_in(body: str, said: str) -> set[str]:
    """Return the words with a capital of a statement that do not stand in what was said."""
    known = {*stems(words(said)), *words(said)}
    found = set(map(str.casefold, _CAPITAL.findall(body)))
    return {word for word in found if content_terms(word) and not _is_known(word, known)}


def _is_known(word: str, known: set[str]) -> bool:
    """Whether all parts of a word, or their stems, are known."""
    parts = words(word)
    for part, stem in zip(parts, stems(parts), strict=True):
        if part not in known and stem not in known:
            return False
    return True


def _is_kept(source: Source, lines: Sequence[str], covers: Sequence[Sequence[str]]) -> bool:
    """Whether the statements about an item hold what matters in its line."""
    pairs = zip(lines, covers, strict=True)
    about = [line for line, cover in pairs if source.evidence_id in cover]
    if not about:
        return False
    wanted = set(content_terms(source.text))
    held = wanted.intersection(content_terms(" ".join(about)))
    return len(held) >= NEEDED * len(wanted)
