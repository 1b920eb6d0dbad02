"""Summaries that a model writes (Compress_L): what it is given, what it proposes, and whether that
may be kept.

A model's text is a proposal. It is kept only if it could have been made from the evidence that it
names: every number and every word with a capital in a statement stands in what the statement
covers, as do half of all its words, and nothing that was needed before is lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from demem_agent.summaries.compress import Excerpt
from demem_agent.text.words import content_terms, stems, words
from demem_agent.types import Compression, Proposal, Source

__all__ = ["Written", "fault_of", "invented", "source_of", "written"]

#: Share of the words of a line that was needed before which the statements about it must hold.
NEEDED = 0.6
#: Share of a statement's words that must stand in what it covers: what a model was talked into
#: saying has few.
GROUNDED = 0.5
_CAPITAL = re.compile(r"[^\W\d_a-z][\w'’-]*")
#: A number as a whole, with its sign and all its parts: 5 and 20 are not 5.20.
_NUMBER = re.compile(r"(?<![\w.])[-−]?\d+(?:[.,:/-]\d+)*")
_NUMBER_WORDS = frozenset(
    """one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion dozen half
    twice thrice""".split()
)


@dataclass(frozen=True, slots=True)
class Written:
    """A summary that a model wrote and that was found to be made from its evidence.

    Attributes:
        text: at most L; covers: per line of it, the ids of the evidence that it was made from.
        author: name of the model.
    """

    text: str
    covers: tuple[tuple[str, ...], ...]
    author: str

    @property
    def cover(self) -> tuple[str, ...]:
        """The ids of all evidence that it was made from, each once."""
        return tuple(dict.fromkeys(item for cover in self.covers for item in cover))


def source_of(excerpt: Excerpt, needed: bool) -> Source:
    """Give an excerpt as a model sees it."""
    return Source(excerpt.evidence_id, excerpt.line.removeprefix("- "), needed)


def written(proposal: Proposal, author: str) -> Written:
    """Give a proposal that has no fault as it is kept."""
    return Written(
        "\n".join(_lines(proposal)), tuple(tuple(dict.fromkeys(c)) for c in proposal.covers), author
    )


def fault_of(proposal: Proposal, task: Compression) -> str | None:
    """Tell the first reason why a proposal may not be kept, without quoting it; None when there is
    none.
    """
    if not proposal.statements or len(proposal.statements) != len(proposal.covers):
        return "statements and covers are not equally many, or none"
    live = {source.evidence_id for source in task.sources}
    for number, (line, cover) in enumerate(zip(_lines(proposal), proposal.covers, strict=True), 1):
        if not cover or not live.issuperset(cover):
            return f"statement {number} covers no items, or items that are not there"
        if problem := invented(line, [s for s in task.sources if s.evidence_id in cover]):
            return f"statement {number} {problem}"
    if task.measure("\n".join(_lines(proposal))) > task.limit:
        return f"the statements measure more than {task.limit} {task.unit}"
    lost = sum(not _kept(source, proposal) for source in task.sources if source.needed)
    return f"{lost} of the items marked with * are not in the statements" if lost else None


def _lines(proposal: Proposal) -> Iterator[str]:
    for statement in proposal.statements:
        line = " ".join(statement.removeprefix("- ").split()).replace(
            "demem:memory", "demem-memory"
        )
        yield f"- {line}"


def invented(line: str, sources: Sequence[Source]) -> str | None:
    """Tell what kind of thing a statement says that none of its items does; None when there is no
    such thing.
    """
    said = " ".join(source.text for source in sources)
    known = {*stems(words(said)), *words(said)}
    body = line.removeprefix("- ")
    if not body.strip():
        return "is empty"
    spoken = {word.casefold() for word in re.findall(r"\w+", body)}
    heard = {word.casefold() for word in re.findall(r"\w+", said)}
    if (
        not set(_NUMBER.findall(body)) <= set(_NUMBER.findall(said))
        or not (_NUMBER_WORDS & spoken) <= heard
    ):
        return "has a number that its items do not have"
    meant = set(content_terms(body))
    if len(meant & set(content_terms(said))) < GROUNDED * len(meant):
        return "has mostly words that its items do not have"
    capitals = {word.casefold() for word in _CAPITAL.findall(body)}
    unknown = [word for word in capitals if content_terms(word) and not _is_known(word, known)]
    return "has a name, or begins with a word, that its items do not have" if unknown else None


def _is_known(word: str, known: set[str]) -> bool:
    parts = words(word)
    return all(
        part in known or stem in known for part, stem in zip(parts, stems(parts), strict=True)
    )


def _kept(source: Source, proposal: Proposal) -> bool:
    """Tell whether the statements about an item hold what matters in its line."""
    about = [
        line
        for line, cover in zip(_lines(proposal), proposal.covers, strict=True)
        if source.evidence_id in cover
    ]
    wanted = set(content_terms(source.text))
    return bool(about) and len(wanted & set(content_terms(" ".join(about)))) >= NEEDED * len(wanted)
