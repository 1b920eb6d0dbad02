"""A chatbot backend with memory, two users and their sessions: python examples/chat_backend.py

What a user says in one session is known in the next, and to nobody else; users see what is
remembered of them, tell how an answer did, and have things forgotten. Needs ``pip install
demem-agent fastapi uvicorn``. The script serves it to itself with a model that runs on this
machine. With a real one:

    make_backend(AsyncOpenAI(), Memories("sqlite:///bot.db"), users, model="...")

Given a store that processes share, it is served by two of them, whichever of which is asked:

    python examples/chat_backend.py postgresql://ana@db.example/memories

The messages of a session are in the RAM of the process that was told them. Memory needs no more;
for the model to be shown the session at any process, keep them in a database of yours.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
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


def app() -> FastAPI:
    """Make the backend of one process of several, as ``uvicorn --factory chat_backend:app`` starts.

    The environment says where the memories are (``DEMEM_MEMORY``), which model it is (``MODEL``)
    and, as for any client of OpenAI's, where that is and by which key.
    """
    memories = Memories(os.environ["DEMEM_MEMORY"], limit=400, recall_patience=PATIENCE)
    return make_backend(AsyncOpenAI(), memories, USERS, model=os.environ["MODEL"])


# From here on it is used, by two people and a model of a few lines.

USERS = {"token-of-ana": "ana", "token-of-ben": "ben"}
#: Seconds that memory has to recall: a machine that does much else needs them.
PATIENCE = 10.0

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


@contextlib.contextmanager
def serving_by_two(store: str, model: str, url: str) -> Iterator[str]:
    """Serve the backend by two processes, as a shell would start them, and yield its address.

    Args:
        store: the URL of the memories.
        model, url: the model that answers, and where it is.
    """
    with Memories(store):
        pass  # it is made, or refused, before there are two that would
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "uvicorn", "--factory", "chat_backend:app", "--workers", "2"]
    command += ["--app-dir", str(Path(__file__).parent), "--port", str(port)]
    # On a machine that does much else a process is not lost because it says nothing for 5 s.
    command += ["--log-level", "warning", "--timeout-worker-healthcheck", "60"]
    told = {"DEMEM_MEMORY": store, "MODEL": model, "OPENAI_BASE_URL": url, "OPENAI_API_KEY": "-"}
    with subprocess.Popen(command, env={**os.environ, **told}) as server:
        try:
            while not listens(port):
                if server.poll() is not None:
                    sys.exit("the backend has not begun")  # it has said why
                time.sleep(0.05)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()


def listens(port: int) -> bool:
    """Whether somebody listens at a port of this machine."""
    with socket.socket() as asks:
        return asks.connect_ex(("127.0.0.1", port)) == 0


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
    with Provider(reply) as provider, contextlib.ExitStack() as served:
        if sys.argv[1:]:
            url = served.enter_context(serving_by_two(sys.argv[1], "small", provider.url))
        else:
            memories = served.enter_context(Memories(limit=400, recall_patience=PATIENCE))
            client = AsyncOpenAI(base_url=provider.url, api_key="unused")
            backend = make_backend(client, memories, USERS, model="small")
            url = served.enter_context(serving(backend))
        talk(*(Person(url, name, token) for token, name in USERS.items()))


def talk(ana: Person, ben: Person) -> None:
    """Say a few things in a few sessions."""
    which = "Which valve is in the kitchen's boiler?"
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
