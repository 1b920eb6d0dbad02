"""What importing is measured on is an export as the reader takes it."""

from __future__ import annotations

from benchmark_files import benchmark

from demem_agent import imports

importing = benchmark("importing")


def test_the_export_holds_as_many_messages_as_were_asked_for() -> None:
    source = imports.read(importing.export(50))
    turns = [*source]
    assert len({turn.key for turn in turns}) == 50
    assert source.format == "chatgpt"
    assert len({turn.session for turn in turns}) == 2
    assert source.reasons == {"system": 2}
