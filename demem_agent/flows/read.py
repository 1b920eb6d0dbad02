"""Ingest, route, read, answer: each written once, as a generator that asks for what it needs.

A flow yields requests (``demem_agent.requests``) and is driven by ``demem_agent.drivers``, synchronously or
not. It computes a delta from the state, has it committed, and applies it; whatever fails before the commit
leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from datetime import datetime

import numpy as np

from demem_agent.encoders import EncoderInfo
from demem_agent.errors import EncoderMismatch, IdempotencyConflict, InvalidInput, NotFound, StaleState
from demem_agent.reading.packing import assemble, in_time_order, pack, strip_rendered, wrap
from demem_agent.reading.trimming import Cut, trimmer
from demem_agent.requests import Ask, Commit, Encode, Flow
from demem_agent.scoring import (
    Query,
    Ranking,
    Weights,
    default_adequacy,
    default_weights,
    focus,
    learned,
    lift,
    rank,
    slot_scores,
)
from demem_agent.scoring.learning import ALIKE
from demem_agent.slots.ledger import operation, stored_result
from demem_agent.slots.placement import Arrival, place
from demem_agent.slots.records import Delta, Head, SlotState, StoredContext, StoredEvidence, Vector
from demem_agent.slots.state import State
from demem_agent.text.words import clean, content_terms, passages
from demem_agent.turns import Turn
from demem_agent.types import Answer, Context, Draft, Evidence, Ingested, Line, Mode, Question, Reading, Route

__all__ = [
    "answer",
    "context_of",
    "encoded",
    "ingest",
    "read",
    "read_for",
    "reembed",
    "route",
    "slot_ranking",
]

#: What a passage in the routed slot is ahead by, in units of the score: the slot is a prior, not a wall.
SLOT_PRIOR = 0.15
#: What a query's word is worth where a passage is trimmed, times its idf.
WORD_WORTH = 1 / 3
#: What a slot earns for the nearest of its past contexts that was rewarded, times the cosine to it.
CONTEXT_BONUS = 1.0
#: A query this near to a rewarded one goes to the slot that served it: there decisions outrank description.
RECALLED = 0.95
#: Questions like the one asked whose support is ahead, at most.
REMEMBERED = 8

_SKIPPED = Ingested(None, None, skipped=True)


def ingest(state: State, encoder: EncoderInfo, turns: Sequence[Turn], hashes: Sequence[str]) -> Flow[list[Ingested]]:
    """Remember turns, already checked, as one transaction and one operation each.

    Args:
        hashes: of the keyed turns as the caller gave them, "" for the others.
    """
    texts = [strip_rendered(turn.text) for turn in turns]
    spans = [tuple(passages(text)) if text.strip() else () for text in texts]
    vectors = yield from _encode_spans(texts, spans)
    _same_encoder(state, encoder)

    fresh = _not_done(state, turns, hashes)
    arrivals: list[Arrival] = []
    for seq, n in enumerate(fresh, state.head.seq + 1):
        if spans[n]:
            item = _evidence(state.head.evidence + len(arrivals) + 1, turns[n], texts[n])
            arrivals.append(Arrival(seq, item, spans[n], vectors[n]))
    head = _head_after(state, encoder, arrivals)
    placed = place(state, arrivals)
    outcomes = iter(placed.results)
    results = {n: next(outcomes) if spans[n] else _SKIPPED for n in fresh}
    operations = tuple(
        operation(seq, "ingest", turns[n].key, hashes[n], asdict(results[n]))
        for seq, n in enumerate(fresh, state.head.seq + 1)
    )
    if operations:
        head = replace(head, seq=operations[-1].seq)
        delta = Delta(head, operations, evidence=placed.evidence, slots=placed.slots)
        yield Commit(delta)
        state.apply(delta)
    return [results.get(n) or _replayed(state, turn, hashes[n]) for n, turn in enumerate(turns)]


def route(
    state: State, encoder: EncoderInfo, query: str, at: datetime | None, vector: Vector | None = None
) -> Flow[Route]:
    """Choose the slot for a query; ``vector`` as in :func:`encoded`."""
    asked = yield from encoded(state, encoder, query, at, vector)
    return slot_ranking(state, asked)[0]


def read(
    state: State,
    encoder: EncoderInfo,
    query: str,
    at: datetime | None,
    limit: int,
    mode: Mode,
    slot: int | None = None,
    vector: Vector | None = None,
    without: frozenset[str] = frozenset(),
) -> Flow[Reading]:
    """Fill a limit with what bears on a query.

    Args:
        slot: read it as if the query had been routed there.
        vector: as in :func:`encoded`.
        without: ids of the evidence to leave out; a summary is given as it is.
    """
    asked = yield from encoded(state, encoder, query, at, vector)
    if slot is not None and slot not in state.slots:
        raise NotFound("slot", str(slot))
    return read_for(state, asked, limit, mode, slot, without)[1]


def answer(state: State, encoder: EncoderInfo, query: str, at: datetime | None, limit: int, mode: Mode) -> Flow[Answer]:
    """Read, have the answerer answer, and store the context with what produced it."""
    asked = yield from encoded(state, encoder, query, at)
    routed, reading = read_for(state, asked, limit, mode)
    drafts: list[Draft] = yield Ask((Question(query, at, reading),))
    number, seq = state.head.contexts + 1, state.head.seq + 1
    context = context_of(state, f"a{number}", Question(query, at, reading), routed, drafts[0])
    result = Answer(context.id, query, drafts[0].text, drafts[0].evidence, routed, reading)
    delta = Delta(
        replace(state.head, seq=seq, contexts=number),
        (operation(seq, "answer", None, "", {}),),
        contexts=(StoredContext(context, asked.vector),),
    )
    yield Commit(delta)
    state.apply(delta)
    return result


def reembed(state: State, encoder: EncoderInfo, adopt: Callable[[], None]) -> Flow[int]:
    """Encode everything anew with another encoder; evidence stays in its slots. Gives the number of items.

    Args:
        adopt: called once it is done, before anything else can happen to the memory.
    """
    seq = state.head.seq + 1
    items = list(state.evidence.values())
    spans = [tuple(state.spans(item.id)) for item in items]
    vectors = yield from _encode_spans([item.text for item in items], spans)
    contexts = list(state.contexts.values())
    # One text more: it tells the number of dimensions when there is nothing else to encode.
    queries: Vector = yield Encode(("", *(clean(focus(c.context.query)) for c in contexts)))
    dimensions = queries.shape[1]
    if state.head.seq + 1 != seq:
        raise StaleState("the memory changed while it was encoded anew")
    head = replace(
        state.head, seq=seq, encoder=encoder.name, encoder_fingerprint=encoder.fingerprint, dimensions=dimensions
    )
    totals = {number: np.zeros(dimensions, np.float32) for number in state.slots}
    for item, matrix in zip(items, vectors, strict=True):
        totals[state.slot_of[item.id]] += matrix.mean(axis=0)
    delta = Delta(
        head,
        (operation(seq, "reembed", None, "", {}),),
        evidence=tuple(
            StoredEvidence(item, state.slot_of[item.id], s, v) for item, s, v in zip(items, spans, vectors, strict=True)
        ),
        slots=tuple(replace(slot, total=totals[n], revision=seq) for n, slot in sorted(state.slots.items())),
        # What was learned from features of the old vectors does not hold for the new ones.
        contexts=tuple(
            StoredContext(replace(c.context, lesson=()), v) for c, v in zip(contexts, queries[1:], strict=True)
        ),
        reembedded=True,
    )
    yield Commit(delta)
    state.apply(delta)
    adopt()
    return len(items)


def slot_ranking(state: State, query: Query) -> tuple[Route, Ranking | None]:
    """Score every slot for a query that is encoded already; with the ranking of the passages behind it."""
    if state.index is None or not len(state.index):
        return Route(min(state.slots, default=None), dict.fromkeys(sorted(state.slots), 0.0), 0.0, False), None
    ranking = _lifted(state, query, rank(state.index, query, _weights(state)))
    past = state.experience.nearest(query.vector) if state.experience else {}
    bonus = {slot: CONTEXT_BONUS * near for slot, near in past.items()}
    scores = slot_scores(ranking, state.index.slot.view(), state.prototypes(), query.vector, bonus)
    known = max(past, key=lambda slot: (past[slot], -slot), default=None)
    if known is not None and past[known] >= RECALLED:
        scores[known] = round(max(scores.values()) + past[known], 4)
    ordered = sorted(scores, key=lambda slot: (-scores[slot], slot))
    margin = scores[ordered[0]] - scores[ordered[1]] if len(ordered) > 1 else 0.0
    adequacy = default_adequacy()
    probability = adequacy.probability(ranking.signals)
    return Route(ordered[0], scores, round(margin, 4), probability >= adequacy.threshold, probability), ranking


def _weights(state: State) -> Weights:
    """Give the default weights or, where the memory learns, what its lessons made of them."""
    if not state.settings.learn or state.experience is None:
        return default_weights()
    return learned(default_weights(), state.experience.lessons())


def _lifted(state: State, query: Query, ranking: Ranking) -> Ranking:
    """Put ahead what served questions like this one, where the memory learns."""
    if not state.settings.learn or state.experience is None:
        return ranking
    alike = state.experience.alike(query.vector, ALIKE, REMEMBERED)
    served = [(cosine, _support(state, state.contexts[id].context)) for id, cosine in alike]
    return lift(ranking, state.passage_index(), served) if served else ranking


def _support(state: State, context: Context) -> list[tuple[str, int, int]]:
    return [line for line in context.read if line[0] in context.supports and line[0] in state.evidence]


def _same_encoder(state: State, encoder: EncoderInfo) -> None:
    """Make sure that the memory was not moved to another encoder while this one was at work."""
    if state.head.encoder and (state.head.encoder, state.head.encoder_fingerprint) != (
        encoder.name,
        encoder.fingerprint,
    ):
        raise StaleState("the memory was encoded anew meanwhile")


# -- ingest, in parts --------------------------------------------------------------------------------------------


def _encode_spans(texts: Sequence[str], spans: Sequence[tuple[tuple[int, int], ...]]) -> Flow[list[Vector]]:
    """Encode the passages of many texts in one go; one matrix per text, empty for a text without passages."""
    pieces = tuple(clean(text[a:b]) for text, cut in zip(texts, spans, strict=True) for a, b in cut)
    matrix = (yield Encode(pieces)) if pieces else np.zeros((0, 0), np.float32)
    ends = np.cumsum([len(cut) for cut in spans])
    return [matrix[end - len(cut) : end] for end, cut in zip(ends, spans, strict=True)]


def _not_done(state: State, turns: Sequence[Turn], hashes: Sequence[str]) -> list[int]:
    """Give the turns that are to be carried out: those whose key is new, each key once."""
    first: dict[str, int] = {}
    fresh = []
    for n, turn in enumerate(turns):
        if turn.key is not None:
            earlier = first.setdefault(turn.key, n)
            if hashes[earlier] != hashes[n]:
                raise IdempotencyConflict(turn.key)
            if earlier != n or stored_result(state, turn.key, hashes[n]) is not None:
                continue
        fresh.append(n)
    return fresh


def _replayed(state: State, turn: Turn, request: str) -> Ingested:
    stored = stored_result(state, turn.key, request)
    return Ingested(**stored) if stored else _SKIPPED


def _evidence(number: int, turn: Turn, text: str) -> Evidence:
    at = turn.at if isinstance(turn.at, datetime) else None
    return Evidence(f"e{number}", text, turn.speaker, at, turn.session, turn.source, turn.source_id, trust=turn.trust)


def _head_after(state: State, encoder: EncoderInfo, arrivals: Sequence[Arrival]) -> Head:
    head = replace(state.head, evidence=state.head.evidence + len(arrivals))
    if not arrivals:
        return head
    dimensions = arrivals[0].vectors.shape[1]
    if head.dimensions in (0, dimensions):
        return replace(head, dimensions=dimensions, encoder=encoder.name, encoder_fingerprint=encoder.fingerprint)
    raise EncoderMismatch(f"{head.encoder} ({head.dimensions} dimensions)", f"{encoder.name} ({dimensions} dimensions)")


# -- reading, in parts -------------------------------------------------------------------------------------------


def encoded(
    state: State, encoder: EncoderInfo, query: str, at: datetime | None, vector: Vector | None = None
) -> Flow[Query]:
    """Give a query as the scorer sees it.

    Args:
        vector: of the query, of unit length, where it is known already.
    """
    if vector is not None:
        if state.head.dimensions not in (0, len(vector)):
            raise InvalidInput("vector", f"{len(vector)} numbers", f"{state.head.dimensions} numbers, as in the memory")
        return Query(query, vector, at.date() if at else None)
    matrix: Vector = yield Encode((clean(focus(query)),))
    _same_encoder(state, encoder)
    if state.head.dimensions not in (0, matrix.shape[1]):
        built_with = f"{state.head.encoder} ({state.head.dimensions} dimensions)"
        raise EncoderMismatch(built_with, f"{encoder.name} ({matrix.shape[1]} dimensions)")
    return Query(query, matrix[0], at.date() if at else None)


def read_for(
    state: State,
    query: Query,
    limit: int,
    mode: Mode,
    slot: int | None = None,
    without: frozenset[str] = frozenset(),
) -> tuple[Route, Reading]:
    """Read for a query that is encoded already; ``slot`` and ``without`` as in :func:`read`."""
    routed, ranking = slot_ranking(state, query)
    routed = routed if slot is None else replace(routed, slot=slot)
    if routed.slot is None or ranking is None:
        return routed, Reading("", 0, limit, state.settings.unit, mode, (), ())
    if mode == "strict":
        lines, text = _strict(state, state.slots[routed.slot], limit)
    else:
        best = (line for line in _best_first(state, routed.slot, ranking) if line.evidence.id not in without)
        lines, text = pack(best, limit, state.measure, _trimmer(state, query))
    evidence = tuple(dict.fromkeys(line.evidence for line in lines))
    slots = dict.fromkeys([routed.slot, *(state.slot_of[item.id] for item in evidence)])
    held = tuple(slot for slot in slots if any(state.slot_of[item.id] == slot for item in evidence))
    size, unit = state.measure(text), state.settings.unit
    return routed, Reading(text, size, limit, unit, mode, evidence, held, tuple(lines), routed.probability)


def _strict(state: State, slot: SlotState, limit: int) -> tuple[list[Line], str]:
    """Give a slot's summary: what a model wrote where it fits, with its evidence whole, or else the excerpts."""
    if slot.written and state.measure(text := wrap(slot.written.text)) <= limit:
        whole = (Line(state.evidence[item], 0, len(state.evidence[item].text)) for item in slot.written.cover)
        return in_time_order(list(whole)), text
    return assemble(slot.summary, state.evidence, limit, state.measure)


def _trimmer(state: State, query: Query) -> Cut:
    lexical = state.passage_index().lexical
    words = filter(lexical.holds, content_terms(focus(query.text)))  # of a document as a query, few
    worth = {word: WORD_WORTH * lexical.idf(word) for word in words}
    return trimmer(worth, state.parts_of)


def context_of(state: State, id: str, question: Question, routed: Route, draft: Draft) -> Context:
    """Give the context to store; what another operation took away while the answerer worked is not in it."""
    lines = question.reading.lines
    live = tuple((line.evidence.id, line.start, line.end) for line in lines if line.evidence.id in state.evidence)
    forgotten = len(live) < len(lines)
    return Context(
        id=id,
        query=question.query,
        at=question.at,
        slot=routed.slot if routed.slot in state.slots else min(state.slots, default=None),
        answer="" if forgotten else draft.text,
        read=live,
        supports=tuple(item for item in draft.evidence if item in state.evidence),
        redacted=forgotten,
    )


def _best_first(state: State, slot: int, ranking: Ranking) -> Iterator[Line]:
    """Give the passages by score, those of the routed slot ahead by the prior."""
    index = state.passage_index()
    scores = np.round(ranking.scores + SLOT_PRIOR * (index.slot.view()[ranking.rows] == slot), 4)
    for nth in np.argsort(-scores, kind="stable"):
        passage = index.passages[ranking.rows[nth]]
        yield Line(state.evidence[passage.evidence_id], passage.start, passage.end, float(scores[nth]))
