"""What both memories take when they are made or opened, written down once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypedDict

from demem_agent.answering.extractive import ExtractiveAnswerer
from demem_agent.answering.scorers import default_scorers
from demem_agent.drivers import Collaborators
from demem_agent.encoders import CrossEncoderReranker, default_encoder, describe
from demem_agent.errors import InvalidInput
from demem_agent.later import module
from demem_agent.scoring import PassageScore, default_mlp, default_weights
from demem_agent.settings import DecideSettings, Settings, SplitSettings
from demem_agent.slots.experiment import Experiment
from demem_agent.stores import Address, MemoryStore, Store
from demem_agent.text.language.words import clean
from demem_agent.text.units import Measure
from demem_agent.turns import LONGEST_NAME, text_field
from demem_agent.types import (
    Answerer,
    ChangeJudge,
    Compressor,
    Encoder,
    Mode,
    NoteTaker,
    Order,
    Reranker,
    Router,
    Scorer,
    ScoreTheta,
    Stale,
    Unit,
    Unknown,
    WhenFull,
)

if TYPE_CHECKING:
    from demem_agent import hints
else:
    hints = module("demem_agent.hints")

__all__ = [
    "Options",
    "address_of",
    "checked_encoder",
    "clock_of",
    "collaborators",
    "score_theta_of",
    "settings_given",
]


class Options(TypedDict, total=False):
    """Keyword arguments of ``SlotMemory``; all may be left out.

    The budget and placement (:class:`~demem_agent.settings.Settings`) are stored with the memory:
    slots (10), slot_limit (2000), read_limit (6000), unit ("chars"), initial_slots (5, or slots if
    that is less), near, mode ("evidence"), decisions (True), stale ("mark"), unknown ("show"),
    known_from (None), order ("time"), floor, split, decide, storage (None), most_items (None),
    when_full ("worth"), keep_days (None), tenant_items (None). When a stored memory is opened again
    they may be left out; of those given only read_limit, mode, decisions, stale, unknown,
    known_from, order, floor, split, storage, most_items, when_full, keep_days and tenant_items may
    differ, and hold for as long as it is open.

    encoder (the shipped one), answerer (extractive), scorers (token F1, reference contained in
    reading; at least two), judges (rate an answer without a reference; none, or at least two),
    compressor (writes summaries when ``summarise`` is called; none), note_taker (takes notes when
    ``take_notes`` is called; none), judge_change (says which lines later ones have taken the place
    of when ``judge_changes`` is called; none), reranker (adds to the scores of the 60 best
    passages, or the name of a cross-encoder of sentence-transformers that does; none), router
    (chooses the slot that a query goes to; none, the score does): sync or async. score_theta: what
    scores passages, ``linear`` or the small network ``mlp`` (docs/scorers.md); like those it is not
    stored, and another may be given at the next opening. counter: measures text when unit is
    "tokens". clock: gives the time now, by which a turn that comes without ``at`` is dated, and a
    query asked (``datetime.now``, the local time without a zone); with None they stay undated, and
    the same operations give the same memory whenever they are carried out. memory_id, tenant: whose
    memory it is. experiment: parts put in the place of the library's own, by a study; a memory in
    use has none.
    """

    slots: int
    slot_limit: int
    read_limit: int
    unit: Unit
    initial_slots: int
    near: float
    mode: Mode
    decisions: bool
    stale: Stale
    unknown: Unknown
    known_from: float | None
    order: Order
    floor: float | None
    split: SplitSettings
    decide: DecideSettings
    storage: int | None
    most_items: int | None
    when_full: WhenFull
    keep_days: int | None
    tenant_items: int | None
    encoder: Encoder
    answerer: Answerer
    scorers: Sequence[Scorer]
    judges: Sequence[Scorer]
    compressor: Compressor
    note_taker: NoteTaker
    judge_change: ChangeJudge
    reranker: Reranker | str
    router: Router
    score_theta: ScoreTheta
    counter: Measure
    clock: Callable[[], datetime] | None
    memory_id: str
    tenant: str
    experiment: Experiment


#: The forms of Score_theta by their names.
_FORMS: Mapping[str, Callable[[], PassageScore]] = {
    "linear": default_weights,
    "mlp": default_mlp,
}
_KNOWN = frozenset(Options.__annotations__)
_SETTINGS = frozenset(Settings.__dataclass_fields__)


def settings_given(options: Options) -> dict[str, Any]:
    """Return those of the options that belong in :class:`Settings`.

    Raises:
        TypeError: for an option that does not exist, as Python does for a wrong keyword.
    """
    for name in options:
        if name not in _KNOWN:
            hint = hints.for_argument(name, _KNOWN)
            known = f"{hint}; known are {sorted(_KNOWN)}" if hint else f"known are {sorted(_KNOWN)}"
            raise TypeError(f"SlotMemory got an unexpected keyword argument {name!r}; {known}")
    given = {name: value for name, value in options.items() if name in _SETTINGS}
    slots = given.get("slots")
    if "initial_slots" not in given and isinstance(slots, int):
        given["initial_slots"] = max(1, min(Settings().initial_slots, slots))
    return given


def collaborators(options: Options, store: Store | None) -> Collaborators:
    """Put together what carries out the flows' requests.

    Args:
        store: where the memory lives; one in RAM unless given.

    Raises:
        InvalidInput: for a collaborator without the method that it is called by.
    """
    clock = clock_of(options)
    if clock is not None and not callable(clock):
        raise InvalidInput("clock", clock, "a function that gives the time now, or None")
    encoder = checked_encoder(options.get("encoder", default_encoder()))
    return Collaborators(
        encoder=encoder,
        encoder_info=describe(encoder),
        answerer=_answerer(options),
        scorers=_scorers(options),
        judges=_judges(options),
        compressor=_compressor(options),
        note_taker=_note_taker(options),
        judge_change=_judge_change(options),
        reranker=_reranker(options),
        router=_router(options),
        store=MemoryStore() if store is None else store,
        address=address_of(options),
    )


def address_of(options: Options, field: str = "memory_id") -> Address:
    """Return which memory of a store the options name.

    Args:
        field: what its id is called in errors.

    Raises:
        InvalidInput: for what cannot be a name.
    """
    tenant = _name("tenant", options.get("tenant", "default"))
    return Address(tenant, _name(field, options.get("memory_id", "default")))


def clock_of(options: Options) -> Callable[[], datetime] | None:
    """Return what dates what comes without a time: the local clock unless another is given.

    It gives no zone: it is read as people read the dates that they write themselves, and days are
    those of whoever runs the memory.
    """
    return options.get("clock", datetime.now)


def score_theta_of(name: object) -> PassageScore:
    """Return the form of Score_theta of a name.

    Raises:
        InvalidInput: for a name that is none.
    """
    if not isinstance(name, str) or name not in _FORMS:
        raise InvalidInput("score_theta", name, " or ".join(map(repr, _FORMS)))
    return _FORMS[name]()


def checked_encoder(encoder: object) -> Encoder:
    """Return what has an ``encode`` method; raise InvalidInput for anything else."""
    # Text has an encode() of its own, and a class has its instances' methods: both are easy slips.
    if isinstance(encoder, str | type) or not isinstance(encoder, Encoder):
        allowed = "an object with encode(list of texts), such as load_encoder(name) gives"
        raise InvalidInput("encoder", encoder, allowed)
    return encoder


def _answerer(options: Options) -> Answerer:
    answerer = options.get("answerer", ExtractiveAnswerer())
    if not isinstance(answerer, Answerer):
        raise InvalidInput("answerer", answerer, "an object with answer(question)")
    return answerer


def _scorers(options: Options) -> tuple[Scorer, ...]:
    scorers = tuple(options.get("scorers", default_scorers()))
    if len(scorers) < 2 or not all(isinstance(scorer, Scorer) for scorer in scorers):
        allowed = "at least two objects with a name and score(attempt)"
        raise InvalidInput("scorers", scorers, allowed)
    return scorers


def _judges(options: Options) -> tuple[Scorer, ...]:
    judges = tuple(options.get("judges", ()))
    if len(judges) == 1 or not all(isinstance(judge, Scorer) for judge in judges):
        allowed = "at least two objects with a name and score(attempt), or none"
        raise InvalidInput("judges", judges, allowed)
    return judges


def _compressor(options: Options) -> Compressor | None:
    compressor = options.get("compressor")
    if compressor is not None and not isinstance(compressor, Compressor):
        raise InvalidInput("compressor", compressor, "an object with a name and compress(task)")
    return compressor


def _note_taker(options: Options) -> NoteTaker | None:
    taker = options.get("note_taker")
    if taker is not None and not isinstance(taker, NoteTaker):
        raise InvalidInput("note_taker", taker, "an object with a name and take_notes(task)")
    return taker


def _judge_change(options: Options) -> ChangeJudge | None:
    judge = options.get("judge_change")
    if judge is not None and not isinstance(judge, ChangeJudge):
        raise InvalidInput("judge_change", judge, "an object with a name and judge(task)")
    return judge


def _reranker(options: Options) -> Reranker | None:
    reranker = options.get("reranker")
    if isinstance(reranker, str):
        return CrossEncoderReranker(reranker)
    if reranker is not None and (isinstance(reranker, type) or not isinstance(reranker, Reranker)):
        allowed = "the name of a cross-encoder, or an object with score(query, texts)"
        raise InvalidInput("reranker", reranker, allowed)
    return reranker


def _router(options: Options) -> Router | None:
    router = options.get("router")
    if router is not None and (isinstance(router, type) or not isinstance(router, Router)):
        raise InvalidInput("router", router, "an object with choose(query, slots)")
    return router


def _name(field: str, given: object) -> str:
    name = text_field(field, given, LONGEST_NAME)
    if clean(name) != name or "\0" in name:
        raise InvalidInput(field, name, "a text without NUL and lone surrogates")
    return name
