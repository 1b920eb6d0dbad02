"""Documents whose code is run: blocks of Python, and commands of a shell."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

__all__ = ["README", "ROOT", "Block", "Run", "blocks", "run_command", "run_python"]

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```\s*$", re.MULTILINE | re.DOTALL)
NOT_RUN = re.compile(r"# not run:(.*)")


#: What a page shows as the output of the block before it: lines indented by four.
OUTPUT = re.compile(r"\n*((?:    [^\n]*\n|\n(?=    ))+)")


@dataclass(frozen=True, slots=True)
class Block:
    """A block of code, and the output that the page shows for it, "" for none."""

    language: str
    text: str
    line: int
    shown: str = ""

    @property
    def skipped(self) -> str | None:
        """The reason given for not running it; empty when the reason was left out."""
        match = NOT_RUN.match(self.text)
        return match[1].strip() if match else None

    @property
    def commands(self) -> list[str]:
        return [run.command for run in self.runs]

    @property
    def runs(self) -> list[Run]:
        """The commands, each with the lines below it, which are what it prints."""
        found: list[Run] = []
        for line in self.text.replace("\\\n", " ").splitlines():
            if line.startswith("$ "):
                found.append(Run(line[2:], ""))
            elif found:
                found[-1] = Run(found[-1].command, f"{found[-1].shown}\n{line}".strip())
        return found


@dataclass(frozen=True, slots=True)
class Run:
    """A command, and what the page says that it prints, "" for nothing that is said."""

    command: str
    shown: str

    def prints(self, printed: str) -> bool:
        """Whether that is what it printed; "..." stands for whatever is there."""
        parts = map(re.escape, self.shown.split("..."))
        return not self.shown or bool(re.fullmatch(".*".join(parts), printed.strip(), re.DOTALL))


def blocks(markdown: str) -> list[Block]:
    return [_block(markdown, match) for match in FENCE.finditer(markdown)]


def _block(markdown: str, match: re.Match[str]) -> Block:
    line = markdown.count("\n", 0, match.start(2)) + 1
    shown = OUTPUT.match(markdown, match.end())
    output = dedent(shown[1]).strip() if shown else ""
    return Block(match[1].lower(), match[2], line, output)


def run_python(block: Block, namespace: dict[str, Any]) -> None:
    # Blank lines in front make a traceback show the line number in the README.
    exec(compile("\n" * (block.line - 1) + block.text, str(README), "exec"), namespace)


def run_command(command: str, folder: Path, tools: Path) -> str:
    """Run a command as a shell would; return what it printed."""
    environment = os.environ | {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    environment.pop("COLUMNS", None)  # as wide as into a pipe
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"$ {command}\n{done.stdout}{done.stderr}"
    return done.stdout
