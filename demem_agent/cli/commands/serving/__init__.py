"""Memories served over HTTP, and the keys to them."""

from __future__ import annotations
