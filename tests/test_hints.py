"""What is called otherwise here is named where it is missed, and nowhere else."""

from __future__ import annotations

import asyncio
import copy
import inspect
import re
import subprocess
import sys
from typing import Any

import pytest

from demem_agent import AsyncSlotMemory, InvalidInput, SlotMemory, hints
from demem_agent.door import KEYWORDS
from demem_agent.where import Where

#: What a call in a hint may be of.
CALLED = re.compile(r"\b([a-z_]+)\(")


USER = r"a user is a memory of their own: SlotMemory.open\(url, memory_id='ana'\)"


@pytest.mark.parametrize("kind", [SlotMemory, AsyncSlotMemory])
@pytest.mark.parametrize(
    "name",
    "add search get_all query store remember recall save get insert remove".split(),
)
def test_a_verb_of_another_memory_is_answered_by_the_one_here(kind: type, name: str) -> None:
    memory = kind()
    assert not hasattr(memory, name)
    with pytest.raises(AttributeError, match=rf"{kind.__name__} has no '{name}': use \w+"):
        getattr(memory, name)


@pytest.mark.parametrize("name", hints.VERBS)
def test_a_hint_is_of_what_is_not_here_and_names_what_is(name: str) -> None:
    assert not hasattr(SlotMemory, name)
    called = set(CALLED.findall(hints.VERBS[name])) - {"len"}
    assert [verb for verb in called if not hasattr(SlotMemory, verb)] == []


def test_a_misspelled_verb_is_put_right() -> None:
    with pytest.raises(AttributeError, match="did you mean 'ingest_many'"):
        SlotMemory().ingestmany  # noqa: B018
    with pytest.raises(AttributeError, match=r"^SlotMemory has no 'colour'$"):
        SlotMemory().colour  # noqa: B018


def test_what_is_private_is_missed_as_in_any_object() -> None:
    with pytest.raises(AttributeError, match="object has no attribute '_nothing'"):
        SlotMemory()._nothing  # noqa: B018
    made = SlotMemory.__new__(SlotMemory)
    with pytest.raises(AttributeError, match="_held"):
        made.settings  # noqa: B018
    assert len(copy.copy(SlotMemory())) == 0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"k": 5}, "here it is limit=, how much may be read"),
        ({"top_k": 5}, "here it is limit="),
        ({"limt": 5}, r"did you mean limit=\?"),
        ({"num_results": 5}, "here it is limit="),
        ({"user_id": "ana"}, USER),
        ({"session": "s1"}, r"here it is where=\{'session': ...\}"),
        ({"run_id": "s1"}, r"here it is where=\{'session': ...\}"),
        ({"since": "2024"}, r"here it is where=\{'since': ...\}"),
        ({"speaker": "Ana"}, r"here it is where=\{'speaker': ...\}"),
        ({"timestamp": "2024"}, "here it is at="),
        ({"namespace": "x"}, r"SlotMemory.open\(url, memory_id=...\)"),
        ({"rerank": True}, r"SlotMemory\(reranker=...\)"),
        ({"zzz": 1}, "unexpected keyword argument 'zzz'$"),
    ],
)
def test_an_argument_of_another_memory_is_named_as_here(given: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        SlotMemory().read("Where?", **given)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"role": "user"}, "here it is speaker="),
        ({"speeker": "Ana"}, r"did you mean speaker=\?"),
        ({"run_id": "1"}, "here it is session="),
    ],
)
def test_an_argument_of_ingest_is_named_as_here(given: Any, said: str) -> None:
    memory = SlotMemory()
    with pytest.raises(TypeError, match=f"ingest got an unexpected .*{said}"):
        memory.ingest("Text.", **given)
    with pytest.raises(InvalidInput, match=r"did you mean '(speaker|session)'\?"):
        memory.ingest_many([{"text": "Text.", **given}])
    assert len(memory) == 0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"user_id": "ana"}, USER),
        ({"infer": False}, "a note_taker given at the opening"),
        ({"immutable": True}, r"keep\(evidence_id\)"),
        ({"expiration_date": "2025-01-01"}, r"SlotMemory\(keep_days=...\)"),
        ({"ttl": 60}, r"SlotMemory\(keep_days=...\)"),
    ],
)
def test_what_no_argument_of_ingest_stands_for_is_told_all_the_same(given: Any, said: str) -> None:
    with pytest.raises(TypeError, match=f"ingest got an unexpected .*{said}"):
        SlotMemory().ingest("Text.", **given)
    with pytest.raises(InvalidInput, match=said):
        SlotMemory().ingest_many([{"text": "Text.", **given}])


@pytest.mark.parametrize(
    ("method", "given", "said"),
    [
        ("answer", {"user_id": "ana"}, USER),
        ("answer", {"limit": 5}, r"read\(query, limit=...\) takes it"),
        ("evidence", {"user_id": "ana"}, USER),
        ("evidence", {"limit": 5}, r"evidence\(\)\[-5:\]"),
        ("evidence", {"filters": {}}, "here it is where="),
        ("evidence", {"speaker": "Ana"}, r"here it is where=\{'speaker': ...\}"),
        ("forget", {"user_id": "ana"}, USER),
        ("forget", {"session_id": "s1"}, r"here it is where=\{'session': ...\}"),
        ("forget", {"id": "m1"}, "here it is source_id="),
        ("ingest_messages", {"user_id": "ana"}, USER),
        ("ingest_messages", {"run_id": "s1"}, "here it is session="),
    ],
)
def test_an_argument_of_any_method_is_named_as_here(method: str, given: Any, said: str) -> None:
    wants = {"answer": ["Where?"], "ingest_messages": [[]]}
    called = wants.get(method, [])
    with pytest.raises(TypeError, match=f"{method} got an unexpected .*{said}"):
        getattr(SlotMemory(), method)(*called, **given)
    with pytest.raises(TypeError, match=f"{method} got an unexpected .*{said}"):
        asyncio.run(getattr(AsyncSlotMemory(), method)(*called, **given))


@pytest.mark.parametrize("method", KEYWORDS)
def test_the_keywords_of_a_method_are_those_it_spells_out(method: str) -> None:
    for kind in (SlotMemory, AsyncSlotMemory):
        parameters = inspect.signature(getattr(kind, method)).parameters.values()
        named = [one.name for one in parameters if one.kind is one.KEYWORD_ONLY]
        assert tuple(named) == KEYWORDS[method]


def test_a_filter_in_a_hint_asks_for_what_filters_have() -> None:
    assert set(hints.FILTERED.values()) <= Where.__annotations__.keys()


@pytest.mark.parametrize("kind", [SlotMemory, AsyncSlotMemory])
def test_a_url_given_to_the_constructor_is_sent_to_open(kind: Any) -> None:
    with pytest.raises(TypeError, match=rf"'sqlite:///u.db'; .* {kind.__name__}.open\(url, ...\)"):
        kind("sqlite:///u.db")


@pytest.mark.parametrize("name", ["delete_all", "reset", "clear"])
def test_who_wants_all_gone_is_told_how_a_whole_memory_is_deleted(name: str) -> None:
    with pytest.raises(AttributeError, match=r"delete\(\) .* demem_agent.memories.delete_memory"):
        getattr(SlotMemory(), name)


def test_an_option_of_another_memory_is_named_as_here() -> None:
    options: Any = {"user_id": "ana"}
    with pytest.raises(TypeError, match="here it is memory_id="):
        SlotMemory(**options)


@pytest.mark.parametrize("name", hints.ARGUMENTS)
def test_an_argument_that_stands_for_another_is_there_or_at_the_opening(name: str) -> None:
    for known in (("limit", "asker", "at"), ("speaker", "session"), (), ("memory_id",)):
        hint = hints.for_argument(name, known)
        assert isinstance(hint, str)
        named = re.search(r"here it is (\w+)=", hint)
        assert named is None or named[1] in known


def test_hints_are_loaded_where_one_is_given_and_not_before() -> None:
    script = (
        "import sys; from demem_agent import SlotMemory; memory = SlotMemory();"
        "memory.ingest('x'); memory.read('x'); print('demem_agent.hints' in sys.modules);"
        "print(hasattr(memory, 'search'), 'demem_agent.hints' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", "False", "True"]


def test_a_checker_sees_no_method_that_is_not_there() -> None:
    source = inspect.getsource(SlotMemory.__mro__[1])
    assert "if not TYPE_CHECKING" in source
