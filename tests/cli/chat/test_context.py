"""A chat with a model of a small context: older turns go, no turn stays without an answer."""

from __future__ import annotations

import sys

import openai
import pytest

from demem_agent import SlotMemory
from demem_agent.cli.chat.conversation import Conversation
from demem_agent.cli.chat.session import Session
from demem_agent.cli.chat.talker import Talker
from demem_agent.errors import ModelError
from demem_agent.llms.calls.faults import fault_of
from demem_agent.llms.model import Completion, Options, Prompt, Usage

TURNS = 60
REPLY = "That is good to hear, and it reminds me of the garden. " * 20


class Small:
    """Refuses a prompt that has more tokens than it takes, as local servers do.

    Args:
        tells: whether it says how many that are.
    """

    name = "small"

    def __init__(self, context: int, *, tells: bool = False) -> None:
        self.context = context
        self.tells = tells
        self.sent: list[Prompt] = []
        self.refused = 0

    def complete(self, prompt: Prompt, options: Options, /) -> Completion:
        assert options.max_tokens is not None
        if len(prompt.text) / 4 > self.context:
            self.refused += 1
            told = self.context if self.tells else None
            raise ModelError("too long", self.name, status=400, context=told)
        self.sent.append(prompt)
        return Completion(REPLY, "stop", Usage(), self.name)

    async def acomplete(self, prompt: Prompt, options: Options, /) -> Completion:
        raise NotImplementedError


def spoken(model: Small, context: int | None = None) -> tuple[Session, list[str | None]]:
    talker = Talker(model, lambda piece: None, context)
    session = Session(SlotMemory(answerer=talker, clock=None, read_limit=1500), talker, room=4500)
    said = [session.say(f"On day {n} neighbour {n} plants {n} roses.") for n in range(TURNS)]
    return session, [one.trouble for one in said]


@pytest.mark.parametrize("size", [4096, 2048, 1024])
@pytest.mark.parametrize("tells", [True, False])
def test_no_turn_stays_without_an_answer(size: int, tells: bool) -> None:
    model = Small(size, tells=tells)
    session, troubles = spoken(model)
    assert troubles == [None] * TURNS
    assert model.refused <= 4  # from then on it is known what the model takes
    assert len(session.memory) == 2 * TURNS


def test_a_context_that_is_told_is_kept_from_the_first_turn_on() -> None:
    model = Small(2048)
    _, troubles = spoken(model, context=2048)
    assert troubles == [None] * TURNS
    assert model.refused == 0


def test_a_turn_that_was_refused_is_no_part_of_the_history() -> None:
    model = Small(10)
    session, troubles = spoken(model)
    assert all(troubles)
    assert session.talker is not None
    assert session.talker.conversation.exchanges == []


def test_replies_have_a_quarter_of_the_context() -> None:
    assert Conversation(2048).longest == 512
    assert Conversation().longest == Conversation(100_000).longest == 2000


@pytest.mark.parametrize(
    ("body", "context"),
    [
        ({"type": "exceed_context_size_error", "message": "too large", "n_ctx": 4096}, 4096),
        ({"message": "This model's maximum context length is 8,192 tokens."}, 8192),
        ({"code": "context_length_exceeded", "message": "Too long."}, None),
        ({"message": "the request exceeds the available context size, try increasing it"}, None),
    ],
)
def test_an_overflow_of_any_server_is_known_as_one(
    body: dict[str, object], context: int | None
) -> None:
    (library,) = [sys.modules[name] for name in ("httpx2", "httpx") if name in sys.modules][:1]
    response = library.Response(400, request=library.Request("POST", "http://localhost/v1"))
    error = openai.BadRequestError(str(body["message"]), response=response, body=body)
    fault = fault_of(error, "small")
    assert (fault.kind, fault.context) == ("too long", context)
