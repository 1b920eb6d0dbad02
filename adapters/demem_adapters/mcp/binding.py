"""A function of the desk as the MCP SDK calls it: async, told whose memory, its errors one line."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Any, get_type_hints
from urllib.parse import unquote

from demem_adapters.common import Asker, Conditions, Namespace
from demem_agent import DeMemError, InvalidInput
from demem_agent.text import clean

__all__ = ["Known", "bound", "told"]

#: Arguments that calls need not give, by name: values, or functions of the framework's context.
Known = Mapping[str, Asker | Conditions | None]

#: What the desk does, or that as the SDK calls it.
Tool = Callable[..., Any]


def bound(
    function: Tool,
    namespace: Namespace | None,
    failed: type[Exception],
    *,
    context: type,
    known: Known | None = None,
    quoted: bool = False,
    each: Tool | None = None,
) -> Tool:
    """Return the function as the SDK wants it: async, and told whose memory by ``namespace``.

    Its signature has ``namespace`` if each call names it, and the framework's context if that tells
    it, or something else that is known.

    Args:
        function: one whose first argument is the namespace.
        failed: what its errors are raised as, one line each.
        context: the type of the framework's context, by which it is known in a signature.
        known: arguments of the function that its signature does not have then.
        quoted: arguments come as in an address, as those of resources do from mcp 1.x.
        each: what is made of each element of a list that it gives.
    """
    hints = get_type_hints(function, include_extras=True)
    filled = {name: value for name, value in (known or {}).items() if name in hints}
    parameters = _parameters(function, hints, namespace, filled, context)

    async def call(**given: Any) -> Any:
        if quoted:
            given = _unquoted(given)
        called_in = given.pop("context", None)
        try:
            whose = _whose(namespace, given, called_in)
            for name, value in filled.items():
                given[name] = _asked_of(name, value, called_in)
            given_back = _plain(await asyncio.to_thread(function, whose, **given))
        except DeMemError as error:
            raise failed(clean(str(error))) from None
        return given_back if each is None else [each(one) for one in given_back]

    return _shown_as(
        call, function, inspect.Signature(parameters, return_annotation=hints["return"])
    )


def _shown_as(call: Tool, function: Tool, signature: inspect.Signature) -> Tool:
    """Give a function the name and the text of another, and a signature, for the SDK to read."""
    annotations: dict[str, object] = {"return": signature.return_annotation}
    for name, parameter in signature.parameters.items():
        annotations[name] = parameter.annotation
    call.__name__ = function.__name__
    call.__doc__ = inspect.getdoc(function)
    call.__annotations__ = annotations
    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


def told(function: Callable[..., str], *given: str) -> Callable[[], Awaitable[str]]:
    """Return a function that needs to be told nothing, as the SDK wants what it is to list."""

    async def call() -> str:
        return await asyncio.to_thread(function, *given)

    return call


def _parameters(
    function: Tool,
    hints: Mapping[str, object],
    namespace: Namespace | None,
    filled: Known,
    context: type,
) -> list[inspect.Parameter]:
    declared = inspect.signature(function).parameters.values()
    own = [parameter.replace(annotation=hints[parameter.name]) for parameter in declared]
    shown = [parameter for parameter in own if parameter.name not in filled]
    if namespace is not None:
        shown = shown[1:]
    if callable(namespace) or any(map(callable, filled.values())):
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        shown = [inspect.Parameter("context", kind, annotation=context), *shown]
    return shown


def _unquoted(given: Mapping[str, object]) -> dict[str, object]:
    plain: dict[str, object] = {}
    for name, value in given.items():
        plain[name] = unquote(value) if isinstance(value, str) else value
    return plain


def _whose(namespace: Namespace | None, given: dict[str, Any], context: object) -> str:
    """Return whose memory a call has, taken out of its arguments where these tell it."""
    if namespace is None:
        return str(given.pop("namespace"))
    whose = _asked_of("namespace", namespace, context)
    if not whose:
        raise InvalidInput("namespace", None, "told by the request")
    return str(whose)


def _asked_of(name: str, value: Any, context: object) -> Any:
    """Return what is known of a call; what is a function is asked with its context."""
    if not callable(value):
        return value
    try:
        return value(context)
    except InvalidInput:
        raise
    except Exception as error:
        # A function of the application's: what it lacks is no matter of the client's.
        raise InvalidInput(name, type(error).__name__, "told by the request") from error


def _plain(value: object) -> Any:
    """Return a value that any client can be sent: dates as text, and no lone surrogates."""
    return json.loads(clean(json.dumps(value, default=datetime.isoformat, ensure_ascii=False)))
