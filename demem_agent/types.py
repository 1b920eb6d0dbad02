"""The records that cross a boundary, and the Protocols of what a user may plug in.

Every record is frozen. Names follow the paper "Remember the Decision, Not the Description"; the
symbol it uses is given in each docstring.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, runtime_checkable

from demem_agent.later import dataclass, module
from demem_agent.metadata import NO_METADATA, Metadata

if TYPE_CHECKING:
    from demem_agent import notebook
else:
    notebook = module("demem_agent.notebook")

__all__ = [
    "Answer",
    "Answerer",
    "Attempt",
    "Candidate",
    "ChangeJudge",
    "ChangeJudged",
    "ChangeSaid",
    "ChangeTask",
    "ChangeVerdict",
    "Channel",
    "Compared",
    "Compression",
    "Compressor",
    "Context",
    "Decision",
    "Draft",
    "Encoder",
    "Evidence",
    "Explained",
    "FeedbackReport",
    "Gone",
    "Health",
    "Ingested",
    "Known",
    "LeftOut",
    "Line",
    "Mark",
    "MeanReward",
    "Metadata",
    "Mode",
    "Order",
    "Outcomes",
    "Parting",
    "Proposal",
    "Question",
    "Reading",
    "Receipt",
    "Reranker",
    "Route",
    "Router",
    "ScoreTheta",
    "Scorer",
    "Situation",
    "Slot",
    "Source",
    "SplitCertificate",
    "Stale",
    "Storage",
    "Succession",
    "Summarised",
    "Superseded",
    "Synced",
    "Tried",
    "Unit",
    "Unknown",
    "Updated",
    "Verdict",
    "Version",
    "Weighed",
    "WhenFull",
    "by_id",
    "number_of",
]

Unit = Literal["chars", "bytes", "tokens"]
Mode = Literal["evidence", "strict"]
#: What a reading makes of lines that no longer hold.
Stale = Literal["mark", "withhold", "show"]
#: What an answer makes of a question that memory does not seem to hold the answer to.
Unknown = Literal["show", "withhold"]
#: How the turns of a list are known again, and what becomes of those that it has no more.
Known = Literal["id", "text"]
Gone = Literal["tell", "forget"]
#: Which days of a reading come first.
Order = Literal["time", "latest"]
#: Which form of Score_theta orders passages.
ScoreTheta = Literal["linear", "mlp"]
#: What a judge says that a later line does to an earlier one.
ChangeSaid = Literal["replaces", "adds", "other"]
#: What gives way where a memory is full: what is worth least, what is oldest, or what comes in.
WhenFull = Literal["worth", "age", "refuse"]
Regime = Literal["guard band", "confidence sequence", "pairwise preference", "rival lines", "none"]
Channel = Literal[
    "none",
    "reference",
    "correction",
    "stand-in",
    "reward",
    "thumbs",
    "outcome",
    "judge",
    "agreement",
]

#: Items that the ``repr`` of a reading names, and characters that the one of an answer has.
_NAMED = 6
_SHOWN = 60

#: What a context says of a stretch of evidence: (id, start, end, log-odds that it is right there).
Verdict = tuple[str, int, int, float]


def number_of(id: str) -> int:
    """Return the running number in an id such as ``e12``."""
    return int(id[1:])


class _WithId(Protocol):
    @property
    def id(self) -> str: ...


Record = TypeVar("Record", bound=_WithId)


def by_id(records: Iterable[Record]) -> dict[str, Record]:
    """Return records, such as evidence or contexts, by their ids."""
    return {record.id: record for record in records}


@dataclass(frozen=True, slots=True)
class Evidence:
    """One remembered piece of text (``u_t``); append-only.

    Attributes:
        id: given by the memory, ``e1``, ``e2``, ... in order of ingestion.
        at: when it happened; None when unknown.
        source: where it came from (a file, a channel); ``source_id`` is the caller's own id of the
            turn.
        trust: in [0, 1]; less trusted evidence is ranked lower, never dropped.
        metadata: what the caller keeps beside it, JSON values by name; it cannot change.
        made_from: ids of the items that a note was made from; empty for what was said.

    Examples:
        >>> item = memory.evidence()[0]
        >>> print(item)
        Ana: I moved to Lisbon.
        >>> item.id, item.speaker, item.at.year, item.source_id
        ('e1', 'Ana', 2024, 'm1')
    """

    id: str
    text: str
    speaker: str | None = None
    at: datetime | None = None
    session: str | None = None
    source: str | None = None
    source_id: str | None = None
    trust: float = 1.0
    metadata: Metadata = NO_METADATA
    made_from: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return what was said, and by whom."""
        return f"{self.speaker}: {self.text}" if self.speaker else self.text

    def _repr_html_(self) -> str:
        return notebook.evidence(self)


@dataclass(frozen=True, slots=True)
class Mark:
    """What a user has settled of one item.

    Attributes:
        evidence_id: the item.
        kept: whether it stays whatever else is forgotten: only ``forget`` takes it out.
        hidden: whether it is never read: it is in no reading, answer or summary.
    """

    evidence_id: str
    kept: bool = False
    hidden: bool = False

    @property
    def says_something(self) -> bool:
        """Whether anything is settled."""
        return self.kept or self.hidden


@dataclass(frozen=True, slots=True)
class Succession:
    """That one line has taken the place of another: since the new one the old one does not hold.

    Attributes:
        id: ``s1``, ``s2``, ... in order.
        old, new: (evidence id, start, end) each.
        confidence: in [0, 1]; 1.0 where it was told.
        how: ``told`` by ``supersede``; ``updated``: the new item was remembered to take the place
            of the old one, by ``update`` or ``sync``; ``judged`` by what both lines say, when it
            was asked, or by the memory's :class:`ChangeJudge`; ``found`` by an earlier version,
            which counts no longer.
        undone: True once it was taken back, and where a judge said that both lines hold.
        after: how many answers had been given when it was made: what proves right in a later one
            speaks for it or against it.
        reason: why, in the words of the :class:`ChangeJudge` that said so; "" where none did.
    """

    id: str
    old: tuple[str, int, int]
    new: tuple[str, int, int]
    confidence: float
    how: Literal["found", "told", "updated", "judged"]
    undone: bool = False
    after: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Version:
    """One item of a history: of items that have taken each other's place.

    Attributes:
        evidence: the item; ``evidence.at`` is when it was said.
        replaces: why it stands here: the successions by which it took the place of others, undone
            ones included; none of the first item.
        holds: whether nothing else is known to hold in its place, or in that of a part of it.
    """

    evidence: Evidence
    replaces: tuple[Succession, ...]
    holds: bool


@dataclass(frozen=True, slots=True)
class Slot:
    """One of at most K memory states (``S_k``), as it stands now.

    Attributes:
        number: 0 <= number < K, stable for the life of the slot.
        summary: at most ``slot_limit`` in the memory's unit.
        cover: ids of the evidence that the summary was made from.
        parent: number of the slot it was split from, or None.
        revision: number of the operation that last changed it.
        name: what a user called it; None unless someone did.
        pinned: True while it must be neither split nor merged into another.
        author: name of the model that wrote the summary; None for excerpts.

    Examples:
        >>> slot = memory.slots[0]
        >>> slot.summary, slot.evidence
        ('- 2 March 2024, Ana: I moved to Lisbon.', ('e1',))
    """

    number: int
    summary: str
    size: int
    evidence: tuple[str, ...]
    cover: tuple[str, ...]
    contexts: tuple[str, ...]
    parent: int | None
    revision: int
    name: str | None = None
    pinned: bool = False
    author: str | None = None

    def _repr_html_(self) -> str:
        return notebook.slot(self)


@dataclass(frozen=True, slots=True)
class Route:
    """Where a query goes (``g(h, q)``).

    Attributes:
        slot: the chosen slot; None while the memory is empty, or where a filter leaves nothing.
        scores: score of every active slot that may be chosen, higher is nearer; under a filter of
            those that hold something of what it leaves.
        margin: score of the chosen slot less that of the next one (0.0 with fewer than two).
        adequate: False when memory does not seem to hold what the query asks for, so that a caller
            can abstain: when the probability is below ``Settings.known_from``, or else a threshold
            that few questions about the memory fall short of. A query for nothing but a time, as in
            "What was said on 3 March?", is adequate where something was said then.
        probability: in [0, 1], that the memory holds what the query asks for, if as many queries
            could be answered from it as could not; 0.0 while it is empty. Calibrated with the
            embedded encoder and the linear score (docs/scoring.md).
        unrouted: how the router failed, so that the score chose; "" where it did not, or the memory
            has none.

    Examples:
        >>> route = memory.route("What is the cat called?")
        >>> route.slot in route.scores, route.adequate
        (True, True)
    """

    slot: int | None
    scores: Mapping[int, float]
    margin: float
    adequate: bool
    probability: float = 0.0
    unrouted: str = ""

    def __hash__(self) -> int:
        return hash((self.slot, self.margin, self.adequate, self.probability))


@dataclass(frozen=True, slots=True)
class Superseded:
    """A stretch ``text[start:end]`` of a line that no longer holds, and what holds since.

    Attributes:
        by: (evidence id, start, end) of the line that is current.
        at: since when that holds, as far as known: from the day it names ("from September"), or
            else since it was said.
        succession: id of the :class:`Succession` that says so.
        asked: whether it is the old one that the question asks for, so that it was not put behind.
    """

    start: int
    end: int
    by: tuple[str, int, int]
    at: datetime | None
    succession: str
    asked: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a reading: a stretch ``text[start:end]`` of one evidence item.

    Attributes:
        score: how much it bears on the query, by Score_theta; 0.0 in a summary, whose lines are not
            scored one by one. Of no weight when lines are compared. It orders the lines of one
            reading and means nothing beside those of another.
        probability: in [0, 1], that it bears on the query: that it holds some of what is asked for.
            It means the same in every reading, so that a threshold on it does; 0.0 in a summary. Of
            no weight either.
        superseded: what in it no longer holds, as far as known; of no weight either.
        again: other items in which its speaker said the same, or nearly, the latest last, which are
            not read; of no weight either. None of them has another number, name, negation or value.
        more: how many lines of its speaker are not read that are of one mould with it, as "Order
            4711 shipped" and "Order 4822 shipped" are, beside the last one that is; of no weight
            either.
    """

    evidence: Evidence
    start: int
    end: int
    score: float = field(default=0.0, compare=False)
    superseded: tuple[Superseded, ...] = field(default=(), compare=False)
    again: tuple[Evidence, ...] = field(default=(), compare=False)
    probability: float = field(default=0.0, compare=False)
    more: int = field(default=0, compare=False)

    @property
    def text(self) -> str:
        return self.evidence.text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What a reading had no room for, or no use.

    Attributes:
        lines: how many passages rank behind what was read and would come in with more room; in a
            memory of more than 2,000 passages, of the best of these. In a strict reading, how many
            of the summary.
        best: the first of them, best first, three at most; none in a strict reading.
        next_limit: the smallest limit at which the first of them would have been read, None where
            nothing was left out for want of room; exact in characters and bytes, near in tokens.
        unrelated: how many of the passages that were scored no limit brings in, since they are
            below the floor.
    """

    lines: int = 0
    best: tuple[Line, ...] = ()
    next_limit: int | None = None
    unrelated: int = 0


@dataclass(frozen=True, slots=True)
class Reading:
    """The exact text given to the answerer (``M_q``) and what is in it.

    Attributes:
        size: of ``text``, in ``unit``; never more than ``limit``.
        evidence: the items in it, in the order in which they appear, which is that of time;
            ``ranked`` gives the best first.
        slots: the slots these items are in; the routed one first.
        probability: that the memory holds what was asked, as in :class:`Route`; 0.0 where nothing
            was asked of it.
        recognised: probability in [0, 1] that the same was decided before, for the same asker; 0.0
            where nothing is known of it.
        decisions: ids of the answers that it is known from, likeliest first.
        settled: whether a line surely proved right for this question before.
        told: (evidence id, start, end) of the sentences that a reference named of the line that
            proved right, where the same was decided before.
        rejected: (evidence id, start, end) of the lines that were called wrong for this very
            question; the built-in answerer quotes none of them.
        opposed: ids of the evidence that stands behind all else since it sets another value than
            what proved right; read only where there is room.
        withheld: ids of the evidence that was left out since it no longer holds.
        replaced: pairs of lines, (evidence id, start, end) each, of which the first stands behind
            the second since that probably holds in its place; only where it is sure is the first
            one marked. Where a question asks how it was, the line that held stands second.
        advice: what worked where the query tells a situation that was decided before, in a line; it
            stands at the head of ``text``, and takes a quarter of the limit at most. Never in a
            strict reading, which is a slot's text.
        unranked: how the reranker failed, so that the score alone ordered what it would have; ""
            where it did not, or the memory has none.
        unrouted: how the router failed, as in :class:`Route`.
        gated: how probably anything remembered bears on the message, in [0, 1], where that is too
            little and nothing was read (``gate=True``); None where it was read for.
        left_out: what was not read, and at which limit the next of it would have been.

    Examples:
        >>> reading = memory.read("What is the cat called?", limit=100)
        >>> print(reading)
        <demem:memory>
        # 3 March 2024
        - Ana: The cat is called Minka.
        </demem:memory>
        >>> reading.size <= reading.limit
        True
        >>> [item.id for item in reading.evidence]
        ['e2']
    """

    text: str
    size: int
    limit: int
    unit: Unit
    mode: Mode
    evidence: tuple[Evidence, ...]
    slots: tuple[int, ...]
    lines: tuple[Line, ...] = ()
    probability: float = 0.0
    recognised: float = 0.0
    settled: bool = False
    told: tuple[tuple[str, int, int], ...] = ()
    decisions: tuple[str, ...] = ()
    rejected: tuple[tuple[str, int, int], ...] = ()
    opposed: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
    replaced: tuple[tuple[tuple[str, int, int], tuple[str, int, int]], ...] = ()
    advice: str = ""
    unranked: str = ""
    unrouted: str = ""
    gated: float | None = None
    left_out: LeftOut = LeftOut()

    @property
    def ranked(self) -> tuple[Evidence, ...]:
        """The items in it, that of the line with the highest score first.

        Those of one score are in the order of the text, as all are in a strict reading.
        """
        best_first = sorted(self.lines, key=lambda line: -line.score)
        return tuple(dict.fromkeys(line.evidence for line in best_first))

    def __str__(self) -> str:
        """Return the text."""
        return self.text

    def __repr__(self) -> str:
        """Return how full it is and what is in it: the text is what ``print`` shows."""
        items = ", ".join(item.id for item in self.evidence[:_NAMED])
        more = ", ..." if len(self.evidence) > _NAMED else ""
        full = f"{self.size} of {self.limit} {self.unit}"
        return f"<Reading {full}, probability {self.probability:.2f}: {items or 'nothing'}{more}>"

    def _repr_html_(self) -> str:
        return notebook.reading(self)


@dataclass(frozen=True, slots=True)
class Weighed:
    """A reading, and what each of its lines has its score from.

    Attributes:
        route: which slot the query goes to.
        reading: as ``read`` gives it.
        parts: for each line of ``reading.lines``, in their order, what adds up to its score, by
            name, without what adds nothing: the features of Score_theta (docs/scoring.md);
            ``slot`` for lines of the routed slot; and ``moved``, by which what was told before,
            what holds no longer, the days asked for or a reranker put it elsewhere. Empty for the
            lines of a summary, which are not scored.
        parts_left_out: the same for each line of ``reading.left_out.best``.

    Examples:
        >>> weighed = memory.weigh("What is the cat called?")
        >>> line, parts = weighed.reading.lines[0], weighed.parts[0]
        >>> abs(sum(parts.values()) - line.score) < 0.001
        True
    """

    route: Route
    reading: Reading
    parts: tuple[Mapping[str, float], ...]
    parts_left_out: tuple[Mapping[str, float], ...] = ()

    def __hash__(self) -> int:
        return hash((self.route, self.reading))


@dataclass(frozen=True, slots=True)
class Question:
    """What an :class:`Answerer` is given: a query, when it is asked and by whom, and the reading.

    Attributes:
        asker: of whom "I" and "my" in the query are; None where the caller did not say.
    """

    query: str
    at: datetime | None
    reading: Reading
    asker: str | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """What an :class:`Answerer` may return instead of plain text: the text and the evidence it
    rests on.

    Attributes:
        probability: in [0, 1], that it is right; None where the answerer cannot tell, and the
            answer is then as probable as that memory holds what was asked.

    Examples:
        >>> class First:
        ...     def answer(self, question):
        ...         first = question.reading.ranked[0]
        ...         return Draft(first.text, (first.id,))
        >>> quoting = SlotMemory(answerer=First(), clock=None)
        >>> quoting.ingest("The cat is called Minka.").evidence_id
        'e1'
        >>> quoting.answer("What is the cat called?")
        <Answer a1 'The cat is called Minka.' from e1>
    """

    text: str
    evidence: tuple[str, ...] = ()
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer (``a``), with the route and the reading that produced it.

    Attributes:
        id: pass it to ``feedback``.
        query: what was asked.
        text: empty when the reading holds nothing that answers, or where it is not known and
            ``Settings.unknown`` has that withheld.
        evidence: ids of the items the answer rests on.
        known: whether this answer is probable enough to be given as one: by ``probability``, or
            as ``route.adequate`` from an answerer that tells none. What is ``reading.settled`` is
            known, and what is answered by nothing is not.
        probability: in [0, 1], that this answer is right, as its answerer says; that memory holds
            what was asked, ``route.probability``, from one that does not say.

    Examples:
        >>> answer = memory.answer("What is the cat called?")
        >>> print(answer)
        Ana: The cat is called Minka.
        >>> answer.id, answer.evidence, answer.known
        ('a1', ('e2',), True)
    """

    id: str
    query: str
    text: str
    evidence: tuple[str, ...]
    route: Route
    reading: Reading
    known: bool
    probability: float = 0.0

    def __str__(self) -> str:
        """Return the text."""
        return self.text

    def __repr__(self) -> str:
        """Return what was answered, cut to a line, and what it rests on."""
        told = "" if self.known else ", not known"
        text = self.text if len(self.text) <= _SHOWN else f"{self.text[:_SHOWN]}..."
        return f"<Answer {self.id} {text!r} from {', '.join(self.evidence) or 'nothing'}{told}>"

    def _repr_html_(self) -> str:
        return notebook.answer(self)


@dataclass(frozen=True, slots=True)
class Attempt:
    """What a :class:`Scorer` is given: one answer, the reading behind it, and the reference."""

    query: str
    answer: str
    reading: str
    reference: str


@dataclass(frozen=True, slots=True)
class Context:
    """One decision instance (``x = (h, q)``): a query, where it went, what came of it.

    Attributes:
        slot: where it was routed; once rewarded, the slot that holds most of what the answer rests
            on. None while the memory was empty.
        read: (evidence id, start, end) of every line of the reading it was answered from.
        supports: ids of the evidence that the answer rests on, as far as feedback or the answerer
            tells.
        kept: ids of the evidence that rewarded answers to it ever rested on; Compress_L keeps it
            first.
        channel: how other answers to it could be judged: by a ``reference`` or a user's
            ``correction``, by the memory's ``judge``s, by the observed answer, which was rewarded
            and is a ``stand-in`` for a reference; or not at all, since ``reward``, ``thumbs``,
            ``outcome`` or ``agreement`` speak of the observed answer alone; ``none`` before any
            feedback.
        rewards: mean reward in [0, 1] of each feedback, in order; ``told``: the channel of each.
        untested: ids of contexts that it was to be tested against when the budget of answers had
            run out.
        credible: whether the memory itself ranks what the answer rests on among the first for this
            query, or was told; only then is it tested against others.
        asker: who asked, where the caller says; conditions: short facts that held then, sorted.
        lead: number of the line in ``read`` that a rating speaks of: of what the answer
            rests on the one that holds most of how it begins, or else has the highest score; where
            it rests on nothing, the one with the highest score. None where nothing was read,
            or the answer is empty.
        verdicts: what feedback says of lines: which were right for this decision, which were not;
            empty once that was undone.
        known: whether memory seemed to hold what was asked, when it was asked; True of answers from
            before versions told.
    """

    id: str
    query: str
    at: datetime | None
    slot: int | None
    answer: str
    read: tuple[tuple[str, int, int], ...]
    supports: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    channel: Channel = "none"
    reference: str | None = None
    rewards: tuple[float, ...] = ()
    redacted: bool = False
    told: tuple[Channel, ...] = ()
    untested: tuple[str, ...] = ()
    credible: bool = False
    asker: str | None = None
    conditions: tuple[str, ...] = ()
    lead: int | None = None
    verdicts: tuple[Verdict, ...] = ()
    known: bool = True


@dataclass(frozen=True, slots=True)
class Candidate:
    """One slot content ``u`` on which a pair of contexts was tested; each pair is (first, second
    context).

    Attributes:
        name: ``current``, ``routed 3``, ``split first`` or ``split second``; of repeated rewards
            ``answer 1`` and so on; of rival lines ``told of both``, ``told of the first`` or ``told
            of the second``.
        slot, revision: of an existing slot; None for a would-be slot.
        cover: ids of the evidence in that content; answers: what the answerer gave from it.
        scores: per context, one score in [0, 1] per scorer; empty when nothing is known.
        lower, upper: score envelope of each context.
        losses: lower-bounded loss of each context when both share this candidate.
    """

    name: str
    slot: int | None
    revision: int | None
    cover: tuple[str, ...]
    answers: tuple[str, str]
    scores: tuple[tuple[float, ...], tuple[float, ...]]
    lower: tuple[float, float]
    upper: tuple[float, float]
    losses: tuple[float, float]


@dataclass(frozen=True, slots=True)
class SplitCertificate:
    """A cannot-link witness: why two contexts must not share a slot, and what was done.

    Certified means: for every candidate listed, at least one of the two contexts loses ``radius``
    or more under the stated envelopes. With B scorers and one pass the envelopes are a guard band,
    not a probability (paper, appendix "Practical split trigger").

    Attributes:
        pair: ids of the two contexts; ``queries`` are theirs.
        radius: smallest over the candidates of the larger lower-bounded loss; it exceeds
            ``threshold``.
        saturated: True when K slots were active, so that the higher threshold applied.
        decision: ``split``, or ``suppressed`` because K slots were active, the slot was pinned, or
            there was nothing to divide.
        new_slot: the slot that the split opened.
        conditions: in words, what the envelopes assume.
        undone: True once its split was taken back, by ``undo`` or by a merge of slots.
        regime: what the envelopes are: a ``guard band`` (B scorers, one pass), a ``confidence
            sequence`` (repeated rewards; holds at the confidence 1 - delta), a ``pairwise
            preference`` (the same, of two answers alone), ``rival lines`` (what is right for the
            one is another value of what is right for the other), or ``none`` (an experiment that
            divided without a test).
        parameters: the numbers of that regime by name: c_beta, sigma_0, eta_cal, or delta; for a
            pairwise preference also the places of its two answers among all that turned up.
        models: names of the answerer and of the encoder.
        seed: of random choices; None, as all choices are deterministic.
        pinned: True when the slot was pinned, so that it could not be split.
        undivided: True when there was nothing to divide: both rest on the same evidence, one side
            would have been left without any, or the two are in different slots already.
        rivals: what is right for the first and for the second, as (evidence id, start, end); where
            one side of the certificate is decided again, the other's is put behind. Empty where
            they are not known to exclude each other.
        digest: of all ids and numbers; :func:`demem_agent.splitting.replay` refuses a
            certificate where it differs.

    Examples:
        >>> from demem_agent.testing import BagEncoder, ReadingAnswerer, ScriptedScorer
        >>> right = ScriptedScorer(lambda attempt: float(attempt.reference in attempt.reading))
        >>> small = SlotMemory(
        ...     slots=3, initial_slots=1, slot_limit=44, read_limit=90, clock=None,
        ...     encoder=BagEncoder(), answerer=ReadingAnswerer(), scorers=(right, right),
        ... )
        >>> for text in ("the boiler has a brass valve", "the violin has a broken bow"):
        ...     done = small.ingest(text)
        >>> valve, bow = "Which valve has the boiler?", "Which bow has the violin?"
        >>> told = small.feedback(small.answer(valve), reference="a brass valve")
        >>> found = small.feedback(small.answer(bow), reference="a broken bow").certificate
        >>> found.pair, found.decision, found.radius > found.threshold
        (('a1', 'a2'), 'split', True)
    """

    id: str
    slot: int
    pair: tuple[str, str]
    queries: tuple[str, str]
    channels: tuple[Channel, Channel]
    candidates: tuple[Candidate, ...]
    radius: float
    threshold: float
    saturated: bool
    decision: Literal["split", "suppressed"]
    new_slot: int | None
    scorers: tuple[str, ...]
    conditions: str
    undone: bool = False
    redacted: bool = False
    regime: Regime = "guard band"
    parameters: tuple[tuple[str, float], ...] = ()
    models: tuple[str, ...] = ()
    seed: int | None = None
    digest: str = ""
    pinned: bool = False
    undivided: bool = False
    rivals: tuple[tuple[str, int, int], ...] = ()

    def _repr_html_(self) -> str:
        return notebook.certificate(self)


@dataclass(frozen=True, slots=True)
class Situation:
    """A situation in which something is decided, time and again (``x``).

    Attributes:
        id: given by the memory, ``x1``, ``x2``, ... in order of appearance.
        text: as it was first described; "" once it is forgotten.
        asker, conditions: for whom it is decided, and what held: part of what the situation is.
        seen: the operation that it came with.
    """

    id: str
    text: str
    asker: str | None = None
    conditions: tuple[str, ...] = ()
    seen: int = 0


@dataclass(frozen=True, slots=True)
class Decision:
    """One choice among actions, and what became of it (``a``).

    Attributes:
        id: given by the memory, ``d1``, ``d2``, ... in order.
        situation: the id of what it was decided in; it may have come up before.
        action: what was chosen; ``actions`` is what could be.
        slot: the profile of actions that the situation follows, below K; None where it follows
            none.
        why: how the choice came about, in words.
        explores: whether something else looked better, and this was chosen to find out.
        cost: what finding out costs at most in expected reward, in [0, 1]; 0 where it does not
            explore. It holds under the conditions that ``docs/use/decide.md`` names.
        probability: of this choice under the policy, in (0, 1]; None where the agent chose itself.
        at: when it was decided, as far as known.
        taken: the operation that recorded it.
        reward: what it came to, in [0, 1]; None while that is not known.
        judged: the operation that told it; None while none did.
    """

    id: str
    situation: str
    action: str
    actions: tuple[str, ...]
    slot: int | None
    why: str
    explores: bool = False
    cost: float = 0.0
    probability: float | None = None
    at: datetime | None = None
    taken: int = 0
    reward: float | None = None
    judged: int | None = None


@dataclass(frozen=True, slots=True)
class Tried:
    """How an action did in a situation, or in those of its profile.

    Attributes:
        action: its name.
        count: how many of its outcomes are known, >= 1.
        total: the sum of their rewards.
    """

    action: str
    count: int
    total: float

    @property
    def mean(self) -> float:
        """The mean reward, in [0, 1]."""
        return self.total / self.count


@dataclass(frozen=True, slots=True)
class MeanReward:
    """What outcomes say of an expected reward.

    Attributes:
        count: how many outcomes, >= 1.
        mean: of their rewards, in [0, 1]; the expectation lies within ``half_width`` of it.
    """

    count: int
    mean: float
    half_width: float


@dataclass(frozen=True, slots=True)
class Parting:
    """Why a situation no longer follows the profile of actions that its description gave it.

    Attributes:
        situation: its id; ``slot``: the profile.
        decision: the id of the decision whose outcome completed the certificate.
        judged: the operation that told that outcome.
        action: whose outcomes here and elsewhere in the profile disagree; None where nothing was
            certified of this situation: what descriptions say was given up, since too many had left
            their profiles or no profile served one that had.
        own: what the situation's own outcomes of the action say; ``others``: what those of the
            profile's other situations do. The two means lie further apart than both half-widths
            together. None without an action.
        delta: probability that any certificate of the memory is wrong, under the conditions that
            ``docs/use/decide.md`` names.
    """

    situation: str
    slot: int
    decision: str
    judged: int
    action: str | None
    own: MeanReward | None
    others: MeanReward | None
    delta: float


@dataclass(frozen=True, slots=True)
class Outcomes:
    """How an action did: how many outcomes are known, and their mean; None without any."""

    count: int = 0
    mean: float | None = None


@dataclass(frozen=True, slots=True)
class Compared:
    """How one of the actions of a decision did, before the decision and until now.

    Attributes:
        here, profile: before it, in the situation and in the profile that the situation followed.
        here_now, profile_now: the same of all outcomes until now.
    """

    action: str
    here: Outcomes
    profile: Outcomes
    here_now: Outcomes
    profile_now: Outcomes


@dataclass(frozen=True, slots=True)
class Explained:
    """A decision among actions, and what it rested on.

    What was known before it is what the stored outcomes say: one that was told again later counts
    from then on, and one that was taken back never did.

    Attributes:
        situation: what it was decided in.
        slot_now: the profile that the situation follows now; None where it follows none.
        actions: one for each of ``decision.actions``, in their order.
        parting: why the situation had left its profile by then; None where it had not.
        parting_now: the same by now.
        restarts: the operations at which all that was learned was begun anew, until now.
    """

    decision: Decision
    situation: Situation
    slot_now: int | None
    actions: tuple[Compared, ...]
    parting: Parting | None
    parting_now: Parting | None
    restarts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Ingested:
    """What ``ingest`` did.

    Attributes:
        evidence_id: None when the text was nothing but a reading of this library (``skipped``). A
            key that was used before gives the id from then, also of an item that was forgotten
            since: it stays so, and nothing is remembered.
        slot: the slot it was placed in; ``opened`` tells whether that slot is new.

    Examples:
        >>> memory.ingest("The key is under the mat.")
        Ingested(evidence_id='e4', slot=3, opened=True, skipped=False)
    """

    evidence_id: str | None
    slot: int | None
    opened: bool = False
    skipped: bool = False


@dataclass(frozen=True, slots=True)
class Updated:
    """What ``update`` did, or ``sync`` to one turn.

    Attributes:
        evidence_id: the item that holds now; where nothing was to change, the one that did before.
        replaced: the item whose place it took: the one that was named, or what held in its place
            already.
        succession: id of the :class:`Succession` between both, which ``undo`` takes back; None
            where nothing was to change.
    """

    evidence_id: str
    replaced: str
    succession: str | None

    @property
    def changed(self) -> bool:
        """Whether anything was to change."""
        return self.succession is not None


@dataclass(frozen=True, slots=True)
class Synced:
    """What ``sync`` found to be different, and did.

    Attributes:
        changed: turns that say something else than before.
        new: ids of the evidence that was not there before.
        gone: ids of the evidence that is not in the list any more, as it stood.
        unchanged: how many turns were left as they are; one that was forgotten stays so.
        skipped: how many turns were nothing but a reading of this library.
        receipt: of what is gone, where that was to be forgotten; None else.
    """

    changed: tuple[Updated, ...] = ()
    new: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    unchanged: int = 0
    skipped: int = 0
    receipt: Receipt | None = None

    def __str__(self) -> str:
        """Return it in words, such as "3 changed, 2 new, 1 gone"."""
        return f"{len(self.changed)} changed, {len(self.new)} new, {len(self.gone)} gone"


@dataclass(frozen=True, slots=True)
class FeedbackReport:
    """What ``feedback`` learned and did.

    Attributes:
        rewards: by name, each in [0, 1]: what the caller gave, by its channel, and what each scorer
            or judge gave.
        reward: the caller's own, or else the mean of the others.
        certificate: present when a conflict was certified, whether it led to a split or was
            suppressed.
        tested: pairs of contexts tested; ``counterfactuals``: answers that the tests needed, one by
            query and slot content; what was answered before is not asked for again.
        capped: True when the budget of counterfactual answers ended the tests early; ``queued``:
            how many pairs it left for the next feedback in their slot.
        channel: how the reward is known.
        remembered: id of the evidence that a correction was remembered as.
        failed: why the tests could not be finished (an answerer or scorer failed); the rewards are
            stored anyway.

    Examples:
        >>> answer = memory.answer("What is the cat called?")
        >>> report = memory.feedback(answer, thumbs=True)
        >>> report.reward, report.channel, report.split
        (1.0, 'thumbs', False)
    """

    answer_id: str
    rewards: Mapping[str, float]
    reward: float
    certificate: SplitCertificate | None = None
    tested: int = 0
    counterfactuals: int = 0
    capped: bool = False
    failed: str | None = None
    channel: Channel = "reward"
    queued: int = 0
    remembered: str | None = None

    @property
    def split(self) -> bool:
        """Whether this feedback split a slot."""
        return self.certificate is not None and self.certificate.decision == "split"

    def __hash__(self) -> int:
        return hash((self.answer_id, self.reward, self.channel))

    def _repr_html_(self) -> str:
        return notebook.feedback(self)


@dataclass(frozen=True, slots=True)
class Sharing:
    """Two slots that were merged, since a test found that no known decision loses by it.

    It speaks of the contexts that are listed, answered from their own slot's text and from that of
    both, within the guard band of the scorers (``SplitSettings``), which is no probability.

    Attributes:
        slot: the number of the one that was closed; ``into`` took in all it had.
        radius: the most that one of the contexts can lose, in [0, 1]; 0.0 where nothing is known of
            either slot. It does not exceed ``threshold``.
        contexts: ids of those that were tested: all of both of which it was known what is right.
    """

    slot: int
    into: int
    radius: float
    threshold: float
    contexts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was forgotten and what that touched: ids and numbers only, never text.

    ``evidence`` has the ids of the items that went: it is empty where a filter left nothing, and of
    several ``source_ids`` only those are in it that an item had.

    ``forget`` gives one, and ``receipts`` those of what went to keep within ``storage``.

    Examples:
        >>> memory.forget("e2").evidence
        ('e2',)
    """

    evidence: tuple[str, ...]
    slots: tuple[int, ...] = ()
    contexts: tuple[str, ...] = ()
    certificates: tuple[str, ...] = ()
    successions: tuple[str, ...] = ()
    situations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Storage:
    """How much a memory keeps, in its unit, and how much it may.

    Attributes:
        used: all that counts, which is the sum of what follows.
        limit: ``Settings.storage``; None where there is no bound.
        evidence: the text of items, corrections among them, and their metadata as JSON.
        contexts: what was asked, answered and told, and the conditions of it.
        certificates: their queries and answers, and what the slot held before.
        names: those given to slots.
        situations: the descriptions of what ``decide`` was asked, and the conditions of it.
        actions: their names, each once.
    """

    used: int
    limit: int | None
    unit: Unit
    evidence: int
    contexts: int
    certificates: int
    names: int
    situations: int = 0
    actions: int = 0


@dataclass(frozen=True, slots=True)
class Health:
    """How a memory stands, in numbers; ``print`` gives them in lines.

    Attributes:
        memory_id, tenant: which one it is.
        items: how many there are; ``kept`` and ``hidden`` of them are marked so, and ``forgotten``
            more there were.
        most_items, tenant_items, keep_days, when_full: its bounds, as in ``Settings``.
        storage: what the texts of everything kept measure, and the bound on that.
        slots: (number, size of its summary) of those in use, of ``most_slots``; none measures more
            than ``slot_limit``.
        answers, decisions: how many were ever given, and made among actions.
        room_made: how often something was forgotten by itself, for want of room or for its age.
        pending: certified conflicts that wait for a free slot; ``untested``: pairs of answers that
            wait to be tested.
        encoder: the name of the one that it is built with, "" before the first item.
        reranker_failures, router_failures: (how, how often) since it was opened.
        schema: of the file, None where it lives in RAM.
        on_disk: bytes of that file and its log, with all that other memories have in it; None in
            RAM. resident: about how many bytes of RAM this memory takes.
        damaged: names of the rows that could not be read, where it was opened in spite of them.
        owes_erasure: whether text that was forgotten may still be in the file; the next write that
            can takes it out.
        changed: when it was last written to, by the clock of the machine, in UTC; None where that
            is not known.
        uncounted: why bytes count in the place of tokens; "" where they do not.
    """

    memory_id: str
    tenant: str
    items: int
    kept: int
    hidden: int
    forgotten: int
    most_items: int | None
    tenant_items: int | None
    keep_days: int | None
    when_full: WhenFull
    storage: Storage
    slots: tuple[tuple[int, int], ...]
    most_slots: int
    slot_limit: int
    answers: int
    decisions: int
    room_made: int
    pending: int
    untested: int
    encoder: str
    reranker_failures: tuple[tuple[str, int], ...]
    schema: int | None
    on_disk: int | None = None
    resident: int = 0
    damaged: tuple[str, ...] = ()
    owes_erasure: bool = False
    changed: datetime | None = None
    router_failures: tuple[tuple[str, int], ...] = ()
    uncounted: str = ""

    def told(self) -> tuple[tuple[str, str], ...]:
        """Return (what, how much) in words, as they are printed."""
        unit = self.storage.unit
        sizes = ", ".join(f"{number}: {size:,}" for number, size in self.slots) or "none"
        days = "no bound" if self.keep_days is None else f"{self.keep_days} days"
        schema = "in RAM" if self.schema is None else str(self.schema)
        return (
            ("memory", f"{self.memory_id} of the tenant {self.tenant}"),
            ("items", f"{_of(self.items, self.most_items)}; {self._marked()}"),
            ("items of the tenant", _bound(self.tenant_items)),
            ("storage", _of(self.storage.used, self.storage.limit, f" {unit}")),
            *((("tokens", self.uncounted),) if self.uncounted else ()),
            ("kept for", days),
            ("when full", self.when_full),
            ("forgotten", f"{self.forgotten:,} items; by itself {self.room_made:,} times"),
            ("slots", f"{len(self.slots)} of {self.most_slots}"),
            ("summaries", f"{sizes}, of {self.slot_limit:,} {unit} each"),
            ("answers", f"{self.answers:,}; {self.decisions:,} decisions among actions"),
            ("conflicts waiting", f"{self.pending} for a slot, {self.untested} to be tested"),
            ("encoder", self.encoder or "none yet"),
            ("reranker failures", _counted(self.reranker_failures)),
            ("router failures", _counted(self.router_failures)),
            ("schema", schema),
            *(() if self.schema is None else self._of_file()),
        )

    def _of_file(self) -> tuple[tuple[str, str], ...]:
        on_disk = "size not known" if self.on_disk is None else f"{self.on_disk:,} in the file"
        return (
            ("bytes", f"{on_disk}; about {self.resident:,} in RAM"),
            ("damaged", ", ".join(self.damaged) or "nothing known"),
            ("forgotten text", "may still be in the file" if self.owes_erasure else "is gone"),
            ("last write", "not known" if self.changed is None else f"{self.changed:%F %T} UTC"),
        )

    def __str__(self) -> str:
        wide = max(len(what) for what, _ in self.told())
        return "\n".join(f"{what:<{wide}}  {how_much}" for what, how_much in self.told())

    def _marked(self) -> str:
        return f"{self.kept:,} marked as kept, {self.hidden:,} as hidden"


def _of(used: int, limit: int | None, unit: str = "") -> str:
    if limit is None:
        return f"{used:,}{unit}, no bound"
    return f"{used:,} of at most {limit:,}{unit}"


def _bound(limit: int | None) -> str:
    return "no bound" if limit is None else f"at most {limit:,}"


def _counted(failures: tuple[tuple[str, int], ...]) -> str:
    return ", ".join(f"{how} {count}" for how, count in failures) or "none"


@dataclass(frozen=True, slots=True)
class Source:
    """One line that a summary is written from; ``needed`` when an answer that was rewarded rested
    on it.
    """

    evidence_id: str
    text: str
    needed: bool


@dataclass(frozen=True, slots=True)
class Compression:
    """What a :class:`Compressor` is given: lines in order of time, and how long the summary may be.

    Attributes:
        limit: L, in ``unit``, by ``measure``.
    """

    sources: tuple[Source, ...]
    limit: int
    unit: Unit
    measure: Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Noting:
    """What a :class:`NoteTaker` is given: lines in order, each with the id of its item.

    Attributes:
        sources: what notes are to be taken of.
        context: what was said right before, which notes may draw on as well.
    """

    sources: tuple[Source, ...]
    context: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a :class:`Compressor` or a :class:`NoteTaker` gives: statements, and for each the ids of
    the evidence that it was made from.
    """

    statements: tuple[str, ...]
    covers: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Summarised:
    """What became of the summary of one slot.

    Attributes:
        kept: whether it was written and kept; else the slot has the summary that it had.
        reason: why not, without any text of memory.
    """

    slot: int
    kept: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ChangeTask:
    """What a :class:`ChangeJudge` is given: two lines of one owner, each with its day and whoever
    said it, as in "3 March 2024, Ana: My dentist is Dr Rao."

    Attributes:
        old, new: the line that was said first, and the one that was said later.
        question: what the lines are read for; "" where nothing is asked.
    """

    old: str
    new: str
    question: str = ""


@dataclass(frozen=True, slots=True)
class ChangeVerdict:
    """What a :class:`ChangeJudge` says of two lines.

    Attributes:
        verdict: ``replaces``: since the new line the old one, or a part of it, does not hold;
            ``adds``: both hold, of one thing; ``other``: they are of two things, or the new line
            only supposes, asks, or tells of long ago.
        reason: why, in a sentence; what is longer than 300 characters is cut when it is kept.
        confidence: in [0, 1], how sure it is of ``replaces``; of no weight with the others.
    """

    verdict: ChangeSaid
    reason: str = ""
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class ChangeJudged:
    """What became of two lines that a judge was asked about.

    Attributes:
        old, new: (evidence id, start, end) each.
        verdict: None where nothing was kept.
        reason: the judge's.
        succession: id of what keeps it; undone there where both lines hold.
        failed: why nothing was kept, without any text of memory; "" where it was. The next call
            asks again.
    """

    old: tuple[str, int, int]
    new: tuple[str, int, int]
    verdict: ChangeSaid | None = None
    reason: str = ""
    succession: str | None = None
    failed: str = ""


@dataclass(frozen=True, slots=True)
class NotesTaken:
    """What became of the notes of some items.

    Attributes:
        of: ids of the items that were looked at.
        notes: ids of the notes, which are evidence as well.
        refused: why others were not kept, without any text of memory.
        failed: why nothing was looked at; "" where it was. The next call tries again.
    """

    of: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    failed: str = ""


@runtime_checkable
class Encoder(Protocol):
    """Anything with ``encode``: a sentence-transformers or model2vec model fits as it is.

    ``encode`` takes n texts and gives an array of shape (n, d), or an awaitable of one; rows need
    not be normalised. A ``name`` attribute, where there is one, is stored with the memory, as is a
    ``fingerprint``.

    A question is encoded by ``encode_query``, where the encoder has it: it is given the whole
    question, as it was asked, and gives what ``encode`` does, of the same d. Without it ``encode``
    is given the words that tell what a question is about.

    Examples:
        >>> import numpy
        >>> class Letters:
        ...     def encode(self, sentences):
        ...         return numpy.array([[text.count("a"), text.count("e")] for text in sentences])
        >>> isinstance(Letters(), Encoder)
        True
        >>> SlotMemory(encoder=Letters(), clock=None).ingest("The cat is called Minka.").evidence_id
        'e1'
    """

    def encode(self, sentences: list[str], /) -> Any: ...


@runtime_checkable
class Reranker(Protocol):
    """Say how well each of some texts answers a query; may be a coroutine function.

    ``score`` gives n numbers for n texts, on any scale, the higher the better: arrays, lists and
    tensors are read.
    """

    def score(self, query: str, texts: list[str], /) -> Any: ...


@runtime_checkable
class Router(Protocol):
    """Choose the slot that a query goes to; may be a coroutine function.

    ``choose`` is given the query and the slots that may be chosen, two at least, and gives the
    number of one of them (paper, eq. "router-score").
    """

    def choose(self, query: str, slots: Sequence[Slot], /) -> int | Awaitable[int]: ...


@runtime_checkable
class Answerer(Protocol):
    """Answer a question from its reading alone; may be a coroutine function.

    Examples:
        >>> class Silent:
        ...     def answer(self, question):
        ...         return f"I have read {question.reading.size} characters."
        >>> isinstance(Silent(), Answerer)
        True
        >>> quiet = SlotMemory(answerer=Silent(), clock=None)
        >>> quiet.ingest("The cat is called Minka.").evidence_id
        'e1'
        >>> print(quiet.answer("What is the cat called?"))
        I have read 67 characters.
    """

    def answer(self, question: Question, /) -> str | Draft | Awaitable[str | Draft]: ...


@runtime_checkable
class Scorer(Protocol):
    """Score one attempt against its reference, in [0, 1]; may be a coroutine function.

    Examples:
        >>> class Same:
        ...     name = "same"
        ...     def score(self, attempt):
        ...         return float(attempt.answer == attempt.reference)
        >>> isinstance(Same(), Scorer)
        True
    """

    @property
    def name(self) -> str: ...

    def score(self, attempt: Attempt, /) -> float | Awaitable[float]: ...


@runtime_checkable
class Compressor(Protocol):
    """Write the summary of a slot from its evidence; may be a coroutine function.

    What it gives is a proposal, and is checked: see :mod:`demem_agent.summaries.grounding`.
    """

    @property
    def name(self) -> str: ...

    def compress(self, task: Compression, /) -> Proposal | Awaitable[Proposal]: ...


@runtime_checkable
class NoteTaker(Protocol):
    """Take down what may be worth knowing of what was said (the paper's psi); may be a coroutine
    function.

    What it gives is a proposal, and each note is checked: see
    :mod:`demem_agent.summaries.grounding`. It may be empty.
    """

    @property
    def name(self) -> str: ...

    def take_notes(self, task: Noting, /) -> Proposal | Awaitable[Proposal]: ...


@runtime_checkable
class ChangeJudge(Protocol):
    """Say what a later line does to an earlier one of the same owner; may be a coroutine function.

    Examples:
        >>> class Replacing:
        ...     name = "replacing"
        ...     def judge(self, task):
        ...         return ChangeVerdict("replaces", "it names another one")
        >>> isinstance(Replacing(), ChangeJudge)
        True
    """

    @property
    def name(self) -> str: ...

    def judge(self, task: ChangeTask, /) -> ChangeVerdict | Awaitable[ChangeVerdict]: ...
