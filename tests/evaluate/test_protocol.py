"""The paper's protocol by a model and judges: figures, resuming, limits, and what fails.

The real client is at work.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent.errors import InvalidInput
from demem_agent.evaluate import BASELINES, Dialogue, Probe
from demem_agent.evaluate.protocol.forecast import estimate
from demem_agent.evaluate.protocol.posing import posed
from demem_agent.evaluate.protocol.reporting import marks_report
from demem_agent.evaluate.protocol.run import Mark, Marked, Panel, mark
from demem_agent.llms import Ledger, OpenAIChat, Retry
from demem_agent.testing import Provider
from demem_agent.testing.obedient import obedient
from demem_agent.turns import Turn

pytest.importorskip("rich")
pytest.importorskip("typer")

from demem_agent.cli import main

KEY = "sk-a-key-that-nobody-may-see"
ROOMS = ("kitchen", "cellar", "attic", "garden", "office", "garage")
SYSTEMS = {"demem": BASELINES["demem"]}


def locomo(path: Path) -> Path:
    """A file of two dialogues in LoCoMo's format, with six questions each, one of them not to be
    scored.
    """
    entries = []
    for sample, painter in (("conv-1", "Tamm"), ("conv-2", "Saar")):
        names = [f"{painter} number {n * n + 1}" for n in range(len(ROOMS))]
        said = [
            {"speaker": "Ana", "dia_id": f"D1:{n}", "text": f"The {room} was painted by {name}."}
            for n, (room, name) in enumerate(zip(ROOMS, names, strict=True))
        ]
        session = {"session_1": said, "session_1_date_time": "1:56 pm on 8 May, 2023"}
        questions = [
            {
                "question": f"Who painted the {room}?",
                "answer": name,
                "evidence": [f"D1:{n}"],
                "category": n % 4 + 1,
            }
            for n, (room, name) in enumerate(zip(ROOMS[:5], names[:5], strict=True))
        ]
        unscored = {
            "question": "Who painted the moon?",
            "adversarial_answer": painter,
            "evidence": [],
            "category": 5,
        }
        entries.append({"sample_id": sample, "conversation": session, "qa": [*questions, unscored]})
    path.write_text(json.dumps(entries), encoding="utf-8")
    return path


@dataclass(frozen=True, slots=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def report(self) -> dict[str, Any]:
        report: dict[str, Any] = json.loads(self.out)
        return report

    @property
    def figures(self) -> Any:
        return self.report["systems"]


Bench = Callable[..., Done]


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with Provider(obedient, retry_after=0.01) as serving:
        yield serving


@pytest.fixture
def bench(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    provider: Provider,
) -> Bench:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)
    data = locomo(tmp_path / "locomo.json")

    def run(*options: object, model: str = "good", yes: bool = True, name: str = "locomo") -> Done:
        capsys.readouterr()
        place = (
            "--data",
            data,
            "--model",
            model,
            "--base-url",
            provider.url,
            "--timeout",
            5,
            "--runs",
            2,
        )
        code = main(
            [
                "bench",
                name,
                *map(str, (*place, *options)),
                "--any-judge",
                *(["--yes"] if yes else []),
            ]
        )
        captured = capsys.readouterr()
        assert KEY not in captured.out + captured.err
        return Done(code, captured.out, captured.err)

    return run


def dialogue(questions: int = 3) -> Dialogue:
    turns = tuple(Turn(f"The {room} is painted red.", "Ana", source_id=room) for room in ROOMS)
    return Dialogue(
        "mine",
        turns,
        tuple(Probe(f"Is the {room} painted?", "red", (room,)) for room in ROOMS[:questions]),
    )


def panel_of(
    provider: Provider, runs: int = 2, parallel: int = 8, judges: Sequence[str] = ("j1", "j2")
) -> Panel:
    made = {
        name: OpenAIChat(name, base_url=provider.url, retry=Retry(attempts=1))
        for name in ("good", *judges)
    }
    return Panel(made["good"], tuple(made[name] for name in judges), runs, parallel)


def verb(seen: Any) -> str:
    return str(seen.body["messages"][0]["content"].split()[1])


# -- what is asked -------------------------------------------------------------------------------


def test_every_question_is_answered_and_marked_twice_by_each_judge_in_each_run(
    provider: Provider,
) -> None:
    since = len(provider.requests)
    questions = posed([dialogue()], SYSTEMS, 2000)
    marked = asyncio.run(mark(questions, panel_of(provider, runs=2)))
    asked = [(verb(seen), seen.model, seen.body["seed"]) for seen in provider.requests[since:]]
    assert {one: asked.count(one) for one in set(asked)} == {
        (what, model, seed): 3
        for what, model in (
            ("answer", "good"),
            *((kind, j) for kind in ("mark", "grade") for j in ("j1", "j2")),
        )
        for seed in (0, 1)
    }
    assert [(m.run, m.question) for m in marked.marks] == [
        (run, n) for run in (0, 1) for n in range(3)
    ]


def test_what_is_asked_at_once_changes_nothing(provider: Provider) -> None:
    questions = posed([dialogue(6)], SYSTEMS, 2000)
    alone, together = (
        asyncio.run(mark(questions, panel_of(provider, parallel=n))) for n in (1, 16)
    )
    assert alone == together


def test_questions_without_an_answer_are_not_asked() -> None:
    odd = (Probe("Why?", "", category="temporal"), Probe("Who?", "Ana", category="adversarial"))
    asked = posed([replace(dialogue(2), probes=(*dialogue(2).probes, *odd))], SYSTEMS, 2000)
    assert [one.question for one in asked] == [0, 1]


def test_readings_are_those_of_each_system_within_the_limit() -> None:
    asked = posed([dialogue(2)], {name: BASELINES[name] for name in ("demem", "recency")}, 120)
    assert [one.system for one in asked] == ["demem"] * 2 + ["recency"] * 2
    assert all(0 < len(one.asked.reading.text) <= 120 for one in asked)


def test_a_system_that_reads_too_much_is_named() -> None:
    class Greedy:
        def ingest(self, turns: Sequence[Turn]) -> None:
            """Remember nothing."""

        def read(self, query: str, limit: int, at: object = None) -> str:
            return "x" * (limit + 1)

    with pytest.raises(InvalidInput, match="greedy"):
        posed([dialogue()], {"greedy": Greedy}, 100)


@pytest.mark.parametrize(
    "wrong", [{"runs": 0}, {"parallel": 0}, {"judges": ()}, {"judges": ("j1", "j1")}]
)
def test_a_panel_that_makes_no_sense_is_refused(provider: Provider, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        panel_of(provider, **wrong)


# -- the figures ---------------------------------------------------------------------------------

THREE = posed([dialogue(3)], SYSTEMS, 500)
scores = st.sampled_from([0.0, 1.0])
grades = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])


@given(
    st.lists(
        st.lists(st.tuples(scores, scores, grades, grades), min_size=3, max_size=3),
        min_size=1,
        max_size=4,
    )
)
def test_a_figure_is_the_mean_of_the_runs_with_one_sample_standard_deviation(
    runs: list[list[Any]],
) -> None:
    questions = [replace(one, category="ab"[n % 2]) for n, one in enumerate(THREE)]
    marks = tuple(
        Mark(run, "demem", "mine", n, "ab"[n % 2], binary=marks[:2], graded=marks[2:])
        for run, found in enumerate(runs)
        for n, marks in enumerate(found)
    )
    nobody = OpenAIChat("good", base_url="http://127.0.0.1:9/v1")
    report = marks_report(Marked(marks), Panel(nobody, (nobody,), len(runs)), questions)
    means = [fmean(fmean(marks[:2]) for marks in found) for found in runs]
    overall = report["systems"]["demem"]["overall"]["score"]
    assert overall["mean"] == pytest.approx(fmean(means), abs=1e-5)
    assert overall["runs"] == len(runs)
    if len(runs) == 1:
        assert overall["deviation"] is None
    else:
        assert overall["deviation"] == pytest.approx(stdev(means), abs=1e-5)
    of_b = report["systems"]["demem"]["categories"]["b"]["graded"]["mean"]
    assert of_b == pytest.approx(fmean(fmean(found[1][2:]) for found in runs), abs=1e-5)


def test_an_answer_takes_what_it_does_on_average_over_dialogues() -> None:
    nobody = OpenAIChat("good", base_url="http://127.0.0.1:9/v1")
    sizes = {"one": [100, 200, 300], "two": [1_000]}
    marks = tuple(
        Mark(0, "demem", name, n, "", binary=(1.0,), graded=(1.0,), size=size, seconds=size / 100)
        for name, own in sizes.items()
        for n, size in enumerate(own)
    )
    report = marks_report(Marked(marks), Panel(nobody, (nobody,), 1), THREE)
    assert report["takes"] == {"demem": {"characters": 600.0, "seconds": 6.0}}
    assert report["judges_agree"] == report["systems_differ"] == []


def test_an_answer_is_timed_from_the_question_to_the_answer_without_the_judges() -> None:
    def slow_judge(messages: Any) -> str:
        if not messages[0]["content"].startswith("You answer"):
            time.sleep(0.05)
        return obedient(messages)

    with Provider(slow_judge) as provider:
        began = time.perf_counter()
        marked = asyncio.run(mark(posed([dialogue()], SYSTEMS, 500)[:1], panel_of(provider, 1)))
        took = time.perf_counter() - began
    (one,) = marked.marks
    assert 0 < one.seconds <= took - 4 * 0.05  # two judges mark in two ways each
    assert 0 < one.size <= 500


def test_judges_and_systems_are_compared_on_the_same_answers() -> None:
    nobody = [OpenAIChat(name, base_url="http://127.0.0.1:9/v1") for name in ("one", "two")]
    # By question, the marks of both judges: they differ on one answer of eight.
    marks_of = {"demem": [(1, 1), (1, 1), (1, 0), (0, 0)], "full": [(1, 1), (0, 0), (0, 0), (0, 0)]}
    marks = tuple(
        Mark(0, name, "mine", n, "", binary=tuple(map(float, both)), graded=(0.0, 0.0))
        for name, own in marks_of.items()
        for n, both in enumerate(own)
    )
    report = marks_report(Marked(marks), Panel(nobody[0], tuple(nobody), 1), THREE)
    (judges,) = report["judges_agree"]
    assert (judges["answers"], judges["agreed"]) == (8, 0.875)
    # Four right of eight to the one judge, three to the other: half would agree by chance.
    assert judges["kappa"] == pytest.approx(0.75)
    assert report["systems_differ"] == [
        {"first": "demem", "second": "full", "questions": 4}
        | {"first_only": 1, "second_only": 0, "p": 1.0}
    ]


def test_a_run_that_was_cut_short_counts_only_where_there_is_no_whole_one(
    provider: Provider,
) -> None:
    questions, panel = posed([dialogue(2)], SYSTEMS, 500), panel_of(provider)
    right = [
        Mark(0, "demem", "mine", n, "", binary=(1.0, 1.0), graded=(1.0, 1.0)) for n in range(2)
    ]
    wrong = Mark(1, "demem", "mine", 0, "", binary=(0.0, 0.0), graded=(0.0, 0.0))
    report = marks_report(Marked((*right, wrong), "limit"), panel, questions)
    assert (report["whole_runs"], report["systems"]["demem"]["overall"]["score"]["mean"]) == (
        1,
        1.0,
    )
    report = marks_report(Marked((wrong,), "limit"), panel, questions)
    assert (report["whole_runs"], report["systems"]["demem"]["overall"]["score"]["mean"]) == (
        0,
        0.0,
    )


def test_questions_on_which_a_model_failed_are_counted_and_in_no_figure(provider: Provider) -> None:
    questions = posed([dialogue(2)], SYSTEMS, 500)
    right = Mark(0, "demem", "mine", 0, "", binary=(1.0, 1.0), graded=(1.0, 1.0))
    report = marks_report(
        Marked((right, replace(right, question=1, failed="timeout"))),
        panel_of(provider, 1),
        questions,
    )
    assert report["failed"] == {"timeout": 1}
    assert report["systems"]["demem"]["overall"] | {"graded": None} == {
        "score": {"mean": 1.0, "deviation": None, "runs": 1},
        "graded": None,
        "questions": 1,
    }


def test_an_answer_that_cannot_be_used_is_marked_as_no_answer() -> None:
    def useless(messages: Any) -> str:
        return "hello" if messages[0]["content"].startswith("You answer") else obedient(messages)

    with Provider(useless) as provider:
        marked = asyncio.run(mark(posed([dialogue()], SYSTEMS, 500), panel_of(provider, 1)))
    assert [(m.answer, m.useless, m.failed, m.binary) for m in marked.marks] == [
        ("", True, "", (0.0, 0.0))
    ] * 3


# -- what it takes -------------------------------------------------------------------------------


def test_the_estimate_comes_before_the_first_request_and_is_about_right(
    bench: Bench, provider: Provider
) -> None:
    since = len(provider.requests)
    refused = bench("--price", "1,2", yes=False)
    assert refused.code == 1
    assert "20 answers to be marked." in refused.err
    assert "--yes" in refused.err.splitlines()[-1]
    assert len(provider.requests) == since + 1  # to see how long a call takes on this machine
    assert "s a call, as one took" in refused.err
    report = bench("--price", "1,2", "--json").report
    expected = report["estimate"]
    assert expected["calls"] == len(provider.requests) - since - 2
    assert expected["cost"] == pytest.approx(
        (expected["prompt_tokens"] + 2 * expected["completion_tokens"]) / 1e6
    )
    # The provider counts words, the estimate tokens: between one and two for each.
    assert 1 < expected["prompt_tokens"] / report["used"]["prompt_tokens"] < 2.5


def test_the_estimate_leaves_out_what_is_known(provider: Provider) -> None:
    questions, panel, ledger = posed([dialogue()], SYSTEMS, 500), panel_of(provider), Ledger("test")
    whole = estimate(questions, panel, ledger)
    marked = asyncio.run(mark(questions, panel)).marks
    half = estimate(questions, panel, ledger, marked[:3])
    assert (2 * half.calls, 2 * half.prompt_tokens) == (whole.calls, whole.prompt_tokens)
    assert estimate(questions, panel, ledger, marked).calls == 0
    assert (
        estimate(questions, panel, ledger, [replace(m, failed="timeout") for m in marked]) == whole
    )


# -- the command ---------------------------------------------------------------------------------


def test_the_table_has_the_categories_and_the_paper_s_figures_apart(bench: Bench) -> None:
    done = bench("--judge", "j1", "--judge", "j2")
    assert done.code == 0
    ours, paper = done.out.split("From the paper, not this run")
    for name in ("temporal", "open-domain", "multi-hop", "single-hop", "overall"):
        assert name in ours
        assert name in paper
    assert "1.00 ± .000" in ours
    assert ".919 ± .031" in paper
    assert ".919" not in ours
    assert max(map(len, done.out.splitlines())) <= 100


def test_a_run_that_was_kept_gives_the_same_again_without_a_request(
    bench: Bench, provider: Provider
) -> None:
    first = bench("--judge", "j1", "--judge", "j2", "--out", "kept", "--json")
    since = len(provider.requests)
    again = bench("--judge", "j1", "--judge", "j2", "--out", "kept", "--json", yes=False)
    assert (again.code, len(provider.requests)) == (0, since)
    assert again.figures == first.figures
    kept = Path("kept/results.jsonl").read_text(encoding="utf-8")
    assert KEY not in kept
    assert provider.url not in kept


def test_a_limit_ends_it_with_what_it_has_and_more_of_it_goes_on(
    bench: Bench, provider: Provider
) -> None:
    whole = bench("--json").report
    limit = whole["used"]["prompt_tokens"] + whole["used"]["completion_tokens"]
    since = len(provider.requests)
    short = bench("--out", "kept", "--limit-tokens", int(limit * 0.6), "--parallel", 1, "--json")
    assert short.code == 0
    assert "budget of the run" in short.report["stopped"]
    assert 0 < short.report["marked"] < whole["marked"]
    used = short.report["used"]
    assert used["prompt_tokens"] + used["completion_tokens"] <= limit * 0.6
    rest = bench("--out", "kept", "--json")
    assert rest.figures == whole["systems"]
    assert len(provider.requests) - since == whole["used"]["requests"] + 1  # tried twice


def test_a_limit_shows_in_the_table_that_it_ended_there(bench: Bench) -> None:
    done = bench("--limit-tokens", 6000, "--parallel", 1)
    assert done.code == 0
    assert "Stopped early" in done.out
    assert "No run is whole" in done.out


def test_what_failed_is_asked_again_and_nothing_else(bench: Bench) -> None:
    with Provider(obedient, faults={"judge": "length:3"}) as other:
        place = (
            "--base-url",
            other.url,
            "--judge",
            "judge",
            "--out",
            "kept",
            "--parallel",
            1,
            "--json",
        )
        first = bench(*place)
        assert first.report["failed"] == {"cut off": 3}
        asked = len(other.requests)
        again = bench(*place)
        assert (again.report["failed"], again.report["marked"]) == ({}, 20)
        assert len(other.requests) - asked == 1 + 3 * 2


def test_a_refused_key_ends_it_at_once(bench: Bench, provider: Provider) -> None:
    since = len(provider.requests)
    done = bench("--parallel", 2, model="fault-401")
    assert (done.code, done.out) == (2, "")
    assert "unauthorised (HTTP 401" in done.err.splitlines()[-1]
    assert len(provider.requests) - since <= 2


def test_everything_is_written_where_it_is_wanted(bench: Bench) -> None:
    done = bench("--out", "found", "--json")
    rows = [
        json.loads(line)
        for line in Path("found/results.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    answers = [row for row in rows if row["line"] == "answer"]
    assert len(answers) == done.report["marked"] == 20
    assert rows[-1]["digest"] == done.report["digest"]
    assert rows[-1]["figures"]["systems"] == done.figures
    assert (
        json.loads(Path("found/report.json").read_text(encoding="utf-8"))["systems"] == done.figures
    )
    assert "binary" in Path("found/table.txt").read_text(encoding="utf-8")


def test_another_system_goes_through_the_same(bench: Bench) -> None:
    assert set(bench("--system", "full", "--system", "bm25", "--limit", 300, "--json").figures) == {
        "full",
        "bm25",
    }


@pytest.mark.parametrize(
    "options",
    [
        ["--ablations"],
        ["--slots"],
        ["--limit", "100", "--limit", "200"],
        ["--limit-cost", "1"],
        ["--judge", "j1", "--judge", "j1"],
        ["--system", "none"],
    ],
)
def test_what_does_not_go_together_is_one_line(
    bench: Bench, provider: Provider, options: list[str]
) -> None:
    since = len(provider.requests)
    done = bench(*options)
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert len(provider.requests) == since


def test_benchmarks_without_one_reference_a_question_are_refused(bench: Bench) -> None:
    assert bench(name="beam").code == 1


def test_options_of_a_model_without_one_are_a_mistake(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert (
        main(["bench", "locomo", "--data", str(locomo(tmp_path / "l.json")), "--judge", "j1"]) == 1
    )
    assert "--model" in capsys.readouterr().err
