"""A client of OpenAI's that recalls before a call of a model and remembers after it."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from typing import Any, TypeVar

from demem_adapters.common import Asker, Conditions, Filter, Memories, Namespace, Place, Situation
from demem_adapters.openai.streams import AsyncStream, Stream
from demem_adapters.openai.turns import ResponseTurns, Turns

try:
    from openai import AsyncOpenAI, OpenAI
except ImportError as error:
    raise ImportError(
        "the openai adapter needs the openai client: pip install 'demem-agent[openai]'"
    ) from error

__all__ = ["wrap"]

Client = TypeVar("Client", OpenAI, AsyncOpenAI)
#: The ``create`` of completions or of responses.
Create = Callable[..., Any]


def wrap(
    client: Client,
    memories: Memories,
    *,
    namespace: Namespace = "default",
    asker: Asker | None = None,
    conditions: Conditions = (),
    where: Filter | None = None,
    inject: Place = "user",
) -> Client:
    """Make a client like this one, whose completions and responses have memory.

    They are those of ``chat.completions.create`` and ``responses.create``.

    Before a call, what bears on the user's last message is put before the model as one block of
    data. After it, that message as the user wrote it and the answer are remembered, once a finish
    reason was seen. Streams, tools and errors are passed through as they are. The client that was
    given is not changed. Of several choices one is remembered. What cannot be remembered (a store
    that fails) is logged by kind, and the response is given all the same. So it is with ``stream``
    of both. ``parse``, ``beta``, ``with_raw_response`` and ``with_streaming_response`` are the
    client's own, without memory. Where the provider keeps a conversation
    (``previous_response_id``), it keeps what was put into its messages as well; with
    ``inject="system"`` it goes to the instructions, which hold for one call.

    Args:
        memories: where it is remembered; ``memories.feedback(response.id, namespace="ana",
            thumbs=True)`` tells how an answer did.
        namespace: whose memory; a function gets the arguments of the call, such as ``lambda call:
            call.get("user")``. Where it gives None the call has no memory.
        asker, conditions: who asks ("user" unless given), and what holds; functions of the
            arguments as well.
        where: which items may be recalled; a function of them too.
        inject: where the block goes: a message of the "user" before the last one, one of the
            "system", or "merged" with the last one, for models whose template wants user and
            assistant in turn.

    Raises:
        InvalidInput: for another ``inject``.
    """
    situation = Situation(asker, conditions, where)
    wrapped: Client = client.with_options()
    made = _acreate if isinstance(client, AsyncOpenAI) else _create
    for resource, kind in ((wrapped.chat.completions, Turns), (wrapped.responses, ResponseTurns)):
        # Made of the plain create when they are first asked for, and kept so.
        _ = resource.with_raw_response
        _ = resource.with_streaming_response
        turns = kind(memories, namespace, inject, situation)
        create = functools.partial(made, resource.create, turns)
        resource.create = create  # type: ignore[method-assign]

    def again(*args: Any, **options: Any) -> Client:
        made_anew = client.with_options(*args, **options)
        return wrap(
            made_anew,
            memories,
            namespace=namespace,
            asker=asker,
            conditions=conditions,
            where=where,
            inject=inject,
        )

    for name in ("with_options", "copy"):
        setattr(wrapped, name, again)
    return wrapped


def _create(create: Create, turns: Turns, **call: Any) -> Any:
    turn, asked = turns.begin(call)
    response = create(**asked)
    if call.get("stream"):
        return Stream(response, turn)
    turn.hear(response)
    turn.end()
    return response


async def _acreate(create: Create, turns: Turns, **call: Any) -> Any:
    turn, asked = await asyncio.to_thread(turns.begin, call)
    response = await create(**asked)
    if call.get("stream"):
        return AsyncStream(response, turn)
    turn.hear(response)
    await asyncio.to_thread(turn.end)
    return response
