"""One call of a model over OpenAI's protocols: what was asked, what was recalled for it, what to
remember of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

from demem_adapters.common import (
    Memories,
    Namespace,
    Place,
    Recent,
    block,
    checked,
    digest,
    named,
    put_before,
)
from demem_agent import Reading

__all__ = ["Heard", "ResponseTurns", "Turn", "Turns", "heard_of_completion", "heard_of_response"]

#: A model's turn has ended as it should; "length" and "content_filter" are cut-off answers.
_WHOLE = frozenset({"stop", "tool_calls", "function_call"})
#: Calls of tools that the provider itself carries out within a response; others wait for the
#: application.
_HOSTED = frozenset({"web_search", "file_search", "code_interpreter", "image_generation", "mcp"})


class Heard(NamedTuple):
    """What a response, or a piece of one, tells: its id, text, and why the model stopped, None
    while it has not.
    """

    call: str | None
    text: str
    finish: str | None


def heard_of_completion(piece: Any) -> Heard:
    """Read a chat completion, or a piece of its stream; of several choices the first."""
    text, finish = "", None
    for choice in getattr(piece, "choices", None) or ():
        if not getattr(choice, "index", 0):
            message = getattr(choice, "message", None) or getattr(choice, "delta", None)
            text += getattr(message, "content", None) or ""
            finish = getattr(choice, "finish_reason", None) or finish
    return Heard(getattr(piece, "id", None), text, finish)


def heard_of_response(piece: Any) -> Heard:
    """Read a response, or an event of its stream: the one that says it is completed has the whole
    of it.
    """
    response = getattr(piece, "response", None) if "." in str(getattr(piece, "type", "")) else piece
    if response is None or getattr(response, "status", None) != "completed":
        return Heard(getattr(response, "id", None), "", None)
    kinds = {str(item.type) for item in response.output}
    waits = any(
        kind.endswith("_call") and kind.removesuffix("_call") not in _HOSTED for kind in kinds
    )
    waits |= "mcp_approval_request" in kinds
    return Heard(response.id, response.output_text, "tool_calls" if waits else "stop")


class Turn:
    """What the user asked, what was recalled for it, and what to remember when the model has ended
    well.
    """

    def __init__(
        self,
        turns: Turns,
        namespace: str | None,
        messages: Sequence[Mapping[str, Any]],
        *about: Any,
    ) -> None:
        self.turns, self.namespace = turns, namespace
        last = max(
            (n for n, message in enumerate(messages) if message.get("role") == "user"), default=-1
        )
        self.asked = _text(messages[last]) if last >= 0 else ""
        self.shown = [_text(message) for message in messages]
        #: Whether the model's calls of tools and their results follow the question.
        self.goes_on = any(
            message.get("role") not in ("system", "developer") for message in messages[last + 1 :]
        )
        #: By which the same turn is known when it goes on.
        self.names = {digest(namespace, messages[: max(last, 0) + 1], *about)}
        self.key = ""
        self.reading: Reading | None = None
        self.call: str | None = None
        self.finish: str | None = None
        self._said = ""
        self._ended = False

    def hear(self, piece: Any) -> None:
        """Take in a response, or a piece of its stream."""
        heard = self.turns.heard(piece)
        self.call, self.finish = self.call or heard.call, heard.finish or self.finish
        self._said += heard.text

    def end(self) -> None:
        """Remember both sides, if the model came to its end; else nothing. A memory that fails
        costs no response.
        """
        if self._ended or self.finish not in _WHOLE:
            return
        self._ended, stopped = True, self.finish == "stop"
        for name in {*self.names, digest(self.namespace, self.call)}:
            if stopped:
                self.turns.waiting.pop(name, None)
            else:
                self.turns.waiting[name] = self
        about: dict[str, Any] = {"key": self.key, "reading": self.reading, "call": self.call}
        self.turns.memories.converse(
            self.namespace, self.asked, self._said if stopped else "", **about
        )


class Turns:
    """The chat completions of one client: recall before each, and keep to it while tools answer the
    model.
    """

    heard = staticmethod(heard_of_completion)

    def __init__(self, memories: Memories, namespace: Namespace, inject: Place) -> None:
        self.memories, self.namespace = memories, namespace
        self.inject: Place = checked(inject, Place)
        #: Turns whose model called tools, by their names and their call: the question is not
        #: recalled for anew, among what it has itself become by then, and the beginning of the
        #: prompt stays as it was.
        self.waiting: Recent[str, Turn] = Recent()

    def begin(self, call: dict[str, Any]) -> tuple[Turn, dict[str, Any]]:
        """Recall; give the turn, and the arguments of the call with what was recalled among its
        messages.
        """
        messages = [_plain(message) for message in call.get("messages") or ()]
        turn = Turn(self, named(self.namespace, call), messages)
        self._recall(turn)
        return turn, {**call, "messages": put_before(messages, turn.reading, self.inject)}

    def _recall(self, turn: Turn) -> bool:
        """Recall for a turn; or give True, where it goes on with one that has waited for tools, and
        take that over.
        """
        before = next(filter(None, map(self.waiting.get, turn.names)), None)
        if before is not None and turn.goes_on:
            turn.asked, turn.key, turn.reading = before.asked, before.key, before.reading
            turn.names |= {*before.names, digest(before.namespace, before.call)}
            return True
        # The same when the call is made again at once.
        about = (self.memories.before(turn.namespace, turn.asked), date.today().isoformat())
        turn.key = digest(*sorted(turn.names), *about)
        turn.reading = self.memories.prepare(turn.namespace, turn.asked, shown=turn.shown)
        return False


class ResponseTurns(Turns):
    """The same for the Responses API, where the provider may keep the conversation itself."""

    heard = staticmethod(heard_of_response)

    def begin(self, call: dict[str, Any]) -> tuple[Turn, dict[str, Any]]:
        """Recall; give the turn, and the arguments of the call with what was recalled in its input
        or instructions.
        """
        given, kept = (
            call.get("input") or "",
            [call.get("previous_response_id"), call.get("conversation")],
        )
        items = (
            [{"role": "user", "content": given}]
            if isinstance(given, str)
            else [_plain(item) for item in given]
        )
        turn = Turn(self, named(self.namespace, call), items, *map(str, kept))
        if (
            not turn.asked
        ):  # nothing but what tools have given: the turn before is what the provider keeps
            turn.names |= {digest(turn.namespace, _id(name)) for name in kept if name}
        goes_on = self._recall(turn)
        if kept[1]:
            turn.names.add(digest(turn.namespace, _id(kept[1])))
        return turn, self._with(call, items, turn.reading, kept=goes_on and any(kept))

    def _with(
        self,
        call: dict[str, Any],
        items: Sequence[Mapping[str, Any]],
        reading: Reading | None,
        *,
        kept: bool,
    ) -> dict[str, Any]:
        if reading is None:
            return call
        if (
            self.inject == "system"
        ):  # instructions hold for one call; a message would stay in a conversation kept there
            return {
                **call,
                "instructions": "\n\n".join(
                    filter(None, [call.get("instructions"), block(reading)])
                ),
            }
        return (
            call
            if kept
            else {**call, "input": put_before(items, reading, self.inject, part="input_text")}
        )


def _id(named: Any) -> str:
    """Give the id of a response or conversation, which may come as an object."""
    return str(named.get("id") if isinstance(named, Mapping) else getattr(named, "id", named))


def _text(message: Mapping[str, Any]) -> str:
    """Give the text of a message; of one in parts, the texts of its parts."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(
        str(part.get("text") or "") for part in content or () if isinstance(part, Mapping)
    ).strip()


def _plain(message: Any) -> Mapping[str, Any]:
    """Give a message as a mapping: the client also takes the objects that it gives."""
    plain: Mapping[str, Any] = (
        message if isinstance(message, Mapping) else message.model_dump(exclude_none=True)
    )
    return plain
