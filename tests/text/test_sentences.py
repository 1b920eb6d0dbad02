"""A sentence ends where it does, and not at what is only written with a stop."""

from __future__ import annotations

import pytest

from demem_agent.text.sentences import sentences


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("Wir heiraten am 14. Juni. Schön!", ["Wir heiraten am 14. Juni.", "Schön!"]),
        ("Wir fahren z.B. nach Rügen, ca. 4 Std. mit dem Zug.", None),
        ("Die Praxis ist in der Karlstr. 5 im 2. Stock.", None),
        ("El Sr. Gómez vive en la Av. Mayor.", None),
        ("It is at St. John's.", None),
        ("I was born in 1914. March came late.", ["I was born in 1914.", "March came late."]),
        ("We have 3. Bring one.", ["We have 3.", "Bring one."]),
        ("The vet is at No. 5 Elm Street.", None),
        ("Take platform no. 4, it is on pp. 12 and 13 (Fig. 3, vol. II).", None),
        ("Ask, e.g. before noon, approx. 7 of them, i.e. Mia vs. Ben.", None),
        ("We live in Mt. Pleasant, est. 1998, apt. 6.", None),
        ("The pool is open from 7 a.m. to 9 p.m. on Sundays.", None),
        ("We met at 9 p.m. Then we ate.", ["We met at 9 p.m.", "Then we ate."]),
        ("Training am Do. um 18 Uhr. Danke.", ["Training am Do. um 18 Uhr.", "Danke."]),
        ("Frag bei Fr. Lang nach, Hr. Ott ist krank.", None),
        ("Tools: 1. hammer 2. saw 3. file.", None),
        ("1. sand it\n2. prime it", ["1. sand it", "2. prime it"]),
        ("She is 4. Then 2. No.", ["She is 4.", "Then 2.", "No."]),
        ("Did he come? No. Ben came.", ["Did he come?", "No.", "Ben came."]),
        ("No. I was ill.", ["No.", "I was ill."]),
        ("The shop is in the apt. Ring twice.", ["The shop is in the apt.", "Ring twice."]),
        ("I ate the egg. It was good.", ["I ate the egg.", "It was good."]),
        ("Dr. Ito met J. K. Rowling. Really?", ["Dr. Ito met J. K. Rowling.", "Really?"]),
    ],
)  # fmt: skip
def test_a_text_is_cut_where_sentences_end(text: str, cut: list[str] | None) -> None:
    assert [text[start:end] for start, end in sentences(text)] == (cut or [text])
