"""``demem ingest``: what is remembered of a file, and once only."""

from __future__ import annotations

import io
import json
import sys
from contextlib import nullcontext
from datetime import datetime
from pathlib import Path

import pytest
from command_line import BUDGET, DEMO, ROOT, Demem, rows_file

from demem_agent import SlotMemory, Turn
from demem_agent.imports.own import keyed
from demem_agent.memory import BATCH

pytest.importorskip("rich")
pytest.importorskip("typer")


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


def test_a_file_that_was_edited_says_what_has_changed(demem: Demem, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("The key is under the mat.\n\nThe alarm code is 7431.\n\nWater the plants.\n")
    demem("ingest", file, "-m", "m.db")
    file.write_text(
        "The bins go out on Monday.\n\nThe key is under the pot.\n\nWater the plants.\n"
    )
    told = demem("ingest", file, "-m", "m.db")
    assert "1 changed, 1 new, 1 gone. Items remembered now: 5." in told.out
    assert "Not in the file any more, but remembered: e2;" in told.out
    with SlotMemory.open("sqlite:///m.db") as memory:
        assert [one.evidence.id for one in memory.history("e1")] == ["e1", "e5"]
    forgotten = demem.document("ingest", file, "-m", "m.db", "--gone", "forget")
    assert (forgotten["gone"], forgotten["known"], forgotten["items"]) == (["e2"], 3, 4)


def test_turns_with_ids_are_known_by_them(demem: Demem, tmp_path: Path) -> None:
    file = rows_file(tmp_path / "a.jsonl", {"text": "One.", "source_id": "x"}, {"text": "Two."})
    demem("ingest", file, "-m", "m.db")
    rows_file(file, {"text": "Two."}, {"text": "Uno.", "source_id": "x"})
    document = demem.document("ingest", file, "-m", "m.db")
    assert (document["changed"], document["new"], document["known"]) == (1, 0, 1)


def test_a_memory_made_by_keys_alone_knows_its_files(demem: Demem, tmp_path: Path) -> None:
    file = rows_file(tmp_path / "a.jsonl", {"text": "One."}, {"text": "Two."})
    with SlotMemory.open("sqlite:///m.db", clock=None) as memory:
        memory.ingest_many(keyed([Turn("One."), Turn("Two.")], "jsonl", "a"))
        memory.forget("e2")
    assert demem.document("ingest", file, "-m", "m.db")["known"] == 2
    rows_file(file, {"text": "Nil."}, {"text": "One."})
    document = demem.document("ingest", file, "-m", "m.db")
    assert (document["new"], document["known"], document["gone"]) == (1, 1, [])


def test_another_file_of_the_same_name_is_told_apart_by_name(demem: Demem, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    demem("ingest", rows_file(tmp_path / "chat.jsonl", {"text": "One."}), "-m", "m.db")
    other = rows_file(tmp_path / "other" / "chat.jsonl", {"text": "Uno."})
    named = demem.document("ingest", other, "-m", "m.db", "--name=other")
    assert (named["items"], named["gone"]) == (2, [])
    unnamed = demem("ingest", other, "-m", "m.db", "--gone", "forget")
    assert (unnamed.code, "--name" in unnamed.err, "--edited" in unnamed.err) == (1, True, True)
    assert demem.document("ingest", tmp_path / "chat.jsonl", "-m", "m.db")["known"] == 1
    same = demem.document("ingest", other, "-m", "m.db", "--gone", "forget", "--edited")
    assert len(same["gone"]) == 1


def test_an_emptied_file_erases_nothing_unless_that_is_said(demem: Demem, tmp_path: Path) -> None:
    file = tmp_path / "n.md"
    file.write_text("The key is under the mat.\n")
    demem("ingest", file, "-m", "m.db")
    file.write_text("")
    assert demem("ingest", file, "-m", "m.db", "--gone", "forget").code == 1
    assert demem.document("ingest", file, "-m", "m.db")["gone"] == ["e1"]
    erased = demem.document("ingest", file, "-m", "m.db", "--gone", "forget", "--yes")
    assert (erased["gone"], erased["items"]) == (["e1"], 0)


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


EXPORTS = ROOT / "tests" / "imports" / "fixtures"


def test_an_export_is_remembered_once_and_what_is_left_out_is_counted(demem: Demem) -> None:
    first = demem.document("ingest", EXPORTS / "chatgpt.json", "-m", "m.db")
    again = demem.document("ingest", EXPORTS / "chatgpt.json", "-m", "m.db", "--name", "other")
    assert (first["format"], first["remembered"]) == ("chatgpt", 4)
    assert first["left_out"]["other branch"] == 1
    assert (again["remembered"], again["known"], again["items"]) == (0, 4, 4)


def test_what_is_left_out_is_said(demem: Demem) -> None:
    assert "Left out: 1 relation." in demem("ingest", EXPORTS / "mem0.json", "-m", "m.db").out


def test_tools_are_remembered_where_that_is_asked_for(demem: Demem) -> None:
    demem("ingest", EXPORTS / "chatgpt.json", "-m", "m.db")
    document = demem.document("ingest", EXPORTS / "chatgpt.json", "-m", "m.db", "--tools")
    assert (document["remembered"], document["items"]) == (2, 6)


def test_a_role_is_who_the_caller_says(demem: Demem) -> None:
    demem("ingest", EXPORTS / "claude.json", "-m", "m.db", "--speaker=user=Ana")
    with SlotMemory.open("sqlite:///m.db") as memory:
        assert [item.speaker for item in memory.evidence()] == ["Ana", "assistant", "Ana"]
    refused = demem("ingest", EXPORTS / "claude.json", "-m", "m.db", "--speaker=Ana")
    assert (refused.code, refused.err.count("\n")) == (1, 1)
    assert "speaker must be a role or name" in refused.err


@pytest.mark.parametrize(
    ("piped", "format"),
    [("The key is under the mat.\n", "text"), ('{"role": "user", "content": "Hello."}\n', "json")],
)
def test_standard_input_is_a_file(
    demem: Demem, monkeypatch: pytest.MonkeyPatch, piped: str, format: str
) -> None:
    for remembered in (1, 0):
        monkeypatch.setattr("sys.stdin", io.StringIO(piped))
        document = demem.document("ingest", "-", "-m", "m.db")
        assert (document["format"], document["remembered"]) == (format, remembered)


def test_a_field_that_a_turn_has_no_place_for_is_named_or_dropped(
    demem: Demem, tmp_path: Path
) -> None:
    file = rows_file(tmp_path / "chat.jsonl", {"text": "One."}, {"text": "Two.", "mood": 1})
    refused = demem("ingest", file, "-m", "m.db")
    assert refused.code == 1
    assert "chat.jsonl line 2: a turn has no field 'mood'" in refused.err
    assert "--extra drop or --extra metadata" in refused.err
    assert demem.document("ingest", file, "-m", "m.db", "--extra=drop")["remembered"] == 2


def test_an_import_that_was_interrupted_goes_on_where_it_was(
    demem: Demem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [{"text": f"The lid of box {n} is blue."} for n in range(BATCH + 3)]
    file = rows_file(tmp_path / "chat.jsonl", *rows)

    def interrupted(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        command = sys.modules["demem_agent.cli.commands.ingest"]
        patched.setattr(command, "ticking", lambda *_, **__: nullcontext(interrupted))
        stopped = demem("ingest", file, "-m", "m.db")
        assert stopped.code == 130
        assert "the same command remembers the rest" in stopped.err
    document = demem.document("ingest", file, "-m", "m.db")
    assert (document["known"], document["remembered"]) == (BATCH, 3)


def test_empty_messages_are_left_out_and_counted(demem: Demem, tmp_path: Path) -> None:
    file = rows_file(tmp_path / "chat.jsonl", {"text": "One."}, {"text": ""}, {"text": " \n"})
    assert "Left out: 2 empty." in demem("ingest", file, "-m", "m.db").out
    assert demem.document("ingest", file, "-m", "m.db")["turns"] == 1


def test_a_file_in_another_encoding_is_refused_with_the_line(demem: Demem, tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    file.write_bytes('{"text": "One."}\n{"text": "Caf\u00e9."}\n'.encode("latin-1"))
    assert "chat.jsonl line 2 is not" in demem("ingest", file, "-m", "m.db").err
