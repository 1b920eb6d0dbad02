"""The DSPy adapter keeps the contract of all adapters, with the framework's fake model and a real
client.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from adapter_contract import ASKED, VALVE, AdapterContract, Driver, Ending
from adapter_contract import texts as texts_of

pytest.importorskip("dspy", reason="the dspy adapter: pip install 'demem-agent[dspy]'")

import dspy
from dspy.utils import DummyLM

from demem_adapters.common import DECLARED, Memories
from demem_adapters.contrib.dspy import MemoryRetriever, WithMemory
from demem_agent.errors import InvalidInput
from demem_agent.testing import BagEncoder, Provider


@pytest.fixture(autouse=True)
def model() -> Iterator[DummyLM]:
    lm = DummyLM([{"answer": "Noted."}] * 9)
    dspy.configure(lm=lm, rm=None)
    yield lm
    dspy.configure(lm=None, rm=None)


@pytest.fixture
def memories() -> Memories:
    return Memories(encoder=BagEncoder())


class Watched(dspy.Module):
    """A program that notes its inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[dict[str, Any]] = []
        self.ask = dspy.Predict("memory, question -> answer")

    def forward(self, **inputs: Any) -> Any:
        self.seen.append(inputs)
        return self.ask(**inputs)

    async def aforward(self, **inputs: Any) -> Any:
        self.seen.append(inputs)
        return await self.ask.acall(**inputs)


class Failing(Watched):
    async def aforward(self, **inputs: Any) -> Any:
        await super().aforward(**inputs)
        raise ConnectionError("reset")


class CutShort(DummyLM):
    def update_history(self, entry: dict[str, Any]) -> None:
        super().update_history({**entry, "response": SimpleNamespace(finish_reason="length")})


class Around(dspy.Module):
    """A program that a bot is a part of."""

    def __init__(self, bot: WithMemory) -> None:
        super().__init__()
        self.bot = bot

    def forward(self, **inputs: Any) -> Any:
        return self.bot(**inputs)


def by_user(memories: Memories, program: Any, **about: Any) -> WithMemory:
    return WithMemory(program, memories, namespace=lambda user, **_: user, keep=("user",), **about)


def texts(memories: Memories, namespace: str = "default") -> list[str]:
    return texts_of(memories, namespace)


def passages(memories: Memories, query: str = ASKED, k: int = 9, **about: Any) -> list[str]:
    with dspy.context(rm=MemoryRetriever(memories, **about)):
        return dspy.Retrieve(k=k)(query).passages


class Programs(Driver):
    at_once = False  # a program is remembered when it has ended
    several = False  # a program is given one question
    tells_reason = False  # DSPy tells it in its history

    def say(
        self,
        text: str,
        *,
        who: str = "ana",
        reply: str = "Noted.",
        ending: Ending = "whole",
        event: str = "",
    ) -> list[str]:
        program = Failing() if ending == "fails" else Watched()
        lm = (CutShort if ending == "cut" else DummyLM)([{"answer": reply}])
        with dspy.context(lm=lm), contextlib.suppress(ConnectionError):
            asyncio.run(
                by_user(self.memories, program, **self.asking).acall(
                    question=text, user=who, call_id=event or None
                )
            )
        return list(program.seen[0].values())

    def go_on(self, before: Sequence[str], asked: str) -> None:
        asks, answers = before
        history = dspy.History(messages=[{"question": asks, "answer": answers}])
        program = Watched()
        with dspy.context(lm=DummyLM([{"answer": "Noted."}])):
            bot = WithMemory(program, self.memories, namespace="ana", keep=("history",))
            asyncio.run(bot.acall(question=asked, history=history))

    def parts(self) -> list[Any]:
        return [MemoryRetriever(self.memories)]


class TestContract(AdapterContract):
    name = "dspy"
    driver = Programs

    def after_page(self, namespace: dict[str, Any]) -> None:
        assert any(VALVE in found for found in namespace["passages"])


def test_it_is_told_who_said_what(memories: Memories) -> None:
    WithMemory(Watched(), memories)(question=VALVE)
    assert [item.speaker for item in memories.of("default").evidence()] == ["user", "assistant"]


def test_all_passages_together_are_within_the_limit() -> None:
    memories = Memories(limit=1000, encoder=BagEncoder())
    said = [
        {"text": f"The boiler in room {n} has a valve.", "speaker": "ana", "at": "2026-03-01"}
        for n in range(30)
    ]
    memories.of("default").ingest_many(said)
    assert 700 < len("\n".join(passages(memories, k=99))) <= 1000


def test_what_was_said_before_reaches_the_model_as_data(memories: Memories, model: DummyLM) -> None:
    memories.remember("default", VALVE)
    program = Watched()
    assert WithMemory(program, memories)(question=ASKED).answer == "Noted."
    (seen,) = program.seen
    assert seen["memory"].startswith(DECLARED)
    assert VALVE in seen["memory"]
    assert seen["question"] == ASKED
    assert VALVE in model.history[-1]["messages"][-1]["content"]


def test_where_nothing_is_remembered_the_field_is_empty(memories: Memories) -> None:
    program = Watched()
    WithMemory(program, memories)(question=ASKED)
    assert program.seen == [{"question": ASKED, "memory": ""}]


def test_fields_may_have_other_names(memories: Memories) -> None:
    program = dspy.Predict("known, query -> reply")
    with dspy.context(lm=DummyLM([{"reply": "Noted."}])):
        WithMemory(program, memories, question="query", answer="reply", field="known")(query=VALVE)
    assert texts(memories) == [VALVE, "Noted."]


def test_one_namespace_never_sees_anothers(memories: Memories) -> None:
    program = Watched()
    bot = by_user(memories, program)
    bot(question=VALVE, user="ana")
    bot(question=ASKED, user="ben")
    assert program.seen[-1] == {"question": ASKED, "memory": ""}
    assert texts(memories, "ben") == [ASKED, "Noted."]
    with dspy.context(rm=MemoryRetriever(memories, namespace=lambda user: user)):
        assert not any(VALVE in found for found in dspy.Retrieve()(ASKED, user="ben").passages)
        assert any(VALVE in found for found in dspy.Retrieve()(ASKED, user="ana").passages)


def test_a_retriever_may_be_told_what_was_said_before() -> None:
    heard: list[Any] = []

    class Hearing(Memories):
        def recall(self, namespace: str | None, query: str, **about: Any) -> Any:
            heard.append(about.get("context"))
            return super().recall(namespace, query, **about)

    with dspy.context(rm=MemoryRetriever(Hearing(), namespace=lambda user: user)):
        dspy.Retrieve()("When was that?", user="ana", context=[VALVE, " "])
    assert heard == [[VALVE]]


def names_in(text: str) -> str:
    return " ".join(name for name in ("ana", "ben") if f"is {name}" in text)


def test_calls_at_the_same_time_keep_to_their_own(memories: Memories) -> None:
    program = Watched()
    bot = by_user(memories, program)
    for name in ("ana", "ben"):
        memories.remember(name, f"My name is {name}.")

    async def run() -> None:
        await asyncio.gather(
            *(bot.acall(question="What is my name?", user=name) for name in ("ana", "ben") * 3)
        )

    asyncio.run(run())
    told = sorted(names_in(seen["memory"]) for seen in program.seen)
    assert told == ["ana"] * 3 + ["ben"] * 3


@pytest.mark.parametrize(("name", "kept"), [("good", 2), ("fault-length", 0)])
@pytest.mark.parametrize("awaited", [False, True])
def test_an_answer_that_was_cut_off_leaves_nothing(
    memories: Memories, name: str, kept: int, awaited: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else DSPy looks for newer prices
    bot = WithMemory(Watched(), memories)
    with Provider(
        lambda messages: "[[ ## answer ## ]]\nNoted, and somebody will look at it."
    ) as provider:
        lm = dspy.LM(
            f"openai/{name}", api_base=provider.url, api_key="unused", cache=False, num_retries=0
        )
        with dspy.context(lm=lm):
            asyncio.run(bot.acall(question=VALVE)) if awaited else bot(question=VALVE)
    assert len(texts(memories)) == kept


@pytest.mark.parametrize("told", [{"disable_history": True}, {"max_history_size": 0}], ids=str)
def test_nothing_is_remembered_where_nothing_tells_whether_it_was_cut_off(
    memories: Memories, told: Any
) -> None:
    with dspy.context(**told):
        WithMemory(Watched(), memories)(question=VALVE)
    assert memories.known("default") is None


def test_the_same_question_later_is_remembered_again(memories: Memories) -> None:
    bot = WithMemory(Watched(), memories)
    for _ in range(2):
        bot(question="Yes.")
    assert texts(memories) == ["Yes.", "Noted."] * 2


def test_feedback_by_the_id_of_the_call(memories: Memories) -> None:
    memories.remember("default", VALVE)
    prediction = WithMemory(Watched(), memories)(question=ASKED)
    assert memories.feedback(prediction.call_id, namespace="default", thumbs=False).reward == 0.0
    assert [read[0] for read in memories.of("default").contexts()[-1].read] == ["e1"]


def test_it_can_recall_without_remembering(memories: Memories) -> None:
    memories.remember("default", VALVE)
    program = Watched()
    bot = WithMemory(program, memories, remember=False)
    bot(question=ASKED)
    assert VALVE in program.seen[0]["memory"]
    assert texts(memories) == [VALVE]


def test_a_question_that_is_no_text_is_refused(memories: Memories) -> None:
    with pytest.raises(InvalidInput, match="question"):
        WithMemory(Watched(), memories)(query=ASKED)


def test_the_best_passage_comes_first_with_its_day_and_speaker(memories: Memories) -> None:
    for said in ("The weather is fine.", VALVE, "I like tea."):
        memories.remember("default", said, speaker="ana", at="2026-03-01")
    assert passages(memories)[0] == f"2026-03-01, ana: {VALVE}"
    assert len(passages(memories, k=2)) == 2


def test_a_passage_says_how_probably_it_bears_on_the_query() -> None:
    memories = Memories()
    for said in ("The weather is fine.", VALVE, "I like tea."):
        memories.remember("default", said)
    found = MemoryRetriever(memories)(ASKED)
    foreign = MemoryRetriever(memories)("Who won the chess cup in Reykjavik?")
    assert max(one.score for one in foreign) < 0.2 < found[0].score <= 1.0


def test_retrieving_from_a_namespace_never_written_gives_nothing_and_does_not_make_it(
    memories: Memories,
) -> None:
    assert passages(memories) == []
    assert memories.known("default") is None


def test_a_summary_is_one_passage() -> None:
    memories = Memories(mode="strict", limit=300, encoder=BagEncoder())
    memories.remember("default", VALVE)
    (found,) = passages(memories)
    assert VALVE in found


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda bot: bot.deepcopy()], ids=["deep", "module"]
)
def test_a_copy_has_a_memory_of_its_own(
    memories: Memories, copied: Callable[[WithMemory], WithMemory], caplog: pytest.LogCaptureFixture
) -> None:
    memories.remember("default", VALVE)
    again = copied(WithMemory(dspy.Predict("memory, question -> answer"), memories))
    again(question=ASKED)
    assert texts(again.memories) == [VALVE, ASKED, "Noted."]
    assert texts(memories) == [VALVE]
    assert caplog.messages == []


def test_an_optimiser_can_compile_it(memories: Memories) -> None:
    bot = WithMemory(dspy.Predict("memory, question -> answer"), memories, remember=False)
    example = dspy.Example(question=ASKED, answer="Noted.").with_inputs("question")
    made = dspy.BootstrapFewShot(metric=lambda *_: True).compile(bot, trainset=[example])
    assert [demo.question for demo in made.program.demos] == [ASKED]
    assert memories.known("default") is None


@pytest.mark.parametrize("around", [lambda bot: bot, Around], ids=["alone", "inside"])
def test_what_is_saved_holds_nothing_that_is_remembered(
    memories: Memories, tmp_path: Path, around: Any
) -> None:
    program = around(by_user(memories, dspy.Predict("memory, question -> answer")))
    program(question=VALVE, user="ana-of-the-house")
    program.save(tmp_path / "bot.json")
    program.save(tmp_path / "bot", save_program=True)
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert not any(word in written for word in (b"brass", b"ana-of-the-house"))
    program.load(tmp_path / "bot.json")
    assert texts(memories, "ana-of-the-house") == [VALVE, "Noted."]


def test_a_saved_program_begins_with_empty_memories_in_ram(
    memories: Memories, tmp_path: Path
) -> None:
    bot = by_user(memories, dspy.Predict("memory, question -> answer"))
    bot(question=VALVE, user="ana")
    bot.save(tmp_path / "bot", save_program=True)
    again = dspy.load(tmp_path / "bot", allow_pickle=True)
    assert again.memories.known("ana") is None
    again(question=ASKED, user="ana")
    assert texts(again.memories, "ana") == [ASKED, "Noted."]
    assert texts(memories, "ana") == [VALVE, "Noted."]


def test_a_saved_program_goes_on_with_a_database(tmp_path: Path) -> None:
    with Memories(f"sqlite:///{tmp_path}/bot.db", encoder=BagEncoder()) as memories:
        bot = WithMemory(dspy.Predict("memory, question -> answer"), memories)
        bot(question=VALVE)
        bot.save(tmp_path / "bot", save_program=True)
        assert texts(dspy.load(tmp_path / "bot", allow_pickle=True).memories) == [VALVE, "Noted."]


@pytest.mark.parametrize(
    "kind", [dspy.Predict, dspy.ChainOfThought, lambda told: dspy.ReAct(told, tools=[])]
)
def test_an_answer_that_the_program_does_not_give_is_refused(memories: Memories, kind: Any) -> None:
    program = kind("memory, question -> response")
    with pytest.raises(InvalidInput, match=r"answer must be .*'response'"):
        WithMemory(program, memories)
    assert WithMemory(program, memories, answer="response").answer == "response"


def test_an_answer_that_is_missing_does_not_cost_the_prediction(
    memories: Memories, caplog: pytest.LogCaptureFixture
) -> None:
    prediction = WithMemory(Watched(), memories, answer="response")(question=VALVE)
    assert prediction.answer == "Noted."
    assert "call_id" not in prediction
    assert memories.known("default") is None
    assert caplog.messages == [
        "a turn was not remembered: what the program gave has no such answer"
    ]


def test_a_call_whose_namespace_is_none_has_no_memory(memories: Memories) -> None:
    program = Watched()
    assert (
        WithMemory(program, memories, namespace=lambda **_: None)(question=VALVE).answer == "Noted."
    )
    assert program.seen[0]["memory"] == ""
    assert memories.export() == {}


def test_around_a_program_that_copies_what_it_calls_it_remembers(memories: Memories) -> None:
    tries = dspy.BestOfN(
        dspy.Predict("memory, question -> answer"), N=2, reward_fn=lambda *_: 0.5, threshold=1.0
    )
    prediction = WithMemory(tries, memories)(question=VALVE)
    assert texts(memories) == [VALVE, "Noted."]
    assert memories.feedback(prediction.call_id, namespace="default", thumbs=True).reward == 1.0
