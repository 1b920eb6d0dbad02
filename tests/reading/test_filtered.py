"""Readings under a filter: what it does not leave is as if it were not there."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from often import often

from demem_agent import AsyncSlotMemory, Reading, SlotMemory, Turn
from demem_agent.answering.extractive import ExtractiveAnswerer
from demem_agent.errors import InvalidInput
from demem_agent.evaluate import recall
from demem_agent.reading.ask import ask_of
from demem_agent.scoring import Query, default_weights, rank, score
from demem_agent.slots.filtering import within
from demem_agent.slots.routing import slot_ranking
from demem_agent.testing import BagEncoder, ReadingAnswerer, ScriptedScorer
from demem_agent.where import Where, as_where

RIGHT = ScriptedScorer(lambda attempt: float(attempt.reference in attempt.reading))
OPTIONS: dict[str, Any] = {
    "clock": None,
    "encoder": BagEncoder(),
    "answerer": ReadingAnswerer(),
    "scorers": (RIGHT, RIGHT),
    "initial_slots": 3,
    "near": 0.6,
}
PEOPLE = ("Ana", "Ben", "Cy")
THINGS = ("boiler", "violin", "lease")
QUESTION = "Which colour has the {}?"


def said(number: int) -> tuple[str, str]:
    """Return what an item says, and the word by which it is known wherever it is quoted."""
    mark = f"mark{number}x"
    return f"the {THINGS[number % 3]} has the colour {mark}", mark


class Lived:
    """A memory of items that say alike, and the word by which each is known."""

    def __init__(self) -> None:
        self.memory = SlotMemory(**OPTIONS)
        self.marks: dict[str, str] = {}

    def say(self, who: int, number: int, again: bool) -> None:
        """Have somebody say something; ``again`` in words that others have said."""
        text, mark = said(number % 4 if again else number)
        made = self.memory.ingest(
            text,
            speaker=PEOPLE[who],
            at=f"2024-0{1 + number % 8}-02",
            metadata={"part": number % 2},
            session=f"s{number % 3}",
        )
        assert made.evidence_id is not None
        self.marks[made.evidence_id] = mark

    def outside(self, where: Where) -> set[str]:
        """Return the words of items that a filter does not leave, and of no other."""
        inside = {item.id for item in self.memory.evidence(where=where)}
        held = {self.marks[id] for id in inside}
        live = {item.id for item in self.memory.evidence()}
        return {self.marks[id] for id in live - inside} - held


FILTERS = [
    Where(speaker="Ana"),
    Where(speaker=("Ben", "Cy"), metadata={"part": 0}),
    Where(until="2024-04"),
    Where(session="s1", slot=0),
    Where(slot=1),
    Where(metadata={"part": {"in": [1]}}, since="2024-02-02"),
    Where(source_ids=[]),
]
steps = st.lists(
    st.one_of(
        st.tuples(st.just("say"), st.integers(0, 2), st.integers(0, 40), st.booleans()),
        st.tuples(st.just("reward"), st.sampled_from(THINGS), st.booleans(), st.booleans()),
        st.tuples(st.just("correct"), st.sampled_from(THINGS), st.integers(41, 60), st.just(0)),
        st.tuples(st.just("supersede"), st.integers(0, 9), st.integers(0, 9), st.just(0)),
        st.tuples(st.just("decide"), st.sampled_from(THINGS), st.integers(0, 40), st.just(0)),
    ),
    min_size=4,
    max_size=24,
)


def live(life: list[tuple[Any, ...]]) -> Lived:
    """Have all that happen which can put a line into a reading of another question."""
    lived = Lived()
    memory = lived.memory
    for number in range(6):
        lived.say(number % 3, number, again=False)
    for kind, one, other, flag in life:
        match kind:
            case "say":
                lived.say(one, other, flag)
            case "reward":
                answer = memory.answer(QUESTION.format(one), asker="Ana" if other else None)
                memory.feedback(answer, reward=float(flag))
            case "correct":
                told, mark = said(other)
                report = memory.feedback(memory.answer(QUESTION.format(one)), correction=told)
                if report.remembered is not None:
                    lived.marks[report.remembered] = mark
            case "supersede":
                supersede(memory, one, other)
            case "decide":
                made = memory.decide(QUESTION.format(one), [said(other)[0], "leave it"])
                memory.feedback(made, reward=1.0)
    return lived


def supersede(memory: SlotMemory, old: int, new: int) -> None:
    ids = [item.id for item in memory.evidence()]
    try:
        memory.supersede(ids[old % len(ids)], ids[new % len(ids)])
    except InvalidInput:  # the same item, or the other way round already
        return


def quoted(reading: Reading) -> str:
    """Return all that a reading holds, whatever of it is shown."""
    return repr(reading)


@settings(max_examples=often(60), deadline=None)
@given(steps, st.sampled_from(FILTERS), st.sampled_from(THINGS), st.integers(60, 400))
def test_a_reading_holds_no_text_of_an_item_outside_its_filter(
    life: list[tuple[Any, ...]], where: Where, thing: str, limit: int
) -> None:
    lived = live(life)
    outside = lived.outside(where)
    inside = {item.id for item in lived.memory.evidence(where=where)}
    for order in ("time", "latest"):
        for floor in (None, 0.3):
            reading = lived.memory.read(
                QUESTION.format(thing), where=where, limit=limit, order=order, floor=floor
            )
            assert not [mark for mark in outside if mark in quoted(reading)]
            assert {item.id for item in everything_in(reading)} <= inside
            assert {one.by[0] for line in reading.lines for one in line.superseded} <= inside
    answer = lived.memory.answer(QUESTION.format(thing), where=where, asker="Ana")
    assert not [mark for mark in outside if mark in repr(answer)]
    assert not [mark for mark in outside if mark in str(answer.text)]
    lived.memory.check()


def everything_in(reading: Reading) -> Iterator[Any]:
    yield from reading.evidence
    for line in (*reading.lines, *reading.left_out.best):
        yield line.evidence
        yield from line.again


@settings(max_examples=often(40), deadline=None)
@given(steps, st.sampled_from(FILTERS), st.sampled_from(THINGS))
def test_what_is_left_is_ranked_as_among_all_and_all_of_it(
    life: list[tuple[Any, ...]], where: Where, thing: str
) -> None:
    state = live(life).memory._held.state
    vector = BagEncoder().encode([QUESTION.format(thing)])[0]
    query = Query(QUESTION.format(thing), vector.astype(np.float32))
    left = within(state, as_where(where))
    assert left is not None
    index = state.passage_index()
    every = rank(index, query, default_weights())
    chosen = rank(index, query, default_weights(), left.rows)
    of_every = left.rows[every.rows]
    assert chosen.rows.tolist() == every.rows[of_every].tolist()
    assert np.allclose(chosen.scores, every.scores[of_every], atol=2e-4)


def many(count: int) -> SlotMemory:
    memory = SlotMemory(**OPTIONS)
    memory.ingest_many(
        {
            "text": f"the {THINGS[n % 3]} has the colour mark{n}x and {n % 7} strings",
            "speaker": PEOPLE[n % 3],
            "session": f"s{n // 10}",
            "source_id": f"t{n}",
            "metadata": {"rare": n % 50 == 0},
        }
        for n in range(count)
    )
    return memory


def test_recall_inside_a_filter_is_that_of_filtering_everything_and_then_ranking(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So also where only a few passages of a memory are scored for a question."""
    memory = many(400)
    gold = [Turn(f"the colour mark{n}x and {n % 7} strings") for n in range(0, 400, 50)]
    queries = [f"Which colour has the {thing} with 3 strings?" for thing in THINGS]
    rare = Where(metadata={"rare": True})

    def recalls() -> list[float]:
        return [recall(memory.read(one, where=rare, limit=300).text, gold) for one in queries]

    of_every = recalls()
    monkeypatch.setattr(score, "PREFILTER", 60)
    monkeypatch.setattr(score, "NEIGHBOURED", 20)
    assert recalls() == of_every
    assert 0 < min(of_every) < 1


def test_as_many_are_scored_as_without_a_filter_where_it_leaves_that_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(score, "PREFILTER", 60)
    monkeypatch.setattr(score, "NEIGHBOURED", 20)
    state = many(400)._held.state
    left = within(state, as_where({"metadata": {"rare": False}}))
    assert left is not None
    vector = BagEncoder().encode(["boiler"])[0].astype(np.float32)
    rows = rank(state.passage_index(), Query("boiler", vector), default_weights(), left.rows).rows
    assert len(rows) >= 60
    assert left.rows[rows].all()


def test_a_limit_is_filled_from_what_the_filter_leaves() -> None:
    memory = many(300)
    reading = memory.read("Which colour has the boiler?", where={"metadata": {"rare": True}})
    assert len(reading.evidence) == 6
    assert all(item.metadata == {"rare": True} for item in reading.evidence)


def test_a_filter_that_leaves_everything_changes_nothing() -> None:
    lived = live([("reward", "boiler", True, True), ("supersede", 0, 3, 0)])
    for thing in THINGS:
        query = QUESTION.format(thing)
        assert lived.memory.read(query, where=Where(trust=0.0)) == lived.memory.read(query)


def test_a_filter_that_leaves_nothing_reads_nothing_and_answers_nothing() -> None:
    memory = many(30)
    where = {"speaker": "nobody"}
    reading = memory.read("Which colour has the boiler?", where=where)
    assert (reading.text, reading.evidence, reading.left_out.lines) == ("", (), 0)
    route = memory.route("Which colour has the boiler?", where=where)
    assert (route.slot, route.scores, route.adequate) == (None, {}, False)
    answer = memory.answer("Which colour has the boiler?", where=where)
    assert (answer.text, answer.known) == ("", False)
    assert memory.read("Which?", where=where, slot=0).text == ""
    assert SlotMemory(**OPTIONS).read("Which?", where=where).text == ""


def test_a_slot_that_holds_nothing_of_what_is_left_is_not_chosen() -> None:
    memory = SlotMemory(**OPTIONS)
    memory.ingest("the boiler has a brass valve", speaker="Ana")
    memory.ingest("the violin has a broken bow", speaker="Ben")
    assert len(memory.slots) == 2
    for where in ({"speaker": "Ben"}, {"slot": 1}):
        route = memory.route("Which valve has the boiler?", where=where)
        assert (route.slot, list(route.scores)) == (1, [1])


def test_a_line_is_superseded_only_by_what_the_filter_leaves() -> None:
    memory = SlotMemory(**OPTIONS)
    memory.ingest("Ana lives in Porto", at="2024-01-02")
    memory.ingest("Ana lives in Rome", at="2024-05-02")
    memory.ingest("Ana lives in Oslo", at="2024-09-02")
    memory.supersede("e1", "e2")
    memory.supersede("e2", "e3")
    then = memory.read("Where does Ana live?", where={"until": "2024-01"})
    assert "until" not in then.text
    assert "Porto" in then.text
    later = memory.read("Where does Ana live?", where={"until": "2024-05"})
    assert "[until 2 May 2024] Ana lives in Porto" in later.text
    assert [one.by[0] for line in later.lines for one in line.superseded] == ["e2"]


def test_what_somebody_else_says_again_is_not_counted() -> None:
    memory = SlotMemory(**OPTIONS)
    for day in ("01", "02", "03"):
        memory.ingest(
            "the boiler has a brass valve", speaker="Ana", at=f"2024-01-{day}", session=day
        )
    question = "Which valve has the boiler?"
    assert "said 3 times" in memory.read(question).text
    assert (
        "said 2 times, last on 2 January"
        in memory.read(question, where={"until": "2024-01-02"}).text
    )
    alone = memory.read(question, where={"session": "02"})
    assert "times" not in alone.text
    assert alone.lines[0].again == ()


def test_what_was_decided_elsewhere_is_not_known_here() -> None:
    memory = SlotMemory(**OPTIONS)
    memory.ingest("the boiler has a brass valve", speaker="Ana")
    memory.ingest("the boiler has an iron valve", speaker="Ben")
    question = "Which valve has the boiler?"
    memory.feedback(memory.answer(question), reference="iron valve")
    assert memory.read(question, where={"speaker": "Ben"}).settled
    other = memory.read(question, where={"speaker": "Ana"})
    assert (other.recognised, other.settled, other.decisions) == (0.0, False, ())


def test_a_line_that_proved_right_elsewhere_settles_nothing_here() -> None:
    memory = SlotMemory(**OPTIONS)
    memory.ingest("the boiler has an iron valve", speaker="Ben")
    memory.ingest("the boiler valve valve has", speaker="Cy")
    question = "Which valve has the boiler?"
    answer = memory.answer(question)
    memory.feedback(answer, reward=0.0)
    memory.feedback(answer, reference="iron valve")
    verdicts = memory.contexts()[0].verdicts
    assert [(item, weight > 0) for item, *_, weight in verdicts] == [("e1", True), ("e2", False)]
    assert memory.read(question, where={"speaker": "Ben"}).settled
    here = memory.read(question, where={"speaker": "Cy"})
    assert here.decisions == (answer.id,)
    assert not here.settled


def test_what_is_tried_after_a_failure_is_among_what_is_left() -> None:
    memory = SlotMemory(**{**OPTIONS, "answerer": ExtractiveAnswerer(OPTIONS["encoder"])})
    for text in (
        "My seat is warm enough now.",
        "I like the heating at three.",
        "My seat is by the fine window.",
    ):
        memory.ingest(text, speaker="Ben", metadata={"of": text[-6:]})
    memory.feedback(
        memory.answer("How warm should the seat be?", asker="Ben"), reference="the heating at three"
    )
    alike = "Is that seat of mine fine?"
    memory.feedback(memory.answer(alike, asker="Ben"), thumbs=False)
    tried = memory.read(alike, asker="Ben")
    assert tried.ranked[0].id == "e2"
    left = memory.read(alike, asker="Ben", where={"metadata": {"of": {"in": ["h now.", "indow."]}}})
    assert {item.id for item in left.evidence} == {"e1", "e3"}


def test_what_worked_in_a_situation_is_of_no_item() -> None:
    memory = many(9)
    memory.feedback(memory.decide("mend the boiler", ["weld it", "glue it"]), reward=1.0)
    assert memory.read("mend the boiler").advice
    assert memory.read("mend the boiler", where={"speaker": "Ana"}).advice == ""


def test_a_summary_is_refused_since_it_holds_what_others_said() -> None:
    memory = many(9)
    with pytest.raises(InvalidInput, match="mode must be 'evidence' together with where"):
        memory.read("boiler", mode="strict", where={"speaker": "Ana"})
    strict = SlotMemory(mode="strict", **OPTIONS)
    strict.ingest("the boiler has a brass valve", speaker="Ana")
    for refused in (strict.read, strict.answer):
        with pytest.raises(InvalidInput, match="mode must be 'evidence'"):
            refused("boiler", where={"speaker": "Ana"})
    assert "valve" in strict.read("boiler", mode="evidence", where={"speaker": "Ana"}).text
    assert strict.route("boiler", where={"speaker": "Ana"}).slot == 0
    assert "valve" in strict.read("boiler", where={}).text


class Overheard:
    """A reranker that notes what it was shown."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def score(self, query: str, texts: list[str]) -> list[float]:
        self.shown += texts
        return [float(len(text)) for text in texts]


def test_a_reranker_is_shown_what_the_filter_leaves_alone() -> None:
    reranker = Overheard()
    memory = SlotMemory(reranker=reranker, **OPTIONS)
    for n in range(70):
        memory.ingest(f"the boiler has the colour mark{n}x", speaker=PEOPLE[n % 2])
    memory.read("Which colour has the boiler?", where={"speaker": "Ben"})
    assert len(reranker.shown) == 35
    assert all(text.startswith("Ben:") for text in reranker.shown)


def test_the_slot_of_a_filter_is_where_an_item_is_now() -> None:
    memory = SlotMemory(**OPTIONS)
    memory.ingest("the boiler has a brass valve")
    memory.ingest("the violin has a broken bow")
    question = "Which valve has the boiler?"
    assert "bow" not in memory.read(question, where={"slot": 0}).text
    memory.merge(1, into=0)
    assert "bow" in memory.read(question, where={"slot": 0}).text
    assert memory.read(question, where={"slot": 1}).text == ""


def test_an_answer_given_elsewhere_is_routed_within_the_filter() -> None:
    memory = many(30)
    reading = memory.answered("Which colour?", "mark3x", where={"speaker": "Ana"}).reading
    assert {item.speaker for item in reading.evidence} == {"Ana"}


def test_the_coroutines_take_it_as_well() -> None:
    async def asked() -> list[Any]:
        memory = AsyncSlotMemory(**OPTIONS)
        await memory.ingest("the boiler has a brass valve", speaker="Ana", metadata={"a": 1})
        await memory.ingest("the violin has a broken bow", speaker="Ben")
        where = {"speaker": "Ana", "metadata": {"a": 1}}
        found = [
            (await memory.read("bow", where=where)).text,
            (await memory.answer("bow", where=where)).reading.text,
            await memory.evidence(where=where),
            await memory.export(where=where),
            (await memory.route("bow", where=where)).slot,
        ]
        receipt = await memory.forget(where={"speaker": "Ben"})
        return [*found, receipt]

    *found, receipt = asyncio.run(asked())
    assert "bow" not in repr(found)
    assert receipt.evidence == ("e2",)


def test_a_filter_is_checked_once_into_what_is_asked() -> None:
    memory = many(3)
    asked = ask_of("boiler", {"where": {"speaker": "Ana"}}, memory.settings, None)
    assert asked.where == Where(speaker=("Ana",))
    state = memory._held.state
    vector = BagEncoder().encode(["boiler"])[0].astype(np.float32)
    route, ranking = slot_ranking(state, Query("boiler", vector), within(state, asked.where))
    assert ranking is not None
    assert {state.passage_index().passages[row].evidence_id for row in ranking.rows} == {"e1"}
    assert route.slot == state.slot_of["e1"]
