"""What is made when it is first used is what it would have been at once."""

from __future__ import annotations

import copy
import dataclasses
import importlib
import inspect
import pickle
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import demem_agent
from demem_agent import later

HOWS = [
    {"frozen": True},
    {"frozen": True, "eq": False},
    {"frozen": True, "kw_only": True},
    {"frozen": False},
]
ROOMS = sorted(
    path.relative_to(Path(demem_agent.__file__).parents[1]).with_suffix("")
    for path in Path(demem_agent.__file__).parent.rglob("*.py")
    if path.stem != "__init__" and "later import dataclass" in path.read_text(encoding="utf-8")
)


def pair(make: Callable[..., Any], how: dict[str, bool]) -> type:
    """Declare a small record by one of the two decorators."""

    @make(slots=True, **how)
    class Pair:
        """Two of a kind."""

        left: int
        right: list[int] = field(default_factory=list)
        name: str = "pair"

        def __post_init__(self) -> None:
            if self.left < 0:
                raise ValueError("left")

        @property
        def size(self) -> int:
            return len(self.right)

    return Pair


def both(how: dict[str, bool]) -> tuple[type, type]:
    return pair(dataclasses.dataclass, how), pair(later.dataclass, how)


def is_written(kind: type, method: str) -> bool:
    return inspect.isfunction(vars(kind)[method])


@pytest.mark.parametrize("how", HOWS, ids=str)
def test_a_dataclass_has_what_one_of_the_standard_library_has(how: dict[str, bool]) -> None:
    plain, ours = both(how)
    ours(left=1), repr(ours(left=1)), ours(left=1) == 1
    assert vars(ours).keys() == vars(plain).keys()
    assert inspect.signature(ours) == inspect.signature(plain)
    assert ours.__doc__ == plain.__doc__
    assert ours.__hash__ is not None if plain.__hash__ else ours.__hash__ is None
    for name in ("name", "type", "init", "repr", "compare", "kw_only", "default"):
        said = [getattr(each, name) for each in dataclasses.fields(ours)]
        assert said == [getattr(each, name) for each in dataclasses.fields(plain)]


@pytest.mark.parametrize("how", HOWS, ids=str)
def test_its_instances_behave_as_those_of_the_standard_library(how: dict[str, bool]) -> None:
    for kind in both(how):
        one = kind(left=1, right=[2])
        assert repr(one).endswith("Pair(left=1, right=[2], name='pair')")
        assert (one == kind(left=1, right=[2])) is how.get("eq", True)
        assert copy.deepcopy(one).right == [2]
        assert dataclasses.replace(one, left=3).left == 3
        assert dataclasses.asdict(one) == {"left": 1, "right": [2], "name": "pair"}
        assert one.size == 1
        assert kind(left=1).right is not kind(left=1).right
        assert not hasattr(one, "__dict__")
        with pytest.raises(ValueError, match="left"):
            kind(left=-1)
        with pytest.raises(TypeError):
            kind()


def test_a_frozen_one_cannot_be_changed() -> None:
    _, ours = both({"frozen": True})
    one = ours(1)
    with pytest.raises(FrozenInstanceError):
        one.left = 2
    with pytest.raises(FrozenInstanceError):
        del one.left


def test_no_method_is_written_before_it_is_wanted() -> None:
    _, ours = both({"frozen": True})
    assert not is_written(ours, "__init__")
    ours(1)
    assert is_written(ours, "__init__")
    assert not is_written(ours, "__eq__")


@pytest.mark.parametrize(
    "use",
    [repr, hash, dataclasses.astuple, lambda one: one == one],
    ids=["repr", "hash", "fields", "eq"],
)
def test_whatever_is_wanted_first_is_there(use: Callable[[Any], object]) -> None:
    @later.dataclass(frozen=True, slots=True)
    class Note:
        text: str

    one = object.__new__(Note)  # as unpickling does it, without __init__
    object.__setattr__(one, "text", "a")
    assert use(one) == use(Note("a"))


def test_a_record_that_was_pickled_comes_back_in_a_process_that_made_none() -> None:
    turn = demem_agent.Turn("I moved to Lisbon.", speaker="Ana")
    script = "import pickle, sys; print(pickle.load(sys.stdin.buffer))"
    done = subprocess.run(
        [sys.executable, "-c", script], input=pickle.dumps(turn), capture_output=True, check=True
    )
    assert done.stdout.decode().strip() == repr(turn)


def test_threads_that_make_the_first_instances_together_all_get_one() -> None:
    for _ in range(20):
        _, ours = both({"frozen": True})
        with ThreadPoolExecutor(8) as pool:
            made = list(pool.map(ours, range(8)))
        assert [one.left for one in made] == [*range(8)]
        assert len({type(one) for one in made}) == 1


def test_one_without_slots_is_refused() -> None:
    with pytest.raises(TypeError, match="slots"):
        later.dataclass(slots=False)


def records() -> Iterator[type]:
    """Yield every class of the package that is written later."""
    for path in ROOMS:
        module = importlib.import_module(".".join(path.parts))
        for kind in vars(module).values():
            of_it = isinstance(kind, type) and kind.__module__ == module.__name__
            if of_it and dataclasses.is_dataclass(kind):
                yield kind


def test_every_record_of_the_package_can_be_written() -> None:
    found = list(records())
    assert len(found) > 100
    for kind in found:
        fields = [each.name for each in dataclasses.fields(kind)]
        assert fields == list(kind.__slots__)
        assert list(inspect.signature(kind).parameters) == fields
        assert kind.__match_args__ == () or set(kind.__match_args__) <= set(fields)
        assert is_written(kind, "__init__")
        assert is_written(kind, "__repr__")


@given(st.text(alphabet="ab1 ", max_size=20))
def test_a_pattern_finds_what_the_compiled_one_finds(text: str) -> None:
    compiled = re.compile(r"A+1?", re.IGNORECASE)
    ours = later.pattern(r"A+1?", re.IGNORECASE)
    assert ours.findall(text) == compiled.findall(text)
    assert ours.sub("-", text) == compiled.sub("-", text)
    assert (ours.search(text) is None) is (compiled.search(text) is None)
    assert ours.pattern == compiled.pattern
    assert ours.flags == compiled.flags


def test_a_wrong_pattern_is_told_where_it_is_used() -> None:
    wrong = later.pattern("(")
    with pytest.raises(re.error):
        wrong.search("a")


def test_a_module_is_imported_when_something_of_it_is_asked_for() -> None:
    lazily = later.module("demem_agent.no_such_module")
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        lazily.anything  # noqa: B018
    assert later.module("math").sqrt(4) == 2


def test_a_package_gives_its_names_and_its_modules_and_no_others() -> None:
    member = later.members_of("demem_agent", {"SlotMemory": "demem_agent.memory"})
    assert member("SlotMemory") is demem_agent.SlotMemory
    assert isinstance(member("flows"), ModuleType)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        member("nothing")


def test_a_module_that_misses_another_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shelf").mkdir()
    (tmp_path / "shelf" / "__init__.py").touch()
    (tmp_path / "shelf" / "broken.py").write_text("import nowhere_to_be_found\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModuleNotFoundError, match="nowhere_to_be_found"):
        later.members_of("shelf")("broken")
