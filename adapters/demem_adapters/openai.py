"""Memory for the ``openai`` client: ``wrap(client)`` recalls before a chat call and remembers after it."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any, TypeVar

from demem_adapters.shared import Inject, Memories, Namespace, digest, named, put_before
from demem_agent import Reading

try:
    from openai import AsyncOpenAI, OpenAI
except ImportError as error:
    raise ImportError("the openai adapter needs the openai client: pip install 'demem-agent[openai]'") from error

__all__ = ["Turn", "wrap"]

Client = TypeVar("Client", OpenAI, AsyncOpenAI)
#: A model's turn has ended as it should; "length" and "content_filter" are cut-off answers.
_WHOLE = frozenset({"stop", "tool_calls", "function_call"})


def wrap(client: Client, memories: Memories, *, namespace: Namespace = "default", inject: Inject = "user") -> Client:
    """Give a client like this one whose ``chat.completions.create`` has memory.

    Before a call, what bears on the user's last message is put before the model as one block of data. After it, that
    message as the user wrote it and the answer are remembered, once a finish reason was seen. Streams, tools and errors
    are passed through as they are. The client that was given is not changed. Of several choices one is remembered.
    What cannot be remembered (a store that fails) is logged by kind, and the response is given all the same.
    ``with_raw_response`` and ``with_streaming_response`` have no memory.

    Args:
        memories: where it is remembered; ``memories.feedback(response.id, thumbs=True)`` tells how an answer did.
        namespace: whose memory; a function gets the arguments of the call, such as ``lambda call: call["user"]``.
        inject: where the block goes, "user" or "system".
    """
    wrapped: Client = client.with_options()
    completions = wrapped.chat.completions
    made = _acreate if isinstance(client, AsyncOpenAI) else _create
    begin = functools.partial(Turn.begin, memories, namespace, inject)
    completions.create = functools.partial(made, completions.create, begin)  # type: ignore[method-assign]
    again = functools.partial(wrap, memories=memories, namespace=namespace, inject=inject)
    for name in ("with_options", "copy"):
        setattr(wrapped, name, lambda *args, **options: again(client.with_options(*args, **options)))
    return wrapped


class Turn:
    """One call: what the user asked, what was recalled for it, and what to remember when it has ended well."""

    def __init__(self, memories: Memories, namespace: str | None, messages: Sequence[Mapping[str, Any]]) -> None:
        self.memories, self.namespace = memories, namespace
        last = max((n for n, message in enumerate(messages) if message.get("role") == "user"), default=None)
        self.asked = _text(messages[last]) if last is not None else ""
        #: The same when tool results follow the same question, or the call is made again: it is remembered once a day.
        self.key = digest(namespace, messages[: (last or 0) + 1], date.today().isoformat())
        self.reading: Reading | None = None
        self._said: list[str] = []
        self._finish: str | None = None

    @classmethod
    def begin(
        cls, memories: Memories, namespace: Namespace, inject: Inject, call: dict[str, Any]
    ) -> tuple[Turn, dict[str, Any]]:
        """Recall; give the turn, and the arguments of the call with what was recalled among its messages."""
        messages = [_plain(message) for message in call.get("messages") or ()]
        turn = cls(memories, named(namespace, call), messages)
        turn.reading = memories.prepare(turn.namespace, turn.asked)
        return turn, {**call, "messages": put_before(messages, turn.reading, inject)}

    def hear(self, piece: Any) -> None:
        """Take in a completion, or a piece of a stream."""
        for choice in getattr(piece, "choices", None) or ():
            if getattr(choice, "index", 0):
                continue
            message = getattr(choice, "message", None) or getattr(choice, "delta", None)
            self._said.append(getattr(message, "content", None) or "")
            self._finish = getattr(choice, "finish_reason", None) or self._finish

    def end(self, call: str | None) -> None:
        """Remember both sides, if the model came to its end; else nothing. A memory that fails costs no response."""
        if self._finish in _WHOLE:
            said = "".join(self._said) if self._finish == "stop" else ""
            self.memories.converse(self.namespace, self.asked, said, key=self.key, reading=self.reading, call=call)


def _create(create: Callable[..., Any], begin: Callable[..., Any], **call: Any) -> Any:
    turn, asked = begin(call)
    response = create(**asked)
    if call.get("stream"):
        return _Stream(response, turn)
    turn.hear(response)
    turn.end(getattr(response, "id", None))
    return response


async def _acreate(create: Callable[..., Any], begin: Callable[..., Any], **call: Any) -> Any:
    turn, asked = await asyncio.to_thread(begin, call)
    response = await create(**asked)
    if call.get("stream"):
        return _AsyncStream(response, turn)
    turn.hear(response)
    await asyncio.to_thread(turn.end, getattr(response, "id", None))
    return response


class _Passing:
    """A stream that looks like the one it passes on."""

    def __init__(self, stream: Any, turn: Turn) -> None:
        self._stream, self._turn = stream, turn
        self._call: str | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _take(self, piece: Any) -> Any:
        self._call = self._call or getattr(piece, "id", None)
        self._turn.hear(piece)
        return piece


class _Stream(_Passing):
    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        try:
            return self._take(next(self._stream))
        except StopIteration:
            self._turn.end(self._call)
            raise

    def __enter__(self) -> _Stream:
        self._stream.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._stream.__exit__(*error)


class _AsyncStream(_Passing):
    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        try:
            return self._take(await anext(self._stream))
        except StopAsyncIteration:
            await asyncio.to_thread(self._turn.end, self._call)
            raise

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
