"""Check at the door what feedback says about an answer, and make one record of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from demem_agent.channels import Signal, Told, row_of
from demem_agent.errors import InvalidInput
from demem_agent.turns import refuse_unknown, unit_field

__all__ = ["signal_of"]

#: The keyword arguments of ``feedback``, in the order in which errors list them.
_NAMES = tuple(Told.__annotations__)


def signal_of(told: Mapping[str, object]) -> Signal:
    """Check what was told and put it into one record.

    Raises:
        InvalidInput: for no channel, for two that do not go together, and for a value outside its
            range.
        TypeError: for an argument that does not exist.
    """
    refuse_unknown("feedback", told, Told)
    given = _given(told)
    channel = _channel(given, told)
    if channel == "reward" or "reward" not in given:
        return _parsed(channel, told[channel])
    reward = unit_field("reward", told["reward"])
    return replace(_parsed(channel, told[channel]), reward=reward)


def _given(told: Mapping[str, object]) -> list[str]:
    """Return the names of what was told, one at least."""
    given = [name for name in _NAMES if told.get(name) is not None]
    if told.get("judge") is False:
        given.remove("judge")
    if not given:
        raise InvalidInput("reward", None, f"given, or else one of {', '.join(_NAMES[1:])}")
    return given


def _channel(given: Sequence[str], told: Mapping[str, object]) -> str:
    """Return the channel of what was told; a reward that goes with another one is of that one."""
    others = [name for name in given if name != "reward"]
    if not others:
        return "reward"
    channel = others[0]
    with_reward = len(given) > len(others)
    fits = row_of(channel).with_reward or not with_reward
    if len(others) > 1 or not fits:
        other = next(name for name in given if name != channel)
        raise InvalidInput(channel, told[channel], f"left out, as {other} is given")
    return channel


def _parsed(channel: str, value: object) -> Signal:
    parser = row_of(channel).parser
    if parser is None:
        raise TypeError(f"feedback by {channel!r} cannot be given")
    return parser(value)
