"""What every adapter keeps, written once: a framework says how a turn goes through it."""

from __future__ import annotations

import copy
import pickle
import runpy
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest
from documents import blocks, run_python

from demem_adapters.common import DECLARED, Memories
from demem_agent.errors import StoreError
from demem_agent.stores import MemoryStore
from demem_agent.testing import BagEncoder
from demem_agent.text import measure

__all__ = [
    "ASKED",
    "VALVE",
    "AdapterContract",
    "Driver",
    "Ending",
    "PageContract",
    "blocks_among",
    "texts",
]

ROOT = Path(__file__).parents[2]
VALVE = "My boiler has a brass valve."
ASKED = "Which valve has my boiler?"
#: What was said, and a question that names nothing of it.
BEFORE = ["I love my violin.", "It sounds well."]
FOLLOWS = "Who was that from?"
#: Two lines that answer the same; there is room for one of them.
RIVALS = (
    "The valve of my boiler is the brass one that Omar put in.",
    "The valve of my boiler in winter ought to be the steel one, really.",
)
#: Who asks and what holds, for whom one of them is right.
RAINING = {"asker": "ana", "conditions": ["rain"]}
#: How an answer of the model ends: as it should, cut off (at a limit of its length, say), or with
#: an error.
Ending = Literal["whole", "cut", "fails"]


class Driver(ABC):
    """A framework with its adapter on these memories, and a model that is made to answer."""

    #: A memory that fails is an error of the call: for stores and services that are called by their
    #: name.
    explicit: ClassVar[bool] = False
    #: The adapter takes ``where``: which items may be recalled.
    filters: ClassVar[bool] = True
    #: The framework shows that an answer is made anew: to a message that has no answer after it.
    regenerates: ClassVar[bool] = False
    #: What was recalled stands behind the sentence that declares it to be data.
    declares: ClassVar[bool] = True
    #: The framework shows the adapter what was said before a question.
    shows_before: ClassVar[bool] = True

    def __init__(self, memories: Memories, **asking: Any) -> None:
        """Take the memories, and the adapter's own ``asker``, ``conditions`` and ``where``."""
        self.memories = memories
        self.asking = asking

    @abstractmethod
    def say(
        self,
        text: str,
        *,
        who: str = "ana",
        reply: str = "Noted.",
        ending: Ending = "whole",
        event: str = "",
    ) -> list[str]:
        """Run one turn, and return the texts that reached the model in their order.

        Errors of the model stay inside.

        Args:
            event: a turn with the same is the same turn, carried out again; without one each is
                another.
        """

    def go_on(self, before: Sequence[str], asked: str) -> None:
        """Ask in a conversation of ana's in which this was said, by her and the model in turn."""
        raise NotImplementedError

    def namespace(self, who: str) -> str:
        """Return the namespace of a user."""
        return who

    def recalled(self, seen: list[str]) -> str:
        """Return what was recalled, from the texts that reached the model."""
        for text in seen:
            if DECLARED in text:
                return text.split(DECLARED, 1)[1].strip()
        return ""

    def put_in(self, seen: list[str]) -> str:
        """Return all that was put before the model for what was recalled."""
        return "\n".join(blocks_among(seen)) if self.declares else self.recalled(seen)

    @classmethod
    def limit(cls, room: int) -> int:
        """Return the limit that leaves this much room for a reading."""
        return room + len(DECLARED) + 1 if cls.declares else room

    def parts(self) -> list[Any]:
        """Return the objects of the adapter that a user may copy; each has ``memories``."""
        return [self]


def texts(memories: Memories, namespace: str = "ana") -> list[str]:
    """Return what is remembered in a namespace."""
    memory = memories.known(namespace)
    return [item.text for item in memory.evidence()] if memory else []


def blocks_among(shown: Iterable[str]) -> list[str]:
    """Return the texts with what was recalled, of those that reached the model."""
    return [text for text in shown if DECLARED in text]


def given_to(framework: Driver) -> str:
    """Return what is recalled for a question in a turn that leaves nothing behind."""
    return framework.recalled(framework.say(ASKED, who="home", ending="fails"))


class _Broken(MemoryStore):
    def holds(self, address: Any) -> bool:
        raise StoreError("made to fail")

    def commit(self, address: Any, delta: Any) -> None:
        raise StoreError("made to fail")


class _Watching(BagEncoder):
    def __init__(self) -> None:
        super().__init__()
        self.threads: set[int] = set()

    def encode(self, sentences: list[str], /) -> Any:
        self.threads.add(threading.get_ident())
        return super().encode(sentences)


class _Hearing(Memories):
    """Keeps what was said before each question that is recalled for."""

    def __init__(self) -> None:
        super().__init__(encoder=BagEncoder())
        self.heard: dict[str, Any] = {}

    def recall(self, namespace: str | None, query: str, **about: Any) -> Any:
        self.heard[query] = about.get("context")
        return super().recall(namespace, query, **about)


def _two_letters(text: str) -> int:
    """Count tokens of two characters: a unit of its own, neither characters nor bytes."""
    return (len(text) + 1) // 2


def _pickled(part: Any) -> Any:
    return pickle.loads(pickle.dumps(part))


class PageContract:
    """The page of an adapter and its example, which bear its name."""

    name: ClassVar[str]
    #: Lines that the example prints; none for an adapter without an example.
    shows: ClassVar[tuple[str, ...]] = (
        "ana: Which valve is in the kitchen's boiler?\nbot: You told me: The boiler in the kitchen",
        "ben: Which valve is in the kitchen's boiler?\nbot: I know nothing of it.",
    )

    def after_page(self, namespace: dict[str, Any]) -> None:
        """Check what the Python of the page has made."""

    def test_the_python_of_its_page_runs(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        page = (ROOT / "docs" / "adapters" / f"{self.name}.md").read_text(encoding="utf-8")
        assert page.count("\n") <= 40
        python = [block for block in blocks(page) if block.language == "python"]
        assert python
        namespace: dict[str, Any] = {"__name__": "__main__"}
        for block in python:
            run_python(block, namespace)
        self.after_page(namespace)

    def test_its_example_shows_what_it_says(self, capsys: pytest.CaptureFixture[str]) -> None:
        example = ROOT / "examples" / f"{self.name}_memory.py"
        if not self.shows:
            assert not example.exists()
            return
        runpy.run_path(str(example), run_name="__main__")
        printed = capsys.readouterr().out
        for shown in self.shows:
            assert shown in printed


class AdapterContract(PageContract):
    """Properties of every adapter; a subclass names its driver."""

    driver: ClassVar[type[Driver]]

    @pytest.fixture
    def framework(self) -> Driver:
        return self.driver(Memories(encoder=BagEncoder()))

    def test_both_sides_are_remembered_as_they_were_said(self, framework: Driver) -> None:
        framework.say(VALVE)
        assert texts(framework.memories, framework.namespace("ana")) == [VALVE, "Noted."]

    def test_what_was_said_before_reaches_the_model_and_is_not_remembered_again(
        self, framework: Driver
    ) -> None:
        framework.say(VALVE)
        seen = framework.say(ASKED)
        assert VALVE in framework.recalled(seen)
        assert any(ASKED in text for text in seen)
        remembered = texts(framework.memories, framework.namespace("ana"))
        assert remembered == [VALVE, "Noted.", ASKED, "Noted."]

    def test_one_namespace_never_sees_anothers(self, framework: Driver) -> None:
        framework.say(VALVE)
        seen = framework.say(ASKED, who="ben")
        assert not any("brass" in text for text in seen)
        assert texts(framework.memories, framework.namespace("ben")) == [ASKED, "Noted."]

    def test_asking_in_a_namespace_never_written_gives_nothing_and_does_not_make_it(
        self, framework: Driver
    ) -> None:
        assert framework.recalled(framework.say(ASKED, ending="fails")) == ""
        assert framework.memories.known(framework.namespace("ana")) is None

    @pytest.mark.parametrize("ending", ["cut", "fails"])
    def test_an_answer_that_did_not_come_to_its_end_is_not_remembered(
        self, framework: Driver, ending: Literal["cut", "fails"]
    ) -> None:
        framework.say(VALVE, reply="It is bra", ending=ending)
        for text in texts(framework.memories, framework.namespace("ana")):
            assert "bra" not in text.removeprefix(VALVE)

    def test_the_same_event_twice_is_remembered_once(self, framework: Driver) -> None:
        for _ in range(2):
            framework.say(VALVE, event="x")
        assert texts(framework.memories, framework.namespace("ana")) == [VALVE, "Noted."]

    def test_an_answer_that_is_made_anew_takes_the_place_of_the_one_before_it(
        self, framework: Driver
    ) -> None:
        if not self.driver.regenerates:
            return
        for reply in ("It is of brass.", "It is of steel."):
            framework.say(ASKED, event="x", reply=reply)
        memory = framework.memories.of(framework.namespace("ana"))
        holds = [memory.history(item.id)[-1].evidence.text for item in memory.evidence()]
        assert holds == [ASKED, "It is of steel.", "It is of steel."]

    @pytest.mark.parametrize("unit", ["chars", "tokens"])
    def test_the_limit_holds_in_what_reaches_the_model(
        self, unit: Literal["chars", "tokens"]
    ) -> None:
        counter = _two_letters if unit == "tokens" else None
        memories = Memories(limit=300, unit=unit, counter=counter, encoder=BagEncoder())
        framework = self.driver(memories)
        memory = memories.of(framework.namespace("ana"))
        said = [f"The boiler in room {n} has a brass valve." for n in range(60)]
        memory.ingest_many([{"text": text, "speaker": "user"} for text in said])
        put_in = framework.put_in(framework.say("Which valve has the boiler?"))
        assert "brass valve" in put_in
        assert measure(unit, counter)(put_in) <= 300

    def test_the_event_loop_is_not_blocked(self) -> None:
        encoder = _Watching()
        framework = self.driver(Memories(encoder=encoder))
        framework.memories.remember(framework.namespace("ana"), VALVE)
        encoder.threads.clear()
        framework.say(ASKED)
        assert encoder.threads
        assert threading.get_ident() not in encoder.threads

    def test_a_memory_that_fails_costs_no_answer(self, caplog: pytest.LogCaptureFixture) -> None:
        framework = self.driver(Memories(_Broken(), encoder=BagEncoder()))
        if self.driver.explicit:
            with pytest.raises(StoreError):
                framework.say(VALVE)
            return
        assert framework.say(VALVE)
        told = {record.getMessage() for record in caplog.records if record.name == "demem_adapters"}
        # Some frameworks report themselves that nothing could be recalled.
        told -= {"nothing was recalled: StoreError"}
        assert told == {"a turn was not remembered: StoreError"}

    @pytest.mark.parametrize(
        "other",
        [{"asker": "ben", "conditions": ["rain"]}, {"asker": "ana", "conditions": []}],
        ids=["another user", "other conditions"],
    )
    def test_what_was_right_for_one_is_not_given_first_to_another(
        self, other: dict[str, Any]
    ) -> None:
        limit = self.driver.limit(150)
        memories = Memories(limit=limit, decisions=True, encoder=BagEncoder())
        bot = self.driver(memories, **RAINING)
        memory = memories.of(bot.namespace("home"))
        memory.ingest_many([{"text": text} for text in RIVALS])
        right = next(text for text in RIVALS if text not in given_to(bot))
        bot.say(ASKED, who="home")
        if not memory.contexts():  # of what is only asked nobody says how it was answered
            memory.answered(ASKED, "Noted.", asker="ana", conditions=["rain"])
        (context,) = memory.contexts()
        assert (context.asker, context.conditions) == ("ana", ("rain",))
        memory.feedback(context.id, reference=right)
        assert right in given_to(bot)
        assert right not in given_to(self.driver(memories, **other))

    def test_only_what_a_filter_leaves_reaches_the_model(self) -> None:
        if not self.driver.filters:
            return
        memories = Memories(encoder=BagEncoder())
        framework = self.driver(memories, where={"metadata": {"metal": ["brass"]}})
        namespace = framework.namespace("home")
        memories.remember(namespace, RIVALS[0], metadata={"metal": ["brass"]})
        memories.remember(namespace, RIVALS[1], metadata={"metal": ["steel"]})
        recalled = given_to(framework)
        assert RIVALS[0] in recalled
        assert RIVALS[1] not in recalled

    def test_a_question_is_asked_with_what_was_said_before_it(self) -> None:
        if not self.driver.shows_before:
            return
        memories = _Hearing()
        framework = self.driver(memories)
        memories.remember(framework.namespace("ana"), VALVE)
        framework.go_on(BEFORE, FOLLOWS)
        assert memories.heard[FOLLOWS] == BEFORE

    @pytest.mark.parametrize("copied", [copy.deepcopy, _pickled], ids=["deep", "pickle"])
    def test_a_copy_has_a_memory_of_its_own(
        self, framework: Driver, copied: Callable[[Any], Any]
    ) -> None:
        namespace = framework.namespace("ana")
        framework.memories.remember(namespace, VALVE)
        for part in framework.parts():
            again = copied(part)
            again.memories.remember(namespace, "It leaks.")
            assert texts(again.memories, namespace) == [VALVE, "It leaks."]
        assert texts(framework.memories, namespace) == [VALVE]
