"""Options that several commands share, written once as the fields of a dataclass.

``def ask(query: ..., place: Place)`` is turned into ``def ask(*, query: ..., memory: ..., id: ...,
tenant: ...)``, which is what typer reads the options from.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from typing import Any, get_type_hints

__all__ = ["spread_groups"]

#: A dataclass whose fields are options; what typer takes for a type is Any here too.
Group = Any


def spread_groups(function: Callable[..., None]) -> Callable[..., None]:
    """Return the function with the fields of each dataclass in place of the parameter of its type.

    Its own parameters come first; all are keyword-only.
    """
    groups = _groups(function)
    parameters = _own_parameters(function, groups)
    for group in groups.values():
        parameters += _field_parameters(group)

    def run(**given: object) -> None:
        for name, group in groups.items():
            given[name] = _gathered(group, given)
        function(**given)

    run.__name__ = function.__name__
    run.__doc__ = function.__doc__
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    # As inspect documents it.
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run


def _groups(function: Callable[..., None]) -> dict[str, Group]:
    """Return the dataclasses among the types of a function's parameters, by parameter."""
    hints = get_type_hints(function)
    return {name: hint for name, hint in hints.items() if dataclasses.is_dataclass(hint)}


def _own_parameters(
    function: Callable[..., None], groups: Mapping[str, Group]
) -> list[inspect.Parameter]:
    hints = get_type_hints(function, include_extras=True)
    own: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(function).parameters.items():
        if name not in groups:
            own.append(parameter.replace(kind=parameter.KEYWORD_ONLY, annotation=hints[name]))
    return own


def _field_parameters(group: Group) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    parameters: list[inspect.Parameter] = []
    for field in dataclasses.fields(group):
        parameter = inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=hints[field.name],
        )
        parameters.append(parameter)
    return parameters


def _gathered(group: Group, given: dict[str, object]) -> object:
    """Take the fields of a dataclass out of what was given, and make one of them."""
    values = {field.name: given.pop(field.name) for field in dataclasses.fields(group)}
    return group(**values)
