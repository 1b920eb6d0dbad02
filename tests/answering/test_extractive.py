"""The offline answerer: it quotes what answers, says which day was meant, cites it, and stays
silent otherwise.
"""

from __future__ import annotations

import pytest

from demem_agent import Answer, SlotMemory
from demem_agent.answering.extractive import ExtractiveAnswerer
from demem_agent.testing import BagEncoder
from demem_agent.types import Answerer, Question, Reading

CHATTER = [
    "The soup was too salty.",
    "We painted the fence green.",
    "My train was late again.",
    "Nice weather today!",
]


def asked(query: str, *said: tuple[str, str | None]) -> Answer:
    memory = SlotMemory(clock=None)
    for text, at in said:
        memory.ingest(text, speaker="Ana", at=at)
    for text in CHATTER:
        memory.ingest(text, speaker="Ben", at="2023-02-01")
    return memory.answer(query)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("I adopted a puppy yesterday.", "7 May 2023"),
        ("I adopted a puppy last Friday.", "5 May 2023"),
        ("I will adopt a puppy next month.", "June 2023"),
        ("I adopted a puppy two years ago.", "2021"),
    ],
)
def test_a_relative_time_is_resolved_against_the_day_it_was_said(said: str, meant: str) -> None:
    assert f": {meant})" in asked("When did Ana adopt a puppy?", (said, "2023-05-08")).text


def test_a_relative_time_of_unknown_date_is_left_as_it_was_said() -> None:
    assert asked("When did Ana adopt a puppy?", ("I adopted a puppy yesterday.", None)).text == (
        "Ana: I adopted a puppy yesterday."
    )


def test_a_question_about_a_time_gets_the_day_it_was_said_where_nothing_better_is_known() -> None:
    answer = asked("When did Ana adopt a puppy?", ("I adopted a puppy!", "2023-05-08"))
    assert answer.text == "Ana: I adopted a puppy! (said on 8 May 2023)"


def test_a_time_of_the_same_day_is_told_in_an_answer_which_stands_under_no_day() -> None:
    answer = asked("When does Ana cook lasagne?", ("I cook lasagne tonight.", "2023-05-08"))
    assert answer.text == "Ana: I cook lasagne tonight. (tonight: 8 May 2023)"


def test_a_week_that_is_told_from_another_day_has_its_own_days_beside_it() -> None:
    answer = asked("When does Ana move out?", ("I move out in three weeks.", "2023-05-08"))
    assert answer.text.endswith("three weeks after 8 May 2023, 29 May to 4 June)")


def test_a_german_question_about_a_time_gets_the_day_it_was_said() -> None:
    answer = asked("Wann hat Ana den Hund geholt?", ("Ich habe den Hund geholt!", "2023-05-08"))
    assert answer.text.endswith("(said on 8 May 2023)")


def test_a_question_about_something_else_gets_no_day() -> None:
    assert (
        asked("What did Ana adopt?", ("I adopted a puppy!", "2023-05-08")).text
        == "Ana: I adopted a puppy!"
    )


def test_a_question_about_a_time_prefers_the_sentence_that_names_one() -> None:
    text = asked(
        "When was the concert?",
        ("The concert was loud.", None),
        ("The concert was on 3 March 2022.", None),
    ).text
    assert text.startswith("Ana: The concert was on 3 March 2022.")


def test_a_question_for_a_number_prefers_the_sentence_with_one() -> None:
    text = asked(
        "How many cakes did Ana bake?",
        ("I love to bake cakes.", None),
        ("I had to bake 7 cakes.", None),
    ).text
    assert text.startswith("Ana: I had to bake 7 cakes.")


@pytest.mark.parametrize("query", ["What is the capital of Mongolia?", "Who wrote the symphony?"])
def test_what_nothing_in_memory_relates_to_is_not_known(query: str) -> None:
    answer = asked(query, ("I adopted a puppy!", "2023-05-08"))
    assert not answer.known
    assert len(answer.evidence) <= 1


def test_the_answer_of_an_empty_memory_is_empty() -> None:
    answer = SlotMemory().answer("When did Ana adopt a puppy?")
    assert (answer.text, answer.evidence, answer.route.slot, answer.route.adequate) == (
        "",
        (),
        None,
        False,
    )


def test_the_evidence_that_is_quoted_is_cited() -> None:
    answer = asked("What did Ana adopt?", ("My bike is blue.", None), ("I adopted a puppy!", None))
    assert answer.evidence == ("e2",)
    assert answer.evidence[0] in {item.id for item in answer.reading.evidence}


def test_of_a_long_turn_only_the_sentence_that_answers_is_quoted() -> None:
    long = "The harbour was full of boats. My sister adopted a puppy. Then we had dinner."
    assert (
        asked("What did the sister adopt?", (long, None)).text == "Ana: My sister adopted a puppy."
    )


def test_a_question_is_not_answered_with_the_question() -> None:
    answer = asked(
        "What did Ana adopt?", ("Guess what I did adopt?", None), ("I did adopt a puppy.", None)
    )
    assert answer.text.startswith("Ana: I did adopt a puppy.")


def test_the_same_question_gets_the_same_answer() -> None:
    said = [(f"I adopted puppy number {n}.", None) for n in range(6)]
    assert asked("What did Ana adopt?", *said).text == asked("What did Ana adopt?", *said).text


def test_the_answerer_needs_nothing_but_the_question() -> None:
    answerer = ExtractiveAnswerer(BagEncoder())
    reading = Reading("", 0, 100, "chars", "evidence", (), ())
    assert isinstance(answerer, Answerer)
    assert answerer.answer(Question("Rex?", None, reading)).text == ""


def test_a_misspelled_question_is_answered_as_the_right_one_is() -> None:
    memory = SlotMemory()
    for text in (
        "We went on a tour with the kayak.",
        "Yesterday I cooked lasagne for the family.",
        "Carol is allergic to peanuts.",
    ):
        memory.ingest(text, speaker="Ana", at="2024-05-03")
    for right, wrong in (
        ("What did I cook?", "What did I coook?"),
        ("What is Carol allergic to?", "What is Carol alergic to?"),
    ):
        assert memory.answer(wrong).text == memory.answer(right).text != ""


def answered(query: str, *said: str | tuple[str, str], **how: str) -> str:
    """Return the answer of a memory to which some lines were said, by Ana unless told."""
    memory = SlotMemory(clock=None)
    for one in said:
        text, speaker = (one, "Ana") if isinstance(one, str) else one
        memory.ingest(text, speaker=speaker, at="2024-05-03", **how)
    return memory.answer(query).text


def test_sentences_of_two_turns_stand_on_lines_of_their_own() -> None:
    query = "Which boat is blue, and which is red?"
    text = answered(query, "My boat is blue.", "The other boat is red.")
    assert text.splitlines() == ["Ana: The other boat is red.", "Ana: My boat is blue."]


def test_what_stands_between_two_sentences_of_a_turn_is_cut_out_with_a_sign() -> None:
    text = answered(
        "Which boat is blue?",
        "My boat is blue. We had soup with lentils and rye bread. The other boat is blue, too.",
    )
    assert text == "Ana: My boat is blue. […] The other boat is blue, too."


def test_the_question_itself_is_not_quoted_but_its_reply() -> None:
    text = answered("What is the wifi password?", "What is the wifi password?", ("tulip7", "Ben"))
    assert text == "Ben: tulip7"


@pytest.mark.parametrize(
    ("query", "said", "reply"),
    [
        ("Where is the spare key?", "where's the spare key", "under the blue pot"),
        ("How many eggs do we have?", "how many eggs do we have", "six"),
        ("Wo ist der Schlüssel?", "wo ist der Schlüssel", "unter dem Topf"),
        ("¿Dónde está la llave?", "dónde está la llave", "debajo de la maceta"),
    ],
)
def test_nor_is_a_question_without_its_sign(query: str, said: str, reply: str) -> None:
    assert answered(query, said, (reply, "Ben")) == f"Ben: {reply}"


def test_a_short_sentence_that_answers_stands_alone() -> None:
    assert answered("What did Ana adopt?", "I adopted a puppy! It rained.") == (
        "Ana: I adopted a puppy!"
    )


def test_a_line_that_no_longer_holds_says_until_when_it_did() -> None:
    memory = SlotMemory(clock=None)
    memory.ingest("I live in Porto.", speaker="Ana", at="2024-03-01")
    memory.ingest("I live in Lisbon now.", speaker="Ana", at="2024-07-06")
    before = memory.answer("Where did Ana live before?").text
    assert before.startswith("Ana: I live in Porto. (until 6 July 2024)")
    assert memory.answer("Where does Ana live?").text == "Ana: I live in Lisbon now."


def test_a_plain_sentence_is_not_quoted_with_another_turn() -> None:
    said = ("I moored the boat.", "Mia keeps the piano in Faro.")
    assert answered("Where did Ana moor the boat?", *said) == "Ana: I moored the boat."


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("When did the plumber come?", "The plumber came on Monday."),
        ("What did Ana adopt?", "I adopted a puppy."),
        ("Where did Ana moor the boat?", "I moored the boat in Faro."),
        ("Where is the key?", "The key is under the pot."),
    ],
)
def test_a_plain_sentence_that_answers_stands_alone(query: str, said: str) -> None:
    assert answered(query, f"{said} Tell Mia Hill.").startswith(f"Ana: {said}")
    assert "Hill" not in answered(query, f"{said} Tell Mia Hill.")


LETTER = """Dear Mrs Abernathy,

The hedge will be cut in autumn.
It is too tall.

Best regards,
Sandra Hill"""


@pytest.mark.parametrize(
    ("query", "quoted"),
    [
        ("Who is Mrs Abernathy?", ["Dear Mrs Abernathy,", "The hedge will be cut in autumn."]),
        ("Who is Sandra Hill?", ["It is too tall.", "Best regards,", "Sandra Hill"]),
    ],
)
def test_a_greeting_is_quoted_with_the_sentence_beside_it(query: str, quoted: list[str]) -> None:
    lines = [line.strip() for line in answered(query, LETTER).split("\n")]
    assert list(filter(None, lines)) == [f"Ana: {quoted[0]}", *quoted[1:]]


def test_a_fence_is_quoted_with_its_code_and_what_stands_beside_it() -> None:
    code = "```nginx\nserver {\n  listen 80;\n}\n```"
    inner = code.replace("\n", "\n  ")
    assert answered("nginx", f"Same.\n{code}\nIt works.") == f"Ana: Same.\n  {inner}\n  It works."
    introduced = answered("What is the web setup?", f"The web setup:\n{code}\nIt works.")
    assert introduced == f"Ana: The web setup:\n  {inner}\n  It works."


def test_code_of_a_long_turn_is_quoted_with_what_introduces_it() -> None:
    code = "```nginx\nserver {\n  listen 80;\n}\n```"
    inner = code.replace("\n", "\n  ")
    before = "We talked about the choir and the long way home. " * 10
    introduced = answered("What is the web setup?", f"{before}\nThe web setup:\n{code}\nIt works.")
    assert introduced == f"Ana: The web setup:\n  {inner}"


def test_a_long_block_is_quoted_with_the_line_behind_it() -> None:
    steps = "\n".join(f"rotate(log_{n})" for n in range(40))
    said = f"Script that rotates the logs:\n```python\n{steps}\n```\nit runs at 03:40, by Petra"
    assert answered("When does the script run that rotates the logs?", said).endswith("by Petra")


CONFIG = """{
  "device": "gate-7",
  "interval_s": 300,
  "height": {"min": 60, "max": 85},
  "notify": ["ida", "tom"]
}"""
TALK = "We sang all day, and in the evening somebody wrote down what is set. " * 5


@pytest.mark.parametrize(
    "said",
    [
        f"Settings of the north gate:\n{CONFIG}",
        f"{TALK}\nSettings of the north gate:\n{CONFIG}\n{TALK}",
        f"{TALK}\nSettings of the north gate:\n```json\n{CONFIG}\n```\n{TALK}",
    ],
)
@pytest.mark.parametrize("query", ["interval_s of gate-7", "What is the min height of gate-7?"])
def test_a_line_of_json_is_quoted_with_its_object(query: str, said: str) -> None:
    answer = answered(query, said)
    assert answer.startswith("Ana: Settings of the north gate:")
    assert CONFIG.replace("\n", "\n  ") in answer
    assert "sang" not in answer


@pytest.mark.parametrize(
    ("query", "said", "quoted"),
    [
        ("What is the door code?", "The door code:\n5519\n\nIt rains.", "The door code:\n5519"),
        ("Where is the notary?", "The notary:\n\n12 Kettle Lane", "The notary:\n\n12 Kettle Lane"),
        ("Wie ist die IBAN?", "Die IBAN：\nDE02 1203\n\nBis bald", "Die IBAN：\nDE02 1203"),
        ("What rattles?", "What rattles: a Heron.\nIt rains.", "What rattles: a Heron."),
        (
            "How much chlorine is in lane 2?",
            "the pool:\nlane,temp,chlorine\n1,26,0.8\n2,27,1.1\n\nBye",
            "the pool:\nlane,temp,chlorine\n1,26,0.8\n2,27,1.1",
        ),
    ],
)
def test_what_a_line_introduces_is_quoted_with_it(query: str, said: str, quoted: str) -> None:
    assert answered(query, said) == f"Ana: {quoted}".replace("\n", "\n  ")


def test_lines_of_prose_with_commas_are_no_table() -> None:
    said = "soup, bread, cheese\nham, eggs, tea\nrice, beans, milk\nfish, peas, juice"
    assert "rice" not in answered("Who had ham?", said)


def test_what_looks_like_somebody_else_s_line_stands_below_who_said_it() -> None:
    answer = answered("Where does Bo live?", "notes\n- Bo: I live in Paris")
    assert answer == "Ana:\n  - Bo: I live in Paris"


def test_code_that_is_too_long_is_closed_where_it_is_cut() -> None:
    code = "```nginx\n" + "server { listen 80; }\n" * 90 + "```"
    lines = answered("What is the web setup?", f"The web setup:\n{code}\nIt works.").splitlines()
    assert [line.strip() for line in lines[-3:]] == ["server { listen 80; }", "```", "[…]"]


def test_a_list_is_quoted_with_all_its_items() -> None:
    text = answered(
        "What is on the shopping list?", "Shopping list:\n- milk\n- eggs\n- bread\n\nBye"
    )
    assert text == "Ana: Shopping list:\n  - milk\n  - eggs\n  - bread"


def test_of_a_long_list_the_items_are_quoted_that_fit() -> None:
    items = "\n".join(f"- {n} boxes of the long kind" for n in range(40))
    lines = answered("What is on the packing list?", f"Packing list:\n{items}").splitlines()
    assert 10 < len(lines) < 20
    assert lines[-1].endswith("of the long kind")


def test_an_item_keeps_its_number() -> None:
    said = "To drain it:\n1. Close the tap.\n2. Open the valve.\n3. Wait."
    assert answered("Which step has the valve?", said) == "Ana: 2. Open the valve."
    assert answered("Who opens the valve?", said.replace(".\n", "\n")) == "Ana: 2. Open the valve"


@pytest.mark.parametrize(
    "time",
    ["at 3pm", "at 15:30", "every Thursday", "on 3 May 2023", "on the 4th of June", "at noon"],
)
def test_a_line_that_names_a_time_gets_no_day_on_which_it_was_said(time: str) -> None:
    assert "said on" not in answered("When is the yoga class?", f"The yoga class is {time}.")


@pytest.mark.parametrize("said", ["The yoga class is soon.", "Yoga class: may be 2 or 3 of us."])
def test_a_line_that_names_none_does(said: str) -> None:
    assert answered("When is the yoga class?", said).endswith("(said on 3 May 2024)")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("How was the physio?", "first physio: 15 squats, no stairs (ha. ha.)"),
        ("What did she say?", 'she said "stop. now. please" and i left'),
        ("Was he late?", "(he was late. again.) and left"),
        ("What is the price?", "price is 5 (five. yes, five!) euros"),
        ("How much did he weigh?", "he weighed 3.5 kg (7.7 lb.) at birth"),
    ],
)
def test_no_sentence_is_cut_within_brackets_or_quotation_marks(query: str, said: str) -> None:
    assert answered(query, said) == f"Ana: {said}"


MOVED = [
    ("i live at 14 rue de la Sardine", "2026-03-02"),
    ("MOVED. we live at 3 quai de l'Yser now", "2026-05-30"),
    ("the tin price: 31.20 in march, 33.80 in april, 29.95 in june", "2026-06-24"),
    ("bought the Berlingo yesterday! 9,200 in the end. Blue.", "2026-06-30"),
    ("honey price goes up to 10.50 because jars cost more.", "2026-07-18"),
]


@pytest.mark.parametrize(
    "query",
    [
        "Where did Odile live in March 2026?",
    ],
)
def test_what_held_at_a_time_answers_ahead_of_what_only_names_that_time(query: str) -> None:
    memory = SlotMemory()
    for text, at in MOVED:
        memory.ingest(text, speaker="Odile", at=at)
    assert memory.answer(query, at="2026-08-01").text.startswith("Odile: i live at 14 rue")


def test_the_time_of_a_question_tells_two_lines_of_one_matter_apart() -> None:
    said = (("The tin cost 31 in March.", "2026-06-24"), ("The tin cost 33 in April.", None))
    assert asked("How much did the tin cost in April?", *said).text.startswith(
        "Ana: The tin cost 33"
    )


def test_code_of_a_short_turn_is_quoted_with_what_stands_beside_it() -> None:
    code = "```bash\nrsync -av /data/ nas:/vol1/\n```"
    answer = answered("When does the rsync run?", f"Backups:\n{code}\nat 02:30")
    assert [line.strip() for line in answer.split("\n")][-1] == "at 02:30"


def test_a_part_of_long_code_stands_between_fences_of_its_own() -> None:
    steps = "".join(f"def step_{n}(x):\n    return x * {n}\n" for n in range(30))
    answer = answered("What does step_7 return?", f"The pipeline:\n```python\n{steps}```\nDone.")
    lines = [line.strip() for line in answer.split("\n")]
    assert lines[lines.index("def step_7(x):") - 1] == "```python"
    assert lines.count("```") == 1
    assert lines.index("def step_7(x):") < lines.index("```")


@pytest.mark.parametrize("query", ["???", "...", "?!?", "🐝?"])
def test_a_question_without_a_word_is_not_known_and_not_answered(query: str) -> None:
    answer = asked(query, ("the bees 🐝 are at Kerlaz... no then?!?", None), ("🐝🐝🐝", None))
    assert (answer.text, answer.known) == ("", False)
