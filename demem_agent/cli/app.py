"""The program: its commands, its version, and how an error becomes an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import Annotated, cast

import typer

import demem_agent
from demem_agent.cli.commands import COMMANDS
from demem_agent.cli.examples import shown
from demem_agent.cli.faults import report
from demem_agent.cli.option_groups import spread_groups
from demem_agent.cli.printing import prepare, print_line
from demem_agent.cli.usage import usage_error

__all__ = ["app_of", "run"]

INTERRUPTED, PIPE_CLOSED = 130, 141  # as shells number what SIGINT and SIGPIPE end
_HOOK = "hook"

# Typer exports its usage errors only through their subclass; older versions take them from click.
_TyperUsageError = cast(type[Exception], typer.BadParameter.__base__)


def demem(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Agent memory in K bounded slots: remember, read, answer, learn from feedback, and see why.

    Every command has --json. A memory is named by --memory PATH or the environment variable
    DEMEM_MEMORY. Exit codes: 0 done, 1 a mistake of the caller, 2 a fault.
    """
    if version:
        print_line(f"demem {demem_agent.__version__}")
    elif context.invoked_subcommand is None:
        print_line(context.get_help())


def app_of(names: Iterable[str]) -> typer.Typer:
    """Return the program with these commands: another one costs the time to import it."""
    app = typer.Typer(
        name="demem",
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback(invoke_without_command=True)(demem)
    for name in names:
        app.command(name, epilog=shown(name))(spread_groups(COMMANDS[name]))
    return app


def run(arguments: Sequence[str]) -> int:
    """Run one command; an error is one line and an exit code, never a traceback unasked.

    A hook always ends well: an agent takes its exit code for what is to become of the prompt.
    """
    if arguments[:1] == [_HOOK]:
        _run([word for word in arguments if word != "--json"])
        return 0
    return _run(arguments)


def _run(arguments: Sequence[str]) -> int:
    prepare()
    called = [name for name in arguments[:1] if name in COMMANDS]
    try:
        code = app_of(called or COMMANDS)(
            args=list(arguments), prog_name="demem", standalone_mode=False
        )
        sys.stdout.flush()
    except (typer.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except (BrokenPipeError, SystemExit):
        # Typer and rich leave this way when a pipe is closed, and only then.
        _drop_what_is_buffered()
        return PIPE_CLOSED
    except _TyperUsageError as error:
        return report(usage_error(error, arguments), arguments)
    except Exception as error:
        # The outermost frame: a fault that was not foreseen is still one line and exit 2.
        return report(error, arguments)
    return code if isinstance(code, int) else 0


def _drop_what_is_buffered() -> None:
    """Send what is still buffered for stdout nowhere, as it has no reader."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
