"""Generated conversations through each adapter, by its name: what it keeps of what was said."""

from __future__ import annotations

from importlib import import_module

from generated_conversations import Conversation

__all__ = ["TALKS", "talk_through"]

#: By the name of a way into memory, the packages that it needs.
TALKS = {
    "anthropic": ("anthropic",),
    "google_genai": ("google.genai",),
    "langchain": ("langchain",),
    "langgraph": ("langgraph",),
    "litellm": ("litellm",),
    "litellm_wrap": ("litellm",),
    "llama_index": ("llama_index.core",),
    "mcp": ("mcp",),
    "openai": ("openai",),
    "openai_agents": ("agents",),
    "openai_responses": ("openai",),
    "pydantic_ai": ("pydantic_ai",),
    "runnables": ("langchain_core",),
}


def talk_through(name: str) -> type[Conversation]:
    """Return the conversations of an adapter.

    Raises:
        ImportError: where its framework is not installed.
    """
    talk: type[Conversation] = import_module(f"talks.{name}").Talk
    return talk
