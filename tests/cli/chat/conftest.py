"""What the tests of chats share: a provider of models, and the command."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Sequence

import pytest
from chatting import KEY, Chat, Done, reply

from demem_agent.cli import main
from demem_agent.testing import Provider


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    """Serve a model that talks."""
    with Provider(reply, retry_after=0.01) as serving:
        yield serving


@pytest.fixture
def chat(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Chat:
    """Return what runs a chat: the lines that are typed, and the options."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    def run(*lines: str, options: Sequence[object] = ()) -> Done:
        typed = "".join(f"{line}\n" for line in lines)
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        capsys.readouterr()
        code = main(["chat", *map(str, options)])
        captured = capsys.readouterr()
        assert KEY not in captured.out + captured.err
        return Done(code, captured.out, captured.err)

    return run
