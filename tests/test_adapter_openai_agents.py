"""The openai_agents adapter keeps the contract of all adapters, inside the SDK's own runner with its scripted model."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import runpy
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from test_readme import blocks, run_python

pytest.importorskip("agents", reason="the openai_agents adapter: pip install 'demem-agent[openai-agents]'")

import agents
from agents import Agent, Runner, SQLiteSession, function_tool
from agents.memory import Session
from agents.testing import ScriptedModel, assistant_message, function_call
from hypothesis import given, settings
from hypothesis import strategies as st
from openai.types.responses import ResponseOutputMessage, ResponseOutputRefusal

from demem_adapters.openai_agents import MemorySession
from demem_adapters.shared import DECLARED, Memories
from demem_agent import InvalidInput
from demem_agent.errors import StoreError
from demem_agent.stores import MemoryStore
from demem_agent.testing import BagEncoder

ROOT = Path(__file__).parents[1]
VALVE = "My boiler has a brass valve."
WHICH = "Which valve has my boiler?"


@pytest.fixture(autouse=True)
def no_tracing() -> None:
    agents.set_tracing_disabled(True)


@pytest.fixture
def memories() -> Memories:
    return Memories(encoder=BagEncoder())


class Talk:
    """An agent with a scripted model, and a session with memory."""

    def __init__(self, memories: Memories, *steps: Any, session: str = "ana", **options: Any) -> None:
        self.model = ScriptedModel(step if isinstance(step, Sequence | Exception) else [step] for step in steps)
        self.agent = Agent("Helper", model=self.model, tools=[function_tool(weigh)])
        self.session = MemorySession(SQLiteSession(session), memories, **options)

    def say(self, text: Any, **more: Any) -> Any:
        return asyncio.run(self.asay(text, **more))

    async def asay(self, text: Any, **more: Any) -> Any:
        config = self.session.run_config()
        return await Runner.run(self.agent, text, session=self.session, run_config=config, **more)

    @property
    def shown(self) -> list[dict[str, Any]]:
        return list(self.model.calls[-1].input)

    @property
    def kept(self) -> list[dict[str, Any]]:
        return asyncio.run(self.session.get_items())


def weigh(thing: str) -> str:
    """Weigh a thing."""
    return f"The {thing} weighs two kilos."


def answer(text: str) -> Any:
    return assistant_message(text, item_id=f"msg-{text}")


def unfinished(text: str) -> Any:
    return answer(text).model_copy(update={"status": "incomplete"})


def refusal() -> Any:
    content = [ResponseOutputRefusal(type="refusal", refusal="I would rather not say.")]
    return ResponseOutputMessage(id="no", type="message", role="assistant", status="completed", content=content)


def texts(memories: Memories, namespace: str = "ana") -> list[str]:
    memory = memories.known(namespace)
    return [item.text for item in memory.evidence()] if memory else []


def block_in(items: Sequence[dict[str, Any]]) -> Any:
    found = [item for item in items if str(item.get("content")).startswith(DECLARED)]
    return found[0] if found else None


# What is remembered


def test_both_sides_are_remembered_as_they_were_said(memories: Memories) -> None:
    Talk(memories, answer("Good to know.")).say(VALVE)
    assert texts(memories) == [VALVE, "Good to know."]


def test_what_was_put_before_the_model_is_not_remembered_again(memories: Memories) -> None:
    talk = Talk(memories, *[answer("Brass, as you said.")] * 3)
    for _ in range(3):
        talk.say(WHICH)
    assert texts(memories) == [WHICH, "Brass, as you said."]
    assert block_in(talk.shown)


def test_neither_calls_of_tools_nor_their_results_are_remembered(memories: Memories) -> None:
    talk = Talk(memories, function_call("weigh", {"thing": "valve"}, call_id="c1"), answer("Two kilos."))
    talk.say("How heavy is the valve?")
    assert texts(memories) == ["How heavy is the valve?", "Two kilos."]
    assert len(talk.kept) == 4


def test_parts_of_a_message_are_remembered_as_its_text(memories: Memories) -> None:
    parts = [{"type": "input_text", "text": VALVE}, {"type": "input_image", "image_url": "data:,", "detail": "low"}]
    Talk(memories, answer("I see.")).say([{"role": "user", "content": parts}])
    assert texts(memories) == [VALVE, "I see."]


@pytest.mark.parametrize(
    "failing",
    [lambda: RuntimeError("no model"), lambda: unfinished("Noted: My boi"), refusal],
    ids=["error", "cut", "no"],
)
def test_a_failed_or_cut_off_call_leaves_nothing_false(memories: Memories, failing: Callable[[], Any]) -> None:
    talk = Talk(memories, failing())
    with contextlib.suppress(RuntimeError, agents.exceptions.ModelRefusalError):
        talk.say(VALVE)
    assert texts(memories) == []
    assert talk.kept[0]["content"] == VALVE


def test_what_a_failed_call_left_open_is_remembered_once_it_is_answered(memories: Memories) -> None:
    talk = Talk(memories, RuntimeError("no model"), answer("Noted."))
    with pytest.raises(RuntimeError):
        talk.say(VALVE)
    talk.say("Did you get that?")
    assert texts(memories) == [VALVE, "Did you get that?", "Noted."]


def test_a_stream_is_remembered_at_its_end_and_not_before(memories: Memories) -> None:
    async def run(leave: bool) -> None:
        talk = Talk(memories, answer("Good to know."))
        config = talk.session.run_config()
        streaming = Runner.run_streamed(talk.agent, VALVE, session=talk.session, run_config=config)
        async for _ in streaming.stream_events():
            if leave:
                streaming.cancel()

    asyncio.run(run(leave=True))
    assert texts(memories) == []
    asyncio.run(run(leave=False))
    assert texts(memories) == [VALVE, "Good to know."]


def test_the_same_items_again_are_remembered_once(memories: Memories) -> None:
    talk = Talk(memories, answer("Good to know."))
    talk.say(VALVE)
    asyncio.run(MemorySession(SQLiteSession("ana"), memories).add_items(talk.kept))
    assert len(texts(memories)) == 2


def test_a_memory_that_fails_costs_no_run(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(MemoryStore):
        def commit(self, address: Any, delta: Any) -> None:
            raise StoreError("made to fail")

    talk = Talk(Memories(Broken(), encoder=BagEncoder()), answer("Good to know."))
    assert talk.say(VALVE).final_output == "Good to know."
    assert len(talk.kept) == 2
    assert caplog.messages == ["a turn was not remembered: StoreError"]


# What reaches the model


@pytest.mark.parametrize("inject", ["user", "system"])
def test_what_was_said_in_another_session_is_put_before_the_model_as_data(memories: Memories, inject: Any) -> None:
    Talk(memories, answer("Good to know."), session="monday", namespace="ana").say(VALVE)
    talk = Talk(memories, answer("Brass."), session="tuesday", namespace="ana", inject=inject)
    talk.say(WHICH)
    block = block_in(talk.shown)
    assert (block["role"], VALVE in block["content"]) == (inject, True)
    assert talk.shown[-1] == {"role": "user", "content": WHICH}
    assert talk.kept[0]["content"] == WHICH


@pytest.mark.parametrize("inject", ["user", "system"])
def test_the_limit_holds_in_what_reaches_the_model(inject: Any) -> None:
    memories = Memories(limit=120, encoder=BagEncoder())
    memories.of("ana").ingest_many([{"text": f"The boiler in room {n} has a brass valve."} for n in range(30)])
    talk = Talk(memories, answer("Brass."), inject=inject)
    talk.say("Which valve has the boiler?")
    assert 0 < len(block_in(talk.shown)["content"].removeprefix(DECLARED).strip()) <= 120


def test_results_of_tools_leave_what_was_recalled_as_it_was(memories: Memories) -> None:
    memories.remember("ana", VALVE)
    talk = Talk(memories, [answer("One moment."), function_call("weigh", {"thing": "x"}, call_id="c1")], answer("Two."))
    talk.say(WHICH)
    first, second = (block_in(call.input) for call in talk.model.calls)
    assert first == second
    assert WHICH not in first["content"]


def test_one_namespace_never_sees_anothers(memories: Memories) -> None:
    def of(context: Any) -> str:
        return str(context["user"])

    Talk(memories, answer("Good to know."), namespace=of).say(VALVE, context={"user": "ana"})
    talk = Talk(memories, answer("I do not know."), namespace=of)
    talk.say(WHICH, context={"user": "ben"})
    assert block_in(talk.shown) is None
    assert (texts(memories, "ana")[0], texts(memories, "ben")[0]) == (VALVE, WHICH)


def test_asking_in_a_new_namespace_does_not_make_it(memories: Memories) -> None:
    with pytest.raises(RuntimeError):
        Talk(memories, RuntimeError("no model")).say(WHICH)
    assert memories.known("ana") is None


@given(st.lists(st.sampled_from(["user", "assistant", "call", "result"]), max_size=20), st.integers(0, 5))
def test_the_window_is_the_end_of_the_history_from_where_a_turn_begins(kinds: list[str], turns: int) -> None:
    items = [
        {"role": kind, "n": n} if kind in ("user", "assistant") else {"type": kind, "n": n}
        for n, kind in enumerate(kinds)
    ]
    shown = MemorySession(SQLiteSession("ana"), Memories(), turns=turns).window(items, new := [{"role": "user"}])
    history, users = shown[:-1], kinds.count("user")
    assert shown == items[len(items) - len(history) :] + new
    assert sum(item.get("role") == "user" for item in history) == min(turns, users)
    assert history == items or not history or history[0].get("role") == "user"


def test_recalling_does_not_block_the_event_loop(memories: Memories, monkeypatch: pytest.MonkeyPatch) -> None:
    loops, recall = [], memories.recall

    def watched(*given: Any, **more: Any) -> Any:
        loops.append(threading.current_thread() is threading.main_thread())
        return recall(*given, **more)

    monkeypatch.setattr(memories, "recall", watched)
    Talk(memories, answer("Brass.")).say(WHICH)
    assert loops == [False]


# The session loses nothing

ITEMS = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant", "system"]), "content": st.text(max_size=9)}),
    max_size=3,
)
STEPS = st.one_of(
    st.tuples(st.just("add_items"), ITEMS),
    st.tuples(st.just("get_items"), st.one_of(st.none(), st.integers(0, 4))),
    st.tuples(st.sampled_from(["pop_item", "clear_session"])),
)


@settings(max_examples=25, deadline=None)
@given(st.lists(STEPS, max_size=12))
def test_it_behaves_as_the_session_that_it_wraps(steps: list[tuple[Any, ...]]) -> None:
    async def run() -> None:
        plain, wrapped = SQLiteSession("ana"), MemorySession(SQLiteSession("ana"), Memories(encoder=BagEncoder()))
        for name, *given_to_it in [*steps, ("get_items",)]:
            assert await getattr(plain, name)(*given_to_it) == await getattr(wrapped, name)(*given_to_it)

    asyncio.run(run())


def test_it_is_a_session_to_the_sdk_and_shows_the_rest_of_the_one_it_wraps(memories: Memories) -> None:
    inner = SQLiteSession("ana")
    session = MemorySession(inner, memories)
    assert isinstance(session, Session)
    assert (session.session_id, session.session_settings) == ("ana", inner.session_settings)
    assert session.db_path == inner.db_path
    assert not hasattr(session, "run_compaction")


class Watching(SQLiteSession):
    """A session that opts in to being told of the run."""

    told: tuple[Any, ...] = ()

    async def get_items(self, limit: int | None = None, *, wrapper: Any = None) -> Any:
        self.told = (*self.told, wrapper.context)
        return await super().get_items(limit)

    async def add_items(self, items: Any, *, wrapper: Any = None) -> None:
        self.told = (*self.told, wrapper.context)
        await super().add_items(items)

    async def pop_item(self, *, wrapper: Any = None) -> Any:
        return await super().pop_item()

    async def clear_session(self, *, wrapper: Any = None) -> None:
        await super().clear_session()


def test_a_session_that_wants_to_know_of_the_run_is_told(memories: Memories) -> None:
    talk = Talk(memories, answer("Good to know."))
    talk.session = MemorySession(watching := Watching("ana"), memories)
    talk.say(VALVE, context="the run's")
    assert len(watching.told) >= 3
    assert set(watching.told) == {"the run's"}


def test_clearing_the_session_leaves_what_was_remembered(memories: Memories) -> None:
    talk = Talk(memories, answer("Good to know."))
    talk.say(VALVE)
    asyncio.run(talk.session.clear_session())
    assert (talk.kept, len(texts(memories))) == ([], 2)


def test_turns_below_zero_are_refused(memories: Memories) -> None:
    with pytest.raises(InvalidInput, match="turns"):
        MemorySession(SQLiteSession("ana"), memories, turns=-1)


def test_a_session_that_the_sdk_treats_apart_is_refused(memories: Memories) -> None:
    with pytest.raises(InvalidInput, match="session"):
        MemorySession(agents.OpenAIConversationsSession(conversation_id="c", openai_client=object()), memories)


class Listed:
    """A session in a list: SQLite's connections cannot be copied."""

    session_settings = None

    def __init__(self, session_id: str) -> None:
        self.session_id, self.items = session_id, []

    async def add_items(self, items: list[Any]) -> None:
        self.items += items

    async def get_items(self, limit: int | None = None) -> list[Any]:
        return self.items[-limit:] if limit else self.items

    async def pop_item(self) -> Any:
        return self.items.pop() if self.items else None

    async def clear_session(self) -> None:
        self.items.clear()


def test_a_copy_is_a_session_of_its_own(memories: Memories) -> None:
    session = MemorySession(Listed("ana"), memories)
    again = copy.deepcopy(session)
    asyncio.run(again.add_items([{"role": "user", "content": VALVE}, {"role": "assistant", "content": "Noted."}]))
    assert (session.session.items, len(again.session.items)) == ([], 2)
    assert (texts(memories), len(texts(again.memories))) == ([], 2)


# Feedback, docs, example


def test_feedback_on_the_last_answer_and_by_the_id_of_its_message(memories: Memories) -> None:
    talk = Talk(memories, answer("Good to know."), answer("Steel."))
    with pytest.raises(InvalidInput, match="feedback"):
        asyncio.run(talk.session.feedback(thumbs=True))
    talk.say(VALVE)
    result = talk.say(WHICH)
    assert asyncio.run(talk.session.feedback(correction="Brass.")).remembered == "e5"
    assert memories.feedback(result.new_items[-1].raw_item.id, thumbs=False).answer_id == "a2"
    (context,) = [c for c in memories.of("ana").contexts() if c.id == "a2"]
    assert (context.query, context.answer) == (WHICH, "Steel.")


@pytest.fixture
def closing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Closes the sessions that a page or an example leaves open."""
    made: list[SQLiteSession] = []
    begin = SQLiteSession.__init__

    def begin_and_note(self: SQLiteSession, *given_to_it: Any, **more: Any) -> None:
        begin(self, *given_to_it, **more)
        made.append(self)

    monkeypatch.setattr(SQLiteSession, "__init__", begin_and_note)
    yield
    for session in made:
        session.close()


def test_the_python_of_its_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, closing: None) -> None:
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "adapters" / "openai_agents.md").read_text(encoding="utf-8")
    assert page.count("\n") <= 40
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(page):
        if block.language == "python":
            run_python(block, namespace)
    assert texts(namespace["memories"])[:2] == [VALVE, "Noted."]
    namespace["memories"].close()


def test_its_example_shows_what_it_says(capsys: pytest.CaptureFixture[str], closing: None) -> None:
    runpy.run_path(str(ROOT / "examples" / "openai_agents_memory.py"), run_name="__main__")
    said = capsys.readouterr().out
    last = said.split("Which valve is in the kitchen's boiler?")[-1]
    assert "has a brass valve" in last
    assert "holds all 8 items" in last
    assert said.count("I see 1 message(s) of yours") == 4
