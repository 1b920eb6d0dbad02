"""A chatbot backend with memory, two users and their sessions: python examples/chat_backend.py

What a user says in one session is known in the next, and to nobody else; users see what is
remembered of them, tell how an answer did, and have things forgotten. Needs ``pip install
demem-agent fastapi uvicorn``. The script serves it to itself with a model that runs on this
machine. With a real one:

    make_backend(AsyncOpenAI(), Memories("sqlite:///bot.db"), users, model="...")
"""

from __future__ import annotations

import contextlib
import json
import re
import threading
import time
import urllib.request
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import uvicorn
from fastapi import Depends, FastAPI, Header, HTTPException, Request
from fastapi.responses import JSONResponse
from openai import AsyncOpenAI, OpenAIError
from pydantic import BaseModel

from demem_adapters.common import Memories
from demem_adapters.openai import wrap
from demem_agent import DeMemError
from demem_agent.testing import Provider

#: Messages of a session that the model is shown besides what is remembered.
WINDOW = 6


class Said(BaseModel):
    """What a user says in a session."""

    session: str
    text: str


class Verdict(BaseModel):
    """How an answer did: a thumb, or what would have been right."""

    answer: str
    thumbs: bool | None = None
    correction: str | None = None


def known(request: Request, authorization: Annotated[str, Header()] = "") -> str:
    """Return the user who is logged in."""
    user = request.app.state.users.get(authorization.removeprefix("Bearer "))
    if user is None:
        raise HTTPException(401, "no user has this token")
    return str(user)


User = Annotated[str, Depends(known)]


def make_backend(
    client: AsyncOpenAI, memories: Memories, users: Mapping[str, str], *, model: str
) -> FastAPI:
    """Make the backend.

    Args:
        users: names by the token that each sends; your own way to know them goes here.
    """
    app = FastAPI(title="A chatbot with memory")
    # The one line that gives the bot its memory: whose it is goes by who is logged in, not by what
    # a request says.
    chatting = wrap(client, memories, namespace=lambda call: call.get("user"))
    app.state.users = users
    sessions: dict[tuple[str, str], list[dict[str, str]]] = defaultdict(list)

    @app.post("/chat")
    async def chat(said: Said, user: User) -> dict[str, Any]:
        session = sessions[user, said.session]
        asked = {"role": "user", "content": said.text}
        messages: Any = [*session, asked]
        response = await chatting.chat.completions.create(model=model, messages=messages, user=user)
        answer = response.choices[0].message.content or ""
        session += [asked, {"role": "assistant", "content": answer}]
        del session[:-WINDOW]
        return {"id": response.id, "text": answer}

    @app.post("/feedback")
    def feedback(verdict: Verdict, user: User) -> dict[str, Any]:
        told = verdict.model_dump(exclude={"answer"}, exclude_none=True)
        report = memories.feedback(verdict.answer, namespace=user, **told)
        return {"reward": report.reward, "remembered": report.remembered}

    @app.get("/memory")
    def remembered(user: User) -> list[dict[str, Any]]:
        memory = memories.known(user)
        items = memory.evidence() if memory is not None else ()
        return [{"id": item.id, "who": item.speaker, "text": item.text} for item in items]

    @app.delete("/memory/{item}")
    def forget(item: str, user: User) -> dict[str, Any]:
        return {"forgotten": memories.forget(user, item)}  # and what the bot said from it

    @app.exception_handler(DeMemError)
    def refused(_: Request, error: DeMemError) -> JSONResponse:
        return JSONResponse({"detail": str(error)}, 400)

    @app.exception_handler(OpenAIError)
    def unavailable(_: Request, error: OpenAIError) -> JSONResponse:
        return JSONResponse({"detail": f"the model gave no answer: {type(error).__name__}"}, 502)

    return app


# From here on it is used, by two people and a model of a few lines.


#: What a reading notes of a line in front of it: "- [yesterday: 7 May 2023] user: I moved".
_BESIDE = re.compile(r"^- \[[^\]]*\] ")


def reply(messages: Sequence[Mapping[str, Any]]) -> str:
    """Answer a question with the last statement that was recalled, and note everything else."""
    *shown, asked = [str(message["content"]) for message in messages]
    told: list[str] = []
    for line in "\n".join(shown).splitlines():
        who, _, text = _BESIDE.sub("- ", line).partition(": ")
        if who.startswith(("- user", "- correction to")) and not text.endswith("?"):
            told.append(text)
    if not asked.endswith("?"):
        return "Noted."
    return f"You told me: {told[-1]}" if told else "I know nothing of it."


@contextlib.contextmanager
def serving(app: FastAPI) -> Iterator[str]:
    """Serve an application on this machine, and yield its address."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


class Person:
    """Somebody who talks to the bot over HTTP."""

    def __init__(self, url: str, name: str, token: str) -> None:
        self.url = url
        self.name = name
        self.token = token

    def request(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request, and return the JSON that comes back."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        with urllib.request.urlopen(request) as response:
            return json.load(response)

    def say(self, session: str, text: str) -> str:
        """Say something in a session, and return the id of the answer."""
        answer = self.request("POST", "/chat", {"session": session, "text": text})
        print(f"{self.name} ({session}): {text}\nbot: {answer['text']}")
        return str(answer["id"])


def main() -> None:
    """Have two people talk to the bot."""
    which = "Which valve is in the kitchen's boiler?"
    with Provider(reply) as provider, Memories(limit=400) as memories:
        client = AsyncOpenAI(base_url=provider.url, api_key="unused")
        users = {"token-of-ana": "ana", "token-of-ben": "ben"}
        with serving(make_backend(client, memories, users, model="small")) as url:
            ana, ben = (Person(url, name, token) for token, name in users.items())
            ana.say("monday", "The boiler in the kitchen has a brass valve, fitted in 2019.")
            ben.say("monday", which)
            answer = ana.say("tuesday", which)
            verdict = {"answer": answer, "correction": "It is of steel since last week."}
            told = ana.request("POST", "/feedback", verdict)
            print(f"ana corrects it: remembered as {told['remembered']}")
            ana.say("wednesday", which)
            first = ana.request("GET", "/memory")[0]
            gone = ana.request("DELETE", f"/memory/{first['id']}")
            print(f"ana has it forgotten: {gone['forgotten']}")
            print(f"ben is remembered with {len(ben.request('GET', '/memory'))} items")


if __name__ == "__main__":
    main()
