"""Try an installed wheel with the checkout out of reach.

Run it from any other folder: ``python -I smoke_wheel.py``.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import numpy as np

import demem_agent
import demem_agent.encoders
from demem_agent import SlotMemory

TURNS = (
    ("Ada", "My sister Grace moved to Lisbon in May."),
    ("Bob", "The deploy key for staging is rotated every Friday."),
    ("Ada", "I am allergic to peanuts, so no satay for me."),
)
WANTED = (
    "py.typed",
    "prompts/README.md",
    "examples/demo.jsonl",
    "encoders/minilm256/NOTICE",
    "encoders/minilm256/config.json",
    "encoders/minilm256/model.safetensors",
    "encoders/minilm256/tokenizer.json",
    "server/page/NOTICE",
    "server/page/static/index.html",
    "server/page/static/main.js",
    "server/page/static/style.css",
    "server/page/static/vendor/preact.js",
    "server/page/static/views/ask.js",
)


def check_installed_outside_the_checkout() -> None:
    assert Path(demem_agent.__file__).is_relative_to(sys.prefix), demem_agent.__file__


def check_package_data() -> None:
    package = Path(str(files("demem_agent")))
    missing = [name for name in WANTED if not (package / name).is_file()]
    assert not missing, missing


def check_shipped_encoder_encodes() -> None:
    encoder = demem_agent.encoders.default_encoder()
    vectors = np.asarray(encoder.encode(["a cat", "a kitten", "the deploy key"]))
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert unit[0] @ unit[1] > unit[0] @ unit[2]


def check_memory_from_ingest_to_feedback() -> None:
    memory = SlotMemory(slots=3, slot_limit=400, read_limit=600)
    for speaker, text in TURNS:
        memory.ingest(text, speaker=speaker)
    reading = memory.read("Where does Grace live?")
    assert "Lisbon" in reading.text
    assert reading.size <= reading.limit == 600
    answer = memory.answer("Where does Grace live?")
    assert memory.feedback(answer, reward=1.0).reward == 1.0
    memory.check()


def check_adapters_import() -> None:
    import demem_adapters

    assert Path(demem_adapters.__file__).is_relative_to(sys.prefix)


def demem(*arguments: str) -> str:
    command = Path(sys.executable).with_name("demem")
    done = subprocess.run(
        [command, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def check_command_shows_help() -> None:
    assert "demo" in demem("--help")


def check_command_runs_the_demo() -> None:
    assert json.loads(demem("demo", "--json"))


CHECKS: tuple[Callable[[], None], ...] = (
    check_installed_outside_the_checkout,
    check_package_data,
    check_shipped_encoder_encodes,
    check_memory_from_ingest_to_feedback,
    check_adapters_import,
    check_command_shows_help,
    check_command_runs_the_demo,
)


def main() -> None:
    for check in CHECKS:
        print(check.__name__.replace("_", " "), flush=True)
        check()
    print(f"smoke: {len(CHECKS)} passed")


if __name__ == "__main__":
    main()
