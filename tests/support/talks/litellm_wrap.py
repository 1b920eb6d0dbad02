"""Completions of a wrapped function of LiteLLM's, whose provider is a function."""

from __future__ import annotations

from typing import Any

import litellm

from demem_adapters.litellm import wrap
from talks.litellm import Provided

__all__ = ["Talk"]


class Talk(Provided):
    """Have a conversation with a wrapped function."""

    def wrapped(self) -> Any:
        return wrap(litellm.acompletion, self.memories, namespace=self.namespace)
