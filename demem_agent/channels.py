"""The channels of feedback: one row each, what knows most first.

All that differs by channel is derived from :data:`CHANNELS`. To add one, write its row, its parser
and its keyword in :class:`Told`, and its name in :data:`demem_agent.types.Channel`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, TypedDict

from demem_agent.errors import InvalidInput
from demem_agent.later import dataclass
from demem_agent.turns import text_field, unit_field
from demem_agent.types import Channel, Context

__all__ = ["CHANNELS", "ChannelRow", "Signal", "Told", "row_of", "told_rewards"]


class Told(TypedDict, total=False):
    """Keyword arguments of ``feedback``: give one; a reward may go with a text.

    reward: in [0, 1].
    reference: what would have been right, known for certain.
    thumbs: True for up, False for down.
    correction: what a user says would have been right.
    outcome: of the tool or task that the answer was used for: True, False, or a score in [0, 1].
    agreement: other answers to the same question; the reward is how far they agree.
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
        """Whether the memory's judges are to rate the answer."""
        return row_of(self.channel).tells == "votes"


@dataclass(frozen=True, slots=True)
class ChannelRow:
    """What the library knows of one channel.

    Attributes:
        tells: what other answers can be judged by: a ``text``, or ``votes`` of the judges. A
            ``rating`` speaks of the observed answer alone; most ratings speaking for it make it a
            stand-in for a reference. ``nothing`` makes no answer known.
        words: how the channel is told of in explanations.
        parser: makes a signal of what the caller gave; None for a channel that nobody can give.
        with_reward: whether a plain reward may go with it.
        repeats: whether its rewards count as observations of one mean when they are repeated.
    """

    name: Channel
    tells: Literal["text", "votes", "rating", "nothing"]
    words: str
    parser: Callable[[object], Signal] | None = None
    with_reward: bool = False
    repeats: bool = False

    @property
    def corrects(self) -> bool:
        """Whether it tells what would have been right, in the words of whoever gave it."""
        return self.tells == "text" and self.parser is not None


def row_of(channel: str) -> ChannelRow:
    """Return the row of a channel; a name that only another release knows tells nothing."""
    return _ROWS.get(channel, _ROWS["none"])


def told_rewards(context: Context) -> Iterator[tuple[Channel, float]]:
    """Yield every reward of a context with its channel, in order.

    The first rewards of a memory that is older than channels may have come from anyone, and are
    left out.
    """
    known = context.rewards[len(context.rewards) - len(context.told) :]
    yield from zip(context.told, known, strict=True)


def _reference(value: object) -> Signal:
    return Signal("reference", reference=text_field("reference", value))


def _correction(value: object) -> Signal:
    return Signal("correction", reference=text_field("correction", value))


def _reward(value: object) -> Signal:
    return Signal("reward", reward=unit_field("reward", value))


def _thumbs(value: object) -> Signal:
    if not isinstance(value, bool):
        raise InvalidInput("thumbs", value, "True or False")
    return Signal("thumbs", reward=float(value))


def _outcome(value: object) -> Signal:
    if isinstance(value, bool):
        return Signal("outcome", reward=float(value))
    return Signal("outcome", reward=unit_field("outcome", value))


def _judge(value: object) -> Signal:
    if value is not True:
        raise InvalidInput("judge", value, "True or left out")
    return Signal("judge")


def _agreement(value: object) -> Signal:
    if isinstance(value, str) or not isinstance(value, Sequence) or not value:
        expected = "a list of other answers to the same question, one at least"
        raise InvalidInput("agreement", value, expected)
    answers = []
    for n, text in enumerate(value):
        answers.append(text_field(f"agreement[{n}]", text))
    return Signal("agreement", answers=tuple(answers))


CHANNELS: tuple[ChannelRow, ...] = (
    ChannelRow("reference", "text", "reference given", _reference, with_reward=True),
    ChannelRow("correction", "text", "corrected by a user", _correction, with_reward=True),
    ChannelRow("judge", "votes", "rated by judges", _judge),
    ChannelRow("stand-in", "text", "its rewarded answer stands in for a reference"),
    ChannelRow("outcome", "rating", "only its own outcome is known", _outcome, repeats=True),
    ChannelRow("thumbs", "rating", "only its own thumbs are known", _thumbs, repeats=True),
    ChannelRow("reward", "rating", "only its own reward is known", _reward, repeats=True),
    ChannelRow("agreement", "nothing", "only how far answers agree is known", _agreement),
    ChannelRow("none", "nothing", "nothing is known"),
)
_ROWS: dict[str, ChannelRow] = {row.name: row for row in CHANNELS}
