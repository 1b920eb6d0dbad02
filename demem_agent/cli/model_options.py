"""The options of commands that ask a language model: which, where, what key, at what price."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from demem_agent.cli.faults import UsageError
from demem_agent.errors import InvalidInput

if TYPE_CHECKING:
    from demem_agent.llms import Ledger, OpenAIChat, Retry
    from demem_agent.llms.passing import Passing

__all__ = ["ModelOptions"]

#: Of a million tokens: of prompts, and of answers.
Price = tuple[float, float]

_KEY = "OPENAI_API_KEY"
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
#: The name under which the price of all models stands.
_ANY = ""


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Which model, where it is and what it may cost.

    The key is in the environment, and never an argument.
    """

    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="A language model, as its provider names it.")
    ] = None
    base_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="Of any server that speaks OpenAI's protocol, up to /v1. [OpenAI]"
        ),
    ] = None
    key_env: Annotated[
        str, typer.Option(metavar="NAME", help="Environment variable that holds the key.")
    ] = _KEY
    timeout: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="For one whole answer, retries and all. [30; on this machine 300 since the last "
            "piece]",
        ),
    ] = None
    price: Annotated[
        list[str] | None,
        typer.Option(
            metavar="IN,OUT",
            help="Of a million tokens; NAME=IN,OUT for one model; may be repeated.",
        ),
    ] = None
    limit_cost: Annotated[
        float | None,
        typer.Option(metavar="X", help="Call no model once this would be passed; needs --price."),
    ] = None
    limit_tokens: Annotated[int | None, typer.Option(metavar="N", help="The same in tokens.")] = (
        None
    )

    def ledger(self, name: str, models: Sequence[str]) -> Ledger:
        """Make the ledger of a command that asks these models.

        Raises:
            UsageError: where a cost is limited and a model has no price.
            InvalidInput: for a price or a limit that is none.
        """
        # Not needed by other commands, which start sooner without.
        from demem_agent.llms import Ledger, Limit

        prices = self._prices(models)
        unpriced = [model for model in models if model not in prices]
        if self.limit_cost is not None and unpriced:
            raise UsageError(
                f"--limit-cost needs the price of {unpriced[0]}: "
                "--price IN,OUT, of a million tokens"
            )
        return Ledger(name, prices=prices, limit=Limit(self.limit_cost, self.limit_tokens))

    def chat(self, model: str, ledger: Ledger) -> OpenAIChat:
        """Make a model of this provider.

        Raises:
            UsageError: if the key is not where it should be.
        """
        from demem_agent.llms import OpenAIChat

        return OpenAIChat(
            model,
            base_url=self.base_url,
            api_key=self._key(),
            retry=self._retry(),
            ledger=ledger,
        )

    def passing(self, model: str, ledger: Ledger) -> Passing:
        """Make what passes on to a model of this provider what other programs ask.

        Raises:
            UsageError: if the key is not where it should be.
        """
        from demem_agent.llms.passing import Passing

        retry = self._retry()
        return Passing(
            model, base_url=self.base_url, api_key=self._key(), retry=retry, ledger=ledger
        )

    def _retry(self) -> Retry | None:
        """Return how long an answer is waited for; None for what is usual where the model is."""
        from demem_agent.llms import Retry

        return None if self.timeout is None else Retry(seconds=self.timeout)

    def _key(self) -> str | None:
        """Return the key; None where a server of one's own needs none."""
        if not _VARIABLE.fullmatch(self.key_env):
            raise UsageError(
                "--key-env takes the name of an environment variable, such as OPENAI_API_KEY, "
                "and no key"
            )
        key = os.environ.get(self.key_env)
        if not key and self._needs_key():
            # What is not written as variables are might be the key itself, and is not repeated.
            named = self.key_env if self.key_env.isupper() else "variable of that name"
            raise UsageError(
                f"the environment has no {named}: set it to the provider's key, name another "
                "variable with --key-env, or a server that needs no key with --base-url"
            )
        return key

    def _needs_key(self) -> bool:
        """Whether a key must be there: if its variable was named, or the server is OpenAI's."""
        if self.key_env != _KEY:
            return True
        return not (self.base_url or os.environ.get("OPENAI_BASE_URL"))

    def _prices(self, models: Sequence[str]) -> dict[str, Price]:
        """Return the prices of these models, as far as they were given."""
        given = dict(map(_price, self.price or ()))
        for name in given:
            if name != _ANY and name not in models:
                asked = ", ".join(models)
                raise UsageError(f"--price names {name}, which is not asked; asked are {asked}")
        prices: dict[str, Price] = {}
        for model in models:
            price = given.get(model, given.get(_ANY))
            if price is not None:
                prices[model] = price
        return prices


def _price(typed: str) -> tuple[str, Price]:
    """Read ``IN,OUT`` or ``NAME=IN,OUT``; the name is "" for all models."""
    name, _, pair = typed.rpartition("=")
    try:
        prompts, answers = map(float, pair.split(","))
    except ValueError as error:
        expected = "IN,OUT or NAME=IN,OUT, numbers for a million tokens"
        raise InvalidInput("price", typed, expected) from error
    return name, (prompts, answers)
