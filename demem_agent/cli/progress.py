"""A progress bar on the error stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

__all__ = ["ticking"]


@contextmanager
def ticking(what: str, *, transient: bool = False) -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar on the error stream, and yield what moves it: (done, in all).

    The output stays clean. Where the error stream is no terminal, nothing is shown. A transient bar
    goes away at the end.
    """
    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=transient,
        disable=not console.is_terminal,
    )
    with bar as progress:
        task = progress.add_task(what, total=None)

        def tick(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        yield tick
