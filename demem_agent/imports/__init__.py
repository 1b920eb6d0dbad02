"""Files of other programs as turns to remember: chats, notes, tables, exports of other memories.

``memory.ingest_many(imports.read("conversations.json"))`` remembers a file once, whatever it is:
the format is told by what is in it.
"""

from __future__ import annotations

from demem_agent.imports.reading import FORMATS, Import, read, turns

__all__ = ["FORMATS", "Import", "read", "turns"]
