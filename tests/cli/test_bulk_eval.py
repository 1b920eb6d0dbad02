"""``demem bulk eval``: what `demem bench` and `demem eval` print, a dialogue at a time."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import Demem, rows_file
from measured_samples import QUESTIONS, TURNS, locomo

pytest.importorskip("rich")
pytest.importorskip("typer")

from demem_agent import SlotMemory, imports
from demem_agent.bulk import Done
from demem_agent.evaluate import many, run

QUICK = ("--system", "demem", "--system", "bm25", "--limit", "300", "--limit", "900")


@pytest.fixture
def timeless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop the clock that reads are timed by: no two runs have it alike."""
    monkeypatch.setattr(run, "perf_counter", lambda: 0.0)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """Return a folder of one chat, and beside it a folder of its questions."""
    for folder, file in (("chats", TURNS), ("asked", QUESTIONS)):
        (tmp_path / folder / "team").mkdir(parents=True)
        (tmp_path / folder / "team" / "ana.jsonl").write_bytes(file.read_bytes())
    return tmp_path


@pytest.mark.usefixtures("timeless")
def test_a_benchmark_is_told_byte_for_byte_as_by_one_process(demem: Demem, tmp_path: Path) -> None:
    file = locomo(tmp_path / "l.json", 3)
    bench = demem("bench", "locomo", "--data", file, *QUICK)
    bulk = demem("bulk", "eval", file, "--benchmark", "locomo", *QUICK)
    assert (bulk.code, bulk.err) == (0, "")
    assert bulk.out == bench.out
    assert "From the paper" in bulk.out


@pytest.mark.usefixtures("timeless")
def test_sub_tasks_of_rows_are_told_as_by_one_process(demem: Demem) -> None:
    row = {"questions": ["Who wrote it?", "Where?"], "answers": ["Ann Lee", "In Rome"]}
    rows_file(Path("rows.jsonl"), *({**row, "id": number} for number in range(3)))
    bench = demem("bench", "memoryarena", "--data", "rows.jsonl", *QUICK)
    bulk = demem("bulk", "eval", "rows.jsonl", "--benchmark", "memoryarena", *QUICK)
    assert bulk.out == bench.out
    assert "Tasks that could succeed" in bulk.out


@pytest.mark.usefixtures("timeless")
def test_files_and_questions_are_measured_as_demem_eval_does(demem: Demem, own: Path) -> None:
    alone = demem("eval", TURNS, QUESTIONS, *QUICK).out
    bulk = demem("bulk", "eval", own / "chats", "--questions", own / "asked", *QUICK)
    assert bulk.code == 0
    assert bulk.out.partition(":")[2] == alone.partition(":")[2]


@pytest.mark.usefixtures("timeless")
def test_a_memory_that_is_there_is_asked(demem: Demem, own: Path) -> None:
    with SlotMemory.open("sqlite:///bot.db", memory_id="team/ana", clock=None) as memory:
        memory.ingest_many(imports.read(TURNS))
    alone = demem("eval", TURNS, QUESTIONS, *QUICK).out
    bulk = demem("bulk", "eval", "--store", "bot.db", "--questions", own / "asked", *QUICK)
    assert bulk.code == 0
    assert bulk.out.partition(":")[2] == alone.partition(":")[2]


def test_what_is_kept_is_not_measured_again(
    demem: Demem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The times of reads are those of the first time, so that all is as it was, byte for byte."""
    file = locomo(tmp_path / "l.json", 3)
    asked = ("bulk", "eval", file, "--benchmark", "locomo", *QUICK, "--records", "done.jsonl")
    first = demem(*asked)
    counted = counting(monkeypatch)
    assert demem(*asked).out == first.out
    assert counted() == 0
    lines = Path("done.jsonl").read_text().splitlines(keepends=True)
    Path("done.jsonl").write_text("".join(lines[:-1]))
    assert demem(*asked).code == 0
    assert counted() == 1
    assert demem(*asked, "--limit", "400").code == 0
    assert counted() == 4


def counting(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Return what tells how many dialogues were measured since."""
    calls: list[str] = []
    whole = many.Evaluating.__call__

    def counted(self: many.Evaluating, task: many.Task) -> Done:
        calls.append(self.named(task))
        return whole(self, task)

    monkeypatch.setattr(many.Evaluating, "__call__", counted)
    return lambda: len(calls)


def test_json_is_a_line_for_each_and_the_report_last(demem: Demem, tmp_path: Path) -> None:
    file = locomo(tmp_path / "l.json")
    done = demem("bulk", "eval", file, "--benchmark", "locomo", *QUICK, "--json")
    *each, last = map(json.loads, done.out.splitlines())
    assert [(one["memory_id"], one["new"], one["error"]) for one in each] == [
        ("conv-0", 12, None),
        ("conv-1", 12, None),
    ]
    report = last.pop("report")
    assert last == {"memories": 2, "new": 24, "known": 0, "skipped": 0, "failed": 0}
    whole = demem.document("bench", "locomo", "--data", file, *QUICK)
    assert report["systems"]["demem"]["300"]["recall"] == whole["systems"]["demem"]["300"]["recall"]
    assert report.keys() == whole.keys()


def test_where_one_cannot_be_measured_it_is_named_and_there_is_no_table(
    demem: Demem, own: Path
) -> None:
    (own / "chats" / "ben.jsonl").write_text('{"text": "Hi", "loud": true}\n')
    rows_file(own / "asked" / "ben.jsonl", {"question": "Who?", "reference": "Ben"})
    done = demem("bulk", "eval", own / "chats", "--questions", own / "asked", *QUICK)
    assert done.code == 1
    assert re.match("demem: ben: .*loud", done.err)
    assert done.out == "Memories: 2, failed: 1. New: 48, known: 0, skipped: 0.\n"


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        (("eval", "chats"), "which questions"),
        (("eval", "--benchmark", "locomo"), "where is LoCoMo"),
        (("eval", "none", "--benchmark", "locomo"), "PATH takes a file such as"),
        (("eval", "chats", "--benchmark", "loco"), "one of locomo"),
        (("eval", "chats", "--benchmark", "locomo", "--questions", "asked"), "its questions"),
        (("eval", "chats", "--questions", "none"), "a file or a folder"),
        (("eval", "chats", "--questions", "more"), "'ben'"),
        (("eval", "chats", "--questions", "asked", "--system", "none"), "one of cosine"),
        (("eval", "chats", "--questions", "asked", "--slots", "0"), "slots"),
        (("eval", "--questions", "asked"), "which memory"),
        (("eval", "--questions", "asked", "--store", "none.db"), "no memory at none.db"),
        (("eval", "--questions", "asked", "--store", "b.db", "--slots", "3"), "its own settings"),
        (("ingest", "chats", "--questions", "asked", "--store", "b.db"), "are of eval"),
        (("ingest", "chats", "--system", "demem", "--store", "b.db"), "are of eval"),
    ],
)
def test_what_it_cannot_do_it_says(
    demem: Demem, own: Path, typed: tuple[str, ...], says: str
) -> None:
    (own / "more").mkdir()
    rows_file(own / "more" / "ben.jsonl", {"question": "Who?", "reference": "Ben"})
    done = demem("bulk", *typed)
    assert done.code == 1
    assert says in done.err
    assert not Path("b.db").exists()


@pytest.mark.slow
def test_two_workers_find_what_one_does(demem: Demem, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    file = locomo(tmp_path / "l.json", 4)
    asked = ("bulk", "eval", file, "--benchmark", "locomo", *QUICK, "--json", "--workers")
    one, two = (demem(*asked, count).out.splitlines()[-1] for count in (1, 2))
    assert without_times(two) == without_times(one)
    assert '"recall"' in without_times(one)


def without_times(report: str) -> str:
    """Return a report without what a read took, which is the only thing that differs."""
    return re.sub(r'"seconds": {[^}]*}', "", report)
