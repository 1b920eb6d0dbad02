"""Both memories do the same, with any mix of sync and async collaborators, and nothing that blocks
holds others up.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from demem_agent import Answer, AsyncSlotMemory, FeedbackReport, SlotMemory
from demem_agent.errors import CollaboratorError, DeMemError
from demem_agent.slots.records import Delta
from demem_agent.stores import Address, MemoryStore
from demem_agent.testing import Async, BagEncoder, Failing, ReadingAnswerer, ScriptedScorer, Slow
from demem_agent.types import Draft, Question

RIGHT = ScriptedScorer(lambda attempt: float(attempt.reference in attempt.reading))
#: One slot with room for one line in its summary: the two questions of the script split it.
BUDGET: dict[str, Any] = {"slots": 3, "initial_slots": 1, "slot_limit": 44, "read_limit": 90}
OPTIONS: dict[str, Any] = {
    "clock": None,
    **BUDGET, "encoder": BagEncoder(), "answerer": ReadingAnswerer(), "scorers": (RIGHT, RIGHT),
}  # fmt: skip


METHODS = [
    name for name in vars(SlotMemory) if name[0] != "_" and callable(getattr(SlotMemory, name))
]


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_a_coroutine_of_its_name_and_signature(name: str) -> None:
    sync, other = getattr(SlotMemory, name), getattr(AsyncSlotMemory, name)
    assert inspect.iscoroutinefunction(other)
    assert inspect.signature(other) == inspect.signature(sync)


def test_both_memories_have_the_same_public_names() -> None:
    assert METHODS
    assert {name for name in dir(SlotMemory) if name[0] != "_"} == {
        name for name in dir(AsyncSlotMemory) if name[0] != "_"
    }


# The same operations


def script(memory: Any) -> Generator[Any, Any, None]:
    """Do everything there is to do; yields what a call gives, and is sent its result."""
    yield memory.ingest("the boiler has a brass valve", speaker="Ana", key="k")
    yield memory.ingest_many(
        [{"text": "the violin has a broken bow"}, {"text": "this is of no use", "source_id": "x"}]
    )
    yield memory.route("Which valve?")
    yield memory.read("Which valve?", mode="strict")
    first: Answer = yield memory.answer("Which valve has the boiler?")
    yield memory.feedback(first, reference="a brass valve")
    second: Answer = yield memory.answer("Which bow has the violin?")
    report: FeedbackReport = yield memory.feedback(second, reference="a broken bow")
    assert report.certificate is not None
    yield memory.forget(source_id="x")
    yield memory.undo(report.certificate.id)
    yield memory.reembed(BagEncoder(8))
    yield memory.check()
    yield memory.export()


def run_sync(memory: SlotMemory) -> list[Any]:
    steps, results = script(memory), []
    made = next(steps)
    while made is not StopIteration:
        results.append(made)
        made = next_or_stop(steps, made)
    return results


async def run_async(memory: AsyncSlotMemory) -> list[Any]:
    steps, results = script(memory), []
    made = next(steps)
    while made is not StopIteration:
        results.append(await made)
        made = next_or_stop(steps, results[-1])
    return results


def next_or_stop(steps: Any, result: Any) -> Any:
    try:
        return steps.send(result)
    except StopIteration:
        return StopIteration


def test_the_same_operations_give_the_same_results_and_the_same_state() -> None:
    sync, other = SlotMemory(**OPTIONS), AsyncSlotMemory(**OPTIONS)
    assert run_sync(sync) == asyncio.run(run_async(other))
    assert sync.fingerprint() == asyncio.run(other.fingerprint())
    assert len(sync.evidence()) == 2


def test_a_memory_made_by_one_is_opened_by_the_other(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"

    async def make() -> str:
        async with await AsyncSlotMemory.open(url, **OPTIONS) as memory:
            await memory.ingest("the boiler has a brass valve")
            return await memory.fingerprint()

    made = asyncio.run(make())
    with SlotMemory.open(url, **OPTIONS) as memory:
        assert memory.fingerprint() == made


def test_what_one_exports_the_other_restores() -> None:
    sync = SlotMemory(**OPTIONS)
    sync.ingest("the boiler has a brass valve")

    async def restored() -> str:
        return await (await AsyncSlotMemory.restore(sync.export(), **OPTIONS)).fingerprint()

    assert asyncio.run(restored()) == sync.fingerprint()


def test_opening_with_reembed_does_the_same_in_both() -> None:
    stores = [MemoryStore(), MemoryStore()]
    for store in stores:
        SlotMemory.open(store, **OPTIONS).ingest("the boiler has a brass valve")
    options = {**OPTIONS, "encoder": BagEncoder(8)}

    async def moved() -> str:
        return await (await AsyncSlotMemory.open(stores[1], reembed=True, **options)).fingerprint()

    assert asyncio.run(moved()) == SlotMemory.open(stores[0], reembed=True, **options).fingerprint()


def test_opening_two_at_once_from_a_loop_gives_both() -> None:
    async def run() -> list[int]:
        store = MemoryStore()
        held = await asyncio.gather(
            *(AsyncSlotMemory.open(store, memory_id=str(n), **OPTIONS) for n in range(4))
        )
        await asyncio.gather(*(memory.ingest("words") for memory in held))
        return [len(memory) for memory in held]

    assert asyncio.run(run()) == [1, 1, 1, 1]


# Collaborators

MIXES = list(product([False, True], repeat=3))


def mixed(mix: tuple[bool, bool, bool]) -> dict[str, Any]:
    encoder, answerer, scorer = (Async if is_async else _same for is_async in mix)
    return {
        **BUDGET, "clock": None,
        "encoder": encoder(BagEncoder()), "answerer": answerer(ReadingAnswerer()),
        "scorers": (scorer(RIGHT), RIGHT),
    }  # fmt: skip


def _same(inner: Any) -> Any:
    return inner


@pytest.mark.parametrize("mix", MIXES)
def test_any_mix_of_collaborators_gives_the_same_in_a_sync_memory(
    mix: tuple[bool, bool, bool],
) -> None:
    assert run_sync(SlotMemory(**mixed(mix))) == run_sync(SlotMemory(**OPTIONS))


@pytest.mark.parametrize("mix", MIXES)
def test_any_mix_of_collaborators_gives_the_same_in_an_async_memory(
    mix: tuple[bool, bool, bool],
) -> None:
    assert asyncio.run(run_async(AsyncSlotMemory(**mixed(mix)))) == run_sync(SlotMemory(**OPTIONS))


def test_a_sync_memory_with_async_collaborators_works_on_a_running_loop() -> None:
    async def run() -> str:
        memory = SlotMemory(**mixed((True, True, True)))
        memory.ingest("the boiler has a brass valve")
        return memory.answer("Which valve?").text

    assert "brass valve" in asyncio.run(run())


class Lazy:
    """Return an awaitable from a plain method, as a partial of a coroutine function does."""

    def answer(self, question: Question) -> Any:
        return Async(ReadingAnswerer()).answer(question)


def test_a_plain_method_may_return_an_awaitable() -> None:
    async def run() -> str:
        memory = AsyncSlotMemory(**{**OPTIONS, "answerer": Lazy()})
        await memory.ingest("the boiler has a brass valve")
        return (await memory.answer("Which valve?")).text

    assert "brass valve" in asyncio.run(run())


def test_an_async_answerer_that_fails_is_reported_as_any_other() -> None:
    async def run() -> int:
        memory = AsyncSlotMemory(**{**OPTIONS, "answerer": Async(Failing())})
        await memory.ingest("words")
        with pytest.raises(CollaboratorError, match="the answerer failed: RuntimeError"):
            await memory.answer("words?")
        return len(await memory.contexts())

    assert asyncio.run(run()) == 0


# Nothing that blocks holds others up

BLOCK = 0.15


async def beats_during(work: Any) -> int:
    """Count how often a heartbeat of 5 ms comes while something is awaited."""
    beats = 0

    async def beat() -> None:
        nonlocal beats
        while True:
            await asyncio.sleep(0.005)
            beats += 1

    heart = asyncio.create_task(beat())
    await work
    heart.cancel()
    return beats


@pytest.mark.parametrize("slow", ["encoder", "answerer", "scorers", "store"])
def test_a_blocking_collaborator_does_not_block_the_event_loop(slow: str) -> None:
    async def run() -> int:
        fast = OPTIONS if slow == "store" else {**OPTIONS, slow: slowed(OPTIONS[slow])}
        memory = await AsyncSlotMemory.open(
            SlowStore() if slow == "store" else MemoryStore(), **fast
        )
        await memory.ingest("the boiler has a brass valve")
        answer = await memory.answer("Which valve?")
        if slow == "scorers":
            return await beats_during(memory.feedback(answer, reference="a brass valve"))
        return await beats_during(memory.answer("Which valve?"))

    assert asyncio.run(run()) >= 5


def slowed(inner: Any) -> Any:
    return (
        tuple(Slow(one, BLOCK / 2) for one in inner)
        if isinstance(inner, tuple)
        else Slow(inner, BLOCK)
    )


class SlowStore(MemoryStore):
    def commit(self, address: Address, delta: Delta) -> None:
        time.sleep(BLOCK)
        super().commit(address, delta)


def test_async_answers_are_awaited_together() -> None:
    class Meeting:
        """Count how many questions are asked at the same time."""

        together = 0
        most = 0

        async def answer(self, question: Question) -> Draft:
            self.together += 1
            self.most = max(self.most, self.together)
            await asyncio.sleep(0.01)
            self.together -= 1
            return ReadingAnswerer().answer(question)

    meeting = Meeting()

    async def run() -> int:
        memory = AsyncSlotMemory(**{**OPTIONS, "answerer": meeting})
        for text in ("the boiler has a brass valve", "the violin has a broken bow"):
            await memory.ingest(text)
        await memory.feedback(
            await memory.answer("Which valve has the boiler?"), reference="a brass valve"
        )
        report = await memory.feedback(
            await memory.answer("Which bow has the violin?"), reference="a broken bow"
        )
        return report.counterfactuals

    assert (asyncio.run(run()), meeting.most) == (
        4,
        2,
    )  # both questions, from one content after the other


class Gate:
    """Answer with the reading, once the test opens the gate."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.open = threading.Event()

    def answer(self, question: Question) -> Draft:
        self.asked.set()
        assert self.open.wait(10)
        return ReadingAnswerer().answer(question)


def test_a_slow_answerer_in_one_thread_does_not_keep_another_from_ingesting() -> None:
    gate = Gate()
    memory = SlotMemory(**{**OPTIONS, "answerer": gate})
    memory.ingest("the boiler has a brass valve")
    asking = threading.Thread(target=lambda: memory.answer("Which valve?"))
    asking.start()
    assert gate.asked.wait(10)
    assert memory.ingest("the violin has a broken bow").evidence_id == "e2"
    assert "broken bow" in memory.read("Which bow?").text
    gate.open.set()
    asking.join()
    assert len(memory.contexts()) == 1
    memory.check()


def test_text_that_is_forgotten_while_it_is_being_answered_stays_forgotten() -> None:
    gate = Gate()
    memory = SlotMemory(**{**OPTIONS, "answerer": gate})
    memory.ingest("the password is plover")
    asking = threading.Thread(target=lambda: memory.answer("What is it?"))
    asking.start()
    assert gate.asked.wait(10)
    memory.forget("e1")
    gate.open.set()
    asking.join()
    assert len(memory.contexts()) == 1
    assert "plover" not in repr(memory.export())
    memory.check()


# Many at once


def in_threads(count: int, work: Callable[[int], object]) -> None:
    failed: list[BaseException] = []

    def run(n: int) -> None:
        try:
            work(n)
        except (AssertionError, DeMemError, RuntimeError, LookupError) as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


@pytest.fixture
def hasty() -> Iterator[None]:
    """Switch threads far more often than usual, so that races show."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("scheme", ["memory", "sqlite"])
def test_eight_threads_that_ingest_at_once_lose_nothing(scheme: str, tmp_path: Path) -> None:
    url = "memory://" if scheme == "memory" else f"sqlite:///{tmp_path}/a.db"
    with SlotMemory.open(url, **OPTIONS) as memory:
        in_threads(
            8,
            lambda n: [
                memory.ingest(f"thread {n} says {m}", source_id=f"{n}-{m}") for m in range(15)
            ],
        )
        memory.check()
        assert [item.id for item in memory.evidence()] == [f"e{n + 1}" for n in range(120)]
        assert {item.source_id for item in memory.evidence()} == {
            f"{n}-{m}" for n in range(8) for m in range(15)
        }


@pytest.mark.parametrize("scheme", ["memory", "sqlite"])
def test_eight_tasks_that_ingest_at_once_lose_nothing(scheme: str, tmp_path: Path) -> None:
    url = "memory://" if scheme == "memory" else f"sqlite:///{tmp_path}/a.db"

    async def run() -> set[str | None]:
        async with await AsyncSlotMemory.open(url, **mixed((True, False, False))) as memory:

            async def work(n: int) -> None:
                for m in range(10):
                    await memory.ingest(f"task {n} says {m}", source_id=f"{n}-{m}")

            await asyncio.gather(*(work(n) for n in range(8)))
            await memory.check()
            return {item.source_id for item in await memory.evidence()}

    assert asyncio.run(run()) == {f"{n}-{m}" for n in range(8) for m in range(10)}


@pytest.mark.usefixtures("hasty")
def test_threads_that_do_everything_at_once_leave_a_sound_memory() -> None:
    memory = SlotMemory(**OPTIONS)
    memory.ingest("the boiler has a brass valve")

    def work(n: int) -> None:
        for m in range(6):
            item = memory.ingest(f"the boiler of house {n} has valve {m}").evidence_id
            memory.feedback(memory.answer(f"Which valve has house {n}?"), reward=m % 2)
            if m % 3 == 0:
                memory.forget(item)

    in_threads(6, work)
    memory.check()
    assert (len(memory), len(memory.contexts())) == (1 + 6 * 4, 36)


@pytest.mark.usefixtures("hasty")
def test_a_memory_may_be_looked_at_while_it_changes() -> None:
    memory = SlotMemory(**OPTIONS)
    memory.ingest_many([{"text": f"item {n}"} for n in range(100)])

    def work(n: int) -> None:
        for m in range(40):
            if n % 2:
                memory.ingest(f"{n} and {m}")
                memory.answer(f"What of {m}?")
            else:
                assert len(memory.evidence()) >= 100
                assert sum(len(slot.evidence) for slot in memory.slots) >= 100
                assert memory.fingerprint()
                assert memory.contexts() is not None

    in_threads(4, work)


@pytest.mark.parametrize("calls", [2, 5])
def test_the_same_key_at_the_same_time_counts_once(calls: int) -> None:
    async def run() -> tuple[int, tuple[float, ...]]:
        memory = AsyncSlotMemory(**mixed((True, True, True)))
        done = await asyncio.gather(*(memory.ingest("words", key="k") for _ in range(calls)))
        answer = await memory.answer("words?")
        reports = await asyncio.gather(
            *(memory.feedback(answer, reference="words", key="f") for _ in range(calls))
        )
        assert all(one == done[0] for one in done)
        assert all(one == reports[0] for one in reports)
        return len(memory), (await memory.contexts())[0].rewards

    assert asyncio.run(run()) == (1, (1.0,))


# Reembedding and being cancelled


def test_what_is_ingested_while_a_memory_is_reembedded_is_in_it() -> None:
    class Overtaken(BagEncoder):
        def encode(self, sentences: list[str], /) -> Any:
            if len(memory) == 1:
                memory.ingest("the violin has a broken bow")
            return super().encode(sentences)

    store = MemoryStore()
    memory = SlotMemory.open(store, **OPTIONS)
    memory.ingest("the boiler has a brass valve")
    assert memory.reembed(Overtaken(8, "sack")) == 2
    memory.check()
    assert "broken bow" in memory.read("Which bow?").text
    again = SlotMemory.open(store, **{**OPTIONS, "encoder": BagEncoder(8, "sack")})
    assert again.fingerprint() == memory.fingerprint()


def test_a_memory_may_be_reembedded_while_tasks_ingest() -> None:
    async def run() -> int:
        memory = AsyncSlotMemory(**mixed((True, False, False)))
        await memory.ingest("the boiler has a brass valve")
        texts = [f"item number {n}" for n in range(3)]
        await asyncio.gather(
            memory.reembed(Async(BagEncoder(8, "sack"))), *(memory.ingest(text) for text in texts)
        )
        await memory.check()
        return len(memory)

    assert asyncio.run(run()) == 4


def test_an_ingest_that_a_reembed_overtakes_uses_the_new_encoder() -> None:
    class Overtaken(BagEncoder):
        ready = False

        def encode(self, sentences: list[str], /) -> Any:
            if self.ready:
                self.ready = False
                memory.reembed(BagEncoder(16, "sack"))
            return super().encode(sentences)

    encoder = Overtaken()
    store = MemoryStore()
    memory = SlotMemory.open(store, **{**OPTIONS, "encoder": encoder})
    memory.ingest("the boiler has a brass valve")
    encoder.ready = True
    memory.ingest("the violin has a broken bow")
    memory.check()
    again = SlotMemory.open(store, **{**OPTIONS, "encoder": BagEncoder(16, "sack")})
    assert (len(again), again.fingerprint()) == (2, memory.fingerprint())


def test_reembed_of_a_memory_that_another_writer_moved_on_takes_what_came() -> None:
    store = MemoryStore()
    first, second = (SlotMemory.open(store, **OPTIONS) for _ in range(2))
    second.ingest("the boiler has a brass valve")
    assert first.reembed(BagEncoder(8, "sack")) == 1
    first.check()


@pytest.mark.parametrize("scheme", ["memory", "sqlite"])
def test_an_operation_that_is_cancelled_leaves_a_memory_that_goes_on(
    scheme: str, tmp_path: Path
) -> None:
    url = "memory://" if scheme == "memory" else f"sqlite:///{tmp_path}/a.db"

    async def run() -> list[str]:
        async with await AsyncSlotMemory.open(url, **OPTIONS) as memory:
            await memory.ingest("before")
            for patience in (0, 0.001, 0.003, 0.01):
                work = asyncio.create_task(memory.ingest("cancelled"))
                await asyncio.sleep(patience)
                work.cancel()
                await asyncio.gather(work, return_exceptions=True)
            await memory.ingest("after")
            await memory.check()
            return [item.text for item in await memory.evidence()]

    texts = asyncio.run(run())
    assert (texts[0], texts[-1]) == ("before", "after")
    with SlotMemory.open(url, **OPTIONS) as memory:
        assert [item.text for item in memory.evidence()] == (texts if scheme == "sqlite" else [])


def test_a_commit_under_way_when_its_task_was_cancelled_is_seen_by_the_next_operation() -> None:
    async def run() -> list[str]:
        memory = await AsyncSlotMemory.open(SlowStore(), **OPTIONS)
        work = asyncio.create_task(memory.ingest("cancelled too late"))
        await asyncio.sleep(BLOCK / 2)
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        await memory.ingest("after")
        await memory.check()
        return [item.text for item in await memory.evidence()]

    assert asyncio.run(run()) == ["cancelled too late", "after"]
