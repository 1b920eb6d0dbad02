"""Options of ``demem bench --model``: who marks the answers, where they are, and how often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from demem_agent.cli.faults import UsageError
from demem_agent.cli.model_options import ModelOptions

__all__ = ["ProtocolOptions", "require_no_model_options"]


@dataclass(frozen=True, slots=True)
class ProtocolOptions:
    """Who marks the answers of a model, where they are, and how often."""

    judge: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="A model that marks answers; twice for two judges. [--model]"
        ),
    ] = None
    runs: Annotated[
        int, typer.Option(min=1, metavar="R", help="Times that all is asked; the paper has 5.")
    ] = 5
    judge_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Where judges are, if not where the model is."),
    ] = None
    judge_key_env: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Environment variable with their key. [--key-env]"),
    ] = None
    parallel: Annotated[
        int, typer.Option(min=1, metavar="N", help="Questions that are asked at once.")
    ] = 8
    any_judge: Annotated[
        bool,
        typer.Option(
            "--any-judge", help="Take judges that mark a dozen built-in answers wrongly as well."
        ),
    ] = False
    yes: Annotated[
        bool, typer.Option("--yes", help="Start without asking whether the estimate is all right.")
    ] = False


def require_no_model_options(model: ModelOptions, protocol: ProtocolOptions) -> None:
    """Check that nothing is said about a language model where none is named.

    Raises:
        UsageError
    """
    if model != ModelOptions() or protocol != ProtocolOptions():
        raise UsageError(
            "--judge, --runs and the other options of a language model need --model NAME"
        )
