"""A memory with bounded storage keeps situations and names of actions within it, too."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sealed_files import legible

from demem_agent import InvalidInput, SlotMemory
from demem_agent.testing import BagEncoder

TOOLS = ["call", "mail", "visit"]


def bounded(storage: int | None) -> SlotMemory:
    return SlotMemory(encoder=BagEncoder(), slots=3, storage=storage)


def told(memory: SlotMemory, situation: str) -> None:
    """Record a choice and that it worked."""
    made = memory.decided(situation, "call", actions=TOOLS)
    memory.feedback(made, reward=1.0)


def many(memory: SlotMemory, count: int) -> None:
    for n in range(count):
        told(memory, f"Customer {n} wants matter {n} settled")


def test_situations_and_actions_count() -> None:
    memory = bounded(None)
    memory.decide("Password reset", TOOLS, conditions=["rain"])
    memory.decide("Password reset", [*TOOLS, "wait"], conditions=["rain"])
    held = memory.storage()
    assert (held.situations, held.actions) == (len("Password reset" + "rain"), 4 + 4 + 5 + 4)
    assert held.used == held.situations + held.actions


def test_the_bound_holds_where_situations_never_end() -> None:
    memory = bounded(200)
    for n in range(30):
        told(memory, f"Customer {n} wants matter {n} settled")
        assert memory.storage().used <= 200
    memory.check()
    assert memory.situations()[-1].text
    assert not memory.situations()[0].text


def test_the_bound_holds_where_actions_never_end() -> None:
    memory = bounded(200)
    for n in range(30):
        memory.decide(f"Customer {n} wants matter {n} settled", [f"action {n}", f"tool {n}"])
        assert memory.storage().used <= 200
    memory.check()
    assert memory.decisions()[-1].actions == ("action 29", "tool 29")


def test_the_least_recently_decided_goes_first() -> None:
    memory = bounded(180)
    many(memory, 4)
    told(memory, "Customer 0 wants matter 0 settled")
    later = [f"Ticket {n} is about thing {n} here" for n in range(4)]
    for text in later:
        told(memory, text)
    kept = [one.text for one in memory.situations() if one.text]
    assert kept == ["Customer 0 wants matter 0 settled", *later]


def test_situations_give_way_to_evidence_beyond_a_quarter() -> None:
    memory = bounded(400)
    memory.ingest("The boiler has a brass valve of a rare kind.")
    many(memory, 12)
    held = memory.storage()
    assert held.situations + held.actions > 100
    for n in range(12):
        memory.ingest(f"Remark {n} is on another matter.")
    held = memory.storage()
    assert held.situations + held.actions <= 100
    assert held.evidence > 200


def test_what_is_learned_outlives_its_words() -> None:
    memory = bounded(200)
    many(memory, 13)
    assert not memory.situations()[0].text
    assert sum(one.reward is not None for one in memory.decisions()) == 13
    made = memory.decide("Customer 99 wants matter 99 settled", TOOLS, explore=False)
    assert made.action == "call"


def test_what_is_left_is_the_same_after_opening_again(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/m.db"
    with SlotMemory.open(url, encoder=BagEncoder(), storage=200) as memory:
        many(memory, 12)
        memory.check()
        before = memory.fingerprint()
        receipts = memory.receipts()
    with SlotMemory.open(url, encoder=BagEncoder()) as again:
        again.check()
        assert again.fingerprint() == before
        assert again.receipts() == receipts
        assert any(receipt.situations for receipt in receipts)
    assert b"matter 0 settled" not in legible(tmp_path)


def test_what_would_exceed_the_bound_alone_is_refused() -> None:
    memory = bounded(60)
    with pytest.raises(InvalidInput, match="situation must be at most 47 chars"):
        memory.decide("Long " * 10 + "story", TOOLS)
    assert memory.situations() == ()


def test_the_name_of_a_forgotten_action_cannot_be_offered() -> None:
    with pytest.raises(InvalidInput, match=r"actions\[1\]"):
        bounded(None).decide("Password reset", ["call", "forgotten 3.0"])


def test_forgetting_takes_the_vectors_of_what_went_for_room() -> None:
    memory = bounded(300)
    many(memory, 12)
    memory.ingest("The boiler has a brass valve.")
    gone = {one.id for one in memory.situations() if not one.text}
    assert gone
    assert gone <= set(memory.forget("e1").situations)
    memory.check()


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 3), st.booleans()), max_size=25))
def test_the_bound_holds_whatever_is_decided(calls: list[tuple[int, int, bool]]) -> None:
    memory = bounded(120)
    for situation, tool, is_evidence in calls:
        if is_evidence:
            memory.ingest(f"Remark {situation} about tool {tool}.")
        else:
            made = memory.decide(f"Matter {situation} again", [f"tool {tool}", "none"])
            assert memory.decisions()[-1] == made
            memory.feedback(made, outcome=tool > 1)
        assert memory.storage().used <= 120
    memory.check()
