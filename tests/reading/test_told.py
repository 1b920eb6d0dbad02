"""What a reference named of a line is what is quoted of it, where the same is asked again."""

from __future__ import annotations

import pytest

from demem_agent import SlotMemory

WORK = "day one at Le Borgne. my boss is Gwenaëlle Le Borgne, 38. colleague Mark does the casework"
HIVES = "lost hive Berthe. mites, in the end. four left"


def told(line: str, query: str, reference: str) -> SlotMemory:
    memory = SlotMemory(clock=None)
    memory.ingest("i tune organs at Atelier Kerbrat", speaker="O", at="2026-03-02")
    memory.ingest(line, speaker="O", at="2026-07-01")
    memory.feedback(memory.answer(query), reference=reference)
    return memory


@pytest.mark.parametrize(
    ("line", "query", "reference", "quoted"),
    [
        (WORK, "Where does O work now?", "day one at Le Borgne.", "day one at Le Borgne."),
        (
            WORK,
            "Where does O work now?",
            "day one at Le Borgne. my boss is Gwenaëlle Le Borgne",
            "day one at Le Borgne. my boss is Gwenaëlle Le Borgne, 38.",
        ),
        (HIVES, "How many hives does O have now?", "four", "four left"),
        (HIVES, "How many hives does O have now?", HIVES, HIVES),
        (HIVES, "How many hives does O have?", "4", "four left"),
    ],
)
def test_the_sentences_that_a_reference_names_are_quoted(
    line: str, query: str, reference: str, quoted: str
) -> None:
    assert told(line, query, reference).answer(query).text == f"O: {quoted}"


def test_a_reading_tells_where_they_stand() -> None:
    memory = told(HIVES, "How many hives does O have now?", "four left")
    reading = memory.read("How many hives does O have now?")
    ((item, start, end),) = reading.told
    assert reading.decisions == ("a1",)
    assert (item, HIVES[start:end]) == ("e2", "four left")
    assert memory.read("What does O tune?").told == ()


def test_a_rating_names_no_sentence() -> None:
    memory = SlotMemory(clock=None)
    memory.ingest(HIVES)
    memory.feedback(memory.answer("How many hives?"), thumbs=True)
    assert memory.read("How many hives?").told == ()
