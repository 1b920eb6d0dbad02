"""A filter of Open WebUI, called as Open WebUI calls it, keeps the contract of all adapters."""

from __future__ import annotations

import asyncio
import copy
import inspect
import pickle
import re
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from adapter_contract import ASKED, VALVE, AdapterContract, Driver, Ending, holds, texts
from hypothesis import given, settings
from hypothesis import strategies as st
from often import often

from demem_adapters.common import DECLARED, Memories
from demem_adapters.common.said import holding
from demem_adapters.open_webui import ChatMemory, opened, said_in
from demem_agent import InvalidInput
from demem_agent.testing import BagEncoder

FILE = Path(__file__).parents[2] / "examples" / "open_webui_filter.py"


class Host:
    """Open WebUI with a filter: it saves chats, and calls the filter around each answer."""

    def __init__(self, filter: Any, user: str = "ana", chat: str = "chat-1") -> None:
        self.filter = filter
        self.user = {"id": user, "name": user.title(), "role": "user"}
        self.chat = chat
        #: The messages of the branch that is shown.
        self.saved: list[dict[str, Any]] = []
        self.number = 0

    def ask(self, text: str | list[Any], reply: Any = "Noted.", id: str = "") -> list[Any]:
        """Send a message, and return the messages that reach the model."""
        self.number += 1
        self.saved.append(
            {"id": id or f"{self.chat}-u{self.number}", "role": "user", "content": text}
        )
        return self.answer(reply)

    def answer(self, reply: Any = "Noted.") -> list[Any]:
        """Have the last message answered; None for an answer that is stopped."""
        self.number += 1
        id = f"{self.chat}-a{self.number}"
        about = {"chat_id": self.chat, "message_id": id, "session_id": "s"}
        plain = [{"role": one["role"], "content": one["content"]} for one in self.saved]
        body = {"model": "m", "messages": plain, "stream": True}
        seen = self._call("inlet", body, about)["messages"]
        assert [one["content"] for one in plain] == [one["content"] for one in self.saved]
        content = "" if isinstance(reply, Exception) else reply
        self.saved.append({"id": id, "role": "assistant", "content": content})
        if reply is None or isinstance(reply, Exception):
            return seen
        if self.chat.startswith("local:"):  # not saved: what the model was shown, and no ids
            listed = [*seen, {"id": id, "role": "assistant", "content": reply}]
        else:
            listed = self.saved
        told = {"model": "m", "messages": copy.deepcopy(listed), "chat_id": self.chat, "id": id}
        assert self._call("outlet", copy.deepcopy(told), about) == told
        return seen

    def again(self, reply: str = "Noted.") -> list[Any]:
        """Have the last answer made anew."""
        self.saved.pop()
        return self.answer(reply)

    def _call(self, name: str, body: dict[str, Any], about: dict[str, Any]) -> Any:
        """Call the filter with those of the arguments that it takes, as Open WebUI does."""
        handler = getattr(self.filter, name)
        known = {"body": body, "__user__": self.user, "__metadata__": about, "__request__": None}
        taken = inspect.signature(handler).parameters
        return asyncio.run(handler(**{key: known[key] for key in known if key in taken}))


class Own:
    """A filter that calls a memory of its own."""

    def __init__(self, memory: ChatMemory) -> None:
        self.memory = memory

    async def inlet(self, body: Any, __user__: Any = None, __metadata__: Any = None) -> Any:
        return await self.memory.inlet(body, __user__, __metadata__)

    async def outlet(self, body: Any, __user__: Any = None, __metadata__: Any = None) -> Any:
        return await self.memory.outlet(body, __user__, __metadata__)


def host(memories: Memories, user: str = "ana", chat: str = "chat-1", **options: Any) -> Host:
    return Host(Own(ChatMemory(memories, **options)), user, chat)


class Chats(Driver):
    tells_reason = False

    def __init__(self, memories: Memories, **asking: Any) -> None:
        super().__init__(memories, **asking)
        self.memory = ChatMemory(memories, **asking)
        self.turns = 0

    def say(
        self,
        text: str,
        *,
        who: str = "ana",
        reply: str = "Noted.",
        ending: Ending = "whole",
        event: str = "",
    ) -> list[str]:
        self.turns += 1
        chat = Host(Own(self.memory), who, event or f"chat-{self.turns}")
        answers: dict[Ending, Any] = {"cut": None, "fails": ConnectionError()}
        seen = chat.ask(text, answers.get(ending, reply))
        return [one["content"] for one in seen]

    def go_on(self, before: Sequence[str], asked: str) -> None:
        chat = Host(Own(self.memory))
        chat.ask(*before)
        chat.ask(asked)

    def say_all(self, said: Sequence[str]) -> None:
        chat = Host(Own(self.memory), chat="chat-1")
        for text in said[:-1]:
            chat.saved.append({"id": text, "role": "user", "content": text})
        chat.ask(said[-1])

    def parts(self) -> list[Any]:
        return [self.memory]


class TestContract(AdapterContract):
    name = "open_webui"
    driver = Chats

    def after_page(self, namespace: dict[str, Any]) -> None:
        chat = Host(namespace["Filter"]())
        chat.ask(VALVE)
        assert texts(namespace["memories"], "team") == [VALVE, "Noted."]
        namespace["memories"].close()


@pytest.fixture
def memories() -> Memories:
    return Memories(encoder=BagEncoder())


# -- what is remembered


def test_what_a_user_said_without_an_answer_is_remembered_too(memories: Memories) -> None:
    chat = host(memories)
    chat.ask("I am allergic to walnuts.", ConnectionError())
    chat.ask("I am from Oslo.", None)
    chat.ask("I swim.", "Good.")
    said = ["I am allergic to walnuts.", "I am from Oslo.", "I swim.", "Good."]
    assert texts(memories) == said
    items = memories.of("ana").evidence()
    assert {(item.session, item.speaker) for item in items[:3]} == {("chat-1", "user")}


def test_an_answer_made_anew_takes_the_place_of_the_one_before(memories: Memories) -> None:
    chat = host(memories)
    chat.ask("Where is the key?", "The key is in the blue pot.")
    chat.again("The key is in the red pot.")
    assert holds(memories) == ["Where is the key?", "The key is in the red pot."]


def test_no_answer_is_made_of_the_one_that_it_stands_in_for(memories: Memories) -> None:
    chat = host(memories)
    chat.ask("Where is the key?", "The key is in the blue pot.")
    chat.again("The key is in the red pot.")
    seen = chat.again("The key is in the green pot.")
    assert not any("red pot" in one["content"] for one in seen)
    assert not any("blue pot" in one["content"] for one in seen)


def test_the_same_question_again_is_no_answer_made_anew(memories: Memories) -> None:
    chat = host(memories)
    for reply in ("It is Rome.", "It is Oslo."):
        chat.ask("And today?", reply)
    assert texts(memories) == ["And today?", "It is Rome.", "And today?", "It is Oslo."]


def test_what_was_edited_is_remembered_as_it_was_sent_then(memories: Memories) -> None:
    chat = host(memories)
    chat.ask("I live in Rome.")
    del chat.saved[-2:]
    chat.ask("I live in Oslo.")
    assert texts(memories) == ["I live in Rome.", "Noted.", "I live in Oslo.", "Noted."]


SAID = ("My boiler has a valve.", "The bike is in the cellar.", "Soup is on Mondays.")
turns = st.lists(
    st.tuples(st.sampled_from(["ask", "ask", "again", "fail"]), st.sampled_from(SAID)),
    max_size=8,
)


@settings(max_examples=often(40), deadline=None)
@given(turns, st.booleans())
def test_all_that_was_said_is_remembered_once_and_in_order(
    script: list[tuple[str, str]], restarts: bool
) -> None:
    memories = Memories(encoder=BagEncoder())
    chat = host(memories)
    expected: list[tuple[str | None, str]] = []
    is_answered = False
    for number, (kind, text) in enumerate(script):
        if restarts:
            chat.filter = Own(ChatMemory(memories))
        answer = f"answer {number}"
        if kind == "again" and is_answered:
            chat.again(answer)
            expected[-1] = ("assistant", answer)
            continue
        is_answered = kind != "fail"
        chat.ask(text, answer if is_answered else ConnectionError())
        expected.append(("user", text))
        if is_answered:
            expected.append(("assistant", answer))
    memory = memories.known("ana")
    items = holding(memory) if memory else []
    assert [(item.speaker, item.text) for item in items] == expected


def test_what_a_model_thought_and_did_is_not_what_it_said(memories: Memories) -> None:
    thought = (
        '<details type="reasoning" done="true">\n<summary>Thought</summary>\n> hm\n</details>\n'
    )
    called = (
        '<details type="tool_calls" name="look" result="x">\n<summary>Ran</summary></details>\n'
    )
    own = "<details><summary>More</summary>It leaks.</details>"
    host(memories).ask(VALVE, f"{thought}{called}Noted. {own}")
    assert texts(memories) == [VALVE, f"Noted. {own}"]


def test_of_a_message_with_a_picture_its_words_are_remembered(memories: Memories) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,xyz"}}
    host(memories).ask([{"type": "text", "text": VALVE}, picture])
    assert texts(memories) == [VALVE, "Noted."]


def test_titles_that_are_made_of_a_chat_are_no_part_of_it(memories: Memories) -> None:
    memory = ChatMemory(memories)
    memories.remember("ana", VALVE)
    body = {"messages": [{"role": "user", "content": f"Make a title: {ASKED}"}]}
    about = {"chat_id": "c", "message_id": "m", "task": "title_generation"}
    assert asyncio.run(memory.inlet(body, {"id": "ana"}, about)) is body
    answered = {"messages": [*body["messages"], {"role": "assistant", "content": "Valves"}]}
    asyncio.run(memory.outlet(answered, {"id": "ana"}, about))
    assert texts(memories) == [VALVE]


def test_temporary_chats_have_memory_only_where_that_is_asked(memories: Memories) -> None:
    memories.remember("ana", VALVE, speaker="user")
    chat = host(memories, chat="local:x")
    assert len(chat.ask(ASKED)) == 1
    assert texts(memories) == [VALVE]
    for inject in ("user", "merged", "system"):
        chat = host(memories, chat=f"local:{inject}", temporary=True, inject=inject)
        seen = chat.ask(f"{ASKED} {inject}")
        assert any(VALVE in one["content"] for one in seen)
        assert texts(memories)[-2:] == [f"{ASKED} {inject}", "Noted."]


@pytest.mark.parametrize("inject", ["user", "system", "merged"])
def test_what_is_recalled_stands_where_it_is_wanted(memories: Memories, inject: Any) -> None:
    memories.remember("ana", VALVE, speaker="user")
    chat = host(memories, inject=inject)
    chat.saved.append({"id": "s", "role": "system", "content": "Be brief."})
    seen = chat.ask(ASKED)
    assert seen[0]["content"] == "Be brief."
    roles = {"user": ["system", "user", "user"], "system": ["system", "system", "user"]}
    assert [one["role"] for one in seen] == roles.get(inject, ["system", "user"])
    assert sum(DECLARED in one["content"] for one in seen) == 1
    assert seen[-1]["content"].endswith(ASKED)
    with pytest.raises(InvalidInput, match="inject"):
        ChatMemory(memories, inject="above")  # type: ignore[arg-type]


def test_feedback_is_told_by_the_id_of_the_message(memories: Memories) -> None:
    memories.remember("ana", VALVE, speaker="user")
    chat = host(memories)
    chat.ask(ASKED, "It is brass.")
    told = memories.feedback(chat.saved[-1]["id"], namespace="ana", thumbs=True)
    assert told.reward == 1.0
    (context,) = memories.of("ana").contexts()
    assert [id for id, *_ in context.read] == ["e1"]


@pytest.mark.parametrize("user", [None, {}, {"id": ""}])
def test_a_request_of_nobody_has_no_memory(memories: Memories, user: Any) -> None:
    memory = ChatMemory(memories)
    body = {"messages": [{"role": "user", "content": ASKED}]}
    assert asyncio.run(memory.inlet(body, user)) is body
    asyncio.run(memory.outlet({"messages": [*body["messages"]]}, user))
    assert memories.names() == []


@pytest.mark.parametrize("messages", [None, [], [{"role": "system", "content": "x"}]])
def test_a_request_without_a_question_is_passed_on(memories: Memories, messages: Any) -> None:
    body = {"messages": messages}
    assert asyncio.run(ChatMemory(memories).inlet(body, {"id": "ana"})) is body
    assert asyncio.run(ChatMemory(memories).outlet(body, {"id": "ana"})) is body


@given(st.none() | st.text() | st.lists(st.none() | st.fixed_dictionaries({"text": st.text()})))
def test_the_text_of_any_content_is_a_text(content: Any) -> None:
    assert isinstance(said_in({"role": "user", "content": content}), str)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_goes_on_with_a_turn_that_has_begun(
    memories: Memories, copied: Callable[[ChatMemory], ChatMemory]
) -> None:
    memory = ChatMemory(memories)
    about = {"chat_id": "c", "message_id": "m"}
    asked = {"role": "user", "content": ASKED}
    asyncio.run(memory.inlet({"messages": [asked]}, {"id": "ana"}, about))
    again = copied(memory)
    said = [asked, {"role": "assistant", "content": "Brass."}]
    asyncio.run(again.outlet({"messages": said}, {"id": "ana"}, about))
    assert texts(again.memories) == [ASKED, "Brass."]
    assert texts(memories) == [ASKED]


# -- the file that is pasted


@pytest.fixture
def pasted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Load the file as Open WebUI does: its text, as a module of another name."""
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    module = types.ModuleType("function_demem")
    code = compile(FILE.read_text(), "function_demem", "exec", dont_inherit=True)
    exec(code, module.__dict__)
    return module.Filter()


def test_the_pasted_file_names_what_it_needs() -> None:
    head = FILE.read_text().split('"""')[1]
    told = dict(re.findall(r"^(\w+): (.+)$", head, re.MULTILINE))
    assert FILE.read_text().startswith('"""\n')  # Open WebUI reads nothing else as the head
    assert told["title"] == "DeMem"
    assert told["requirements"] == "demem-agent[sqlite]"


def test_the_pasted_filter_remembers_by_its_valves(pasted: Any, tmp_path: Path) -> None:
    pasted.valves = pasted.Valves(**{"limit": 250})  # set anew with each request
    Host(pasted).ask(VALVE)
    pasted.valves = pasted.Valves(**{"limit": 250})
    seen = Host(pasted, chat="chat-2").ask(ASKED)
    assert VALVE in seen[0]["content"]
    assert (tmp_path / "demem.db").is_file()
    opened(f"sqlite:///{tmp_path}/demem.db", 150, "user", False).memories.close()


def test_who_has_switched_it_off_has_no_memory(pasted: Any, tmp_path: Path) -> None:
    chat = Host(pasted)
    chat.user["valves"] = pasted.UserValves(enabled=False)
    chat.ask(VALVE)
    assert not (tmp_path / "demem.db").exists()


def test_a_store_that_cannot_be_opened_costs_no_answer(
    pasted: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "demem.db").write_text("this is no database, but it is long enough" * 99)
    assert [one["content"] for one in Host(pasted).ask(VALVE)] == [VALVE]
    assert {*caplog.messages} == {"no memory was opened: StoreError"}
