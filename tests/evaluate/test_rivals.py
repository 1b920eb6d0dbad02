"""Rivals as systems under test: each finds what is asked for, within the limit, silently."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from demem_agent.evaluate import Dialogue, Probe
from demem_agent.evaluate.rivals import RIVALS, Rival, missing
from demem_agent.evaluate.rivals.folder import Folder
from demem_agent.evaluate.weighed import Cost, Weighed, weighed
from demem_agent.turns import Turn

ROOT = Path(__file__).parents[2]
#: Loaded by what needs no package: these run wherever the tests do.
LIGHT = ("demem", "cosine", "bm25", "hybrid", "fts5", "grep")
SAID = (
    "The Heron bike arrived on Thursday.",
    "My sister Ana plays the violin in Porto.",
    "We planted tomatoes behind the shed.",
    "The landlord wants the deposit by Friday.",
    "I am allergic to peanuts.",
    "The train to Madrid leaves at nine.",
)
QUESTIONS = {
    "Which instrument does Ana play, the violin?": "t1",
    "When does the train leave?": "t5",
}


def dialogue() -> Dialogue:
    turns = []
    for number, text in enumerate(SAID):
        turns.append(Turn(text, speaker="Bo", at="2025-03-06", source_id=f"t{number}"))
    probes = [Probe(question, "", (id,)) for question, id in QUESTIONS.items()]
    return Dialogue("small", tuple(turns), tuple(probes))


def installed(name: str) -> Rival:
    lacking = missing(RIVALS[name])
    if lacking:
        pytest.skip(f"not installed: {', '.join(lacking)}")
    return RIVALS[name]


@pytest.mark.parametrize("name", RIVALS)
def test_a_rival_reads_first_what_is_asked_for(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))  # MemPalace keeps its locks there
    system = installed(name).make()
    system.ingest(dialogue().turns)
    for question, id in QUESTIONS.items():
        text = system.read(question, 110)
        assert SAID[int(id[1:])] in text
        assert len(text) <= 110


@pytest.mark.parametrize("name", RIVALS)
def test_a_rival_reads_nothing_of_a_dialogue_without_turns(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    system = installed(name).make()
    system.ingest(())
    assert system.read("What is the cat called?", 100) == ""


@pytest.mark.parametrize("name", LIGHT)
def test_a_question_without_words_is_read_without_an_error(name: str) -> None:
    system = installed(name).make()
    system.ingest(dialogue().turns)
    for query in ('"', "?", "' OR *", "-e", "NEAR("):
        assert len(system.read(query, 200)) <= 200


def test_full_text_search_takes_syntax_for_words() -> None:
    system = RIVALS["fts5"].make()
    system.ingest([Turn("Not near the shed.", speaker="Bo"), Turn("Tomatoes.", speaker="Bo")])
    assert "Not near the shed." in system.read('NEAR(shed) AND "', 100)


def test_what_a_rival_needs_is_in_the_extra() -> None:
    extra = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (listed,) = re.findall(r"\nrivals = \[(.*?)\n\]", extra, re.DOTALL)
    brought = {"sentence-transformers", "langchain-core"}  # by an extra, and by LangGraph
    for rival in RIVALS.values():
        for package in set(rival.packages) - brought:
            assert f'"{package}>=' in listed


@pytest.mark.parametrize("name", LIGHT)
def test_what_a_system_takes_is_counted(name: str) -> None:
    cost = Cost()
    system = weighed(installed(name).make, cost)()
    system.ingest(dialogue().turns)
    system.read("Which instrument does Ana play?", 200)
    assert (cost.turns, cost.reads) == (len(SAID), 1)
    assert cost.ingesting > 0
    assert cost.reading > 0
    assert (cost.disk is None) == (name in ("cosine", "bm25", "hybrid"))
    assert cost.disk is None or cost.disk > 0


def test_a_weighed_system_reads_what_the_system_reads() -> None:
    plain = RIVALS["fts5"].make()
    counted = Weighed(RIVALS["fts5"].make(), Cost())
    for system in (plain, counted):
        system.ingest(dialogue().turns)
    for question in QUESTIONS:
        assert counted.read(question, 150) == plain.read(question, 150)


def test_a_folder_goes_with_its_system() -> None:
    folder = Folder()
    path = folder.path
    (path / "notes.txt").write_text("nine by.", encoding="utf-8")
    assert folder.size() == 8
    del folder
    assert not path.exists()
