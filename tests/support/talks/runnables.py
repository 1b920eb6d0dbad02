"""A model of LangChain's with memory around it, which is shown the conversation."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from client_conversations import Answer, ClientConversation

from demem_adapters.common import Spoken
from demem_adapters.runnables import with_memory
from talks.langchain import Model, messages_of

__all__ = ["Talk"]


class Talk(ClientConversation):
    """Have a conversation with a runnable."""

    def wrapped(self) -> Any:
        return with_memory(Model(talk=self), self.memories, namespace=self.namespace)

    def ask(self, visible: Sequence[Spoken], answer: Answer) -> None:
        messages = messages_of(visible, answer)
        with contextlib.suppress(ConnectionError):
            if answer.stream:
                list(self.client.stream(messages))
            else:
                self.client.invoke(messages)
