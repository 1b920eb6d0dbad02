"""Questions of an earlier time are told from all others."""

from __future__ import annotations

import pytest

from demem_agent.text.language.earlier import earlier_asked


@pytest.mark.parametrize(
    ("question", "than"),
    [
        ("Who was my doctor before Novak?", {"novak"}),
        ("Welches Rad hatte ich vor dem Moustache?", {"moustache"}),
        ("¿Qué coche tenía Luca antes del Fiat?", {"fiat"}),
        ("Quel médecin avant Novak ?", {"novak"}),
        ("Che macchina avevo prima della Panda?", {"panda"}),
        ("Que carro tinha antes do Fiat?", {"fiat"}),
        ("What was my old flat's address?", set()),
        ("Where did I use to work before?", set()),
        ("Wie war meine alte Adresse?", set()),
        ("¿Cuál era mi antigua dirección?", set()),
        ("Quelle était mon ancienne adresse ?", set()),
        ("Qual era il mio vecchio indirizzo?", set()),
        ("Qual era a minha antiga morada?", set()),
    ],
)
def test_what_was_before_is_asked_for(question: str, than: set[str]) -> None:
    asked = earlier_asked(question)
    assert asked is not None
    assert asked.than == than


@pytest.mark.parametrize(
    "question",
    [
        "How old is my son?",
        "Is there an old map?",
        "What did Maria do before April 10?",
        "What do I take before Work?",
        "Was nehme ich vor dem Frühstück?",
        "Wie alt ist Ida?",
        "What happened before I came?",
        "Chi viene prima di cena?",
    ],
)
def test_other_questions_ask_for_no_earlier_time(question: str) -> None:
    assert earlier_asked(question) is None
