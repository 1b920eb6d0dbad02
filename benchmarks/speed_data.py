"""What speed is measured on: a conversation made up from a seed, or the turns of a LoCoMo file."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import accumulate, count, islice, product
from pathlib import Path

from demem_agent import Turn
from demem_agent.evaluate import Probe, load_locomo

__all__ = ["Data", "Invented", "Locomo"]

# The commonest words of English come first, as in any real text: by Zipf's law they are half of all
# words.
_COMMON = """
    the to and I a you it of that in was is for my on have me with so but at this be just we are
    not do what like about they all had when up out get as if one there really from went then time
    some them got would can go think know good back been will did an or after our how more who now
    too want see too by here new day
""".split()
_FRONT = """
    sun moon river stone wood fire rain snow wind water hill lake garden house street farm school
    book paper glass iron silver gold copper salt honey apple berry corn rice bread butter fish
    bird horse wolf bear fox bee star cloud storm field forest island harbour bridge tower market
    cotton wool thread needle drum string sail anchor wheel lamp candle clock letter picture
    kitchen winter summer
""".split()
_BACK = """
    light fall side works yard path way keeper maker house room shop boat bird flower tree fruit
    cake soup bowl board box bag basket table chair door gate wall roof field stone top land shore
    port master man child friend song dance play race show tale book note mark line wheel cloth
    coat hat ring chain bell pot pan jar
""".split()
_TIMES = (
    "yesterday",
    "last week",
    "on 3 May",
    "two days ago",
    "last Friday",
    "in 2019",
    "tomorrow",
    "this morning",
)
_SPEAKERS = ("Marta Lind", "Oren Vale")
_ASKED = (
    "What did {who} say about the {a} and the {b}?",
    "When did {who} first talk of the {a}?",
    "Where were the {a} and the {b} with the {c}?",
    "What happened to the {a} in {year}?",
    "Who told us that the {a} was near the {b}, and why?",
)


class Invented:
    """A conversation of two people drawn from a seed.

    It has sessions with topics, dates, and words by Zipf's law.
    """

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        rare = sorted({front + back for front, back in product(_FRONT, _BACK)})
        rng.shuffle(rare)
        self._seed = seed
        self._words = [*dict.fromkeys(_COMMON), *rare]
        self._rare = frozenset(rare)
        self._weights = list(accumulate(1 / rank for rank in range(1, len(self._words) + 1)))
        words = f"{len(self._words):,} words by Zipf's law, 8 to 30 a turn"
        self.name = f"invented conversation, seed {seed}, {words}"

    def turns(self) -> Iterator[Turn]:
        """Yield turns without an end, the same ones every time."""
        rng = random.Random(self._seed + 1)
        at = datetime(2020, 1, 1, 9)
        for session in count(1):
            at += timedelta(hours=rng.randint(6, 36))
            topic = [word for word in self._draw(rng, 60) if word in self._rare] or ["weather"]
            for n in range(rng.randint(10, 30)):
                yield Turn(
                    text=self._said(rng, topic),
                    speaker=_SPEAKERS[n % 2],
                    at=at + timedelta(minutes=n),
                    session=f"s{session}",
                    source="invented",
                    source_id=f"s{session}:{n}",
                )

    def probes(self) -> Iterator[Probe]:
        """Ask about every second turn; the reference is what it says in its last rare words."""
        rng = random.Random(self._seed + 2)
        for turn in islice(self.turns(), 0, None, 2):
            said = turn.text.lower().strip(".?").split()
            rare = [word for word in said if word in self._rare] or ["weather"]
            a, b, c = rng.choices(rare, k=3)
            who = (turn.speaker or "").split()[0]
            question = rng.choice(_ASKED).format(
                who=who, a=a, b=b, c=c, year=2020 + rng.randrange(4)
            )
            yield Probe(question, " ".join(rare[-2:]), (turn.source_id or "",))

    def _draw(self, rng: random.Random, n: int) -> list[str]:
        return rng.choices(self._words, cum_weights=self._weights, k=n)

    def _said(self, rng: random.Random, topic: Sequence[str]) -> str:
        words = []
        for word in self._draw(rng, rng.randint(8, 30)):
            on_topic = word in self._rare and rng.random() < 0.3
            words.append(rng.choice(topic) if on_topic else word)
        if rng.random() < 0.15:
            words.append(rng.choice(_TIMES))
        if len(words) > 15:
            words[9] = f"{words[9]}."
            words[10] = words[10].capitalize()
        said = " ".join(words)
        end = "?" if rng.random() < 0.2 else "."
        return said[0].upper() + said[1:] + end


class Locomo:
    """The turns and questions of a LoCoMo file, again and again where more are asked for."""

    def __init__(self, path: Path) -> None:
        self._dialogues = load_locomo(path)
        total = sum(len(dialogue.turns) for dialogue in self._dialogues)
        held = f"{len(self._dialogues)} dialogues with {total:,} turns"
        self.name = f"LoCoMo, {held}, repeated where more are needed"

    def turns(self) -> Iterator[Turn]:
        """Yield the turns of all dialogues, under other names each time round."""
        for again in count():
            for dialogue in self._dialogues:
                where = f"{again}.{dialogue.name}."
                for turn in dialogue.turns:
                    session = f"{where}{turn.session}"
                    source_id = f"{where}{turn.source_id}"
                    yield replace(turn, session=session, source_id=source_id)

    def probes(self) -> Iterator[Probe]:
        """Yield the questions that have an answer, again and again."""
        answered: list[Probe] = []
        for dialogue in self._dialogues:
            answered += [probe for probe in dialogue.probes if probe.reference.strip()]
        while True:
            yield from answered


Data = Invented | Locomo
