"""One call of a model by the client of a provider: what was asked and recalled, what to remember.

The client of each provider reads its own messages into :class:`Asked` and its own replies into
:class:`Piece`; what becomes of them is said here once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from demem_adapters.common.asking import Situation, in_conversation
from demem_adapters.common.digests import digest
from demem_adapters.common.endings import Ending, came_to_its_end, ending_of
from demem_adapters.common.failures import LOG
from demem_adapters.common.keeping import Keeps, Waiting
from demem_adapters.common.memories import Heard, Memories
from demem_adapters.common.naming import Namespace, named
from demem_adapters.common.texts import Spoken, said_last
from demem_agent import Reading
from demem_agent.reading import Asking

__all__ = ["Asked", "Call", "Calls", "Piece"]

#: What is logged of a stream without a reason to end.
_BROKE_OFF = "a stream was not remembered: it may have broken off"


@dataclass(frozen=True, slots=True)
class Asked:
    """What the messages of a call say.

    Attributes:
        said: what both have said, in order, up to the question, which is its last.
        shown: all texts that the model is shown anyway.
        messages: all of those up to the question, as values of JSON.
        about: what else tells a call from others, such as a picture that is asked about.
        under: what else the model is told, such as instructions; a clock in them makes no other
            call of it.
        begun: with what its answer begins: a text that it is to go on with.
        follows: whether something follows the question, such as the results of tools.
        goes_on: whether that says that the model was called with this question before.
        calls: ids of the calls of tools whose results follow the question.
    """

    said: Sequence[Spoken]
    shown: Sequence[str]
    messages: object
    about: object = ""
    under: object = ""
    begun: str = ""
    follows: bool = False
    goes_on: bool = False
    calls: Sequence[str] = ()


class Piece(NamedTuple):
    """What a reply, or a piece of one, tells.

    Attributes:
        id: of the reply.
        apart: whether the text is not the next of what was said before, but stands on its own.
        calls: ids of the calls of tools that wait for the application, "" for one without.
        finish: why the model stopped, None while it has not.
    """

    id: str | None = None
    text: str = ""
    apart: bool = False
    calls: tuple[str, ...] = ()
    finish: str | None = None


class Call:
    """What the user asked, what was recalled for it, and what to remember of it.

    Attributes:
        place: where the reading was put, for an adapter that must put it there again while tools
            answer the model.
        over: whether the model has come to an end.
    """

    def __init__(self, calls: Calls, namespace: str | None, asked: Asked, asking: Asking) -> None:
        self.namespace = namespace
        self.before, self.said = said_last(asked.said)
        self.asked = self.said[-1] if self.said else ""
        self.asking = in_conversation(asking, [one.text for one in asked.said[:-1]])
        self.reading: Reading | None = None
        self.place: int | None = None
        self.heard = Heard()
        #: By which the same question is known when it goes on. With the asker: in one memory
        #: several people may ask the same.
        what = (asked.about, asked.under, asked.messages)
        self.names = {digest(namespace, asking.get("asker"), *what)}
        self._calls = calls
        self._begun = asked.begun
        self._id: str | None = None
        self._answer = [""]
        self._tools: list[str] = []
        self._finish: str | None = None
        self._ended = False

    @property
    def over(self) -> bool:
        """Whether the model has said why it stopped."""
        return self._finish is not None

    def take_over(self, before: Waiting) -> None:
        """Go on with a call that waited for the results of tools."""
        self.asked = before.asked
        self.asking = before.asking
        self.reading = before.reading
        self.place = before.place
        self.heard = before.heard
        self.names |= before.names
        self._begun = self._begun or before.paused

    def hear(self, piece: Piece) -> None:
        """Take in a reply, or a piece of one."""
        self._id = piece.id or self._id
        if piece.apart and self._answer[-1]:
            self._answer.append("")
        self._answer[-1] += piece.text
        self._tools += piece.calls
        self._finish = piece.finish or self._finish

    def end(self) -> None:
        """Remember the answer, if the model came to its end; else nothing.

        A memory that fails costs no reply.
        """
        if self._ended or self._finish is None:
            return
        ending = self._ending()
        if ending == "waits":
            self._wait()
        else:
            self._ended = True
            self._calls.forget(self)
            if ending == "whole":
                self._remember(self._text().strip())

    def broke_off(self) -> None:
        """Log that a stream has ended that gave no reason for it, unless nothing was said in it."""
        if not self._ended and not self.over and any(self._answer):
            LOG.warning(_BROKE_OFF)

    def _ending(self) -> Ending:
        if ending_of(self._finish, unsaid="cut") == "cut":
            return "cut"
        # Google says "STOP" of a call of a tool as well.
        if self._tools or ending_of(self._finish) == "waits":
            return "waits"
        return "whole" if came_to_its_end(self._finish, unsaid="cut") else "cut"

    def _wait(self) -> None:
        """Keep what was recalled for when the results of tools come."""
        self.names |= {digest(self.namespace, tool) for tool in self._tools if tool}
        # What was said when the model paused the messages of the next call may not show.
        self._calls.keep(self, paused="" if self._tools else self._text())
        # A client that calls the tools itself goes on in the same stream.
        self._answer, self._tools, self._finish = [""], [], None

    def _text(self) -> str:
        return self._begun + "\n".join(self._answer)

    def _remember(self, said: str) -> None:
        self._calls.memories.converse(
            self.namespace,
            self.asked,
            said,
            key=self.heard,
            reading=self.reading,
            call=self._id,
            **self.asking,
        )


class Calls:
    """The calls of one client: recall before each, hear what the user says, and keep to both while
    tools answer the model.

    Args:
        namespace, situation: whose memory a call has, who asks and what holds; functions of the
            arguments of the call.
    """

    def __init__(self, memories: Memories, namespace: Namespace, situation: Situation) -> None:
        self.memories = memories
        self._namespace = namespace
        self._situation = situation
        #: Calls whose model called tools, by their names: the question is not recalled for anew,
        #: among what it has itself become by then, and the beginning of the prompt stays the same.
        self._waiting: Keeps[Waiting] = memories.keeping("calls")

    def begin(self, arguments: Mapping[str, Any], asked: Asked) -> Call:
        """Recall for a call, or take over what was recalled for one that waited for tools; hear
        what the user says.
        """
        call = self.call_of(arguments, asked)
        self.recall(call, asked)
        return call

    def call_of(self, arguments: Mapping[str, Any], asked: Asked) -> Call:
        """Return a call, for which :meth:`recall` is to recall."""
        asking = self._situation.asking(arguments)
        return Call(self, named(self._namespace, arguments), asked, asking)

    def recall(self, call: Call, asked: Asked, *, hears: bool = True) -> None:
        """Recall for a call, or take over what was recalled for one that waited for tools.

        Args:
            hears: whether what the user says is heard: not where tokens are counted alone.
        """
        before = self._before(call, asked)
        if before is not None:
            call.take_over(before)
            if self.memories.still_holds(call.namespace, call.reading, call.heard):
                return
        call.reading = self._prepared(call, asked)
        if before is None and hears:
            call.heard = self.memories.heard(
                call.namespace,
                call.said,
                before=call.before,
                asker=call.asking.get("asker"),
                about=asked.about,
                under=asked.under,
                goes_on=asked.goes_on,
            )

    def _prepared(self, call: Call, asked: Asked) -> Reading | None:
        return self.memories.prepare(call.namespace, call.asked, shown=asked.shown, **call.asking)

    def keep(self, call: Call, *, paused: str = "") -> None:
        """Keep a call that waits for tools.

        Args:
            paused: what was said when the model paused.
        """
        waiting = Waiting(
            asked=call.asked,
            asking=call.asking,
            reading=call.reading,
            heard=call.heard,
            names=frozenset(call.names),
            place=call.place,
            paused=paused,
        )
        for name in call.names:
            self._waiting.keep(call.namespace, name, waiting)

    def forget(self, call: Call) -> None:
        """Let go what waited for tools under the names of a call."""
        for name in call.names:
            self._waiting.drop(call.namespace, name)

    def _before(self, call: Call, asked: Asked) -> Waiting | None:
        if not asked.follows:
            return None
        names = [*call.names, *(digest(call.namespace, tool) for tool in asked.calls)]
        found = (self._waiting.get(call.namespace, name) for name in names)
        return next(filter(None, found), None)
