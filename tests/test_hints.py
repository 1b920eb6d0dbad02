"""What is called otherwise here is named where it is missed, and nowhere else."""

from __future__ import annotations

import copy
import inspect
import re
import subprocess
import sys
from typing import Any

import pytest

from demem_agent import AsyncSlotMemory, InvalidInput, SlotMemory, hints

#: What a call in a hint may be of.
CALLED = re.compile(r"\b([a-z_]+)\(")


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
        ({"user_id": "ana"}, "here it is asker=, who asks"),
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
        ({"user_id": "ana"}, "here it is speaker=, who said it"),
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
