"""Languages in one memory: words are compared by spelling, and stems meet across languages."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from spoken import spoken

from demem_agent import SlotMemory
from demem_agent.scoring.index import PassageIndex
from demem_agent.scoring.letters import is_marked, marked, plain, spelling_vectors
from demem_agent.scoring.query import words_of
from demem_agent.scoring.spelling import Heard
from demem_agent.text.language.words import content_words, stems, worded
from demem_agent.types import Evidence

DIMENSIONS = 96
ENGLISH = ["The cat sleeps on the sofa.", "We bought keys for the new house."]
SPANISH = ["La vecina encontró las llaves en el parque.", "Mi gata duerme en el sofá."]


def index_of(texts: list[str]) -> PassageIndex:
    index = PassageIndex(2)
    for n, text in enumerate(texts, 1):
        item = Evidence(id=f"e{n}", text=text)
        index.add(item, [(0, len(text))], np.zeros((1, 2), np.float32), 0)
    return index


def query(text: str) -> Heard:
    return Heard(text)


def nearness(one: str, other: str) -> float:
    first, second = spelling_vectors([one, other], DIMENSIONS)
    return float(first @ second)


def test_a_word_alone_takes_the_stem_that_the_memory_holds() -> None:
    spanish = worded(SPANISH[1])
    assert spanish.language == "spanish"
    (stem,) = words_of(query("duermen"), index_of(SPANISH)).stems
    assert stem in spanish.stems
    assert worded("duermen").stems != [stem]


def test_a_short_line_of_doubtful_language_is_found_beside_a_sure_one() -> None:
    texts = [*ENGLISH, "Gatitos: pulgas", "Mi hermana tiene pulgas en casa."]
    index = index_of(texts)
    words = words_of(query("¿Quién tiene pulgas?"), index)
    held = [set(index.lexical.rows(stem).tolist()) for stem in words.stems]
    assert {2, 3} <= set().union(*held)


def test_a_question_that_is_surely_english_has_its_english_stems_in_any_memory() -> None:
    text = "Where did the cats of my sister have llaves?"
    words = words_of(query(text), index_of([*ENGLISH, *SPANISH]))
    assert words.stems == stems(content_words(text))


@given(st.sampled_from(["keys", "the cats", "houses sleeping", "oxen", "Where is it?"]))
def test_in_an_english_memory_a_query_has_its_english_stems(text: str) -> None:
    words = words_of(query(text), index_of(ENGLISH))
    assert [plain(form) for form in words.forms] == content_words(text)
    assert words.stems == stems(content_words(text))


def test_a_language_of_which_nothing_is_left_is_forgotten() -> None:
    index = index_of([*ENGLISH, *SPANISH])
    index.remove({"e3", "e4"})
    assert set(index.languages.codes) == {"english"}


def test_words_that_are_not_english_are_marked() -> None:
    assert marked(worded("The cat sleeps")) == ["cat", "sleeps"]
    assert all(map(is_marked, marked(worded("Wo schläft die Katze?"))))
    assert [plain(word) for word in marked(worded("cat 猫"))] == ["cat", "猫"]
    assert list(map(is_marked, marked(worded("cat 猫")))) == [False, True]


@pytest.mark.parametrize(
    ("word", "near", "far"),
    [
        ("zahnarzt", "zahnarzttermin", "waschmaschine"),
        ("аллергия", "аллергией", "велосипед"),
        ("aprende", "aprendiendo", "violonchelo"),
    ],
)
def test_words_of_one_root_are_nearer_than_others(word: str, near: str, far: str) -> None:
    assert nearness(word, near) > 0.4 > 0.25 > nearness(word, far)


@given(st.lists(st.text(st.characters(codec=None)), max_size=5))
def test_a_word_has_one_vector_of_unit_length_whatever_stands_beside_it(words: list[str]) -> None:
    vectors = spelling_vectors(words, DIMENSIONS)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    alone = [spelling_vectors([word], DIMENSIONS).tobytes() for word in words]
    assert alone == [row.tobytes() for row in vectors]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Wann ist der Zahnarzt?", "Der Zahnarzttermin ist am Donnerstag um halb vier."),
        ("猫の名前は？", "うちの猫はミンカっていう名前なんだ。"),
        ("मेरी चाबी कहाँ है?", "पार्क में मेरी चाबियाँ खो गई थीं।"),
        ("أين مفاتيحي؟", "وجد الجار المفاتيح في الحديقة."),
        ("고양이 이름이 뭐야?", "우리 고양이는 이름이 나비야."),
        ("แมวชื่ออะไร", "แมวของเราชื่อมะลิ"),
    ],
)
def test_a_line_in_any_language_is_found_among_english_ones(question: str, answer: str) -> None:
    memory = SlotMemory()
    for n in range(20):
        memory.ingest(f"Okay, talk to you at {n} then, take care!", speaker="Ana")
    memory.ingest(answer, speaker="Ana")
    lines = memory.read(question).lines
    assert max(lines, key=lambda line: line.score).evidence.text == answer


@pytest.mark.parametrize(
    ("question", "name", "other"),
    [
        ("小雨的猫叫什么？", "小雨", "大伟"),
        ("翔の犬は？", "翔", "由美"),
        ("Как зовут кошку Анны?", "Анна", "Иван"),
        ("मीरा की बिल्ली?", "मीरा", "रोहन"),
        ("أين تعمل أخت سارة؟", "سارة", "عمر"),
        ("Wo wohnt Annas Katze?", "Anna", "Jonas"),
    ],
)
def test_a_speaker_is_known_by_name_in_any_script(question: str, name: str, other: str) -> None:
    memory = SlotMemory()
    memory.ingest("Okay, bye.", speaker=other)
    memory.ingest("Hey, how are you?", speaker=name)
    lines = memory.read(question).lines
    assert max(lines, key=lambda line: line.score).evidence.speaker == name


def test_words_of_other_languages_are_not_near_by_chance() -> None:
    index = index_of(["मुझे जून से पहले पासपोर्ट बनवाना है।", "मैं एक स्कूल में रसायन पढ़ाता हूँ।"])
    near = index.related.matches(["पासपोर्ट"], ["\0पासपोर्ट"], np.arange(2))
    assert near[0, 0] == 1
    assert near[0, 1] < 0.2


@pytest.mark.parametrize(
    ("question", "right", "beside"),
    [
        (
            "Hasta cuándo dura mi alquiler?",
            "alquiler firmado! dura 2 años",
            "mi curso de vela dura hasta el fin de mayo",
        ),
        (
            "Tot wanneer is mijn rijbewijs geldig?",
            "rijbewijs binnen! geldig tot 2031",
            "mijn abonnement op de krant is geldig tot eind maart",
        ),
    ],
)
def test_a_word_with_stems_in_two_languages_counts_no_more_than_another(
    question: str, right: str, beside: str
) -> None:
    memory = spoken(beside, right, "Nora komt zondag eten", "We sold the old tent.", by="Bo")
    assert memory.read(question).ranked[0].text == right
