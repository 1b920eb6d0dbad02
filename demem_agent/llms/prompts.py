"""The prompts, from the folder ``prompts`` of the wheel or of the checkout."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path

from demem_agent.errors import StoreError

__all__ = ["prompt_text"]


@cache
def prompt_text(name: str) -> str:
    """Give the text of the prompt of this name, the same to the byte at every call.

    Raises:
        StoreError: if neither the package nor the checkout has it.
    """
    package = Path(str(files("demem_agent")))
    places = [folder / "prompts" / f"{name}.md" for folder in (package, package.parent)]
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise StoreError(
            f"the prompt {name!r} is not installed: looked for {places[0]} and {places[1]}"
        )
    return found.read_text(encoding="utf-8").strip()
