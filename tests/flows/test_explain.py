"""A decision explained: what was known before it, what is known now, and who was parted by what."""

from __future__ import annotations

import asyncio

import pytest

from demem_agent import AsyncSlotMemory, InvalidInput, SlotMemory
from demem_agent.errors import NotFound
from demem_agent.types import Explained, Outcomes

TOOLS = ("directory", "mail link", "on-site visit")
TEAMS = "accounting legal sales support finance design research logistics press training".split()
#: The one whose outcomes are not those of the others.
STRANGE = "Password reset for legal"


def lived(decisions: int) -> SlotMemory:
    """Return a memory in which one situation is described like all others and is another."""
    memory = SlotMemory(slots=4)
    for n in range(decisions):
        team = TEAMS[n % len(TEAMS)]
        best = "on-site visit" if team == "legal" else "directory"
        made = memory.decide(f"Password reset for {team}", TOOLS)
        noise = 0.05 * (-1) ** (n // len(TEAMS))
        memory.feedback(made, reward=noise + (0.8 if made.action == best else 0.2))
    return memory


@pytest.fixture(scope="module")
def memory() -> SlotMemory:
    return lived(200)


def outcomes(memory: SlotMemory, situation: str, before: int) -> dict[str, list[float]]:
    """Return the rewards of each action in a situation, told before an operation."""
    found: dict[str, list[float]] = {}
    for one in memory.decisions():
        if one.situation == situation and one.judged is not None and one.judged < before:
            assert one.reward is not None
            found.setdefault(one.action, []).append(one.reward)
    return found


@pytest.mark.parametrize("id", ["d1", "d12", "d57", "d152"])
def test_what_was_known_here_is_what_had_been_told_before(memory: SlotMemory, id: str) -> None:
    told = memory.explain(id)
    before = outcomes(memory, told.situation.id, told.decision.taken)
    until_now = outcomes(memory, told.situation.id, 10**6)
    assert [one.action for one in told.actions] == [*TOOLS]
    for one in told.actions:
        for known, rewards in ((one.here, before), (one.here_now, until_now)):
            expected = rewards.get(one.action, [])
            assert known.count == len(expected)
            if expected:
                assert known.mean == pytest.approx(sum(expected) / len(expected))


def test_before_the_first_decision_nothing_was_known(memory: SlotMemory) -> None:
    told = memory.explain("d1")
    assert {one.here for one in told.actions} == {Outcomes()}
    assert {one.profile for one in told.actions} == {Outcomes()}
    assert told.parting is None


def test_a_profile_knows_what_those_who_follow_it_were_told(memory: SlotMemory) -> None:
    told = memory.explain("d100")
    assert told.decision.slot is not None
    for one in told.actions:
        assert one.profile.count >= one.here.count
    assert sum(one.profile.count for one in told.actions) > 10


def test_what_was_known_before_is_what_the_memory_knew_then() -> None:
    memory = lived(90)
    last = memory.decisions()[-1]
    at_once = memory.explain(last.id)
    for _ in range(20):
        memory.feedback(memory.decide(STRANGE, TOOLS), reward=0.5)
    later = memory.explain(last.id)
    assert [(one.here, one.profile) for one in later.actions] == [
        (one.here, one.profile) for one in at_once.actions
    ]


def parted(memory: SlotMemory) -> Explained:
    """Explain the last decision in the strange situation."""
    made = [one for one in memory.decisions() if one.situation == "x2"]
    return memory.explain(made[-1].id)


def test_a_certificate_names_two_means_that_chance_does_not_explain(memory: SlotMemory) -> None:
    told = parted(memory)
    assert told.situation.text == STRANGE
    parting = told.parting
    assert parting is not None
    assert (parting.situation, parting.action) == ("x2", "on-site visit")
    assert parting.own is not None
    assert parting.others is not None
    apart = abs(parting.own.mean - parting.others.mean)
    assert apart > parting.own.half_width + parting.others.half_width
    assert parting.own.mean == pytest.approx(0.8, abs=0.06)
    assert parting.delta == 0.05


def test_a_certificate_counts_what_was_told_until_then(memory: SlotMemory) -> None:
    parting = parted(memory).parting
    assert parting is not None
    assert parting.own is not None
    own = outcomes(memory, "x2", parting.judged + 1)
    assert parting.own.count == len(own["on-site visit"])
    by = {one.id: one for one in memory.decisions()}[parting.decision]
    assert (by.situation, by.action, by.judged) == ("x2", "on-site visit", parting.judged)


def test_a_situation_that_left_later_had_not_left_before(memory: SlotMemory) -> None:
    now = parted(memory).parting_now
    early = memory.explain("d2")
    assert early.situation.id == "x2"
    assert (early.parting, early.parting_now) == (None, now)


def test_no_other_situation_was_parted(memory: SlotMemory) -> None:
    assert [memory.explain(f"d{n}").parting_now is not None for n in range(191, 201)] == [
        n == 192 for n in range(191, 201)
    ]


def test_what_an_agent_chose_itself_is_explained() -> None:
    memory = SlotMemory()
    memory.decided(STRANGE, "directory", actions=TOOLS, asker="Ana", conditions=["at night"])
    told = memory.explain("d1")
    assert (told.decision.probability, told.slot_now) == (None, 0)
    assert (told.situation.asker, told.situation.conditions) == ("Ana", ("at night",))


def test_an_outcome_taken_back_was_never_known() -> None:
    memory = lived(12)
    memory.undo("d1")
    told = memory.explain("d11")
    assert sum(one.here.count for one in told.actions) == 0


def test_a_change_of_the_world_is_told() -> None:
    memory = SlotMemory()
    for n in range(300):
        best = "directory" if n < 150 else "mail link"
        made = memory.decide(STRANGE, TOOLS)
        memory.feedback(made, reward=float(made.action == best))
    told = memory.explain("d300")
    assert told.restarts
    assert told.restarts[0] > 300
    assert memory.explain("d10").restarts == told.restarts


def test_explaining_changes_nothing(memory: SlotMemory) -> None:
    before = memory.fingerprint()
    memory.explain("d20")
    assert memory.fingerprint() == before
    memory.check()


@pytest.mark.parametrize("id", ["d0", "d999", "a1", "x1"])
def test_the_id_of_no_decision_is_not_found(memory: SlotMemory, id: str) -> None:
    with pytest.raises(NotFound, match=id):
        memory.explain(id)


def test_a_blank_id_is_refused(memory: SlotMemory) -> None:
    with pytest.raises(InvalidInput, match="id"):
        memory.explain(" ")


def test_both_memories_explain_alike() -> None:
    async def explained() -> Explained:
        memory = AsyncSlotMemory(slots=4, clock=None)
        for _ in range(3):
            made = await memory.decide(STRANGE, TOOLS)
            await memory.feedback(made, reward=1.0)
        return await memory.explain("d3")

    memory = SlotMemory(slots=4, clock=None)
    for _ in range(3):
        memory.feedback(memory.decide(STRANGE, TOOLS), reward=1.0)
    assert asyncio.run(explained()) == memory.explain("d3")
