"""Memory for the ``openai`` client: ``wrap(client)`` recalls before a chat call and remembers after it."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any, TypeVar

from demem_adapters.shared import Memories, Namespace, Place, Recent, checked, digest, named, put_before
from demem_agent import Reading

try:
    from openai import AsyncOpenAI, OpenAI
except ImportError as error:
    raise ImportError("the openai adapter needs the openai client: pip install 'demem-agent[openai]'") from error

__all__ = ["Turn", "Turns", "wrap"]

Client = TypeVar("Client", OpenAI, AsyncOpenAI)
#: A model's turn has ended as it should; "length" and "content_filter" are cut-off answers.
_WHOLE = frozenset({"stop", "tool_calls", "function_call"})


def wrap(client: Client, memories: Memories, *, namespace: Namespace = "default", inject: Place = "user") -> Client:
    """Give a client like this one whose ``chat.completions.create`` has memory.

    Before a call, what bears on the user's last message is put before the model as one block of data. After it, that
    message as the user wrote it and the answer are remembered, once a finish reason was seen. Streams, tools and errors
    are passed through as they are. The client that was given is not changed. Of several choices one is remembered.
    What cannot be remembered (a store that fails) is logged by kind, and the response is given all the same.
    So it is with ``chat.completions.stream``. ``parse``, ``responses``, ``beta``, ``with_raw_response`` and
    ``with_streaming_response`` are the client's own, without memory.

    Args:
        memories: where it is remembered; ``memories.feedback(response.id, thumbs=True)`` tells how an answer did.
        namespace: whose memory; a function gets the arguments of the call, such as ``lambda call: call.get("user")``.
            Where it gives None the call has no memory.
        inject: where the block goes: a message of the "user" before the last one, one of the "system", or "merged" with
            the last one, for models whose template wants user and assistant in turn.

    Raises:
        InvalidInput: for another ``inject``.
    """
    wrapped: Client = client.with_options()
    completions = wrapped.chat.completions
    _ = completions.with_raw_response, completions.with_streaming_response  # made of the plain create, and kept so
    made, turns = _acreate if isinstance(client, AsyncOpenAI) else _create, Turns(memories, namespace, inject)
    completions.create = functools.partial(made, completions.create, turns)  # type: ignore[method-assign]
    again = functools.partial(wrap, memories=memories, namespace=namespace, inject=inject)
    for name in ("with_options", "copy"):
        setattr(wrapped, name, lambda *args, **options: again(client.with_options(*args, **options)))
    return wrapped


class Turns:
    """The calls of one client: recall before each, and what was recalled is kept while tools answer the model."""

    def __init__(self, memories: Memories, namespace: Namespace, inject: Place) -> None:
        self.memories, self.namespace = memories, namespace
        self.inject: Place = checked(inject, Place)
        #: By the key of a turn whose model called tools: the same question is not recalled for anew, among what it
        #: has itself become by then, and the beginning of the prompt stays as it was.
        self.waiting: Recent[str, Reading | None] = Recent()

    def begin(self, call: dict[str, Any]) -> tuple[Turn, dict[str, Any]]:
        """Recall; give the turn, and the arguments of the call with what was recalled among its messages."""
        messages = [_plain(message) for message in call.get("messages") or ()]
        turn = Turn(self, named(self.namespace, call), messages)
        if not turn.goes_on:
            turn.reading = self.memories.prepare(turn.namespace, turn.asked)
        return turn, {**call, "messages": put_before(messages, turn.reading, self.inject)}


class Turn:
    """One call: what the user asked, what was recalled for it, and what to remember when it has ended well."""

    def __init__(self, turns: Turns, namespace: str | None, messages: Sequence[Mapping[str, Any]]) -> None:
        self.turns, self.namespace = turns, namespace
        last = max((n for n, message in enumerate(messages) if message.get("role") == "user"), default=-1)
        self.asked = _text(messages[last]) if last >= 0 else ""
        #: The same when tool results follow the same question, or the call is made again: it is remembered once a day.
        self.key = digest(namespace, messages[: max(last, 0) + 1], date.today().isoformat())
        #: Whether this call goes on with a turn whose model has called tools.
        self.goes_on = last < len(messages) - 1 and self.key in turns.waiting
        self.reading = turns.waiting.get(self.key) if self.goes_on else None
        self.call: str | None = None
        self.finish: str | None = None
        self._said: list[str] = []
        self._ended = False

    def hear(self, piece: Any) -> None:
        """Take in a completion, or a piece of a stream."""
        self.call = self.call or getattr(piece, "id", None)
        for choice in getattr(piece, "choices", None) or ():
            if getattr(choice, "index", 0):
                continue
            message = getattr(choice, "message", None) or getattr(choice, "delta", None)
            self._said.append(getattr(message, "content", None) or "")
            self.finish = getattr(choice, "finish_reason", None) or self.finish

    def end(self) -> None:
        """Remember both sides, if the model came to its end; else nothing. A memory that fails costs no response."""
        if self._ended or self.finish not in _WHOLE:
            return
        self._ended, stopped = True, self.finish == "stop"
        if stopped:
            self.turns.waiting.pop(self.key, None)
        else:
            self.turns.waiting[self.key] = self.reading
        said, about = "".join(self._said) if stopped else "", {"key": self.key, "reading": self.reading}
        self.turns.memories.converse(self.namespace, self.asked, said, call=self.call, **about)


def _create(create: Callable[..., Any], turns: Turns, **call: Any) -> Any:
    turn, asked = turns.begin(call)
    response = create(**asked)
    if call.get("stream"):
        return _Stream(response, turn)
    turn.hear(response)
    turn.end()
    return response


async def _acreate(create: Callable[..., Any], turns: Turns, **call: Any) -> Any:
    turn, asked = await asyncio.to_thread(turns.begin, call)
    response = await create(**asked)
    if call.get("stream"):
        return _AsyncStream(response, turn)
    turn.hear(response)
    await asyncio.to_thread(turn.end)
    return response


class _Passing:
    """A stream that looks like the one it passes on. A turn ends with its finish reason: many read no further."""

    def __init__(self, stream: Any, turn: Turn) -> None:
        self._stream, self._turn = stream, turn

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _Stream(_Passing):
    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        piece = next(self._stream)
        self._turn.hear(piece)
        if self._turn.finish:
            self._turn.end()
        return piece

    def __enter__(self) -> _Stream:
        self._stream.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._stream.__exit__(*error)


class _AsyncStream(_Passing):
    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        piece = await anext(self._stream)
        self._turn.hear(piece)
        if self._turn.finish:
            await asyncio.to_thread(self._turn.end)
        return piece

    async def __aenter__(self) -> _AsyncStream:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._stream.__aexit__(*error)


def _text(message: Mapping[str, Any]) -> str:
    """Give the text of a message; of one in parts, the texts of its parts."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text") or "") for part in content or () if isinstance(part, Mapping)).strip()


def _plain(message: Any) -> Mapping[str, Any]:
    """Give a message as a mapping: the client also takes the objects that it gives."""
    plain: Mapping[str, Any] = message if isinstance(message, Mapping) else message.model_dump(exclude_none=True)
    return plain
