"""The page to look inside memories: its files, as a server sends them and as one document."""

from __future__ import annotations
