"""What is missing says how it is installed, where it is first needed."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("missing", "script", "extra"),
    [
        ("uvicorn", "import demem_agent.server", "server"),
        ("msgspec", "import demem_agent.server", "server"),
        (
            "msgspec",
            "from demem_agent import SlotMemory; SlotMemory.open('http://localhost:1')",
            "client",
        ),
    ],
)
def test_the_command_that_installs_an_extra_is_said(missing: str, script: str, extra: str) -> None:
    code = f"import sys; sys.modules[{missing!r}] = None; {script}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert f"pip install 'demem-agent[{extra}]'" in done.stderr.splitlines()[-1]
    assert "MissingExtra" in done.stderr


def test_a_client_needs_no_server() -> None:
    code = "import sys; sys.modules['uvicorn'] = None; import demem_agent.client as client; "
    code += "client.RemoteMemory, client.AsyncRemoteMemory"
    subprocess.run([sys.executable, "-c", code], check=True)
