"""Coding agents: their files keep all else that is in them, and their hooks never stop them."""

from __future__ import annotations

import io
import json
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import PACKAGE, ROOT, Demem, Done
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("typer")

from demem_agent import SlotMemory
from demem_agent.cli.agents.edits import with_hooks, with_server
from demem_agent.cli.agents.hosts import HOSTS, Host, entries_of, is_ours

SERVERS = {
    "claude-code": ".mcp.json",
    "codex": ".codex/config.toml",
    "cursor": ".cursor/mcp.json",
}
HOOKS = {
    "claude-code": ".claude/settings.local.json",
    "codex": ".codex/hooks.json",
    "cursor": ".cursor/hooks.json",
}
VALVE = "My boiler has a brass valve."
ASKED = "Which valve has my boiler?"


def read(path: str) -> Any:
    text = Path(path).read_text()
    return tomllib.loads(text) if path.endswith(".toml") else json.loads(text)


def tree() -> dict[str, str]:
    """Return what all files below this folder hold."""
    return {str(path): path.read_text() for path in Path().rglob("*") if path.is_file()}


# -- setup


@pytest.mark.parametrize("host", HOSTS)
def test_a_set_up_names_the_server_and_the_hooks_with_one_memory(demem: Demem, host: str) -> None:
    assert demem("setup", host).code == 0
    told = read(SERVERS[host])
    server = told["mcp_servers" if host == "codex" else "mcpServers"]["demem"]
    assert [server["command"], *server["args"][:3]] == [
        sys.executable,
        "-m",
        "demem_agent.cli",
        "mcp",
    ]
    memory = str(Path(".demem/memory.db").resolve())
    assert memory in server["args"]
    handlers = str(read(HOOKS[host])["hooks"])
    assert handlers.count(f"demem_agent.cli hook {host} --memory {memory}") >= 2
    assert Path(".demem/.gitignore").read_text() == "*\n"


def test_the_files_are_those_that_the_hosts_read(demem: Demem) -> None:
    for host in HOSTS:
        demem("setup", host)
    assert {*tree()} == {".demem/.gitignore", *SERVERS.values(), *HOOKS.values()}
    claude = read(".claude/settings.local.json")["hooks"]
    assert {*claude} == {"UserPromptSubmit", "Stop", "SessionEnd"}
    ((handler,),) = [group["hooks"] for group in claude["Stop"]]
    assert handler["type"] == "command"
    assert {*read(".codex/hooks.json")} == {"hooks"}  # Codex refuses a file with anything else
    cursor = read(".cursor/hooks.json")
    assert cursor["version"] == 1
    assert {*cursor["hooks"]} == {"beforeSubmitPrompt", "afterAgentResponse"}


@pytest.mark.parametrize("host", HOSTS)
def test_nothing_else_in_a_file_is_lost_and_removal_gives_it_back(demem: Demem, host: str) -> None:
    hooks = Path(HOOKS[host])
    servers = Path(SERVERS[host])
    for path in (hooks, servers):
        path.parent.mkdir(parents=True, exist_ok=True)
    other = {"hooks": [{"type": "command", "command": "other --hook"}]}
    before = {"hooks": {"Stop": [other], "Odd": "text"}, "permissions": {"allow": ["é"]}}
    hooks.write_text(json.dumps(before, indent=4, ensure_ascii=False) + "\n")
    text = json.dumps({"mcpServers": {"x": {"command": "x"}}, "theme": 1}, indent=4) + "\n"
    if host == "codex":
        text = '# mine\nmodel = "m"\n\n# the server\n[mcp_servers.x]\ncommand = "x"\n'
    servers.write_text(text)
    was = tree()
    assert demem("setup", host, "--yes").code == 0
    told = read(HOOKS[host])
    assert told["permissions"] == before["permissions"]
    assert other in told["hooks"]["Stop"]
    assert '"x"' in servers.read_text()
    changed = tree()
    assert demem("setup", host, "--yes").code == 0
    assert tree() == changed  # a second time changes nothing
    assert demem("setup", host, "--remove", "--yes").code == 0
    left = tree()
    del left[".demem/.gitignore"]
    if host == "cursor":
        told = read(HOOKS[host])
        assert told.pop("version") == 1
        assert told == before
        del left[HOOKS[host]], was[HOOKS[host]]
    assert {path: text.rstrip() for path, text in left.items()} == {
        path: text.rstrip() for path, text in was.items()
    }


@pytest.mark.parametrize("host", HOSTS)
def test_removal_takes_away_what_held_nothing_else_and_leaves_the_memory(
    demem: Demem, host: str
) -> None:
    demem("setup", host)
    Path(".demem/memory.db").write_text("x")
    assert demem("setup", host, "--remove", "--yes").code == 0
    assert {*tree()} == {".demem/.gitignore", ".demem/memory.db"}
    assert demem("setup", host, "--remove").code == 0  # there is nothing more to do


def test_before_a_file_is_changed_somebody_is_asked(demem: Demem) -> None:
    Path(".mcp.json").write_text('{"mcpServers": {}, "x": 1}')
    was = tree()
    done = demem("setup", "claude-code")
    assert done.code == 1
    assert ".mcp.json" in done.err
    assert "--yes" in done.err
    assert tree() == was


class Typing(io.StringIO):
    """A terminal at which somebody types this."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("typed", "code"), [("y\n", 0), ("n\n", 130), ("", 130)])
def test_what_somebody_answers_decides(
    demem: Demem, monkeypatch: pytest.MonkeyPatch, typed: str, code: int
) -> None:
    Path(".mcp.json").write_text('{"x": 1}')
    was = tree()
    monkeypatch.setattr(sys, "stdin", Typing(typed))
    done = demem("setup", "claude-code")
    assert done.code == code
    assert "Change" in done.err
    assert (tree() == was) is (code != 0)


def test_another_memory_takes_the_place_of_the_first(demem: Demem) -> None:
    demem("setup", "cursor")
    assert demem("setup", "cursor", "-m", "other.db").code == 1
    assert demem("setup", "cursor", "-m", "other.db", "--id", "ana", "--yes").code == 0
    for path in (SERVERS["cursor"], HOOKS["cursor"]):
        text = Path(path).read_text()
        assert "memory.db" not in text
        assert str(Path("other.db").resolve()) in text
        assert "ana" in text
    assert len(read(HOOKS["cursor"])["hooks"]["beforeSubmitPrompt"]) == 1


def test_whose_memory_it_is_and_its_encoder_are_passed_on(demem: Demem) -> None:
    options = ("-m", "memory://", "--tenant", "team", "--encoder", "some/model")
    demem("setup", "cursor", *options)
    for text in (str(read(SERVERS["cursor"])["mcpServers"]), str(read(HOOKS["cursor"]))):
        for option in options[1:]:
            assert option in text


@pytest.mark.parametrize("host", HOSTS)
def test_what_is_left_to_do_is_told(demem: Demem, host: str) -> None:
    notes = demem.document("setup", host)["notes"]
    assert notes[-1] == f"start {host} anew, so that it reads its files"
    asks = {"claude-code": "asks once", "codex": "/hooks", "cursor": "since 3.20"}[host]
    assert any(asks in note for note in notes)


@pytest.mark.parametrize("host", HOSTS)
def test_a_dry_run_shows_what_would_be_written_and_writes_nothing(demem: Demem, host: str) -> None:
    done = demem("setup", host, "--dry-run")
    assert "demem_agent.cli" in done.out
    assert tree() == {}
    document = demem.document("setup", host, "--dry-run")
    assert document["written"] is False
    assert {Path(one["file"]).name for one in document["files"]} == {
        ".gitignore",
        Path(SERVERS[host]).name,
        Path(HOOKS[host]).name,
    }


def test_what_is_shown_of_a_file_is_none_of_its_other_lines(demem: Demem) -> None:
    known = {"mcpServers": {"x": {"command": "x", "env": {"KEY": "secret"}}}}
    Path(".mcp.json").write_text(json.dumps(known, indent=2) + "\n")
    assert "secret" not in demem("setup", "claude-code", "--dry-run", "--json").out


def test_the_files_of_the_user_are_written_only_where_that_is_asked(
    demem: Demem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    for host in HOSTS:
        demem("setup", host, "--project", project)
    assert not [*home.iterdir()]
    for host in HOSTS:
        demem("setup", host, "--user")
    assert {str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()} == {
        ".claude.json", ".claude/settings.json", ".codex/config.toml", ".codex/hooks.json",
        ".cursor/hooks.json", ".cursor/mcp.json", ".demem/.gitignore",
    }  # fmt: skip
    assert demem("setup", "codex", "--user", "--project", project).code == 1


@pytest.mark.parametrize(("option", "left"), [("--no-server", HOOKS), ("--no-hooks", SERVERS)])
def test_one_of_the_two_can_be_left_out(demem: Demem, option: str, left: dict[str, str]) -> None:
    for host in HOSTS:
        demem("setup", host, option)
    assert {*tree()} == {".demem/.gitignore", *left.values()}


@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        (".cursor/mcp.json", "// a comment\n{}", "no plain JSON"),
        (".cursor/mcp.json", '{"a": 1, "a": 2}', "a name twice"),
        (".cursor/mcp.json", "[]", "no object"),
        (".cursor/hooks.json", '{"hooks": []}', "'hooks' is list"),
        (".codex/config.toml", "a = ", "no TOML"),
        (".codex/config.toml", "mcp_servers = {x = {command = 'x'}}", "by hand"),
    ],
)
def test_what_cannot_be_changed_without_loss_is_left_alone(
    demem: Demem, path: str, text: str, said: str
) -> None:
    Path(path).parent.mkdir()
    Path(path).write_text(text)
    host = "codex" if path.startswith(".codex") else "cursor"
    done = demem("setup", host, "--yes")
    assert done.code == 1
    assert said in done.err
    assert tree() == {path: text}


def test_the_table_of_codex_is_found_among_others_with_their_comments(demem: Demem) -> None:
    demem("setup", "codex", "--no-hooks")
    config = Path(".codex/config.toml")
    config.write_text(config.read_text() + '\n# of x\n[mcp_servers.x]\ncommand = "x"\n')
    demem("setup", "codex", "--no-hooks", "-m", "other.db", "--yes")
    assert "# of x\n[mcp_servers.x]" in config.read_text()
    assert (
        str(Path("other.db").resolve())
        in read(".codex/config.toml")["mcp_servers"]["demem"]["args"]
    )
    demem("setup", "codex", "--no-hooks", "--remove", "--yes")
    assert config.read_text().strip() == '# of x\n[mcp_servers.x]\ncommand = "x"'


def test_a_host_that_is_not_known_is_told_from_those_that_are(demem: Demem) -> None:
    done = demem("setup", "emacs")
    assert done.code == 1
    assert "claude-code, codex, cursor" in done.err


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
groups = st.fixed_dictionaries(
    {"hooks": st.lists(st.fixed_dictionaries({"command": st.text(max_size=5)}), max_size=2)}
)
documents = st.fixed_dictionaries(
    {},
    optional={
        "hooks": st.dictionaries(
            st.sampled_from(["Stop", "Odd"]), st.lists(groups, min_size=1), min_size=1
        ),
        "mcpServers": st.dictionaries(st.sampled_from("abc"), json_values, min_size=1),
        "rest": json_values,
    },
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(documents, st.sampled_from(HOSTS))
def test_what_is_added_and_taken_out_again_leaves_any_document_as_it_was(
    document: dict[str, Any], host: Host
) -> None:
    entries = entries_of(host, ["hook", host])

    def set_up(given: str) -> dict[str, Any]:
        return with_hooks(entries, is_ours)(with_server({"command": "x"})(json.loads(given)))

    added = set_up(json.dumps(document))
    assert set_up(json.dumps(added)) == added
    assert with_hooks({}, is_ours)(with_server(None)(added)) == document


# -- hooks


@pytest.fixture
def told(demem: Demem, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Done]:
    """Return what runs a hook on what a host says."""

    def run(host: str, payload: Any, *options: object) -> Done:
        text = payload if isinstance(payload, str) else json.dumps(payload)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        return demem("hook", host, "-m", "bot.db", *options)

    return run


class Session:
    """A session of a host, which tells its hooks what happens as that host does."""

    def __init__(self, host: str, told: Callable[..., Done], id: str = "s1") -> None:
        self.host, self.told, self.id = host, told, id
        self.turn = 0
        self.transcript = Path(f"{id}.jsonl")
        self.transcript.touch()

    def ask(self, prompt: str) -> str:
        """Send a prompt, and return what reaches the model beside it."""
        self.turn += 1
        if self.host == "cursor":
            done = self.told("cursor", {**self._cursor("beforeSubmitPrompt"), "prompt": prompt})
            return json.loads(done.out)["additional_context"] if done.out else ""
        self.write("user", prompt)
        done = self.told(self.host, {**self._event("UserPromptSubmit"), "prompt": prompt})
        told = json.loads(done.out)["hookSpecificOutput"] if done.out else {}
        assert told.get("hookEventName", "UserPromptSubmit") == "UserPromptSubmit"
        return str(told.get("additionalContext", ""))

    def end(self, answer: str, **more: Any) -> Done:
        """Let an answer come to its end."""
        if self.host == "cursor":
            return self.told("cursor", {**self._cursor("afterAgentResponse"), "text": answer})
        return self.told(
            self.host, {**self._event("Stop"), "last_assistant_message": answer, **more}
        )

    def write(self, kind: str, content: Any, **more: Any) -> None:
        """Write a line of Claude Code's transcript."""
        about = {"uuid": f"{self.id}-{self.turn}-{kind}", "timestamp": "2026-05-01T10:00:00.000Z"}
        entry = {"type": kind, "message": {"role": kind, "content": content}, **about, **more}
        with self.transcript.open("a") as file:
            file.write(json.dumps(entry) + "\n")

    def _event(self, name: str) -> dict[str, Any]:
        return {
            "hook_event_name": name,
            "session_id": self.id,
            "transcript_path": str(self.transcript),
            "cwd": "/",
            "turn_id": f"{self.id}-{self.turn}",
        }

    def _cursor(self, name: str) -> dict[str, Any]:
        ids = {"conversation_id": self.id, "generation_id": f"{self.id}-{self.turn}"}
        return {"hook_event_name": name, **ids, "workspace_roots": ["/"]}


def remembered() -> list[tuple[str | None, str]]:
    if not Path("bot.db").exists():
        return []
    with SlotMemory.open("sqlite:///bot.db") as memory:
        return [(item.speaker, item.text) for item in memory.evidence()]


@pytest.mark.parametrize("host", HOSTS)
def test_what_was_said_in_one_session_reaches_the_model_in_the_next(
    told: Callable[..., Done], host: str
) -> None:
    first = Session(host, told)
    assert first.ask(VALVE) == ""
    assert first.end("Noted.").code == 0
    assert remembered() == [("user", VALVE), ("assistant", "Noted.")]
    recalled = Session(host, told, "s2").ask(ASKED)
    assert VALVE in recalled
    assert recalled.startswith("What is remembered of earlier conversations.")


@pytest.mark.parametrize("host", HOSTS)
def test_the_same_event_twice_is_remembered_once(told: Callable[..., Done], host: str) -> None:
    session = Session(host, told)
    for _ in range(2):
        session.turn = 0
        session.ask(VALVE)
    for _ in range(2):
        session.end("Noted.")
    if host == "claude-code":  # its transcript has both prompts, with one id
        session.end("Noted.")
    assert remembered() == [("user", VALVE), ("assistant", "Noted.")]


@pytest.mark.parametrize("host", HOSTS)
def test_a_prompt_whose_answer_never_ended_is_remembered_with_the_next(
    told: Callable[..., Done], host: str
) -> None:
    session = Session(host, told)
    session.ask("I am allergic to walnuts.")
    session.ask("I swim.")
    session.end("Good.")
    assert [text for _, text in remembered()] == ["I am allergic to walnuts.", "I swim.", "Good."]


@pytest.mark.parametrize("host", HOSTS)
def test_what_the_model_is_shown_anyway_is_not_put_before_it_again(
    told: Callable[..., Done], host: str
) -> None:
    session = Session(host, told)
    session.ask(VALVE)
    session.end("Noted.")
    assert session.ask(ASKED) == ""


def test_a_session_of_claude_code_that_is_left_leaves_nothing_unsaid(
    told: Callable[..., Done],
) -> None:
    session = Session("claude-code", told)
    session.ask(VALVE)
    session.write("assistant", [{"type": "text", "text": "It is bra"}])
    told("claude-code", session._event("SessionEnd"))
    assert remembered() == [("user", VALVE)]


def test_of_the_transcript_only_what_a_person_said_is_the_user_s(told: Callable[..., Done]) -> None:
    session = Session("claude-code", told)
    session.write("user", VALVE)
    session.write("assistant", [{"type": "text", "text": "I look."}])
    session.turn += 1
    session.write("user", [{"type": "tool_result", "tool_use_id": "t", "content": "secret"}])
    for text in ("<command-name>/clear</command-name>", "[Request interrupted by user]"):
        session.turn += 1
        session.write("user", text)
    for mark in ("isMeta", "isSidechain", "isCompactSummary"):
        session.turn += 1
        session.write("user", "of the host", **{mark: True})
        session.write("assistant", [{"type": "text", "text": "of an agent"}], **{mark: True})
    with session.transcript.open("a") as file:
        file.write('{"type": "user", broken\n"user"\n{"type": "user"}\n')
    session.write(
        "assistant", [{"type": "thinking", "thinking": "x"}, {"type": "text", "text": "Ok."}]
    )
    done = session.end("")  # as versions do that do not tell the last message
    assert (done.code, done.err) == (0, "")
    assert remembered() == [("user", VALVE), ("assistant", "Ok.")]


def test_a_prompt_of_the_transcript_is_dated_as_the_transcript_says(
    told: Callable[..., Done],
) -> None:
    session = Session("claude-code", told)
    session.ask(VALVE)
    session.end("Noted.")
    with SlotMemory.open("sqlite:///bot.db") as memory:
        item = memory.evidence()[0]
    assert item.at is not None
    assert (item.at.isoformat(), item.session) == ("2026-05-01T10:00:00+00:00", "s1")


def test_what_was_forgotten_stays_forgotten(told: Callable[..., Done]) -> None:
    session = Session("claude-code", told)
    session.ask(VALVE)
    session.end("Noted.")
    with SlotMemory.open("sqlite:///bot.db") as memory:
        memory.forget("e1")
    session.ask("I swim.")
    session.end("Good.")
    assert [text for _, text in remembered()] == ["Noted.", "I swim.", "Good."]


def test_the_limit_holds_in_what_reaches_the_model(told: Callable[..., Done]) -> None:
    with SlotMemory.open("sqlite:///bot.db") as memory:
        memory.ingest_many([{"text": f"Valve {n} is of brass."} for n in range(200)])
    payload = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "Which valve?"}
    for options, most in (((), 2000), (("--limit", 300), 300)):
        told_model = json.loads(told("claude-code", payload, *options).out)
        recalled = told_model["hookSpecificOutput"]["additionalContext"]
        assert most / 2 < len(recalled.split("\n", 1)[1]) <= most


@pytest.mark.parametrize(
    "payload",
    ["", "no JSON", "[]", "{}", '{"hook_event_name": "PreToolUse"}', '{"hook_event_name": 7}'],
)
@pytest.mark.parametrize("host", HOSTS)
def test_what_is_of_no_interest_makes_no_memory_and_no_fault(
    told: Callable[..., Done], host: str, payload: str
) -> None:
    done = told(host, payload)
    assert (done.code, done.out) == (0, "")
    assert not Path("bot.db").exists()


def test_whatever_goes_wrong_the_agent_goes_on_and_no_word_of_anybody_is_told(
    told: Callable[..., Done], demem: Demem
) -> None:
    prompt = {"hook_event_name": "beforeSubmitPrompt", "conversation_id": "s", "prompt": "secret"}
    Path("bot.db").write_text("this is no database, but it is long enough to be looked into" * 9)
    done = told("cursor", prompt)
    assert (done.code, done.out) == (0, "")
    assert "secret" not in done.err
    assert done.err
    for words in (["emacs"], ["cursor", "--no-such"], [], ["cursor"], ["cursor", "--json"]):
        done = demem("hook", *words)
        assert (done.code, done.out) == (0, "")
        assert done.err


def test_a_transcript_that_cannot_be_read_is_told_and_the_answer_kept(
    told: Callable[..., Done],
) -> None:
    session = Session("claude-code", told)
    done = session.end("Noted.", transcript_path="none.jsonl")
    assert done.err == "demem: the transcript was not read: FileNotFoundError\n"
    assert remembered() == [("assistant", "Noted.")]


def test_the_command_that_a_set_up_writes_runs(demem: Demem, tmp_path: Path) -> None:
    demem("setup", "claude-code", "--no-server")
    (group,) = read(HOOKS["claude-code"])["hooks"]["Stop"]
    payload = {"hook_event_name": "Stop", "session_id": "s", "last_assistant_message": "Noted."}
    done = subprocess.run(
        shlex.split(group["hooks"][0]["command"]),
        input=json.dumps(payload).encode(),
        capture_output=True,
        check=False,
        cwd="/",
        env={"PYTHONPATH": f"{PACKAGE.parent}:{ROOT / 'adapters'}"},
    )
    assert (done.returncode, done.stdout) == (0, b"")
    with SlotMemory.open(f"sqlite:///{tmp_path}/.demem/memory.db") as memory:
        assert [item.text for item in memory.evidence()] == ["Noted."]


@pytest.mark.slow
def test_sessions_side_by_side_lose_no_word(tmp_path: Path) -> None:
    surroundings = {"PYTHONPATH": f"{PACKAGE.parent}:{ROOT / 'adapters'}"}
    command = [sys.executable, "-m", "demem_agent.cli", "hook", "codex", "-m", "bot.db"]
    running: list[subprocess.Popen[bytes]] = []
    for number in range(4):
        told = {"hook_event_name": "UserPromptSubmit", "session_id": f"s{number}"}
        payload = json.dumps({**told, "prompt": f"Fact {number}.", "turn_id": "t"}).encode()
        pipe = subprocess.PIPE
        hook = subprocess.Popen(command, stdin=pipe, stderr=pipe, env=surroundings)
        assert hook.stdin is not None
        hook.stdin.write(payload)
        hook.stdin.close()
        running.append(hook)
    for hook in running:
        assert hook.wait() == 0
        assert hook.stderr is not None
        assert hook.stderr.read() == b""
        hook.stderr.close()
    assert sorted(text for _, text in remembered()) == [f"Fact {number}." for number in range(4)]
