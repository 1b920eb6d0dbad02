"""`demem eval` and `demem bench`: what they measure, print, write and refuse, and the figures."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("rich")
pytest.importorskip("typer")
pytest.importorskip("matplotlib")

from rich.console import Console

from demem_agent.cli import main
from demem_agent.cli.measuring.benchmarks import BENCHMARKS
from demem_agent.cli.measuring.slots_and_ablations import by_row
from demem_agent.cli.tables.evaluation import HEADLINE, evaluation_parts
from demem_agent.cli.tables.figures import interval, share
from demem_agent.cli.tables.paper import RECALL
from demem_agent.errors import MissingExtra
from demem_agent.evaluate import BASELINES, Measured, evaluate, load, load_locomo, load_own, report
from demem_agent.evaluate.drawing import figures
from demem_agent.evaluate.drawing.figures import draw
from demem_agent.evaluate.drawing.looks import APART, LOOKS, OTHERS, _spread

ROOT = Path(__file__).parents[2]
TURNS = ROOT / "examples" / "support_chat.jsonl"
QUESTIONS = ROOT / "examples" / "support_chat_questions.jsonl"
QUICK = ("--system", "demem", "--system", "bm25", "--limit", "500", "--limit", "2000")
PNG = b"\x89PNG\r\n\x1a\n"

SYSTEM = """
class Parrot:
    def ingest(self, turns):
        self.turns = list(turns)

    def read(self, query, limit, at=None):
        return self.turns[-1].text[:limit]


class Chatterer(Parrot):
    def read(self, query, limit, at=None):
        return "x" * (limit + 1)


NUMBER = 3
"""


@dataclass(frozen=True, slots=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)


Demem = Callable[..., Done]


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def demem(capsys: pytest.CaptureFixture[str]) -> Demem:
    def run(*arguments: object) -> Done:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Done(code, captured.out, captured.err)

    return run


def locomo(path: Path, dialogues: int = 2) -> Path:
    """Dialogues about cats, each with a question of two kinds and one that nothing answers."""
    entries = []
    for number in range(dialogues):
        said = (
            f"My cat number {number} is called Miso and sleeps all day.",
            "Our boiler broke again last Tuesday.",
        )
        turns = [
            {"speaker": "Ana", "dia_id": f"D1:{n}", "text": text} for n, text in enumerate(said, 1)
        ]
        asked = (
            ("What is the cat called?", "Miso", "D1:1", 4),
            ("When did the boiler break?", "Tuesday", "D1:2", 2),
        )
        qa = [{"question": q, "answer": a, "evidence": [e], "category": c} for q, a, e, c in asked]
        qa.append(
            {
                "question": "Who is the dog?",
                "adversarial_answer": "Miso",
                "evidence": ["D1:1"],
                "category": 5,
            }
        )
        conversation = {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": turns}
        entries.append({"sample_id": f"conv-{number}", "conversation": conversation, "qa": qa})
    path.write_text(json.dumps(entries), encoding="utf-8")
    return path


def record(
    dialogue: str, recall: float | None = 1.0, system: str = "demem", **given: Any
) -> Measured:
    values = {
        "question": 0,
        "category": "one",
        "limit": 500,
        "whole": recall,
        "f1": recall,
        "contained": recall,
    }
    values |= {"size": 100, "seconds": 0.001} | given
    return Measured(dialogue=dialogue, system=system, recall=recall, **values)


# -- demem eval
# ----------------------------------------------------------------------------------------------------


def test_eval_reports_what_the_library_measures(demem: Demem) -> None:
    done = demem("eval", TURNS, QUESTIONS, *QUICK, "--json")
    assert (done.code, done.err) == (0, "")
    systems = {name: BASELINES[name] for name in ("demem", "bm25")}
    found = report(evaluate([load_own(TURNS, QUESTIONS)], systems, [500, 2000]))
    for name, cells in found["systems"].items():
        for limit, cell in cells.items():
            for measure in ("recall", "whole", "f1", "contained", "size"):
                assert done.document["systems"][name][limit][measure] == cell[measure]


def test_eval_measures_every_built_in_system_and_the_oracle_unless_some_are_named(
    demem: Demem,
) -> None:
    done = demem("eval", TURNS, QUESTIONS, "--limit", "900", "--json")
    assert set(done.document["systems"]) == {*BASELINES, "oracle"}
    assert set(done.document["paired"]) == {*BASELINES} - {"demem"}


def test_eval_for_a_person_fits_a_hundred_columns(demem: Demem) -> None:
    done = demem("eval", TURNS, QUESTIONS, *QUICK)
    assert done.code == 0
    assert max(len(line) for line in done.out.splitlines()) <= 100
    for words in (
        "12 questions, 10 with evidence",
        "no intervals from one dialogue",
        "recall 2,000",
        "multi-hop",
    ):
        assert words in done.out


def test_questions_without_evidence_leave_out_the_tables_of_recall(
    demem: Demem, tmp_path: Path
) -> None:
    asked = tmp_path / "asked.jsonl"
    asked.write_text('{"question": "Which bike was ordered?", "reference": "a Heron"}\n')
    done = demem("eval", TURNS, asked, *QUICK)
    assert done.code == 0
    assert "reference in text" in done.out
    assert "recall" not in done.out.lower()
    assert demem("eval", TURNS, asked, *QUICK, "--out", "all", "--json").document["written"][
        3:
    ] == [
        str(Path("all") / "budget.png"),
        str(Path("all") / "latency.png"),
    ]


def test_without_demem_the_first_system_is_compared_with_the_others(demem: Demem) -> None:
    names = ("--system", "bm25", "--system", "recency")
    document = demem("eval", TURNS, QUESTIONS, *names, "--limit", "500", "--json").document
    assert document["first"] == "bm25"
    assert list(document["paired"]) == ["recency"]


def test_everything_is_written_and_can_be_read_again(demem: Demem) -> None:
    done = demem("eval", TURNS, QUESTIONS, *QUICK, "--out", "deep/all")
    folder = Path("deep/all")
    names = [
        "results.jsonl",
        "report.json",
        "table.txt",
        "recall.png",
        "categories.png",
        "budget.png",
        "latency.png",
    ]
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)
    assert len(load(folder / "results.jsonl")) == 12 * 2 * 2
    assert all((folder / name).read_bytes().startswith(PNG) for name in names[3:])
    shown = done.out.replace("\n", "")
    assert all(str(folder / name) in shown for name in names)
    written = json.loads((folder / "report.json").read_text())
    assert written["systems"].keys() == {"demem", "bm25"}
    assert done.out.startswith((folder / "table.txt").read_text().rstrip())


def test_figures_that_cannot_be_drawn_are_refused_before_anything_is_measured(
    demem: Demem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "find_spec", lambda name: None)
    done = demem("eval", TURNS, QUESTIONS, "--out", "nowhere")
    assert (done.code, done.out) == (1, "")
    assert "pip install 'demem-agent[lab]'" in done.err
    assert not Path("nowhere").exists()
    assert demem("eval", TURNS, QUESTIONS, *QUICK).code == 0
    with pytest.raises(MissingExtra):
        draw({"systems": {}}, "nowhere")


# -- systems of one's own
# ------------------------------------------------------------------------------------------


@pytest.fixture
def own(tmp_path: Path) -> Path:
    file = tmp_path / "mine.py"
    file.write_text(SYSTEM)
    return file


def test_a_system_of_ones_own_is_measured_by_its_file_and_name(demem: Demem, own: Path) -> None:
    done = demem(
        "eval",
        TURNS,
        QUESTIONS,
        "--system",
        "demem",
        "--system",
        f"{own}:Parrot",
        "--limit",
        "400",
        "--json",
    )
    assert set(done.document["systems"]) == {"demem", "Parrot"}
    assert 0 < done.document["systems"]["Parrot"]["400"]["size"] <= 400


@pytest.mark.parametrize(
    ("system", "words"),
    [
        ("nonsense", "one of cosine, bm25"),
        ("mine.py:Parrott", "mine.py defines no Parrott"),
        ("mine.py:NUMBER", "mine.py defines no NUMBER"),
        ("other.py:Parrot", "there is no file other.py"),
        ("leaves.py:Parrot", "leaves.py ended before it defined Parrot: no such library"),
        (
            "mine.py:Chatterer",
            "the reading of 'Chatterer' must be at most 400 characters, got '401 characters'",
        ),
    ],
)
def test_a_system_that_cannot_be_measured_is_named(
    demem: Demem, own: Path, system: str, words: str
) -> None:
    Path("leaves.py").write_text("import sys\nsys.exit('no such library')\n")
    done = demem("eval", TURNS, QUESTIONS, "--system", system, "--limit", "400")
    assert (done.code, done.out) == (1, "")
    assert words in done.err
    assert done.err.count("\n") == 1


# -- demem bench
# ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BENCHMARKS)
def test_missing_data_is_one_line_that_says_what_is_expected_where(demem: Demem, name: str) -> None:
    for option in ((), ("--data", "nowhere")):
        done = demem("bench", name, *option)
        assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
        for words in (
            BENCHMARKS[name].name,
            BENCHMARKS[name].expected,
            BENCHMARKS[name].source,
            "does not ship",
        ):
            assert words in done.err
        assert all(word in done.err for word in option)


def test_an_unknown_benchmark_names_those_there_are(demem: Demem) -> None:
    done = demem("bench", "nope", "--data", ".")
    assert done.code == 1
    assert "one of locomo, longmemeval, beam, memoryarena" in done.err


def test_bench_prints_intervals_categories_and_the_papers_figures_as_the_papers(
    demem: Demem, tmp_path: Path
) -> None:
    done = demem("bench", "locomo", "--data", locomo(tmp_path / "l.json"), *QUICK)
    assert done.code == 0
    assert "2 dialogues, 6 questions, 4 with evidence" in done.out
    assert re.search(r"demem +1\.00 \[1\.0, 1\.0\]", done.out)
    assert "temporal" in done.out
    assert "adversarial" not in done.out
    before, paper = done.out.split("From the paper, not this run")
    assert "cosine top-k" not in before
    for name, values in RECALL.items():
        assert re.search(rf"{name} .*{share(values[-1], 2)}", paper)


def test_bench_measures_as_the_library_does(demem: Demem, tmp_path: Path) -> None:
    file = locomo(tmp_path / "l.json", 3)
    document = demem(
        "bench",
        "locomo",
        "--data",
        file,
        "--system",
        "bm25",
        "--limit",
        "150",
        "--seed",
        "7",
        "--json",
    ).document
    measured = evaluate(load_locomo(file), {"bm25": BASELINES["bm25"]}, [150])
    assert (
        document["systems"]["bm25"]["150"]["recall"]
        == report(measured, seed=7)["systems"]["bm25"]["150"]["recall"]
    )


def test_slots_and_ablations_are_printed_and_in_the_document(demem: Demem, tmp_path: Path) -> None:
    command = (
        "bench",
        "locomo",
        "--data",
        locomo(tmp_path / "l.json"),
        "--system",
        "demem",
        "--limit",
        "500",
    )
    done = demem(*command, "--slots", "--ablations")
    assert done.code == 0
    for words in (
        "oracle-support, oracle",
        "conflict",
        "no-split",
        "less that of certified",
        "splits",
    ):
        assert words in done.out
    assert max(len(line) for line in done.out.splitlines()) <= 100
    document = demem(*command, "--slots", "--json").document
    assert "ablations" not in document
    assert [row["name"] for row in document["slots"]["audited"]] == [
        "slot",
        "slots",
        "summary",
        "reading",
    ]


def test_sub_tasks_of_a_row_are_one_dialogue_for_the_intervals(
    demem: Demem, tmp_path: Path
) -> None:
    row = {
        "questions": ["Who wrote it?", "Where?", "And when?"],
        "answers": ["Ann Lee", "In Rome", "In 1990"],
    }
    rows = [{**row, "id": number} for number in range(3)]
    Path("rows.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    command = (
        "bench",
        "memoryarena",
        "--data",
        "rows.jsonl",
        "--system",
        "demem",
        "--limit",
        "500",
    )
    document = demem(*command, "--json").document
    assert (document["dialogues"], document["questions"]) == (3, 6)
    assert demem(*command, "--slots").code == 0
    refused = demem(*command, "--ablations")
    assert (refused.code, refused.err.count("\n")) == (1, 1)


def test_by_row_keeps_every_record_apart() -> None:
    records = [record(f"search-{row}/{task}") for row in "ab" for task in (2, 3)]
    assert [(one.dialogue, one.question) for one in by_row(records)] == [
        (f"search-{row}", task) for row in "ab" for task in (2, 3)
    ]


# -- tables and figures
# --------------------------------------------------------------------------------------------


@given(st.floats(-1, 1), st.sampled_from([2, 3]))
def test_shares_are_as_wide_as_each_other_and_keep_their_value(value: float, digits: int) -> None:
    words = share(value, digits)
    assert len(words.lstrip("-")) == digits + 1
    assert float(words) == pytest.approx(value, abs=0.5 * 10**-digits + 1e-9)
    assert not re.fullmatch(r"-\.0+", words)


def test_an_interval_shows_its_ends_if_it_has_any() -> None:
    found = {"mean": 0.1236, "low": -0.004, "high": 0.25}
    assert interval(found) == ".124 [.00, .25]"
    assert interval(found, sign=True) == "+.124 [.00, .25]"
    assert interval({**found, "low": None, "high": None}) == ".124"
    assert interval(None) == "-"


@pytest.mark.parametrize(
    ("limits", "headed"), [((500, 2000, 6000), "2,000 6,000"), ((300, 400, 900), "300 900")]
)
def test_tables_show_the_headline_limits_or_the_smallest_and_the_largest(
    limits: Sequence[int], headed: str
) -> None:
    measured = [record("a", limit=limit) for limit in limits]
    document = {"data": "a", "first": "demem", "paired": {}, **report(measured)}
    text = StringIO()
    Console(file=text, width=100).print(*evaluation_parts(document))
    assert re.search(" +".join(f"recall {limit}" for limit in headed.split()), text.getvalue())
    assert HEADLINE == (2000, 6000)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20).map(sorted))
def test_names_keep_their_order_and_never_overlap(values: list[float]) -> None:
    places = _spread(values, APART)
    assert all(after - before >= APART - 1e-9 for before, after in pairwise(places))
    assert min(places) >= -1e-9
    assert max(places) <= 1 + 1e-9


def test_names_that_are_far_apart_stay_where_they_are() -> None:
    assert _spread([0.1, 0.5, 0.9], APART) == [0.1, 0.5, 0.9]


def test_no_two_systems_look_alike() -> None:
    looks = [*LOOKS.values(), *OTHERS]
    assert len(set(looks)) == len(looks)
    assert set(LOOKS) == {*BASELINES, "oracle"}


@pytest.mark.parametrize(
    "measured",
    [
        [record("a"), record("a", 0.0, "oracle")],
        [record("a", 0.0), record("b", 0.0)],
        [record("a", system="$x_1$ {"), record("a", system="oracle", category="$", limit=500)],
        [record("a", system="oracle", seconds=0.0, size=0)],
    ],
    ids=["one dialogue", "nothing found", "signs that mean mathematics", "the oracle alone"],
)
def test_odd_reports_are_drawn(tmp_path: Path, measured: list[Measured]) -> None:
    for path in draw(report(measured), tmp_path, title="a $1 sample"):
        assert path.read_bytes().startswith(PNG)


# -- the guide
# -----------------------------------------------------------------------------------------------------


def test_every_block_of_the_guide_that_is_made_is_there() -> None:
    guide = (ROOT / "docs" / "evaluation.md").read_text(encoding="utf-8")
    made = re.findall(
        r'yield (?:\(\s*)?"(\w+)",',
        (ROOT / "benchmarks" / "evaluate_all.py").read_text(encoding="utf-8"),
    )
    for name in made:
        assert re.search(rf"<!-- {name} -->\n(```|\|).+?\n<!-- end -->", guide, re.DOTALL), name
    assert len(made) == 6
