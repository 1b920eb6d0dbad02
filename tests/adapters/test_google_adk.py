"""The Google ADK adapter keeps the contract of all adapters, in the framework's runner with a fake
model.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from adapter_contract import ASKED, VALVE, AdapterContract, Driver, Ending
from adapter_contract import texts as texts_of

pytest.importorskip(
    "google.adk", reason="the google_adk adapter: pip install 'demem-agent[google-adk]'"
)

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.events.event import Event
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService, Session
from google.adk.tools.load_memory_tool import LoadMemoryTool
from google.adk.tools.preload_memory_tool import PreloadMemoryTool
from google.genai import types
from pydantic import Field

from demem_adapters.common import Memories
from demem_adapters.google_adk import MemoryService, remember_session
from demem_agent.errors import InvalidInput, StoreError
from demem_agent.stores import MemoryStore
from demem_agent.testing import BagEncoder

ANA = {"app_name": "house", "user_id": "ana"}
STOP = types.FinishReason.STOP


@pytest.fixture
def service() -> MemoryService:
    return MemoryService(Memories(encoder=BagEncoder()))


class Watched(BaseLlm):
    """A model that notes the texts it is sent, and gives what it is made to."""

    model: str = "fake"
    seen: list[list[str]] = Field(default_factory=list)
    replies: list[LlmResponse] = Field(default_factory=list)
    fails: bool = False

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        parts: list[types.Part] = []
        for content in llm_request.contents:
            parts += content.parts or []
        # Older releases put what was preloaded into the instruction.
        told = str(llm_request.config.system_instruction)
        self.seen.append([told, *(str(part.text or part.function_response) for part in parts)])
        if self.fails:
            raise ConnectionError("reset")
        for reply in self.replies or [
            LlmResponse(content=types.ModelContent("Noted."), finish_reason=STOP)
        ]:
            yield reply


def said(text: str, event_id: str = "", author: str = "user", **more: Any) -> Event:
    return Event(
        id=event_id, author=author, content=types.Content(parts=[types.Part(text=text)]), **more
    )


def session(*events: Event, session_id: str = "s1", **owner: str) -> Session:
    return Session(id=session_id, **{**ANA, **owner}, events=[*events])


def add(service: MemoryService, *events: Event, **owner: str) -> None:
    asyncio.run(service.add_session_to_memory(session(*events, **owner)))


def search(service: MemoryService, query: str = ASKED, **owner: str) -> list[MemoryEntry]:
    return asyncio.run(service.search_memory(**{**ANA, **owner}, query=query)).memories


def text(entry: MemoryEntry) -> str:
    return "".join(part.text or "" for part in entry.content.parts or [])


def texts(service: MemoryService) -> list[str]:
    return texts_of(service.memories, '["house", "ana"]')


def converse(
    service: MemoryService, model: Watched, *turns: str, stream: bool = False, **more: Any
) -> Session:
    """Run turns in one session with memory preloaded, and add the session after each."""
    owner = {**ANA, "user_id": more.get("user_id", "ana")}

    async def run() -> Session:
        sessions = InMemorySessionService()
        agent = LlmAgent(name="bot", model=model, tools=more.get("tools", [PreloadMemoryTool()]))
        runner = Runner(
            app_name="house", agent=agent, session_service=sessions, memory_service=service
        )
        begun = await sessions.create_session(**owner)
        config = RunConfig(streaming_mode=StreamingMode.SSE if stream else StreamingMode.NONE)
        for turn in turns:
            message = types.UserContent(turn)
            async for _ in runner.run_async(
                user_id=owner["user_id"],
                session_id=begun.id,
                new_message=message,
                run_config=config,
            ):
                pass
            kept = await sessions.get_session(**owner, session_id=begun.id)
            assert kept is not None
            await service.add_session_to_memory(kept)
        return kept

    return asyncio.run(run())


class Service(Driver):
    at_once = False  # sessions are added when they have ended
    several = False  # events are remembered each by its id
    tells_reason = False  # its models name a reason of a fixed set
    takes_sessions = True

    explicit = True  # a service is asked by name
    declares = False  # Google's own words stand around it
    shows_before = False  # it is told the query alone

    def __init__(self, memories: Memories, **asking: Any) -> None:
        super().__init__(memories, **asking)
        self.service = MemoryService(memories, **asking)
        self._ended: dict[str, Session] = {}

    def namespace(self, who: str) -> str:
        return json.dumps(["house", who])

    def say(
        self,
        text: str,
        *,
        who: str = "ana",
        reply: str = "Noted.",
        ending: Ending = "whole",
        event: str = "",
    ) -> list[str]:
        if event in self._ended:  # what is carried out again in ADK is the adding of a session
            asyncio.run(self.service.add_session_to_memory(self._ended[event]))
            return []
        reason = types.FinishReason.MAX_TOKENS if ending == "cut" else STOP
        answer = LlmResponse(content=types.ModelContent(reply), finish_reason=reason)
        watched = Watched(replies=[answer], fails=ending == "fails")
        with contextlib.suppress(ConnectionError):
            session = converse(self.service, watched, text, user_id=who)
            self._ended |= {event: session} if event else {}
        return watched.seen[0]

    def recalled(self, seen: list[str]) -> str:
        block = next(
            (text for text in seen if "<PAST_CONVERSATIONS>\n" in text), "<PAST_CONVERSATIONS>\n"
        )
        return block.split("<PAST_CONVERSATIONS>\n")[1].split("</PAST_CONVERSATIONS>")[0]

    def parts(self) -> list[Any]:
        return [self.service]


class TestContract(AdapterContract):
    name = "google_adk"
    driver = Service

    def after_page(self, namespace: dict[str, Any]) -> None:
        service = namespace["runner"].memory_service
        add(service, said(VALVE))
        assert [text(entry) for entry in search(service)] == [VALVE]


def test_it_is_told_who_said_what(service: MemoryService) -> None:
    converse(service, Watched(), VALVE)
    assert [item.speaker for item in service.memories.of('["house", "ana"]').evidence()] == [
        "user",
        "bot",
    ]


def test_a_session_added_after_each_turn_is_remembered_once(service: MemoryService) -> None:
    converse(service, Watched(), "Yes.", "Yes.", "Yes.")
    assert texts(service) == ["Yes.", "Noted."] * 3


def test_events_are_added_to_what_is_there(service: MemoryService) -> None:
    first, second = said(VALVE), said("It leaks.")
    for events in ([first], [first, second]):
        asyncio.run(service.add_events_to_memory(**ANA, events=events, session_id="s1"))
    add(service, first, second)
    asyncio.run(service.add_events_to_memory(**ANA, events=[second]))
    assert texts(service) == [VALVE, "It leaks."]


def test_an_event_that_was_changed_stays_and_those_after_it_are_remembered(
    service: MemoryService, caplog: pytest.LogCaptureFixture
) -> None:
    add(service, said(VALVE, "x", timestamp=1.0))
    add(service, said("Changed.", "x", timestamp=1.0), said("It leaks."))
    assert texts(service) == [VALVE, "It leaks."]
    assert caplog.messages == ["an event with the id of another was not remembered: x"]


@pytest.mark.parametrize(
    "other", [{"user_id": "ben"}, {"app_name": "garden"}, {"app_name": 'house", "ana'}]
)
def test_one_namespace_never_sees_anothers(service: MemoryService, other: dict[str, str]) -> None:
    add(service, said(VALVE))
    add(service, said("I am new here."), **other)
    assert [text(entry) for entry in search(service, **other)] == ["I am new here."]
    assert [text(entry) for entry in search(service)] == [VALVE]


def test_names_that_run_together_are_two_namespaces(service: MemoryService) -> None:
    add(service, said(VALVE), app_name="a/b", user_id="c")
    assert search(service, app_name="a", user_id="b/c") == []


def test_searching_a_namespace_never_written_gives_nothing_and_does_not_make_it(
    service: MemoryService,
) -> None:
    assert search(service) == []
    add(service, Event(author="bot"), said("  "))
    assert service.memories.known('["house", "ana"]') is None


def test_a_blank_query_finds_nothing(service: MemoryService) -> None:
    add(service, said(VALVE))
    assert search(service, " ") == []


@pytest.mark.parametrize(
    "about",
    [
        {"partial": True},
        {"interrupted": True},
        {"error_code": "500", "finish_reason": STOP},
        {"finish_reason": types.FinishReason.MAX_TOKENS},
        {"finish_reason": types.FinishReason.SAFETY},
        {"model_version": "gemini-2.5-flash"},  # a stream that broke off: no reason was sent
    ],
    ids=lambda about: "-".join(about),
)
def test_what_is_not_whole_is_not_remembered(service: MemoryService, about: dict[str, Any]) -> None:
    add(service, said(VALVE), said("It is bra", author="bot", **about))
    assert texts(service) == [VALVE]


def test_a_whole_answer_of_a_provider_is_remembered(service: MemoryService) -> None:
    add(service, said("Noted.", author="bot", model_version="gemini-2.5-flash", finish_reason=STOP))
    assert texts(service) == ["Noted."]


def test_of_a_stream_only_its_whole_is_remembered(service: MemoryService) -> None:
    pieces = [
        LlmResponse(content=types.ModelContent(piece), partial=True) for piece in ("No", "ted.")
    ]
    whole = LlmResponse(content=types.ModelContent("Noted."), finish_reason=STOP)
    converse(service, Watched(replies=[*pieces, whole]), VALVE, stream=True)
    assert texts(service) == [VALVE, "Noted."]


def test_thoughts_and_tools_are_not_remembered(service: MemoryService) -> None:
    call = types.Part(function_call=types.FunctionCall(name="look", args={}))
    result = types.Part.from_function_response(name="look", response={"seen": "a leak"})
    thought = types.Part(text="The user sounds upset.", thought=True)
    parts = [[thought, call], [result], [thought, types.Part(text="It leaks.")]]
    add(service, *(Event(author="bot", content=types.Content(parts=part)) for part in parts))
    assert texts(service) == ["It leaks."]


def test_the_best_comes_first_with_its_event_author_and_time(service: MemoryService) -> None:
    add(
        service,
        said("The weather is fine."),
        said(VALVE, "x", timestamp=1_700_000_000.0),
        said("I like tea."),
    )
    best = search(service)[0]
    assert (best.id, text(best), best.author) == ("x", VALVE, "user")
    assert best.timestamp is not None
    assert best.timestamp.startswith("2023-11-1")
    assert best.custom_metadata == {"session_id": "s1"}


def test_an_event_is_found_as_one_entry(service: MemoryService) -> None:
    long = " ".join(f"The boiler in room {n} has a brass valve." for n in range(40))
    add(service, said(long, "x"), said(VALVE, "y"))
    found = [entry.id for entry in search(service)]
    assert sorted(found) == ["x", "y"]


def test_the_tool_gives_the_model_what_is_found(service: MemoryService) -> None:
    add(service, said(VALVE))
    watched = Watched()
    call = types.Part(function_call=types.FunctionCall(name="load_memory", args={"query": ASKED}))
    answers = iter([types.ModelContent([call]), types.ModelContent("Brass.")])

    class Calls(Watched):
        async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
            async for _ in watched.generate_content_async(llm_request):
                yield LlmResponse(content=next(answers), finish_reason=STOP)

    converse(service, Calls(), ASKED, tools=[LoadMemoryTool()])
    assert VALVE in watched.seen[1][-1]
    assert texts(service) == [VALVE, ASKED, "Brass."]


def test_an_entry_is_remembered_once_by_its_id_or_what_it_says(service: MemoryService) -> None:
    content = types.UserContent(VALVE)
    entries = [MemoryEntry(content=content, author="user"), MemoryEntry(content=content, id="m1")]
    for _ in range(2):
        asyncio.run(service.add_memory(**ANA, memories=entries))
    assert texts(service) == [VALVE, VALVE]
    assert "m1" in {entry.id for entry in search(service)}


def test_what_is_kept_beside_an_entry_comes_back_and_is_filtered_by() -> None:
    memories = Memories(encoder=BagEncoder())
    service = MemoryService(memories, where=lambda app, user: {"metadata": {"room": "bath"}})
    bath = MemoryEntry(content=types.UserContent(VALVE), custom_metadata={"room": "bath"})
    other = MemoryEntry(content=types.UserContent("The boiler has a valve of steel."))
    about = {"room": "hall", "by": "form"}
    asyncio.run(service.add_memory(**ANA, memories=[bath, other], custom_metadata=about))
    (found,) = search(service)
    assert found.custom_metadata == {"room": "bath", "by": "form"}


def test_an_entry_with_a_time_that_is_none_is_refused(service: MemoryService) -> None:
    entry = MemoryEntry(content=types.UserContent(VALVE), timestamp="soon")
    with pytest.raises(InvalidInput, match="at"):
        asyncio.run(service.add_memory(**ANA, memories=[entry]))
    assert texts(service) == []


def test_what_was_deleted_stays_deleted_when_its_session_is_added_again(
    service: MemoryService,
) -> None:
    events = [said(VALVE, "x"), said("It leaks.", "y")]
    add(service, *events)
    asyncio.run(service.delete_memory(**ANA, memory_id="x"))
    add(service, *events)
    assert texts(service) == ["It leaks."]
    assert "x" not in {entry.id for entry in search(service)}


@pytest.mark.parametrize("memory_id", ["unknown", "", None])
def test_deleting_what_is_not_there_changes_nothing(
    service: MemoryService, memory_id: str | None
) -> None:
    add(service, said(VALVE))
    for user in ("ana", "ben"):
        asyncio.run(service.delete_memory(app_name="house", user_id=user, memory_id=memory_id))
    assert texts(service) == [VALVE]
    assert service.memories.known('["house", "ben"]') is None


def test_a_summary_is_found_as_one_entry() -> None:
    service = MemoryService(Memories(mode="strict", limit=300, encoder=BagEncoder()))
    add(service, said(VALVE))
    (entry,) = search(service)
    assert VALVE in text(entry)
    assert entry.id is None


class Broken(MemoryStore):
    def commit(self, address: Any, delta: Any) -> None:
        raise StoreError("made to fail")


def run_with_callback(service: MemoryService | None, *turns: str) -> list[Event]:
    """Run turns in one session, which the agent's own callback adds to memory after each."""

    async def run() -> list[Event]:
        sessions = InMemorySessionService()
        agent = LlmAgent(
            name="bot",
            model=Watched(),
            tools=[PreloadMemoryTool()],
            after_agent_callback=remember_session,
        )
        runner = Runner(
            app_name="house", agent=agent, session_service=sessions, memory_service=service
        )
        begun = await sessions.create_session(**ANA)
        about = {"user_id": "ana", "session_id": begun.id}
        turned = [runner.run_async(**about, new_message=types.UserContent(turn)) for turn in turns]
        heard: list[Any] = []
        for events in turned:
            heard += [event async for event in events]
        return heard

    return asyncio.run(run())


def test_the_callback_remembers_each_turn_once(service: MemoryService) -> None:
    run_with_callback(service, "Yes.", "Yes.")
    assert texts(service) == ["Yes.", "Noted."] * 2


def test_with_the_callback_a_memory_that_fails_costs_no_answer(
    caplog: pytest.LogCaptureFixture,
) -> None:
    (answer,) = run_with_callback(MemoryService(Memories(Broken(), encoder=BagEncoder())), VALVE)
    assert answer.content is not None
    assert answer.content.parts is not None
    assert answer.content.parts[0].text == "Noted."
    told = [record.getMessage() for record in caplog.records if record.name == "demem_adapters"]
    assert told == ["a turn was not remembered: StoreError"]


def test_the_callback_says_that_there_is_no_memory_service() -> None:
    with pytest.raises(ValueError, match="memory service"):
        run_with_callback(None, VALVE)


def test_what_is_remembered_is_there_for_the_next_process(tmp_path: Path) -> None:
    event = said(VALVE)
    for _ in range(2):
        with Memories(f"sqlite:///{tmp_path}/bot.db") as memories:
            service = MemoryService(memories)
            add(service, event)
            assert [text(entry) for entry in search(service)] == [VALVE]
