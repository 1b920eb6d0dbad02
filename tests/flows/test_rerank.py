"""A reranker: it adds to the scores of the best passages; where it fails the score stands alone."""

from __future__ import annotations

import asyncio
import copy
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from often import often

from demem_agent import AsyncSlotMemory, SlotMemory, Turn
from demem_agent.encoders import CrossEncoderReranker
from demem_agent.errors import CollaboratorError, InvalidInput, MissingExtra
from demem_agent.slots.reranking import MOST, RERANK_WEIGHT
from demem_agent.testing import Async, Failing, ScriptedReranker
from demem_agent.types import Reranker

ASKED = "Which boat is green?"
#: So alike to the score that a reranker decides among them; by itself it puts the second first.
TURNS = tuple(
    Turn(f"The boat in harbour {n} is green", speaker="Ana", at="2024-05-01")
    for n in (11, 12, 13, 14)
)


def longest(_: str, text: str) -> float:
    return len(text)


def like_the_last(_: str, text: str) -> float:
    return 9.0 if "14" in text else 0.0


def memory_of(turns: tuple[Turn, ...] = TURNS, **options: Any) -> SlotMemory:
    memory = SlotMemory(**{"clock": None, "stale": "show", "floor": 0.0, **options})
    memory.ingest_many(turns)
    return memory


def first(memory: SlotMemory, query: str = ASKED) -> str:
    return memory.read(query).ranked[0].text


def scores(memory: SlotMemory) -> NDArray[np.float64]:
    scored = {line.evidence.id: line.score for line in memory.read(ASKED).lines}
    return np.array([scored[f"e{n}"] for n in range(1, len(scored) + 1)])


def test_of_passages_that_score_alike_the_best_by_the_reranker_goes_first() -> None:
    assert first(memory_of()) == TURNS[1].text
    assert first(memory_of(reranker=ScriptedReranker(like_the_last))) == TURNS[3].text


def test_it_is_asked_the_query_with_who_said_what() -> None:
    reranker = ScriptedReranker(longest)
    memory_of(reranker=reranker).read(ASKED)
    [(query, texts)] = reranker.asked
    assert query == ASKED
    assert sorted(texts) == sorted(f"Ana: {turn.text}" for turn in TURNS)


@settings(deadline=None, max_examples=often(30))
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=4, max_size=4))
def test_it_adds_so_many_standard_deviations_times_the_weight(told: list[float]) -> None:
    said = dict(zip([f"Ana: {turn.text}" for turn in TURNS], told, strict=True))
    reranker = ScriptedReranker(lambda _, text: said[text])
    # In one slot, as what is in the routed one is ahead by a little more.
    added = scores(memory_of(reranker=reranker, slots=1)) - scores(memory_of(slots=1))
    assert added.mean() == pytest.approx(0.0, abs=1e-3)
    assert added.std() == pytest.approx(RERANK_WEIGHT * (len(set(told)) > 1), abs=1e-3)
    assert (np.diff(added[np.argsort(told)]) >= -1e-3).all()


def test_equals_stay_in_the_order_of_the_score() -> None:
    plain = memory_of().read(ASKED)
    equal = memory_of(reranker=ScriptedReranker(lambda _, __: 1.0)).read(ASKED)
    assert equal == plain
    assert equal.ranked == plain.ranked


@settings(deadline=None, max_examples=often(20))
@given(st.floats(0.001, 1000), st.floats(-1000, 1000))
def test_the_scale_of_its_numbers_does_not_matter(scale: float, shift: float) -> None:
    moved = ScriptedReranker(lambda query, text: longest(query, text) * scale + shift)
    expected = memory_of(reranker=ScriptedReranker(longest)).read(ASKED)
    assert memory_of(reranker=moved).read(ASKED) == expected


def _boat(number: int) -> str:
    """Return a line that shares too few words with others to be of one mould."""
    word = "".join("abcdefghij"[int(digit)] for digit in f"{number:03}")
    crew = " ".join(f"{word}{end}" for end in ("an", "ek", "il", "os", "um"))
    return f"The boat number {number} is in harbour {number} {crew}"


def test_it_sees_so_many_of_the_best_alone_and_the_rest_scores_as_without() -> None:
    turns = tuple(Turn(_boat(n)) for n in range(MOST + 40))
    reranker = ScriptedReranker(lambda _, text: -float(text.split()[3]))
    reading = memory_of(turns, reranker=reranker, slots=1).read("boat in harbour 77", limit=9000)
    plain = memory_of(turns, slots=1).read("boat in harbour 77", limit=9000)
    shown = set(reranker.asked[0][1])
    assert shown == {item.text for item in plain.ranked[:MOST]}
    before = {line.text: line.score for line in plain.lines}
    after = {line.text: line.score for line in reading.lines}
    assert {text for text in before if before[text] == after[text]} == before.keys() - shown


def test_what_is_left_out_is_not_shown_to_it() -> None:
    reranker = ScriptedReranker(longest)
    memory_of(reranker=reranker).read(ASKED, without=["e1"])
    assert not any("11" in text for text in reranker.asked[0][1])


def test_what_proved_right_stays_ahead_of_it() -> None:
    memory = memory_of(reranker=ScriptedReranker(like_the_last))
    answer = memory.answer(ASKED, asker="Ben")
    memory.feedback(answer, reference="harbour 12")
    assert memory.read(ASKED, asker="Ben").ranked[0].text == TURNS[1].text


def test_a_failure_is_counted_and_seen_and_the_score_orders() -> None:
    memory = memory_of(reranker=Failing())
    reading = memory.read(ASKED)
    assert reading.unranked == "the reranker failed: RuntimeError"
    assert reading.text == memory_of().read(ASKED).text
    assert memory.answer(ASKED).reading.unranked == reading.unranked
    assert memory.reranker_failures == {"the reranker failed: RuntimeError": 2}


def test_it_is_asked_again_after_a_failure() -> None:
    memory = memory_of(reranker=Failing(ScriptedReranker(like_the_last), good=1))
    assert not memory.read(ASKED).unranked
    assert memory.read(ASKED).unranked
    assert sum(memory.reranker_failures.values()) == 1


@pytest.mark.parametrize(
    "given",
    [[1.0], [1.0, 2.0, float("nan"), 0.0], "four", None, [["a"]] * 4, [[1.0, 2.0]] * 4],
)
def test_anything_but_a_number_a_text_is_a_failure(given: object) -> None:
    class Odd:
        def score(self, query: str, texts: list[str], /) -> object:
            return given

    memory = memory_of(reranker=Odd())
    assert "the reranker gave" in memory.read(ASKED).unranked
    assert len(memory.reranker_failures) == 1


def test_a_memory_without_one_has_no_failures() -> None:
    memory = memory_of()
    assert memory.read(ASKED).unranked == ""
    assert memory.reranker_failures == {}


def test_it_is_asked_nothing_where_there_is_nothing_to_order() -> None:
    reranker = ScriptedReranker(longest)
    memory = SlotMemory(reranker=reranker)
    assert memory.read(ASKED).text == ""
    memory.ingest("One line alone")
    memory.read(ASKED)
    assert reranker.asked == []


def test_the_route_follows_it() -> None:
    reranker = ScriptedReranker(like_the_last)
    memory = memory_of(reranker=reranker)
    assert memory.route(ASKED) == memory.answer(ASKED).route
    assert len(reranker.asked) == 2


@pytest.mark.parametrize("wrapped", [False, True], ids=["sync", "async"])
def test_it_may_be_a_coroutine_in_either_memory(wrapped: bool) -> None:
    inner = ScriptedReranker(like_the_last)
    reranker: Reranker = Async(inner) if wrapped else inner

    async def read() -> str:
        memory = AsyncSlotMemory(reranker=reranker)
        await memory.ingest_many(TURNS)
        return (await memory.read(ASKED)).ranked[0].text

    assert asyncio.run(read()) == TURNS[3].text
    assert first(memory_of(reranker=reranker)) == TURNS[3].text


def test_what_is_forgotten_meanwhile_is_not_read() -> None:
    memory = memory_of()

    class Forgets:
        def score(self, query: str, texts: list[str], /) -> list[float]:
            memory.forget("e4")
            return [like_the_last(query, text) for text in texts]

    memory = memory_of(reranker=Forgets())
    reading = memory.read(ASKED)
    assert "harbour 14" not in reading.text
    assert not reading.unranked


def test_a_copy_of_the_memory_has_it_too() -> None:
    memory = memory_of(reranker=ScriptedReranker(like_the_last))
    assert first(copy.deepcopy(memory)) == TURNS[3].text


class Pairs:
    """What a loaded cross-encoder is to its caller."""

    def __init__(self, column: bool) -> None:
        self.column = column

    def predict(self, sentences: list[tuple[str, str]], /) -> Any:
        told = np.array([like_the_last(*pair) for pair in sentences], np.float32)
        return told[:, None] if self.column else told


@pytest.mark.parametrize("column", [False, True])
def test_a_loaded_cross_encoder_is_one(column: bool) -> None:
    reranker = CrossEncoderReranker(Pairs(column))
    assert reranker.name == "Pairs"
    assert first(memory_of(reranker=reranker)) == TURNS[3].text


def test_a_cross_encoder_that_gives_classes_is_refused() -> None:
    class Classes:
        def predict(self, sentences: list[tuple[str, str]], /) -> Any:
            return np.zeros((len(sentences), 3))

    with pytest.raises(CollaboratorError, match="shape"):
        CrossEncoderReranker(Classes()).score("?", ["a", "b"])


@pytest.mark.parametrize("given", [" ", 7, Pairs])
def test_what_is_no_cross_encoder_is_refused(given: Any) -> None:
    with pytest.raises(InvalidInput, match="reranker"):
        CrossEncoderReranker(given)


@pytest.mark.parametrize("given", [7, Pairs(False), ScriptedReranker])
def test_what_is_no_reranker_is_refused(given: Any) -> None:
    with pytest.raises(InvalidInput, match="reranker"):
        SlotMemory(reranker=given)


def test_a_name_without_the_extra_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("demem_agent.encoders.crossing.find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"pip install 'demem-agent\[sentence-transformers\]'"):
        SlotMemory(reranker="cross-encoder/some-model")


def test_a_cross_encoder_by_name_is_loaded_when_it_is_needed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loaded: list[str] = []

    def load(name: str) -> Pairs:
        loaded.append(name)
        return Pairs(column=False)

    library = ModuleType("sentence_transformers")
    library.__spec__ = ModuleSpec("sentence_transformers", None)
    monkeypatch.setattr(library, "CrossEncoder", load, raising=False)
    monkeypatch.setitem(sys.modules, "sentence_transformers", library)
    memory = memory_of(reranker="some/model")
    assert loaded == []
    assert first(memory) == first(memory) == TURNS[3].text
    assert loaded == ["some/model"]
