"""Plain files and grep, as an agent with a file system has them."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from demem_agent.text.language.words import content_terms

__all__ = ["Files"]


class Files:
    """A file of notes, one passage a line; a query greps for its words.

    The lines with the most different words of the query go first, of equals the later ones: who
    greps a log looks at its end. Words are those that say something ("the" and "did" do not), as
    stems, so that "hike" is found in "hiking".
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / "notes.txt"

    def add(self, passages: Sequence[str]) -> None:
        """Write passages into the file."""
        lines = (" ".join(passage.split()) + "\n" for passage in passages)
        self._file.write_text("".join(lines), encoding="utf-8")

    def find(self, query: str, most: int) -> list[int]:
        """Return the lines that grep finds."""
        found: defaultdict[int, set[str]] = defaultdict(set)
        words = [option for word in set(content_terms(query)) for option in ("-e", word)]
        if words:
            command = ["grep", "--only-matching", "--line-number", "--ignore-case"]
            for match in _output([*command, "--fixed-strings", *words, str(self._file)]):
                line, _, word = match.partition(":")
                found[int(line) - 1].add(word.lower())
        ranked = sorted(found, key=lambda number: (-len(found[number]), -number))
        return ranked[:most]


def _output(command: Sequence[str]) -> list[str]:
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False, encoding="utf-8")
    if done.returncode > 1:  # 1 says that nothing was found
        raise OSError(f"grep ended with status {done.returncode}")
    return done.stdout.splitlines()
