"""``demem bench``: what it measures, prints and refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from command_line import Demem
from measured_samples import QUICK, locomo, record

pytest.importorskip("rich")
pytest.importorskip("typer")
pytest.importorskip("matplotlib")


from demem_agent.cli.measuring.benchmarks import BENCHMARKS
from demem_agent.cli.measuring.slots_and_ablations import by_row
from demem_agent.cli.tables.figures import share
from demem_agent.cli.tables.paper import RECALL
from demem_agent.evaluate import BASELINES, evaluate, load_locomo, report


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
    options = ("--system", "bm25", "--limit", "150", "--seed", "7")
    document = demem.document("bench", "locomo", "--data", file, *options)
    measured = evaluate(load_locomo(file), {"bm25": BASELINES["bm25"]}, [150])
    expected = report(measured, seed=7)["systems"]["bm25"]["150"]
    assert document["systems"]["bm25"]["150"]["recall"] == expected["recall"]


def test_slots_and_ablations_are_printed_and_in_the_document(demem: Demem, tmp_path: Path) -> None:
    file = locomo(tmp_path / "l.json")
    command = ("bench", "locomo", "--data", file, "--system", "demem", "--limit", "500")
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
    document = demem.document(*command, "--slots")
    assert "ablations" not in document
    names = [row["name"] for row in document["slots"]["audited"]]
    assert names == ["slot", "slots", "summary", "reading"]


def test_sub_tasks_of_a_row_are_one_dialogue_for_the_intervals(
    demem: Demem, tmp_path: Path
) -> None:
    row = {
        "questions": ["Who wrote it?", "Where?", "And when?"],
        "answers": ["Ann Lee", "In Rome", "In 1990"],
    }
    rows = [{**row, "id": number} for number in range(3)]
    Path("rows.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    command = "bench memoryarena --data rows.jsonl --system demem --limit 500".split()
    document = demem.document(*command)
    assert (document["dialogues"], document["questions"]) == (3, 6)
    assert demem(*command, "--slots").code == 0
    refused = demem(*command, "--ablations")
    assert (refused.code, refused.err.count("\n")) == (1, 1)


def test_by_row_keeps_every_record_apart() -> None:
    tasks = (("a", 2), ("a", 3), ("b", 2), ("b", 3))
    records = [record(f"search-{row}/{task}") for row, task in tasks]
    counted = [(one.dialogue, one.question) for one in by_row(records)]
    assert counted == [(f"search-{row}", task) for row, task in tasks]
