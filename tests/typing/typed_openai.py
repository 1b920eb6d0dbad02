"""What a strictly typed user of the openai adapter gets; mypy reads it, and nothing runs it."""

from __future__ import annotations

from typing import assert_type

from openai import AsyncOpenAI, OpenAI, Stream
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response

from demem_adapters.common import Memories
from demem_adapters.openai import wrap
from demem_agent import FeedbackReport


def sync(plain: OpenAI, memories: Memories) -> None:
    client = wrap(plain, memories, namespace=lambda call: call.get("user"), inject="merged")
    assert_type(client, OpenAI)
    made = client.chat.completions.create(
        model="small", messages=[{"role": "user", "content": "Hello."}]
    )
    assert_type(made, ChatCompletion)
    stream = client.chat.completions.create(
        model="small", messages=[{"role": "user", "content": "Hello."}], stream=True
    )
    assert_type(stream, Stream[ChatCompletionChunk])
    assert_type(client.responses.create(model="small", input="Hello."), Response)
    assert_type(memories.feedback(made.id, namespace="ana", thumbs=True), FeedbackReport)


def wrapped_async(plain: AsyncOpenAI, memories: Memories) -> None:
    assert_type(wrap(plain, memories), AsyncOpenAI)
