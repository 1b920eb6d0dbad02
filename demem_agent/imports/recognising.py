"""Which format a source is in, by its first element, its first line, or its extension."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from demem_agent.imports.chats import is_chat
from demem_agent.imports.sources import Source
from demem_agent.imports.tables import is_table

__all__ = ["format_of_text", "format_of_value"]

_MARKDOWN = (".md", ".markdown")
_TABLES = (".csv", ".tsv")
_JSON = (".json", ".jsonl", ".ndjson", ".af")
#: What tells an element of a format: all of these fields, of any of the rows. The first that fits.
_SIGNS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("locomo", ("conversation qa",)),
    ("chatgpt", ("mapping current_node", "mapping create_time", "mapping title")),
    ("claude", ("chat_messages",)),
    ("letta", ("agents blocks", "core_memory agent_type", "message_type", "passages")),
    ("letta", ("text archive_id", "text embedding_config", "text file_id", "text is_deleted")),
    ("langmem", ("namespace key value",)),
    ("zep", ("fact source_node_uuid", "fact valid_at", "fact uuid", "edges", "facts")),
    ("zep", ("relevant_facts", "episodes", "role_type content", "uuid role content")),
    ("zep", ("messages thread_created_at", "messages row_count", "messages total_count")),
    ("mem0", ("memory id", "memory user_id", "memory hash")),
)
#: Lists of memories or items, which tell what they are; one that is empty is of this format.
_PAGES = {"results": "mem0", "memories": "mem0", "items": "langmem", "conversations": "claude"}


def format_of_text(source: Source) -> str:
    """Return "json", "csv", "markdown", "chat" or "text"; a text that says nothing of itself is
    plain.
    """
    if source.suffix in _JSON:
        return "json"
    if source.suffix in _TABLES:
        return "csv"
    if source.suffix in _MARKDOWN:
        return "markdown"
    head = source.head().lstrip()
    if is_chat(head.split("\n")):
        return "chat"
    if head[:1] in ("{", "["):
        return "json"
    if source.suffix != ".txt" and is_table(head.partition("\n")[0]):
        return "csv"
    return "text"


def format_of_value(value: object) -> str | None:
    """Return the format that an element is in; None for turns and messages, and for all else.

    What nothing tells is left to the reader of turns, which says what it expects.
    """
    if not isinstance(value, Mapping):
        return None
    for name, format in _PAGES.items():
        listed = value.get(name)
        if isinstance(listed, list):
            return format_of_value(listed[0]) if listed else format
    return _by_signs(value)


def _by_signs(value: Mapping[str, Any]) -> str | None:
    fields = value.keys()
    if str(value.get("id")).startswith("passage-") and "text" in fields:
        return "letta"
    for format, rows in _SIGNS:
        if any(fields >= {*row.split()} for row in rows):
            return format
    return None
