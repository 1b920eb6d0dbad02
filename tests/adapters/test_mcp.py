"""The MCP server keeps the contract of all adapters, with a real client, in RAM, over stdio and
over HTTP.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import re
import shutil
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from adapter_contract import ASKED as WHICH
from adapter_contract import VALVE, AdapterContract, Driver, Ending
from adapter_contract import texts as texts_of

pytest.importorskip("mcp", reason="the mcp adapter: pip install 'demem-agent[mcp]'")

import mcp.shared.exceptions
import uvicorn
from hypothesis import given, settings
from hypothesis import strategies as st
from often import often
from pydantic import AnyUrl

import demem_adapters.mcp as adapter
from demem_adapters.common import DECLARED, Memories
from demem_adapters.mcp import main, make_app, make_server, mount, serve
from demem_adapters.mcp.sdk import MCPServer
from demem_adapters.mcp.server import NEW
from demem_agent import InvalidInput
from demem_agent.errors import StoreError
from demem_agent.testing import BagEncoder

RefusedRequest = getattr(mcp.shared.exceptions, "MCPError", None) or mcp.shared.exceptions.McpError


@pytest.fixture
def memories() -> Memories:
    return Memories(encoder=BagEncoder())


def connected(server: Any) -> AbstractAsyncContextManager[Any]:
    """Connect a client to a server in this process."""
    try:
        from mcp import Client
    except ImportError:
        from mcp.shared.memory import create_connected_server_and_client_session

        return create_connected_server_and_client_session(server)
    return Client(server)


class Asking:
    """A client that connects for each request, as one over HTTP may."""

    def __init__(self, memories: Memories, **options: Any) -> None:
        self.server = make_server(memories, **options)

    def ask(self, request: Callable[[Any], Awaitable[Any]]) -> Any:
        async def run() -> Any:
            async with connected(self.server) as client:
                return await request(client)

        return asyncio.run(run())

    def call(self, tool: str, **arguments: Any) -> tuple[bool, Any, Any]:
        """Call a tool; gives whether it failed, its text (or what its JSON says), and what it gave
        structured.
        """
        result = self.ask(lambda client: client.call_tool(tool, arguments)).model_dump(
            by_alias=True
        )
        text = "".join(part["text"] for part in result["content"])
        return result["isError"], text, result.get("structuredContent")

    def does(self, tool: str, **arguments: Any) -> Any:
        failed, text, found = self.call(tool, **arguments)
        assert not failed, text
        return text if found is None else found

    def fails(self, tool: str, **arguments: Any) -> str:
        failed, text, _ = self.call(tool, **arguments)
        assert failed, text
        return str(text)

    def read(self, uri: str) -> Any:
        return json.loads(
            self.ask(lambda client: client.read_resource(self.address(uri))).contents[0].text
        )

    @staticmethod
    def address(uri: str) -> Any:
        return uri if NEW else AnyUrl(uri)


@pytest.fixture
def asking(memories: Memories) -> Asking:
    return Asking(memories)


def texts(memories: Memories, namespace: str = "default") -> list[str]:
    return texts_of(memories, namespace)


def arguments(asking: Asking, tool: str) -> set[str]:
    """Return the names of the arguments that a tool shows."""
    tools = asking.ask(lambda client: client.list_tools()).model_dump(by_alias=True)["tools"]
    (schema,) = [shown["inputSchema"] for shown in tools if shown["name"] == tool]
    return set(schema["properties"])


class Agents(Driver):
    """An agent that recalls before its model answers, and remembers both sides once it has."""

    at_once = False  # a client calls the tools when it likes
    several = False  # each is remembered by a call of its own
    tells_reason = False  # a server sees no model

    explicit = True
    declares = False
    filters = False

    def say(
        self,
        text: str,
        *,
        who: str = "ana",
        reply: str = "Noted.",
        ending: Ending = "whole",
        event: str = "",
    ) -> list[str]:
        asking = Asking(self.memories, namespace=None, **self.asking)
        failed, recalled, _ = asking.call("recall", namespace=who, question=text)
        for speaker, said in (("user", text), ("assistant", reply)) if ending == "whole" else ():
            key = f"{event or uuid.uuid4().hex}:{speaker}"
            failed |= asking.call("remember", namespace=who, text=said, speaker=speaker, key=key)[0]
        if failed:
            raise StoreError("the tools failed")
        return [recalled, text]

    def recalled(self, seen: list[str]) -> str:
        return seen[0]

    def go_on(self, before: Sequence[str], asked: str) -> None:
        asking = Asking(self.memories, namespace=None)
        asking.does("recall", namespace="ana", question=asked, said_before=[*before])

    def parts(self) -> list[Any]:
        return []  # a server is not copied


class TestContract(AdapterContract):
    name = "mcp"
    driver = Agents
    shows = (
        "Ana: The boiler in the kitchen has a brass valve",
        "forgotten: ['e1']",
        "no evidence has the id 'e1'\n",
    )

    def after_page(self, namespace: dict[str, Any]) -> None:
        assert callable(namespace["app"])
        namespace["memories"].close()


# In a server of somebody else's


def test_memory_is_mounted_beside_what_a_server_has(memories: Memories) -> None:
    server = MCPServer("app")
    server.add_tool(lambda: "mine", name="recall")
    for prefix, whose in (("own_", "ana"), ("any_", None)):
        mount(server, memories, namespace=whose, prefix=prefix)
    asking = Asking(memories)
    asking.server = server
    asking.does("own_remember", text=VALVE)
    assert VALVE in asking.does("any_recall", question=WHICH, namespace="ana")
    assert asking.call("recall")[1] == "mine"
    prompts = asking.ask(lambda client: client.list_prompts()).prompts
    assert {prompt.name for prompt in prompts} == {"own_with_memory", "any_with_memory"}
    assert "brass valve" in json.dumps(asking.read("demem://slots"))


@pytest.mark.parametrize("server", [None, "app", object()])
def test_what_is_no_server_is_refused(memories: Memories, server: object) -> None:
    with pytest.raises(InvalidInput, match="server"):
        mount(server, memories)


# Remember and recall


def test_what_is_remembered_is_recalled(asking: Asking, memories: Memories) -> None:
    done = asking.does("remember", text=VALVE, speaker="Ana", at="2025-05-08", source_id="m1")
    assert (done["evidence_id"], texts(memories)) == ("e1", [VALVE])
    assert "Ana: My boiler has a brass valve." in asking.does("recall", question=WHICH)


def test_what_was_recalled_is_not_remembered_again(asking: Asking, memories: Memories) -> None:
    asking.does("remember", text=VALVE)
    assert asking.does("remember", text=asking.does("recall", question=WHICH))["skipped"] is True
    assert texts(memories) == [VALVE]


@pytest.mark.parametrize("key", ["", "event-1"])
def test_the_same_again_is_remembered_once(asking: Asking, memories: Memories, key: str) -> None:
    first, second = (asking.does("remember", text=VALVE, key=key) for _ in range(2))
    assert (first, texts(memories)) == (second, [VALVE])


def test_what_was_forgotten_can_be_said_again(asking: Asking, memories: Memories) -> None:
    for id in ("e1", "e2", "e3"):
        assert asking.does("remember", text=VALVE)["evidence_id"] == id
        asking.does("forget", evidence_id=id)
    assert asking.does("remember", text=VALVE) == asking.does("remember", text=VALVE)
    assert texts(memories) == [VALVE]


@pytest.mark.parametrize("asked", [0, 60, 10_000])
def test_the_limit_holds_in_what_reaches_the_model(asked: int) -> None:
    memories = Memories(limit=120, encoder=BagEncoder())
    memories.of("default").ingest_many(
        [{"text": f"The boiler in room {n} has a brass valve."} for n in range(30)]
    )
    asking = Asking(memories)
    failed, text, structured = asking.call(
        "recall", question="Which valve has the boiler?", limit=asked
    )
    assert (failed, structured) == (False, None)  # structured as well, it would reach a model twice
    assert len(text) <= min(asked or 120, 120)
    assert asked == 60 or "brass" in text


def test_without_a_limit_of_the_server_s_the_memory_s_own_holds() -> None:
    memories = Memories(read_limit=100, encoder=BagEncoder())
    memories.of("default").ingest_many(
        [{"text": f"The boiler in room {n} has a brass valve."} for n in range(30)]
    )
    assert 0 < len(Asking(memories).does("recall", question="Which valve?", limit=5000)) <= 100


@settings(max_examples=often(12), deadline=None)
@given(st.text(st.characters(exclude_categories=()), max_size=30))
def test_any_text_gets_an_answer_that_can_be_sent(text: str) -> None:
    memories = Memories(encoder=BagEncoder())
    memories.remember("default", f"{text} valve")
    answered = {
        tool: Asking(memories).call(tool, question=f"{text} valve")
        for tool in ("recall", "explain")
    }
    assert not any(failed for failed, _, _ in answered.values())
    assert all(json.dumps(given, ensure_ascii=False).encode() for given in answered.values())


# Whose memory


def test_a_server_of_one_namespace_lets_no_call_name_another(memories: Memories) -> None:
    memories.remember("ben", "Only Ben knows of the valve.")
    asking = Asking(memories, namespace="ana")
    tools = asking.ask(lambda client: client.list_tools()).model_dump(by_alias=True)["tools"]
    assert not any("namespace" in tool["inputSchema"]["properties"] for tool in tools)
    told = asking.fails("recall", question="Who knows of the valve?", namespace="ben")
    assert "Only Ben" not in told
    assert asking.read("demem://slots") == []


def test_one_namespace_never_sees_anothers_where_each_call_names_it(memories: Memories) -> None:
    asking = Asking(memories, namespace=None)
    asking.does("remember", namespace="Ana B", text=VALVE)
    asking.does("remember", namespace="ben", text="The gate squeaks.")
    assert "valve" not in asking.does("recall", namespace="ben", question=WHICH)
    assert "valve" in asking.does("recall", namespace="Ana B", question=WHICH)
    assert [slot["evidence"] for slot in asking.read("demem://Ana%20B/slots")] == [["e1"]]
    assert asking.fails("recall", question=WHICH)
    assert asking.fails("remember", namespace=" ", text=VALVE)


def test_a_function_of_the_request_tells_whose_memory(memories: Memories) -> None:
    names = iter(["ana", "ben"])
    asking = Asking(
        memories,
        namespace=lambda context: next(names) if context.request_id is not None else "nobody",
    )
    asking.does("remember", text=VALVE)
    assert asking.does("recall", question=WHICH) == ""
    assert texts(memories, "ana") == [VALVE]


def test_reading_what_was_never_written_gives_nothing_and_does_not_make_it(
    asking: Asking, memories: Memories
) -> None:
    assert asking.does("recall", question=WHICH) == ""
    assert asking.does("explain", question=WHICH) == {"route": None, "items": []}
    assert (asking.read("demem://slots"), asking.read("demem://certificates")) == ([], [])
    assert asking.fails("forget", evidence_id="e1")
    prompt = asking.ask(lambda client: client.get_prompt("with_memory", {"question": WHICH}))
    assert [message.content.text for message in prompt.messages] == [WHICH]
    assert memories.known("default") is None


# Feedback, explain, forget


def test_feedback_is_learned_from_once(asking: Asking, memories: Memories) -> None:
    asking.does("remember", text=VALVE)
    told = {"question": WHICH, "answer": "Steel.", "correction": "Brass, since May."}
    first, second = (asking.does("feedback", **told) for _ in range(2))
    assert first == second
    assert (first["answer_id"], first["remembered"]) == ("a1", "e2")
    (context,) = memories.of("default").contexts()
    assert (context.query, context.answer, context.reference) == (
        WHICH,
        "Steel.",
        "Brass, since May.",
    )


def test_feedback_refers_to_what_was_recalled_for_the_question(
    asking: Asking, memories: Memories
) -> None:
    asking.does("remember", text=VALVE)
    asking.does("recall", question=WHICH)
    asking.does("remember", text="The boiler of my neighbour has a steel valve.")
    asking.does("feedback", question=WHICH, answer="Brass.", thumbs=True)
    (context,) = memories.of("default").contexts()
    assert [id for id, *_ in context.read] == ["e1"]


def test_feedback_on_what_was_never_recalled_for_makes_no_memory(
    asking: Asking, memories: Memories
) -> None:
    assert "question" in asking.fails("feedback", question=WHICH, answer="Brass.", thumbs=True)
    assert memories.names() == []


def test_a_correction_is_remembered_though_nothing_was_before(
    asking: Asking, memories: Memories
) -> None:
    asking.does("feedback", question=WHICH, answer="I do not know.", correction="The brass one.")
    assert texts(memories) == [f'correction to "{WHICH}": The brass one.']


def test_feedback_that_says_nothing_leaves_nothing(asking: Asking, memories: Memories) -> None:
    asking.does("remember", text=VALVE)
    assert "reward" in asking.fails("feedback", question=WHICH, answer="Brass.")
    assert memories.of("default").contexts() == ()


def test_what_was_right_for_one_asker_is_feedback_on_that_ones_answer(
    asking: Asking, memories: Memories
) -> None:
    asking.does("remember", text=VALVE, speaker="Ana")
    told = {"question": WHICH, "answer": "Brass.", "conditions": ["Rain "], "thumbs": True}
    for asker in ("Ana", "Ben", "Ana"):
        asking.does("recall", question=WHICH, asker=asker, conditions=["rain"])
        asking.does("feedback", asker=asker, **told)
    contexts = memories.of("default").contexts()
    assert [(context.asker, context.conditions) for context in contexts] == [
        ("Ana", ("rain",)),
        ("Ben", ("rain",)),
    ]


def test_what_is_recalled_depends_on_who_asks() -> None:
    memories = Memories(encoder=BagEncoder(), limit=95)  # room for one of the two
    memories.remember("default", "I set the valve to one.", speaker="Ana")
    memories.remember("default", "I set the valve to two.", speaker="Ben")
    asking = Asking(memories)
    for asker, said in (("Ana", "to one"), ("Ben", "to two")):
        asked = {"question": "What is the valve set to?", "asker": asker}
        assert said in asking.does("recall", **asked)
        assert [item["speaker"] for item in asking.does("explain", **asked)["items"]] == [asker]


def certified(memories: Memories) -> Any:
    """Bring about a split; gives its certificate."""
    memory = memories.of("default")
    memory.ingest(
        "The alarm code of the Lisbon office is 4417, says Rui.", speaker="Ana", at="2024-03-01"
    )
    memory.ingest(
        "Our dog Toby must never eat grapes, said the vet.", speaker="Ben", at="2024-03-04"
    )
    first = memory.answer("What is the alarm code of the Lisbon office?")
    memory.feedback(first, reference="the alarm code is 4417")
    return memory.feedback(
        memory.answer("What must Toby never eat?"), reference="Toby must never eat grapes"
    ).certificate


def test_only_what_bears_on_a_question_is_recalled_where_that_is_asked_for() -> None:
    memories = Memories()
    for said in ("Toby is allergic to grapes.", "It rained all of May.", "The piano is new."):
        memories.remember("default", said)
    asking = Asking(memories)
    asked = {"question": "What is Toby allergic to?", "least": 0.3}
    assert "grapes" in asking.does("recall", **asked)
    assert "piano" not in asking.does("recall", **asked)
    assert asking.does("recall", question="Who won the chess cup?", least=0.3) == ""
    (first, *_) = asking.does("explain", question="What is Toby allergic to?")["items"]
    assert 0.3 < first["probability"] <= 1.0


def test_what_can_be_explained() -> None:
    memories = Memories(slots=2, initial_slots=1, slot_limit=130)
    certificate, asking = certified(memories), Asking(memories)
    assert asking.does("explain", id=certificate.id)["refused"] is None
    assert asking.does("explain", id="a1")["certificates"] == [certificate.id]
    assert asking.does("explain", id="e2")["text"].startswith("Our dog Toby")
    asked = asking.does("explain", question="What must Toby never eat?")
    assert [item["id"] for item in asked["items"] if item["slot"] == asked["route"]["slot"]] == [
        "e2"
    ]
    assert [one["id"] for one in asking.read("demem://certificates")] == [certificate.id]
    assert asking.read(f"demem://certificates/{certificate.id}")["queries"] == list(
        certificate.queries
    )
    assert asking.read("demem://slots/1")["evidence"] == asking.read("demem://slots")[1]["evidence"]


def test_what_is_forgotten_is_nowhere_any_more(asking: Asking, memories: Memories) -> None:
    asking.does("remember", text=VALVE, source_id="m1")
    asking.does("recall", question=WHICH)
    assert asking.does("forget", source_id="m1")["evidence"] == ["e1"]
    asking.does("feedback", question=WHICH, answer="I do not know.", thumbs=False)
    assert (
        memories.of("default").contexts()[-1].answer == "I do not know."
    )  # it does not rest on what was forgotten
    assert len(asking.read("demem://slots")) == 1  # that is empty now, and there
    everything = json.dumps(
        [memories.export(), asking.read("demem://slots"), asking.does("recall", question=WHICH)]
    )
    assert "brass" not in everything


# Filters and changes


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"speaker": "Ana"}, "brass"),
        ({"since": "2024-05"}, "steel"),
        ({"until": "2024-04"}, "brass"),
        ({"speaker": "Ana", "since": "2024-05"}, ""),
        ({"speaker": "", "since": "", "until": ""}, "brass steel"),
    ],
)
def test_what_is_recalled_may_be_of_one_speaker_and_of_a_time(
    asking: Asking, given: dict[str, str], found: str
) -> None:
    asking.does("remember", text=VALVE, speaker="Ana", at="2024-04-30")
    asking.does("remember", text="The boiler's valve is steel.", speaker="Ben", at="2024-05-01")
    text = asking.does("recall", question=WHICH, **given)
    assert {metal for metal in ("brass", "steel") if metal in text} == {*found.split()}


def test_a_fact_is_corrected_once_and_its_history_told(asking: Asking, memories: Memories) -> None:
    asking.does("remember", text=VALVE, speaker="Ana", at="2024-04-30")
    steel = {"evidence_id": "e1", "text": "The boiler has a steel valve.", "at": "2024-05-01"}
    done = asking.does("update", **steel)
    assert (done["evidence_id"], done["replaced"]) == ("e2", "e1")
    assert asking.does("update", **steel)["succession"] is None
    versions = asking.does("history", evidence_id="e1")["versions"]
    told = [(one["evidence"]["id"], one["evidence"]["at"], one["holds"]) for one in versions]
    assert told == [("e1", "2024-04-30T00:00:00", False), ("e2", "2024-05-01T00:00:00", True)]
    assert "[until 1 May 2024] Ana: " in asking.does("recall", question=WHICH)


def test_changing_what_was_never_written_makes_nothing(asking: Asking, memories: Memories) -> None:
    asking.fails("update", evidence_id="e1", text=VALVE)
    asking.fails("history", evidence_id="e1")
    assert memories.known("default") is None


# Errors

MISTAKES: dict[str, tuple[str, dict[str, Any]]] = {
    "blank text": ("remember", {"text": "  "}),
    "time": ("remember", {"text": VALVE, "at": "soon"}),
    "key of another": ("remember", {"text": "Another.", "key": "k"}),
    "no question": ("recall", {}),
    "limit": ("recall", {"question": WHICH, "limit": -1}),
    "type": ("recall", {"question": WHICH, "limit": "much"}),
    "reward": ("feedback", {"question": WHICH, "answer": "Brass.", "reward": 7}),
    "two channels": (
        "feedback",
        {"question": WHICH, "answer": "Brass.", "thumbs": True, "outcome": 1},
    ),
    "blank condition": ("recall", {"question": WHICH, "conditions": [" "]}),
    "blank question": ("feedback", {"question": " ", "answer": "Brass.", "thumbs": True}),
    "unknown id": ("explain", {"id": "a99"}),
    "nothing to explain": ("explain", {}),
    "since when": ("recall", {"question": WHICH, "since": "yesterday"}),
    "an unknown fact": ("update", {"evidence_id": "e99", "text": VALVE}),
    "no fact": ("update", {"evidence_id": "e1", "text": " "}),
    "history of nothing": ("history", {"evidence_id": "e99"}),
    "unknown item": ("forget", {"evidence_id": "e99"}),
    "nothing to forget": ("forget", {}),
    "two to forget": ("forget", {"evidence_id": "e1", "source_id": "m1"}),
    "unknown tool": ("rename", {}),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_a_result_that_says_so_and_the_server_goes_on(
    asking: Asking, memories: Memories, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    memories.remember("default", VALVE, key="k")
    tool, arguments = MISTAKES[name]

    async def request(client: Any) -> Any:
        failed = await client.call_tool(tool, arguments)
        return failed, await client.call_tool("recall", {"question": WHICH})

    failed, after = asking.ask(request)
    text = failed.content[0].text
    assert failed.model_dump(by_alias=True)["isError"] is True
    assert 0 < len(text) < 400
    assert "\n" not in text
    assert "Traceback" not in text + "".join(capfd.readouterr())
    assert "brass valve" in after.content[0].text
    assert texts(memories) == [VALVE]


@pytest.mark.parametrize(
    "uri", ["demem://slots/99", "demem://slots/x", "demem://certificates/c1", "demem://thoughts"]
)
def test_a_resource_that_is_not_there_is_an_error_of_one_line(
    asking: Asking, uri: str, capfd: pytest.CaptureFixture[str]
) -> None:
    async def request(client: Any) -> Any:
        with pytest.raises(
            RefusedRequest, match=r"no (slot|certificate|resource) has the id '\w+'$"
        ) as raised:
            await client.read_resource(asking.address(uri))
        return raised.value

    assert asking.ask(request)
    assert "Traceback" not in "".join(capfd.readouterr())


# What a client is told


def test_tools_resources_and_the_prompt_are_listed(asking: Asking) -> None:
    tools = asking.ask(lambda client: client.list_tools()).model_dump(by_alias=True)["tools"]
    hints = {tool["name"]: tool["annotations"] for tool in tools}
    changing = ["update", "history", "forget"]
    assert list(hints) == ["remember", "recall", "feedback", "explain", *changing]
    reading = [name for name, hint in hints.items() if hint["readOnlyHint"]]
    assert reading == ["recall", "explain", "history"]
    assert [name for name, hint in hints.items() if hint["destructiveHint"]] == ["forget"]
    assert all(tool["description"] for tool in tools)
    listed = asking.ask(lambda client: client.list_resources()).resources
    assert [str(resource.uri) for resource in listed] == ["demem://slots", "demem://certificates"]
    assert [prompt.name for prompt in asking.ask(lambda client: client.list_prompts()).prompts] == [
        "with_memory"
    ]


def test_the_prompt_puts_memory_before_the_question_as_data(asking: Asking) -> None:
    asking.does("remember", text=VALVE)
    prompt = asking.ask(lambda client: client.get_prompt("with_memory", {"question": WHICH}))
    block, question = (message.content.text for message in prompt.messages)
    assert block.startswith(DECLARED)
    assert "brass valve" in block
    assert question == WHICH


# HTTP


@contextmanager
def listening(app: Any) -> Iterator[str]:
    """Serve an application on this machine; gives the address of its endpoint."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="critical"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/mcp"
    server.should_exit = True
    thread.join()


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    app = make_app(
        make_server(Memories(encoder=BagEncoder())),
        hosts=["memory.example"],
        origins=["https://app.example"],
    )
    with listening(app) as address:
        yield address


HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "c", "version": "1"},
}


def post(url: str, method: str, params: Any, **headers: str) -> tuple[int, Any, str]:
    """Send one request as bare HTTP; gives the status, the headers and the body."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    told = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        **headers,
    }
    try:
        with urllib.request.urlopen(
            urllib.request.Request(url, body, told), timeout=10
        ) as response:
            return int(response.status), response.headers, response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return int(error.code), error.headers, ""


def status(url: str, **headers: str) -> int:
    return post(url, "initialize", HELLO, **headers)[0]


@pytest.mark.parametrize("version", ["2025-06-18", "2026-07-28"])
@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhostevil:80", "memory.example.evil"]
)
def test_a_host_that_is_not_named_is_refused(url: str, host: str, version: str) -> None:
    assert status(url, Host=host, **{"MCP-Protocol-Version": version}) == 421


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "http://localhost.evil", "https://127.0.0.1", "null"]
)
def test_a_page_from_elsewhere_is_refused(url: str, origin: str) -> None:
    assert status(url, Origin=origin) == 403


@pytest.mark.parametrize(
    "headers",
    [{}, {"Host": "memory.example"}, {"Host": "memory.example:8443", "Origin": "https://app.example"},
     {"Host": "localhost", "Origin": "http://localhost:6274"}],
)  # fmt: skip
def test_what_was_named_and_this_machine_are_served(url: str, headers: dict[str, str]) -> None:
    assert status(url, **headers) == 200


def test_a_client_over_http_remembers_and_recalls(url: str) -> None:
    from mcp import ClientSession
    from mcp.client.streamable_http import streamable_http_client

    async def run() -> str:
        async with streamable_http_client(url) as streams, ClientSession(*streams[:2]) as session:
            await session.initialize()
            await session.call_tool("remember", {"text": VALVE})
            content: Any = (await session.call_tool("recall", {"question": WHICH})).content
            return str(content[0].text)

    assert "brass valve" in asyncio.run(run())


def test_whose_memory_it_is_goes_by_each_request_and_not_by_its_session(memories: Memories) -> None:
    memories.remember("ana", VALVE)
    server = make_server(
        memories, namespace=lambda context: context.request_context.request.headers["x-user"]
    )
    with listening(make_app(server)) as url:
        _, headers, _ = post(url, "initialize", HELLO, **{"X-User": "ana"})
        session = {
            "Mcp-Session-Id": headers["mcp-session-id"],
            "MCP-Protocol-Version": "2025-06-18",
        }
        call = {"name": "recall", "arguments": {"question": WHICH}}
        recalled = [
            post(url, "tools/call", call, **session, **{"X-User": user})[2]
            for user in ("ana", "ben")
        ]
    assert [VALVE in text for text in recalled] == [True, False]


@pytest.mark.parametrize(
    "told", [lambda context: context.request_context.request.headers["x-user"], lambda _: None]
)
def test_a_request_that_does_not_tell_whose_memory_is_an_error_of_one_line(
    memories: Memories, told: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    text = Asking(memories, namespace=told).fails("recall", question=WHICH)
    assert "namespace must be told by the request" in text
    assert "Traceback" not in text + "".join(capfd.readouterr())


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "memory.example"])
def test_beyond_this_machine_nothing_is_served_unless_told_otherwise(
    memories: Memories, host: str
) -> None:
    with pytest.raises(InvalidInput, match="host"):
        serve(make_server(memories), http=True, host=host)


# The program


def test_a_mistake_of_the_command_line_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--memory", "ftp://x"]) == 1
    assert main(["--http", "--host", "0.0.0.0"]) == 1
    assert capsys.readouterr().err.count("\n") == 2


@pytest.mark.parametrize(("typed", "kept"), [("--decisions", True), ("--no-decisions", False)])
def test_who_asks_and_whether_decisions_are_kept_may_be_typed(
    typed: str, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[tuple[Memories, dict[str, Any]]] = []

    def noted(memories: Memories, **options: Any) -> Any:
        made.append((memories, options))
        return make_server(memories, **options)

    monkeypatch.setattr("demem_adapters.mcp.serving.make_server", noted)
    monkeypatch.setattr("demem_adapters.mcp.serving.serve", lambda *_, **__: None)
    assert main(["--asker", "ana", typed]) == 0
    ((memories, options),) = made
    assert options["asker"] == "ana"
    assert memories.of("default").settings.decisions is kept


def test_without_the_sdk_the_way_to_install_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*sys.modules]:
        if name == "mcp" or name.startswith("mcp."):
            monkeypatch.setitem(sys.modules, name, None)
        elif name.startswith("demem_adapters.mcp"):
            monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ImportError, match=re.escape("pip install 'demem-agent[mcp]'")):
        importlib.import_module("demem_adapters.mcp")


def test_demem_mcp_serves_what_it_is_told_to_and_says_what_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("typer")
    from demem_agent.cli import main as demem

    served: list[Any] = []
    monkeypatch.setattr(
        adapter, "serve", lambda server, **options: served.append((server, options))
    )
    assert (
        demem(
            [
                "mcp",
                "-m",
                str(tmp_path / "m.db"),
                "--id",
                "ana",
                "--http",
                "--allow-host",
                "a.example",
            ]
        )
        == 0
    )
    assert served[0][1] == {
        "http": True,
        "host": "127.0.0.1",
        "port": 8000,
        "hosts": ("a.example",),
        "origins": (),
    }
    assert demem(["mcp", "-m", str(tmp_path / "no" / "m.db")]) == 1
    monkeypatch.setitem(sys.modules, "demem_adapters.mcp", None)
    assert demem(["mcp", "-m", str(tmp_path / "m.db")]) == 1
    assert "pip install 'demem-agent[mcp]'" in capsys.readouterr().err


# The conformance suite: node, and @modelcontextprotocol/conformance on PATH as "conformance"

#: Scenarios of the active suite that do not apply, by why.
NOT_APPLICABLE = {
    "they call tools, prompts or resources of the suite's own server (test_..., test://...)": [
        "tools-call-image",
        "tools-call-audio",
        "tools-call-embedded-resource",
        "tools-call-mixed-content",
        "tools-call-with-progress",
        "resources-read-text",
        "resources-read-binary",
        "resources-templates-read",
        "prompts-get-simple",
        "prompts-get-with-args",
        "prompts-get-embedded-resource",
        "prompts-get-with-image",
    ],
    "a memory asks nothing of a client's model or its user": [
        "tools-call-sampling",
        "tools-call-elicitation",
        "elicitation-sep1034-defaults",
        "elicitation-sep1330-enums",
    ],
    "an optional capability that the server does not declare": [
        "logging-set-level",
        "tools-call-with-logging",
        "completion-complete",
        "resources-subscribe",
        "resources-unsubscribe",
    ],
}


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("conformance") is None, reason="npm install @modelcontextprotocol/conformance"
)
def test_all_scenarios_of_the_conformance_suite_that_apply_pass(url: str) -> None:
    command = ["conformance", "server", "--url", url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False).stdout
    found = dict(
        re.findall(
            r"^(?:\x1b\[\d+m)?[✓✗](?:\x1b\[\d+m)? ([\w-]+): \d+ passed, (\d+) failed",
            done,
            re.MULTILINE,
        )
    )
    assert len(found) >= 30
    failing = {name for name, failed in found.items() if int(failed)}
    assert failing == {*chain.from_iterable(NOT_APPLICABLE.values())}


def test_a_server_that_says_who_asks_lets_no_call_say_another(memories: Memories) -> None:
    free = Asking(memories)
    bound = Asking(memories, asker="ana", conditions=["rain"])
    for tool in ("recall", "feedback", "explain"):
        assert arguments(free, tool) - arguments(bound, tool) == {"asker", "conditions"}
    memories.remember("default", VALVE)
    bound.does("feedback", question=WHICH, answer="A brass one.", thumbs=True)
    (context,) = memories.of("default").contexts()
    assert (context.asker, context.conditions) == ("ana", ("rain",))


def test_who_asks_may_be_a_function_of_the_request(memories: Memories) -> None:
    asking = Asking(memories, asker=lambda context: type(context).__name__)
    filters = {"speaker", "since", "until", "least"}
    others = {"question", "limit", "conditions", "said_before", *filters}
    assert arguments(asking, "recall") == others
    memories.remember("default", VALVE)
    asking.does("feedback", question=WHICH, answer="A brass one.", thumbs=True)
    (context,) = memories.of("default").contexts()
    assert context.asker == "Context"


def test_a_request_that_does_not_tell_who_asks_is_refused(memories: Memories) -> None:
    def unknown(_: Any) -> str:
        raise KeyError("x-user")

    refused = Asking(memories, asker=unknown).fails("recall", question=WHICH)
    assert "asker" in refused
    assert "KeyError" in refused


def test_a_question_that_names_nothing_is_recorded_once_with_what_it_leaves_unsaid(
    asking: Asking, memories: Memories
) -> None:
    memories.remember("default", "The violin came on 4 May, from an uncle.")
    before = ["I love my violin.", "It sounds well."]
    assert "uncle" in asking.does("recall", question="Who was that from?", said_before=before)
    for _ in range(2):
        asking.does("feedback", question="Who was that from?", answer="An uncle.", thumbs=True)
    (context,) = memories.of("default").contexts()
    assert context.query == "Who was that from? [about: sounds well love violin]"


def test_a_misspelt_argument_of_forget_erases_nothing(memories: Memories) -> None:
    memories.remember("ana", VALVE)
    memories.remember("ana", "It leaks.")
    asking = Asking(memories, namespace="ana")
    asking.fails("forget", id="e1", before="2130-01-01")
    assert texts_of(memories) == [VALVE, "It leaks."]


def test_of_two_memories_in_one_server_resources_are_those_of_the_first(
    memories: Memories,
) -> None:
    memories.remember("ana", "The pin is Ana's.")
    memories.remember("team", "Lunch is on Tuesday.")
    asking = Asking(memories, namespace="ana")
    mount(asking.server, memories, namespace="team", prefix="team_")
    for uri in ("demem://slots", "demem://slots/0"):
        shown = str(asking.read(uri))
        assert "Ana's" in shown
        assert "Tuesday" not in shown
