"""The command line: what it prints, what it refuses and how, and that no text can break it."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import demem_agent
from demem_agent import SlotMemory, Turn
from demem_agent.cli import main
from demem_agent.errors import InvariantBroken

pytest.importorskip("rich")
pytest.importorskip("typer")

from demem_agent.cli.commands import COMMANDS
from demem_agent.cli.demo import data, story
from demem_agent.cli.printing import shown
from demem_agent.cli.sources import keyed
from demem_agent.cli.tables.cells import cell, first_words

ROOT = Path(__file__).parents[2]
PACKAGE = Path(demem_agent.__file__).parent
DEMO = ROOT / "examples" / "demo.jsonl"
BUDGET = ("--slots", "3", "--initial-slots", "2", "--slot-limit", "280", "--read-limit", "900")
NASTY = "[bold]raw[/bold] \x1b[31mred\x07 \ud800 :smile: \u202eback \U0001f600 [/nothing]"


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
    monkeypatch.delenv("DEMEM_MEMORY", raising=False)
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


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory of the demo's conversation with three answers: a1, and a2 and a3, which led to a
    split, c1.
    """
    file = tmp_path_factory.mktemp("lived") / "m.db"
    settings: dict[str, Any] = {
        "slots": 3,
        "initial_slots": 2,
        "slot_limit": 280,
        "read_limit": 900,
    }
    with SlotMemory.open(f"sqlite:///{file}", **settings) as memory:
        memory.ingest_many(data.conversation())
        memory.answer("When was Pixel at the vet?", at="2025-06-02")
        reports = [
            memory.feedback(memory.answer(need.question), reference=need.reference)
            for need in data.NEEDS[:2]
        ]
        assert reports[1].split
    return file


@pytest.fixture
def memory(lived: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(lived, tmp_path / "m.db"))


def rows_file(path: Path, *turns: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(turn) + "\n" for turn in turns), encoding="utf-8")
    return path


def process(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    surroundings = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(PACKAGE.parent)]),
        **environment,
    }
    command = [sys.executable, "-m", "demem_agent.cli", *arguments]
    return subprocess.run(
        command, env=surroundings, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )


# -- the demo
# ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def played() -> story.Story:
    return story.play()


def test_demo_is_one_json_document_and_takes_less_than_ten_seconds(demem: Demem) -> None:
    begun = time.monotonic()
    done = demem("demo", "--json")
    assert time.monotonic() - begun < 10
    assert (done.code, done.err) == (0, "")
    document = done.document
    assert document["split"]["certificate"]["decision"] == "split"
    assert document["suppressed"]["certificate"]["decision"] == "suppressed"
    assert document["check"]["ok"] is True


def test_demo_conversation_is_sixty_to_a_hundred_turns_over_months() -> None:
    turns = data.conversation()
    assert 60 <= len(turns) <= 100
    assert len({turn.session for turn in turns}) >= 5
    assert len({str(turn.at)[:7] for turn in turns}) >= 4
    assert 2 <= len({turn.speaker for turn in turns}) <= 3


def test_demo_answers_resolve_their_dates(played: story.Story) -> None:
    answers = " ".join(one.answer.text for one in played.asked)
    assert "yesterday (11 January 2025)" in answers
    assert "last Friday (21 February 2025)" in answers
    assert "next month (April 2025)" in answers


def test_demo_certificates_exceed_their_thresholds(played: story.Story) -> None:
    split, suppressed = played.split.certificate, played.suppressed.certificate
    assert split.radius > split.threshold
    assert suppressed.radius > suppressed.threshold > split.threshold
    assert (split.saturated, suppressed.saturated) == (False, True)


def test_demo_split_serves_the_need_that_sharing_starves_and_harms_none(
    played: story.Story,
) -> None:
    gains = [
        after.score - shared.score
        for shared, after in zip(played.split.kept_shared, played.split.after, strict=True)
    ]
    assert max(gains) > 0.2
    assert min(gains) >= 0


def test_demo_undo_gives_back_the_state_that_was_never_split(played: story.Story) -> None:
    assert len(set(played.split.fingerprints)) == 1


def test_demo_reads_from_evidence_what_the_shared_summary_has_lost(played: story.Story) -> None:
    assert played.suppressed.evidence.score > min(one.score for one in played.suppressed.strict)


def test_demo_without_a_conflict_is_a_fault(demem: Demem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(story, "NEEDS", data.NEEDS[:1])
    done = demem("demo")
    assert (done.code, done.out) == (2, "")
    assert done.err == "demem: the demo came to no certified split\n"


def test_demo_without_a_suppressed_split_is_a_fault(
    demem: Demem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(story, "NEEDS", data.NEEDS[:2])
    done = demem("demo")
    assert (done.code, done.err) == (2, "demem: the demo came to no suppressed split\n")


def test_demo_conversation_is_looked_for_in_the_package_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "demem_agent"
    (package / "examples").mkdir(parents=True)
    rows_file(package / "examples" / "demo.jsonl", {"text": "From the wheel."})
    monkeypatch.setattr(data, "files", lambda _: package)
    assert [turn.text for turn in data.conversation()] == ["From the wheel."]


def test_demo_without_its_conversation_says_where_it_looked(
    demem: Demem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data, "files", lambda _: tmp_path / "elsewhere" / "demem_agent")
    done = demem("demo")
    assert done.code == 2
    assert "elsewhere" in done.err


def test_demo_for_a_person_fits_a_hundred_columns_and_shows_both_certificates(demem: Demem) -> None:
    done = demem("demo")
    assert (done.code, done.err) == (0, "")
    assert max(map(len, done.out.splitlines())) <= 100
    assert "Certificate c1" in done.out
    assert "Every invariant holds" in done.out


# -- ingest
# --------------------------------------------------------------------------------------------------------


def test_the_same_file_twice_is_remembered_once(demem: Demem) -> None:
    first = demem("ingest", DEMO, "-m", "m.db", "--json").document
    again = demem("ingest", DEMO, "-m", "m.db", "--json").document
    assert (first["remembered"], first["known"], first["items"]) == (80, 0, 80)
    assert (again["remembered"], again["known"], again["items"]) == (0, 80, 80)


def test_a_file_that_has_grown_adds_only_what_is_new(demem: Demem, tmp_path: Path) -> None:
    file = rows_file(tmp_path / "chat.jsonl", {"text": "One."}, {"text": "Two."})
    demem("ingest", file, "-m", "m.db")
    rows_file(file, {"text": "One."}, {"text": "Two."}, {"text": "Three."})
    assert demem("ingest", file, "-m", "m.db", "--json").document["remembered"] == 1


def test_another_file_of_the_same_name_is_told_apart_by_name(demem: Demem, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    demem("ingest", rows_file(tmp_path / "chat.jsonl", {"text": "One."}), "-m", "m.db")
    other = rows_file(tmp_path / "other" / "chat.jsonl", {"text": "Uno."})
    refused = demem("ingest", other, "-m", "m.db")
    assert refused.code == 1
    assert "--name" in refused.err
    assert demem("ingest", other, "-m", "m.db", "--name", "other", "--json").document["items"] == 2


def test_turns_that_share_a_source_id_are_all_remembered(demem: Demem, tmp_path: Path) -> None:
    file = rows_file(
        tmp_path / "doc.jsonl", *({"text": f"Part {n}.", "source_id": "d"} for n in range(3))
    )
    assert demem("ingest", file, "-m", "m.db", "--json").document["remembered"] == 3


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
    made = [turn.key for turn, (_, key) in zip(result, drawn, strict=True) if key is None]
    assert len(set(made)) == len(made)
    assert None not in made
    assert [turn.key for turn, (_, key) in zip(result, drawn, strict=True) if key is not None] == [
        k for _, k in drawn if k
    ]


def test_a_text_file_is_remembered_by_paragraph(demem: Demem, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("The key is under the mat.\n\nThe alarm code is 7431.\n", encoding="utf-8")
    document = demem("ingest", file, "-m", "m.db", "--json").document
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
    done = demem("ingest", file, "--format", "locomo", "--sample", "conv-2", "-m", "m.db")
    assert done.code == 0
    lines = demem("read", "What did Ana buy?", "-m", "m.db", "--json").document["lines"]
    assert [(line["source_id"], line["text"]) for line in lines] == [("D1:1", "I bought a kite.")]


def test_a_locomo_file_of_several_dialogues_needs_the_sample_named(
    demem: Demem, tmp_path: Path
) -> None:
    file = tmp_path / "locomo.json"
    file.write_text(json.dumps(LOCOMO))
    done = demem("ingest", file, "--format", "locomo", "-m", "m.db")
    assert done.code == 1
    assert "conv-1, conv-2" in done.err
    assert not Path("m.db").exists()


def test_the_budget_given_is_that_of_the_memory_made(demem: Demem) -> None:
    demem("ingest", DEMO, "-m", "m.db", *BUDGET, "--unit", "bytes")
    with SlotMemory.open("sqlite:///m.db") as made:
        settings = made.settings
    assert (settings.slots, settings.initial_slots, settings.slot_limit, settings.read_limit) == (
        3,
        2,
        280,
        900,
    )
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


# -- asking, feedback, explaining
# ----------------------------------------------------------------------------------


def test_ask_shows_the_turn_that_the_answer_rests_on(demem: Demem, memory: Path) -> None:
    done = demem("ask", "When was Pixel at the vet?", "-m", memory)
    assert done.code == 0
    cited = [line.split() for line in done.out.splitlines() if line.strip().startswith("*")]
    assert [(words[2], words[3], words[4]) for words in cited] == [("s4:1", "2025-02-23", "Mara")]
    assert "21 February 2025" in done.out


def test_ask_and_explain_agree_on_the_answer(demem: Demem, memory: Path) -> None:
    asked = demem("ask", "When was Pixel at the vet?", "-m", memory, "--json").document
    explained = demem("explain", asked["id"], "-m", memory, "--json").document
    assert explained["answer"]["answer"] == asked["text"]
    assert [line["id"] for line in explained["evidence"] if line["cited"]] == asked["evidence"]
    assert explained["route"]["scores"] == asked["route"]["scores"]


def test_read_prints_the_exact_reading_and_nothing_else(demem: Demem, memory: Path) -> None:
    with SlotMemory.open(f"sqlite:///{memory}") as opened:
        expected = [
            opened.read("Bruno's medicine?", limit=300, mode=mode).text
            for mode in ("evidence", "strict")
        ]
    printed = [
        demem("read", "Bruno's medicine?", "--limit", 300, "--mode", mode, "-m", memory).out
        for mode in ("evidence", "strict")
    ]
    assert printed == [f"{text}\n" for text in expected]
    assert printed[0] != printed[1]


def test_feedback_that_splits_shows_the_certificate(demem: Demem) -> None:
    demem("ingest", DEMO, "-m", "m.db", *BUDGET)
    shown_last = ""
    for need in data.NEEDS:
        answer = demem("ask", need.question, "-m", "m.db", "--json").document
        shown_last = demem(
            "feedback", answer["id"], "--reference", need.reference, "-m", "m.db"
        ).out
        if "Certificate c1" in shown_last:
            break
    assert "radius" in shown_last
    assert "Conditions: " in shown_last


def test_feedback_with_the_same_key_counts_once(demem: Demem, memory: Path) -> None:
    reports = [
        demem("feedback", "a1", "--reward", "1", "--key", "k", "-m", memory, "--json").document
        for _ in range(2)
    ]
    assert reports[0] == reports[1]
    rewards = demem("explain", "a1", "-m", memory, "--json").document["answer"]["rewards"]
    assert rewards == [1.0]


@pytest.mark.parametrize(
    ("typed", "channel", "reward"),
    [
        (["--thumbs", "up"], "thumbs", 1.0),
        (["--thumbs", "down"], "thumbs", 0.0),
        (["--outcome", "success"], "outcome", 1.0),
        (["--outcome", "failure"], "outcome", 0.0),
        (["--outcome", "0.25"], "outcome", 0.25),
        (["--correction", "Pixel never was", "--reward", "0.1"], "correction", 0.1),
    ],
    ids=str,
)
def test_feedback_is_told_in_every_channel(
    demem: Demem, memory: Path, typed: list[str], channel: str, reward: float
) -> None:
    document = demem("feedback", "a1", *typed, "-m", memory, "--json").document
    assert (document["channel"], document["reward"]) == (channel, reward)
    stored = demem("explain", "a1", "-m", memory, "--json").document["answer"]
    assert (stored["told"], stored["rewards"]) == ([channel], [reward])


def test_a_certificate_is_explained_with_whether_its_replay_agrees(
    demem: Demem, memory: Path
) -> None:
    assert demem("explain", "c1", "-m", memory, "--json").document["replay"] == {
        "agrees": True,
        "refusal": None,
    }
    assert demem("explain", "c1", "-m", memory).out.count("Replay: computed again") == 1


def test_a_certificate_with_an_altered_number_is_explained_as_refused(
    demem: Demem, memory: Path
) -> None:
    with SlotMemory.open(f"sqlite:///{memory}") as original:
        text = json.dumps(original.export())
        radius = json.dumps(original.certificates()[0].radius)
    assert text.count(f'"radius": {radius}') == 1
    lines = json.loads(text.replace(f'"radius": {radius}', f'"radius": {float(radius) + 0.01}'))
    SlotMemory.restore(lines, "sqlite:///altered.db").close()
    replayed = demem("explain", "c1", "-m", "altered.db", "--json").document["replay"]
    assert replayed["agrees"] is False
    assert "digest" in replayed["refusal"]
    assert "Replay: refused" in demem("explain", "c1", "-m", "altered.db").out


def test_a_certificate_is_explained_with_every_number_it_rests_on(
    demem: Demem, memory: Path
) -> None:
    document = demem("explain", "c1", "-m", memory, "--json").document
    text = demem("explain", "c1", "-m", memory).out
    for candidate in document["candidates"]:
        for n in (0, 1):
            assert f"[{candidate['lower'][n]:.2f}, {candidate['upper'][n]:.2f}]" in text
            assert f"{candidate['losses'][n]:.2f}" in text
    assert f"{document['radius']:.2f} > {document['threshold']:.2f}" in text
    assert all(query in text for query in document["queries"])


def test_explain_names_the_certificate_of_an_answer(demem: Demem, memory: Path) -> None:
    naming = {
        id: demem("explain", id, "-m", memory, "--json").document["certificates"]
        for id in ("a1", "a2", "a3")
    }
    assert {id: [c["id"] for c in found] for id, found in naming.items()} == {
        "a1": [],
        "a2": ["c1"],
        "a3": ["c1"],
    }


def test_explain_survives_the_forgetting_of_the_question(demem: Demem, tmp_path: Path) -> None:
    sentence = "The quick brown fox keeps its passport in the blue drawer."
    demem("ingest", rows_file(tmp_path / "fox.jsonl", {"text": sentence}), "-m", "m.db")
    demem("ask", f"Is it so? {sentence}", "-m", "m.db")
    demem("forget", "e1", "-m", "m.db")
    done = demem("explain", "a1", "-m", "m.db")
    assert done.code == 0
    assert "(forgotten)" in done.out
    assert "passport" not in done.out


def test_slots_can_be_read_in_full(demem: Demem, memory: Path) -> None:
    slots = demem("slots", "-m", memory, "--json").document["slots"]
    full = demem("slots", "--full", slots[0]["number"], "-m", memory).out
    assert "".join(full.split()) == "".join(slots[0]["summary"].split())


# -- changing
# ------------------------------------------------------------------------------------------------------


def test_undo_takes_the_split_back(demem: Demem, memory: Path) -> None:
    before = demem("slots", "-m", memory, "--json").document["slots"]
    after = demem("undo", "c1", "-m", memory, "--json").document["slots"]
    assert len(after) == len(before) - 1
    assert [c["undone"] for c in demem("certificates", "-m", memory, "--json").document] == [True]
    assert demem("undo", "c1", "-m", memory).code == 1


def test_what_is_forgotten_is_in_no_export_and_not_in_the_file(demem: Demem, memory: Path) -> None:
    assert "62,000" in demem("export", "-m", memory).out
    receipt = demem("forget", "--source-id", "s2:8", "-m", memory, "--json").document
    assert len(receipt["evidence"]) == 1
    assert "62,000" not in demem("export", "-m", memory).out
    assert b"62,000" not in memory.read_bytes()


def test_forget_takes_exactly_one_selector(demem: Demem, memory: Path) -> None:
    for arguments in (
        [],
        ["e1", "--source-id", "s1:1"],
        ["--source-id", "s1:1", "--before", "2025-02-01"],
    ):
        assert demem("forget", *arguments, "-m", memory).code == 1
    assert demem("check", "-m", memory, "--json").document["items"] == 80


def test_an_export_is_imported_with_the_same_fingerprint(demem: Demem, memory: Path) -> None:
    demem("export", "e.jsonl", "-m", memory)
    demem("import", "e.jsonl", "-m", "copy.db", "--id", "twin", "--tenant", "t")
    prints = [
        demem("check", *where, "--json").document["fingerprint"]
        for where in (["-m", memory], ["-m", "copy.db", "--id", "twin", "--tenant", "t"])
    ]
    assert prints[0] == prints[1]


def test_an_export_to_a_pipe_is_the_same_as_to_a_file(demem: Demem, memory: Path) -> None:
    demem("export", "e.jsonl", "-m", memory)
    text = Path("e.jsonl").read_text()
    assert demem("export", "-m", memory).out == text
    assert demem("export", "-m", memory, "--json").document == [
        json.loads(line) for line in text.splitlines()
    ]


def test_an_import_may_widen_the_budget_of_slots(demem: Demem, memory: Path) -> None:
    demem("export", "e.jsonl", "-m", memory)
    demem("import", "e.jsonl", "-m", "copy.db", "--slots", "7", "--read-limit", "1200")
    with SlotMemory.open("sqlite:///copy.db") as imported:
        assert (imported.settings.slots, imported.settings.read_limit) == (7, 1200)


@pytest.mark.parametrize(
    "budget", [("--slot-limit", "500"), ("--unit", "bytes"), ("--slots", "1"), ("--slots", "-4")]
)
def test_an_import_refuses_a_budget_that_the_export_does_not_fit(
    demem: Demem, memory: Path, budget: tuple[str, str]
) -> None:
    demem("export", "e.jsonl", "-m", memory)
    assert demem("import", "e.jsonl", "-m", "copy.db", *budget).code == 1
    assert not Path("copy.db").exists()


def test_an_import_over_a_memory_is_refused(demem: Demem, memory: Path) -> None:
    demem("export", "e.jsonl", "-m", memory)
    done = demem("import", "e.jsonl", "-m", memory)
    assert done.code == 1
    assert "--id" in done.err


@pytest.mark.parametrize(
    "content", ["", "no json\n", "[1]\n", '{"kind": "slot"}\n', '{"kind": "memory"}\n']
)
def test_an_import_of_something_else_makes_no_file(
    demem: Demem, tmp_path: Path, content: str
) -> None:
    (tmp_path / "e.jsonl").write_text(content)
    done = demem("import", "e.jsonl", "-m", "copy.db")
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert not Path("copy.db").exists()


def test_an_export_never_overwrites_the_memory(demem: Demem, memory: Path) -> None:
    before = memory.read_bytes()
    assert demem("export", memory, "-m", memory).code == 1
    assert memory.read_bytes() == before


def test_an_export_that_cannot_be_written_is_one_line(demem: Demem, memory: Path) -> None:
    done = demem("export", "no/such/folder/e.jsonl", "-m", memory)
    assert (done.code, done.err.count("\n")) == (1, 1)


# -- every command
# -------------------------------------------------------------------------------------------------

USES: dict[str, list[str]] = {
    "ask": ["What is Bruno's medicine?"],
    "read": ["What is Bruno's medicine?"],
    "feedback": ["a1", "--reward", "0.5"],
    "slots": [],
    "explain": ["a2"],
    "certificates": [],
    "forget": ["e1"],
    "undo": ["c1"],
    "rename": ["0", "At home"],
    "pin": ["0"],
    "merge": ["1", "--into", "0"],
    "export": [],
    "check": [],
}


def test_every_command_on_a_memory_is_tried_here() -> None:
    assert set(USES) | {
        "demo",
        "chat",
        "ingest",
        "import",
        "lab",
        "eval",
        "bench",
        "audit",
        "mcp",
    } == set(COMMANDS)


@pytest.mark.parametrize("command", USES)
def test_json_is_one_document_and_nothing_else(demem: Demem, memory: Path, command: str) -> None:
    done = demem(command, *USES[command], "-m", memory, "--json")
    assert (done.code, done.err) == (0, "")
    assert done.out.isascii()
    assert done.document is not None


@pytest.mark.parametrize("command", USES)
def test_text_for_a_person_is_written_at_any_width(
    demem: Demem, memory: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    done = demem(command, *USES[command], "-m", memory)
    assert (done.code, done.err) == (0, "")
    assert done.out.strip()


@pytest.mark.parametrize("command", USES)
def test_no_command_makes_a_memory_that_is_not_there(demem: Demem, command: str) -> None:
    done = demem(command, *USES[command], "-m", "none.db")
    assert (done.code, done.out) == (1, "")
    assert (
        done.err == "demem: there is no memory at none.db; demem ingest or demem import makes one\n"
    )
    assert not Path("none.db").exists()


@pytest.mark.parametrize("command", USES)
def test_no_command_makes_a_memory_of_another_id(demem: Demem, memory: Path, command: str) -> None:
    done = demem(command, *USES[command], "-m", memory, "--id", "other")
    assert done.code == 1
    assert "'default'" in done.err
    assert demem("check", "-m", memory, "--id", "other").code == 1


@pytest.mark.parametrize("command", USES)
def test_without_a_memory_named_the_way_to_name_one_is_said(demem: Demem, command: str) -> None:
    done = demem(command, *USES[command])
    assert (done.code, done.out) == (1, "")
    assert done.err == "demem: which memory? pass --memory PATH or set DEMEM_MEMORY\n"


def test_the_memory_can_be_named_by_the_environment(
    demem: Demem, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEMEM_MEMORY", f"sqlite:///{memory}")
    assert demem("check").code == 0


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(demem: Demem, command: str) -> None:
    done = demem(command, "--help")
    assert done.code == 0
    assert "--json" in done.out


# -- errors
# --------------------------------------------------------------------------------------------------------

MISTAKES: dict[str, list[str]] = {
    "NotFound answer": ["feedback", "a99", "--reward", "1"],
    "NotFound explained": ["explain", "a99"],
    "NotFound certificate": ["undo", "c99"],
    "NotFound slot to rename": ["rename", "99", "x"],
    "NotFound slot to pin": ["pin", "99"],
    "NotFound slot to merge": ["merge", "99", "--into", "0"],
    "InvalidInput slot into itself": ["merge", "0", "--into", "0"],
    "NotFound evidence": ["forget", "e99"],
    "NotFound slot": ["slots", "--full", "99"],
    "InvalidInput reward": ["feedback", "a1", "--reward", "7"],
    "InvalidInput nothing": ["feedback", "a1"],
    "InvalidInput thumbs": ["feedback", "a1", "--thumbs", "sideways"],
    "InvalidInput outcome": ["feedback", "a1", "--outcome", "perhaps"],
    "InvalidInput outcome range": ["feedback", "a1", "--outcome", "1.5"],
    "InvalidInput together": ["feedback", "a1", "--thumbs", "up", "--outcome", "1"],
    "InvalidInput question": ["ask", "   "],
    "InvalidInput time": ["ask", "When?", "--at", "soon"],
    "InvalidInput mode": ["read", "What?", "--mode", "loud"],
    "InvalidInput limit": ["read", "What?", "--limit", "0"],
    "UsageError number": ["read", "What?", "--limit", "many"],
    "UsageError option": ["check", "--no-such-option"],
    "UsageError command": ["no-such-command"],
    "UsageError argument": ["ask"],
    "UsageError file": ["ingest", "no-such-file.jsonl"],
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_line_and_exit_1(demem: Demem, memory: Path, name: str) -> None:
    done = demem(*MISTAKES[name], "-m", memory)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("demem: ")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_with_json_is_a_document_on_stdout(demem: Demem, memory: Path, name: str) -> None:
    done = demem(*MISTAKES[name], "-m", memory, "--json")
    assert (done.code, done.err) == (1, "")
    assert set(done.document) == {"error"}
    assert done.document["error"]["kind"] == name.split()[0]
    assert done.document["error"]["message"]


def test_the_same_key_for_another_request_is_a_mistake(demem: Demem, memory: Path) -> None:
    demem("feedback", "a1", "--reward", "1", "--key", "k", "-m", memory)
    done = demem("feedback", "a1", "--reward", "0", "--key", "k", "-m", memory, "--json")
    assert (done.code, done.document["error"]["kind"]) == (1, "IdempotencyConflict")


def test_a_file_that_is_no_database_is_a_fault(demem: Demem, tmp_path: Path) -> None:
    (tmp_path / "notes.db").write_text(
        "These are notes, and they are long enough to be taken for a header." * 20
    )
    done = demem("slots", "-m", "notes.db", "--json")
    assert (done.code, done.document["error"]["kind"]) == (2, "StoreError")


@pytest.mark.parametrize(
    "error", [InvariantBroken("two slots hold e1"), ZeroDivisionError("by\nzero")]
)
def test_a_fault_is_one_line_and_exit_2(
    demem: Demem, memory: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def broken(_: SlotMemory) -> None:
        raise error

    monkeypatch.setattr(SlotMemory, "check", broken)
    done = demem("check", "-m", memory)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert "Traceback" not in done.err
    assert "Traceback" in demem("check", "-m", memory, "--debug").err


def test_what_follows_two_dashes_is_no_option(demem: Demem, memory: Path) -> None:
    done = demem("ask", "-m", memory, "--", "--json")
    assert done.code == 0
    assert done.out.startswith("answer")


@pytest.mark.parametrize("arguments", [["demo"], ["check", "--json"], []])
def test_without_typer_the_way_to_install_it_is_said(
    demem: Demem, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.setitem(sys.modules, "typer", None)
    done = demem(*arguments)
    assert done.code == 1
    assert "pip install 'demem-agent[cli]'" in (
        done.document["error"]["message"] if done.out else done.err
    )
    assert (done.out + done.err).count("Traceback") == 0


# -- text
# ----------------------------------------------------------------------------------------------------------


@given(st.text(st.characters(exclude_categories=()), max_size=40))
def test_shown_text_can_be_encoded_and_acts_on_no_terminal(text: str) -> None:
    safe = shown(text)
    safe.encode("utf-8")
    assert all(
        character in "\n\t" or character.isprintable() or ord(character) > 0x9F
        for character in safe
    )


@given(st.text(st.characters(exclude_categories=()), max_size=40))
def test_a_cell_shows_brackets_and_all_as_they_are(text: str) -> None:
    assert cell(text).plain == shown(text)


@given(st.text(max_size=200), st.integers(10, 80))
def test_first_words_are_one_line_of_at_most_their_length(text: str, characters: int) -> None:
    words = first_words(text, characters)
    assert len(words) <= characters
    assert "\n" not in words


@pytest.fixture
def nasty(tmp_path: Path) -> Path:
    file = rows_file(
        tmp_path / "nasty.jsonl", {"text": NASTY, "speaker": "A[b]\x1b", "source_id": "x\n[i]"}
    )
    assert main(["ingest", str(file), "-m", "nasty.db"]) == 0
    return tmp_path / "nasty.db"


def test_text_with_markup_and_control_characters_is_shown_written_out(
    demem: Demem, nasty: Path
) -> None:
    done = demem("ask", "What is [bold]raw[/bold]?", "-m", nasty)
    assert done.code == 0
    flat = "".join(done.out.split())
    assert "[bold]raw[/bold]" in flat
    assert "\\x1b[31mred\\x07" in flat
    assert "\x1b" not in done.out
    assert "\u202e" not in done.out


def test_json_gives_every_text_back_unchanged(demem: Demem, nasty: Path) -> None:
    lines = demem("read", "raw", "-m", nasty, "--json").document["lines"]
    assert [(line["text"], line["speaker"], line["source_id"]) for line in lines] == [
        (NASTY, "A[b]\x1b", "x\n[i]")
    ]


def test_an_export_gives_every_text_back_unchanged(demem: Demem, nasty: Path) -> None:
    rows = [json.loads(line) for line in demem("export", "-m", nasty).out.splitlines()]
    assert [row["text"] for row in rows if row["kind"] == "evidence"] == [NASTY]


@pytest.mark.parametrize(
    "command", [["ask", "raw"], ["read", "raw"], ["slots"], ["slots", "--full", "0"]]
)
def test_a_pipe_that_takes_ascii_alone_breaks_nothing(nasty: Path, command: list[str]) -> None:
    done = process(*command, "-m", str(nasty), PYTHONIOENCODING="ascii", COLUMNS="30")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.isascii()


def test_a_pipe_that_closes_early_is_no_error(memory: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    command = [sys.executable, "-m", "demem_agent.cli", "export", "-m", str(memory)]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.read(1)
        running.stdout.close()
        errors = running.stderr.read()
    assert (running.returncode, errors) == (141, b"")


# -- the program
# ---------------------------------------------------------------------------------------------------


def test_the_version_is_the_package_s(demem: Demem) -> None:
    assert demem("--version").out == f"demem {demem_agent.__version__}\n"


def test_without_a_command_the_commands_are_listed(demem: Demem) -> None:
    done = demem()
    assert done.code == 0
    assert all(f"\n  {command} " in done.out for command in COMMANDS)


def test_the_module_runs_as_the_program() -> None:
    done = process("--version")
    assert (done.returncode, done.stdout.decode().strip()) == (
        0,
        f"demem {demem_agent.__version__}",
    )


def sources_outside_the_cli() -> Iterator[Path]:
    return (path for path in PACKAGE.rglob("*.py") if "cli" not in path.relative_to(PACKAGE).parts)


def test_nothing_but_the_cli_imports_typer_or_rich() -> None:
    guilty = []
    for path in sources_outside_the_cli():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            guilty += [
                path.name for name in names if name.split(".")[0] in {"typer", "rich", "click"}
            ]
    assert guilty == []
    assert len(list(sources_outside_the_cli())) > 20
