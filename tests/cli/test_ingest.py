"""``demem ingest``: what is remembered of a file, and once only."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import pytest
from command_line import BUDGET, DEMO, Demem, rows_file
from hypothesis import given
from hypothesis import strategies as st

from demem_agent import SlotMemory, Turn

pytest.importorskip("rich")
pytest.importorskip("typer")

from demem_agent.cli.sources import keyed


def test_the_same_file_twice_is_remembered_once(demem: Demem) -> None:
    first = demem.document("ingest", DEMO, "-m", "m.db")
    again = demem.document("ingest", DEMO, "-m", "m.db")
    assert (first["remembered"], first["known"], first["items"]) == (80, 0, 80)
    assert (again["remembered"], again["known"], again["items"]) == (0, 80, 80)


def test_a_file_that_has_grown_adds_only_what_is_new(demem: Demem, tmp_path: Path) -> None:
    file = rows_file(tmp_path / "chat.jsonl", {"text": "One."}, {"text": "Two."})
    demem("ingest", file, "-m", "m.db")
    rows_file(file, {"text": "One."}, {"text": "Two."}, {"text": "Three."})
    assert demem.document("ingest", file, "-m", "m.db")["remembered"] == 1


def test_another_file_of_the_same_name_is_told_apart_by_name(demem: Demem, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    demem("ingest", rows_file(tmp_path / "chat.jsonl", {"text": "One."}), "-m", "m.db")
    other = rows_file(tmp_path / "other" / "chat.jsonl", {"text": "Uno."})
    refused = demem("ingest", other, "-m", "m.db")
    assert refused.code == 1
    assert "--name" in refused.err
    named = demem.document("ingest", other, "-m", "m.db", "--name=other")
    assert named["items"] == 2


def test_turns_that_share_a_source_id_are_all_remembered(demem: Demem, tmp_path: Path) -> None:
    file = rows_file(
        tmp_path / "doc.jsonl", *({"text": f"Part {n}.", "source_id": "d"} for n in range(3))
    )
    assert demem.document("ingest", file, "-m", "m.db")["remembered"] == 3


def test_what_a_file_does_not_date_was_not_said_now(demem: Demem, tmp_path: Path) -> None:
    file = rows_file(
        tmp_path / "chat.jsonl", {"text": "One."}, {"text": "Two.", "at": "2023-05-08"}
    )
    demem("ingest", file, "-m", "m.db")
    with SlotMemory.open("sqlite:///m.db") as memory:
        assert [item.at for item in memory.evidence()] == [None, datetime(2023, 5, 8)]


def test_when_it_was_said_may_be_told_and_a_file_is_known_at_another_time(
    demem: Demem, tmp_path: Path
) -> None:
    file = rows_file(
        tmp_path / "chat.jsonl", {"text": "One."}, {"text": "Two.", "at": "2023-05-08"}
    )
    demem("ingest", file, "-m", "m.db", "--at", "2024-03-02")
    assert demem.document("ingest", file, "-m", "m.db", "--at", "2024-04-02")["known"] == 2
    with SlotMemory.open("sqlite:///m.db") as memory:
        times = [item.at for item in memory.evidence()]
    assert times == [datetime(2024, 3, 2), datetime(2023, 5, 8)]


def test_turns_without_a_time_are_counted_with_what_became_of_them(
    demem: Demem, tmp_path: Path
) -> None:
    turns = ({"text": "One."}, {"text": "Two.", "at": "2023-05-08"})
    file = rows_file(tmp_path / "chat.jsonl", *turns)
    out = demem("ingest", file, "-m", "m.db").out
    assert "Without a time: 1 of 2 turns, remembered as undated; --at TIME tells" in out
    out = demem("ingest", file, "-m", "other.db", "--at", "2024-03-02").out
    assert "Without a time: 1 of 2 turns, dated 2024-03-02T00:00 by --at." in out
    assert demem.document("ingest", file, "-m", "m.db")["undated"] == 1
    file = rows_file(tmp_path / "dated.jsonl", turns[1])
    assert "Without a time" not in demem("ingest", file, "-m", "dated.db").out


def test_a_file_of_no_turns_is_told(demem: Demem, tmp_path: Path) -> None:
    file = rows_file(tmp_path / "chat.jsonl")
    assert "chat.jsonl holds no turns." in demem("ingest", file, "-m", "m.db").out


def test_what_is_no_time_is_refused(demem: Demem, tmp_path: Path) -> None:
    file = rows_file(tmp_path / "chat.jsonl", {"text": "One."})
    refused = demem("ingest", file, "-m", "m.db", "--at", "noon")
    assert refused.code == 1
    assert "at must be a date or a time" in refused.err
    assert not Path("m.db").exists()


@given(
    st.lists(
        st.tuples(st.none() | st.sampled_from("ab"), st.none() | st.text(min_size=1, max_size=3)),
        max_size=8,
    )
)
def test_keys_are_the_turns_own_or_unlike_each_other(
    drawn: Sequence[tuple[str | None, str | None]],
) -> None:
    turns = [Turn("Text.", source_id=source_id, key=key) for source_id, key in drawn]
    result = list(keyed(turns, "jsonl", "chat"))
    made: list[str | None] = []
    for turn, (_, key) in zip(result, drawn, strict=True):
        if key is None:
            made.append(turn.key)
        else:
            assert turn.key == key
    assert len(set(made)) == len(made)
    assert None not in made


def test_a_text_file_is_remembered_by_paragraph(demem: Demem, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("The key is under the mat.\n\nThe alarm code is 7431.\n", encoding="utf-8")
    document = demem.document("ingest", file, "-m", "m.db")
    assert (document["format"], document["remembered"]) == ("text", 2)


LOCOMO = [
    {
        "sample_id": name,
        "conversation": {
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [{"speaker": "Ana", "dia_id": "D1:1", "text": f"I bought {thing}."}],
        },
        "qa": [],
    }
    for name, thing in (("conv-1", "a boat"), ("conv-2", "a kite"))
]


def test_a_locomo_sample_is_remembered_with_its_own_ids(demem: Demem, tmp_path: Path) -> None:
    file = tmp_path / "locomo.json"
    file.write_text(json.dumps(LOCOMO))
    given = ("--format", "locomo", "--sample", "conv-2")
    done = demem("ingest", file, *given, "-m", "m.db")
    assert done.code == 0
    lines = demem.document("read", "What did Ana buy?", "-m", "m.db")["lines"]
    assert [(line["source_id"], line["text"]) for line in lines] == [("D1:1", "I bought a kite.")]


def test_a_locomo_file_of_several_dialogues_needs_the_sample_named(
    demem: Demem, tmp_path: Path
) -> None:
    file = tmp_path / "locomo.json"
    file.write_text(json.dumps(LOCOMO))
    done = demem("ingest", file, "-m", "m.db", "--format=locomo")
    assert done.code == 1
    assert "conv-1, conv-2" in done.err
    assert not Path("m.db").exists()


def test_the_budget_given_is_that_of_the_memory_made(demem: Demem) -> None:
    demem("ingest", DEMO, *BUDGET, "--unit=bytes", "--memory=m.db")
    with SlotMemory.open("sqlite:///m.db") as made:
        settings = made.settings
    assert (settings.slots, settings.initial_slots) == (3, 2)
    assert (settings.slot_limit, settings.read_limit) == (280, 900)
    assert settings.unit == "bytes"


def test_an_ingest_that_is_refused_makes_no_file(demem: Demem, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"text": "Good."}\n{"text": 5}\n')
    for arguments in (
        [bad],
        [DEMO, "--slots", "0"],
        [DEMO, "--unit", "words"],
        [DEMO, "--format", "xml"],
    ):
        done = demem("ingest", *arguments, "-m", "m.db")
        assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert not Path("m.db").exists()
