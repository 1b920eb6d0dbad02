"""Measure how actions are chosen and make the blocks and the picture of docs/decide.md.

    python benchmarks/deciding_page.py --out DIR [--into docs/decide.md] [--seeds 20] [--reuse]

DIR gets the report of ``deciding.py`` as JSON, with the commit that it was made from. Without
--into the blocks are printed. --reuse takes the report that is in DIR already. Some twenty minutes;
needs the extra `lab`.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluate_all import commit, header, replaced, row

from demem_agent import SlotMemory
from demem_agent.evaluate import draw_decisions
from demem_agent.settings import DecideSettings

Report = Mapping[str, Any]

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "drawings" / "decide.svg"

#: The little help desk of the picture: what comes up, and what mostly settles it.
RIGHT = {
    "Password reset for {}": "mail link",
    "Broken printer at {}": "on-site visit",
    "Locked badge of {}": "call security",
}
TEAMS = ("legal", "sales", "accounting", "research", "logistics", "reception")
#: What its description does not tell: here another tool works.
OTHERWISE = {
    "Password reset for legal": "on-site visit",
    "Locked badge of research": "mail link",
}
WORKS, FAILS, NOISE = 0.8, 0.2, 0.1
DECISIONS = 900
#: Profiles: one more than there are topics.
SLOTS = 4


def main() -> None:
    """Measure, draw, and print the blocks or write them into the page."""
    given = arguments()
    given.out.mkdir(parents=True, exist_ok=True)
    report = measured(given)
    draw_decisions(helped().decision_log(), PICTURE)
    made = {
        "made": stamp(given.out),
        "rivals": "\n".join(against_rivals(report["ratios"])),
        "disturbed": "\n".join(disturbed(report["ratios"])),
    }
    if given.into is None:
        print("\n\n".join(f"<!-- {name} -->\n{text}\n<!-- end -->" for name, text in made.items()))
        return
    page = given.into.read_text(encoding="utf-8")
    given.into.write_text(replaced(page, made), encoding="utf-8")


def arguments() -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--out", type=Path, required=True, help="where the report goes")
    parser.add_argument("--into", type=Path, help="the page to write the blocks into")
    parser.add_argument("--seeds", type=int, default=20, help="how many runs at each alpha")
    parser.add_argument("--reuse", action="store_true", help="take the report that is there")
    return parser.parse_args()


def measured(given: argparse.Namespace) -> Report:
    """Return the report, made anew unless it is there and wanted."""
    path: Path = given.out / "deciding.json"
    if not (given.reuse and path.is_file()):
        command = [sys.executable, str(ROOT / "benchmarks" / "deciding.py")]
        command += ["--seeds", str(given.seeds), "--json"]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
        path.write_text(done.stdout, encoding="utf-8")
        path.with_suffix(".commit").write_text(commit(), encoding="utf-8")
    read: Report = json.loads(path.read_text(encoding="utf-8"))
    return read


def stamp(out: Path) -> str:
    """Say from which commit the report was made."""
    made_from = (out / "deciding.commit").read_text(encoding="utf-8").strip()
    return f"Made by `python benchmarks/deciding_page.py` from commit `{made_from}`."


def helped() -> SlotMemory:
    """Return a memory in which a help desk has decided for a while."""
    luck = random.Random(0)
    right = worlds()
    tools = list(dict.fromkeys(RIGHT.values()))
    memory = SlotMemory(slots=SLOTS, decide=DecideSettings(noise=NOISE, steady=False))
    for _ in range(DECISIONS):
        situation = luck.choice(list(right))
        made = memory.decide(situation, tools)
        worth = WORKS if made.action == right[situation] else FAILS
        memory.feedback(made, reward=min(max(luck.gauss(worth, NOISE), 0.0), 1.0))
    return memory


def worlds() -> dict[str, str]:
    """Return what mostly settles each situation."""
    right = {}
    for team in TEAMS:
        for words, tool in RIGHT.items():
            right[words.format(team)] = tool
    return right | OTHERWISE


def against_rivals(ratios: Sequence[Report]) -> Iterator[str]:
    """Yield the table of regrets against the oracle and the best rival."""
    yield from header("misdescribed", ["learner", "against", "regret", "its", "ratio"])
    for one in ratios:
        if one["against"] not in own_names(ratios) and "," not in one["what"]:
            yield row(f"{one['alpha']:.0%}", [one["what"], one["against"], *numbers(one)])


def disturbed(ratios: Sequence[Report]) -> Iterator[str]:
    """Yield the table of regrets against the same learner, undisturbed."""
    yield from header("what happens", ["learner", "regret", "undisturbed", "ratio"])
    for one in ratios:
        if "," in one["what"]:
            learner, what = one["what"].split(", ", 1)
            yield row(what, [learner, *numbers(one)])


def own_names(ratios: Sequence[Report]) -> set[str]:
    """Return the names under which the learner itself goes."""
    return {one["what"] for one in ratios if "," not in one["what"]}


def numbers(one: Report) -> list[str]:
    """Return both regrets and their ratio with its interval."""
    ratio = f"{one['ratio']:.2f} [{one['low']:.2f}, {one['high']:.2f}]"
    return [f"{one['regret']:.0f}", f"{one['other']:.0f}", ratio]


if __name__ == "__main__":
    main()
