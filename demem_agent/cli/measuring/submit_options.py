"""Options of ``demem bench submit``: in which form, and the answers of which run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

__all__ = ["SubmitOptions"]


@dataclass(frozen=True, slots=True)
class SubmitOptions:
    """The form in which answers are submitted, and whose they are."""

    contract: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Of submit: longmemeval, locomo or mem0. [that of the benchmark]",
        ),
    ] = None
    run: Annotated[
        int, typer.Option(min=0, metavar="N", help="Of submit: the answers of which run.")
    ] = 0
