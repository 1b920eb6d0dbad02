"""Fit what a newer line does to an older one, and which time a question asks for.

    pip install demem-agent torch==2.13.0
    python benchmarks/fit_changes.py [--judge] [--out FOLDER]

It is fitted on what was written for it (``benchmarks/written``) and on nothing else, so that the
figures of ``benchmarks/changes.py`` are of data that it has not seen. Each pair is taken with its
question and without any. Beside the pairs stand, as pairs of which nothing replaces anything, old
lines and news of other things; and the best lines for the questions of written conversations, of
which an outdated one and the one that holds are a replacement.

Without ``--judge`` the weights are written; with it, they are judged by five folds of kinds of
facts and of conversations, which takes half an hour: how well "replaces" is told from all
else, and from which probability on 97 of 100 marks are right.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from demem_agent import SlotMemory
from demem_agent.changes.network import VERDICTS, Network
from demem_agent.changes.pairs import NUMBERS, SUMS, compare
from demem_agent.scoring.time_asked import TIMES, sum_of_words
from demem_agent.scoring.wording import WIDTH

Floats = NDArray[np.float32]
Rows = list[dict[str, Any]]
#: What a network is to be fitted by, on some of the pairs.
Loss = Callable[["Net", torch.Tensor], torch.Tensor]

HERE = Path(__file__).resolve().parent
WRITTEN = HERE / "written"
PACKAGE = HERE.parent / "demem_agent"
REPLACES, UNRELATED = VERDICTS.index("replaces"), VERDICTS.index("unrelated")
#: Lines of a reading that are compared with each other.
BEST = 12
#: How many pairs of nothing are drawn from conversations and from other rows, with a question and
#: without; and what pairs without a question and replacements in conversations count.
DRAWN, CROSSED, CROSSED_UNASKED = 4000, 6000, 2000
UNASKED_WEIGHT, REPLACED_WEIGHT = 0.4, 6.0
#: Networks whose mean is taken, and how each is fitted; and the one that is fitted to them.
TEACHERS, HIDDEN, PROJECTED = 8, 128, 16
EPOCHS, BATCH, RATE, DECAY, DROPOUT = 12, 64, 3e-3, 0.2, 0.3
EPOCHS_DISTILLED, DECAY_DISTILLED, CROSSED_DISTILLED = 40, 0.02, 6000
#: What sums are multiplied by, so that a projection need not be large.
SCALE = 3.0
#: Probability from which on a question counts as one of before, and what a question that nobody
#: labelled counts as an open one.
LEAST_BEFORE, UNLABELLED_WEIGHT = 0.4, 0.3


@dataclass(frozen=True, slots=True)
class Sample:
    """Pairs as the network sees them, what each is, what it counts, and of which group it is."""

    numbers: Floats
    sums: Floats
    verdict: NDArray[np.int64]
    weight: Floats
    group: list[str]

    @classmethod
    def of(cls, rows: Rows, weight: float = 1.0, *, asked: bool = True) -> Sample:
        """Compare rows with ``old``, ``new``, ``question``, ``verdict`` and ``group``."""
        identity = np.stack([np.eye(WIDTH, dtype=np.float32)] * len(SUMS))
        numbers, sums = [], []
        for row in rows:
            pair = compare([row["old"], row["new"]], [(0, 1)], row["question"] if asked else "")
            numbers.append(pair.numbers[0])
            sums.append(pair.sums(identity)[0])
        verdicts = [VERDICTS.index(row["verdict"]) for row in rows]
        weights = [weight * row.get("weight", 1.0) for row in rows]
        return cls(
            np.array(numbers, np.float32),
            np.array(sums, np.float32),
            np.array(verdicts, np.int64),
            np.array(weights, np.float32),
            [row["group"] for row in rows],
        )

    @classmethod
    def joined(cls, samples: Sequence[Sample]) -> Sample:
        """Put samples behind each other."""
        arrays = ("numbers", "sums", "verdict", "weight")
        found = [np.concatenate([getattr(one, name) for one in samples]) for name in arrays]
        return cls(*found, [group for one in samples for group in one.group])

    def where(self, chosen: NDArray[np.bool_]) -> Sample:
        """Leave the pairs that are not marked out."""
        groups = [group for group, is_in in zip(self.group, chosen, strict=True) if is_in]
        rest = (self.numbers, self.sums, self.verdict, self.weight)
        return Sample(*(one[chosen] for one in rest), groups)


def read_rows(path: Path) -> Rows:
    """Return the rows of a file in JSON Lines."""
    lines = path.read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def written_pairs() -> Rows:
    """Return the pairs that were written, each of the group of its kind of fact."""
    rows: Rows = []
    for path in sorted((WRITTEN / "changes").glob("*.jsonl")):
        for row in read_rows(path):
            verdict = {"unrelated-but-similar": "unrelated", "reports-past": "past"}
            kind = verdict.get(row["verdict"], row["verdict"])
            rows.append({**row, "verdict": kind, "group": row["kind"]})
    return rows


def crossed(rows: Rows, count: int, draw: random.Random) -> Iterator[dict[str, Any]]:
    """Yield old lines, each with news of another thing in its language; of some pairs neither is
    what the question is about.
    """
    news: dict[str, Rows] = {}
    for row in rows:
        if row["verdict"] in ("replaces", "adds", "refines"):
            news.setdefault(row["language"], []).append(row)
    for _ in range(count):
        row = draw.choice(rows)
        other = draw.choice(news[row["language"]])
        if row["kind"] != other["kind"] and row["old"] != other["old"]:
            question = draw.choice((row, row, draw.choice(rows)))["question"]
            yield {**row, "new": other["new"], "question": question, "verdict": "unrelated"}


def in_chats(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield pairs of the best lines for the questions of conversations, of one user each."""
    for path in sorted(folder.glob("*_questions.jsonl")):
        name = path.name.removesuffix("_questions.jsonl")
        memory = SlotMemory(clock=None, stale="show")
        memory.ingest_many(read_rows(folder / f"{name}.jsonl"))
        for asked in read_rows(path):
            reading = memory.read(asked["question"], at=asked["at"])
            best = sorted(reading.lines, key=lambda line: -line.score)[:BEST]
            yield from _pairs_of(name, asked, best)


def _pairs_of(name: str, asked: dict[str, Any], lines: Iterable[Any]) -> Iterator[dict[str, Any]]:
    own = [line for line in lines if line.evidence.speaker == "user"]
    for old in own:
        for new in own:
            if not old.evidence.at < new.evidence.at:
                continue
            is_stale = old.evidence.source_id in asked["stale"]
            holds = new.evidence.source_id in asked["evidence"]
            row = {"old": old.text, "new": new.text, "question": asked["question"], "group": name}
            if not (is_stale and holds):
                yield {**row, "verdict": "unrelated"}
            elif old.text == old.evidence.text and new.text == new.evidence.text:
                # which passages of longer turns replace each other is not known
                yield {**row, "verdict": "replaces", "weight": REPLACED_WEIGHT}


def sample_of(pairs: Rows, chats: Rows, seed: int = 0) -> Sample:
    """Return all that is fitted on."""
    draw = random.Random(seed)
    replaced = [row for row in chats if row["verdict"] == "replaces"]
    others = [row for row in chats if row["verdict"] != "replaces"]
    drawn = draw.sample(others, min(DRAWN, len(others)))
    unasked = draw.sample(drawn, len(drawn) // 3)
    return Sample.joined(
        [
            Sample.of(pairs),
            Sample.of(pairs, UNASKED_WEIGHT, asked=False),
            Sample.of(replaced + drawn),
            Sample.of(replaced + unasked, UNASKED_WEIGHT, asked=False),
            Sample.of(list(crossed(pairs, CROSSED, draw))),
            Sample.of(list(crossed(pairs, CROSSED_UNASKED, draw)), UNASKED_WEIGHT, asked=False),
        ]
    )


class Net(torch.nn.Module):
    """The network of ``demem_agent/changes/network.py``, to be fitted."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        projects = (torch.nn.Linear(WIDTH, PROJECTED, bias=False) for _ in SUMS)
        self.project = torch.nn.ModuleList(projects)
        self.hidden = torch.nn.Linear(len(NUMBERS) + len(SUMS) * PROJECTED, HIDDEN)
        self.outer = torch.nn.Linear(HIDDEN, len(VERDICTS))
        self.drop = torch.nn.Dropout(dropout)

    def begin(self) -> None:
        """Draw all weights anew."""
        for module in (*self.project, self.hidden, self.outer):
            module.reset_parameters()

    def forward(self, numbers: torch.Tensor, sums: torch.Tensor) -> torch.Tensor:
        """Return the scores of the verdicts, shape (pairs, len(VERDICTS))."""
        projected = [torch.tanh(one(sums[:, n])) for n, one in enumerate(self.project)]
        seen = self.drop(torch.cat([numbers, *projected], 1))
        scores: torch.Tensor = self.outer(self.drop(torch.relu(self.hidden(seen))))
        return scores


def fitted(pairs: Rows, chats: Rows) -> Network:
    """Fit the network to pairs that were written and pairs of conversations."""
    draw = random.Random(1)
    more = [*chats, *crossed(pairs, CROSSED_DISTILLED, draw)]
    return fit(sample_of(pairs, chats), Sample.of(more))


def fit(sample: Sample, more: Sample) -> Network:
    """Fit several networks, and one that gives what these give in the mean.

    Args:
        more: pairs beside, of which it does not matter what they are.
    """
    mean, scale = sample.numbers.mean(0), sample.numbers.std(0) + 1e-6
    numbers, sums = _inputs(sample, mean, scale)
    verdict, weight = torch.tensor(sample.verdict), torch.tensor(sample.weight)
    teachers = [_taught(numbers, sums, verdict, weight, seed) for seed in range(TEACHERS)]
    inputs = [
        torch.cat(both) for both in zip((numbers, sums), _inputs(more, mean, scale), strict=True)
    ]
    with torch.no_grad():
        each = [torch.softmax(net(*inputs), 1) for net in teachers]
    net = _distilled(*inputs, torch.stack(each).mean(0))
    hidden, outer = net.hidden, net.outer
    return Network(
        mean=mean,
        scale=scale,
        projections=np.stack([SCALE * _array(one.weight).T for one in net.project]),
        hidden=_array(hidden.weight).T,
        offset=_array(hidden.bias),
        outer=_array(outer.weight).T,
        bias=_array(outer.bias),
    )


def _inputs(sample: Sample, mean: Floats, scale: Floats) -> tuple[torch.Tensor, torch.Tensor]:
    numbers = torch.tensor((sample.numbers - mean) / scale)
    return numbers, torch.tensor(SCALE * sample.sums)


def _array(weights: torch.Tensor) -> Floats:
    return np.ascontiguousarray(weights.detach().numpy())


def _taught(
    numbers: torch.Tensor,
    sums: torch.Tensor,
    verdict: torch.Tensor,
    weight: torch.Tensor,
    seed: int,
) -> Net:
    """Fit a network to verdicts."""

    def loss(net: Net, chosen: torch.Tensor) -> torch.Tensor:
        scores = net(numbers[chosen], sums[chosen])
        each = torch.nn.functional.cross_entropy(scores, verdict[chosen], reduction="none")
        return (each * weight[chosen]).mean()

    return _fitted(Net(DROPOUT), loss, len(verdict), EPOCHS, DECAY, seed)


def _distilled(numbers: torch.Tensor, sums: torch.Tensor, probable: torch.Tensor) -> Net:
    """Fit a network to probabilities (Hinton, Vinyals and Dean, 2015)."""

    def loss(net: Net, chosen: torch.Tensor) -> torch.Tensor:
        scores = torch.log_softmax(net(numbers[chosen], sums[chosen]), 1)
        return torch.nn.functional.kl_div(scores, probable[chosen], reduction="batchmean")

    return _fitted(Net(0.0), loss, len(probable), EPOCHS_DISTILLED, DECAY_DISTILLED, 0)


def _fitted(net: Net, loss: Loss, count: int, epochs: int, decay: float, seed: int) -> Net:
    torch.manual_seed(seed)
    net.begin()
    steps = torch.optim.AdamW(net.parameters(), lr=RATE, weight_decay=decay)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(steps, epochs)
    for _ in range(epochs):
        for chosen in torch.randperm(count).split(BATCH):
            steps.zero_grad()
            loss(net, chosen).backward()
            steps.step()
        schedule.step()
    return net.eval()


@dataclass(frozen=True, slots=True)
class Compared:
    """Pairs of a sample, as a network takes them."""

    numbers: Floats
    plain: Floats

    def sums(self, projections: Floats) -> Floats:
        """Return the sums, projected."""
        found: Floats = np.einsum("psd,sdk->psk", self.plain, projections)
        return found


def verdicts(network: Network, sample: Sample) -> Floats:
    """Return how probable each verdict is for the pairs of a sample."""
    return network.verdicts(Compared(sample.numbers, sample.sums))  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Told:
    """How probably pairs that were left out are replacements.

    Attributes:
        asked, unasked: with their question and with none, shape (P,).
        align: whether the words of both lines align; shape (P,).
        right: whether they are, shape (P,).
    """

    asked: Floats
    unasked: Floats
    align: NDArray[np.bool_]
    right: NDArray[np.bool_]

    @classmethod
    def by(cls, network: Network, rows: Rows) -> Told:
        """Have a network tell pairs."""
        asked, unasked = Sample.of(rows), Sample.of(rows, asked=False)
        return cls(
            verdicts(network, asked)[:, REPLACES],
            verdicts(network, unasked)[:, REPLACES],
            unasked.numbers[:, NUMBERS.index("share in one order")] > 0,
            asked.verdict == REPLACES,
        )

    @classmethod
    def joined(cls, parts: Sequence[Told]) -> Told:
        """Put parts behind each other."""
        names = ("asked", "unasked", "align", "right")
        return cls(*(np.concatenate([getattr(one, name) for one in parts]) for name in names))


def judge(pairs: Rows, chats: Rows, folds: int = 5) -> None:
    """Print how well pairs are told whose kinds of facts, and conversations, were left out."""
    groups = sorted({row["group"] for row in (*pairs, *chats)})
    random.Random(0).shuffle(groups)
    fold_of = {group: n % folds for n, group in enumerate(groups)}
    written: list[Told] = []
    spoken: list[Told] = []
    for fold in range(folds):
        kept, left_out = parted(pairs, fold_of, fold)
        chats_kept, chats_left_out = parted(chats, fold_of, fold)
        network = fitted(kept, chats_kept)
        written.append(Told.by(network, left_out))
        spoken.append(Told.by(network, chats_left_out))
        print(f"fold {fold + 1} of {folds}", file=sys.stderr)
    show(Told.joined(written), "pairs that were written")
    show(Told.joined(spoken), "pairs of lines of conversations")


def parted(rows: Rows, fold_of: dict[str, int], fold: int) -> tuple[Rows, Rows]:
    """Return the rows of other folds, and those of this one."""
    is_left_out = [fold_of[row["group"]] == fold for row in rows]
    kept = [row for row, out in zip(rows, is_left_out, strict=True) if not out]
    return kept, [row for row, out in zip(rows, is_left_out, strict=True) if out]


def show(told: Told, title: str) -> None:
    """Print the areas under the curves, and what is marked from some probabilities on."""
    ones = int(told.right.sum())
    areas = [f"{area_under_curve(one, told.right):.3f}" for one in (told.asked, told.unasked)]
    print(f"{title}: {len(told.right)}, of which {ones} replace")
    print(f"  area under the curve, asked and not asked: {', '.join(areas)}")
    for least in (0.7, 0.75, 0.8, 0.84, 0.85, 0.86, 0.87, 0.88, 0.89, 0.9, 0.92, 0.95):
        marked = told.align & (told.unasked >= least)
        counts = f"{(marked & told.right).sum()} of {marked.sum()} marks right"
        print(f"  marked from {least:.2f} on: {counts}")


def area_under_curve(probable: Floats, right: NDArray[np.bool_]) -> float:
    """Return how probably a right pair has the higher probability than a wrong one."""
    places = probable.argsort().argsort()
    ones = int(right.sum())
    area = (places[right].sum() - ones * (ones - 1) / 2) / (ones * (len(right) - ones))
    return float(area)


def fit_times(pairs: Rows) -> dict[str, Any]:
    """Fit which time a question asks for: before, now, or neither."""
    rows = read_rows(WRITTEN / "asked.jsonl")
    texts = [row["question"] for row in rows]
    asks = [TIMES.index("before" if row["asks"] == "former" else row["asks"]) for row in rows]
    weights = [1.0] * len(rows)
    for path in sorted((WRITTEN / "chats").glob("*_questions.jsonl")):
        for row in read_rows(path):
            texts.append(row["question"])
            asks.append(TIMES.index("before" if row["category"] == "past-value" else "open"))
            weights.append(1.0)
    others = sorted({row["question"] for row in pairs})
    texts += others
    asks += [TIMES.index("open")] * len(others)
    weights += [UNLABELLED_WEIGHT] * len(others)
    inputs = torch.tensor(np.stack([sum_of_words(text) for text in texts]), dtype=torch.float32)
    model = torch.nn.Linear(WIDTH, len(TIMES))
    torch.nn.init.zeros_(model.weight)
    steps = torch.optim.LBFGS(model.parameters(), max_iter=300)

    def closure() -> torch.Tensor:
        steps.zero_grad()
        each = torch.nn.functional.cross_entropy(
            model(inputs), torch.tensor(asks), reduction="none"
        )
        loss = (each * torch.tensor(weights)).sum() + 0.1 * model.weight.square().sum()
        loss.backward()
        return loss

    steps.step(closure)
    weight = np.round(model.weight.detach().numpy().astype(float), 3)
    bias = np.round(model.bias.detach().numpy().astype(float), 3)
    return {"weights": weight.tolist(), "bias": bias.tolist(), "least": LEAST_BEFORE}


def main() -> None:
    """Fit and write the weights, or judge them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--judge", action="store_true", help="judge by folds; write nothing")
    parser.add_argument("--out", type=Path, default=PACKAGE, help="folder of the package")
    given = parser.parse_args()
    torch.set_num_threads(1)
    pairs = written_pairs()
    chats = list(in_chats(WRITTEN / "chats"))
    print(f"{len(pairs)} pairs, {len(chats)} of conversations")
    if given.judge:
        judge(pairs, chats)
        return
    network = fitted(pairs, chats)
    arrays = {name: getattr(network, name) for name in Network.__slots__}
    np.savez_compressed(given.out / "changes" / "network.npz", **arrays)
    times = given.out / "scoring" / "time_asked.json"
    times.write_text(json.dumps(fit_times(pairs)), "utf-8")


if __name__ == "__main__":
    main()
