"""A session of the Agents SDK that remembers, and an input filter that recalls."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Unpack

from agents import OpenAIConversationsSession, RunConfig, SessionSettings
from agents.models.fake_id import FAKE_RESPONSES_ID
from agents.run import CallModelData, ModelInputData

from demem_adapters.common import (
    ASSISTANT,
    USER,
    Asker,
    Conditions,
    Inject,
    Memories,
    Message,
    Namespace,
    Situation,
    checked,
    digest,
    in_conversation,
    logged,
    named,
    put_before,
)
from demem_adapters.openai_agents.items import last_of_user, role_of, text_of
from demem_agent import FeedbackReport, InvalidInput, Reading
from demem_agent.feedback import Told
from demem_agent.reading import Asking

__all__ = ["MemorySession"]

Items = list[Any]  # dicts, as the SDK keeps them


@dataclass(frozen=True, slots=True)
class _Unanswered:
    """A message of the user's: in whose memory it belongs, and who said it."""

    namespace: str | None
    speaker: str
    message: Message


class MemorySession:
    """Any session, with memory: it is passed on as it is, and what both sides said is remembered.

    A message of the user's is remembered once the model has answered it whole, with the answer;
    neither tool calls nor what was recalled are. Taking items out of the session, or clearing it,
    takes nothing out of memory: ``forget`` does. One object is for one run at a time.

    Args:
        session: where the items are kept, such as a ``SQLiteSession``.
        memories: where it is remembered.
        namespace: whose memory; the session's id unless given. A function gets the run's context,
            as ``Runner.run`` got it.
        asker, conditions: who asks ("user" unless given), and what holds; functions of the run's
            context as well.
        turns: how many turns of the user's in the session are shown to the model besides the new
            one.
        inject: where what was recalled goes, "user" or "system".
    """

    def __init__(
        self,
        session: Any,
        memories: Memories,
        *,
        namespace: Namespace | None = None,
        asker: Asker | None = None,
        conditions: Conditions = (),
        turns: int = 6,
        inject: Inject = "user",
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
        self._namespace: Namespace = session.session_id if namespace is None else namespace
        self._situation = Situation(asker, conditions)
        self._inject: Inject = checked(inject)
        self._takes_wrapper = _takes_wrapper(session)
        #: Messages of the user's that no answer has come to yet.
        self._unanswered: list[_Unanswered] = []
        #: The last message as it was kept.
        self._said = ""
        #: The messages that were recalled for, as a digest, and the last of them.
        self._asked = ""
        self._question = ""
        self._reading: Reading | None = None
        self._asking: Asking = {}
        self._answer: tuple[str, str] | None = None

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
        asking = self._situation.asking(data.context)
        await self._read_for(self._whose(data.context), items, last, asking)
        if self._reading is None:
            return data.model_data
        block: Items = put_before([], self._reading, self._inject)
        place = last if last is not None and self._inject == "user" else 0
        put = [*items[:place], *block, *items[place:]]
        return ModelInputData(put, data.model_data.instructions)

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
        for item in items:
            if role_of(item) == "user":
                self._said = text_of(item)
                waiting = _Unanswered(namespace, asking.get("asker") or USER, item)
                self._unanswered.append(waiting)
            elif _is_answer(item):
                asked = self._take_unanswered(namespace)
                with logged("a turn was not remembered"):
                    await asyncio.to_thread(self._remember, namespace, asked, item, asking)

    def _take_unanswered(self, namespace: str | None) -> list[_Unanswered]:
        """Return the messages of a namespace that wait for an answer, which has come now."""
        taken: list[_Unanswered] = []
        left: list[_Unanswered] = []
        for waiting in self._unanswered:
            here = taken if waiting.namespace == namespace else left
            here.append(waiting)
        self._unanswered = left
        return taken

    async def pop_item(self, wrapper: object = None) -> Any:
        """Take out the newest item, as the session does."""
        taken = await self.session.pop_item(**self._wrapped(wrapper))
        self._unanswered = [waiting for waiting in self._unanswered if waiting.message != taken]
        return taken

    async def clear_session(self, wrapper: object = None) -> None:
        """Clear the session; what was remembered stays."""
        self._unanswered = []
        await self.session.clear_session(**self._wrapped(wrapper))

    async def feedback(self, **told: Unpack[Told]) -> FeedbackReport:
        """Tell how the last answer in this session did; arguments as in ``SlotMemory.feedback``.

        Raises:
            InvalidInput: if nothing was answered yet.
            DeMemError: what ``SlotMemory.feedback`` raises.
        """
        if self._answer is None:
            raise InvalidInput(
                "feedback", told, "given after an answer: there is none in this session yet"
            )
        namespace, answer = self._answer
        return await asyncio.to_thread(self.memories.of(namespace).feedback, answer, **told)

    @property
    def session_id(self) -> str:
        """Id of the session, as it gives it."""
        return str(self.session.session_id)

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

    def _remember(
        self,
        namespace: str | None,
        asked: Sequence[_Unanswered],
        answer: Message,
        asking: Asking,
    ) -> None:
        before = ""
        for waiting in asked:
            message = waiting.message
            before = self.memories.before(namespace, text_of(message), session=self.session_id)
            self._keep(namespace, message, before, waiting.speaker)
        self._keep(namespace, answer, before, ASSISTANT)
        call = answer.get("id")
        if call == FAKE_RESPONSES_ID:
            call = None
        reading = None
        if self._said == self._question:  # a run without our input filter has no reading
            reading = self._reading
            asking = self._asking
        recorded = self.memories.answered(
            namespace, self._said, text_of(answer), reading, call=call, **asking
        )
        self._answer = (namespace, recorded.id) if recorded and namespace else None

    def _keep(self, namespace: str | None, item: Message, before: str, speaker: str) -> None:
        text = text_of(item)
        today = date.today().isoformat()
        key = digest(self.session_id, item.get("id"), speaker, text, today, before)
        self.memories.remember(namespace, text, speaker=speaker, session=self.session_id, key=key)

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
