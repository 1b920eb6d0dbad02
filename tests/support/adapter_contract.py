"""What every adapter keeps, written once: a framework says how a turn goes through it."""

from __future__ import annotations

import copy
import pickle
import runpy
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest
from documents import blocks, run_python

from demem_adapters.common import DECLARED, Memories, endings
from demem_adapters.common.said import holding
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

_LOOKS = count()
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
LEAKS = "It leaks."
#: How an answer of the model ends: as it should, cut off (at a limit of its length, say), with an
#: error, or whole for a reason that is not known.
Ending = Literal["whole", "cut", "fails", "odd"]


class Driver(ABC):
    """A framework with its adapter on these memories, and a model that is made to answer."""

    #: A memory that fails is an error of the call: for stores and services that are called by their
    #: name.
    explicit: ClassVar[bool] = False
    #: The adapter takes ``where``: which items may be recalled.
    filters: ClassVar[bool] = True
    #: What was recalled stands behind the sentence that declares it to be data.
    declares: ClassVar[bool] = True
    #: The framework shows the adapter what was said before a question.
    shows_before: ClassVar[bool] = True
    #: What the user says is remembered as the call begins, whatever becomes of it: not where the
    #: framework tells the adapter of a turn when it has ended.
    at_once: ClassVar[bool] = True
    #: Several messages of the user's can come before one answer, as :meth:`say_all` has them.
    several: ClassVar[bool] = True
    #: The adapter is handed whole sessions: what is carried out again is the handing over.
    takes_sessions: ClassVar[bool] = False
    #: The framework tells the adapter why the model stopped, in the provider's words.
    tells_reason: ClassVar[bool] = True

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

    def say_all(self, said: Sequence[str]) -> None:
        """Run one turn in which ana has said all of this before the model answers "Noted."."""
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


def holds(memories: Memories, namespace: str = "ana") -> list[str]:
    """Return what is remembered in a namespace, without answers that were made anew since."""
    memory = memories.known(namespace)
    return [item.text for item in holding(memory)] if memory else []


def blocks_among(shown: Iterable[str]) -> list[str]:
    """Return the texts with what was recalled, of those that reached the model."""
    return [text for text in shown if DECLARED in text]


def given_to(framework: Driver) -> str:
    """Return what is recalled for a question in a turn that leaves no answer behind."""
    event = f"look {next(_LOOKS)}"
    return framework.recalled(framework.say(ASKED, who="home", ending="fails", event=event))


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
        self.asked_after: dict[str, Any] = {}

    def recall(self, namespace: str | None, query: str, **about: Any) -> Any:
        self.asked_after[query] = about.get("context")
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

    def test_recalling_in_a_namespace_never_written_gives_nothing_and_does_not_make_it(
        self, framework: Driver
    ) -> None:
        namespace = framework.namespace("ana")
        assert framework.recalled(framework.say(ASKED, ending="fails")) == ""
        if not self.driver.at_once:
            assert framework.memories.known(namespace) is None
            return
        # What the user said is there, and nothing else.
        assert texts(framework.memories, namespace) == [ASKED]
        assert framework.memories.recall("nobody", ASKED) is None
        assert framework.memories.known("nobody") is None

    @pytest.mark.parametrize("ending", ["cut", "fails"])
    def test_an_answer_that_did_not_come_to_its_end_is_not_remembered(
        self, framework: Driver, ending: Literal["cut", "fails"]
    ) -> None:
        framework.say(VALVE, reply="It is bra", ending=ending)
        for text in texts(framework.memories, framework.namespace("ana")):
            assert "bra" not in text.removeprefix(VALVE)

    @pytest.mark.parametrize("ending", ["cut", "fails"])
    def test_what_the_user_said_is_remembered_whatever_becomes_of_the_answer(
        self, framework: Driver, ending: Literal["cut", "fails"]
    ) -> None:
        if not self.driver.at_once:
            return
        framework.say(VALVE, reply="It is bra", ending=ending)
        framework.say(LEAKS)
        assert texts(framework.memories, framework.namespace("ana")) == [VALVE, LEAKS, "Noted."]

    def test_a_turn_that_failed_is_remembered_once_when_it_is_carried_out_again(
        self, framework: Driver
    ) -> None:
        if self.driver.takes_sessions:
            return
        for ending in ("fails", "cut", "whole"):
            framework.say(VALVE, ending=ending, event="x")
        assert texts(framework.memories, framework.namespace("ana")) == [VALVE, "Noted."]

    def test_it_is_remembered_once_also_by_another_process(self) -> None:
        if self.driver.takes_sessions:
            return
        store = MemoryStore()
        for ending in ("fails", "whole", "whole"):
            framework = self.driver(Memories(store, encoder=BagEncoder()))
            framework.say(VALVE, ending=ending, event="x")
        assert texts(framework.memories, framework.namespace("ana")) == [VALVE, "Noted."]

    def test_all_that_was_said_before_an_answer_is_remembered_in_order(
        self, framework: Driver
    ) -> None:
        if not self.driver.several:
            return
        framework.say_all([VALVE, LEAKS])
        assert texts(framework.memories, framework.namespace("ana")) == [VALVE, LEAKS, "Noted."]

    def test_what_failed_and_is_shown_with_the_next_message_is_remembered_once(
        self, framework: Driver
    ) -> None:
        if not self.driver.several or not self.driver.at_once:
            return
        framework.say(VALVE, ending="fails")
        framework.say_all([VALVE, LEAKS])
        assert texts(framework.memories, framework.namespace("ana")) == [VALVE, LEAKS, "Noted."]

    def test_the_same_words_in_another_conversation_are_remembered_again(
        self, framework: Driver
    ) -> None:
        if not self.driver.shows_before or not self.driver.at_once or self.driver.explicit:
            return
        framework.go_on(["Order pizza.", "Shall I order it?"], "Yes.")
        framework.go_on(["Cancel my flight.", "Shall I cancel it?"], "Yes.")
        remembered = texts(framework.memories, framework.namespace("ana"))
        assert remembered.count("Yes.") == 2

    def test_what_is_said_again_after_it_was_forgotten_is_remembered(
        self, framework: Driver
    ) -> None:
        if self.driver.takes_sessions:
            return
        framework.say(VALVE)
        namespace = framework.namespace("ana")
        framework.memories.forget(namespace, where={"speaker": "user"})
        framework.say(VALVE)
        assert VALVE in texts(framework.memories, namespace)

    def test_an_answer_that_ended_for_an_unknown_reason_is_remembered_and_warned_of_once(
        self, framework: Driver, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        if not self.driver.tells_reason:
            return
        monkeypatch.setattr(endings, "_WARNED", {})
        framework.say(VALVE, ending="odd")
        framework.say(LEAKS, ending="odd")
        remembered = texts(framework.memories, framework.namespace("ana"))
        assert remembered == [VALVE, "Noted.", LEAKS, "Noted."]
        told = [record.getMessage() for record in caplog.records if record.name == "demem_adapters"]
        assert told == [
            "an answer was remembered although its reason to end is not known: eos_reached"
        ]

    def test_the_same_event_twice_is_remembered_once(self, framework: Driver) -> None:
        for _ in range(2):
            framework.say(VALVE, event="x")
        assert texts(framework.memories, framework.namespace("ana")) == [VALVE, "Noted."]

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
        # What a framework hands over as a whole, such as a session, it hands over again.
        waits = framework.memories.waiting > 0
        what = "a turn waits to be remembered" if waits else "a turn was not remembered"
        assert told == {f"{what}: StoreError"}

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
        assert memories.asked_after[FOLLOWS] == BEFORE

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
