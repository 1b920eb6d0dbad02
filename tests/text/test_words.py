"""Cutting text: passages hold everything in order and fit, sentences end where they end, terms are
what is searched.
"""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent.text.language.words import STOPWORDS, clean, content_terms, terms, worded, words
from demem_agent.text.sentences import PASSAGE_CHARS, passages, sentences

ANY_TEXT = st.text(st.characters(codec=None), max_size=300)
# Words, spaces and stops in proportions that make every kind of cut common.
PROSE = st.lists(
    st.sampled_from(["word", "x" * 60, " ", "  ", "\t", ". ", "!\n", "\n\n", "…", "é", "字。"])
).map("".join)
TEXTS = ANY_TEXT | PROSE


def solid(text: str) -> str:
    return "".join(text.split())


@given(TEXTS, st.integers(1, 80))
def test_passages_hold_every_character_that_is_not_white_space_in_order(
    text: str, limit: int
) -> None:
    assert solid("".join(text[a:b] for a, b in passages(text, limit))) == solid(text)


@given(TEXTS, st.integers(1, 80))
def test_passages_are_never_longer_than_the_limit(text: str, limit: int) -> None:
    assert all(0 <= b - a <= limit for a, b in passages(text, limit))


@given(TEXTS, st.integers(1, 80))
def test_passages_do_not_overlap(text: str, limit: int) -> None:
    assert all(first[1] <= second[0] for first, second in pairwise(passages(text, limit)))


@given(TEXTS.filter(str.strip), st.integers(1, 80))
def test_no_passage_of_a_text_is_blank(text: str, limit: int) -> None:
    assert all(text[a:b].strip() for a, b in passages(text, limit))


@given(TEXTS)
def test_a_text_that_fits_is_one_passage(text: str) -> None:
    assert len(passages(text, max(len(text), 1))) == 1


def test_long_text_is_cut_at_the_ends_of_sentences() -> None:
    text = "The first sentence is here. The second one follows. The third one closes."
    assert [text[a:b] for a, b in passages(text, 52)] == [
        "The first sentence is here. The second one follows.",
        "The third one closes.",
    ]


def test_a_sentence_beyond_the_limit_is_cut_between_words() -> None:
    text = "alpha beta gamma delta epsilon zeta eta theta"
    assert [text[a:b] for a, b in passages(text, 17)] == [
        "alpha beta gamma",
        "delta epsilon",
        "zeta eta theta",
    ]


def test_a_word_beyond_the_limit_is_cut_all_the_same() -> None:
    assert passages("x" * 10, 4) == [(0, 4), (4, 8), (8, 10)]


def test_the_usual_limit_is_350_characters() -> None:
    assert max(b - a for a, b in passages("word " * 1000)) <= PASSAGE_CHARS == 350


@given(TEXTS)
def test_sentences_hold_every_character_that_is_not_white_space_in_order(text: str) -> None:
    assert solid("".join(text[a:b] for a, b in sentences(text))) == solid(text)


@given(TEXTS)
def test_sentences_have_no_white_space_around_them(text: str) -> None:
    assert all(text[a:b] == text[a:b].strip() != "" for a, b in sentences(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ('"Stop." He ran.', ['"Stop."', "He ran."]),
        ("no stop\nnext line", ["no stop", "next line"]),
        ("Version 2.5 is out. Fine.", ["Version 2.5 is out.", "Fine."]),
        ("  \n ", []),
    ],
)
def test_a_sentence_ends_at_a_stop_before_white_space_or_at_a_line_break(
    text: str, expected: list[str]
) -> None:
    assert [text[a:b] for a, b in sentences(text)] == expected


def test_sentences_of_a_stretch_stay_inside_it() -> None:
    text = "One two. Three four. Five six."
    assert [text[a:b] for a, b in sentences(text, 4, 16)] == ["two.", "Three f"]


def test_terms_are_stemmed_in_lower_case_without_stop_words() -> None:
    assert terms("She WAS running with the Dogs, they ran") == ["run", "dog", "ran"]


def test_content_terms_keep_stop_words_when_there_is_nothing_else() -> None:
    assert (terms("who is who"), content_terms("who is who")) == ([], ["who", "is", "who"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("猫がいる", ["猫", "がい"]),
        ("牙医", ["牙", "医", "牙医"]),
        ("電車で行く", ["電", "車", "行", "電車", "行く"]),
        ("ピザ", ["ピザ"]),
        ("ピザトースト", ["ピザトースト", "ピザ", "ザト", "トー", "ース", "スト"]),
        ("고양이", ["고양", "양이"]),
        ("ข้าว", ["ข้า", "าว"]),
    ],
)
def test_scripts_without_spaces_are_terms_of_two_signs(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("हिन्दी", "हिन्दी"),
        ("ज़रूर", "जरूर"),
        ("वहाँ दाँत", "वहां दांत"),
        ("مُحَمَّد", "محمد"),
        ("الكتـــاب", "كتاب"),
        ("القطة", "قطتنا"),
        ("сестра", "сестры"),
        ("ёлка", "елки"),
        ("Schlüssel für die Häuser", "Haus und der Schluessel"),
        ("¿Dónde está el médico?", "los medicos están"),
        ("l'hôpital où", "les hopitaux où"),
        ("ＡＢＣ と ﾄｰｽﾀｰ", "abc と トースター"),
        ("Cafe\u0301 für mich", "Café für dich"),
    ],
)
def test_ways_to_write_a_word_are_the_same_term(text: str, same: str) -> None:
    assert set(terms(text)) & set(terms(same))


def test_combining_marks_do_not_cut_words() -> None:
    assert words("मेरी बिल्ली") == ["बिल्ली"]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Where does Ana live?", "english"),
        ("The Café in Zürich was nice", "english"),
        ("How do you say 'Ich habe einen Hund' in German?", "english"),
        ("Viva Las Vegas", "english"),
        ("Art is in an old van", "english"),
        ("van was in Den Haag", "english"),
        ("Wat is de naam van Bart?", "dutch"),
        ("Was kostet die Katze?", "german"),
        ("wat was de code van de garage", "dutch"),
        ("Wo wohnt Ana?", "german"),
        ("¿Dónde vive Ana?", "spanish"),
        ("Où habite Ana ?", "french"),
        ("Onde mora a Ana?", "portuguese"),
        ("Dove abita Ana?", "italian"),
        ("Waar woont Ana?", "dutch"),
        ("Var bor Ana och hennes man?", "swedish"),
        ("Gdzie mieszka Ana i jej mąż?", "polish"),
    ],
)
def test_the_language_of_a_text_is_told_by_its_words(text: str, language: str) -> None:
    assert worded(text).language == language


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("Wo arbeitet Annas Schwester?", "Meine Schwestern arbeiten dort in einem Krankenhaus."),
        ("¿Cuándo encontró las llaves?", "La vecina ha encontrado la llave."),
        ("Когда придут чинить машину?", "Стиральная машина опять сломалась."),
        ("小雨的钥匙在哪里？", "我把钥匙丢在公园里了。"),
        ("मेरी चाबी कहाँ है?", "पार्क में चाबियाँ खो गई थीं।"),
        ("أين مفاتيحي؟", "وجد الجار المفاتيح."),
    ],
)
def test_a_question_and_a_line_of_one_language_share_terms(question: str, line: str) -> None:
    assert set(terms(question)) & set(terms(line))


@given(st.text(st.characters(codec="ascii"), max_size=200))
def test_english_words_are_those_between_other_signs(text: str) -> None:
    told = worded(text)
    if told.language == "english":
        found = re.findall("[a-z0-9]+", text.lower())
        assert told.words == [word for word in found if word not in STOPWORDS]


@given(ANY_TEXT)
def test_each_word_has_one_stem(text: str) -> None:
    told = worded(text, content=True)
    assert len(told.stems) == len(told.words)


@given(ANY_TEXT)
def test_terms_of_any_text_can_be_written_as_utf8(text: str) -> None:
    assert all(term.encode() for term in content_terms(text))


@given(ANY_TEXT)
def test_clean_changes_nothing_but_lone_surrogates(text: str) -> None:
    kept = "".join("\ufffd" if "\ud800" <= sign <= "\udfff" else sign for sign in text)
    assert clean(text) == kept
