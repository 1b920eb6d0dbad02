"""What is kept to save work: it can be thrown away at any time without changing a result."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import field

import numpy as np

from demem_agent.changes.judge import Change
from demem_agent.changes.lineage import Lineage
from demem_agent.changes.standing import standing
from demem_agent.later import dataclass
from demem_agent.scoring import PassageScore, Query, Ranking, rank
from demem_agent.scoring.columns import Column
from demem_agent.scoring.index import PassageIndex, Stretch
from demem_agent.slots.naming import Named
from demem_agent.summaries.compress import Excerpt, excerpts
from demem_agent.text.language.numbers import digits
from demem_agent.text.language.words import content_terms
from demem_agent.text.quoting.saying import Told, told
from demem_agent.text.units import Measure
from demem_agent.types import Draft, Evidence, Line, number_of
from demem_agent.where import Where

__all__ = ["Cache"]

#: Counterfactual answers that are kept for the next test.
_TRIED = 4096
#: Rankings that are kept: those of the questions that one feedback has tested.
_RANKED = 64
#: Filters of which the marks are kept.
_FILTERED = 32


@dataclass(slots=True)
class Cache:
    """Excerpts and lines made once, and counterfactual answers asked for once.

    Attributes:
        excerpts: per item, the use they were ranked by and the excerpts.
        lines: per item and stretch of it, as a line of a reading tells it.
        words: per item and stretch of it, the terms of what was said there and of who said it.
        content: per item and stretch of it, the terms of what was said there.
        standing: the sure changes of the memory, and as what it was when they were judged.
        rankings: by question, of the passages as they are; ``ranked`` is the index of these, and
            how often it had changed.
        directed: what a router chose, by the query and the slots that it was shown, digested.
        tried: answers by context and by the content of a slot they were given from.
        exclusions: per two lines, how probably they exclude each other.
        sizes: per record, as it was measured, what its texts came to.
        reviewed: pairs whose suppressed witness was tested anew, and the revision they had then.
        named: which keyed operations name an item, an answer or a decision.
        marks: per filter, by the number of an item, whether it is left by it.
        stretches: of items, each as the records of all answers name it: most are read again.
    """

    excerpts: dict[str, tuple[int, tuple[Excerpt, ...]]] = field(default_factory=dict)
    lines: dict[str, dict[tuple[int, int], Told]] = field(default_factory=dict)
    words: dict[str, dict[tuple[int, int], frozenset[str]]] = field(default_factory=dict)
    content: dict[str, dict[tuple[int, int], frozenset[str]]] = field(default_factory=dict)
    rankings: dict[tuple[Hashable, ...], Ranking] = field(default_factory=dict)
    standing: tuple[Hashable, list[Change]] | None = None
    ranked: tuple[PassageIndex | None, int] = (None, 0)
    directed: dict[bytes, int] = field(default_factory=dict)
    tried: dict[tuple[str, str], Draft] = field(default_factory=dict)
    exclusions: dict[tuple[Stretch, Stretch], float] = field(default_factory=dict)
    sizes: dict[str, tuple[object, int]] = field(default_factory=dict)
    reviewed: dict[tuple[str, str], int] = field(default_factory=dict)
    marks: dict[Where, Column] = field(default_factory=dict)
    named: Named = field(default_factory=Named)
    stretches: dict[Stretch, Stretch] = field(default_factory=dict)

    def shared(self, read: Iterable[Stretch]) -> tuple[Stretch, ...]:
        """Return stretches as other records name them: each is in RAM once."""
        return tuple(self.stretches.setdefault(stretch, stretch) for stretch in read)

    def excerpts_of(
        self, item: Evidence, used: int, limit: int, measure: Measure
    ) -> tuple[Excerpt, ...]:
        """Return the excerpts of an item that a summary of ``limit`` has room for.

        Args:
            used: number of the last context that was rewarded for using it, 0 for none.
        """
        known = self.excerpts.get(item.id)
        if known is not None and known[0] == used:
            return known[1]
        found = tuple(excerpts(item, number_of(item.id), used, limit, measure))
        self.excerpts[item.id] = (used, found)
        return found

    def told(self, line: Line) -> Told:
        """Return a line as a reading tells it."""
        known = self.lines.setdefault(line.evidence.id, {})
        stretch = (line.start, line.end)
        if stretch not in known:
            known[stretch] = told(line.evidence, *stretch)
        return known[stretch]

    def words_of(self, item: Evidence, start: int, end: int) -> frozenset[str]:
        """Return the terms of a stretch of an item and of its speaker's name, numbers as digits."""
        known = self.words.setdefault(item.id, {})
        if (start, end) not in known:
            said = f"{item.speaker or ''} {item.text[start:end]}"
            known[start, end] = frozenset(content_terms(digits(said)))
        return known[start, end]

    def content_of(self, item: Evidence, start: int, end: int) -> frozenset[str]:
        """Return the terms of a stretch of an item, numbers as digits."""
        known = self.content.setdefault(item.id, {})
        if (start, end) not in known:
            known[start, end] = frozenset(content_terms(digits(item.text[start:end])))
        return known[start, end]

    def ranking_of(self, index: PassageIndex, query: Query, form: PassageScore) -> Ranking:
        """Return how an index ranks for a query; made again once the index has changed.

        A feedback asks for those of the same questions again and again.
        """
        if self.ranked[0] is not index or self.ranked[1] != index.changes:
            self.rankings.clear()
            self.ranked = (index, index.changes)
        key = (*query.key, form)
        known = self.rankings.get(key)
        if known is None:
            known = self.rankings[key] = rank(index, query, form)
            if len(self.rankings) > _RANKED:
                del self.rankings[next(iter(self.rankings))]
        return known

    def standing_of(self, index: PassageIndex, lineage: Lineage) -> list[Change]:
        """Return the sure changes of a memory; judged again once it has changed."""
        key = (index, index.changes, lineage.changes)
        if self.standing is None or self.standing[0] != key:
            self.standing = (key, standing(index, lineage))
        return self.standing[1]

    def marks_of(self, where: Where) -> Column:
        """Return the marks of a filter, as far as items were marked; the oldest filter goes."""
        known = self.marks.pop(where, None)
        self.marks[where] = Column(np.bool_) if known is None else known
        if len(self.marks) > _FILTERED:
            del self.marks[next(iter(self.marks))]
        return self.marks[where]

    def keep_directed(self, key: bytes, slot: int) -> None:
        """Keep what a router chose; the oldest goes when there is much."""
        self.directed[key] = slot
        if len(self.directed) > _TRIED:
            del self.directed[next(iter(self.directed))]

    def keep_tried(self, context_id: str, content: str, draft: Draft) -> None:
        """Keep a counterfactual answer; the oldest goes when there are many."""
        self.tried[context_id, content] = draft
        if len(self.tried) > _TRIED:
            del self.tried[next(iter(self.tried))]

    def keep_exclusion(self, key: tuple[Stretch, Stretch], probability: float) -> None:
        """Keep how probably two lines exclude each other; the oldest goes when there are many."""
        self.exclusions[key] = probability
        if len(self.exclusions) > _TRIED:
            del self.exclusions[next(iter(self.exclusions))]

    def size_of(self, id: str, record: object, texts: Iterable[str], measure: Measure) -> int:
        """Return what the texts of a record measure together; measured again once it has changed.

        Args:
            id: of the record, which no other one of the memory has.
        """
        known = self.sizes.get(id)
        if known is not None and known[0] is record:
            return known[1]
        size = sum(map(measure, texts))
        self.sizes[id] = (record, size)
        return size

    def forget(self, items: Iterable[str]) -> None:
        """Throw away what quotes these items."""
        self.tried.clear()  # any answer may
        self.directed.clear()
        self.rankings.clear()
        self.sizes.clear()
        self.exclusions.clear()
        self.standing = None
        gone = set(items)
        for stretch in [one for one in self.stretches if one[0] in gone]:
            del self.stretches[stretch]
        for item in gone:
            self.excerpts.pop(item, None)
            self.lines.pop(item, None)
            self.words.pop(item, None)
            self.content.pop(item, None)
