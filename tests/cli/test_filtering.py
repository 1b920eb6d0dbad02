"""``--where``, ``--since`` and ``--until``: the filter that Python has, on every command of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Demem

from demem_agent.where import Where

pytest.importorskip("rich")
pytest.importorskip("typer")

from demem_agent.cli.faults import UsageError
from demem_agent.cli.filter_options import Filter

LINES = [
    {"text": "The launch is on 3 June.", "speaker": "Ana", "at": "2024-04-28",
     "metadata": {"project": "apollo", "year": 2024, "code": "7"}},
    {"text": "The launch has moved to 9 June.", "speaker": "Ben", "at": "2024-05-06T10:30",
     "metadata": {"project": "apollo"}},
    {"text": "The launch party is at my place.", "speaker": "Ana", "at": "2024-05-31T22:00"},
]  # fmt: skip


@pytest.fixture
def told(demem: Demem, tmp_path: Path) -> Path:
    """Return the file of a memory of three turns."""
    file = tmp_path / "turns.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in LINES))
    path = tmp_path / "told.db"
    assert demem("ingest", file, "-m", path).code == 0
    return path


@pytest.mark.parametrize(
    ("typed", "numbers"),
    [
        (["--where", "speaker=Ana"], {0, 2}),
        (["--where", "speaker=Ana", "--where", "speaker=Ben", "--since", "2024-05"], {1, 2}),
        (["--where", "speaker=Ana", "--where", "metadata.project=apollo"], {0}),
        (["--where", "metadata.project"], {0, 1}),
        (["--where", "metadata.year=2024"], {0}),
        (["--where", "metadata.code=7"], {0}),
        (["--where", "metadata.code=8", "--where", "metadata.code=7"], {0}),
        (["--until", "2024-04"], {0}),
        (["--where", "since=2024-05", "--where", "until=2024-05-06"], {1}),
        (["--where", "trust=0.5", "--until", "2024"], {0, 1, 2}),
        (["--where", "trust=1.0", "--where", "slot=9"], set()),
    ],
)
def test_each_command_takes_the_items_that_are_meant(
    demem: Demem, told: Path, typed: list[str], numbers: set[int]
) -> None:
    meant = {LINES[n]["text"] for n in numbers}
    read = demem.document("read", "When is the launch?", "-m", told, *typed)
    assert {line["text"] for line in read["lines"]} == meant
    asked = demem.document("ask", "When is the launch?", "-m", told, *typed)
    assert {line["text"] for line in asked["reading"]["lines"]} == meant
    rows = demem.document("export", "-m", told, *typed)
    assert {row["text"] for row in rows if row["kind"] == "evidence"} == meant
    assert len(demem.document("forget", "-m", told, *typed)["evidence"]) == len(meant)
    assert demem.document("check", "-m", told)["items"] == len(LINES) - len(meant)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["--where", "speaker=ana"], "no item has speaker 'ana'; there are: Ana, Ben"),
        (["--where", "session=s1"], "no item has session 's1'; none has any"),
        (["--since", "2025"], "nothing matches the filter"),
    ],
)
def test_a_filter_that_leaves_nothing_says_so(
    demem: Demem, told: Path, typed: list[str], said: str
) -> None:
    assert demem("read", "launch", "-m", told, *typed).err.startswith(said)
    assert demem("items", told, *typed).err.startswith(said)
    assert said in " ".join(demem("forget", "-m", told, *typed).out.split())
    assert "launch" not in demem("read", "launch", "-m", told, "--where", "speaker=Ana").err


def test_what_no_longer_holds_is_marked_and_filtered(demem: Demem, told: Path) -> None:
    demem("supersede", "e1", "e2", "-m", told)
    assert "(no longer) The launch is on 3 June." in demem("items", told).out
    held = demem.document("items", told, "--where", "holds=true", "--where", "speaker=Ana")
    assert [(one["id"], one["holds"]) for one in held["items"]] == [("e3", True)]
    ended = demem.document("items", told, "--where", "holds=False")
    assert [(one["id"], one["holds"]) for one in ended["items"]] == [("e1", False)]


def test_a_filtered_export_is_imported(demem: Demem, told: Path) -> None:
    demem("export", "part.jsonl", "-m", told, "--where", "speaker=Ana")
    demem("import", "part.jsonl", "-m", "part.db")
    assert demem.document("check", "-m", "part.db")["items"] == 2
    assert "Ben" not in Path("part.jsonl").read_text()


def test_metadata_is_in_the_lines_that_are_printed_as_json(demem: Demem, told: Path) -> None:
    read = demem.document("read", "launch", "-m", told, "--where", "metadata.year")
    assert read["lines"][0]["metadata"] == LINES[0]["metadata"]


def test_metadata_that_cannot_be_is_told_by_its_line(demem: Demem) -> None:
    Path("bad.jsonl").write_text('{"text": "a"}\n{"text": "b", "metadata": {"a": [1e999]}}\n')
    done = demem("ingest", "bad.jsonl", "-m", "bad.db")
    assert done.code == 1
    assert "bad.jsonl line 2: metadata.a[0] must be a finite number" in done.err


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (["--where", "speaker"], "--where speaker: give KEY=VALUE, KEY one of speaker, session"),
        (["--where", "speker=Ana"], "--where speker=Ana: give KEY=VALUE, KEY one of speaker"),
        (["--where", "metadata.=a"], "--where metadata.=a: give KEY=VALUE"),
        (["--where", "slot=x"], "--where slot=x: give a number"),
        (["--where", "trust=1", "--where", "trust=0"], "trust was given twice"),
        (["--where", "since=2024", "--since", "2024"], "since was given twice"),
        (["--where", "holds=perhaps"], "--where holds=perhaps: give true or false"),
        (["--since", "Tuesday"], "where.since must be a datetime"),
        (["--where", "trust=7"], "where.trust must be a number from 0 to 1"),
    ],
)
def test_what_was_typed_wrong_is_told_in_a_line(
    demem: Demem, told: Path, typed: list[str], message: str
) -> None:
    for command in (["read", "launch"], ["ask", "launch"], ["export"], ["items"], ["forget"]):
        done = demem(*command, "-m", told, *typed)
        assert (done.code, done.out) == (1, "")
        assert done.err.startswith(f"demem: {message}")
    assert demem.document("check", "-m", told)["items"] == len(LINES)


def test_forget_takes_a_filter_or_something_else(demem: Demem, told: Path) -> None:
    done = demem("forget", "e1", "-m", told, "--since", "2024")
    assert done.code == 1
    assert "exactly one of EVIDENCE_ID, --source-id, --before and a filter" in done.err


def test_what_is_typed_is_the_filter_that_python_has() -> None:
    typed = Filter(["speaker=A=B", "metadata.n=NaN", "metadata.n=[1]", "metadata.n=true"], "2024")
    assert typed.given() == Where(
        speaker=["A=B"], metadata={"n": {"in": ["NaN", "[1]", "true", True]}}, since="2024"
    )
    assert Filter().given() is None
    with pytest.raises(UsageError):
        Filter(["speaker"]).given()
