"""The table of channels: it names every channel once, and agrees with what callers may give."""

from __future__ import annotations

from typing import get_args

import pytest

from demem_agent.channels import CHANNELS, Told, row_of, told_rewards
from demem_agent.feedback.signals import signal_of
from demem_agent.types import Channel, Context

#: A value that can be given, by channel.
GIVEN: dict[str, object] = {
    "reward": 0.5,
    "reference": "a brass valve",
    "thumbs": True,
    "correction": "a brass valve",
    "outcome": 0.5,
    "agreement": ["a brass valve"],
    "judge": True,
}
NAMES = tuple(row.name for row in CHANNELS)
RATINGS = {row.name for row in CHANNELS if row.tells == "rating"}


def context(rewards: tuple[float, ...], told: tuple[Channel, ...]) -> Context:
    return Context("a1", "?", None, 0, "", (), rewards=rewards, told=told)


def test_every_channel_has_one_row() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert set(NAMES) == set(get_args(Channel))


def test_what_can_be_given_is_what_has_a_parser() -> None:
    assert {row.name for row in CHANNELS if row.parser} == set(Told.__annotations__)


@pytest.mark.parametrize("name", list(Told.__annotations__))
def test_a_parser_makes_signals_of_its_own_channel(name: str) -> None:
    assert signal_of({name: GIVEN[name]}).channel == name


def test_what_is_right_knows_more_than_votes_and_votes_more_than_ratings() -> None:
    strength = {"text": 0, "votes": 1, "rating": 2, "nothing": 3}
    given = [strength[row.tells] for row in CHANNELS if row.name != "stand-in"]
    assert given == sorted(given)


def test_a_stand_in_knows_less_than_votes_and_more_than_a_rating() -> None:
    assert NAMES.index("judge") < NAMES.index("stand-in")
    assert NAMES.index("stand-in") < min(map(NAMES.index, RATINGS))


def test_only_ratings_are_observations_of_one_mean() -> None:
    assert {row.name for row in CHANNELS if row.repeats} <= RATINGS


def test_a_reward_goes_only_with_what_should_have_been_answered() -> None:
    for row in CHANNELS:
        assert row.corrects or not row.with_reward


def test_every_channel_can_be_told_of() -> None:
    assert all(row.words for row in CHANNELS)


def test_a_channel_of_another_release_tells_nothing() -> None:
    assert row_of("of another release") == row_of("none")


def test_rewards_from_before_there_were_channels_are_left_out() -> None:
    assert list(told_rewards(context((0.1, 0.2, 0.3), ("reward", "thumbs")))) == [
        ("reward", 0.2),
        ("thumbs", 0.3),
    ]
    assert list(told_rewards(context((0.1, 0.2), ()))) == []
