"""``demem eval``: what it measures, prints and writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Demem
from measured_samples import PNG, QUESTIONS, QUICK, TURNS

pytest.importorskip("rich")
pytest.importorskip("typer")
pytest.importorskip("matplotlib")


from demem_agent.errors import MissingExtra
from demem_agent.evaluate import BASELINES, evaluate, load, load_own, report
from demem_agent.evaluate.drawing import figures
from demem_agent.evaluate.drawing.figures import draw


def test_eval_reports_what_the_library_measures(demem: Demem) -> None:
    done = demem("eval", TURNS, QUESTIONS, *QUICK, "--json")
    assert (done.code, done.err) == (0, "")
    systems = {name: BASELINES[name] for name in ("demem", "bm25")}
    found = report(evaluate([load_own(TURNS, QUESTIONS)], systems, [500, 2000]))
    for name, cells in found["systems"].items():
        for limit, cell in cells.items():
            for measure in ("recall", "half", "nine_tenths", "f1", "contained", "size"):
                assert done.document["systems"][name][limit][measure] == cell[measure]


def test_eval_measures_every_built_in_system_and_the_oracle_unless_some_are_named(
    demem: Demem,
) -> None:
    document = demem.document("eval", TURNS, QUESTIONS, "--limit", "900")
    assert set(document["systems"]) == {*BASELINES, "oracle"}
    assert set(document["paired"]) == {*BASELINES} - {"demem", "full"}


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
    written = demem.document("eval", TURNS, asked, *QUICK, "--out=all")["written"]
    assert [Path(file).name for file in written[3:]] == ["budget.png", "latency.png"]


def test_without_demem_the_first_system_is_compared_with_the_others(demem: Demem) -> None:
    options = ("--system", "bm25", "--system", "recency", "--limit", "500")
    document = demem.document("eval", TURNS, QUESTIONS, *options)
    assert document["first"] == "bm25"
    assert list(document["paired"]) == ["recency"]


def test_everything_is_written_and_can_be_read_again(demem: Demem) -> None:
    done = demem("eval", TURNS, QUESTIONS, *QUICK, "--out=deep/all")
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


def test_eval_tells_how_well_memory_knows_what_it_does_not_hold(
    demem: Demem, tmp_path: Path
) -> None:
    asked = tmp_path / "asked.jsonl"
    asked.write_text(
        '{"question": "Which bike was ordered?", "reference": "a Heron"}\n'
        '{"question": "Who conducts the opera in Vienna?", "answerable": false}\n'
    )
    done = demem("eval", TURNS, asked, *QUICK)
    assert "Questions that were said not to be known" in done.out
    said = demem.document("eval", TURNS, asked, *QUICK)["abstention"]
    assert set(said) == {"demem"}
    assert (said["demem"]["answerable"], said["demem"]["unanswerable"]) == (1, 1)
    assert said["demem"]["auc"] == said["demem"]["caught"]["mean"] == 1.0
    assert said["demem"]["false_alarms"]["mean"] == 0.0


def test_eval_without_unanswerable_questions_shows_no_such_table(
    demem: Demem, tmp_path: Path
) -> None:
    asked = tmp_path / "asked.jsonl"
    asked.write_text('{"question": "Which bike was ordered?", "reference": "a Heron"}\n')
    assert "said not to be known" not in demem("eval", TURNS, asked, *QUICK).out
