"""Fit the network that tells what a message asks for: ``demem_agent/scoring/asked.npz``.

    pip install torch demem-agent
    python benchmarks/fit_asked.py [--judge]

Everything it is fitted to lies in ``written`` and was written for this, by hand, in thirteen
languages: ``whose_words.jsonl`` (1,400 questions: does what the assistant said answer them, or what
the user told?), ``asked.jsonl`` (600 questions about the user), ``messages.jsonl`` (1,400 messages
with what was said right before: is something remembered needed to answer?), and the questions and
messages of ``chats`` and ``bilingual``. Three networks are fitted and put side by side as one,
which answers with their mean. Three minutes of one core.

``--judge`` tells how well messages are told of which no fit saw: five folds of messages, a
conversation being in one fold as a whole. AUC, and at the threshold .5 the share of each kind that
is told as such. It writes nothing.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from chats import read_rows
from numpy.typing import NDArray

from demem_agent.evaluate.ranks import area
from demem_agent.scoring.asked import ASKED, BUCKETS, INPUTS, Network, inputs_of, pairs_of
from demem_agent.scoring.wording import WIDTH

WRITTEN = Path(__file__).resolve().parent / "written"
SHIPPED = Path(__file__).resolve().parents[1] / "demem_agent" / "scoring" / "asked.npz"
NETWORKS = 3
FILTERS = 24
EPOCHS, BATCH = 35, 64
RATE, DECAY = 3e-3, 0.1
#: Weights of pairs are many and seldom met.
RATE_OF_PAIRS, DECAY_OF_PAIRS, LEFT_OUT = 0.03, 0.02, 0.3
#: What a message that asks for it counts, for each of ``ASKED``: few ask for a reply.
COUNTS = (2.0, 1.0)
FOLDS = 5
#: Of a message of which it is not known.
UNKNOWN = -1

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Message:
    """A message, and what it asks for.

    Attributes:
        answers: 1 or 0 for each of ``ASKED``, or UNKNOWN.
        group: messages of one are in one fold.
    """

    text: str
    answers: tuple[int, int]
    group: str
    source: str
    inputs: Floats
    pairs: NDArray[np.int64]


def message(text: str, of_reply: int, of_memory: int, group: str, source: str) -> Message:
    """Return a message as the network takes it."""
    pairs = np.array(pairs_of(text), np.int64)
    return Message(text, (of_reply, of_memory), group, source, inputs_of(text), pairs)


def written() -> Iterator[Message]:
    """Yield all that the network is fitted to."""
    for row in read_rows(WRITTEN / "whose_words.jsonl"):
        text = row["question"]
        yield message(text, int(row["asks"] == "assistant"), 1, text, "whose words")
    for row in read_rows(WRITTEN / "asked.jsonl"):
        yield message(row["question"], 0, 1, row["question"], "facts of the user")
    for row in read_rows(WRITTEN / "messages.jsonl"):
        yield message(row["text"], UNKNOWN, int(row["needs_memory"]), row["text"], "messages")
    for path in sorted(WRITTEN.glob("*/*_questions.jsonl")):
        name = path.name.replace("_questions.jsonl", "")
        for row in read_rows(path):
            of_reply = int(row["category"] == "assistant-said") if row["evidence"] else UNKNOWN
            yield message(row["question"], of_reply, 1, name, "questions of chats")
        for row in read_rows(path.with_name(f"{name}_messages.jsonl")):
            yield message(row["text"], UNKNOWN, int(row["needs_memory"]), name, "messages of chats")


class Net(torch.nn.Module):
    """The network of ``scoring/asked.py``, for many messages at once."""

    def __init__(self) -> None:
        super().__init__()
        self.filters = torch.nn.Conv1d(INPUTS, FILTERS, 3)
        self.pooled = torch.nn.Linear(2 * FILTERS, len(ASKED))
        self.words = torch.nn.Linear(WIDTH, len(ASKED), bias=False)
        self.pairs = torch.nn.EmbeddingBag(BUCKETS, len(ASKED), mode="sum")
        torch.nn.init.zeros_(self.pairs.weight)
        self.on_words, self.on_answers = torch.nn.Dropout(0.2), torch.nn.Dropout(0.4)

    def forward(self, batch: Sequence[Message]) -> torch.Tensor:
        longest = max(max(len(one.inputs) for one in batch), 1)
        around = torch.zeros(len(batch), longest + 2, INPUTS)
        inside = torch.zeros(len(batch), longest, 1)
        for n, one in enumerate(batch):
            around[n, 1 : 1 + len(one.inputs)] = torch.tensor(one.inputs)
            inside[n, : max(len(one.inputs), 1)] = 1
        root = inside.sum(1).sqrt()
        around = self.on_words(around)
        answers = torch.relu(self.filters(around.transpose(1, 2))).transpose(1, 2) * inside
        seen = self.on_answers(torch.cat([answers.amax(1), answers.sum(1) / root], 1))
        words = self.words(around[:, :, :WIDTH].sum(1) / root)
        out: torch.Tensor = self.pooled(seen) + words + self._of_pairs(batch)
        return out

    def _of_pairs(self, batch: Sequence[Message]) -> torch.Tensor:
        kept = [self._kept(torch.tensor(one.pairs)) for one in batch]
        count = torch.tensor([len(one) for one in kept])
        starts = torch.cumsum(count, 0) - count
        out: torch.Tensor = self.pairs(torch.cat(kept), starts) / count.sqrt()[:, None]
        return out

    def _kept(self, pairs: torch.Tensor) -> torch.Tensor:
        """Leave some out while it is fitted, at least one being left."""
        if not self.training:
            return pairs
        chosen = torch.rand(len(pairs)) >= LEFT_OUT
        chosen[0] = True
        return pairs[chosen]


def fitted(messages: Sequence[Message]) -> Network:
    """Return one network that answers as the mean of several that were fitted."""
    return side_by_side([_fitted(messages, seed) for seed in range(NETWORKS)])


def _fitted(messages: Sequence[Message], seed: int) -> Net:
    torch.manual_seed(seed)
    net = Net()
    pairs = [net.pairs.weight]
    others = [value for name, value in net.named_parameters() if name != "pairs.weight"]
    steps = torch.optim.AdamW(
        [
            {"params": others},
            {"params": pairs, "lr": RATE_OF_PAIRS, "weight_decay": DECAY_OF_PAIRS},
        ],
        lr=RATE,
        weight_decay=DECAY,
    )
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(steps, EPOCHS)
    for _ in range(EPOCHS):
        for chosen in torch.randperm(len(messages)).split(BATCH):
            batch = [messages[n] for n in chosen.tolist()]
            steps.zero_grad()
            _loss(net(batch), torch.tensor([one.answers for one in batch])).backward()
            steps.step()
        schedule.step()
    return net.eval()


def _loss(odds: torch.Tensor, answers: torch.Tensor) -> torch.Tensor:
    known = answers != UNKNOWN
    each = torch.nn.functional.binary_cross_entropy_with_logits(
        odds, answers.clamp(min=0).float(), reduction="none", pos_weight=torch.tensor(COUNTS)
    )
    return (each * known).sum() / len(odds)


def side_by_side(nets: Sequence[Net]) -> Network:
    """Put networks into one whose answer is the mean of theirs."""
    half = [torch.tensor_split(net.pooled.weight.T, 2) for net in nets]
    pooled = torch.cat([one for part in zip(*half, strict=True) for one in part]) / len(nets)
    filters = torch.cat([net.filters.weight for net in nets])

    def mean(name: str) -> Floats:
        parts = [net.get_parameter(name) for net in nets]
        return _array(torch.stack(parts).mean(0))

    return Network(
        filters=_array(filters.permute(2, 1, 0)),
        offset=_array(torch.cat([net.filters.bias for net in nets])),
        pooled=_array(pooled),
        words=np.ascontiguousarray(mean("words.weight").T),
        pairs=mean("pairs.weight"),
        bias=mean("pooled.bias"),
    )


def _array(values: torch.Tensor) -> Floats:
    """Return values as they are stored, with half the digits."""
    return np.ascontiguousarray(values.detach().numpy().astype(np.float16).astype(np.float32))


def fold_of(group: str) -> int:
    """Return the fold of a group of messages."""
    return int(hashlib.md5(group.encode()).hexdigest(), 16) % FOLDS


def apart(messages: Sequence[Message]) -> Floats:
    """Return the log-odds of messages by networks that did not see their fold."""
    found = np.zeros((len(messages), len(ASKED)), np.float32)
    folds = np.array([fold_of(one.group) for one in messages])
    for fold in range(FOLDS):
        network = fitted([messages[n] for n in np.flatnonzero(folds != fold)])
        for n in np.flatnonzero(folds == fold).tolist():
            found[n] = network.log_odds(messages[n].text)
    return found


def judge(messages: Sequence[Message]) -> None:
    """Print how well messages are told by networks that did not see them."""
    told = apart(messages)
    answers = np.array([one.answers for one in messages])
    sources = np.array([one.source for one in messages])
    for n, name in enumerate(ASKED):
        for source in dict.fromkeys(sources.tolist()):
            yes = told[(sources == source) & (answers[:, n] == 1), n]
            no = told[(sources == source) & (answers[:, n] == 0), n]
            if len(yes) and len(no):
                print(
                    f"{name}, {source}: AUC {area(yes, no):.3f} ({len(yes)} and {len(no)}), told"
                    f" as such {(yes > 0).mean():.2f} and {(no > 0).mean():.2f}"
                )


def main() -> None:
    """Fit and write the network, or judge it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--judge", action="store_true", help="judge by folds; write nothing")
    parser.add_argument("--out", type=Path, default=SHIPPED, help="where to write it")
    given = parser.parse_args()
    torch.set_num_threads(1)
    messages = list(written())
    print(f"{len(messages)} messages")
    if given.judge:
        judge(messages)
        return
    network = fitted(messages)
    arrays = {name: getattr(network, name).astype(np.float16) for name in Network.__slots__}
    np.savez_compressed(given.out, **arrays)


if __name__ == "__main__":
    main()
