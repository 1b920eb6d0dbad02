"""Chats as WhatsApp exports them, of iOS and Android in several languages, and others like them."""

from __future__ import annotations

import time
from datetime import datetime
from pathlib import Path
from zipfile import ZipFile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent import InvalidInput, imports
from demem_agent.imports import Import
from demem_agent.imports.recognising import format_of_text
from demem_agent.imports.sources import sources_of
from demem_agent.imports.stamps import Dates

LATE = datetime(2024, 2, 13, 22, 5)

#: How a phone writes the evening of 13 February 2024, before "Ana: Hi.".
STAMPS = [
    "[2024-02-13 22:05] ",
    "[2024-02-13T22:05:00] ",
    "[13.02.24, 22:05:00] ",  # iOS, German
    "\u200e[13/02/2024, 22:05:00] ",
    "[2/13/24, 10:05:00\u202fPM] ",  # iOS, American
    "[13/2/24, 10:05:00 p. m.] ",  # iOS, Spanish of Mexico
    "[13-02-2024 22:05:00] ",  # iOS, Dutch
    "[2024/2/13 下午10:05:00] ",  # iOS, Chinese
    "[2024. 2. 13. 오후 10:05:00] ",  # iOS, Korean
    "[13/02/2567 22:05:00] ",  # iOS, Thai
    "13/02/2024, 22:05 - ",  # Android, British
    "2/13/24, 10:05 PM - ",
    "13/02/2024, 10:05 pm - ",
    "13.02.24, 22:05 - ",  # Android, German
    "13/02/2024 à 22:05 - ",  # Android, French
    "13.2.2024 klo 22.05 - ",  # Android, Finnish
    "2024. 02. 13. 22:05 - ",  # Android, Hungarian
    "2024/02/13 22:05 - ",  # Android, Japanese
    "\u200f١٣/٢/٢٠٢٤، ١٠:٠٥ م - ",  # Android, Arabic
]

IOS = """\
[01.02.24, 10:00:12] Garden: \u200eNachrichten und Anrufe sind Ende-zu-Ende-verschlüsselt.
[01.02.24, 10:00:12] Ana María: The key is under the mat.
It has a red ribbon.

[2024] was better.
\u200e[01.02.24, 10:01:00] Ben: \u200eBild weggelassen
\u200e[01.02.24, 10:01:30] Ben: Our new gate \u200eBild weggelassen
\u200e[01.02.24, 10:01:40] Ben: \u200e<Anhang: 00000012-PHOTO.jpg>
[13.02.24, 09:00:00] ~\u202fCy: @\u2068Ana\u2069 see http://e.org: open \u200e<Mensagem editada>
[13.02.24, 09:00:01] Ben: \u200eDu hast diese Nachricht gelöscht.
"""

ANDROID = """\
1/2/24, 10:00 - Messages and calls are end-to-end encrypted. Tap to learn more.
1/2/24, 10:00 - Ana changed the subject from "Garden" to "Garden: gate"
1/2/24, 10:01 - +49 170 1234567: The key is under the mat.
1/2/24, 10:02 - Ana: <Media omitted>
1/2/24, 10:03 - Ana: IMG-20240201-WA0001.jpg (file attached)
Our new gate
1/2/24, 10:03 - Ana: This message was deleted
1/13/24, 10:04 - Ana: I <3 it. <This message was edited>
"""


def read(text: str, dates: Dates | None = None, *, name: str | None = None) -> Import:
    return imports.read(text.splitlines(keepends=True), dates=dates, name=name)


def told(text: str) -> list[tuple[str | None, str]]:
    return [(turn.speaker, turn.text) for turn in read(text)]


@pytest.mark.parametrize("stamp", STAMPS)
def test_a_message_is_dated_as_the_phone_writes_it(stamp: str) -> None:
    (turn,) = read(f"{stamp}Ana: Hi.\n")
    assert (turn.speaker, turn.text, turn.at) == ("Ana", "Hi.", LATE)


def test_a_chat_of_ios_is_its_messages_without_what_whatsapp_says() -> None:
    source = read(IOS)
    assert [(turn.speaker, turn.text) for turn in source] == [
        ("Ana María", "The key is under the mat.\nIt has a red ribbon.\n\n[2024] was better."),
        ("Ben", "Our new gate"),
        ("Cy", "@Ana see http://e.org: open"),
    ]
    assert source.reasons == {"notice": 3, "media": 2}


def test_a_chat_of_android_is_its_messages_without_what_whatsapp_says() -> None:
    source = read(ANDROID)
    assert [(turn.speaker, turn.text) for turn in source] == [
        ("+49 170 1234567", "The key is under the mat."),
        ("Ana", "Our new gate"),
        ("Ana", "I <3 it."),
    ]
    assert source.reasons == {"notice": 2, "media": 2, "deleted": 1}


def test_each_day_of_a_chat_is_a_session() -> None:
    sessions = [turn.session for turn in read(IOS, name="garden")]
    assert sessions == ["garden 2024-02-01", "garden 2024-02-01", "garden 2024-02-13"]


@pytest.mark.parametrize(
    ("dates", "expected"),
    [
        (["01/02/24", "13/02/24"], datetime(2024, 2, 1)),
        (["01/02/24", "02/13/24"], datetime(2024, 1, 2)),
        (["11/01/24", "12/01/24", "01/02/24"], datetime(2024, 1, 11)),  # it goes on in time
        (["01/11/24", "01/12/24", "02/01/24"], datetime(2024, 1, 11)),
        (["01.02.24"], datetime(2024, 2, 1)),
        (["03/03/24"], datetime(2024, 3, 3)),
    ],
)
def test_all_dates_of_a_chat_tell_whether_the_day_comes_first(
    dates: list[str], expected: datetime
) -> None:
    lines = [f"[{date}, 00:00:00] Ana: It is {date}." for date in dates]
    assert next(iter(read("\n".join(lines)))).at == expected


def test_where_nothing_tells_it_is_asked_for() -> None:
    chat = "01/02/24, 10:00 - Ana: I am here.\n02/03/24, 10:00 - Ben: So am I.\n"
    with pytest.raises(InvalidInput, match='dates must be "day" or "month"'):
        list(read(chat))
    assert [turn.at for turn in read(chat, "day")] == [at(2, 1), at(3, 2)]
    assert [turn.at for turn in read(chat, "month")] == [at(1, 2), at(2, 3)]
    with pytest.raises(InvalidInput, match="dates must be"):
        read(chat, "year")  # type: ignore[arg-type]


def at(month: int, day: int) -> datetime:
    return datetime(2024, month, day, 10)


def test_dates_that_contradict_each_other_are_named() -> None:
    chat = "[13/02/24, 10:00:00] Ana: One.\n[02/14/24, 10:00:00] Ana: Two.\n"
    with pytest.raises(InvalidInput, match=r"13/02/24 and 02/14/24"):
        list(read(chat))
    # Of the order that is said, the other is what somebody pasted.
    (turn,) = read(chat, "day")
    assert turn.text == "One.\n[02/14/24, 10:00:00] Ana: Two."


def test_notes_with_a_time_are_of_nobody_and_dated() -> None:
    notes = "[2024-02-13 22:05] Watered the figs.\n[2024-02-14 08:00] Fed the cat: all of it.\n"
    assert [(turn.speaker, turn.text, turn.at) for turn in read(notes)] == [
        (None, "Watered the figs.", LATE),
        (None, "Fed the cat: all of it.", datetime(2024, 2, 14, 8)),
    ]


@pytest.mark.parametrize("text", ["[13, 14, 15]", '["2024-02-13 22:05"]', "[]"])
def test_what_is_json_stays_json(text: str) -> None:
    assert format_of_text(next(sources_of([text]))) == "json"


def test_a_later_export_of_a_chat_adds_what_is_new(tmp_path: Path) -> None:
    path = tmp_path / "chat.txt"
    said = [f"[13.02.24, 22:0{n}:00] Ana: ok\n" for n in (1, 1, 2)]
    path.write_text("".join(said), encoding="utf-8")
    first = [turn.key for turn in imports.read(path)]
    path.write_text("".join([*said[1:], "[13.02.24, 22:05:00] Ana: ok\n"]), encoding="utf-8")
    later = [turn.key for turn in imports.read(path)]
    assert len({*first}) == 3
    assert len({*later} - {*first}) == 1


@pytest.mark.parametrize("member", ["_chat.txt", "WhatsApp Chat mit Ana.txt"])
def test_a_chat_is_read_as_it_is_packed(tmp_path: Path, member: str) -> None:
    path = tmp_path / "export.zip"
    with ZipFile(path, "w") as archive:
        archive.writestr(member, IOS)
        archive.writestr("00000012-PHOTO.jpg", b"")
    assert [turn.text for turn in imports.read(path)] == [text for _, text in told(IOS)]


@pytest.mark.parametrize("odd", [" ", "\u200e", "a ", "<a ", ":", "<a: "])
def test_a_message_of_an_odd_kind_takes_no_long_time(odd: str) -> None:
    chat = f"[2024-02-13 22:05] Ana: Hi.{odd * 20_000}x\n"
    began = time.process_time()
    assert len(list(read(chat))) == 1
    assert time.process_time() - began < 1.0


_SAID = st.from_regex(r"[A-Za-zéß0-9][A-Za-zéß0-9 .,:;!?/@#<3'-]*[A-Za-zéß0-9.!?]", fullmatch=True)


@given(st.lists(_SAID.filter(lambda said: said != "null"), min_size=1))
def test_what_people_say_stays_as_they_say_it(said: list[str]) -> None:
    chat = "".join(f"13/02/24, 22:05 - Ana: {one}\n" for one in said)
    assert [turn.text for turn in read(chat)] == said
