"""Relative times in other languages: tables checked by hand, and what is left alone."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent import SlotMemory
from demem_agent.text.times.dates import find, ranges

FRIDAY = date(2023, 6, 9)
WEDNESDAY = date(2023, 6, 7)

# What was said on Friday 9 June 2023, the words that count, the first and the last day they mean.
SAID_ON_FRIDAY = [
    # Portuguese, as it is written in Portugal and in haste
    ("Há duas semanas mudámos de casa.", "Há duas semanas", "2023-05-22", "2023-05-28"),
    ("Fomos lá há duas semanas.", "há duas semanas", "2023-05-22", "2023-05-28"),
    ("amanha vou ao dentista", "amanha", "2023-06-10", "2023-06-10"),
    ("chego amanha", "amanha", "2023-06-10", "2023-06-10"),
    ("vou la na proxima semana", "proxima semana", "2023-06-12", "2023-06-18"),
    # In few words, and without marks
    ("der Zug geht uebermorgen", "uebermorgen", "2023-06-11", "2023-06-11"),
    ("wir sehen uns naechste Woche", "naechste Woche", "2023-06-12", "2023-06-18"),
    ("on se voit apres-demain", "apres-demain", "2023-06-11", "2023-06-11"),
    ("la semana proxima empiezo", "semana proxima", "2023-06-12", "2023-06-18"),
    ("vengo domani", "domani", "2023-06-10", "2023-06-10"),
    # German
    ("Gestern war ich beim Arzt.", "Gestern", "2023-06-08", "2023-06-08"),
    ("Vorgestern hat es geregnet.", "Vorgestern", "2023-06-07", "2023-06-07"),
    ("Ich komme morgen vorbei.", "morgen", "2023-06-10", "2023-06-10"),
    ("Morgen fahre ich nach Wien.", "Morgen", "2023-06-10", "2023-06-10"),
    ("Übermorgen habe ich frei.", "Übermorgen", "2023-06-11", "2023-06-11"),
    ("Letzte Woche war ich krank.", "Letzte Woche", "2023-05-29", "2023-06-04"),
    ("Nächste Woche habe ich Urlaub.", "Nächste Woche", "2023-06-12", "2023-06-18"),
    ("Wir ziehen nächsten Monat um.", "nächsten Monat", "2023-07-01", "2023-07-31"),
    ("Das habe ich vor drei Tagen gekauft.", "vor drei Tagen", "2023-06-06", "2023-06-06"),
    ("Vor zwei Wochen kam der Brief.", "Vor zwei Wochen", "2023-05-22", "2023-05-28"),
    ("In zwei Wochen habe ich Geburtstag.", "In zwei Wochen", "2023-06-19", "2023-06-25"),
    ("Letzten Freitag war ich im Kino.", "Letzten Freitag", "2023-06-02", "2023-06-02"),
    ("Wir treffen uns nächsten Montag.", "nächsten Montag", "2023-06-12", "2023-06-12"),
    ("Nächsten Freitag ist die Prüfung.", "Nächsten Freitag", "2023-06-16", "2023-06-16"),
    (
        "Nächste Woche Dienstag habe ich Zahnarzt.",
        "Nächste Woche Dienstag",
        "2023-06-13",
        "2023-06-13",
    ),
    (
        "Am Montag der nächsten Woche fahren wir.",
        "Montag der nächsten Woche",
        "2023-06-12",
        "2023-06-12",
    ),
    ("Letzte Woche Mittwoch war ich krank.", "Letzte Woche Mittwoch", "2023-05-31", "2023-05-31"),
    ("Heute Abend kochen wir.", "Heute Abend", "2023-06-09", "2023-06-09"),
    ("Gestern Nachmittag war ich bei Ana.", "Gestern Nachmittag", "2023-06-08", "2023-06-08"),
    # Spanish
    (
        "El martes de la semana que viene voy.",
        "martes de la semana que viene",
        "2023-06-13",
        "2023-06-13",
    ),
    ("Esta noche cenamos en casa de Ana.", "Esta noche", "2023-06-09", "2023-06-09"),
    ("Ayer comí paella.", "Ayer", "2023-06-08", "2023-06-08"),
    ("Anteayer llovió mucho.", "Anteayer", "2023-06-07", "2023-06-07"),
    ("Mañana tengo el examen.", "Mañana", "2023-06-10", "2023-06-10"),
    ("Nos vemos pasado mañana.", "pasado mañana", "2023-06-11", "2023-06-11"),
    ("La semana pasada estuve enferma.", "semana pasada", "2023-05-29", "2023-06-04"),
    ("La semana que viene me mudo.", "semana que viene", "2023-06-12", "2023-06-18"),
    ("El mes pasado cambié de trabajo.", "mes pasado", "2023-05-01", "2023-05-31"),
    ("Lo compré hace tres días.", "hace tres días", "2023-06-06", "2023-06-06"),
    ("Hace dos semanas fui al médico.", "Hace dos semanas", "2023-05-22", "2023-05-28"),
    ("Me caso dentro de dos meses.", "dentro de dos meses", "2023-08-01", "2023-08-31"),
    ("El lunes pasado perdí el tren.", "lunes pasado", "2023-06-05", "2023-06-05"),
    ("El próximo martes tengo cita.", "próximo martes", "2023-06-13", "2023-06-13"),
    # French
    ("Hier j'ai vu le médecin.", "Hier", "2023-06-08", "2023-06-08"),
    ("Avant-hier il a plu.", "Avant-hier", "2023-06-07", "2023-06-07"),
    ("Demain je pars à Lyon.", "Demain", "2023-06-10", "2023-06-10"),
    ("On se voit après-demain.", "après-demain", "2023-06-11", "2023-06-11"),
    ("La semaine dernière j'étais malade.", "semaine dernière", "2023-05-29", "2023-06-04"),
    ("La semaine prochaine je déménage.", "semaine prochaine", "2023-06-12", "2023-06-18"),
    ("Le mois dernier nous avons acheté une maison.", "mois dernier", "2023-05-01", "2023-05-31"),
    ("Je l'ai acheté il y a trois jours.", "il y a trois jours", "2023-06-06", "2023-06-06"),
    ("Nous partons dans deux semaines.", "dans deux semaines", "2023-06-19", "2023-06-25"),
    ("Vendredi dernier je suis allé au cinéma.", "Vendredi dernier", "2023-06-02", "2023-06-02"),
    ("Lundi prochain j'ai un examen.", "Lundi prochain", "2023-06-12", "2023-06-12"),
    (
        "Mardi de la semaine prochaine je pars.",
        "Mardi de la semaine prochaine",
        "2023-06-13",
        "2023-06-13",
    ),
    # Portuguese
    ("Ontem fui à praia com as crianças.", "Ontem", "2023-06-08", "2023-06-08"),
    ("Anteontem choveu muito.", "Anteontem", "2023-06-07", "2023-06-07"),
    ("Amanhã tenho uma prova.", "Amanhã", "2023-06-10", "2023-06-10"),
    ("Depois de amanhã eu viajo.", "Depois de amanhã", "2023-06-11", "2023-06-11"),
    ("Na semana passada fiquei doente.", "semana passada", "2023-05-29", "2023-06-04"),
    ("Na próxima semana eu mudo de casa.", "próxima semana", "2023-06-12", "2023-06-18"),
    ("No mês que vem temos férias.", "mês que vem", "2023-07-01", "2023-07-31"),
    ("Comprei há três dias.", "há três dias", "2023-06-06", "2023-06-06"),
    ("Isso foi duas semanas atrás.", "duas semanas atrás", "2023-05-22", "2023-05-28"),
    ("Viajo daqui a duas semanas.", "daqui a duas semanas", "2023-06-19", "2023-06-25"),
    ("Na sexta passada fui ao cinema.", "sexta passada", "2023-06-02", "2023-06-02"),
    # Italian
    ("Ieri sono andata dal medico.", "Ieri", "2023-06-08", "2023-06-08"),
    ("L'altro ieri ha piovuto.", "L'altro ieri", "2023-06-07", "2023-06-07"),
    ("Domani ho un esame.", "Domani", "2023-06-10", "2023-06-10"),
    ("Ci vediamo dopodomani.", "dopodomani", "2023-06-11", "2023-06-11"),
    ("La settimana scorsa ero malato.", "settimana scorsa", "2023-05-29", "2023-06-04"),
    ("Stopt Lars volgend jaar?", "volgend jaar", "2024-01-01", "2024-12-31"),
    ("vorig jaar nieuwe ramen", "vorig jaar", "2022-01-01", "2022-12-31"),
    ("Aanstaande dinsdag komt de loodgieter.", "Aanstaande dinsdag", "2023-06-13", "2023-06-13"),
    ("verhuizing zaterdag aanstaande", "zaterdag aanstaande", "2023-06-10", "2023-06-10"),
    ("keuring eerstkomende donderdag", "eerstkomende donderdag", "2023-06-15", "2023-06-15"),
    ("La prossima settimana sono in ferie.", "prossima settimana", "2023-06-12", "2023-06-18"),
    ("Il mese prossimo cambio casa.", "mese prossimo", "2023-07-01", "2023-07-31"),
    ("L'ho comprato tre giorni fa.", "tre giorni fa", "2023-06-06", "2023-06-06"),
    ("Partiamo tra due settimane.", "tra due settimane", "2023-06-19", "2023-06-25"),
    ("Venerdì scorso sono stato al cinema.", "Venerdì scorso", "2023-06-02", "2023-06-02"),
    ("Lunedì prossimo inizia il corso.", "Lunedì prossimo", "2023-06-12", "2023-06-12"),
    # Dutch
    ("Gisteren was ik bij de dokter.", "Gisteren", "2023-06-08", "2023-06-08"),
    ("Ik kom morgen langs met mijn zus.", "morgen", "2023-06-10", "2023-06-10"),
    ("Vorige week was ik ziek.", "Vorige week", "2023-05-29", "2023-06-04"),
    ("Dat heb ik drie dagen geleden gekocht.", "drie dagen geleden", "2023-06-06", "2023-06-06"),
    # Russian
    ("Вчера я ходил к врачу.", "Вчера", "2023-06-08", "2023-06-08"),
    ("Позавчера шёл дождь.", "Позавчера", "2023-06-07", "2023-06-07"),
    ("Завтра у меня экзамен.", "Завтра", "2023-06-10", "2023-06-10"),
    ("Увидимся послезавтра.", "послезавтра", "2023-06-11", "2023-06-11"),
    ("На прошлой неделе я болела.", "прошлой неделе", "2023-05-29", "2023-06-04"),
    ("На следующей неделе у меня отпуск.", "следующей неделе", "2023-06-12", "2023-06-18"),
    ("В прошлом месяце мы переехали.", "прошлом месяце", "2023-05-01", "2023-05-31"),
    ("Я купил его три дня назад.", "три дня назад", "2023-06-06", "2023-06-06"),
    ("Неделю назад пришло письмо.", "Неделю назад", "2023-05-29", "2023-06-04"),
    ("Через две недели поедем в Крым.", "Через две недели", "2023-06-19", "2023-06-25"),
    ("В прошлую пятницу был концерт.", "прошлую пятницу", "2023-06-02", "2023-06-02"),
    ("В следующий понедельник начнётся курс.", "следующий понедельник", "2023-06-12", "2023-06-12"),
    # Chinese
    ("我昨天去看了医生。", "昨天", "2023-06-08", "2023-06-08"),
    ("前天下雨了。", "前天", "2023-06-07", "2023-06-07"),
    ("明天我有考试。", "明天", "2023-06-10", "2023-06-10"),
    ("后天见吧。", "后天", "2023-06-11", "2023-06-11"),
    ("上周我生病了。", "上周", "2023-05-29", "2023-06-04"),
    ("下个星期我放假。", "下个星期", "2023-06-12", "2023-06-18"),
    ("上个月我们搬家了。", "上个月", "2023-05-01", "2023-05-31"),
    ("这是三天前买的。", "三天前", "2023-06-06", "2023-06-06"),
    ("两个星期前收到信。", "两个星期前", "2023-05-22", "2023-05-28"),
    ("三天后出发。", "三天后", "2023-06-12", "2023-06-12"),
    ("上周五我去看电影了。", "上周五", "2023-06-02", "2023-06-02"),
    ("下周一开会。", "下周一", "2023-06-12", "2023-06-12"),
    ("十二天前买的。", "十二天前", "2023-05-28", "2023-05-28"),
    # Japanese
    ("昨日は医者に行った。", "昨日", "2023-06-08", "2023-06-08"),
    ("一昨日は雨だった。", "一昨日", "2023-06-07", "2023-06-07"),
    ("明日は試験がある。", "明日", "2023-06-10", "2023-06-10"),
    ("明後日に会おう。", "明後日", "2023-06-11", "2023-06-11"),
    ("先週は病気だった。", "先週", "2023-05-29", "2023-06-04"),
    ("来週から休みだ。", "来週", "2023-06-12", "2023-06-18"),
    ("先月引っ越した。", "先月", "2023-05-01", "2023-05-31"),
    ("3日前に買った。", "3日前", "2023-06-06", "2023-06-06"),
    ("二週間前に手紙が来た。", "二週間前", "2023-05-22", "2023-05-28"),
    ("2週間後に出発します。", "2週間後", "2023-06-19", "2023-06-25"),
    ("先週の金曜日に映画を見た。", "先週の金曜日", "2023-06-02", "2023-06-02"),
    ("来週の月曜日に会議がある。", "来週の月曜日", "2023-06-12", "2023-06-12"),
    # Korean
    ("어제 병원에 갔어요.", "어제", "2023-06-08", "2023-06-08"),
    ("그저께 비가 왔어.", "그저께", "2023-06-07", "2023-06-07"),
    ("내일 시험이 있어.", "내일", "2023-06-10", "2023-06-10"),
    ("모레 만나자.", "모레", "2023-06-11", "2023-06-11"),
    ("지난주에 아팠어.", "지난주", "2023-05-29", "2023-06-04"),
    ("다음 주에 휴가야.", "다음 주", "2023-06-12", "2023-06-18"),
    ("지난달에 이사했어.", "지난달", "2023-05-01", "2023-05-31"),
    ("3일 전에 샀어.", "3일 전", "2023-06-06", "2023-06-06"),
    ("두 달 전에 시작했어.", "두 달 전", "2023-04-01", "2023-04-30"),
    ("2주 후에 출발해요.", "2주 후", "2023-06-19", "2023-06-25"),
    ("지난주 금요일에 영화를 봤어.", "지난주 금요일", "2023-06-02", "2023-06-02"),
    ("다음 주 월요일에 회의가 있어.", "다음 주 월요일", "2023-06-12", "2023-06-12"),
    # Arabic
    ("ذهبت أمس إلى الطبيب.", "أمس", "2023-06-08", "2023-06-08"),
    ("أول أمس نزل المطر.", "أول أمس", "2023-06-07", "2023-06-07"),
    ("غدا عندي امتحان.", "غدا", "2023-06-10", "2023-06-10"),
    ("نلتقي بعد غد.", "بعد غد", "2023-06-11", "2023-06-11"),
    ("كنت مريضا الأسبوع الماضي.", "الأسبوع الماضي", "2023-05-29", "2023-06-04"),
    ("عندي إجازة الأسبوع القادم.", "الأسبوع القادم", "2023-06-12", "2023-06-18"),
    ("انتقلنا الشهر الماضي.", "الشهر الماضي", "2023-05-01", "2023-05-31"),
    ("اشتريته قبل ثلاثة أيام.", "قبل ثلاثة أيام", "2023-06-06", "2023-06-06"),
    ("وصلت الرسالة قبل أسبوعين.", "قبل أسبوعين", "2023-05-22", "2023-05-28"),
    ("سأسافر بعد أسبوعين.", "بعد أسبوعين", "2023-06-19", "2023-06-25"),
    ("شاهدت الفيلم يوم الجمعة الماضي.", "يوم الجمعة الماضي", "2023-06-02", "2023-06-02"),
    ("الاجتماع يوم الاثنين القادم.", "يوم الاثنين القادم", "2023-06-12", "2023-06-12"),
    # Hindi
    ("कल मैं डॉक्टर के पास गया था।", "कल", "2023-06-08", "2023-06-08"),
    ("कल मेरी परीक्षा होगी।", "कल", "2023-06-10", "2023-06-10"),
    ("परसों बारिश हुई थी।", "परसों", "2023-06-07", "2023-06-07"),
    ("हम परसों मिलेंगे।", "परसों", "2023-06-11", "2023-06-11"),
    ("पिछले हफ़्ते मैं बीमार थी।", "पिछले हफ़्ते", "2023-05-29", "2023-06-04"),
    ("अगले हफ्ते छुट्टी है।", "अगले हफ्ते", "2023-06-12", "2023-06-18"),
    ("पिछले महीने हमने घर बदला।", "पिछले महीने", "2023-05-01", "2023-05-31"),
    ("मैंने इसे तीन दिन पहले खरीदा।", "तीन दिन पहले", "2023-06-06", "2023-06-06"),
    ("दो हफ़्ते बाद हम गोवा जाएँगे।", "दो हफ़्ते बाद", "2023-06-19", "2023-06-25"),
    ("पिछले शुक्रवार को फ़िल्म देखी।", "पिछले शुक्रवार", "2023-06-02", "2023-06-02"),
    ("अगले सोमवार को बैठक है।", "अगले सोमवार", "2023-06-12", "2023-06-12"),
]

LEFT_ALONE = [
    "Guten Morgen zusammen!",
    "Am Morgen trinke ich Kaffee.",
    "Das haben wir in zwei Wochen geschafft.",
    "Por la mañana corro en el parque.",
    "Vivo aquí desde hace tres años.",
    "Vivo en esta casa hace dos años.",
    "Il y a trois jours de congé en mai.",
    "Moro aqui há dois anos.",
    "Через неделю он уехал.",
    "三天后他走了。",
    "कल की बात मत करो।",
    "वह परसों",
    "أعمل هنا منذ سنتين.",
    "وبعد أسبوع سافر إلى القاهرة.",
    "明日香さんに会った。",
    "오늘날 사람들은 바쁘다.",
    "क्या कला सुंदर है?",
    "3日前后都可以",
    "Sie heißt Frau Heute-Schmidt und Hierholzer",
    "The word for it is demain in French.",
]


@pytest.mark.parametrize(("said", "words", "first", "last"), SAID_ON_FRIDAY)
def test_a_relative_time_means_what_people_mean_by_it(
    said: str, words: str, first: str, last: str
) -> None:
    spans = find(said, FRIDAY)
    found = [(said[span.start : span.end], span.first, span.last) for span in spans]
    assert found == [(words, date.fromisoformat(first), date.fromisoformat(last))]


@pytest.mark.parametrize("said", LEFT_ALONE)
def test_what_may_mean_something_else_is_left_alone(said: str) -> None:
    assert find(said, FRIDAY) == []


@pytest.mark.parametrize(
    ("said", "anchor", "meaning"),
    [
        ("Nächsten Freitag komme ich.", "2025-05-14", "16 or 23 May 2025"),
        ("El próximo viernes vengo.", "2025-05-14", "16 or 23 May 2025"),
        ("В следующую пятницу еду.", "2025-05-14", "16 or 23 May 2025"),
        ("Sabato prossimo vado a Torino.", "2025-05-28", "31 May or 7 June 2025"),
        ("Volgende vrijdag gaan we naar zee.", "2025-12-24", "26 December 2025 or 2 January 2026"),
    ],
)
def test_the_next_friday_said_on_a_wednesday_may_be_either(
    said: str, anchor: str, meaning: str
) -> None:
    (span,) = find(said, date.fromisoformat(anchor))
    assert span.text == meaning
    assert (span.last - span.first).days == 7


def test_the_next_weekend_that_may_be_either_is_left_alone() -> None:
    assert find("Il prossimo fine settimana vado al mare.", WEDNESDAY) == []


@pytest.mark.parametrize(
    "said",
    [
        "Kommenden Freitag komme ich.",
        "Aanstaande vrijdag kom ik.",
        "Vengo el viernes que viene.",
        "Chego na sexta que vem.",
    ],
)
def test_the_coming_friday_said_on_a_wednesday_is_that_of_the_week(said: str) -> None:
    (span,) = find(said, WEDNESDAY)
    assert span.first == span.last == FRIDAY


def test_times_of_other_languages_stand_in_the_same_margin() -> None:
    memory = SlotMemory()
    memory.ingest("Ich war gestern beim Zahnarzt.", speaker="Ana", at="2024-05-02")
    memory.ingest("我们上周五搬家了。", speaker="小雨", at="2024-05-02")
    text = memory.read("Zahnarzt 搬家").text
    assert "[gestern: 1 May 2024] Ana: Ich war gestern beim Zahnarzt." in text
    assert "[上周五: 26 April 2024] 小雨: 我们上周五搬家了。" in text


def test_times_within_quotations_of_others_are_not_the_speakers() -> None:
    memory = SlotMemory()
    memory.ingest("Ana sagte: „Ich war gestern beim Zahnarzt.“", speaker="Ben", at="2024-05-02")
    assert "1 May" not in memory.read("Zahnarzt").text


def test_a_query_in_another_language_may_ask_for_a_time() -> None:
    (span,) = ranges("Was habe ich letzte Woche gekauft?", FRIDAY)
    assert (span.first, span.last) == (date(2023, 5, 29), date(2023, 6, 4))


@given(st.text(max_size=80), st.dates())
def test_any_text_on_any_day_has_times_in_order_without_overlaps(text: str, day: date) -> None:
    spans = find(text, day)
    ends = [0, *(span.end for span in spans)]
    assert all(end <= span.start for end, span in zip(ends, spans, strict=False))


@pytest.mark.parametrize("day", [date.min, date.max])
@pytest.mark.parametrize(("said", "words", "first", "last"), SAID_ON_FRIDAY[::7])
def test_the_ends_of_the_calendar_are_no_error(
    said: str, words: str, first: str, last: str, day: date
) -> None:
    assert len(find(said, day)) <= 1
