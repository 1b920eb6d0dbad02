"""A memory with bounded storage keeps within it, and what decisions rest on longest."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from often import often
from sealed_files import legible

from demem_agent import AsyncSlotMemory, InvalidInput, SlotMemory
from demem_agent.errors import StoreError
from demem_agent.flows import room
from demem_agent.slots import keeping
from demem_agent.slots.experiment import Experiment
from demem_agent.slots.keeping import Brought, Piece, by_worth, item_piece
from demem_agent.slots.records import Delta
from demem_agent.slots.state import State
from demem_agent.splitting import replay
from demem_agent.stores import Address, MemoryStore
from demem_agent.testing import BagEncoder, ReadingAnswerer

WORDS = "boiler valve violin bow harbour ferry tram orchard kiln anvil".split()

#: As it is remembered.
STEEL = 'correction to "Which valve does the boiler have?": a steel valve'


def bounded(storage: int | None, **options: Any) -> SlotMemory:
    given: dict[str, Any] = {
        "clock": None,
        "encoder": BagEncoder(),
        "answerer": ReadingAnswerer(),
        "slots": 3,
    }
    return SlotMemory(**(given | options), storage=storage)


def texts(memory: SlotMemory) -> list[str]:
    return [item.text for item in memory.evidence()]


def filled(memory: SlotMemory, count: int = 20) -> None:
    for n in range(count):
        memory.ingest(f"Remark {n} on the weather.")


def test_all_text_counts() -> None:
    memory = bounded(None)
    memory.ingest("The boiler has a brass valve.")
    memory.rename(0, "house")
    answer = memory.answer("Which valve?", conditions=["winter"])
    memory.feedback(answer, reference="brass")
    told = len("Which valve?") + len(answer.text) + len("winter") + len("brass")
    held = memory.storage()
    assert (held.evidence, held.contexts, held.names) == (29, told, 5)
    assert (held.used, held.limit, held.unit) == (29 + told + 5, None, "chars")


def test_without_a_bound_nothing_is_forgotten() -> None:
    memory = bounded(None)
    filled(memory)
    assert (len(memory), memory.receipts()) == (20, ())


def test_the_bound_holds_and_what_came_last_is_there() -> None:
    memory = bounded(100)
    for n in range(20):
        memory.ingest(f"Remark {n} on the weather.")
        assert memory.storage().used <= 100
        assert texts(memory)[-1] == f"Remark {n} on the weather."
    memory.check()


def test_the_bound_holds_in_tokens() -> None:
    memory = bounded(40, unit="tokens", counter=lambda text: len(text.split()))
    filled(memory)
    assert memory.storage().unit == "tokens"
    assert 0 < memory.storage().used <= 40


def test_what_was_told_to_be_right_outlives_what_nobody_asked_for() -> None:
    memory = bounded(200)
    memory.ingest("The boiler has a brass valve.")
    memory.feedback(memory.answer("Which valve does the boiler have?"), reference="a brass valve")
    filled(memory)
    assert "The boiler has a brass valve." in texts(memory)
    assert memory.contexts()[0].query == "Which valve does the boiler have?"


def test_a_correction_outlives_what_nobody_asked_for() -> None:
    memory = bounded(250)
    memory.ingest("The boiler has a brass valve.")
    answer = memory.answer("Which valve does the boiler have?")
    memory.feedback(answer, correction="a steel valve")
    filled(memory)
    assert STEEL in texts(memory)


def test_what_was_superseded_goes_first() -> None:
    memory = bounded(90)
    memory.ingest("Ana lives in Lisbon by the river.")
    memory.ingest("Ana lives in Porto by the sea.")
    memory.supersede("e1", "e2")
    memory.ingest("It rained again that morning.")
    assert [item.id for item in memory.evidence()] == ["e2", "e3"]
    assert memory.receipts()[0].successions == ("s1",)


def test_what_says_least_of_its_own_goes_before_what_says_something_rare() -> None:
    memory = bounded(130)
    memory.ingest("The violin has a broken bow.")
    for n in range(6):
        memory.ingest(f"The weather is fine today {n}.")
    assert "The violin has a broken bow." in texts(memory)


def test_the_oldest_decision_goes_first() -> None:
    memory = bounded(160)
    for word in WORDS[:6]:
        memory.ingest(f"The {word} is in box {len(word)}.")
        memory.feedback(memory.answer(f"Where is the {word}?"), reference=f"box {len(word)}")
        memory.check()
    kept = [context.id for context in memory.contexts() if context.query]
    assert kept
    assert kept == [f"a{n}" for n in range(7 - len(kept), 7)]


def test_an_answer_waits_to_be_told_of() -> None:
    memory = bounded(300)
    memory.ingest("The boiler has a brass valve.")
    answer = memory.answer("Which valve does the boiler have?")
    filled(memory, 12)
    assert memory.contexts()[0].query
    memory.feedback(answer, correction="a steel valve")
    assert memory.storage().used <= 300
    assert STEEL in texts(memory)


def test_receipts_name_what_went_and_outlive_the_process(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    with SlotMemory.open(url, encoder=BagEncoder(), storage=60) as memory:
        memory.ingest("The boiler has a brass valve.")
        memory.ingest("The violin has a broken bow.")
        memory.ingest("The ferry leaves the harbour.")
        receipts = memory.receipts()
        assert [receipt.evidence for receipt in receipts] == [("e1",)]
    with SlotMemory.open(url, encoder=BagEncoder()) as memory:
        assert memory.receipts() == receipts
        restored = SlotMemory.restore(memory.export(), encoder=BagEncoder())
        assert restored.receipts() == receipts
        assert restored.settings.storage == 60
    assert b"brass" not in legible(tmp_path)


def test_what_goes_leaves_the_file_also_where_no_item_goes(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    with SlotMemory.open(url, encoder=BagEncoder(), storage=60) as memory:
        for word in WORDS:
            memory.answer(f"Where did we put the {word}?")
            shown = repr(memory.contexts())
            written = legible(tmp_path).decode("latin-1")
            for other in WORDS:
                assert other in shown or f"the {other}?" not in written


def test_what_a_question_used_that_is_gone_counts_no_more_than_after_loading() -> None:
    memory = bounded(120)
    memory.ingest("The boiler has a brass valve.")
    answer = memory.answered("Which valve does the boiler have?", "brass")
    memory.feedback(answer, reward=1.0)
    memory.rename(0, "all that was ever said of boilers, valves and the whole house")
    assert (memory.contexts()[0].query, len(memory)) == ("", 1)
    loaded = SlotMemory.restore(memory.export(), encoder=BagEncoder())
    assert loaded.fingerprint() == memory.fingerprint()


def test_a_smaller_bound_holds_from_the_next_call_on(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    with SlotMemory.open(url, encoder=BagEncoder()) as memory:
        filled(memory)
    with SlotMemory.open(url, encoder=BagEncoder(), storage=100) as memory:
        assert len(memory) == 20
        memory.ingest("One more.")
        assert memory.storage().used <= 100


@pytest.mark.parametrize("storage", [39, 0, -1, 1.5, True, "many"])
def test_a_bound_outside_its_range_is_refused(storage: Any) -> None:
    with pytest.raises(InvalidInput, match="storage must be a whole number of at least 40"):
        bounded(storage)


def test_what_exceeds_the_bound_alone_is_refused_and_nothing_is_lost() -> None:
    memory = bounded(60)
    memory.ingest("The boiler has a brass valve.")
    answer = memory.answer("Which valve?")
    before = memory.fingerprint()
    long = "word " * 20
    with pytest.raises(InvalidInput, match="text must be at most 60 chars"):
        memory.ingest(long)
    with pytest.raises(InvalidInput, match=r"turns\[1\].text must be at most 60 chars"):
        memory.ingest_many([{"text": "Short."}, {"text": long}])
    with pytest.raises(InvalidInput, match="query must be at most 60 chars"):
        memory.answer(long)
    with pytest.raises(InvalidInput, match="text must be at most 48 chars"):
        memory.answered("Which valve?", long)
    with pytest.raises(InvalidInput, match="reference must be at most 48 chars"):
        memory.feedback(answer, reference=long)
    with pytest.raises(InvalidInput, match="correction must be at most"):
        memory.feedback(answer, correction="word " * 4)
    with pytest.raises(InvalidInput, match="name must be at most 60 chars"):
        memory.rename(0, long)
    assert memory.fingerprint() == before


def test_an_answer_that_exceeds_the_bound_alone_costs_nothing_but_its_own_words() -> None:
    memory = bounded(130)
    for word in WORDS[:3]:
        memory.ingest(f"The {word} is in box 3, behind the door.")
    kept = texts(memory)
    answer = memory.answer("Where?")
    assert len(answer.text) > 130
    assert (memory.contexts()[0].query, memory.contexts()[0].answer) == ("Where?", "")
    assert texts(memory) == kept


def test_many_turns_come_to_the_same_as_one_by_one() -> None:
    turns = [f"The {word} is in box {n}." for n, word in enumerate(WORDS)]
    one, many = bounded(100), bounded(100)
    for turn in turns:
        one.ingest(turn)
    many.ingest_many([{"text": turn} for turn in turns])
    assert one.fingerprint() == many.fingerprint()


def test_a_retry_of_what_is_forgotten_by_now_changes_nothing() -> None:
    memory = bounded(60)
    first = memory.ingest("Remark 0.", key="k")
    filled(memory, 8)
    before = memory.fingerprint()
    assert memory.ingest("Remark 0.", key="k") == first
    assert memory.fingerprint() == before


def test_the_bound_holds_in_an_async_memory() -> None:
    async def run() -> None:
        memory = AsyncSlotMemory(encoder=BagEncoder(), storage=100)
        for n in range(8):
            await memory.ingest(f"Remark {n} on the weather.")
            await memory.answer(f"Which remark is number {n}?")
        held = await memory.storage()
        assert held.used <= 100
        assert await memory.receipts()

    asyncio.run(run())


class FailingStore(MemoryStore):
    """A store that refuses to make room while it is told to."""

    refuses = False

    def commit(self, address: Address, delta: Delta) -> None:
        if self.refuses and delta.for_room:
            raise StoreError("the disk is full")
        super().commit(address, delta)


def test_what_a_crash_left_over_the_bound_goes_with_the_next_call() -> None:
    store = FailingStore()
    memory = SlotMemory.open(store, encoder=BagEncoder(), storage=60)
    memory.ingest("The boiler has a brass valve.")
    memory.ingest("The violin has a broken bow.")
    store.refuses = True
    with pytest.raises(StoreError):
        memory.ingest("The ferry leaves the harbour.")
    assert len(memory) == 3
    memory.check()
    store.refuses = False
    memory.answer("Which valve?")
    assert memory.storage().used <= 60
    memory.check()


def test_the_same_goes_from_every_store(tmp_path: Path) -> None:
    in_ram = bounded(120)
    url = f"sqlite:///{tmp_path}/a.db"
    options: dict[str, Any] = {
        "clock": None,
        "encoder": BagEncoder(),
        "answerer": ReadingAnswerer(),
        "slots": 3,
    }
    with SlotMemory.open(url, **options, storage=120) as in_file:
        for number, word in enumerate(WORDS):
            for memory in (in_ram, in_file):
                step(memory, "ingest", word, number)
                step(memory, "reference", word, number)
        before = in_file.fingerprint()
        assert in_ram.fingerprint() == before
    with SlotMemory.open(url, **options) as again:
        assert again.fingerprint() == before
        again.check()


def test_certificates_lose_their_words_and_still_replay() -> None:
    memory = SlotMemory(slots=2, initial_slots=1)
    likes = {"Ana": "I want the seat at level 3.", "Ben": "Level 1 of the seat is enough."}
    for text in (*likes.values(), "We stop for coffee at the old mill."):
        memory.ingest(text)
    for asker, text in likes.items():
        answer = memory.answer("Set the seat as I like it.", asker=asker)
        memory.feedback(answer, reference=text, reward=float(text in answer.text))
    used = memory.storage()
    assert used.certificates > 0
    kept = SlotMemory.restore(memory.export(), storage=used.used - used.certificates)
    kept.rename(0, None)
    assert (kept.storage().certificates, kept.storage().evidence) == (0, used.evidence)
    for certificate, before in zip(kept.certificates(), memory.certificates(), strict=True):
        assert certificate.redacted
        assert replay(certificate).decision == before.decision
    kept.undo("c1")
    kept.check()


def least_first(state: State, brought: Brought) -> Iterator[Piece]:
    """Yield what goes, decided or not: the oldest item first."""
    for item in state.evidence:
        if item not in brought.items:
            yield item_piece(state, item)


def test_another_order_is_noticed() -> None:
    """The checks above fail where decisions are not looked at."""
    memory = bounded(200, experiment=Experiment(keeping=least_first))
    memory.ingest("The boiler has a brass valve.")
    memory.feedback(memory.answer("Which valve does the boiler have?"), reference="a brass valve")
    filled(memory, 8)
    assert "The boiler has a brass valve." not in texts(memory)


KINDS = (*["ingest"] * 4, *["reference"] * 2, "correct", "thumbs", "forget", "rename", "later")
SEARCH = settings(
    max_examples=often(25),
    deadline=None,
    derandomize=True,
    database=None,
    phases=(Phase.generate,),
)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(KINDS),
        st.sampled_from(WORDS),
        st.integers(0, 30),
    ),
    min_size=12,
    max_size=25,
)


@SEARCH
@given(storage=st.integers(80, 300), steps=STEPS)
def test_the_bound_holds_after_any_operations_and_what_was_right_stays_longest(
    storage: int, steps: list[tuple[str, str, int]]
) -> None:
    keeps_its_word(storage, steps)


def keeps_its_word(storage: int, steps: list[tuple[str, str, int]]) -> None:
    """Carry out steps; after each the bound holds, and decisions went last."""
    memory = bounded(storage)
    for what, word, number in steps:
        before = {item.id: item for item in memory.evidence()}
        right = right_in(memory)
        rested = rested_in(memory)
        receipts = len(memory.receipts())
        step(memory, what, word, number)
        memory.check()
        assert memory.storage().used <= storage
        if what == "ingest":
            assert memory.evidence()[-1].text == f"The {word} is in box {number}."
        for receipt in memory.receipts()[receipts:]:
            assert not set(receipt.evidence) & {item.id for item in memory.evidence()}
            left = {item.id for item in memory.evidence()} & before.keys()
            if right & set(receipt.evidence):
                assert left <= rested | rested_in(memory)


def half_of_what_is_too_much(patch: pytest.MonkeyPatch) -> None:
    chosen = room._chosen

    def too_little(state: State, brought: Brought, excess: room._Excess) -> object:
        return chosen(state, brought, room._Excess(excess.size // 2, excess.items // 2, 0, 0))

    patch.setattr(room, "_chosen", too_little)


def decisions_are_not_looked_at(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(keeping, "rests_on", lambda _: frozenset())


def what_was_brought_goes_first(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(room, "by_worth", what_is_new_first)


def what_is_new_first(state: State, _: Brought) -> Iterator[Piece]:
    for item in reversed(state.evidence):
        yield item_piece(state, item)
    yield from by_worth(state, Brought())


BUGS = (half_of_what_is_too_much, decisions_are_not_looked_at, what_was_brought_goes_first)


@pytest.mark.parametrize("put_in", BUGS)
def test_a_bug_put_in_on_purpose_is_found(put_in: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    put_in(monkeypatch)

    @SEARCH
    @given(storage=st.integers(80, 300), steps=STEPS)
    def search(storage: int, steps: list[tuple[str, str, int]]) -> None:
        keeps_its_word(storage, steps)

    with pytest.raises(AssertionError):
        search()


def right_in(memory: SlotMemory) -> set[str]:
    """Return the items of which a line was told to be right."""
    found: set[str] = set()
    for context in memory.contexts():
        found |= {item for item, _, _, weight in context.verdicts if weight > 0}
    return found


def rested_in(memory: SlotMemory) -> set[str]:
    """Return these, and what rewarded answers rested on."""
    found = right_in(memory)
    for context in memory.contexts():
        found |= set(context.kept)
    return found


def step(memory: SlotMemory, what: str, word: str, number: int) -> None:
    if what == "ingest":
        memory.ingest(f"The {word} is in box {number}.")
    elif what == "forget" and len(memory):
        memory.forget(memory.evidence()[number % len(memory)].id)
    elif what == "rename" and memory.slots:
        memory.rename(memory.slots[0].number, word)
    elif what == "later" and memory.contexts():
        memory.feedback(memory.contexts()[number % len(memory.contexts())].id, reward=1.0)
    elif what in ("correct", "reference", "thumbs"):
        answer = memory.answer(f"Where is the {word}?")
        told = {
            "correct": {"correction": f"box {number}"},
            "reference": {"reference": f"box {number}"},
            "thumbs": {"thumbs": number % 2 == 0},
        }
        memory.feedback(answer, **told[what])  # type: ignore[arg-type]
