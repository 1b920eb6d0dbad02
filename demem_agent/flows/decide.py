"""Choose among actions, record what an agent chose itself, and take in what it came to.

Generators like those of ``demem_agent.flows.read``.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace

from demem_agent.channels import Signal, row_of
from demem_agent.errors import InvalidInput, NotFound
from demem_agent.flows.commit import committed
from demem_agent.flows.encode import encoded_text
from demem_agent.later import dataclass
from demem_agent.requests import Flow, Vectors
from demem_agent.slots.choosing.asked import Choosing
from demem_agent.slots.choosing.playbook import Offer
from demem_agent.slots.ledger import operation, stored_result
from demem_agent.slots.records import Delta, Head, StoredSituation
from demem_agent.slots.state import State
from demem_agent.text.language.words import clean
from demem_agent.types import Decision, FeedbackReport, Situation

__all__ = ["decide", "outcome"]

#: How a choice came about, by what the learner calls it.
WHY = {
    "own": "the agent chose it itself",
    "slot": "what does best where situations like this are decided",
    "alone": "what did best here: this situation differs from those like it",
    "doubt": "what did best here: outcomes may differ from those where it is alike",
    "placed": "what does best where outcomes were as here",
    "untried": "nobody knows yet how it does",
    "second opinion": "too few situations like this have tried it",
    "known": "what is known to do best",
    "guess": "nothing is known here: what does best everywhere",
    "chance": "drawn by chance",
}


def decide(state: State, asked: Choosing) -> Flow[Decision]:
    """Choose among actions by what is known of them, and record the choice.

    Raises:
        IdempotencyConflict: if the key was used for another request.
        EncoderMismatch: for an encoder of other dimensions than the memory was built with.
    """
    done = _replayed(state, asked)
    if done is not None:
        return done
    vectors = yield from encoded_text(state, clean(asked.text))
    done = _replayed(state, asked)
    if done is not None:  # the same request came in twice at once
        return done
    met = _met(state, asked, vectors)
    decision = _chosen(state, asked, met) if asked.action is None else _own(state, asked, met)
    yield from committed(state, _delta(state, asked, met, decision, vectors))
    return state.choices[decision.id]


def outcome(
    state: State, decision_id: str, signal: Signal, key: str | None, request: str
) -> Flow[FeedbackReport]:
    """Record what a choice came to; told again, the last one counts.

    Raises:
        NotFound: for an unknown decision.
        InvalidInput: for what tells no reward of an action.
        IdempotencyConflict: if the key was used for another request.
    """
    if decision_id not in state.choices:
        raise NotFound("decision", decision_id)
    if signal.reward is None or row_of(signal.channel).tells != "rating":
        allowed = "left out: what an action came to is told by reward, thumbs or outcome"
        raise InvalidInput(signal.channel, signal.reference, allowed)
    report = FeedbackReport(
        answer_id=decision_id,
        rewards={signal.channel: signal.reward},
        reward=signal.reward,
        channel=signal.channel,
    )
    if stored_result(state, key, request, ("outcome",)) is not None:
        return report
    seq = state.head.seq + 1
    told = replace(state.choices[decision_id], reward=signal.reward, judged=seq)
    delta = Delta(
        replace(state.head, seq=seq),
        (operation(seq, "outcome", key, request, {"decision": decision_id}),),
        choices=(told,),
    )
    yield from committed(state, delta)
    return report


def _replayed(state: State, asked: Choosing) -> Decision | None:
    """Return the stored decision of a key that was used for it before."""
    done = stored_result(state, asked.key, asked.request, ("decide", "decided"))
    return None if done is None else state.choices[done["decision"]]


@dataclass(frozen=True, slots=True)
class _Met:
    """The situation that something is decided in, and whether it never came up before."""

    stored: StoredSituation
    is_new: bool


def _met(state: State, asked: Choosing, vectors: Vectors) -> _Met:
    """Return the situation that is asked about, known again or new."""
    vector = vectors.matrix[0]
    told = (asked.text, asked.asker, asked.conditions, vector)
    known = state.playbook().known(told) if state.situations else None
    if known is not None:
        return _Met(state.situations[known], is_new=False)
    situation = Situation(
        id=f"x{state.head.situations + 1}",
        text=asked.text,
        asker=asked.asker,
        conditions=asked.conditions,
        seen=state.head.seq + 1,
    )
    return _Met(StoredSituation(situation, vector), is_new=True)


def _chosen(state: State, asked: Choosing, met: _Met) -> Decision:
    id = f"d{state.head.choices + 1}"
    book = state.playbook()
    offer = Offer(asked.actions, asked.never, asked.explore, _draw(id, met.stored.situation.id))
    action, choice = book.choice(met.stored, offer)
    return Decision(
        id=id,
        situation=met.stored.situation.id,
        action=action,
        actions=asked.actions,
        slot=None if choice.slot < 0 else choice.slot,
        why=WHY[choice.reason],
        explores=choice.explores,
        cost=choice.cost,
        probability=choice.probability,
        at=asked.at,
        taken=state.head.seq + 1,
    )


def _own(state: State, asked: Choosing, met: _Met) -> Decision:
    """Return what the agent chose itself as a decision."""
    assert asked.action is not None
    situation = met.stored.situation.id
    return Decision(
        id=f"d{state.head.choices + 1}",
        situation=situation,
        action=asked.action,
        actions=asked.actions,
        slot=None if met.is_new else state.playbook().slot_of(situation),
        why=WHY["own"],
        at=asked.at,
        taken=state.head.seq + 1,
    )


def _delta(state: State, asked: Choosing, met: _Met, decision: Decision, vectors: Vectors) -> Delta:
    seq = state.head.seq + 1
    kind = "decide" if asked.action is None else "decided"
    return Delta(
        _head_after(state, met, vectors),
        (operation(seq, kind, asked.key, asked.request, {"decision": decision.id}),),
        situations=(met.stored,) if met.is_new else (),
        choices=(decision,),
    )


def _head_after(state: State, met: _Met, vectors: Vectors) -> Head:
    """Return the head once something was decided; the first situation names the encoder."""
    head = state.head
    return replace(
        head,
        seq=head.seq + 1,
        situations=head.situations + met.is_new,
        choices=head.choices + 1,
        encoder=vectors.encoder.name,
        encoder_fingerprint=vectors.encoder.fingerprint,
        dimensions=vectors.matrix.shape[1],
    )


def _draw(*of: str) -> float:
    """Return a number in [0, 1) that follows from some ids: the same every time."""
    digest = hashlib.sha256(":".join(of).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64
