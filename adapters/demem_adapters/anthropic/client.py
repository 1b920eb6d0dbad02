"""A client of Anthropic's that recalls before a message and remembers after it."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

from demem_adapters.common import Asker, Conditions, Filter, Memories, Namespace, Situation, block
from demem_adapters.common.calls import Call, Calls
from demem_adapters.common.protocols.anthropic.messages import Arguments, Conversation

try:
    from demem_adapters.anthropic.replies import aheard, heard, is_given
except ImportError as error:
    raise ImportError(
        "the anthropic adapter needs the anthropic client: pip install 'demem-agent[anthropic]'"
    ) from error

__all__ = ["wrap"]

#: Where messages are asked for; beside it there are batches and the counting of tokens.
_PATH = "/v1/messages"


class _Client(Protocol):
    """What all clients of Anthropic's have: its own, and those of Bedrock, Vertex and others."""

    @property
    def messages(self) -> Any: ...

    @property
    def beta(self) -> Any: ...

    def with_options(self, *args: Any, **options: Any) -> Any: ...


Client = TypeVar("Client", bound=_Client)


def wrap(
    client: Client,
    memories: Memories,
    *,
    namespace: Namespace = "default",
    asker: Asker | None = None,
    conditions: Conditions = (),
    where: Filter | None = None,
) -> Client:
    """Make a client like this one, whose messages have memory.

    They are those of ``messages`` and of ``beta.messages``: ``create`` with and without ``stream``,
    ``stream``, ``parse``, runners of tools, and what ``with_raw_response`` and
    ``with_streaming_response`` give of these, once it is read or parsed.

    Before a call, what bears on what the user said last is put into that message as one block of
    data, before the user's own words; behind these where they are marked with ``cache_control``,
    so that what is cached stays the same. After it, these words and the answer are remembered,
    once a stop reason was seen. System, thinking, tools and their results, streams and errors are
    passed through as they are. The client that was given is not changed, and one that is wrapped
    again has the new memory alone. What cannot be remembered (a store that fails) is logged by
    kind, and the message is given all the same. ``count_tokens`` and ``batches`` are the client's
    own, without memory.

    Args:
        memories: where it is remembered; ``memories.feedback(message.id, namespace="ana",
            thumbs=True)`` tells how an answer did.
        namespace: whose memory; a function gets the arguments of the call, such as ``lambda call:
            call["metadata"]["user_id"]``. Where it gives None the call has no memory.
        asker, conditions: who asks ("user" unless given), and what holds; functions of the
            arguments as well.
        where: which items may be recalled; a function of them too.
    """
    situation = Situation(asker, conditions, where)
    return _remembering(client, Calls(memories, namespace, situation))


def _remembering(client: Client, calls: Calls) -> Client:
    plain: Any = getattr(client, "_demem_plain", client)
    wrapped: Any = plain.with_options()
    is_async = inspect.iscoroutinefunction(plain.post)
    wrapped._demem_plain = plain
    wrapped.post = (_AsyncPost if is_async else _Post)(wrapped.post, calls)
    # Those of Bedrock hold what they were made with.
    wrapped.messages = type(wrapped.messages)(wrapped)
    wrapped.beta = type(wrapped.beta)(wrapped)

    def again(*args: Any, **options: Any) -> Client:
        return _remembering(plain.with_options(*args, **options), calls)

    wrapped.copy = wrapped.with_options = again
    return wrapped


class _Remembering:
    """The ``post`` of a client, which all its resources send by."""

    def __init__(self, post: Any, calls: Calls) -> None:
        self._post = post
        self._calls = calls

    def begin(self, body: Arguments) -> tuple[Call, dict[str, Any]]:
        """Recall; return the call, and its arguments with what was recalled."""
        conversation = Conversation.of(body)
        given = {name: value for name, value in body.items() if is_given(value)}
        call = self._calls.begin(given, conversation.asked(given))
        sent, call.place = conversation.with_recalled(body, block(call.reading), call.place)
        return call, sent


class _Post(_Remembering):
    def __call__(self, path: str, *, body: Any = None, **options: Any) -> Any:
        if not _is_asking(path, body):
            return self._post(path, body=body, **options)
        call, sent = self.begin(body)
        return heard(self._post(path, body=sent, **options), call)


class _AsyncPost(_Remembering):
    async def __call__(self, path: str, *, body: Any = None, **options: Any) -> Any:
        if not _is_asking(path, body):
            return await self._post(path, body=body, **options)
        call, sent = await asyncio.to_thread(self.begin, body)
        return await aheard(await self._post(path, body=sent, **options), call)


def _is_asking(path: str, body: Any) -> bool:
    return path.split("?")[0] == _PATH and isinstance(body, Mapping) and "messages" in body
