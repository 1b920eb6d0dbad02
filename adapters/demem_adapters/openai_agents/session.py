"""A session of the Agents SDK that remembers, and an input filter that recalls."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Sequence
from typing import Any, Unpack

from agents import OpenAIConversationsSession, RunConfig, SessionSettings
from agents.models.fake_id import FAKE_RESPONSES_ID
from agents.run import CallModelData, ModelInputData

from demem_adapters.common import (
    ASSISTANT,
    USER,
    Asker,
    Conditions,
    Filter,
    Heard,
    Inject,
    Memories,
    Message,
    Namespace,
    Situation,
    Spoken,
    checked,
    digest,
    in_conversation,
    is_person,
    kept_as,
    named,
    put_before,
)
from demem_adapters.common.hearing import MOST_ITEMS, of_session, remembered_among
from demem_adapters.openai_agents.items import last_of_user, role_of, text_of
from demem_agent import FeedbackReport, InvalidInput, Reading
from demem_agent.feedback import Told
from demem_agent.reading import Asking

__all__ = ["MemorySession"]

Items = list[Any]  # dicts, as the SDK keeps them


#: Items of the session that are looked at for what was said before.
_MOST_BEFORE = 40


class MemorySession:
    """Any session, with memory: it is passed on as it is, and what both sides said is remembered.

    A message of the user's is remembered as the run gives it to the session, an answer when it is
    whole; neither tool calls nor what was recalled are. A message that is popped is taken back:
    what was remembered of it is forgotten for good, with the answers that tell of it. One object is
    for one run at a time.

    Args:
        session: where the items are kept, such as a ``SQLiteSession``.
        memories: where it is remembered.
        namespace: whose memory; the session's id unless given. A function gets the run's context,
            as ``Runner.run`` got it.
        asker, conditions: who asks ("user" unless given), and what holds; functions of the run's
            context as well.
        where: which items may be recalled; a function of it as well.
        turns: how many turns of the user's in the session are shown to the model besides the new
            one.
        inject: where what was recalled goes, "user" or "system".
        clear_forgets: whether to clear the session is to forget what was said in it, for good. Not
            unless given: a session is cleared to begin a new conversation, and that is when memory
            is wanted.
    """

    def __init__(
        self,
        session: Any,
        memories: Memories,
        *,
        namespace: Namespace | None = None,
        asker: Asker | None = None,
        conditions: Conditions = (),
        where: Filter | None = None,
        turns: int = 6,
        inject: Inject = "user",
        clear_forgets: bool = False,
    ) -> None:
        if isinstance(session, OpenAIConversationsSession):
            raise InvalidInput(
                "session", session, "one that keeps its items itself: the SDK treats this one apart"
            )
        if turns < 0:
            raise InvalidInput("turns", turns, "0 or more")
        self.session = session
        self.memories = memories
        self.turns = turns
        self.clear_forgets = clear_forgets
        self._namespace: Namespace = session.session_id if namespace is None else namespace
        self._situation = Situation(asker, conditions, where)
        self._inject: Inject = checked(inject)
        self._takes_wrapper = _takes_wrapper(session)
        #: In whose memory something was remembered, the last one at the end.
        self._namespaces: dict[str, None] = {}
        #: The last message as it was kept, and how it was remembered.
        self._said = ""
        self._heard = Heard()
        #: What was said in the session before it.
        self._before: list[Spoken] = []
        #: The messages that were recalled for, as a digest, and the last of them.
        self._asked = ""
        self._question = ""
        self._reading: Reading | None = None
        self._asking: Asking = {}
        self._answer: tuple[str, str] | None = None
        #: Whether the run has come to a tool, and goes on.
        self._goes_on = False

    def run_config(self, **options: Any) -> RunConfig:
        """Make a ``RunConfig`` whose callbacks are :meth:`window` and :meth:`recall`.

        Args:
            options: further ones, as ``RunConfig`` takes them.
        """
        return RunConfig(
            session_input_callback=self.window, call_model_input_filter=self.recall, **options
        )

    def window(self, history: Items, new: Items) -> Items:
        """Return the last turns of the history and what is new: a ``session_input_callback``.

        It is cut where a turn of the user's begins, so that the call of a tool and its result stay
        together.
        """
        begins = [n for n, item in enumerate(history) if role_of(item) == "user"]
        if len(begins) <= self.turns:
            return [*history, *new]
        if self.turns == 0:
            return list(new)
        return [*history[begins[-self.turns] :], *new]

    async def recall(self, data: CallModelData[Any]) -> ModelInputData:
        """Put what was recalled among the input of one call: a ``call_model_input_filter``."""
        items = data.model_data.input
        last = last_of_user(items)
        if not self._is_retold(items, last):
            asking = self._situation.asking(data.context)
            await self._read_for(self._whose(data.context), items, last, asking)
        if self._reading is None:
            return data.model_data
        block: Items = put_before([], self._reading, self._inject)
        place = last if last is not None and self._inject == "user" else 0
        put = [*items[:place], *block, *items[place:]]
        return ModelInputData(put, data.model_data.instructions)

    def _is_retold(self, items: Items, last: int | None) -> bool:
        """Whether the user's question, for which it was recalled, is told the model in another way.

        A handoff may put the conversation so far into one message, of whoever (the SDK's
        ``nest_handoff_history``): that is not what the user says.
        """
        if not self._question or self._said not in ("", self._question):
            return False
        if last is None:
            return True
        text = text_of(items[last])
        quoted = (
            json.dumps(self._question)[1:-1],
            json.dumps(self._question, ensure_ascii=False)[1:-1],
        )
        is_in_it = any(words in text for words in (self._question, *quoted))
        return self._goes_on and text != self._question and is_in_it

    async def _read_for(
        self, namespace: str | None, items: Items, last: int | None, asking: Asking
    ) -> None:
        """Recall for the user's last message, if that was not done yet.

        The same question again comes with the results of tools: what it recalled stays.
        """
        asked = digest(namespace, asking.get("asker"), items[: (last or 0) + 1])
        if asked == self._asked:
            return
        self._asked = asked
        spoken = [
            text_of(item) for item in items[: last or 0] if role_of(item) in (USER, ASSISTANT)
        ]
        self._asking = in_conversation(asking, spoken)
        self._question = "" if last is None else text_of(items[last])
        shown = [text_of(item) for item in items if role_of(item)]
        self._reading = await self.memories.aprepare(
            namespace, self._question, shown=shown, **self._asking
        )

    async def get_items(
        self, limit: int | None = None, wrapper: object = None, **more: Any
    ) -> Items:
        """Return the latest items, as the session keeps them.

        Args:
            more: arguments of the session's own, such as ``branch_id``.
        """
        found: Items = await self.session.get_items(limit, **self._wrapped(wrapper), **more)
        return found

    async def add_items(self, items: Items, wrapper: object = None) -> None:
        """Keep the items, and remember what was said in them; a memory that fails costs no run."""
        await self.session.add_items(items, **self._wrapped(wrapper))
        context = getattr(wrapper, "context", None)
        namespace = self._whose(context)
        asking = self._situation.asking(context)
        said: list[str] = []
        if any(role_of(item) == USER for item in items):
            self._before = await self._said_before(len(items), wrapper)
        for item in items:
            self._goes_on = role_of(item) is None
            if role_of(item) == USER:
                said.append(text_of(item))
            elif _is_answer(item):
                if not said and not self._said:
                    said = await self._asked_last(wrapper)
                await asyncio.to_thread(self._remember, namespace, said, item, asking)
                self._before += [*(Spoken(True, text) for text in said)]
                self._before.append(Spoken(False, text_of(item)))
                said = []
        if said:
            await asyncio.to_thread(self._hear, namespace, said, asking)

    async def _said_before(self, new: int, wrapper: object) -> list[Spoken]:
        """Return what was said in the session up to the last answer, before these new items."""
        items = await self.get_items(_MOST_BEFORE + new, wrapper=wrapper)
        earlier = items[: len(items) - new]
        kept = [item for item in earlier if role_of(item) == USER or _is_answer(item)]
        spoken = [Spoken(role_of(item) == USER, text_of(item)) for item in kept]
        while spoken and spoken[-1].by_user:
            spoken.pop()
        return spoken

    async def _asked_last(self, wrapper: object) -> list[str]:
        """Return what the user said last in the session: a run may go on in another process."""
        items = await self.get_items(wrapper=wrapper)
        last = last_of_user(items)
        return [] if last is None else [text_of(items[last])]

    async def pop_item(self, wrapper: object = None) -> Any:
        """Take out the newest item, as the session does, and forget what was remembered of it.

        A memory that fails is logged by kind. Where the namespace is a function and no ``wrapper``
        is given, it is that of the last turn which this object has remembered.
        """
        taken = await self.session.pop_item(**self._wrapped(wrapper))
        if role_of(taken) not in (USER, ASSISTANT):
            return taken  # nothing was remembered of it
        left = await self.session.get_items(**self._wrapped(wrapper))
        for namespace in self._written(wrapper)[-1:]:
            await asyncio.to_thread(self._take_back, namespace, taken, left)
        return taken

    async def clear_session(self, wrapper: object = None) -> None:
        """Clear the session; what was remembered stays, unless clearing is to forget it.

        Raises:
            InvalidInput: where it is to, and the namespace is a function that is told no context,
                while this object has remembered nothing.
            DeMemError: if it cannot be forgotten; the session is as it was then.
        """
        if self.clear_forgets:
            namespaces = self._written(wrapper)
            if not namespaces and callable(self._namespace):
                raise InvalidInput("wrapper", wrapper, "given: the namespace is a function of it")
            for namespace in namespaces:
                await self.memories.aforget(namespace, where={"session": self.session_id})
            self._forget_last()
        await self.session.clear_session(**self._wrapped(wrapper))

    def _written(self, wrapper: object) -> list[str]:
        """Return in whose memory the turns of the session are, as far as it is known."""
        if not callable(self._namespace):
            return [self._namespace]
        named = None if wrapper is None else self._whose(getattr(wrapper, "context", None))
        found = dict.fromkeys([*self._namespaces])
        if named is not None:
            found.pop(named, None)
            found[named] = None
        return [*found]

    def _take_back(self, namespace: str, taken: Message, left: Items) -> None:
        """Forget what was remembered of a message that is no more in the session."""

        def meant() -> str | None:
            id = self._remembered_of(namespace, taken, left)
            if id is not None:
                self._forget_last()
            return id

        self.memories.take_back(namespace, meant)

    def _remembered_of(self, namespace: str, taken: Message, left: Items) -> str | None:
        """Return the id of what was remembered of a message that is no more in the session.

        It is what its side said last there, unless that is remembered of a message that is still in
        the session: of one that a run failed with and that was said again, memory holds one.
        """
        memory = self.memories.known(namespace)
        said = of_session(memory.evidence(), self.session_id) if memory is not None else []
        by_user = role_of(taken) == USER
        side = [item for item in said if is_person(item.speaker) == by_user]
        if not side or side[-1].text != kept_as(text_of(taken)):
            return None
        kept = [item for item in left[-MOST_ITEMS:] if role_of(item) == USER or _is_answer(item)]
        there = [Spoken(role_of(item) == USER, text_of(item)) for item in kept]
        return None if side[-1].id in remembered_among(said, there) else side[-1].id

    def _forget_last(self) -> None:
        """Keep nothing of what was recalled and answered last."""
        self._asked = self._question = self._said = ""
        self._heard = Heard()
        self._reading = None
        self._answer = None

    async def feedback(self, **told: Unpack[Told]) -> FeedbackReport:
        """Tell how the last answer in this session did; arguments as in ``SlotMemory.feedback``.

        Raises:
            InvalidInput: if no answer to what the user said last was remembered, as of one that was
                cut off.
            DeMemError: what ``SlotMemory.feedback`` raises.
        """
        if self._answer is None:
            raise InvalidInput(
                "feedback",
                told,
                "given after an answer: to what was said last in this session none was remembered",
            )
        namespace, answer = self._answer
        return await asyncio.to_thread(self.memories.of(namespace).feedback, answer, **told)

    @property
    def session_id(self) -> str:
        """Id of the session, as it gives it."""
        return str(self.session.session_id)

    @session_id.setter
    def session_id(self, id: str) -> None:
        """Set that of the session."""
        self.session.session_id = id

    @property
    def session_settings(self) -> SessionSettings | None:
        """Settings of the session, as it gives them."""
        return getattr(self.session, "session_settings", None)

    @session_settings.setter
    def session_settings(self, settings: SessionSettings | None) -> None:
        """Set those of the session."""
        self.session.session_settings = settings

    def __getattr__(self, name: str) -> Any:
        if name == "session" or name.startswith("__"):  # not there yet, while it is being copied
            raise AttributeError(name)
        return getattr(self.session, name)

    def _hear(self, namespace: str | None, said: Sequence[str], asking: Asking) -> None:
        """Remember what the user says."""
        if namespace is not None:
            self._namespaces.pop(namespace, None)
            self._namespaces[namespace] = None
        self._said = said[-1]
        self._answer = None
        # What was taken back and is said again is an event of its own.
        self._heard = self.memories.heard(
            namespace,
            said,
            before=self._before,
            session=self.session_id,
            asker=asking.get("asker"),
            anew=True,
        )

    def _remember(
        self, namespace: str | None, said: Sequence[str], answer: Message, asking: Asking
    ) -> None:
        """Remember an answer, and before it what the user has said that came with it."""
        if said:
            self._hear(namespace, said, asking)
        call = answer.get("id")
        if call == FAKE_RESPONSES_ID:
            call = None
        reading = None
        if self._said == self._question:  # a run without our input filter has no reading
            reading = self._reading
            asking = self._asking
        recorded = self.memories.converse(
            namespace,
            self._said,
            text_of(answer),
            key=self._heard,
            reading=reading,
            session=self.session_id,
            call=call,
            **asking,
        )
        self._answer = (namespace, recorded.id) if recorded and namespace else None

    def _whose(self, context: object) -> str | None:
        return named(self._namespace, context)

    def _wrapped(self, wrapper: object) -> dict[str, Any]:
        if wrapper is None or not self._takes_wrapper:
            return {}
        return {"wrapper": wrapper}


def _takes_wrapper(session: Any) -> bool:
    """Whether all methods of a session are told of the run, as those of newer ones are."""
    methods = (session.get_items, session.add_items, session.pop_item, session.clear_session)
    return all("wrapper" in inspect.signature(method).parameters for method in methods)


def _is_answer(item: Message) -> bool:
    """Whether an item is an answer with words that came to its end."""
    if role_of(item) != "assistant" or item.get("status", "completed") != "completed":
        return False
    return bool(text_of(item).strip())
