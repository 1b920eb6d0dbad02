"""Which words of a question are looked for in lines."""

from __future__ import annotations

from demem_agent import SlotMemory
from demem_agent.scoring.query import words_of


def memory_of(*lines: tuple[str, str]) -> SlotMemory:
    memory = SlotMemory(clock=None)
    for speaker, text in lines:
        memory.ingest(text, speaker=speaker)
    return memory


def forms(memory: SlotMemory, question: str) -> list[str]:
    index = memory._held.state.passage_index()
    return words_of(index.spelling.heard(question), index).forms


ODILE = (
    ("Odile", "hi memo! I am Odile Moreira, 47, I tune organs"),
    ("Memo", "Nice to meet you, Odile!"),
    ("Odile", "sing alto in a choir"),
    ("Odile", "we live at 3 quai de l'Yser now"),
    ("Summer", "I like walks"),
)


def test_the_name_of_who_says_much_is_no_word_to_look_for() -> None:
    memory = memory_of(*ODILE)
    assert forms(memory, "Where does Odile live?") == ["live"]
    assert forms(memory, "where does odile live?") == ["live"]
    first = max(memory.read("Where does Odile live now?").lines, key=lambda line: line.score)
    assert "quai" in first.text


def test_the_name_of_who_says_little_or_nothing_is() -> None:
    lines = [*ODILE, *(("Odile", f"note {number}") for number in range(10))]
    assert "summer" in forms(memory_of(*lines), "Where does Summer live?")
    assert "biscuit" in forms(memory_of(*lines), "Where does Biscuit live?")


def test_a_name_that_is_a_word_is_one_only_with_its_capital() -> None:
    lines = [("Summer", "I swim a lot"), ("Summer", "I like walks"), ("Ben", "me too")]
    assert "summer" not in forms(memory_of(*lines), "Does Summer like lakes?")
    assert "summer" in forms(memory_of(*lines), "which lakes are warm in summer?")


def test_a_question_of_a_name_alone_keeps_it() -> None:
    assert forms(memory_of(*ODILE), "Who is Odile?") == ["odile"]


def test_the_sides_of_a_chat_with_a_model_are_words() -> None:
    lines = [("user", "I build a user directory"), ("assistant", "Good.")]
    assert "user" in forms(memory_of(*lines), "How does the user directory sort?")
