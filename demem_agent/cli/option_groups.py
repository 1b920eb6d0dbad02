"""Options that several commands share, written once: a parameter that is a dataclass becomes its
fields.

``def ask(query: ..., place: Place)`` is turned into ``def ask(*, query: ..., memory: ..., id: ...,
tenant: ...)``, which is what typer reads the options from.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any, get_type_hints

__all__ = ["flatten"]


def flatten(function: Callable[..., None]) -> Callable[..., None]:
    """Give the function with its own parameters first, then the fields of each dataclass among
    them.
    """
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, Any] = {
        name: hint for name, hint in hints.items() if dataclasses.is_dataclass(hint)
    }
    own = [p for name, p in inspect.signature(function).parameters.items() if name not in groups]
    parameters = [p.replace(kind=p.KEYWORD_ONLY, annotation=hints[p.name]) for p in own]
    parameters += [parameter for group in groups.values() for parameter in _fields(group)]

    def run(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(
                **{field.name: given.pop(field.name) for field in dataclasses.fields(group)}
            )
        function(**given)

    run.__name__, run.__doc__ = function.__name__, function.__doc__
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # as inspect documents it
    return run


def _fields(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            f.name, inspect.Parameter.KEYWORD_ONLY, default=f.default, annotation=hints[f.name]
        )
        for f in dataclasses.fields(group)
    ]
