"""A client of Google's that recalls before a call of a model and remembers after it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any, TypeAlias

from demem_adapters.common import Asker, Conditions, Filter, Memories, Namespace, Situation, block
from demem_adapters.common.calls import Call, Calls

try:
    from google.genai import Client, types
    from google.genai.client import AsyncClient
    from google.genai.models import AsyncModels, Models
except ImportError as error:
    raise ImportError(
        "the google_genai adapter needs Google's client: pip install 'demem-agent[google-genai]'"
    ) from error

from demem_adapters.google_genai.contents import Conversation, without
from demem_adapters.google_genai.hearing import heard_of

__all__ = ["wrap"]

Config: TypeAlias = types.GenerateContentConfigOrDict | None
Reply: TypeAlias = types.GenerateContentResponse


def wrap(
    client: Client,
    memories: Memories,
    *,
    namespace: Namespace = "default",
    asker: Asker | None = None,
    conditions: Conditions = (),
    where: Filter | None = None,
) -> Client:
    """Make a client like this one, whose models and chats have memory.

    They are those of ``models.generate_content``, ``generate_content_stream``, ``chats``, and the
    same of ``aio``.

    Before a call, what bears on what the user said last is put into that content as one block of
    data, before the user's own words. After it, these words and the answer are remembered, once a
    finish reason was seen. Instructions, functions and their results, streams and errors are passed
    through as they are, and no history of a chat or of functions holds the block. While functions
    answer the model, whoever calls them, the turn goes on. The client that was given is not
    changed, and one that is wrapped again has the new memory alone; to close either closes both.
    What cannot be remembered (a store that fails) is logged by kind, and the reply is given all the
    same. What else the client has (``interactions``, ``live``, ``batches``, the counting of tokens)
    is its own, without memory.

    Args:
        memories: where it is remembered; ``memories.feedback(response.response_id,
            namespace="ana", thumbs=True)`` tells how an answer did.
        namespace: whose memory; a function gets the arguments of the call (``model``, ``contents``
            and ``config``). Where it gives None the call has no memory.
        asker, conditions: who asks ("user" unless given), and what holds; functions of the
            arguments as well.
        where: which items may be recalled; a function of them too.
    """
    situation = Situation(asker, conditions, where)
    plain = client.plain if isinstance(client, _Client) else client
    return _Client(plain, Calls(memories, namespace, situation))


class _Client(Client):
    """The client that it was made of, but for its models.

    Attributes:
        plain: that client, which is in use as long as this one.
    """

    def __init__(self, plain: Client, calls: Calls) -> None:
        self.__dict__.update(plain.__dict__)
        self.plain = plain
        self._remembering = _Models(plain.models, calls)
        self._remembering_aio = _AsyncClient(plain.aio, calls)

    @property
    def models(self) -> Models:
        return self._remembering

    @property
    def aio(self) -> AsyncClient:
        return self._remembering_aio

    def __del__(self) -> None:
        """Leave the connections to the client that opened them."""


class _AsyncClient(AsyncClient):
    def __init__(self, plain: AsyncClient, calls: Calls) -> None:
        self.__dict__.update(plain.__dict__)
        self.plain = plain
        self._remembering = _AsyncModels(plain.models, calls)

    @property
    def models(self) -> AsyncModels:
        return self._remembering

    def __del__(self) -> None:
        """Leave the connections to the client that opened them."""


class _Asking:
    """One call of a model: recalled for when it begins, and heard while it is answered."""

    def __init__(self, calls: Calls, model: str, contents: Any, config: Config) -> None:
        conversation = Conversation.of(contents)
        arguments = {"model": model, "contents": contents, "config": config}
        self._call: Call = calls.begin(arguments, conversation.asked(config))
        self._recalled = block(self._call.reading)
        self.contents: Any = contents
        if self._recalled:
            self.contents = conversation.with_recalled(self._recalled)

    def hear(self, piece: Reply) -> bool:
        """Take in a reply, or a piece of one; return whether the model has come to an end."""
        self._call.hear(heard_of(piece))
        history = piece.automatic_function_calling_history
        if history and self._recalled:
            piece.automatic_function_calling_history = without(history, self._recalled)
        return self._call.over

    def end(self) -> None:
        """Remember the answer."""
        self._call.end()

    def broke_off(self) -> None:
        """Log a stream that has ended without a reason."""
        self._call.broke_off()


class _Models(Models):
    def __init__(self, plain: Models, calls: Calls) -> None:
        self.__dict__.update(plain.__dict__)
        self._calls = calls

    def generate_content(
        self,
        *,
        model: str,
        contents: types.ContentListUnionDict,
        config: Config = None,
    ) -> Reply:
        asking = _Asking(self._calls, model, contents, config)
        reply = super().generate_content(model=model, contents=asking.contents, config=config)
        asking.hear(reply)
        asking.end()
        return reply

    def generate_content_stream(
        self,
        *,
        model: str,
        contents: types.ContentListUnionDict,
        config: Config = None,
    ) -> Iterator[Reply]:
        asking = _Asking(self._calls, model, contents, config)
        for piece in super().generate_content_stream(
            model=model, contents=asking.contents, config=config
        ):
            if asking.hear(piece):
                asking.end()
            yield piece
        asking.broke_off()


class _AsyncModels(AsyncModels):
    def __init__(self, plain: AsyncModels, calls: Calls) -> None:
        self.__dict__.update(plain.__dict__)
        self._calls = calls

    async def generate_content(
        self,
        *,
        model: str,
        contents: types.ContentListUnion | types.ContentListUnionDict,
        config: Config = None,
    ) -> Reply:
        asking = await asyncio.to_thread(_Asking, self._calls, model, contents, config)
        reply = await super().generate_content(model=model, contents=asking.contents, config=config)
        asking.hear(reply)
        await asyncio.to_thread(asking.end)
        return reply

    async def generate_content_stream(
        self,
        *,
        model: str,
        contents: types.ContentListUnion | types.ContentListUnionDict,
        config: Config = None,
    ) -> AsyncIterator[Reply]:
        asking = await asyncio.to_thread(_Asking, self._calls, model, contents, config)
        stream = await super().generate_content_stream(
            model=model, contents=asking.contents, config=config
        )
        return _heard(stream, asking)


async def _heard(stream: AsyncIterator[Reply], asking: _Asking) -> AsyncIterator[Reply]:
    async for piece in stream:
        if asking.hear(piece):
            await asyncio.to_thread(asking.end)
        yield piece
    asking.broke_off()
