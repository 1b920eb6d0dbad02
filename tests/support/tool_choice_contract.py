"""What the choice of tools keeps in every framework, written once."""

from __future__ import annotations

import runpy
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import pytest

from demem_adapters.common import HINT, Memories
from demem_agent.errors import InvalidInput, StoreError
from demem_agent.stores import MemoryStore
from demem_agent.testing import BagEncoder

__all__ = ["FAILS", "TASK", "TOOLS", "Shown", "ToolChoiceContract", "ToolDriver", "result_of"]

EXAMPLES = Path(__file__).parents[2] / "examples"
TASK = "Reset the password of accounting"
#: The tools of every agent, in the order in which it has them; the first fails with an error.
TOOLS = ("directory", "mail_link", "visit")
FAILS = "directory"


def result_of(tool: str) -> str:
    """Use a tool: only a visit does what it is to do.

    Raises:
        ConnectionError: from the one that fails.
    """
    if tool == FAILS:
        raise ConnectionError("the directory cannot be reached")
    return "done" if tool == "visit" else "nobody knows that address"


class Shown(NamedTuple):
    """What reached the model in its first call of a run: texts, and names of tools."""

    texts: list[str]
    tools: list[str]

    @property
    def hints(self) -> list[str]:
        """The texts that hold a hint."""
        return [text for text in self.texts if HINT in text]


class ToolDriver(ABC):
    """A framework with its adapter's choice of tools, and a model that is made to call one."""

    def __init__(self, memories: Memories, worked: Any, **options: Any) -> None:
        self.memories = memories
        self.worked = worked
        self.options = options

    @abstractmethod
    def run(self, task: str, tool: str, *, who: str = "ana", coroutine: bool = False) -> Shown:
        """Run an agent that calls a tool once and then says "Done."; errors stay inside.

        Args:
            who: whose memory it is, by a function of what the framework gives.
            coroutine: to run it in an event loop; a framework may know no other way.
        """


def worked(tool: str, result: Any) -> bool:
    """Say what a tool came to, by whatever a framework makes of its result."""
    assert tool in TOOLS
    return not isinstance(result, Exception) and "done" in str(getattr(result, "content", result))


class _Broken(MemoryStore):
    def holds(self, address: Any) -> bool:
        raise StoreError("made to fail")


class ToolChoiceContract:
    """Properties of the choice of tools; a subclass names its driver and its example."""

    driver: ClassVar[type[ToolDriver]]
    example: ClassVar[str]

    def made(self, judge: Any = worked, **options: Any) -> ToolDriver:
        return self.driver(Memories(encoder=BagEncoder()), judge, **options)

    @pytest.mark.parametrize("coroutine", [False, True])
    def test_what_a_tool_came_to_is_told_in_the_next_run(self, coroutine: bool) -> None:
        framework = self.made()
        first = framework.run(TASK, "visit", coroutine=coroutine)
        framework.run(TASK, "mail_link", coroutine=coroutine)
        (hint,) = framework.run(TASK, "visit", coroutine=coroutine).hints
        assert first.hints == []
        assert "- visit: 1 of 1; not mail_link: 0 of 1\n" in hint

    @pytest.mark.parametrize("coroutine", [False, True])
    def test_a_tool_that_raises_has_failed(self, coroutine: bool) -> None:
        framework = self.made()
        framework.run(TASK, FAILS, coroutine=coroutine)
        (hint,) = framework.run(TASK, "visit", coroutine=coroutine).hints
        assert "not directory: 0 of 1" in hint

    def test_the_hint_stands_before_what_was_asked(self) -> None:
        framework = self.made()
        framework.run(TASK, "visit")
        shown = framework.run(TASK, "visit").texts
        places = [number for number, text in enumerate(shown) if HINT in text]
        assert len(places) == 1
        assert shown[places[0] + 1] == TASK

    def test_the_hint_goes_to_the_system_where_it_is_to_go_there(self) -> None:
        framework = self.made(inject="system")
        framework.run(TASK, "visit")
        shown = framework.run(TASK, "visit").texts
        assert HINT in shown[0] or HINT in shown[1]
        assert shown[-1] == TASK

    def test_one_namespace_never_hears_of_anothers_tools(self) -> None:
        framework = self.made()
        framework.run(TASK, "visit")
        assert framework.run(TASK, "visit", who="ben").hints == []

    def test_tools_are_left_as_they_are_unless_they_are_to_be_ordered(self) -> None:
        framework = self.made()
        for _ in range(2):
            assert framework.run(TASK, "visit").tools == [*TOOLS]

    def test_tools_are_offered_in_the_order_in_which_they_worked(self) -> None:
        framework = self.made(order=True)
        framework.run(TASK, "mail_link")
        framework.run(TASK, "visit")
        assert framework.run(TASK, "visit").tools == ["visit", "directory", "mail_link"]

    def test_tools_are_cut_and_those_never_tried_stay_unless_they_may_go(self) -> None:
        framework = self.made(most=1)
        framework.run(TASK, "mail_link")
        framework.run(TASK, "visit")
        assert framework.run(TASK, "visit").tools == ["directory", "visit"]
        framework.options["drop_untried"] = True
        assert framework.run(TASK, "visit").tools == ["visit"]

    def test_no_hint_is_given_where_none_is_wanted(self) -> None:
        framework = self.made(hint=False)
        framework.run(TASK, "visit")
        assert framework.run(TASK, "visit").hints == []
        assert len(framework.memories.of("ana").decisions()) == 2

    def test_what_nobody_knows_of_a_tool_is_not_recorded(self) -> None:
        framework = self.made(lambda tool, result: None)
        framework.run(TASK, "visit")
        assert framework.memories.known("ana") is None

    def test_a_situation_is_what_the_application_makes_of_the_question(self) -> None:
        framework = self.made(situation=lambda text: text.partition(" (")[0])
        framework.run(f"{TASK} (ticket 17)", "visit")
        (hint,) = framework.run(f"{TASK} (ticket 18)", "visit").hints
        assert "- visit: 1 of 1\n" in hint
        assert [one.text for one in framework.memories.of("ana").situations()] == [TASK]

    def test_a_memory_that_fails_costs_no_answer(self) -> None:
        framework = self.driver(Memories(_Broken(), encoder=BagEncoder()), worked, order=True)
        assert framework.run(TASK, "visit").tools == [*TOOLS]

    @pytest.mark.parametrize("wrong", [{"most": 0}, {"limit": 0}, {"inject": "bogus"}])
    def test_a_wrong_option_is_refused(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(InvalidInput, match=next(iter(wrong))):
            self.made(**wrong).run(TASK, "visit")

    def test_its_example_needs_fewer_calls_that_fail(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        runpy.run_path(str(EXAMPLES / self.example), run_name="__main__")
        _, without, with_hint = capsys.readouterr().out.strip().splitlines()[:3]
        failed_without = [int(word) for word in without.split()[-3:]]
        failed_with = [int(word) for word in with_hint.split()[-3:]]
        assert min(failed_without) > 0
        # The first time nobody knows: a hint is then of what worked where it is alike.
        assert failed_with[0] <= failed_without[0] + 1
        assert failed_with[1:] == [0, 0]
