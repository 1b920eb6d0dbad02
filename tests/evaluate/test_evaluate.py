"""The evaluation loop: what counts as found, the systems compared, the records and the report."""

from __future__ import annotations

import json
import runpy
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from often import often

from demem_agent import SlotMemory
from demem_agent.errors import InvalidInput
from demem_agent.evaluate import (
    BASELINES,
    MEASURES,
    Dialogue,
    Interval,
    Measured,
    Probe,
    System,
    Unbounded,
    answer_f1,
    contains,
    evaluate,
    extract,
    load,
    oracle,
    paired,
    recall,
    report,
    save,
    turns_found,
)
from demem_agent.evaluate.bootstrap import bootstrap
from demem_agent.evaluate.metrics import Gold, as_reading, quoted
from demem_agent.evaluate.rankings import Held
from demem_agent.evaluate.systems import Best
from demem_agent.reading.packing import render
from demem_agent.turns import Turn
from demem_agent.types import Evidence, Line, Mode

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "bm25_system.py"

LONG = " ".join(f"Sentence number {n} speaks of topic {n * n} in its own way." for n in range(20))
TURNS = (
    Turn(
        "I adopted a grey cat named Miso yesterday.",
        "Ana",
        datetime(2024, 3, 2, 9),
        "s1",
        None,
        "t1",
    ),
    Turn("Congratulations! What does she eat?", "Ben", datetime(2024, 3, 2, 9), "s1", None, "t2"),
    Turn(
        "The boiler was repaired for 340 euros.", "Ben", datetime(2024, 4, 7, 20), "s2", None, "t3"
    ),
    Turn("My sister Hala lives in Lisbon now.", "Ana", datetime(2024, 5, 1, 12), "s3", None, "t4"),
    Turn(LONG, "Ben", datetime(2024, 6, 1, 12), "s4", None, "t5"),
)
PROBES = (
    Probe("What is the name of Ana's cat?", "Miso", ("t1",), "single-hop"),
    Probe("How much did the boiler cost?", "340 euros", ("t3",), "single-hop"),
    Probe(
        "Who adopted a cat and where does her sister live?",
        "Ana, Lisbon",
        ("t1", "t4"),
        "multi-hop",
    ),
    Probe("What is the dog called?", "", (), "abstention"),
)
TALK = Dialogue("talk", TURNS, PROBES)

Texts = st.text(st.characters(codec="utf-8"), max_size=900)
Wordy = Texts.filter(lambda text: any(char.isalnum() for char in text))


class Echo:
    """Read the same text, cut at the limit, whatever is asked."""

    def __init__(self, text: str = "") -> None:
        self.text = text
        self.told: list[Turn] = []
        self.asked: list[tuple[str, int, datetime | None]] = []

    def ingest(self, turns: Sequence[Turn]) -> None:
        self.told += turns

    def read(self, query: str, limit: int, at: datetime | None = None) -> str:
        self.asked.append((query, limit, at))
        return self.text[:limit]


class Reply:
    """Read what it was made with, as it is."""

    def __init__(self, reply: Any) -> None:
        self.reply = reply

    def ingest(self, turns: Sequence[Turn]) -> None:
        pass

    def read(self, query: str, limit: int, at: datetime | None = None) -> Any:
        return self.reply


def made(name: str, turns: Sequence[Turn] = TURNS) -> System:
    system = BASELINES[name]()
    system.ingest(turns)
    return system


def record(
    dialogue: str, question: int, system: str, recall: float | None, **changes: Any
) -> Measured:
    plain = Measured(
        *(dialogue, question, "single-hop", system, 500),
        *(recall, recall, recall),
        *(100, 0.01, 0.5, 1.0),
    )
    return replace(plain, **changes)


# -- what counts as found ------------------------------------------------------------------------


@given(Wordy)
def test_a_turn_is_found_in_its_own_text(text: str) -> None:
    assert recall(text, [Turn(text)]) == 1.0


@given(Texts, Texts, Wordy)
def test_more_text_never_loses_what_was_found(before: str, after: str, gold: str) -> None:
    turns = [Turn(gold), Turn("some words of another turn")]
    assert recall(f"{before}\n{after}", turns) >= recall(before, turns)


@given(Wordy, Texts, st.floats(0.01, 1))
def test_of_a_turn_that_is_found_so_much_is_recalled(gold: str, text: str, least: float) -> None:
    turns = [Turn(gold)]
    assert turns_found(text, turns, least) == float(recall(text, turns) >= least)


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("one two three four five", 0.5),  # 2 of the 4 runs of four words
        ("one two three four", 0.25),
        ("One, two; THREE? four -- five!", 0.5),
        ("five four three two one", 0.0),
        ("one two three, and then four five six seven", 0.25),
        ("", 0.0),
    ],
)
def test_recall_is_the_share_of_a_turn_s_runs_of_four_words(text: str, share: float) -> None:
    assert recall(text, [Turn("one two three four five six seven")]) == share


@pytest.mark.parametrize("share", [0.0, -0.1, 1.1, float("nan")])
def test_a_turn_is_found_by_a_share_above_none_of_it(share: float) -> None:
    with pytest.raises(InvalidInput, match="share"):
        turns_found("one", TURNS, share)


def test_a_turn_of_fewer_than_four_words_is_one_run() -> None:
    assert recall("well, thank you Ana!", [Turn("Thank you, Ana.")]) == 1.0
    assert recall("thank you very much, Ana", [Turn("Thank you, Ana.")]) == 0.0


def test_of_a_long_turn_counts_what_stands_there() -> None:
    first = LONG[:330]
    assert recall(first, [TURNS[4]]) == pytest.approx(330 / len(LONG), abs=0.05)
    assert turns_found(first, [TURNS[4]], 0.9) == 0.0


def test_what_stands_in_the_margin_does_not_hide_a_line() -> None:
    item = Evidence("e1", TURNS[0].text, "Ana", datetime(2024, 3, 2))
    text = render([Line(item, 0, len(item.text))])
    assert "[yesterday: 1 March 2024] Ana: I adopted" in text
    assert recall(text, [TURNS[0]]) == 1.0


def test_recall_is_the_mean_over_gold_turns() -> None:
    assert recall(TURNS[0].text, [TURNS[0], TURNS[2], TURNS[3]]) == pytest.approx(1 / 3)


def test_gold_without_a_word_is_refused_and_beside_others_left_out() -> None:
    with pytest.raises(InvalidInput, match="a word in it"):
        recall("text", [Turn("?!")])
    assert recall(TURNS[0].text, [Turn("?!"), TURNS[0]]) == 1.0


# -- answers from a text alone -------------------------------------------------------------------


def test_a_rendered_reading_is_taken_apart_into_dated_lines_of_speakers() -> None:
    items = [
        Evidence(f"e{n}", turn.text, turn.speaker, turn.at) for n, turn in enumerate(TURNS[:3], 1)
    ]
    reading = as_reading(render([Line(item, 0, len(item.text)) for item in items]))
    assert [item.speaker for item in reading.evidence] == ["Ana", "Ben", "Ben"]
    assert [item.at for item in reading.evidence] == [
        datetime(2024, 3, 2),
        datetime(2024, 3, 2),
        datetime(2024, 4, 7),
    ]
    assert reading.evidence[2].text == TURNS[2].text


def test_lines_of_a_turn_stay_together() -> None:
    item = Evidence("e1", "First line\nsecond line", "Ana")
    assert [e.text for e in as_reading(render([Line(item, 0, len(item.text))])).evidence] == [
        "First line second line"
    ]


def test_text_of_any_form_can_be_answered_from() -> None:
    text = "memory 1\nThe boiler was repaired for 340 euros.\n\nmemory 2\nHala lives in Lisbon."
    assert "340 euros" in extract(text, PROBES[1])


@given(Texts)
@settings(max_examples=often(30))
def test_answering_takes_any_text(text: str) -> None:
    assert isinstance(extract(text, PROBES[0]), str)


def test_answers_are_measured_by_their_words() -> None:
    assert answer_f1("She lives in Lisbon", "Lisbon") == pytest.approx(2 / 3)
    assert contains("Ana: Hala lives in Lisbon", "Lisbon")
    assert not contains("Ana: Hala lives in Porto", "Lisbon")
    assert not contains("Ana: Hala lives in Lisbon", "Lisbon and Porto")


def test_a_reference_counts_where_the_text_quotes_a_gold_turn() -> None:
    gold = [Gold.of(Turn("I have 4 bikes in the shed."))]
    heading = "# 2 March 2024"
    said = "- Ana: I have 4 bikes in the shed."
    text = f"{heading}\n{said}\n- Ben: A list:\n  4. Wait."
    assert quoted(text, gold) == f"{heading}\n{said}"
    assert contains(quoted(text, gold), "4")
    assert not contains(quoted(text.replace(said, "- Ana: Hello."), gold), "4")


# -- the systems ---------------------------------------------------------------------------------


#: Everything but the full context, which no limit binds.
BOUND = [name for name in BASELINES if not isinstance(BASELINES[name](), Unbounded)]


def test_the_full_context_alone_is_bound_by_no_limit() -> None:
    assert set(BASELINES) - set(BOUND) == {"full"}


@pytest.mark.parametrize("name", BOUND)
@given(
    limit=st.integers(1, 1500),
    query=st.sampled_from([probe.question for probe in PROBES] + ["?", "the"]),
)
@settings(max_examples=often(15), deadline=None)
def test_no_system_reads_more_than_the_limit(name: str, limit: int, query: str) -> None:
    assert len(made(name).read(query, limit)) <= limit


@pytest.mark.parametrize("name", BASELINES)
def test_every_maker_makes_a_fresh_system(name: str) -> None:
    assert isinstance(BASELINES[name](), System)
    assert BASELINES[name]() is not BASELINES[name]()


@pytest.mark.parametrize("name", BASELINES)
def test_a_system_without_turns_reads_nothing(name: str) -> None:
    assert made(name, ()).read("What is the name of the cat?", 500) == ""


@pytest.mark.parametrize("name", ["cosine", "bm25", "rrf", "hybrid", "demem"])
def test_systems_that_look_at_the_query_find_the_turn_it_asks_for(name: str) -> None:
    assert recall(made(name).read("How much did the boiler cost?", 120), [TURNS[2]]) == 1.0


@pytest.mark.parametrize("name", ["recency", "random"])
def test_systems_that_do_not_look_at_the_query_are_not_moved_by_its_words(name: str) -> None:
    queries = [
        f"{word} boiler"
        for word in ("the", "a", "our", "what", "which", "whose", "no", "some", "any", "every")
    ]
    found = [recall(made(name).read(query, 120), [TURNS[2]]) for query in queries]
    assert np.mean(found) < 0.7


def test_full_context_is_everything_whatever_the_limit() -> None:
    assert recall(made("full").read("any", 1), TURNS) == 1.0
    asked = Dialogue("d", TURNS, (Probe("any", "any"),))
    (small, large) = evaluate([asked], {"full": BASELINES["full"]}, [1, 100_000])
    assert small.size == large.size > 1


@pytest.mark.parametrize("turns", [TURNS, TURNS[::-1]])
def test_recency_takes_the_newest_passages_in_whatever_order_they_came(
    turns: Sequence[Turn],
) -> None:
    text = made("recency", turns).read("any", 500)
    assert "Sentence number 19" in text
    assert recall(text, [TURNS[0]]) == 0.0


def test_random_is_the_same_for_the_same_query_only() -> None:
    assert made("random").read("one", 400) == made("random").read("one", 400)
    assert len({made("random").read(str(n), 100) for n in range(20)}) > 1


def test_a_reading_is_in_time_order_under_days_whatever_the_order_of_turns() -> None:
    text = made("bm25", TURNS[::-1]).read("Ana Ben boiler cat sister", 400)
    days = [line for line in text.splitlines() if line.startswith("# ")]
    assert days[:3] == ["# 2 March 2024", "# 7 April 2024", "# 1 May 2024"]


def test_who_speaks_can_be_searched_for() -> None:
    turns = [
        Turn("I like it a lot.", name, datetime(2024, 1, 1))
        for name in ("Ana", "Ben", "Cleo", "Dora")
    ]
    for name in ("bm25", "cosine", "hybrid", "rrf"):
        assert "Cleo: I like" in made(name, turns).read("What did Cleo say?", 90)


def test_fusion_adds_the_reciprocal_ranks() -> None:
    held = Held(TURNS[:3])
    query = "repaired grey Congratulations"
    orders = {"cosine": [2, 1, 0], "bm25": [1, 2, 0]}  # best first
    for name, order in orders.items():
        assert np.argsort(-BASELINES[name]()._score(held, query)).tolist() == order
    fused = BASELINES["rrf"]()._score(held, query)
    assert fused == pytest.approx([2 / 63, 1 / 62 + 1 / 61, 1 / 61 + 1 / 62])


def test_a_baseline_of_ones_own_is_one_function() -> None:
    shortest = Best(
        lambda held, query: np.array([line.start - line.end for line in held.lines], float)
    )
    shortest.ingest(TURNS)
    assert recall(shortest.read("any", 100), TURNS[:4]) == 0.25
    assert recall(shortest.read("any", 100), [TURNS[1]]) == 1.0


def test_the_oracle_gives_the_gold_turns_and_nothing_else() -> None:
    system = oracle([replace(TALK, name="other", turns=TURNS[:1]), TALK])()
    system.ingest(TURNS)
    text = system.read(PROBES[2].question, 1000)
    assert recall(text, [TURNS[0], TURNS[3]]) == 1.0
    assert recall(text, [TURNS[1], TURNS[2], TURNS[4]]) == 0.0
    assert system.read("never asked", 1000) == ""


def test_the_oracle_knows_dialogues_apart_that_ask_the_same() -> None:
    other = Dialogue("other", TURNS[:3], (replace(PROBES[0], evidence=("t2",)),))
    system = oracle([other, TALK])()
    system.ingest(TURNS)
    assert recall(system.read(PROBES[0].question, 1000), [TURNS[0], TURNS[1]]) == 0.5


def test_the_oracle_prefers_a_short_turn_to_more_of_a_long_one() -> None:
    turns = (replace(TURNS[4], at=datetime(2024, 1, 1)), *TURNS[:4])
    system = oracle([Dialogue("long", turns, (Probe("all", "x", ("t5", "t3"), "c"),))])()
    system.ingest(turns)
    assert recall(system.read("all", 740), [TURNS[2]]) == 1.0


def test_hybrid_adds_what_bm25_says_at_six_tenths() -> None:
    held = Held(TURNS)
    cosine, bm25, hybrid = (
        BASELINES[name]()._score(held, "cat") for name in ("cosine", "bm25", "hybrid")
    )
    z_cosine, z_bm25 = ((scores - scores.mean()) / scores.std() for scores in (cosine, bm25))
    assert hybrid == pytest.approx(z_cosine + 0.6 * z_bm25, abs=1e-4)


@pytest.mark.parametrize(("name", "mode"), [("demem", "evidence"), ("demem-core", "strict")])
def test_the_memory_reads_as_it_does_for_its_users(name: str, mode: Mode) -> None:
    memory, at = SlotMemory(), datetime(2024, 5, 20)
    memory.ingest_many(TURNS)
    query = "What did Ben tell last month?"
    assert made(name).read(query, 130, at) == memory.read(query, limit=130, mode=mode, at=at).text


def test_the_memory_is_told_when_a_question_is_asked() -> None:
    query = "What happened last month?"
    texts = {made("demem").read(query, 110, datetime(2024, month, 20)) for month in (4, 5, 6)}
    assert len(texts) > 1


# -- intervals -----------------------------------------------------------------------------------


def test_the_mean_is_over_questions_and_not_over_dialogues() -> None:
    found = bootstrap([1.0, 1.0, 1.0, 0.0], ["a", "a", "a", "b"])
    assert (found.mean, found.questions, found.dialogues) == (0.75, 4, 2)


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 4)), min_size=1, max_size=30))
def test_an_interval_lies_between_the_best_and_the_worst_dialogue(
    pairs: list[tuple[float, int]],
) -> None:
    found = bootstrap([value for value, _ in pairs], [name for _, name in pairs], resamples=50)
    means = [
        np.mean([v for v, name in pairs if name == one]) for one in {name for _, name in pairs}
    ]
    if len(means) == 1:
        assert (found.low, found.high) == (None, None)
    else:
        assert found.low is not None
        assert found.high is not None
        assert min(means) - 1e-6 <= found.low <= found.high <= max(means) + 1e-6


def test_the_same_seed_gives_the_same_interval() -> None:
    values, names = [(n * 37 % 40) / 40 for n in range(40)], [n // 2 for n in range(40)]
    assert bootstrap(values, names, seed=3) == bootstrap(values, names, seed=3)
    assert bootstrap(values, names, seed=3) != bootstrap(values, names, seed=4)


def test_questions_that_share_a_dialogue_do_not_narrow_the_interval() -> None:
    def width(copies: int) -> float:
        values = [value for value in (0.2, 0.4, 0.5, 0.6, 0.8, 0.9) for _ in range(copies)]
        found = bootstrap(values, [n // copies for n in range(6 * copies)])
        assert found.low is not None
        assert found.high is not None
        return found.high - found.low

    assert width(50) == pytest.approx(width(1))


def test_an_interval_from_five_dialogues_holds_the_truth_about_as_often_as_it_is_documented() -> (
    None
):
    rng = np.random.default_rng(7)
    held = 0
    for _ in range(400):
        sizes, rates = rng.integers(10, 120, 5), rng.beta(8, 4, 5)
        values = [
            float(rng.random() < rate)
            for size, rate in zip(sizes, rates, strict=True)
            for _ in range(size)
        ]
        found = bootstrap(values, np.repeat(np.arange(5), sizes).tolist())
        held += (
            found.low is not None and found.high is not None and found.low <= 8 / 12 <= found.high
        )
    assert 0.89 <= held / 400 <= 0.96  # plain percentiles: 0.85


def test_intervals_refuse_what_they_cannot_draw_from() -> None:
    for values, names in (([], []), ([1.0], ["a", "b"])):
        with pytest.raises(InvalidInput, match="values"):
            bootstrap(values, names)
    with pytest.raises(InvalidInput, match="resamples"):
        bootstrap([1.0], ["a"], resamples=0)


# -- the loop ------------------------------------------------------------------------------------


def test_there_is_one_record_for_each_system_question_and_limit_in_this_order() -> None:
    found = evaluate([TALK], {"a": Echo, "b": Echo}, [50, 20])
    assert [(m.system, m.question, m.limit) for m in found] == [
        (system, question, limit) for system in "ab" for question in range(4) for limit in (50, 20)
    ]
    assert {m.dialogue for m in found} == {"talk"}


def test_a_record_measures_the_text_alone() -> None:
    found = evaluate([TALK], {"echo": lambda: Echo(f"{TURNS[0].text} Nothing else.")}, [500])
    assert [m.recall for m in found] == [1.0, 0.0, 0.5, None]
    assert [m.nine_tenths for m in found] == [1.0, 0.0, 0.5, None]
    assert [m.contained for m in found] == [1.0, 0.0, 0.0, None]
    assert [m.size for m in found] == [56] * 4
    assert all(m.seconds >= 0 for m in found)


@pytest.mark.parametrize("category", ["adversarial", "abstention"])
def test_questions_that_cannot_be_answered_are_read_for_but_not_scored(category: str) -> None:
    probe = Probe("What is the dog called?", "It is not said", ("t2",), category)
    (found,) = evaluate(
        [replace(TALK, probes=(probe,))], {"echo": lambda: Echo("It is not said")}, [500]
    )
    assert [getattr(found, name) for name in MEASURES] == [None] * len(MEASURES)
    assert (found.category, found.size) == (category, 14)


def test_a_reference_that_no_gold_turn_holds_is_not_looked_for() -> None:
    probe = Probe("How many pets are there?", "77", ("t2",))
    (found,) = evaluate([replace(TALK, probes=(probe,))], {"echo": lambda: Echo("77. Feed")}, [500])
    assert found.contained is None
    assert found.recall == 0.0


def test_a_question_without_evidence_is_scored_by_its_reference() -> None:
    probe = Probe("How much did the boiler cost?", "340 euros")
    (found,) = evaluate([replace(TALK, probes=(probe,))], {"hybrid": BASELINES["hybrid"]}, [500])
    assert found.recall is None
    assert found.contained == 1.0
    assert found.f1 is not None
    assert found.f1 > 0


def test_a_system_is_made_anew_for_each_dialogue_and_told_its_turns_once() -> None:
    systems: list[Echo] = []

    def make() -> Echo:
        systems.append(Echo())
        return systems[-1]

    evaluate([TALK, replace(TALK, name="second", turns=TURNS[::-1])], {"echo": make}, [10])
    assert [system.told for system in systems] == [list(TURNS), list(TURNS[::-1])]


def test_the_time_of_asking_is_handed_on() -> None:
    system, at = Echo(), datetime(2024, 7, 1)
    evaluate(
        [replace(TALK, probes=(Probe("When?", "now", at=at),))], {"echo": lambda: system}, [10, 20]
    )
    assert system.asked == [("When?", 10, at), ("When?", 20, at)]


def test_turns_that_share_an_id_are_all_gold() -> None:
    turns = (replace(TURNS[0], source_id="page"), replace(TURNS[2], source_id="page"))
    dialogue = Dialogue("pages", turns, (Probe("What?", "x", ("page", "page")),))
    (found,) = evaluate([dialogue], {"echo": lambda: Echo(TURNS[0].text)}, [500])
    assert found.recall == 0.5


def test_evidence_named_twice_counts_once() -> None:
    dialogue = replace(TALK, probes=(Probe("What?", "x", ("t1", "t1", "t3")),))
    (found,) = evaluate([dialogue], {"echo": lambda: Echo(TURNS[0].text)}, [500])
    assert found.recall == 0.5


def test_a_long_turn_counts_by_the_words_that_are_quoted_of_it() -> None:
    quoted = "number 7 speaks of topic 49"
    probe = Probe("What does number 7 speak of?", "topic 49", ("t1", "t5"), quotes=(quoted,))
    dialogue = replace(TALK, probes=(probe,))
    read = f"{TURNS[0].text}\nSentence {quoted} in its own way."
    (found,) = evaluate([dialogue], {"echo": lambda: Echo(read)}, [500])
    assert (found.recall, found.contained) == (1.0, 1.0)
    (found,) = evaluate([dialogue], {"echo": lambda: Echo(LONG[:100])}, [500])
    assert found.recall == 0.0


@pytest.mark.parametrize("quote", ["a grey dog", "?!"])
def test_a_quote_that_no_evidence_has_is_named(quote: str) -> None:
    probe = Probe("What?", "x", ("t1",), quotes=(quote,))
    with pytest.raises(InvalidInput, match="quotes of question 0 of talk"):
        evaluate([replace(TALK, probes=(probe,))], {"echo": Echo}, [20])


def test_the_oracle_reads_what_is_quoted_first() -> None:
    probe = Probe("What?", "topic 81", ("t5",), quotes=("number 9 speaks of topic 81",))
    dialogue = replace(TALK, probes=(probe,))
    (found,) = evaluate([dialogue], {"oracle": oracle([dialogue])}, [400])
    assert found.recall == 1.0


def test_a_gold_turn_without_a_word_is_not_looked_for() -> None:
    turns = (TURNS[0], replace(TURNS[1], text="?!"))
    dialogue = Dialogue(
        "signs", turns, (Probe("What?", "x", ("t1", "t2")), Probe("What?", "x", ("t2",)))
    )
    found = evaluate([dialogue], {"echo": lambda: Echo(TURNS[0].text)}, [500])
    assert [m.recall for m in found] == [1.0, None]


def test_progress_ends_at_the_number_of_readings() -> None:
    ticks: list[tuple[int, int]] = []
    found = evaluate(
        [TALK],
        {"a": Echo, "b": Echo},
        [10, 20, 30],
        tick=lambda done, total: ticks.append((done, total)),
    )
    assert ticks == [(3 * n, 24) for n in range(1, 9)]
    assert len(found) == 24


@pytest.mark.parametrize(
    ("reply", "message"), [("x" * 21, "'wordy'.*at most 20.*21"), (None, "'wordy'.*a text")]
)
def test_a_system_that_overruns_its_limit_or_gives_no_text_is_named(
    reply: object, message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        evaluate([TALK], {"good": Echo, "wordy": lambda: Reply(reply)}, [20])


def test_evidence_that_no_turn_has_is_named() -> None:
    dialogue = replace(TALK, probes=(Probe("What?", "x", ("t1", "t99")),))
    with pytest.raises(InvalidInput, match=r"question 0 of talk.*'t99'"):
        evaluate([dialogue], {"echo": Echo}, [20])


@pytest.mark.parametrize(
    ("dialogues", "systems", "limits", "field"),
    [
        ([replace(TALK, probes=())], {"echo": Echo}, [20], "dialogues"),
        ([TALK, TALK], {"echo": Echo}, [20], "dialogues"),
        ([TALK], {}, [20], "systems"),
        ([TALK], {"echo": Echo}, [], "limits"),
        ([TALK], {"echo": Echo}, [20, 20], "limits"),
        ([TALK], {"echo": Echo}, [0], "limits"),
    ],
)
def test_what_cannot_be_evaluated_is_refused(
    dialogues: Any, systems: Any, limits: Any, field: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        evaluate(dialogues, systems, limits)
    assert caught.value.field == field


# -- the report ----------------------------------------------------------------------------------


def test_a_report_survives_json_unchanged() -> None:
    found = report(
        evaluate(
            [TALK, replace(TALK, name="b")], {"bm25": BASELINES["bm25"], "echo": Echo}, [100, 400]
        )
    )
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_a_report_counts_each_question_once() -> None:
    found = report(evaluate([TALK, replace(TALK, name="b")], {"x": Echo, "y": Echo}, [400, 100]))
    assert (found["dialogues"], found["questions"], found["scored"]) == (2, 8, 6)
    assert found["limits"] == [100, 400]
    assert found["categories"] == {"single-hop": 4, "multi-hop": 2, "abstention": 2}


def test_a_report_gives_means_overall_and_by_category() -> None:
    measured = [
        record("a", 0, "x", 1.0, seconds=0.1, size=100),
        record("a", 1, "x", 0.0, seconds=0.2, size=200),
        record("b", 0, "x", 0.5, category="multi-hop", seconds=0.3, size=300),
        record(
            "b", 1, "x", None, category="abstention", f1=None, contained=None, seconds=1.0, size=400
        ),
    ]
    cell = report(measured)["systems"]["x"]["500"]
    assert cell["recall"] == {"mean": 0.5, "low": 0.5, "high": 0.5, "questions": 3, "dialogues": 2}
    assert cell["size"] == 250.0
    assert cell["seconds"]["median"] == pytest.approx(0.25)
    assert cell["seconds"]["p95"] == pytest.approx(np.quantile([0.1, 0.2, 0.3, 1.0], 0.95))
    assert cell["categories"]["multi-hop"]["recall"]["mean"] == 0.5
    assert cell["categories"]["abstention"]["recall"] is None


def test_a_report_of_nothing_is_refused() -> None:
    with pytest.raises(InvalidInput, match="evaluate"):
        report([])


def test_a_paired_difference_is_over_the_same_questions() -> None:
    measured = [
        record(dialogue, question, system, value)
        for system, values in {"x": (1.0, 0.5, 0.5, 1.0), "y": (0.5, 0.5, 0.0, 1.0)}.items()
        for (dialogue, question), value in zip(
            (("a", 0), ("a", 1), ("b", 0), ("b", 1)), values, strict=True
        )
    ]
    assert paired(measured, "x", "y", 500) == Interval(0.25, 0.25, 0.25, 4, 2)
    assert paired(measured, "y", "x", 500).mean == -0.25


def test_a_paired_difference_is_surer_than_the_systems_are_alone() -> None:
    rng = np.random.default_rng(0)
    base = rng.random(20)
    measured = [record(str(n), 0, "x", float(value)) for n, value in enumerate(base)]
    measured += [record(str(n), 0, "y", float(value) - 0.05) for n, value in enumerate(base)]
    found = paired(measured, "x", "y", 500)
    assert found.low == found.high == pytest.approx(0.05)


def test_systems_that_were_not_asked_the_same_are_not_compared() -> None:
    measured = [record("a", 0, "x", 1.0), record("a", 1, "y", 1.0)]
    for second, limit in (("y", 500), ("z", 500), ("x", 700)):
        with pytest.raises(InvalidInput):
            paired(measured, "x", second, limit)


@given(st.text(), st.none() | st.floats(0, 1), st.floats(0, 100))
def test_records_come_back_as_they_were_saved(
    tmp_path_factory: pytest.TempPathFactory, name: str, value: float | None, seconds: float
) -> None:
    path = tmp_path_factory.getbasetemp() / "records.jsonl"
    measured = [record(name, 0, "x", value, seconds=seconds), record(name, 1, name, 1.0, f1=None)]
    save(measured, path)
    assert load(path) == measured


@pytest.mark.parametrize("line", ["no json", "{}", "[1]", '{"dialogue": "a", "what": 1}'])
def test_a_line_that_is_no_record_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "records.jsonl"
    save([record("a", 0, "x", 1.0)], path)
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(InvalidInput, match="line 2"):
        load(path)


def test_a_file_of_records_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"nothing\.jsonl"):
        load(tmp_path / "nothing.jsonl")


# -- the example ---------------------------------------------------------------------------------


def test_a_system_of_ones_own_takes_under_forty_lines() -> None:
    assert len(EXAMPLE.read_text(encoding="utf-8").splitlines()) < 40


def test_the_example_says_how_to_install_what_it_compares_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "rank_bm25", None)  # which makes importing it fail
    with pytest.raises(SystemExit, match="pip install rank_bm25"):
        runpy.run_path(str(EXAMPLE), run_name="__main__")


def test_the_example_compares_both_systems(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("rank_bm25")
    monkeypatch.setattr(sys, "argv", [str(EXAMPLE)])
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [
        "evidence",
        "rank_bm25",
        "demem",
    ]
