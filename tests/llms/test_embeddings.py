"""An encoder behind HTTP, by the real client: one vector for each text, in order, or an error."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from demem_agent import SlotMemory
from demem_agent.encoders import describe
from demem_agent.errors import InvalidInput, ModelError
from demem_agent.llms import Breaker, OpenAIEmbeddings, Retry
from demem_agent.testing import BagEncoder, Provider, Seen
from demem_agent.types import Encoder

QUICK = Retry(seconds=5.0, first_wait=0.01)
BRIEF = Retry(seconds=0.15, first_wait=0.01)


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with Provider(retry_after=0.02, drip=0.01) as serving:
        embeddings(serving).encode(
            ["a"]
        )  # imports the client, for which short deadlines leave no time
        yield serving


def raised(call: Callable[[], object]) -> ModelError:
    with pytest.raises(ModelError) as caught:
        call()
    return caught.value


def embeddings(provider: Provider, fault: str = "", **options: Any) -> OpenAIEmbeddings:
    retry = BRIEF if fault in ("stall", "slow-drip") else QUICK
    name = f"fault-{fault}" if fault else "vectors"
    return OpenAIEmbeddings(name, base_url=provider.url, **{"retry": retry, **options})


@pytest.mark.parametrize("fault", ["", "shuffled"])
def test_every_text_gets_its_own_vector_whatever_the_batches_and_the_order(
    provider: Provider, fault: str
) -> None:
    texts = ["a dog", "the cat", "Rex", "a house", "Lisbon"]
    encoder = embeddings(provider, fault, batch=2)
    assert np.allclose(encoder.encode(texts), BagEncoder().encode(texts))
    assert np.allclose(asyncio.run(encoder.aencode(texts)), BagEncoder().encode(texts))
    assert encoder.health.requests == 6


@pytest.mark.parametrize(
    "fault", ["one-missing", "no-choices", "not-a-number", "html", "cut-json", "wrong-schema"]
)
def test_unusable_vectors_are_an_error(provider: Provider, fault: str) -> None:
    error = raised(lambda: embeddings(provider, fault).encode(["a", "b"]))
    assert (error.kind, error.requests) == ("malformed", 3)


@pytest.mark.parametrize(
    ("fault", "end"),
    [
        ("429", ("rate limited", 3)),
        ("500", ("unavailable", 3)),
        ("reset", ("unavailable", 3)),
        ("stall", ("timeout", 1)),
        ("slow-drip", ("timeout", 1)),
        ("401", ("unauthorised", 1)),
    ],
)
def test_embeddings_end_as_completions_do(
    provider: Provider, fault: str, end: tuple[str, int]
) -> None:
    error = raised(lambda: embeddings(provider, fault).encode(["a", "b"]))
    assert (error.kind, error.requests) == end


def test_vectors_of_another_length_are_an_error(provider: Provider) -> None:
    assert raised(lambda: embeddings(provider, dimensions=15).encode(["a"])).kind == "malformed"
    growing = OpenAIEmbeddings("grows", base_url=provider.url, retry=Retry(1))
    growing.encode(["a"])
    growing.dimensions = 8  # as if the first reply had been of that length
    assert raised(lambda: growing.encode(["a"])).kind == "malformed"


def test_a_provider_is_asked_for_shorter_vectors(provider: Provider) -> None:
    encoder = embeddings(provider, dimensions=5, shorten=True)
    assert encoder.encode(["a", "b"]).shape == (2, 5)
    assert provider.requests[-1].body["dimensions"] == 5


def test_blank_and_endless_texts_are_encoded_too(provider: Provider) -> None:
    assert embeddings(provider).encode(["", " \n", "word " * 9000]).shape == (3, 16)
    assert max(map(len, provider.requests[-1].body["input"])) <= 8192


def test_no_texts_make_no_request(provider: Provider) -> None:
    encoder = embeddings(provider)
    assert encoder.encode([]).shape == (0, 0)
    assert encoder.health.requests == 0


def test_an_encoder_is_known_before_its_first_call_and_by_its_model_alone(
    provider: Provider,
) -> None:
    encoder = embeddings(provider)
    before = describe(encoder)
    encoder.encode(["a"])
    elsewhere = OpenAIEmbeddings("vectors", base_url="http://example.org/v1")
    assert describe(encoder) == before == describe(elsewhere)
    assert describe(encoder) != describe(embeddings(provider, dimensions=5, shorten=True))


def test_one_text_in_place_of_a_list_is_refused(provider: Provider) -> None:
    with pytest.raises(InvalidInput, match="list"):
        embeddings(provider).encode("text")  # type: ignore[arg-type]


def test_a_memory_runs_on_an_encoder_behind_http(provider: Provider) -> None:
    encoder = embeddings(provider)
    assert isinstance(encoder, Encoder)
    memory = SlotMemory(encoder=encoder)
    memory.ingest("Ana moved to Lisbon in May.", speaker="Ana")
    memory.ingest("Rex sleeps on the sofa.", speaker="Ben")
    assert "Lisbon" in memory.read("Where did Ana move?").text


class Odd(Provider):
    """Reply with any JSON value."""

    value: Any = None

    def body(self, seen: Seen, fault: str) -> Any:
        return self.value


def test_no_json_value_whatever_passes_for_vectors() -> None:
    vectors: list[Any] = [
        None, [], 7, "text", {}, {"choices": []}, {"error": {"message": "overloaded"}},
        {"data": 5}, {"data": [None]}, {"data": [{"index": 0}]},
        {"data": [{"index": 0, "embedding": []}]},
        {"data": [{"index": [0], "embedding": [1.0]}]},
        {"data": [{"index": 0, "embedding": ["x"]}]},
        {"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0]}]},
    ]  # fmt: skip
    with Odd() as odd:
        encoder = OpenAIEmbeddings("m", base_url=odd.url, retry=Retry(1, 5.0), breaker=Breaker(99))
        for odd.value in vectors:
            assert raised(lambda: encoder.encode(["text"])).kind == "malformed"
