"""The prompts, from the folder ``prompts`` of the wheel or of the checkout."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path

from demem_agent.errors import StoreError

__all__ = ["prompt_text"]


@cache
def prompt_text(name: str) -> str:
    """Return the text of the prompt of this name, the same to the byte at every call.

    Raises:
        StoreError: if neither the package nor the checkout has it.
    """
    package = Path(str(files("demem_agent")))
    installed = package / "prompts" / f"{name}.md"
    checkout = package.parent / "prompts" / f"{name}.md"
    for place in (installed, checkout):
        if place.is_file():
            return place.read_text(encoding="utf-8").strip()
    raise StoreError(f"the prompt {name!r} is not installed: looked for {installed} and {checkout}")
