"""The openai_agents adapter keeps the contract of all adapters, inside the SDK's own runner with
its scripted model.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import json
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from adapter_contract import ASKED as WHICH
from adapter_contract import VALVE, AdapterContract, Driver, Ending, texts

pytest.importorskip(
    "agents", reason="the openai_agents adapter: pip install 'demem-agent[openai-agents]'"
)

import agents
from agents import Agent, Runner, SQLiteSession, function_tool
from agents.memory import Session
from agents.testing import ScriptedModel, assistant_message, function_call
from hypothesis import given, settings
from hypothesis import strategies as st
from often import often
from openai.types.responses import ResponseOutputMessage, ResponseOutputRefusal

from demem_adapters.common import DECLARED, Memories
from demem_adapters.openai_agents import MemorySession
from demem_agent import InvalidInput
from demem_agent.errors import StoreError
from demem_agent.testing import BagEncoder


@pytest.fixture(autouse=True)
def no_tracing() -> None:
    agents.set_tracing_disabled(True)


@pytest.fixture
def memories() -> Memories:
    return Memories(encoder=BagEncoder())


class Talk:
    """An agent with a scripted model, and a session with memory."""

    def __init__(
        self, memories: Memories, *steps: Any, session: str = "ana", **options: Any
    ) -> None:
        self.model = ScriptedModel(
            step if isinstance(step, Sequence | Exception) else [step] for step in steps
        )
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
    return ResponseOutputMessage(
        id="no", type="message", role="assistant", status="completed", content=content
    )


def block_in(items: Sequence[dict[str, Any]]) -> Any:
    found = [item for item in items if str(item.get("content")).startswith(DECLARED)]
    return found[0] if found else None


@pytest.fixture(autouse=True)
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


class Sessions(Driver):
    tells_reason = False  # the SDK does not tell it
    session = "ana"

    def say(
        self,
        text: str,
        *,
        who: str = "ana",
        reply: str = "Noted.",
        ending: Ending = "whole",
        event: str = "",
    ) -> list[str]:
        id = self.session = event or uuid.uuid4().hex
        said = assistant_message(reply, item_id=f"msg-{id}")
        cut = said.model_copy(update={"status": "incomplete"})
        step: Any = {"whole": said, "cut": cut, "fails": RuntimeError("no model")}[ending]
        about = {"namespace": lambda context: context, **self.asking}
        talk = Talk(self.memories, step, session=id, **about)
        with contextlib.suppress(RuntimeError):
            talk.say(text, context=who)
        return [str(item["content"]) for item in talk.shown]

    def go_on(self, before: Sequence[str], asked: str) -> None:
        asks, answers = before
        talk = Talk(self.memories, answer(answers), answer("Noted."), namespace="ana")
        talk.say(asks)
        talk.say(asked)

    def say_all(self, said: Sequence[str]) -> None:
        items = [{"role": "user", "content": text} for text in said]
        Talk(self.memories, answer("Noted."), session=self.session, namespace="ana").say(items)

    def parts(self) -> list[Any]:
        return [MemorySession(Listed("ana"), self.memories)]


class TestContract(AdapterContract):
    name = "openai_agents"
    driver = Sessions
    shows = (
        "The boiler in the kitchen has a brass valve",
        "holds all 8 items",
        "I see 1 message(s) of yours",
    )

    def after_page(self, namespace: dict[str, Any]) -> None:
        assert texts(namespace["memories"])[:2] == [VALVE, "Noted."]
        namespace["memories"].close()


def test_a_copy_has_its_own_items(memories: Memories) -> None:
    session = MemorySession(Listed("ana"), memories)
    again = copy.deepcopy(session)
    asyncio.run(
        again.add_items(
            [{"role": "user", "content": VALVE}, {"role": "assistant", "content": "Noted."}]
        )
    )
    assert (session.session.items, len(again.session.items)) == ([], 2)


# What is remembered


def test_what_was_put_before_the_model_is_not_remembered_again(memories: Memories) -> None:
    memories.remember("ana", VALVE)
    talk = Talk(memories, *[answer("Brass, as you said.")] * 3)
    for _ in range(3):
        talk.say(WHICH)
    assert texts(memories) == [VALVE, *[WHICH, "Brass, as you said."] * 3]
    assert block_in(talk.shown)


def test_neither_calls_of_tools_nor_their_results_are_remembered(memories: Memories) -> None:
    talk = Talk(
        memories, function_call("weigh", {"thing": "valve"}, call_id="c1"), answer("Two kilos.")
    )
    talk.say("How heavy is the valve?")
    assert texts(memories) == ["How heavy is the valve?", "Two kilos."]
    assert len(talk.kept) == 4


def test_parts_of_a_message_are_remembered_as_its_text(memories: Memories) -> None:
    parts = [
        {"type": "input_text", "text": VALVE},
        {"type": "input_image", "image_url": "data:,", "detail": "low"},
    ]
    Talk(memories, answer("I see.")).say([{"role": "user", "content": parts}])
    assert texts(memories) == [VALVE, "I see."]


@pytest.mark.parametrize(
    "failing",
    [lambda: RuntimeError("no model"), lambda: unfinished("Noted: My boi"), refusal],
    ids=["error", "cut", "no"],
)
def test_a_failed_or_cut_off_call_leaves_nothing_false(
    memories: Memories, failing: Callable[[], Any]
) -> None:
    talk = Talk(memories, failing())
    with contextlib.suppress(RuntimeError, agents.exceptions.ModelRefusalError):
        talk.say(VALVE)
    assert texts(memories) == [VALVE]
    assert talk.kept[0]["content"] == VALVE


def test_what_no_answer_has_come_to_yet_is_not_lost_when_the_process_ends(
    memories: Memories, tmp_path: Any
) -> None:
    for reply in (RuntimeError("no model"), RuntimeError("no model"), answer("Noted.")):
        talk = Talk(memories, reply)
        talk.session = MemorySession(SQLiteSession("ana", f"{tmp_path}/sessions.db"), memories)
        with contextlib.suppress(RuntimeError):
            talk.say("Did you get that?" if isinstance(reply, Exception) else VALVE)
    assert texts(memories) == ["Did you get that?", VALVE, "Noted."]


def test_an_answer_that_another_process_gives_is_to_what_was_asked_last(
    memories: Memories,
) -> None:
    inner = Listed("ana")
    first, second = (MemorySession(inner, memories) for _ in range(2))
    asyncio.run(first.add_items([{"role": "user", "content": WHICH}]))
    asyncio.run(second.add_items([{"role": "assistant", "content": "Brass."}]))
    (context,) = memories.of("ana").contexts()
    assert (context.query, texts(memories)) == (WHICH, [WHICH, "Brass."])


def test_what_a_failed_call_left_open_stays_in_the_memory_of_the_one_who_said_it(
    memories: Memories,
) -> None:
    talk = Talk(
        memories, RuntimeError("no model"), answer("Tea it is."), namespace=lambda context: context
    )
    with pytest.raises(RuntimeError):
        talk.say("My PIN is 4417.", context="cal")
    talk.say("I like tea.", context="bea")
    assert texts(memories, "bea") == ["I like tea.", "Tea it is."]
    assert texts(memories, "cal") == ["My PIN is 4417."]


def test_the_answer_of_a_run_without_the_input_filter_is_to_its_own_question(
    memories: Memories,
) -> None:
    talk = Talk(memories, answer("Brass."), answer("Paris."))
    talk.say(WHICH)
    asyncio.run(Runner.run(talk.agent, "What is the capital of France?", session=talk.session))
    assert [context.query for context in memories.of("ana").contexts()] == [
        WHICH,
        "What is the capital of France?",
    ]


def test_what_is_said_once_more_after_something_else_is_remembered_again(
    memories: Memories,
) -> None:
    talk = Talk(memories, *[answer("Noted.")] * 3)
    for said in ("Yes.", "No.", "Yes."):
        talk.say(said)
    assert [item.text for item in memories.of("ana").evidence() if item.speaker == "user"] == [
        "Yes.",
        "No.",
        "Yes.",
    ]


def test_a_message_that_is_taken_back_is_not_remembered_with_the_next(memories: Memories) -> None:
    talk = Talk(memories, RuntimeError("no model"), answer("Noted."))
    with pytest.raises(RuntimeError):
        talk.say("My PIN is 4417.")
    asyncio.run(talk.session.pop_item())
    talk.say("I like tea.")
    assert texts(memories) == ["I like tea.", "Noted."]


def test_a_run_whose_namespace_is_none_has_no_memory(memories: Memories) -> None:
    talk = Talk(memories, answer("Good to know."), namespace=lambda _: None)
    talk.say(VALVE)
    assert len(talk.kept) == 2
    assert memories.export() == {}


def test_the_answer_of_a_stream_is_remembered_at_its_end_and_not_before(memories: Memories) -> None:
    async def run(leave: bool) -> None:
        talk = Talk(memories, answer("Good to know."))
        config = talk.session.run_config()
        streaming = Runner.run_streamed(talk.agent, VALVE, session=talk.session, run_config=config)
        async for _ in streaming.stream_events():
            if leave:
                streaming.cancel()

    asyncio.run(run(leave=True))
    assert "Good to know." not in texts(memories)
    asyncio.run(run(leave=False))
    assert texts(memories) == [VALVE, "Good to know."]


def test_the_same_items_again_are_remembered_once(memories: Memories) -> None:
    talk = Talk(memories, answer("Good to know."))
    talk.say(VALVE)
    asyncio.run(MemorySession(SQLiteSession("ana"), memories).add_items(talk.kept))
    assert len(texts(memories)) == 2


# What reaches the model


@pytest.mark.parametrize("inject", ["user", "system"])
def test_what_was_said_in_another_session_is_put_before_the_model_as_data(
    memories: Memories, inject: Any
) -> None:
    Talk(memories, answer("Good to know."), session="monday", namespace="ana").say(VALVE)
    talk = Talk(memories, answer("Brass."), session="tuesday", namespace="ana", inject=inject)
    talk.say(WHICH)
    block = block_in(talk.shown)
    assert (block["role"], VALVE in block["content"]) == (inject, True)
    assert talk.shown[-1] == {"role": "user", "content": WHICH}
    assert talk.kept[0]["content"] == WHICH


def test_what_is_in_the_window_is_not_recalled(memories: Memories) -> None:
    memories.remember("ana", "The valve of the boiler was fitted in 2019.")
    talk = Talk(memories, answer("Good to know."), answer("Brass."))
    talk.say(VALVE)
    talk.say(WHICH)
    assert "2019" in block_in(talk.shown)["content"]
    assert VALVE not in block_in(talk.shown)["content"]


def test_results_of_tools_leave_what_was_recalled_as_it_was(memories: Memories) -> None:
    memories.remember("ana", VALVE)
    talk = Talk(
        memories,
        [answer("One moment."), function_call("weigh", {"thing": "x"}, call_id="c1")],
        answer("Two."),
    )
    talk.say(WHICH)
    first, second = (block_in(call.input) for call in talk.model.calls)
    assert first == second
    assert WHICH not in first["content"]


@given(
    st.lists(st.sampled_from(["user", "assistant", "call", "result"]), max_size=20),
    st.integers(0, 5),
)
def test_the_window_is_the_end_of_the_history_from_where_a_turn_begins(
    kinds: list[str], turns: int
) -> None:
    items = [
        {"role": kind, "n": n} if kind in ("user", "assistant") else {"type": kind, "n": n}
        for n, kind in enumerate(kinds)
    ]
    shown = MemorySession(SQLiteSession("ana"), Memories(), turns=turns).window(
        items, new := [{"role": "user"}]
    )
    history, users = shown[:-1], kinds.count("user")
    assert shown == items[len(items) - len(history) :] + new
    assert sum(item.get("role") == "user" for item in history) == min(turns, users)
    assert history == items or not history or history[0].get("role") == "user"


# The session loses nothing

ITEMS = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant", "system"]), "content": st.text(max_size=9)}
    ),
    max_size=3,
)
STEPS = st.one_of(
    st.tuples(st.just("add_items"), ITEMS),
    st.tuples(st.just("get_items"), st.one_of(st.none(), st.integers(0, 4))),
    st.tuples(st.sampled_from(["pop_item", "clear_session"])),
)


@settings(max_examples=often(25), deadline=None)
@given(st.lists(STEPS, max_size=12))
def test_it_behaves_as_the_session_that_it_wraps(steps: list[tuple[Any, ...]]) -> None:
    async def run() -> None:
        plain, wrapped = (
            SQLiteSession("ana"),
            MemorySession(SQLiteSession("ana"), Memories(encoder=BagEncoder())),
        )
        for name, *given_to_it in [*steps, ("get_items",)]:
            assert await getattr(plain, name)(*given_to_it) == await getattr(wrapped, name)(
                *given_to_it
            )

    asyncio.run(run())


def test_it_is_a_session_to_the_sdk_and_shows_the_rest_of_the_one_it_wraps(
    memories: Memories,
) -> None:
    inner = SQLiteSession("ana")
    session = MemorySession(inner, memories)
    assert isinstance(session, Session)
    assert (session.session_id, session.session_settings) == ("ana", inner.session_settings)
    assert session.db_path == inner.db_path
    assert not hasattr(session, "run_compaction")


def test_what_the_session_takes_besides_is_passed_on(memories: Memories) -> None:
    class Branched(SQLiteSession):
        async def get_items(self, limit: int | None = None, branch_id: str | None = None) -> Any:
            return [branch_id]

    session = MemorySession(Branched("ana"), memories)
    assert asyncio.run(session.get_items(branch_id="b")) == ["b"]
    session.session_settings = agents.memory.SessionSettings(limit=3)
    assert session.session.session_settings.limit == 3


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


def said_so_far(*turns: str) -> Any:
    """Return the steps of a model that answers each turn with its own words."""
    return [answer(f"So {turn}") for turn in turns]


@pytest.mark.parametrize("again", [True, False], ids=["this object", "another process"])
def test_what_is_popped_is_forgotten_and_may_be_said_anew(
    memories: Memories, tmp_path: Any, again: bool
) -> None:
    db = f"{tmp_path}/sessions.db"
    steps = said_so_far("my PIN is 4417.", "it rains.", "my PIN is 4417.")
    talk = Talk(memories, *steps)
    talk.session = MemorySession(SQLiteSession("ana", db), memories)
    talk.say("I say my PIN is 4417.")
    talk.say("I say it rains.")
    if not again:
        talk.session = MemorySession(SQLiteSession("ana", db), memories)
    for left in (3, 2, 1, 0):
        asyncio.run(talk.session.pop_item())
        assert len(texts(memories)) == len(talk.kept) == left
    assert "4417" not in str(memories.export())
    talk.say("I say my PIN is 4417.")
    assert texts(memories) == ["I say my PIN is 4417.", "So my PIN is 4417."]
    assert asyncio.run(talk.session.pop_item())
    asyncio.run(talk.session.pop_item())
    assert asyncio.run(talk.session.pop_item()) is None
    assert texts(memories) == []


def test_the_answers_that_tell_of_a_popped_message_are_forgotten_too(memories: Memories) -> None:
    talk = Talk(memories, answer("Noted."))
    talk.say(VALVE)
    other = Talk(memories, answer("It is brass."), session="other", namespace="ana", turns=0)
    other.say(WHICH)
    assert block_in(other.shown)
    for _ in range(2):
        asyncio.run(talk.session.pop_item())
    assert texts(memories) == [WHICH]


def test_popping_what_was_not_remembered_leaves_what_was(memories: Memories) -> None:
    talk = Talk(memories, answer("Good."), RuntimeError("no model"))
    talk.say("Yes.")
    with pytest.raises(RuntimeError):
        talk.say("Yes.")
    # As in another process, which does not know what waits for an answer.
    talk.session = MemorySession(talk.session.session, memories)
    asyncio.run(talk.session.pop_item())
    assert texts(memories) == ["Yes.", "Good."]
    asyncio.run(talk.session.add_items([{"type": "function_call", "name": "weigh"}]))
    asyncio.run(talk.session.pop_item())
    assert len(texts(memories)) == 2


def test_what_is_popped_is_forgotten_though_it_was_said_twice_in_a_run_that_failed(
    memories: Memories,
) -> None:
    talk = Talk(memories, RuntimeError("no model"), *map(answer, ("Good.", "Well.", "Fine.")))
    with pytest.raises(RuntimeError):
        talk.say("Yes.")
    for said in ("Yes.", "No.", "Yes."):
        talk.say(said)
    for _ in range(2):
        asyncio.run(talk.session.pop_item())
    assert texts(memories) == ["Yes.", "Good.", "No.", "Well."]


def test_what_was_recalled_of_a_popped_message_is_not_shown_again(memories: Memories) -> None:
    memories.remember("ana", "The boiler is in the cellar.")
    talk = Talk(memories, answer("Noted."), answer("Brass."), answer("Where?"), turns=0)
    talk.say(VALVE)
    talk.say(WHICH)
    for _ in range(4):
        asyncio.run(talk.session.pop_item())
    talk.say(WHICH)
    assert "brass" not in str(talk.shown)


def test_a_memory_that_fails_costs_no_pop(
    memories: Memories, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    talk = Talk(memories, answer("Good to know."))
    talk.say(VALVE)

    def fail(*_: object, **__: object) -> None:
        raise StoreError("busy")

    with monkeypatch.context() as patch:
        patch.setattr(Memories, "forget", fail)
        assert asyncio.run(talk.session.pop_item())["role"] == "assistant"
        assert caplog.messages == ["what was taken back waits to be forgotten: StoreError"]
    assert texts(memories) == [VALVE]


def test_clearing_forgets_the_sessions_turns_where_it_is_to(memories: Memories) -> None:
    about: Any = {"namespace": lambda context: context, "clear_forgets": True}
    talk = Talk(memories, answer("Noted."), answer("Noted."), session="s1", **about)
    talk.say(VALVE, context="ana")
    talk.say("Ben sails.", context="ben")
    memories.remember("ana", "It rains.", session="s2")
    asyncio.run(talk.session.clear_session())
    assert (talk.kept, texts(memories), texts(memories, "ben")) == ([], ["It rains."], [])


def test_where_it_is_not_known_whose_turns_they_are_clearing_does_nothing(
    memories: Memories,
) -> None:
    session = MemorySession(
        SQLiteSession("s1"), memories, namespace=lambda context: context, clear_forgets=True
    )
    asyncio.run(session.session.add_items([{"role": "user", "content": VALVE}]))
    with pytest.raises(InvalidInput, match="wrapper"):
        asyncio.run(session.clear_session())
    assert len(asyncio.run(session.get_items())) == 1


def test_turns_below_zero_are_refused(memories: Memories) -> None:
    with pytest.raises(InvalidInput, match="turns"):
        MemorySession(SQLiteSession("ana"), memories, turns=-1)


def test_a_session_that_the_sdk_treats_apart_is_refused(memories: Memories) -> None:
    with pytest.raises(InvalidInput, match="session"):
        MemorySession(
            agents.OpenAIConversationsSession(conversation_id="c", openai_client=object()), memories
        )


# Feedback, docs, example


def test_feedback_on_the_last_answer_and_by_the_id_of_its_message(memories: Memories) -> None:
    talk = Talk(memories, answer("Good to know."), answer("Steel."))
    with pytest.raises(InvalidInput, match="feedback"):
        asyncio.run(talk.session.feedback(thumbs=True))
    talk.say(VALVE)
    result = talk.say(WHICH)
    assert asyncio.run(talk.session.feedback(correction="Brass.")).remembered == "e5"
    assert (
        memories.feedback(result.new_items[-1].raw_item.id, namespace="ana", thumbs=False).answer_id
        == "a2"
    )
    (context,) = [c for c in memories.of("ana").contexts() if c.id == "a2"]
    assert (context.query, context.answer) == (WHICH, "Steel.")


def test_the_same_words_after_an_answer_in_the_session_are_said_again(memories: Memories) -> None:
    answers = ("Shall I book?", "Booked. A taxi too?", "It is on its way.")
    talk = Talk(memories, *map(answer, answers))
    for text in ("Dinner at Nico's.", "yes", "yes"):
        talk.say(text)
    assert texts(memories).count("yes") == 2


def test_a_run_that_failed_is_the_same_with_another_object_on_the_session(
    memories: Memories,
) -> None:
    talk = Talk(memories, answer("Hello."), RuntimeError("made to fail"), answer("Booked."))
    talk.say("Hello.")
    with contextlib.suppress(RuntimeError):
        talk.say("yes")
    talk.session = MemorySession(talk.session.session, memories)
    talk.say("yes")
    assert texts(memories) == ["Hello.", "Hello.", "yes", "Booked."]


# Handoffs, and answers that were cut off


def _handed_over(memories: Memories, **options: Any) -> tuple[ScriptedModel, MemorySession]:
    """Ask one agent, which hands over to another, and return the other's model."""
    later = ScriptedModel([[answer("It is of brass.")]])
    second = Agent("Second", model=later)
    steps = [[answer("Hello!")], [function_call("transfer_to_second", {}, call_id="c1")]]
    first = Agent("First", model=ScriptedModel(steps), handoffs=[second])
    session = MemorySession(SQLiteSession("ana"), memories)

    async def run() -> None:
        config = session.run_config(nest_handoff_history=True, **options)
        for text in ("Hello there.", WHICH):
            await Runner.run(first, text, session=session, run_config=config)

    asyncio.run(run())
    return later, session


def _as_the_user(transcript: Sequence[Any]) -> list[Any]:
    return [{"role": "user", "content": f"So far: {json.dumps(transcript)}"}]


@pytest.mark.parametrize("more", [{}, {"handoff_history_mapper": _as_the_user}], ids=["", "user"])
def test_a_handoff_that_retells_the_conversation_keeps_to_what_the_user_said(
    memories: Memories, more: dict[str, Any]
) -> None:
    memories.remember("ana", VALVE)
    later, _ = _handed_over(memories, **more)
    assert VALVE in block_in(later.calls[-1].input)["content"]
    assert texts(memories, "ana") == [VALVE, "Hello there.", "Hello!", WHICH, "It is of brass."]
    *_, given = memories.of("ana").contexts()
    assert (given.query, next(id for id, *_ in given.read)) == (WHICH, "e1")


def test_feedback_after_an_answer_that_was_cut_off_is_not_on_the_one_before(
    memories: Memories,
) -> None:
    talk = Talk(memories, answer("A brass one."), [unfinished("It is")])
    talk.say(WHICH)
    talk.say("And the pump?")
    with pytest.raises(InvalidInput, match="after an answer"):
        asyncio.run(talk.session.feedback(thumbs=True))
