"""Forgetting takes what came from an item and leaves what did not; nobody else's answer or file is
touched.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from sealed_files import legible

from demem_agent import InvalidInput, SlotMemory
from demem_agent.stores.manifest import ended
from demem_agent.stores.sqlite import SqliteStore
from demem_agent.testing import BagEncoder, ReadingAnswerer

VALVE, BOW = "The boiler has a brass valve.", "The violin has a broken bow."


def told() -> SlotMemory:
    memory = SlotMemory(encoder=BagEncoder(), answerer=ReadingAnswerer(), slots=2)
    memory.ingest(VALVE)
    memory.ingest(BOW)
    memory.feedback(memory.answer("Which valve does the boiler have?"), reference="a brass valve")
    return memory


def test_a_reference_outlives_an_item_that_it_does_not_rest_on() -> None:
    memory = told()
    memory.forget("e2")
    (context,) = memory.contexts()
    assert (context.answer, context.reference, context.channel) == (
        "",
        "a brass valve",
        "reference",
    )
    assert context.supports == ("e1",)


def test_a_reference_goes_with_the_item_that_it_rests_on() -> None:
    memory = told()
    memory.forget("e1")
    (context,) = memory.contexts()
    assert (context.answer, context.reference, context.channel, context.supports) == (
        "",
        None,
        "none",
        (),
    )


def test_a_reference_that_is_a_part_of_a_forgotten_item_goes_though_it_was_never_read() -> None:
    memory = told()
    memory.ingest("Nobody shall know the number 4417.")
    memory.feedback("a1", reference="the number 4417")
    memory.forget("e3")
    assert "4417" not in repr(memory.export())


def test_rewards_outlive_what_they_were_given_for() -> None:
    memory = told()
    before = memory.contexts()[0].rewards
    memory.forget("e1")
    assert memory.contexts()[0].rewards == before


def test_an_answer_of_another_memory_is_refused() -> None:
    mine, yours = told(), told()
    answer = mine.answer("Which bow?")
    yours.answer("Which valve?")
    with pytest.raises(InvalidInput, match="answer must be an answer that this memory gave"):
        yours.feedback(answer, reference="a broken bow")
    assert "broken bow" not in repr(yours.contexts()[-1].reference)


@pytest.mark.parametrize("url", [None, 5, object()])
def test_what_is_neither_a_url_nor_a_store_is_not_opened(url: object) -> None:
    with pytest.raises(InvalidInput, match="url must be"):
        SlotMemory.open(url)  # type: ignore[arg-type]


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX's")
def test_a_file_is_its_owners_alone(tmp_path: Path) -> None:
    with SlotMemory.open(f"sqlite:///{tmp_path}/a.db", encoder=BagEncoder()) as memory:
        memory.ingest(VALVE)
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert set(modes.values()) == {0o600}, modes


def test_half_an_export_is_refused() -> None:
    half = told().export()[:2]
    with pytest.raises(InvalidInput, match="cut off before its end"):
        SlotMemory.restore(half, encoder=BagEncoder())
    with pytest.raises(InvalidInput, match="a whole export"):
        SlotMemory.restore(ended(half), encoder=BagEncoder())


def test_the_name_of_a_speaker_who_said_nothing_else_is_in_no_index() -> None:
    memory = SlotMemory(slots=4)
    memory.ingest("Nobody shall know this.", speaker="Zacharias", session="a secret session")
    memory.ingest("The boiler has a brass valve.", speaker="Ana", session="s1")
    memory.forget("e1")
    index = memory._held.state.passage_index()
    assert (list(index.speakers.codes), list(index.sessions.codes)) == (["Ana"], ["s1"])
    memory.ingest("The violin has a broken bow.", speaker="Ben", session="s2")
    assert len({*index.speakers.codes.values()}) == 2


def test_what_a_crash_left_to_be_erased_is_erased_when_the_file_is_opened_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (crashed := tmp_path / "crashed").mkdir()
    with SlotMemory.open(f"sqlite:///{tmp_path}/a.db") as memory:
        memory.ingest("Nobody shall know 4417zz.")
        memory.ingest("The boiler has a brass valve.")
        with monkeypatch.context() as crash:
            crash.setattr(SqliteStore, "_erase_log", lambda store, **_: None)
            memory.forget("e1")
        for file in tmp_path.glob(
            "a.db*"
        ):  # what is on disk if the process ends right after the commit
            (crashed / file.name).write_bytes(file.read_bytes())
    assert b"4417zz" in legible(crashed)
    SlotMemory.open(f"sqlite:///{crashed}/a.db").close()
    assert b"4417zz" not in legible(crashed)


def test_an_answer_from_nothing_can_be_rewarded_once_all_is_forgotten() -> None:
    memory = SlotMemory(encoder=BagEncoder(), decisions=True)
    memory.ingest("the violin has a broken bow")
    memory.forget("e1")
    report = memory.feedback(memory.answer("Which bow has the violin?"), reward=1.0)
    assert report.reward == 1.0
    memory.feedback(memory.answer("Which bow has the violin?"), reference="a broken bow")
    memory.check()
