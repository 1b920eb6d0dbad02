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


@pytest.mark.parametrize(
    ("missing", "option", "extra"),
    [("httpx2", "--proxy http://localhost:1", "server"), ("mcp", "--mcp", "mcp")],
)
def test_a_guest_that_is_not_installed_is_said_to_be(missing: str, option: str, extra: str) -> None:
    argv = f"import sys; sys.modules[{missing!r}] = None; sys.argv = 'demem serve {option}'.split()"
    code = f"{argv}; from demem_agent.cli import main; sys.exit(main())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert f"pip install 'demem-agent[{extra}]'" in done.stderr
    assert done.returncode != 0
