"""Choosing among actions: the choice, its outcome, and what is kept of both."""

from __future__ import annotations

from pathlib import Path

import pytest

from demem_agent import InvalidInput, SlotMemory
from demem_agent.decision.learners.growing import REASONS
from demem_agent.errors import IdempotencyConflict, NotFound
from demem_agent.flows.decide import WHY
from demem_agent.settings import DecideSettings
from demem_agent.testing import BagEncoder

TOOLS = ("search", "calculator", "calendar")
SITUATION = "Ana wants to know when the next train to Porto leaves"


def told(memory: SlotMemory, times: int, best: str = "calendar") -> None:
    """Decide so often, and reward one action alone."""
    for _ in range(times):
        made = memory.decide(SITUATION, TOOLS)
        memory.feedback(made, reward=float(made.action == best))


def test_what_worked_is_chosen() -> None:
    memory = SlotMemory()
    told(memory, 40)
    made = memory.decide(SITUATION, TOOLS, explore=False)
    assert made.action == "calendar"
    assert not made.explores
    assert made.cost == 0.0


def test_a_choice_is_one_of_those_offered() -> None:
    memory = SlotMemory()
    told(memory, 40)
    assert memory.decide(SITUATION, ["search", "telephone"]).action != "calendar"


def test_what_may_never_be_explored_is_chosen_only_once_it_is_known_to_be_best() -> None:
    memory = SlotMemory()
    for _ in range(10):
        made = memory.decide(SITUATION, TOOLS, never=["search", "calendar"])
        assert made.action == "calculator"
        memory.feedback(made, reward=0.1)
    for _ in range(30):
        memory.feedback(memory.decided(SITUATION, "calendar"), reward=1.0)
    assert memory.decide(SITUATION, TOOLS, never=["search", "calendar"]).action == "calendar"


def test_what_an_agent_chose_itself_teaches_as_well() -> None:
    memory = SlotMemory()
    for _ in range(5):
        memory.feedback(memory.decided(SITUATION, "search", actions=TOOLS), outcome=True)
        memory.feedback(memory.decided(SITUATION, "calculator", actions=TOOLS), outcome=False)
    assert memory.decide(SITUATION, ["search", "calculator"], explore=False).action == "search"


def test_a_situation_is_known_again_in_other_words() -> None:
    memory = SlotMemory()
    memory.decide("A customer asks for a refund of a broken kettle", TOOLS)
    memory.decide("The customer asks for a refund of the broken kettle!", TOOLS)
    memory.decide("somebody wants to change the address of a delivery", TOOLS)
    assert [one.situation for one in memory.decisions()] == ["x1", "x1", "x2"]


@pytest.mark.parametrize("other", [{"asker": "Ben"}, {"conditions": ["rain"]}])
def test_for_another_asker_or_under_other_conditions_it_is_another_situation(
    other: dict[str, object],
) -> None:
    memory = SlotMemory()
    memory.decide(SITUATION, TOOLS, asker="Ana")
    memory.decide(SITUATION, TOOLS, **({"asker": "Ana"} | other))  # type: ignore[arg-type]
    assert len(memory.situations()) == 2


def test_the_last_outcome_told_counts() -> None:
    memory = SlotMemory()
    made = memory.decide(SITUATION, TOOLS)
    memory.feedback(made, reward=0.0)
    memory.feedback(made, reward=1.0)
    assert memory.advice(SITUATION) == f"{made.action}: 1 of 1"
    memory.check()


def test_undo_takes_an_outcome_back() -> None:
    memory = SlotMemory()
    made = memory.decide(SITUATION, TOOLS)
    before = memory.advice(SITUATION)
    memory.feedback(made, reward=1.0)
    memory.undo(made.id)
    assert memory.advice(SITUATION) == before
    assert memory.decisions()[0].reward is None
    memory.check()
    with pytest.raises(InvalidInput, match="outcome is known"):
        memory.undo(made.id)


def test_outcomes_may_come_late_and_out_of_order() -> None:
    memory = SlotMemory()
    made = [memory.decide(SITUATION, TOOLS) for _ in range(6)]
    for one in reversed(made):
        memory.feedback(one, reward=float(one.action == "search"))
    memory.check()
    assert memory.decide(SITUATION, TOOLS, explore=False).action == "search"


def test_the_same_key_decides_once() -> None:
    memory = SlotMemory()
    first = memory.decide(SITUATION, TOOLS, key="k")
    assert memory.decide(SITUATION, TOOLS, key="k") == first
    assert len(memory.decisions()) == 1
    with pytest.raises(IdempotencyConflict):
        memory.decide(SITUATION, ["search"], key="k")
    memory.feedback(first, reward=1.0, key="o")
    state = memory.fingerprint()
    memory.feedback(first, reward=1.0, key="o")
    assert memory.fingerprint() == state


def test_it_is_the_same_after_opening_again(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'm.db'}"
    with SlotMemory.open(url) as memory:
        told(memory, 12)
        before = memory.fingerprint()
        expected = memory.decide(SITUATION, TOOLS)
        memory.check()
    with SlotMemory.open(url) as again:
        again.check()
        assert again.decisions()[-1] == expected
        assert again.fingerprint() != before
        assert again.advice(SITUATION)


def test_an_export_holds_it_all() -> None:
    memory = SlotMemory(clock=None)
    memory.ingest("The Porto train leaves at nine.")
    told(memory, 12)
    again = SlotMemory.restore(memory.export(), clock=None)
    again.check()
    assert again.fingerprint() == memory.fingerprint()
    assert again.decide(SITUATION, TOOLS) == memory.decide(SITUATION, TOOLS)


def test_what_is_forgotten_is_in_no_situation_and_no_name_of_an_action() -> None:
    memory = SlotMemory()
    secret = "The code of the safe is 4711 and Ana keeps it in the blue book"
    memory.ingest(secret)
    made = memory.decide(secret, ["The code of the safe is 4711", "ask"])
    memory.feedback(made, reward=1.0)
    receipt = memory.forget("e1")
    assert receipt.situations == ("x1",)
    assert "4711" not in repr(memory.export())
    assert memory.decisions()[0].action in ("forgotten 4.0", "ask")
    memory.check()
    assert memory.decide(secret, ["ask"]).situation == "x2"


def test_another_encoder_keeps_what_was_decided() -> None:
    memory = SlotMemory()
    told(memory, 12)
    advice = memory.advice(SITUATION)
    memory.reembed(BagEncoder(24))
    memory.check()
    assert memory.advice(SITUATION) == advice


def test_advice_keeps_to_its_limit_and_says_what_did_not_work() -> None:
    memory = SlotMemory()
    for action, reward in (("search", 1.0), ("calendar", 0.0), ("calculator", 0.8)):
        memory.feedback(memory.decided(SITUATION, action), reward=reward)
    whole = "search: 1 of 1; calculator: 0.80 on average of 1; not calendar: 0 of 1"
    assert memory.advice(SITUATION) == whole
    assert memory.advice(SITUATION, limit=20) == "search: 1 of 1"
    assert memory.advice("Weather in Lisbon", asker="Ben") == whole


def test_advice_on_some_actions_is_of_these_alone() -> None:
    memory = SlotMemory()
    for action, reward in (("search", 1.0), ("calendar", 0.0), ("calculator", 0.8)):
        memory.feedback(memory.decided(SITUATION, action), reward=reward)
    offered = ["calculator", "telephone"]
    assert memory.advice(SITUATION, actions=offered) == "calculator: 0.80 on average of 1"
    assert [one.action for one in memory.tried(SITUATION, actions=offered)] == ["calculator"]


def test_what_was_tried_comes_best_first_and_without_what_was_not() -> None:
    memory = SlotMemory()
    assert memory.tried(SITUATION) == ()
    for action, reward in (("calendar", 0.0), ("search", 1.0), ("search", 0.5)):
        memory.feedback(memory.decided(SITUATION, action, actions=TOOLS), reward=reward)
    found = [(one.action, one.count, one.mean) for one in memory.tried(SITUATION)]
    assert found == [("search", 2, 0.75), ("calendar", 1, 0.0)]
    with pytest.raises(InvalidInput, match="actions"):
        memory.tried(SITUATION, actions="search")


def test_every_action_keeps_a_chance_where_one_is_set() -> None:
    memory = SlotMemory(decide=DecideSettings(chance=0.3))
    told(memory, 60)
    chosen = [one for one in memory.decisions() if one.probability is not None]
    assert min(one.probability for one in chosen if one.probability) >= 0.1 - 1e-12
    assert any(one.why == "drawn by chance" for one in chosen)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"situation": " "}, "situation"),
        ({"actions": []}, "actions"),
        ({"actions": "search"}, "actions"),
        ({"actions": ["search", ""]}, r"actions\[1\]"),
        ({"never": TOOLS}, "never"),
        ({"explore": 1}, "explore"),
        ({"conditions": "rain"}, "conditions"),
        ({"asker": ""}, "asker"),
        ({"key": " "}, "key"),
    ],
)
def test_bad_input_names_its_field(given: dict[str, object], field: str) -> None:
    memory = SlotMemory()
    arguments: dict[str, object] = {"situation": SITUATION, "actions": TOOLS} | given
    with pytest.raises(InvalidInput, match=f"^{field}"):
        memory.decide(**arguments)  # type: ignore[arg-type]
    assert memory.decisions() == ()


def test_an_outcome_is_a_reward() -> None:
    memory = SlotMemory()
    made = memory.decide(SITUATION, TOOLS)
    with pytest.raises(InvalidInput, match="reward, thumbs or outcome"):
        memory.feedback(made, correction="the calendar")
    with pytest.raises(InvalidInput, match="reward, thumbs or outcome"):
        memory.feedback(made, reference="the calendar", reward=0.5)
    with pytest.raises(NotFound):
        memory.feedback("d99", reward=1.0)


def test_every_reason_of_the_learner_has_words() -> None:
    assert WHY.keys() == {"own", *REASONS}


@pytest.mark.parametrize("budget", [0.0, 1.5, 6.0])
@pytest.mark.parametrize("chance", [0.0, 0.4])
def test_explorations_together_cost_no_more_than_their_budget(budget: float, chance: float) -> None:
    memory = SlotMemory(decide=DecideSettings(chance=chance, budget=budget))
    for n in range(40):
        made = memory.decide(f"{SITUATION} {n % 3}", TOOLS)
        memory.feedback(made, outcome=made.action == "search")
    assert sum(one.cost for one in memory.decisions()) <= budget
    memory.check()


def test_without_a_budget_more_is_explored() -> None:
    costs = {}
    for budget in (0.0, None):
        memory = SlotMemory(decide=DecideSettings(budget=budget))
        for _ in range(10):
            memory.feedback(memory.decide(SITUATION, TOOLS), outcome=False)
        costs[budget] = sum(one.cost for one in memory.decisions())
    assert costs[0.0] == 0 < costs[None]


def test_a_budget_below_nothing_is_refused() -> None:
    with pytest.raises(InvalidInput, match="budget"):
        DecideSettings(budget=-1.0)
