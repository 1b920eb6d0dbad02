"""What a strictly typed user of the litellm adapter gets; mypy reads it, and nothing runs it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import assert_type

import litellm

from demem_adapters.common import Memories
from demem_adapters.litellm import MemoryLogger, wrap


def of_a_function_of_its_own(
    complete: Callable[[str, list[dict[str, str]]], str], memories: Memories
) -> None:
    wrapped = wrap(complete, memories, namespace="ana")
    assert_type(wrapped, Callable[[str, list[dict[str, str]]], str])
    assert_type(wrapped("small", [{"role": "user", "content": "Hello."}]), str)


def of_an_async_function(
    complete: Callable[[str, list[dict[str, str]]], Awaitable[str]], memories: Memories
) -> None:
    wrapped = wrap(complete, memories)
    assert_type(wrapped, Callable[[str, list[dict[str, str]]], Awaitable[str]])


def callback(memories: Memories) -> None:
    litellm.callbacks = [MemoryLogger(memories, namespace=lambda call: str(call["user"]))]
