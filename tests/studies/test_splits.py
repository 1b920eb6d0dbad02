"""The split audits: every definition on a case counted by hand, and what `demem audit` prints,
writes and refuses.

The dialogue used throughout has three questions, two of which conflict: their gold never fits into
one summary of the small slot, and fits into two.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations, pairwise, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from often import often

from demem_agent import SlotMemory
from demem_agent.answering.scorers import Contained
from demem_agent.errors import InvalidInput
from demem_agent.evaluate.data.dialogue import Dialogue, Probe
from demem_agent.studies.asking import STAND_INS, taught, worth_auditing
from demem_agent.studies.sheets import Found, Spread, spread
from demem_agent.studies.slots.reference import reference_states
from demem_agent.studies.splits.bridge import REWARDS, Bridged, bridge, bridged
from demem_agent.studies.splits.bridge_terms import summed_bridge, terms
from demem_agent.studies.splits.cannot_link import colouring, epochs, packing
from demem_agent.studies.splits.curves import Point, chosen_threshold, curve, held_out, point
from demem_agent.studies.splits.figures import DRAWERS
from demem_agent.studies.splits.gold import JudgedSplit, claim
from demem_agent.studies.splits.loop import (
    CoRouted,
    Run,
    Within,
    replay_splits,
    support_sizes,
    within_slots,
)
from demem_agent.studies.splits.noise import Erring, Noisy, noisy_replay
from demem_agent.studies.splits.noise_sheets import summed_noise
from demem_agent.studies.splits.precision import summed_splits
from demem_agent.studies.splits.recorded import Tried, record_tests
from demem_agent.turns import Turn
from demem_agent.types import Attempt, Candidate

PNG = b"\x89PNG\r\n\x1a\n"

TOPICS = ("boiler", "violin", "garden", "bicycle", "kitchen", "ladder")
PLACES = ("Ghent", "Porto", "Turku", "Bergen", "Lyon", "Cork")
COLOURS = ("copper", "crimson", "violet", "silver", "yellow", "green")
PARTS = ("valve", "bow", "gate", "bell", "tap", "rung")
FILLER = (
    "We talked at length about nothing much and then about the weather again, as one does on such "
    "a day."
)


def turn(n: int) -> Turn:
    return Turn(
        f"The {TOPICS[n]} from {PLACES[n]} has a {COLOURS[n]} {PARTS[n]}. {FILLER}",
        speaker="Ana",
        at=f"2024-0{n + 1}-02",
        session=f"s{n}",
        source_id=f"t{n}",
    )


def probe(n: int) -> Probe:
    return Probe(f"Which colour has the {TOPICS[n]}?", COLOURS[n], (f"t{n}",), "single")


TURNS = tuple(map(turn, range(6)))
PROBES = tuple(map(probe, range(6)))
DIALOGUE = Dialogue("d1", TURNS, PROBES)
Sheets = dict[str, dict[str, Sequence[Any]]]


def sheets(found: Found) -> Sheets:
    return {sheet.title: dict(sheet.rows) for sheet in found.sheets}


def tried(
    first: int, second: int, strength: float, truth: float | None, dialogue: str = "d", **more: Any
) -> Tried:
    test = Tried(
        dialogue=dialogue,
        feedback=second,
        first=first,
        second=second,
        chosen=True,
        plain=True,
        credible=True,
        radius=strength,
        strength=strength,
        truth=truth,
        repaired=False,
    )
    return replace(test, **more)


def candidate(name: str, *cover: str) -> Candidate:
    return Candidate(
        name, None, None, cover, ("", ""), ((), ()), (0.0, 0.0), (1.0, 1.0), (0.0, 0.0)
    )


# What is asked


def test_only_dialogues_with_two_questions_that_have_evidence_are_audited() -> None:
    one = replace(DIALOGUE, probes=PROBES[:1])
    none = replace(DIALOGUE, probes=(replace(PROBES[0], evidence=()), PROBES[1]))
    adversarial = replace(DIALOGUE, probes=(replace(PROBES[0], category="adversarial"), PROBES[1]))
    assert worth_auditing([one, DIALOGUE, none, adversarial]) == [DIALOGUE]
    with pytest.raises(InvalidInput, match="two questions"):
        worth_auditing([one])


def test_questions_that_nothing_answers_or_without_reference_are_not_taught() -> None:
    probes = (
        PROBES[0],
        replace(PROBES[1], category="adversarial"),
        replace(PROBES[2], reference=" "),
        PROBES[3],
    )
    memory = SlotMemory()
    memory.ingest_many(TURNS)
    assert [asked.question for asked in taught(memory, replace(DIALOGUE, probes=probes))] == [0, 3]


# The claim of a certificate


def test_a_claim_is_the_least_that_the_worse_off_of_the_two_loses_by_any_shared_content() -> None:
    """By gold, the first context has 1/2, 1, 0 and the second 1, 0, 1: the shared content costs the
    first 1/2.
    """
    contents = [
        candidate("current", "a", "c"),
        candidate("split first", "a", "b"),
        candidate("split second", "c"),
    ]
    assert claim(contents, frozenset("ab"), frozenset("c")) == (0.5, True)
    assert claim(contents[:1] + contents[1:], frozenset("a"), frozenset("c")) == (0.0, False)


# Recorded tests


def test_recording_splits_nothing_and_judges_every_tested_pair() -> None:
    """The summary holds five of six turns, and each side of a split holds all of its own: whoever
    lacks, it repairs.
    """
    recorded = record_tests(DIALOGUE, slots=3, initial_slots=1, slot_limit=330)
    assert recorded.feedbacks == len(PROBES)
    assert recorded.memory.certificates() == ()
    assert len(recorded.tests) == len({(test.first, test.second) for test in recorded.tests}) > 5
    assert all(test.second > test.first and test.strength <= test.radius for test in recorded.tests)
    assert all(test.chosen or test.plain for test in recorded.tests)
    assert all(test.credible for test in recorded.tests if test.chosen)
    assert {(test.truth, test.repaired) for test in recorded.tests} == {(1.0, True)}


def test_a_threshold_is_judged_on_the_tests_it_certifies_and_on_the_conflicts_there_are() -> None:
    tests = [
        tried(0, 1, 0.5, 1.0),
        tried(0, 2, 0.5, 0.0),
        tried(1, 2, 0.1, 0.4),
        tried(0, 3, 0.9, None),
    ]
    assert point(tests, 0.1) == Point(0.1, certified=2, right=1, repaired=0, conflicts=2)
    assert (point(tests, 0.1).precision, point(tests, 0.1).recall) == (0.5, 0.5)
    more = [*tests, tried(2, 3, 0.0, 1.0), tried(1, 3, 0.0, 1.0)]
    assert point(tests, 0.1, more).recall == 0.25


@given(st.lists(st.tuples(st.floats(0, 1), st.sampled_from([0.0, 0.5])), min_size=1, max_size=20))
def test_a_higher_threshold_certifies_no_more(values: list[tuple[float, float]]) -> None:
    found = curve([tried(0, n + 1, strength, truth) for n, (strength, truth) in enumerate(values)])
    for lower, higher in pairwise(found):
        assert lower.certified >= higher.certified
        assert lower.recall >= higher.recall


def test_a_held_out_dialogue_is_judged_at_the_threshold_that_the_others_chose() -> None:
    """In "a" all above .3 are right and half of the rest; in "b" the tests above .3 are wrong."""
    a = [tried(0, n + 1, 0.4, 1.0, "a") for n in range(30)]
    a += [tried(1, n + 2, 0.2, n % 2, "a") for n in range(30)]
    b = [tried(0, n + 1, 0.4, 0.0, "b") for n in range(25)]
    assert 0.2 <= chosen_threshold(a) < 0.4
    assert held_out(a + b)["b"] == Point(
        chosen_threshold(a), certified=25, right=0, repaired=0, conflicts=0
    )
    assert held_out(a) == {}


# The replay


def test_a_replay_accounts_for_every_pair_that_met() -> None:
    memory = SlotMemory(slots=3, initial_slots=1, slot_limit=330)
    run, pairs = replay_splits(memory, DIALOGUE)
    assert (run.feedbacks, run.before, run.failed) == (6, 1, 0)
    assert run.slots == 1 + run.splits == len(memory.slots) <= run.most <= 3
    assert len(run.sizes) == len(run.judged)
    met = {(pair.first, pair.second) for pair in pairs}
    assert met <= set(combinations(range(6), 2))
    assert len(met) == len(pairs)
    assert sum(pair.named for pair in pairs) == run.splits + run.suppressed > 0
    sizes = support_sizes(memory)
    size_of = {evidence.source_id: sizes[evidence.id] for evidence in memory.evidence()}
    for pair in pairs:
        assert pair.size == size_of[f"t{pair.first}"] + size_of[f"t{pair.second}"]


def test_a_pair_in_one_slot_conflicts_when_the_summary_lacks_gold_of_either() -> None:
    """One slot whose summary holds five of six turns fails the five pairs with the sixth, of
    fifteen.
    """
    memory = SlotMemory(slots=1, slot_limit=330)
    memory.ingest_many(TURNS)
    held = len(memory.slots[0].cover)
    found = within_slots(memory, DIALOGUE, "before feedback")
    assert (held, found.pairs, found.lacking) == (5, 15, 5)
    assert found.slot == (5 / 6,) * 6


def met(
    first: int,
    second: int,
    size: int,
    *,
    lacking: bool = False,
    named: bool = False,
    apart: bool = False,
) -> CoRouted:
    return CoRouted("d", first, second, size, lacking=lacking, named=named, apart=apart)


def test_precision_and_recall_by_length_and_by_claim_are_as_counted() -> None:
    judged = (JudgedSplit("c1", 0.5, True), JudgedSplit("c2", 0.0, False))
    run = Run(
        dialogue="d",
        feedbacks=10,
        splits=1,
        suppressed=1,
        before=2,
        slots=3,
        most=3,
        failed=0,
        judged=judged,
        sizes=(2500, 300),
    )
    pairs = [
        met(0, 1, 2500, lacking=True, named=True),
        met(0, 2, 2400, lacking=True, apart=True),
        met(1, 2, 2300, lacking=True),
        met(2, 3, 300),
    ]
    tests = [tried(0, 1, 0.5, 1.0), tried(0, 2, 0.5, 0.0), tried(1, 2, 0.05, 1.0)]
    within = [Within("d", "after", 4, 1, (0.5, 0.0), (1.0, 0.0))]
    found = sheets(summed_splits([run], pairs, tests, within))

    def means(row: Sequence[Any]) -> list[Any]:
        return [getattr(cell, "mean", cell) for cell in row]

    by_length = found["By the paper's definition: the gold of both is longer than L"]
    assert means(by_length["L = 2,000, as it is"]) == [0.75, 0.5, 0.333333, 0.666667]
    assert means(by_length["L = 200, what if"]) == [1.0, 1.0, 0.25, 0.5]
    by_claim = found["Split precision and recall, by the certificate's claim"]
    assert means(by_claim["as it ships: over 0.1"]) == [3, 2, 2, 0.5, 0.5, 0.0]
    assert means(by_claim["certificates of the replay"]) == [None, None, 2, 0.5, None, 0.5]
    assert means(by_claim["co-routed, gold lost: parted"]) == [4, 3, 2, None, 0.666667, None]
    assert means(found["Conflict inside slots, all dialogues"]["after"]) == [4, 0.25, 0.25, 0.5]
    assert means(found["How often slots are split"]["splits per routing event"]) == [0.1, 0.046]


# The bridge


def test_groups_go_where_their_gold_is_and_those_that_do_not_fit_elsewhere() -> None:
    """Groups {a, b} (two questions, 2 characters each), {c} (5) and {d} (9), all at home in slot 1
    of three.
    """
    gold = [frozenset("a"), frozenset("ab"), frozenset("c"), frozenset(), frozenset("d")]
    sizes, homes = {"a": 2, "b": 2, "c": 5, "d": 9}, dict.fromkeys("abcd", 1)
    assert reference_states(gold, sizes, homes, 3, 10) == [1, 1, 1, -1, 0]
    assert reference_states(gold, sizes, homes, 3, 8) == [1, 1, 0, -1, 1]


def test_the_terms_of_the_bridge_are_as_counted_and_the_exact_account_adds_up() -> None:
    first = Bridged(
        dialogue="d",
        question=0,
        moment="after",
        reward="gold share",
        state=0,
        agree=True,
        best=1.0,
        reference=0.8,
        routed=0.8,
        got=0.6,
        reading=1.0,
        load=0.5,
    )
    second = replace(first, question=1, agree=False, reference=1.0, routed=0.5, got=0.25)
    third = replace(first, question=2, state=1, reference=0.5, routed=0.5, got=0.5)
    fourth = replace(first, question=3, state=1, reference=0.7, routed=0.7, got=0.7)
    found = terms([first, second, third, fourth])
    assert found["compression floor"] == 0.4  # the mean of .5 and .3, in state 1
    assert found["routing error"] == 0.125  # .5 in one of four
    assert found["state-realisation error"] == round(0.2 / 3, 6)
    assert found["observed distortion"] == round((0.4 + 0.75 + 0.5 + 0.3) / 4, 6)
    assert found["slack"] == pytest.approx(
        found["predicted"] - found["observed distortion"], abs=2e-6
    )
    exact = ("exact: mean floor", "routing error", "exact: realisation, all questions")
    assert sum(found[name] for name in exact) == pytest.approx(
        found["observed distortion"], abs=5e-6
    )
    assert found["router agrees with the reference"] == 0.75


def test_no_content_is_worth_more_than_the_best_and_the_account_of_a_dialogue_adds_up() -> None:
    memory = SlotMemory(slots=2, slot_limit=200)
    memory.ingest_many(TURNS)
    records = [*bridge(DIALOGUE), *bridged(memory, DIALOGUE, "tight")]
    moments = ("before feedback", "after", "tight")
    assert {(one.moment, one.reward) for one in records} == set(product(moments, REWARDS))
    assert all(one.best >= max(one.reference, one.routed, one.got) for one in records)
    for title, rows in sheets(summed_bridge(records)).items():
        if title.startswith("Bridge"):
            means = {name: row[1].mean for name, row in rows.items()}
            exact = ("exact: mean floor", "routing error", "exact: realisation, all questions")
            assert sum(means[name] for name in exact) == pytest.approx(
                means["observed distortion"], abs=5e-6
            )


# Noise


def test_an_erring_scorer_errs_as_often_as_said_and_alike_on_the_same_attempt() -> None:
    attempts = [Attempt(f"q{n}", "a", "x violet\n", "violet") for n in range(2000)]
    erring = Erring(Contained(), 0.2, seed=1)
    scores = [erring.score(attempt) for attempt in attempts]
    assert set(scores) == {0.0, 1.0}
    assert 0.16 < scores.count(0.0) / 2000 < 0.24
    assert scores == [erring.score(attempt) for attempt in attempts]
    assert [Erring(Contained(), 0.0, 1).score(attempt) for attempt in attempts] == [1.0] * 2000


def test_what_is_found_in_the_end_knows_no_noise() -> None:
    """With every reward the wrong way round, readings of two sentences each hold their gold all the
    same.
    """
    assert noisy_replay(DIALOGUE, "thumbs", 1.0, 0).contained == 1
    assert noisy_replay(DIALOGUE, "thumbs", 0.0, 0).contained == 1
    assert noisy_replay(DIALOGUE, "reward", 1.0, 0).reading == 1
    assert noisy_replay(DIALOGUE, "scorers", 1.0, 0).reading == 1


def test_precision_under_noise_is_over_the_certificates_of_all_draws() -> None:
    first = Noisy(
        dialogue="d",
        channel="scorers",
        p=0.1,
        seed=0,
        feedbacks=10,
        splits=1,
        slots=5,
        judged=3,
        right=3,
        reading=0.9,
        summary=0.5,
        contained=0.8,
    )
    runs = [first, replace(first, seed=1, judged=1, right=0)]
    found = sheets(summed_noise(runs))
    count, precision, frequency, *_ = found["Corrupted rewards: scorers"]["p = 0.1"]
    assert (count, precision.mean, frequency.mean) == (4, 0.75, 0.1)
    assert found["From the paper, not this run"]["p = 0.2"] == (0.776, 0.054, 0.889)


# The graph


def test_a_triangle_with_a_tail_has_degeneracy_two_three_colours_and_a_packing_of_three() -> None:
    edges = [(4, 7), (7, 9), (4, 9), (9, 11)]
    assert (colouring(edges), packing(edges)) == ((2, 3), 3)
    assert (colouring([]), packing([])) == ((0, 1), 1)


@settings(max_examples=often(40), deadline=None)
@given(st.sets(st.sampled_from(list(combinations(range(7), 2))), max_size=21))
def test_a_packing_number_is_the_largest_clique(edges: set[tuple[int, int]]) -> None:
    largest = 1
    for size in range(2, 8):
        if any(set(combinations(some, 2)) <= edges for some in combinations(range(7), size)):
            largest = size
    assert packing(sorted(edges)) == largest


def test_epochs_double_and_an_edge_exceeds_the_level() -> None:
    tests = [
        tried(0, 1, 0.15, 1.0, feedback=2),
        tried(1, 2, 0.3, 1.0, feedback=3),
        tried(0, 2, 0.25, 1.0, feedback=3),
    ]
    found = epochs("d", 5, tests, 0.1)
    assert [(one.feedbacks, one.edges, one.colours, one.packing) for one in found] == [
        (1, 0, 1, 1),
        (2, 1, 2, 1),  # .15 exceeds .1 and not .2
        (4, 3, 3, 2),
        (5, 3, 3, 2),
    ]
    assert [one.last for one in found] == [False, False, False, True]


def test_a_spread_is_that_of_a_population() -> None:
    assert spread([Spread(1.0, 0.0), Spread(3.0, 0.0)], "mean") == Spread(2.0, 1.0)


# The command


def main_of(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    from demem_agent.cli import main

    code = main(arguments)
    shown = capsys.readouterr()
    return code, shown.out, shown.err


@pytest.fixture(scope="module")
def locomo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two dialogues in LoCoMo's own format, all the same but for their names."""
    sessions: dict[str, Any] = {"speaker_a": "Ana", "speaker_b": "Bo"}
    for n, turn in enumerate(TURNS, 1):
        sessions[f"session_{n}_date_time"] = f"1:00 pm on {n} May, 2024"
        sessions[f"session_{n}"] = [{"speaker": "Ana", "dia_id": f"D{n}:1", "text": turn.text}]
    qa = [
        {"question": p.question, "answer": p.reference, "evidence": [f"D{n}:1"], "category": 4}
        for n, p in enumerate(PROBES, 1)
    ]
    path = tmp_path_factory.mktemp("audit") / "locomo.json"
    samples = [{"sample_id": name, "conversation": sessions, "qa": qa} for name in ("one", "two")]
    path.write_text(json.dumps(samples), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("kind", "title"),
    [
        ("splits", "Split precision and recall"),
        ("bridge", "Bridge, reward: gold share"),
        ("noise", "Corrupted rewards: thumbs"),
        ("graph", "Cannot-link graph, all epochs"),
        ("mismatch", "Why cosine fails where this memory does not"),
        ("drop-in", "Recall within 2,000 characters"),
        pytest.param("capacity", "At the same number of slots", marks=pytest.mark.slow),
        ("sweep", "Recall and its stability"),
        ("routing", "Routed by, before feedback"),
    ],
)
def test_an_audit_prints_its_tables_and_what_stands_in_and_writes_all_of_it(
    kind: str, title: str, locomo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("typer")
    pytest.importorskip("matplotlib")
    code, out, err = main_of(
        ["audit", kind, "locomo", "--data", str(locomo), "--out", str(tmp_path)], capsys
    )
    assert (code, err) == (0, "")
    assert title in out
    assert "stand in for" in " ".join(out.split())
    figure = tmp_path / f"{kind}.png"
    assert figure.exists() == (kind in DRAWERS)
    assert not figure.exists() or figure.read_bytes().startswith(PNG)
    assert title in (tmp_path / "table.txt").read_text(encoding="utf-8")
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert (report["audit"], report["dialogues"], report["stand_ins"]) == (kind, 2, STAND_INS)
    lines = (tmp_path / "results.jsonl").read_text(encoding="utf-8").splitlines()
    assert lines
    assert all("kind" in json.loads(line) for line in lines)


def test_json_is_the_report_and_the_same_each_time(
    locomo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("typer")
    run: Callable[[], tuple[int, str, str]] = lambda: main_of(  # noqa: E731 - two calls that must not differ
        ["audit", "graph", "locomo", "--data", str(locomo), "--json"], capsys
    )
    first, second = run(), run()
    assert first == second
    assert json.loads(first[1])["sheets"][0]["columns"][-1] == "paper"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["everything", "locomo"], "one of splits, bridge, noise, graph"),
        (["splits", "memoryarena"], "one of locomo, longmemeval, beam"),
        (["splits", "locomo"], "where is LoCoMo?"),
    ],
)
def test_what_cannot_be_audited_is_refused_in_words(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("typer")
    code, out, err = main_of(["audit", *arguments], capsys)
    assert code == 1
    assert out == ""
    assert said in " ".join(err.split())


# The guide


def test_every_block_of_the_guide_that_is_made_is_there() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "splits.md").read_text(encoding="utf-8")
    for name in ("beside", *DRAWERS):
        assert re.search(rf"<!-- {name} -->\n(```|\|).+?\n<!-- end -->", guide, re.DOTALL), name
