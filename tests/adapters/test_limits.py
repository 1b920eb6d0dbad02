"""What is put before a model is within the limit with all that stands beside it, and leaves all
before the question as it was; of a long message no more is asked for than stands at its ends.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from adapter_contract import ASKED, VALVE, texts
from hypothesis import given
from hypothesis import strategies as st

from demem_adapters.common import (
    DECLARED,
    Memories,
    as_asked,
    block,
    last_of_user,
    put_before,
)
from demem_adapters.common.asking import MOST_ASKED
from demem_agent.testing import BagEncoder


@pytest.fixture
def memories() -> Memories:
    return Memories(encoder=BagEncoder())


def stored(folder: Path, **options: Any) -> Memories:
    return Memories(f"sqlite:///{folder}/bot.db", encoder=BagEncoder(), **options)


@pytest.mark.parametrize("limit", [50, 95, 96, 180, 300, None])
@pytest.mark.parametrize("unit", ["chars", "bytes", "tokens"])
def test_a_block_is_within_the_limit_with_the_sentence_that_declares_it(
    unit: Any, limit: int | None
) -> None:
    # Of a counter that finds more in two texts together than in each of them.
    counter = (lambda text: len(text) + len(text) // 50) if unit == "tokens" else None
    about: Any = {"unit": unit, "counter": counter, "encoder": BagEncoder(), "read_limit": 400}
    memories = Memories(limit=limit, **about)
    memories.of("ana").ingest_many(
        [{"text": f"Überventil {n} ist aus Messing."} for n in range(60)]
    )
    put_in = block(memories.prepare("ana", "Welches Überventil ist aus Messing?"))
    assert memories.measure(unit)(put_in) <= (limit or 400)
    assert bool(put_in) == (limit is None or limit >= 180)


def test_a_limit_without_room_for_any_reading_is_told(
    memories: Memories, caplog: pytest.LogCaptureFixture
) -> None:
    memories.remember("ana", VALVE)
    assert memories.prepare("ana", ASKED, limit=len(DECLARED)) is None
    assert "no room" in caplog.text


def pasted(*, ahead: str = "", behind: str = "") -> str:
    log = "\n".join(f"12:00:{n % 60:02d} worker {n} ok" for n in range(2_000))
    return f"{ahead}\n{log}\n{behind}"


@pytest.mark.parametrize("at", ["ahead", "behind"])
def test_what_is_asked_before_or_after_a_long_paste_is_found(memories: Memories, at: str) -> None:
    memories.remember("ana", VALVE)
    memories.remember("ana", "My bicycle is red.")
    reading = memories.recall("ana", pasted(**{at: ASKED}), limit=100)
    assert reading is not None
    assert VALVE in reading.text


def test_of_a_long_paste_no_more_is_asked_for_than_stands_at_its_ends(memories: Memories) -> None:
    memories.remember("ana", VALVE)
    text = pasted(ahead=ASKED)
    reading = memories.prepare("ana", text)
    memories.converse("ana", text, "A brass one.", key="k", reading=reading, call="r1")
    (context,) = memories.of("ana").contexts()
    assert len(context.query) <= MOST_ASKED < len(text)
    assert texts(memories) == [VALVE, text, "A brass one."]


def test_feedback_on_an_answer_to_a_long_paste_is_possible_after_a_restart(tmp_path: Path) -> None:
    text = pasted(ahead=ASKED)
    with stored(tmp_path) as memories:
        memories.converse("ana", text, "A brass one.", key="k", call="r1")
    with stored(tmp_path) as memories:
        assert memories.feedback("r1", namespace="ana", thumbs=True).reward == 1.0


@given(st.text(max_size=200), st.integers(0, 200))
def test_what_is_asked_for_is_short_and_the_same_of_itself(text: str, times: int) -> None:
    asked = as_asked(text * times)
    assert len(asked) <= MOST_ASKED
    assert as_asked(asked) == asked


MESSAGES = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["system", "user", "assistant", "tool"]), "content": st.text()}
    )
)


@given(MESSAGES, st.sampled_from(["user", "merged"]))
def test_all_before_the_users_last_message_stays_as_it_was(
    messages: list[dict[str, Any]], place: Any
) -> None:
    memories = Memories(encoder=BagEncoder())
    memories.remember("ana", VALVE)
    prompt = put_before(messages, memories.prepare("ana", ASKED), place)
    last = last_of_user(messages)
    before = len(messages) if last is None else last
    assert prompt[:before] == messages[:before]
    assert DECLARED in prompt[before]["content"]
    assert prompt[before + 1 :] == messages[before + (place == "merged") :] or last is None


@pytest.mark.parametrize("unit", ["chars", "bytes", "tokens"])
@pytest.mark.parametrize("limit", [20, 60, 94, 130, 150])
def test_a_limit_that_has_room_for_no_line_is_warned_of_once_with_the_least_that_has(
    unit: Any, limit: int, caplog: pytest.LogCaptureFixture
) -> None:
    about: Any = {"unit": unit, "counter": len if unit == "tokens" else None}
    memories = Memories(limit=limit, encoder=BagEncoder(), **about)
    memories.remember("ana", VALVE, speaker="user")
    for _ in range(3):
        assert memories.prepare("ana", ASKED) is None
    (told,) = caplog.messages
    assert told.startswith(
        f"nothing was recalled: a limit of {limit} {unit} has no room for a line"
    )
    least = int(told.split()[-2])
    assert memories.prepare("ana", ASKED, limit=least - 1) is None
    reading = memories.prepare("ana", ASKED, limit=least)
    assert reading is not None
    assert VALVE in reading.text


@pytest.mark.parametrize("limit", [50, 150, 2000])
def test_where_nothing_is_remembered_no_limit_is_warned_of(
    limit: int, caplog: pytest.LogCaptureFixture
) -> None:
    memories = Memories(limit=limit, encoder=BagEncoder())
    memories.remember("ana", ASKED, speaker="user")
    assert memories.prepare("ana", ASKED) is None
    assert caplog.messages == []
