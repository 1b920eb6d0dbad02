"""Recording: what a model gave, a failure as well, is given again, and the file holds no secret."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent.errors import InvalidInput, ModelError
from demem_agent.llms import Message, OpenAIChat, Options, Prompt, Recorded, Retry
from demem_agent.llms.recording import RecordingMode, call_key
from demem_agent.testing import Provider

KEY = "sk-this-is-the-secret"
PROMPT = Prompt("Answer.", "Where does Ana live? \ud800 é")
FULL = Options(max_tokens=9, temperature=0.5, seed=1, schema={"type": "object"})


class Counting(Provider):
    """Answer with the number of the request."""

    def __init__(self) -> None:
        super().__init__(lambda messages: f"answer {len(self.requests)}")


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Counting() as serving:
        yield serving


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "calls.jsonl"


def model(provider: Provider, name: str = "m") -> OpenAIChat:
    return OpenAIChat(
        name, base_url=provider.url, api_key=KEY, retry=Retry(1, 5.0), headers={"X-Token": KEY}
    )


def test_a_replay_gives_what_was_recorded_without_a_model(provider: Provider, path: Path) -> None:
    recorded = Recorded(model(provider), path)
    given = [
        recorded.complete(PROMPT),
        recorded.complete(PROMPT, FULL),
        asyncio.run(recorded.acomplete(PROMPT)),
    ]
    replay = Recorded("m", path, "replay")
    again = [
        replay.complete(PROMPT),
        replay.complete(PROMPT, FULL),
        asyncio.run(replay.acomplete(PROMPT)),
    ]
    assert again == given
    assert [done.text for done in given] == ["answer 1", "answer 2", "answer 3"]


def test_a_call_made_more_often_than_recorded_gets_its_last_answer_again(
    provider: Provider, path: Path
) -> None:
    recorded = Recorded(model(provider), path)
    for _ in range(2):
        recorded.complete(PROMPT)
    replay = Recorded("m", path, "replay")
    assert [replay.complete(PROMPT).text for _ in range(4)] == [
        "answer 1",
        "answer 2",
        "answer 2",
        "answer 2",
    ]


def test_a_failure_is_replayed_as_it_was(provider: Provider, path: Path) -> None:
    with pytest.raises(ModelError) as first:
        Recorded(model(provider, "fault-500"), path).complete(PROMPT)
    with pytest.raises(ModelError, match="as recorded") as again:
        Recorded("fault-500", path, "replay").complete(PROMPT)
    assert (again.value.kind, again.value.status, again.value.requests) == ("unavailable", 500, 1)
    assert (first.value.kind, first.value.status, first.value.requests) == ("unavailable", 500, 1)


def test_a_call_that_was_not_recorded_is_an_error_that_says_so(
    provider: Provider, path: Path
) -> None:
    Recorded(model(provider), path).complete(PROMPT)
    replay = Recorded("m", path, "replay")
    for prompt, options in [(Prompt("Answer.", "Who?"), Options()), (PROMPT, FULL)]:
        with pytest.raises(ModelError, match=r"no call [0-9a-f]{12} in calls\.jsonl") as caught:
            replay.complete(prompt, options)
        assert caught.value.kind == "not recorded"
        assert "Who" not in str(caught.value)


def test_interrupted_work_goes_on_where_it_stopped(provider: Provider, path: Path) -> None:
    with pytest.raises(ModelError):
        Recorded(model(provider, "fault-500:1"), path, "resume").complete(PROMPT)
    first = Recorded(model(provider, "fault-500:1"), path, "resume").complete(
        PROMPT
    )  # a failure is asked again
    resumed = Recorded(model(provider, "fault-500:1"), path, "resume")
    assert resumed.complete(PROMPT) == first
    assert resumed.complete(PROMPT, FULL).text == "answer 3"
    assert len(provider.requests) == 3


def test_no_secret_is_in_the_file(provider: Provider, path: Path) -> None:
    for name in ("m", "fault-401", "fault-html"):
        recorded = Recorded(model(provider, name), path)
        for options in (Options(), FULL):
            try:
                recorded.complete(PROMPT, options)
            except ModelError:
                continue
    assert provider.requests[-1].key == KEY
    assert len(path.read_text().splitlines()) == 6
    assert KEY not in path.read_text()
    assert "127.0.0.1" not in path.read_text()


def test_a_call_that_was_being_written_when_the_process_ended_does_not_count(
    provider: Provider, path: Path
) -> None:
    recorded = Recorded(model(provider), path)
    recorded.complete(PROMPT)
    recorded.complete(PROMPT, FULL)
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    assert Recorded("m", path, "replay").complete(PROMPT).text == "answer 1"
    with pytest.raises(ModelError, match="not recorded"):
        Recorded("m", path, "replay").complete(PROMPT, FULL)
    Recorded(model(provider), path, "resume").complete(PROMPT, FULL)
    assert Recorded("m", path, "replay").complete(PROMPT, FULL).text == "answer 3"


NO_CALLS = [
    "7", "[]", "{}", "text", '{"key": 1, "failed": {"kind": "timeout"}}',
    '{"key": "k", "failed": {"kind": "bored"}}', '{"key": "k", "completion": {}}',
]  # fmt: skip


@pytest.mark.parametrize("line", NO_CALLS)
def test_a_line_that_is_no_call_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "calls.jsonl"
    good = {"key": "k", "failed": {"kind": "timeout", "status": None, "requests": 1}}
    path.write_text(f"{json.dumps(good)}\n{line}\n")
    with pytest.raises(InvalidInput, match="line 2"):
        Recorded("m", path, "replay")


def test_a_replay_needs_a_file(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"none\.jsonl"):
        Recorded("m", tmp_path / "none.jsonl", "replay")


def test_only_a_replay_does_without_a_model(path: Path) -> None:
    for mode in ("record", "resume"):
        with pytest.raises(InvalidInput, match="model"):
            Recorded("m", path, mode)
    with pytest.raises(InvalidInput, match="mode"):
        Recorded("m", path, "rewind")  # type: ignore[arg-type]


def test_calls_of_several_threads_are_all_recorded(provider: Provider, path: Path) -> None:
    recorded = Recorded(model(provider), path)
    prompts = [Prompt("Answer.", f"question {n}") for n in range(40)]
    with ThreadPoolExecutor(8) as threads:
        given = list(threads.map(recorded.complete, prompts))
    replay = Recorded("m", path, "replay")
    assert [replay.complete(prompt) for prompt in prompts] == given


# Keys


def test_a_key_is_the_same_on_every_machine() -> None:
    key = call_key("m", Prompt("Answer.", "Where?"), Options(max_tokens=9))
    assert key == "1a2dd2f59285ecbf5dfff848b36d2ee98da7baafd433b2243a091b09fbba4875"


def test_whether_a_call_can_wait_has_no_bearing_on_its_key() -> None:
    assert call_key("m", PROMPT, replace(FULL, background=True)) == call_key("m", PROMPT, FULL)


CALLS: list[tuple[str, Prompt, Options]] = [
    ("m", PROMPT, FULL), ("n", PROMPT, FULL), ("m", Prompt("Answer!", PROMPT.variable), FULL),
    ("m", Prompt("Answer.", "Who?"), FULL),
    ("m", replace(PROMPT, more=(Message("user", "More."),)), FULL),
    ("m", PROMPT, replace(FULL, max_tokens=None)), ("m", PROMPT, replace(FULL, temperature=None)),
    ("m", PROMPT, replace(FULL, seed=None)), ("m", PROMPT, replace(FULL, schema=None)),
]  # fmt: skip


def test_calls_that_differ_in_anything_else_have_keys_of_their_own() -> None:
    assert len({call_key(*call) for call in CALLS}) == len(CALLS)


@given(st.text(), st.text(), st.text(), st.text())
def test_no_two_prompts_run_together_under_one_key(a: str, b: str, c: str, d: str) -> None:
    same = call_key("m", Prompt(a, b), Options()) == call_key("m", Prompt(c, d), Options())
    assert same == ((a, b) == (c, d))


def test_options_are_written_as_they_were(provider: Provider, path: Path) -> None:
    Recorded(model(provider), path).complete(PROMPT, FULL)
    row: dict[str, Any] = json.loads(path.read_text())
    assert row["options"] == {
        "max_tokens": 9,
        "temperature": 0.5,
        "seed": 1,
        "schema": {"type": "object"},
    }
    assert row["messages"] == [["system", "Answer."], ["user", PROMPT.variable]]


@pytest.mark.parametrize("mode", ["record", "resume"])
@pytest.mark.parametrize(
    "content", [b"SQLite format 3\x00 and more", b'{"text": "one line, no end"}', b"\n\n"]
)
def test_another_file_is_refused_and_left_as_it_is(
    tmp_path: Path, mode: RecordingMode, content: bytes
) -> None:
    file = tmp_path / "memory.db"
    file.write_bytes(content)
    with pytest.raises(InvalidInput, match="a file of recorded calls"):
        Recorded(OpenAIChat("good", base_url="http://127.0.0.1:9/v1"), file, mode)
    assert file.read_bytes() == content
