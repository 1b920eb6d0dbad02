"""``demem chat``: a conversation with memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from demem_agent.cli.faults import UsageError
from demem_agent.cli.memory_options import Budget, Company, Helpers, Place
from demem_agent.cli.model_options import ModelOptions
from demem_agent.cli.output import Output

__all__ = ["chat"]


def chat(
    place: Place,
    model_options: ModelOptions,
    budget: Budget,
    company: Company,
    helpers: Helpers,
    output: Output,
    context: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=512, help="Tokens that the model takes. [as the server shows]"
        ),
    ] = None,
    local: Annotated[
        bool,
        typer.Option(
            "--local", help="With a model that this machine serves, by name or the first."
        ),
    ] = False,
) -> None:
    """Talk, with a memory of all that is said; with a language model (--model) or offline.

    The memory is made if it does not exist; without --memory it lives in RAM. The key is taken from
    the environment (OPENAI_API_KEY, or --key-env). --local takes the model of a server on this
    machine, such as Ollama or llama.cpp, and says how to get one where there is none. Lines may
    come from a pipe; --json prints one JSON object a line. /help inside lists the commands.
    """
    from demem_agent.cli.chat import Screen, opened, talk

    if local:
        from demem_agent.cli.chat.local import found_model

        first, base_url = found_model(model_options.base_url)
        named = model_options.model or first
        model_options = replace(model_options, model=named, base_url=base_url)
    asked = company.checked()
    screen = Screen(output)
    name = model_options.model
    model = None
    if name is not None:
        model = model_options.chat(name, model_options.ledger("chat", [name]))
    elif model_options != ModelOptions():
        raise UsageError("--base-url and the other options of a language model need --model NAME")
    with opened(place, budget, model, screen.piece, helpers, context) as session:
        session.meet(asked.asker or company.asker)
        session.conditions = asked.conditions
        talk(session, screen)
