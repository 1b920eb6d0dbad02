"""Memory for DSPy: a retriever for ``dspy.configure(rm=...)``, and a module that gives a program a
memory.
"""

from __future__ import annotations

import asyncio
import copy
import uuid
from collections.abc import Callable, Iterator
from typing import Any, Self

from demem_adapters.common import LOG, Memories, Namespace, block, named
from demem_adapters.common.passages import Passage, fitting, passages
from demem_agent import Reading
from demem_agent.errors import InvalidInput

try:
    import dspy
    from dspy.dsp.utils.utils import dotdict
except ImportError as error:
    raise ImportError("this adapter needs dspy: pip install 'demem-agent[dspy]'") from error

__all__ = ["MemoryRetriever", "WithMemory"]


class MemoryRetriever:
    """Retrieve from a memory: a passage for each item of a reading, with its day and speaker, best
    first.

    Args:
        memories: where to read. All passages together are within their limit, with a line break
            after each.
        namespace: whose memory; a function gets what else the retriever is called with, by name,
            such as ``user`` in ``dspy.Retrieve(k=3)(question, user="ana")``.
    """

    def __init__(self, memories: Memories, *, namespace: Namespace = "default") -> None:
        self.memories, self.namespace = memories, namespace

    def __call__(self, query: str, k: int | None = None, **about: Any) -> list[Any]:
        """Give at most ``k`` passages, as DSPy wants them: with a ``long_text`` each."""
        reading = self.memories.recall(named(self.namespace, **about), query)
        if reading is None:
            return []
        size = self.memories.measure(reading.unit)
        found = fitting(
            passages(reading),
            lambda passage: f"{_shown(passage)}\n",
            reading.limit + size("\n"),
            size,
        )
        return [dotdict(long_text=_shown(passage)) for passage in found][:k]


class WithMemory(dspy.Module):
    """Give a program a memory: recall for what it is asked, and remember question and answer when
    it has answered.

    The program gets what was recalled in an input field of its own, "" where there is nothing.
    Nothing is remembered of a program that fails, or of whose models one was cut off. That stands
    in DSPy's history only: nothing is remembered while ``disable_history`` is set.

    A prediction that is remembered gets a ``call_id``: ``memories.feedback(prediction.call_id,
    thumbs=True)`` tells how it did. Give ``call_id`` with the inputs to have a call that is carried
    out again remembered once.

    A copy of the module copies memories in RAM and shares those in a database: set ``remember`` to
    False to optimise or evaluate, and put this module around those that copy what they call, such
    as ``dspy.BestOfN``. What ``save`` writes, and any pickle, holds nothing that is remembered in
    RAM, as saved programs are passed on; it says where a database is.

    Args:
        program: called with the inputs and the memory field, such as ``dspy.Predict("memory,
            question -> answer")``.
        memories: where it is remembered.
        namespace: whose memory; a function gets the inputs by name, those named in ``keep`` as
            well.
        question, answer, field: names of the program's fields.
        keep: inputs that are for the namespace only and are kept from the program.
        remember: whether to remember, or only to recall.

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
    ) -> None:
        super().__init__()
        if (given := _gives(program)) and answer not in given:
            raise InvalidInput("answer", answer, " or ".join(map(repr, given)))
        self.program, self.memories, self.namespace = program, memories, namespace
        self.question, self.answer, self.field = question, answer, field
        self.keep, self.remember = keep, remember

    def forward(self, *, call_id: str | None = None, **inputs: Any) -> Any:
        """Recall, call the program, and remember."""
        namespace, asked, given = self._asked(inputs)
        reading = self.memories.prepare(namespace, asked)
        watch = _Watch()
        with dspy.context(caller_modules=[*(dspy.settings.caller_modules or []), watch]):
            prediction = self.program(**given, **{self.field: block(reading)})
        return self._kept(namespace, asked, reading, prediction, call_id, watch.whole)

    async def aforward(self, *, call_id: str | None = None, **inputs: Any) -> Any:
        """Recall, call the program, and remember, without blocking the event loop."""
        namespace, asked, given = self._asked(inputs)
        reading = await self.memories.aprepare(namespace, asked)
        watch = _Watch()
        called = getattr(self.program, "acall", self.program)
        with dspy.context(caller_modules=[*(dspy.settings.caller_modules or []), watch]):
            prediction = await called(**given, **{self.field: block(reading)})
        return await asyncio.to_thread(
            self._kept, namespace, asked, reading, prediction, call_id, watch.whole
        )

    def _asked(self, inputs: dict[str, Any]) -> tuple[str | None, str, dict[str, Any]]:
        if not isinstance(asked := inputs.get(self.question), str):
            raise InvalidInput(self.question, asked, "a text: what the program is asked")
        return (
            named(self.namespace, **inputs),
            asked,
            {k: v for k, v in inputs.items() if k not in self.keep},
        )

    def _kept(
        self,
        namespace: str | None,
        asked: str,
        reading: Reading | None,
        prediction: Any,
        call: str | None,
        whole: bool,
    ) -> Any:
        if not (self.remember and whole):
            return prediction
        said = prediction.get(self.answer) if isinstance(prediction, dspy.Prediction) else None
        if said is None:
            LOG.warning("a turn was not remembered: what the program gave has no such answer")
            return prediction
        prediction.call_id = call = call or uuid.uuid4().hex
        self.memories.converse(namespace, asked, str(said), key=call, reading=reading, call=call)
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

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        copied = memo[id(self)] = type(self).__new__(type(self))
        super(WithMemory, copied).__setstate__(copy.deepcopy(super().__getstate__(), memo))
        return copied


class _Watch:
    """Stands among the calling modules, to which DSPy tells the calls of models; for one call, so
    none mix.
    """

    def __init__(self) -> None:
        self.history: list[dict[str, Any]] = []

    @property
    def whole(self) -> bool:
        known = not dspy.settings.disable_history and dspy.settings.max_history_size > 0
        return known and all(
            reason in (None, "stop", "tool_calls", "tool_call") for reason in self._reasons()
        )

    def _reasons(self) -> Iterator[str | None]:
        for response in (call.get("response") for call in self.history):
            for said in (response, *(getattr(response, "choices", None) or ())):
                yield getattr(said, "finish_reason", None)


def _gives(program: Any) -> list[str]:
    """Give the names of the fields that a program says it gives; none of one that does not say."""
    says = program.predict if isinstance(program, dspy.ChainOfThought) else program
    signature: Any = getattr(says, "signature", None)
    return [*signature.output_fields] if isinstance(signature, type(dspy.Signature)) else []


def _shown(passage: Passage) -> str:
    item = passage.evidence
    day = f"{item.at:%Y-%m-%d}" if item and item.at else None
    about = ", ".join(word for word in (day, item.speaker if item else None) if word)
    return f"{about}: {passage.text}" if about else passage.text
