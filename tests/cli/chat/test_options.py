"""The options of a chat: the key, and what cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest
from chatting import KEY, Chat, by

pytest.importorskip("rich")
pytest.importorskip("typer")

from demem_agent.testing import Provider


def test_the_key_comes_from_the_variable_that_is_named(
    chat: Chat, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat("Hello.", options=by(provider))
    assert provider.requests[-1].key == KEY
    monkeypatch.setenv("MY_KEY_2", "another")
    chat("Hello.", options=by(provider, "good", "--key-env", "MY_KEY_2"))
    assert provider.requests[-1].key == "another"


@pytest.mark.parametrize(
    "options",
    [
        ["--model", "m"],
        ["--model", "m", "--key-env", "NO_SUCH_KEY"],
        ["--model", "m", "--key-env", KEY],
        ["--model", "m", "--key-env", KEY.replace("-", "_")],
        ["--model", "m", "--base-url", "nowhere"],
        ["--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--limit-cost", "1"],
        ["--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--price", "dear"],
        ["--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--price", "other=1,2"],
        ["--base-url", "http://127.0.0.1:9/v1"],
        ["--read-limit", "3"],
    ],
)
def test_a_mistake_in_the_options_is_one_line_and_makes_no_file(
    chat: Chat, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    done = chat("Hello.", options=[*options, "-m", "m.db"])
    assert (done.code, done.out) == (1, "")
    assert done.err.count("\n") == 1
    assert KEY.replace("-", "_") not in done.err
    assert not Path("m.db").exists()
