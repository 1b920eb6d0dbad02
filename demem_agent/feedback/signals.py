"""What feedback may say about an answer: every channel as one record, checked at the door (DESIGN
section 7).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from demem_agent.errors import InvalidInput
from demem_agent.turns import text_field, unit_field
from demem_agent.types import Channel

__all__ = ["Signal", "Told", "signal_of"]


class Told(TypedDict, total=False):
    """Keyword arguments of ``feedback``: give one; a reward may go with a reference or a
    correction.

    reward: in [0, 1]. reference: what would have been right, known for certain. thumbs: True for
        up, False for down.
    correction: what a user says would have been right. outcome: of the tool or task that the answer
        was used for: True,
    False, or a score in [0, 1]. agreement: other answers to the same question; the reward is how
    far they agree.
    judge: True to have the memory's ``judges`` rate the answer.
    """

    reward: float | None
    reference: str | None
    thumbs: bool | None
    correction: str | None
    outcome: bool | float | None
    agreement: Sequence[str] | None
    judge: bool | None


@dataclass(frozen=True, slots=True)
class Signal:
    """One piece of feedback.

    Attributes:
        channel: how it is known.
        reward: in [0, 1], where it is given as a number.
        reference: what would have been right, from a reference or a correction.
        answers: other answers to the same question.
    """

    channel: Channel
    reward: float | None = None
    reference: str | None = None
    answers: tuple[str, ...] = ()

    @property
    def judged(self) -> bool:
        return self.channel == "judge"


_WITH_REWARD = frozenset({"reference", "correction"})


def signal_of(told: Mapping[str, Any]) -> Signal:
    """Check what was told and put it into one record.

    Raises:
        InvalidInput: for no channel, for two that do not go together, and for a value outside its
            range.
        TypeError: for an argument that does not exist.
    """
    if unknown := sorted(set(told) - set(Told.__annotations__)):
        raise TypeError(f"feedback got an unexpected keyword argument {unknown[0]!r}")
    given = [name for name in Told.__annotations__ if told.get(name) is not None]
    if told.get("judge") is False:
        given.remove("judge")
    others = [name for name in given if name != "reward"]
    if not given:
        raise InvalidInput(
            "reward", None, f"given, or else one of {', '.join(list(Told.__annotations__)[1:])}"
        )
    if len(others) > 1 or (others and "reward" in given and others[0] not in _WITH_REWARD):
        raise InvalidInput(others[0], told[others[0]], f"left out, as {given[0]} is given")
    reward = unit_field("reward", told["reward"]) if "reward" in given else None
    return _of(others[0], told[others[0]], reward) if others else Signal("reward", reward)


def _of(channel: str, value: Any, reward: float | None) -> Signal:
    if channel == "reference":
        return Signal("reference", reward, text_field("reference", value))
    if channel == "correction":
        return Signal("correction", reward, text_field("correction", value))
    if channel == "thumbs":
        if not isinstance(value, bool):
            raise InvalidInput("thumbs", value, "True or False")
        return Signal("thumbs", float(value))
    if channel == "outcome":
        return Signal(
            "outcome", float(value) if isinstance(value, bool) else unit_field("outcome", value)
        )
    if channel == "judge":
        if value is not True:
            raise InvalidInput("judge", value, "True or left out")
        return Signal("judge")
    if isinstance(value, str) or not isinstance(value, Sequence) or not value:
        raise InvalidInput(
            "agreement", value, "a list of other answers to the same question, one at least"
        )
    return Signal(
        "agreement",
        answers=tuple(text_field(f"agreement[{n}]", text) for n, text in enumerate(value)),
    )
