"""Claude Code's hooks in two sessions, without it: python examples/coding_agent_hooks.py

``demem setup`` writes the hooks into a project; then they are run as the agent would run them, with
what it would tell them on stdin. Needs ``pip install 'demem-agent[cli]'``.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any


def hooks_of(project: Path) -> dict[str, str]:
    """Set a project up, and return the command of the hooks by their event."""
    setup = [sys.executable, "-m", "demem_agent.cli", "setup", "claude-code", "--no-server"]
    subprocess.run([*setup, "--project", str(project)], check=True, capture_output=True)
    settings = json.loads((project / ".claude" / "settings.local.json").read_text())
    return {event: groups[0]["hooks"][0]["command"] for event, groups in settings["hooks"].items()}


class Session:
    """A session of the agent, which writes down what is said and runs the hooks."""

    def __init__(self, project: Path, id: str) -> None:
        self.hooks = hooks_of(project)
        self.id = id
        self.transcript = project / f"{id}.jsonl"
        self.transcript.touch()

    def turn(self, prompt: str, answer: str) -> str:
        """Send a prompt and let it be answered; return what reached the model beside it."""
        self._write("user", prompt)
        recalled = self._run("UserPromptSubmit", prompt=prompt)
        self._run("Stop", last_assistant_message=answer)
        self._write("assistant", [{"type": "text", "text": answer}])
        return json.loads(recalled)["hookSpecificOutput"]["additionalContext"] if recalled else ""

    def _run(self, event: str, **told: Any) -> str:
        about = {"session_id": self.id, "transcript_path": str(self.transcript)}
        payload = json.dumps({"hook_event_name": event, **about, **told})
        command = shlex.split(self.hooks[event])
        done = subprocess.run(command, input=payload, check=True, capture_output=True, text=True)
        return done.stdout

    def _write(self, kind: str, content: Any) -> None:
        entry = {"type": kind, "uuid": f"{self.id}-{kind}", "message": {"content": content}}
        with self.transcript.open("a") as file:
            file.write(json.dumps(entry) + "\n")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        monday = Session(Path(folder), "monday")
        told = "The staging server listens on port 8081, behind the proxy."
        print("monday, before the model:", monday.turn(told, "Noted.") or "nothing")
        tuesday = Session(Path(folder), "tuesday")
        asked = "On which port does the staging server listen?"
        print("tuesday, before the model:", tuesday.turn(asked, "On 8081."))
