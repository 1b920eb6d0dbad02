"""What lies in ``deploy`` fits the server: series that are drawn, options that are given."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from served import MEMORY, calling
from typer.testing import CliRunner

from demem_agent.cli.app import app_of

DEPLOY = Path(__file__).parents[2] / "deploy"
SERIES = re.compile(r"\b(?:demem|process)_[a-z_]+")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")


def test_every_series_that_the_board_draws_is_counted() -> None:
    with calling() as ask:
        ask("POST", f"{MEMORY}/read", {"query": ""})
        counted = set(SERIES.findall(ask("GET", "/metrics").body.decode()))
    board = json.loads((DEPLOY / "grafana.json").read_text())
    drawn = {
        name
        for panel in board["panels"]
        for target in panel["targets"]
        for name in SERIES.findall(target["expr"])
    }
    assert len(drawn) > 8
    assert drawn <= counted


@pytest.mark.parametrize("file", ["Dockerfile", "compose.yaml", "demem.service"])
def test_every_option_that_is_given_to_serve_is_one(file: str) -> None:
    known = set(OPTION.findall(CliRunner().invoke(app_of(["serve"]), ["serve", "--help"]).output))
    lines = (DEPLOY / file).read_text().splitlines()
    served = [
        line for line in lines if re.match(r"\s*(CMD \[|command:|ExecStart=).*\bserve\b", line)
    ]
    given = {option for line in served for option in OPTION.findall(line)}
    assert served
    assert given <= known
