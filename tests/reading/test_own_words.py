"""What those said whom a question is about stands before what only looks like it."""

from __future__ import annotations

import pytest
from spoken import spoken

from demem_agent import Answer, SlotMemory
from demem_agent.text.language.mentions import merely_names
from demem_agent.text.language.reporting import reports, teller
from demem_agent.text.quoting.pasted import pasted

CLAUSES = (
    "Clause {}. The Tenant shall pay the deposit of two months' rent before the keys are given.",
    "Clause {}. The Landlord shall keep the boiler in good repair; defects are told at once.",
    "Clause {}. No animal is kept at the Premises without the consent of the Landlord.",
    "Clause {}. Subletting of the Premises is prohibited and ends this Agreement.",
)
LEASE = "\n\n".join(CLAUSES[n % len(CLAUSES)].format(n + 1) for n in range(40))
TALK = [
    ("Ravi", LEASE),
    ("Ravi", "the boiler makes a noise like a kettle, driving me nuts"),
    ("Ana", "I think the deposit is way too much for that hole"),
    ("Ana", "ok (looks at ravi)"),
    ("Ravi", "my knee hurts since the marathon"),
    ("Ana", "we went to the beach"),
    ("Ana", "Zoe is so loud"),
    ("Ana", "I bought a kayak"),
]


def memory(*more: tuple[str, str]) -> SlotMemory:
    made = SlotMemory(clock=None)
    for speaker, text in [*TALK, *more]:
        made.ingest(text, speaker=speaker)
    return made


def best(made: SlotMemory, question: str) -> str:
    return max(made.read(question).lines, key=lambda line: line.score).text


def asked(question: str, *more: tuple[str, str]) -> Answer:
    return memory(*more).answer(question)


@pytest.mark.parametrize("question", ["What did Ravi say about the boiler?", "What did Ravi say?"])
def test_what_somebody_said_is_read_before_the_document_that_they_pasted(question: str) -> None:
    made = memory()
    assert not pasted(best(made, question))
    assert "Clause" not in best(made, question)


def test_one_asks_for_ones_own_words_without_a_name() -> None:
    made = spoken(LEASE, "the deposit is way too much", "the cat is fat", "it rained")
    assert best(made, "What did I say about the deposit?") == "the deposit is way too much"


def test_a_document_answers_where_nobody_said_anything_else_of_it() -> None:
    assert "Subletting" in asked("What did Ravi say about subletting?").text


def test_a_question_for_the_document_reads_the_document() -> None:
    assert "Subletting" in asked("What does the lease say about subletting?").text


@pytest.mark.parametrize("question", ["How is Ravi doing?", "Tell me about Ravi", "Ravi?"])
def test_a_name_alone_is_behind_what_the_one_of_that_name_says(question: str) -> None:
    lines = sorted(memory().read(question, floor=0).lines, key=lambda line: -line.score)
    said = [line.text for line in lines]
    own = "my knee hurts since the marathon"
    assert own in said
    assert "ok (looks at ravi)" not in said[: said.index(own)]


@pytest.mark.parametrize(
    ("text", "merely"),
    [
        ("ok (looks at ravi)", True),
        ("ravi ravi ravi!!", True),
        ("hey Ravi lol", True),
        ("*waves at Ravi*", True),
        ("Ravi broke his leg", False),
        ("ravi called", False),
        ("Ravi: 12 May", False),
    ],
)
def test_a_text_merely_names_somebody_where_it_tells_nothing_else(text: str, merely: bool) -> None:
    assert merely_names(text, {"ravi"}) is merely


def test_what_another_reports_of_one_who_never_spoke_is_found() -> None:
    answer = asked("What did Zoe say?", ("Ana", "Zoe said she'd come on Saturday"))
    assert answer.known
    assert answer.text == "Ana: Zoe said she'd come on Saturday"


def test_what_somebody_says_who_spoke_is_known_as_before() -> None:
    assert asked("What did Ravi say?").known


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What did Zoe say?", "Zoe"),
        ("Has Dr. Patel told you anything?", "Dr. Patel"),
        ("Was hat Zoe gesagt?", "Zoe"),
        ("¿Qué dijo Zoe?", "Zoe"),
        ("Qu'a dit Zoe ?", "Zoe"),
        ("what did zoe say?", "zoe"),
        ("what did the neighbours say?", None),
        ("What did people say?", None),
        ("What did I say?", None),
        ("Where does Zoe live?", None),
    ],
)
def test_a_question_asks_what_one_of_a_name_said(question: str, name: str | None) -> None:
    assert teller(question) == name


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Zoe said she'd come", True),
        ("zoe reckons it will rain", True),
        ("Zoe: see you at nine", True),
        ("according to Zoe it's shut", True),
        ("Zoe hat gesagt, sie kommt", True),
        ("Zoe dijo que viene", True),
        ("Zoe is so loud", False),
        ("She said it's shut", False),
    ],
)
def test_a_text_reports_what_one_of_a_name_said(text: str, told: bool) -> None:
    assert reports(text, "Zoe") is told


def test_long_texts_of_ones_own_are_no_documents() -> None:
    diary = "I went to the shed and mended my bike, then we had soup at the neighbours'. " * 30
    assert pasted(LEASE)
    assert not pasted(diary)
    assert not pasted(LEASE[:600])


def pasted_lines(line: str) -> str:
    """Return a document of some numbered lines."""
    return "\n".join(f"{n}. " + line.format(n, n * 3) for n in range(1, 14))


OFFICE = pasted_lines(
    "The working hours of the plant are recorded by device {1}, and whoever works at night is paid"
    " the supplement that table {0} gives for the hours worked."
)
HALL = pasted_lines(
    "The swimming hall has lane {0} reserved for swimming clubs, and swimmers who swim in lane {1}"
    " leave it when the hall closes."
)
HIRE = pasted_lines(
    "Insurance of a hired car is extra; a car is insured up to {1} thousand, and the insurance"
    " month begins on day {0} of the month of hire of the car."
)


@pytest.mark.parametrize(
    ("own", "document", "question", "is_own"),
    [
        ("I work for Baker & Sons", OFFICE, "Where do I work?", True),
        ("we swim at the Lido on Fridays", HALL, "Where do we swim?", True),
        ("we swim at the Lido on Fridays", HALL, "What does the swimming hall have?", False),
        ("my car insurance went up", HIRE, "When does my car insurance month begin?", False),
    ],
)
def test_who_asks_of_themselves_is_answered_by_what_they_said_if_they_said_as_much(
    own: str, document: str, question: str, is_own: bool
) -> None:
    made = spoken(own, document, "the cat is fat", "it rained", by="Ana")
    quoted = made.answer(question).text
    assert quoted
    assert quoted.startswith(f"Ana: {own}") is is_own


def test_a_group_with_an_assistant_is_one_of_people() -> None:
    made = memory(("assistant", "Sure, I noted that."), ("Ana", "Ravi those pancakes"))
    assert best(made, "What is Ravi's trouble with the knee?").startswith("my knee hurts")


def test_what_hardly_more_than_names_somebody_is_behind_what_they_say() -> None:
    made = memory(("Ana", "ok Ravi, written down"))
    lines = made.read("What does Ravi eat?").lines
    scores = {line.text: line.score for line in lines}
    own = [score for text, score in scores.items() if text.startswith("my knee hurts")]
    assert own[0] > scores.get("ok Ravi, written down", float("-inf"))
