"""Memory for DSPy: a retriever for ``dspy.configure(rm=...)``, and a program with memory."""

from __future__ import annotations

import asyncio
import copy
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from demem_adapters.common import (
    LOG,
    Asker,
    Conditions,
    Filter,
    Memories,
    Namespace,
    Situation,
    block,
    came_to_its_end,
    in_conversation,
    named,
)
from demem_adapters.common.passages import Passage, fitting, passages
from demem_agent import Reading
from demem_agent.errors import InvalidInput
from demem_agent.reading import Asking

try:
    import dspy
    from dspy.dsp.utils.utils import dotdict
except ImportError as error:
    raise ImportError("this adapter needs dspy: pip install 'demem-agent[dspy]'") from error

__all__ = ["MemoryRetriever", "WithMemory"]


class MemoryRetriever:
    """Retrieve from a memory: a passage for each item of a reading, best first.

    A passage says the day and the speaker of its item; its ``score`` is the probability, from 0 to
    1, that it bears on the query.

    Args:
        memories: where to read. All passages together are within their limit, with a line break
            after each.
        namespace: whose memory; a function gets what else the retriever is called with, by name,
            such as ``user`` in ``dspy.Retrieve(k=3)(question, user="ana")``.
        asker, conditions: who asks ("user" unless given), and what holds; functions of the same.
        where: which items may be read; a function of it too.
    """

    def __init__(
        self,
        memories: Memories,
        *,
        namespace: Namespace = "default",
        asker: Asker | None = None,
        conditions: Conditions = (),
        where: Filter | None = None,
    ) -> None:
        self.memories = memories
        self.namespace = namespace
        self.situation = Situation(asker, conditions, where)

    def __call__(
        self, query: str, k: int | None = None, *, context: Sequence[str] = (), **about: Any
    ) -> list[Any]:
        """Return at most ``k`` passages, as DSPy wants them: with ``long_text`` and ``score``.

        Args:
            context: what was said last before the query.
            about: what the functions get.
        """
        asking = in_conversation(self.situation.asking(**about), context)
        reading = self.memories.recall(named(self.namespace, **about), query, **asking)
        if reading is None:
            return []
        size = self.memories.measure(reading.unit)
        room = reading.limit + size("\n")  # after the last passage there is no line break
        found = fitting(passages(reading), lambda passage: f"{_shown(passage)}\n", room, size)
        read = [dotdict(long_text=_shown(one), score=one.probability) for one in found]
        return read[:k]


class _Watch:
    """Stands among the calling modules, to which DSPy tells the calls of models; one a call."""

    def __init__(self) -> None:
        self.history: list[dict[str, Any]] = []

    @property
    def whole(self) -> bool:
        """Whether no model was cut off, as far as DSPy keeps a history."""
        if dspy.settings.disable_history or dspy.settings.max_history_size <= 0:
            return False
        return all(
            came_to_its_end(reason, unsaid="whole", waits=True) for reason in self._reasons()
        )

    def _reasons(self) -> Iterator[str | None]:
        for call in self.history:
            response = call.get("response")
            yield getattr(response, "finish_reason", None)
            for choice in getattr(response, "choices", None) or ():
                yield getattr(choice, "finish_reason", None)


@dataclass(frozen=True, slots=True)
class _Call:
    """One call of a program with memory.

    Attributes:
        namespace: whose memory; None for a call without.
        asked: the question.
        given: what the program is called with, without what was recalled.
        id: what the caller named the call.
        asking: who asks, and what holds.
        watch: hears how the calls of models ended.
    """

    namespace: str | None
    asked: str
    given: dict[str, Any]
    id: str | None
    asking: Asking
    watch: _Watch = field(default_factory=_Watch)

    def modules(self) -> Sequence[Any]:
        """Return the calling modules as DSPy is to know them, this call's watch among them."""
        return [*(dspy.settings.caller_modules or []), self.watch]


class WithMemory(dspy.Module):
    """Give a program a memory: recall for what it is asked; remember question and answer.

    The program gets what was recalled in an input field of its own, "" where there is nothing.
    Nothing is remembered of a program that fails, or of whose models one was cut off. That stands
    in DSPy's history only: nothing is remembered while ``disable_history`` is set.

    A prediction that is remembered gets a ``call_id``: ``memories.feedback(prediction.call_id,
    namespace="ana", thumbs=True)`` tells how it did. Give ``call_id`` with the inputs to have a
    call that is carried out again remembered once.

    A copy of the module copies memories in RAM and shares those in a database: set ``remember`` to
    False to optimise or evaluate, and put this module around those that copy what they call, such
    as ``dspy.BestOfN``. What ``save`` writes, and any pickle, holds nothing that is remembered in
    RAM, as saved programs are passed on; it says where a database is.

    Where an input is a ``dspy.History``, a question that names nothing of what it is about ("when
    was that?") is understood from it.

    Args:
        program: called with the inputs and the memory field, such as ``dspy.Predict("memory,
            question -> answer")``.
        memories: where it is remembered.
        namespace: whose memory; a function gets the inputs by name, those named in ``keep`` as
            well.
        question, answer, field: names of the program's fields.
        keep: inputs that are for the namespace, or for those below, and are kept from the program.
        remember: whether to remember, or only to recall.
        asker, conditions: who asks ("user" unless given), and what holds; functions of the inputs
            as well.
        where: which items may be recalled; a function of them too.

    Raises:
        InvalidInput: if the program says which fields it gives and ``answer`` is none of them.
    """

    def __init__(
        self,
        program: Callable[..., Any],
        memories: Memories,
        *,
        namespace: Namespace = "default",
        question: str = "question",
        answer: str = "answer",
        field: str = "memory",
        keep: tuple[str, ...] = (),
        remember: bool = True,
        asker: Asker | None = None,
        conditions: Conditions = (),
        where: Filter | None = None,
    ) -> None:
        super().__init__()
        given = _gives(program)
        if given and answer not in given:
            raise InvalidInput("answer", answer, " or ".join(map(repr, given)))
        self.program = program
        self.memories = memories
        self.namespace = namespace
        self.question = question
        self.answer = answer
        self.field = field
        self.keep = keep
        self.remember = remember
        self.situation = Situation(asker, conditions, where)

    def forward(self, *, call_id: str | None = None, **inputs: Any) -> Any:
        """Recall, call the program, and remember."""
        call = self._begun(inputs, call_id)
        reading = self.memories.prepare(call.namespace, call.asked, **call.asking)
        with dspy.context(caller_modules=call.modules()):
            prediction = self.program(**call.given, **{self.field: block(reading)})
        return self._kept(call, reading, prediction)

    async def aforward(self, *, call_id: str | None = None, **inputs: Any) -> Any:
        """Recall, call the program, and remember, without blocking the event loop."""
        call = self._begun(inputs, call_id)
        reading = await self.memories.aprepare(call.namespace, call.asked, **call.asking)
        called = getattr(self.program, "acall", self.program)
        with dspy.context(caller_modules=call.modules()):
            prediction = await called(**call.given, **{self.field: block(reading)})
        return await asyncio.to_thread(self._kept, call, reading, prediction)

    def _begun(self, inputs: dict[str, Any], call_id: str | None) -> _Call:
        asked = inputs.get(self.question)
        if not isinstance(asked, str):
            raise InvalidInput(self.question, asked, "a text: what the program is asked")
        given = {name: value for name, value in inputs.items() if name not in self.keep}
        asking = in_conversation(self.situation.asking(**inputs), self._before(inputs))
        return _Call(named(self.namespace, **inputs), asked, given, call_id, asking)

    def _before(self, inputs: dict[str, Any]) -> list[str]:
        """Return what was asked and answered before, in order, where an input is a history."""
        spoken: list[str] = []
        for value in inputs.values():
            for turn in value.messages if isinstance(value, dspy.History) else ():
                sides = [turn.get(name) for name in (self.question, self.answer)]
                spoken += [side for side in sides if isinstance(side, str)]
        return spoken

    def _kept(self, call: _Call, reading: Reading | None, prediction: Any) -> Any:
        if not self.remember or not call.watch.whole:
            return prediction
        said = prediction.get(self.answer) if isinstance(prediction, dspy.Prediction) else None
        if said is None:
            LOG.warning("a turn was not remembered: what the program gave has no such answer")
            return prediction
        id = call.id or uuid.uuid4().hex
        prediction.call_id = id
        self.memories.converse(
            call.namespace, call.asked, str(said), key=id, reading=reading, call=id, **call.asking
        )
        return prediction

    def __getstate__(self) -> dict[str, Any]:
        kept = self.memories.__getstate__()
        made = type(self.memories), {**kept, "exported": {}, "answers": {}}
        return {**super().__getstate__(), "memories": None, "made": made}

    def __setstate__(self, state: dict[str, Any]) -> None:
        kept = {**state}
        kind, made = kept.pop("made")
        kept["memories"] = kind.__new__(kind)
        kept["memories"].__setstate__(made)
        super().__setstate__(kept)

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        copied = type(self).__new__(type(self))
        memo[id(self)] = copied
        super(WithMemory, copied).__setstate__(copy.deepcopy(super().__getstate__(), memo))
        return copied


def _gives(program: Any) -> list[str]:
    """Return the names of the fields that a program says it gives; none if it does not say."""
    says = program.predict if isinstance(program, dspy.ChainOfThought) else program
    signature: Any = getattr(says, "signature", None)
    if not isinstance(signature, type(dspy.Signature)):
        return []
    return [*signature.output_fields]


def _shown(passage: Passage) -> str:
    item = passage.evidence
    about: list[str] = []
    if item is not None and item.at:
        about.append(f"{item.at:%Y-%m-%d}")
    if item is not None and item.speaker:
        about.append(item.speaker)
    return f"{', '.join(about)}: {passage.text}" if about else passage.text
