"""A comparison with rivals as a command: with a model for those that need one, or without."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from rich.console import RenderableType

from demem_agent.cli.faults import UsageError
from demem_agent.cli.json_values import Json
from demem_agent.cli.measuring.announcing import limits_words, spent_words, start, used_value
from demem_agent.cli.measuring.benchmarks import Benchmark, loaded
from demem_agent.cli.measuring.comparing import Chosen, Compared, compared, rivals_named
from demem_agent.cli.measuring.protocol_options import ProtocolOptions, require_no_model_options
from demem_agent.cli.measuring.trial import Trial
from demem_agent.cli.measuring.written import note_files, written
from demem_agent.cli.model_options import ModelOptions
from demem_agent.cli.output import Output
from demem_agent.cli.tables.cells import cell
from demem_agent.cli.tables.comparison import comparison_parts
from demem_agent.evaluate import Dialogue, save
from demem_agent.evaluate.rankings import Held
from demem_agent.evaluate.rivals import Asking, missing
from demem_agent.llms import ChatModel, Recorded
from demem_agent.text.units import measure

__all__ = ["CALLS", "Comparison"]

#: The file of a folder in which every call of a model is kept; none of them is made again.
CALLS = "calls.jsonl"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The options of one comparison."""

    trial: Trial
    model_options: ModelOptions
    options: ProtocolOptions

    def run(self, benchmark: Benchmark, data: Path | None, names: str, output: Output) -> None:
        """Measure this memory beside rivals; print it, and write it where asked.

        Raises:
            UsageError: for what does not go together, where only rivals that need a model are
                named and no model, or where nobody can be asked whether to start.
            CollaboratorError: if the model fails, or a spending limit stops it.
        """
        chosen = rivals_named(names)
        dialogues = loaded(benchmark, data)
        more: list[RenderableType] = []
        if self.model_options.model is None:
            require_no_model_options(self.model_options, self.options)
            _require_some(chosen)
            found = self._compared(dialogues, chosen, None)
            document: Json = {**found.document, "unasked": list(chosen.asking)}
        else:
            found, used = self._asking(self.model_options.model, dialogues, chosen)
            document = {**found.document, "unasked": [], "model": used}
            more.append(cell(spent_words(used)))
        document = {"data": benchmark.name, **document}
        self._show(found, document, [*comparison_parts(document), *more], output)

    def _asking(
        self, model: str, dialogues: Sequence[Dialogue], chosen: Chosen
    ) -> tuple[Compared, Json]:
        """Measure with a model; return what that came to, and what was used in this run."""
        if replace(self.options, yes=False) != ProtocolOptions():
            raise UsageError(
                "--systems judges no answers: leave out --judge, --runs and --parallel"
            )
        ledger = self.model_options.ledger("run", [model])
        asked: ChatModel = self.model_options.passing(model, ledger)
        if self.trial.out is not None:
            self.trial.out.mkdir(parents=True, exist_ok=True)
            asked = Recorded(asked, self.trial.out / CALLS, "resume")
        start(self._announcement(dialogues, chosen.asking), agreed=self.options.yes)
        found = self._compared(dialogues, chosen, asked)
        return found, {"name": model, **used_value(ledger)}

    def _compared(
        self, dialogues: Sequence[Dialogue], chosen: Chosen, model: ChatModel | None
    ) -> Compared:
        rivals = chosen.rivals if model is None else chosen.asked(model)
        return compared(dialogues, rivals, self.trial.limit or (), self.trial.seed)

    def _announcement(
        self, dialogues: Sequence[Dialogue], asking: Mapping[str, Asking]
    ) -> Iterator[str]:
        """Yield what is known of the cost before rivals are asked: how much they are told."""
        told = [passage for one in dialogues for passage in Held(one.turns).passages]
        tokens = sum(map(measure("tokens"), told))
        for name, rival in asking.items():
            if not missing(rival):
                yield f"{name}: {rival.calls}."
        yield (
            f"Each is told {len(told):,} passages of {tokens:,} tokens together; its instructions "
            "come on top, with every call, so that the cost is not known before."
        )
        yield limits_words(self.model_options)

    def _show(
        self, found: Compared, document: Json, parts: list[RenderableType], output: Output
    ) -> None:
        out = self.trial.out
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)
            files = written(out, partial(save, found.measured), document, parts)
            note_files(files, document, parts)
        output.show(document, *parts)


def _require_some(chosen: Chosen) -> None:
    """Check that without a model something is left to measure."""
    if not chosen.rivals:
        names = ", ".join(chosen.asking)
        raise UsageError(f"a model is needed for {names}: name one with --model")
