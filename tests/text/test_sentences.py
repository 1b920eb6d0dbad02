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


@pytest.mark.parametrize(
    "text",
    [
        "onze tandarts heet dr. Verbeek en zit in Sittard",
        "de loodgieter is dhr. De Wit uit Venlo",
        "afspraak met mevr. Van den Berg om 9 uur",
        "wij huren bij fa. Claessens",
        "het college van ir. Pauw begint om tien uur",
        "das regelt Fr. Neumann in der Buchhaltung",
        "zu zahlen gem. Vertrag am Monatsende",
        "gem. § 12 ist das verboten",
        "die Miete inkl. Nebenkosten beträgt 800 Euro",
        "Das Büro liegt im 3. Hinterhaus, Klingel oben.",
        "der 4. Versuch hat geklappt",
        "im 1. und 2. Semester gibt es keine Noten",
        "il notaio è il dott. Ferri di Parma",
        "ho visto l'arch. Bellini e la prof. Conti",
        "chiama il sig. De Luca domani",
        "mon kiné est le dr. Lambert à Namur",
        "el piso es del sr. Ortega, y la sra. De la Fuente cobra",
        "o contrato é da dra. Lima de Braga",
        "ask prof. dr. Hartmann or rev. Cole",
        "the painting is by v. Gogh",
        "de zitting is op 3 okt. 2026 om 9 uur, zaal nr. 7",
        "das Haus kostet 3 Mio. Euro im Moment",
        "vr. 13:30 kapper, tel. 046 55 12",
    ],
)
def test_an_abbreviation_ends_no_sentence_before_what_it_stands_for(text: str) -> None:
    assert sentences(text) == [(0, len(text))]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I went to see the dr.", "She was kind."),
        ("l'ho visto due anni fa.", "Roberto stava bene."),
        ("No quiero ir.", "Pedro va solo."),
        ("I am 30.", "Tom is 31."),
        ("We need chairs, cups etc.", "Tom brings them."),
        ("Der Termin ist am 3.", "Danke dir."),
        ("This is just a rag.", "Anna threw it out."),
        ("We saw what didn't.", "Ben left."),
        ("The inn is a hidden gem.", "Ben loves it."),
        ("I spoke with HR.", "Ben did not."),
        ("She was born in may.", "He was not."),
        ("I said so.", "5 people came."),
        ("Er ist der 1.", "Danach kam Tom."),
    ],
)
def test_a_word_that_may_be_one_ends_a_sentence(first: str, second: str) -> None:
    text = f"{first} {second}"
    assert [text[start:end] for start, end in sentences(text)] == [first, second]


def test_a_line_ends_behind_an_abbreviation() -> None:
    assert sentences("see dhr.\nMaas") == [(0, 8), (9, 13)]
