"""What is kept to save work is made again where it would be another."""

from __future__ import annotations

from demem_agent import Evidence, SlotMemory
from demem_agent.scoring import Query, Ranking, Weights, default_weights
from demem_agent.scoring.index import PassageIndex
from demem_agent.slots.cache import Cache
from demem_agent.testing import BagEncoder

ENCODER = BagEncoder()


def put(index: PassageIndex, number: int, text: str) -> None:
    index.add(Evidence(f"e{number}", text), [(0, len(text))], ENCODER.encode([text]), 0)


def query(text: str, asker: str | None = None) -> Query:
    return Query(text, ENCODER.encode([text])[0], asker=asker)


def ranking(cache: Cache, index: PassageIndex, asked: Query) -> Ranking:
    return cache.ranking_of(index, asked, default_weights())


def test_the_same_question_is_ranked_once_while_passages_stay() -> None:
    index = PassageIndex(ENCODER.dimensions)
    put(index, 1, "I like bread")
    cache = Cache()
    first = ranking(cache, index, query("bread"))
    assert ranking(cache, index, query("bread")) is first
    assert ranking(cache, index, query("bread", "Ana")) is not first
    assert ranking(cache, index, query("cats")) is not first


def test_a_question_is_ranked_anew_once_passages_come_or_go() -> None:
    index = PassageIndex(ENCODER.dimensions)
    put(index, 1, "I like bread")
    cache = Cache()
    ranking(cache, index, query("bread"))
    put(index, 2, "Bread is what I bake")
    assert sorted(ranking(cache, index, query("bread")).rows.tolist()) == [0, 1]
    index.remove({"e1"})
    assert ranking(cache, index, query("bread")).rows.tolist() == [0]


def test_nothing_is_kept_of_a_question_once_text_is_forgotten() -> None:
    index = PassageIndex(ENCODER.dimensions)
    put(index, 1, "I like bread")
    cache = Cache()
    ranking(cache, index, query("bread"))
    cache.forget(["e1"])
    assert "bread" not in repr(cache.rankings)


def test_nothing_is_kept_of_what_no_longer_holds_once_text_is_forgotten() -> None:
    memory = SlotMemory(clock=None)
    memory.ingest("The boiler is in the cellar")
    memory.ingest("The boiler is in the attic")
    memory.evidence(where={"holds": True})
    cache = memory._held.state.cache
    assert cache.standing is not None
    memory.forget("e2")
    assert cache.standing is None


def test_other_weights_rank_anew() -> None:
    index = PassageIndex(ENCODER.dimensions)
    put(index, 1, "I like bread")
    cache = Cache()
    nothing = Weights(tuple(0.0 for _ in default_weights().values))
    assert ranking(cache, index, query("bread")).scores[0] != 0
    assert cache.ranking_of(index, query("bread"), nothing).scores[0] == 0


def test_a_line_that_many_answers_were_read_from_is_in_ram_once() -> None:
    cache = Cache()
    first = cache.shared([("e1", 0, 5), ("e2", 0, 7)])
    again = cache.shared([("e2", 0, 7), ("e3", 0, 2)])
    assert again == (("e2", 0, 7), ("e3", 0, 2))
    assert again[0] is first[1]


def test_nothing_of_a_line_is_kept_once_its_item_is_forgotten() -> None:
    cache = Cache()
    cache.shared([("e1", 0, 5), ("e2", 0, 7)])
    cache.forget(["e1"])
    assert list(cache.stretches) == [("e2", 0, 7)]
