"""Measure how actions are chosen and make the blocks and the picture of docs/decide.md.

    python benchmarks/deciding_page.py --out DIR [--into docs/decide.md] [--seeds 20] [--reuse]

DIR gets the reports of ``deciding.py``, ``deciding_episodes.py`` and ``deciding_certificates.py``
as JSON, each with the commit that it was made from. Without --into the blocks are printed. --reuse
takes the reports that are in DIR already. Some three quarters of an hour; needs the extra `lab`.
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

#: The scripts behind the page, and what of it they make.
PARTS = {
    "deciding": "the first two tables",
    "deciding_episodes": "the one on reading back",
    "deciding_certificates": "the one on certificates",
}
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
    reports = {name: measured(given, name) for name in PARTS}
    ratios = reports["deciding"]["ratios"]
    draw_decisions(helped().decision_log(), PICTURE)
    made = {
        "made": stamp(given.out),
        "rivals": "\n".join(against_rivals(ratios)),
        "disturbed": "\n".join(disturbed(ratios)),
        "episodes": "\n".join(against_reading(reports["deciding_episodes"])),
        "certificates": "\n".join(certified(reports["deciding_certificates"])),
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


def measured(given: argparse.Namespace, name: str) -> Any:
    """Return the report of a script, made anew unless it is there and wanted."""
    path: Path = given.out / f"{name}.json"
    if not (given.reuse and path.is_file()):
        command = [sys.executable, str(ROOT / "benchmarks" / f"{name}.py"), "--json"]
        if name != "deciding_certificates":
            command += ["--seeds", str(given.seeds)]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
        path.write_text(done.stdout, encoding="utf-8")
        path.with_suffix(".commit").write_text(commit(), encoding="utf-8")
    return json.loads(path.read_text(encoding="utf-8"))


def stamp(out: Path) -> str:
    """Say from which commit each report was made."""
    told = []
    for name, part in PARTS.items():
        made_from = (out / f"{name}.commit").read_text(encoding="utf-8").strip()
        told.append(f"{part} from commit `{made_from}`")
    return f"Made by `python benchmarks/deciding_page.py`: {', '.join(told)}."


def helped() -> SlotMemory:
    """Return a memory in which a help desk has decided for a while."""
    luck = random.Random(0)
    right = worlds()
    tools = list(dict.fromkeys(RIGHT.values()))
    memory = SlotMemory(slots=SLOTS, decide=DecideSettings(noise=NOISE, steady=False), clock=None)
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


def against_reading(report: Report) -> Iterator[str]:
    """Yield the table of regrets against an agent that reads its episodes back."""
    yield from header("who chooses", ["regret", "to the better reader"])
    ratios = {one["what"]: one for one in report["ratios"]}
    for name, regrets in report["regrets"].items():
        ratio = numbers(ratios[name])[-1] if name in ratios else ""
        yield row(name, [f"{sum(regrets) / len(regrets):.0f}", ratio])


def certified(counts: Sequence[Report]) -> Iterator[str]:
    """Yield the table of certificates: wrong ones where all is alike, right ones elsewhere."""
    columns = ["memories", "with a certificate", "95 %", "certificates", "took the world to change"]
    yield from header("situations; rewards", columns)
    for one in counts:
        low, high = one["interval"]
        cells = [one["runs"], one["certified"], f"{low:.3f} to {high:.3f}"]
        cells += [one["certificates"], one["changed"]]
        yield row(f"{one['world']}; {one['rewards']}", list(map(str, cells)))


def own_names(ratios: Sequence[Report]) -> set[str]:
    """Return the names under which the learner itself goes."""
    return {one["what"] for one in ratios if "," not in one["what"]}


def numbers(one: Report) -> list[str]:
    """Return both regrets and their ratio with its interval."""
    ratio = f"{one['ratio']:.2f} [{one['low']:.2f}, {one['high']:.2f}]"
    return [f"{one['regret']:.0f}", f"{one['other']:.0f}", ratio]


if __name__ == "__main__":
    main()
