"""The systems that are measured, by name: the built-in ones, and those in a file of the user's."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import cast

from demem_agent.cli.faults import UsageError
from demem_agent.errors import InvalidInput
from demem_agent.evaluate import BASELINES, Dialogue, Maker, oracle

__all__ = ["NO_RIVALS", "OURS", "systems"]

#: What the others are compared with, where it is measured.
OURS = "demem"
#: What reads nothing but the evidence that is asked for.
CEILING = "oracle"
#: What ours is not compared with at a limit: it is told the gold, or no limit binds it.
NO_RIVALS = (CEILING, "full")


def systems(names: Sequence[str], dialogues: Sequence[Dialogue]) -> dict[str, Maker]:
    """Return the makers of systems by name; all built-in ones and the oracle where none is named.

    Raises:
        InvalidInput: for a system that there is not.
        UsageError: for a file that there is not, or that does not make the system.
    """
    known: dict[str, Maker] = {**BASELINES, CEILING: oracle(dialogues)}
    if not names:
        return known
    return dict(_found(name, known) for name in names)


def _found(name: str, known: Mapping[str, Maker]) -> tuple[str, Maker]:
    """Return a system's name and its maker, from its own file where one is named."""
    if name in known:
        return name, known[name]
    file, colon, maker = name.rpartition(":")
    if not colon or not file.endswith(".py"):
        raise InvalidInput("system", name, f"one of {', '.join(known)}, or FILE.py:MAKER")
    if not Path(file).is_file():
        raise UsageError(f"there is no file {file} to take the system {maker} from")
    return maker, _made_in(Path(file).resolve(), maker)


@cache  # a file is run once, though the system is looked up twice
def _made_in(file: Path, maker: str) -> Maker:
    module = _loaded(file, maker)
    found = getattr(module, maker, None)
    if not callable(found):
        raise UsageError(f"{file.name} defines no {maker} to make a system with")
    return cast(Maker, found)


def _loaded(file: Path, maker: str) -> ModuleType:
    spec = spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise UsageError(f"{file.name} cannot be loaded as Python")
    module = module_from_spec(spec)
    sys.modules[file.stem] = module  # where dataclasses and pickle look for it
    try:
        spec.loader.exec_module(module)
    except SystemExit as left:  # how a script says that what it needs is missing
        raise UsageError(f"{file.name} ended before it defined {maker}: {left}") from left
    return module
