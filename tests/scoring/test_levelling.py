"""Lines in another language than the question compete by how they stand among themselves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent import SlotMemory
from demem_agent.encoders import describe
from demem_agent.scoring.features import FEATURES
from demem_agent.scoring.levelling import BY_RELATED, FEW, levels
from demem_agent.text.language.scripts import script_of
from demem_agent.text.language.words import words

RELATED, COSINE = FEATURES.index("related"), FEATURES.index("cosine")
CHATTER = (
    "What is the plan for my day, and what do I have to do first?",
    "I have a meeting at nine and I do not know what it is about.",
    "My sister called and we talked about the weather for an hour.",
    "Can you write a short poem about my morning coffee?",
    "What do I say to my boss when I am late again?",
    "I was at the gym and it was so full that I left.",
    "How do I get this stain out of my shirt?",
    "The bus was late and I had to run to work.",
)
TOLD = {
    "german": "Der Schlüssel für den Keller hängt hinter der Uhr in der Küche.",
    "spanish": "La llave del sótano está colgada detrás del reloj de la cocina.",
    "russian": "Ключ от подвала висит за часами на кухне.",
    "chinese": "地下室的钥匙挂在厨房的钟后面。",
    "japanese": "地下室の鍵は台所の時計の後ろに掛かっています。",
    "hindi": "तहखाने की चाबी रसोई की घड़ी के पीछे टंगी है।",
}
QUESTION = "Where do I have the key to my basement?"


def memory_of(*lines: str) -> SlotMemory:
    memory = SlotMemory(clock=None)
    for line in lines:
        memory.ingest(line, speaker="user")
    return memory


@pytest.mark.parametrize(
    ("told", "beside"),
    [
        (
            "german",
            ("Heute war es warm.", "Wir haben im Garten gegessen.", "Das Auto ist rot."),
        ),
        ("spanish", ("Hoy hace mucho calor.", "Hemos comido en el jardín.", "El coche es rojo.")),
        ("russian", ("Сегодня очень жарко.", "Мы ели в саду.", "Машина красная.")),
        ("chinese", ("今天很热。", "我们在花园里吃饭。", "汽车是红色的。")),
    ],
)
def test_what_is_asked_for_in_another_language_is_read_before_chatter(
    told: str, beside: tuple[str, ...]
) -> None:
    memory = memory_of(*CHATTER, TOLD[told], *beside)
    best = sorted(memory.read(QUESTION, floor=0).lines, key=lambda one: -one.score)
    assert TOLD[told] in [one.text for one in best[:3]]


@pytest.mark.parametrize(
    ("text", "script"),
    [
        (QUESTION, "LATIN"),
        (TOLD["spanish"], "LATIN"),
        (TOLD["russian"], "CYRILLIC"),
        (TOLD["chinese"], "CJK"),
        (TOLD["japanese"], "KANA"),
        (TOLD["hindi"], "DEVANAGARI"),
        ("მე მიყვარს ჩაი", "OTHER"),
        ("", "LATIN"),
        ("the word ключ is Russian for key", "LATIN"),
    ],
)
def test_a_script_is_that_of_most_words(text: str, script: str) -> None:
    assert script_of(words(text)) == script


def test_a_memory_in_one_language_is_read_as_without_levels() -> None:
    memory = memory_of(*CHATTER)
    weighed = memory.weigh(QUESTION, floor=0)
    assert all("language" not in parts for parts in weighed.parts)


def test_what_a_line_gains_is_told_among_the_parts_of_its_score() -> None:
    memory = memory_of(*CHATTER, *TOLD.values())
    weighed = memory.weigh(QUESTION, floor=0)
    gained = {
        line.text: parts.get("language", 0.0)
        for line, parts in zip(weighed.reading.lines, weighed.parts, strict=True)
    }
    assert all(gained[line] > 0 for line in TOLD.values())
    assert all(gained[line] == 0 for line in CHATTER)
    for line, parts in zip(weighed.reading.lines, weighed.parts, strict=True):
        assert sum(parts.values()) == pytest.approx(line.score, abs=0.01)


rows = st.lists(st.tuples(st.floats(-30, 30), st.booleans(), st.floats(0, 1)), min_size=1)


@given(rows, st.booleans())
def test_only_foreign_lines_gain_and_stay_in_their_order_by_score_and_meaning(
    given_: list[tuple[float, bool, float]], multilingual: bool
) -> None:
    scores = np.array([row[0] for row in given_])
    foreign = np.array([row[1] for row in given_])
    table = np.zeros((len(given_), len(FEATURES)), np.float32)
    table[:, RELATED] = [row[2] for row in given_]
    added = levels(scores, table, foreign, multilingual=multilingual)
    assert (added[~foreign] == 0).all()
    assert (added[foreign] >= 0).all()
    if foreign.all() or not foreign.any():
        assert not added.any()
        return
    fewer = min(foreign.sum(), (~foreign).sum())
    by_meaning = BY_RELATED * table[foreign, RELATED] * fewer / (fewer + FEW)
    assert np.ptp(added[foreign] - by_meaning) < 1e-3


def test_an_encoder_may_say_that_it_is_multilingual() -> None:
    class Many:
        multilingual = True

        def encode(self, texts: list[str]) -> np.ndarray:
            return np.ones((len(texts), 3))

    assert describe(Many()).multilingual
    assert describe(Many()) == describe(Many())
    assert not describe(object()).multilingual
