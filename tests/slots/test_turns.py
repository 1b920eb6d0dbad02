"""A sentence that ends a state takes the place of the one that told of it, whatever its words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from spoken import spoken

from demem_agent import SlotMemory
from demem_agent.slots.successions.claims import claim
from demem_agent.slots.successions.turns import turns
from demem_agent.slots.successions.withdrawals import withdrawal
from tests.support.successions import FILLING, sure


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I live in Porto.", "I moved to Lisbon."),
        ("i live in porto atm", "moved to lisbon last week!!"),
        ("My sister lives in Leeds with two cats.", "My sister just moved to York."),
        ("We're renting a place in Graz.", "We packed up and moved to a cottage in Linz."),
        ("I work at a bakery near the river.", "I started a new job at the library."),
        ("My brother works as a chef.", "My brother was laid off on Monday."),
        ("I drive a blue Golf, it's a great car.", "I sold the car on Saturday."),
        ("I have a piano in the living room.", "I gave the piano away."),
        ("I drink two cups of coffee every morning.", "I stopped drinking coffee."),
        ("I go to the gym three times a week.", "I don't go to the gym anymore."),
        ("We are going on a trip to Rome in May.", "We cancelled the trip to Rome."),
        ("We have a wedding planned for June 5.", "The wedding is called off."),
        ("I use Notion for my notes.", "I switched from Notion to Obsidian."),
        ("My sister works at Google in the maps team.", "She left Google for Shopify."),
        ("I'm dating Tom.", "Tom and I broke up."),
        ("I have a dog, Bruno.", "Bruno died in May."),
        ("I'm reading War and Peace.", "I finished War and Peace."),
        ("I work at the Brunswick.", "I left the Brunswick."),
        ("i work at google", "i left google"),
        ("i work for google in the maps team", "left google last month"),
        ("I go to the gym three times a week.", "cancelled the gym"),
        ("joined the gym", "cancelled the gym"),
        ("We have dinner planned for Friday.", "Dinner's cancelled."),
        ("dinner at ours on friday at 7", "dinner's cancelled"),
        ("the match is on saturday", "the match has been moved to sunday"),
        ("Our picnic is on Saturday at noon.", "The picnic has been postponed until Sunday."),
    ],
)
def test_what_ends_a_state_takes_the_place_of_what_told_of_it(old: str, new: str) -> None:
    assert ("e1", "e6") in sure(old, *FILLING, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I live in Porto.", "My cousin moved to Lisbon."),
        ("I live in Porto.", "I moved to Lisbon when I was a kid."),
        ("I live in Porto.", "We moved the sofa to the window."),
        ("I live in Porto.", "If I quit, I would move to Lisbon."),
        ("I live in Porto.", "I moved to Porto."),
        ("I work at a bakery near the river.", "I stopped at the bakery on the way home."),
        ("I work as a nurse.", "I quit early yesterday because of the heat."),
        ("I love baking cookies.", "I sold cookies at the school fair."),
        ("I have a red bike.", "I almost sold my bike."),
        ("My brother has a guitar.", "I sold my guitar."),
        ("We are going on a trip to Rome in May.", "They cancelled the trip to Oslo."),
        ("We use Slack at the office.", "I deleted the Slack message."),
        ("I play the violin.", "I gave up my seat to an old man."),
        ("I work for Siemens.", "I left the Siemens badge at home."),
        ("I work at the Brunswick.", "I left the Brunswick at six."),
        ("I work at the Brunswick.", "I left the Brunswick last night, it was late."),
        ("I work in the garden every day.", "i left the garden"),
        ("i work from home", "i left home"),
        ("i work at a school", "i left school"),
        ("We have dinner planned for Friday.", "Lunch's cancelled."),
        ("The dinner in Rome was great.", "Dinner's cancelled."),
        ("Dinner is on Friday.", "The sofa has been moved to the window."),
        ("joined the gym", "cancelled the magazine"),
    ],
)
def test_the_same_verbs_of_something_else_end_nothing(old: str, new: str) -> None:
    assert sure(old, *FILLING, new) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The dentist appointment is on Tuesday.", "Scratch that, it's on Thursday."),
        ("My flight leaves at 7 pm.", "Actually it's 9 pm now."),
        ("The code for the gate is 4471.", "Correction: 4417."),
        ("Dinner is at Luigi's on Friday.", "Sorry, I meant Saturday."),
        ("Let's meet on Wednesday at the pier.", "Actually, make it Friday."),
        ("The invoice is 340 euros.", "No wait, 430 euros."),
        ("My favourite is the green one.", "Scratch that."),
        ("We're doing the drive in concrete.", "changed, it's gravel now"),
    ],
)
def test_what_was_just_said_can_be_taken_back(old: str, new: str) -> None:
    assert sure(*FILLING, old, new) == [("e5", "e6")]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The dentist appointment is on Tuesday.", "Actually it's a nice day."),
        ("I like the blue one.", "I meant it when I said you are a great friend."),
        ("My train leaves at 7 pm.", "I meant to call you."),
        ("The concert starts at 8.", "It's raining now."),
        ("The text has 900 words.", "Make it 50% shorter."),
        ("The drive is of concrete.", "Changed the tyres, it's nice now."),
    ],
)
def test_what_only_sounds_so_takes_nothing_back(old: str, new: str) -> None:
    assert sure(*FILLING, old, new) == []


def test_what_was_said_in_another_session_is_not_taken_back() -> None:
    memory = SlotMemory(clock=None)
    memory.ingest("The exam is on Tuesday.", speaker="Mia", session="one")
    memory.ingest("Scratch that, Thursday.", speaker="Mia", session="two")
    assert memory.successions() == ()


def test_what_another_speaker_said_is_not_taken_back() -> None:
    memory = SlotMemory(clock=None)
    memory.ingest("The exam is on Tuesday.", speaker="Ben")
    memory.ingest("Scratch that, Thursday.", speaker="Mia")
    assert memory.successions() == ()


def test_what_is_taken_back_in_one_breath_leaves_earlier_lines_as_they_are() -> None:
    assert sure("The exam is on Monday.", "Lunch is on Tuesday. Scratch that, Thursday.") == []


def test_a_state_begun_is_what_a_question_of_it_is_answered_by() -> None:
    memory = SlotMemory(clock=None)
    memory.ingest("I live in Porto.", speaker="Mia", at="2024-03-01")
    for text in FILLING:
        memory.ingest(text, speaker="Mia", at="2024-03-02")
    memory.ingest("I moved to Lisbon.", speaker="Mia", at="2024-07-06")
    assert memory.answer("Where does Mia live?").text == "Mia: I moved to Lisbon."
    assert "[until 6 July 2024] Mia: I live in Porto." in memory.read("Where does Mia live?").text
    assert "Porto" in memory.answer("Where did Mia live before?").text


@pytest.mark.parametrize(
    "said",
    [
        "Scratch that itch, said the doctor.",
        "scratch that itch lol",
        "scratch that off the list",
        "strike that from the record please",
    ],
)
def test_scratching_something_takes_nothing_back(said: str) -> None:
    assert withdrawal(said) is None
    assert sure("The plumber comes on Thursday.", said) == []


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("scratch that", ""),
        ("Oh, scratch that: Friday", "Friday"),
        ("Scratch that - it's on Friday", "it's on Friday"),
        ("scratch that it's on Friday", "it's on Friday"),
        ("scratch that 4pm", "4pm"),
        ("scratch that on Friday", "on Friday"),
    ],
)
def test_what_follows_a_take_back_stands_in_its_place(said: str, value: str) -> None:
    found = withdrawal(said)
    assert found is not None
    assert found.value == value


WORDS = (
    "I we my she moved to sold the car quit stopped left Porto for Lisbon not if , . ! scratch that"
)
TEXTS = st.lists(st.sampled_from(WORDS.split()), min_size=1, max_size=14).map(" ".join)


@given(TEXTS, TEXTS)
def test_any_words_can_be_judged_and_no_sentence_ends_itself(old: str, new: str) -> None:
    earlier, later = claim(old), claim(new)
    withdrawal(new)
    if earlier is not None and later is not None:
        assert turns(earlier, later) in (True, False)
        assert not turns(later, later)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I'm moving to Leeds in June.", "I'm not moving after all."),
        ("We're flying to Lisbon in October.", "We're not flying to Lisbon after all."),
        ("I'm going to take the job at Brightwell.", "I decided not to take the job after all."),
        ("We plan to get a dog this summer.", "We won't be getting a dog after all."),
        (
            "I signed up for the half marathon in May.",
            "I'm not running the half marathon after all, my knee is bad.",
        ),
        ("Ana is coming for Christmas.", "Ana isn't coming for Christmas after all."),
        ("I'm going to buy a Skoda.", "Not buying the Skoda after all."),
        (
            "My sister is getting married in August.",
            "Turns out my sister isn't getting married after all.",
        ),
        ("We're going to sell the house.", "We've decided against selling the house."),
        (
            "I'll start evening classes in January.",
            "I'm not going to do evening classes after all.",
        ),
        ("I'm switching to the night shift next month.", "I'm not switching to nights after all."),
        (
            "We will repaint the kitchen at Easter.",
            "We're not going to repaint the kitchen after all.",
        ),
        ("Tom is visiting us in September.", "Tom can't visit us after all."),
        ("I'm thinking of it no more: I'm buying the canoe.", "I won't buy the canoe after all."),
        ("We're adopting two kittens in March.", "we're not adopting kittens after all lol"),
        ("I'm going to study law in Vienna.", "I've decided not to study law after all."),
        ("I want to quit my job in spring.", "I'm not quitting after all."),
        ("We're renting the cabin by the lake in July.", "We ended up not renting the cabin."),
        ("I'm taking the piano exam in November.", "I'm not taking the piano exam after all."),
    ],
)
def test_a_plan_that_is_given_up_after_all_is_over(old: str, new: str) -> None:
    assert ("e1", "e6") in sure(old, *FILLING, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Ich wohne in Bremen.", "Ich bin nach Köln gezogen."),
        ("Ich arbeite bei Siemens als Technikerin.", "Ich habe gekündigt."),
        ("Wir fliegen im Oktober nach Lissabon.", "Wir fliegen doch nicht nach Lissabon."),
        ("Ich ziehe im Juni nach Leipzig.", "Ich ziehe doch nicht um."),
        (
            "Ich wohne in der Lindenstraße.",
            "Wir sind letzte Woche umgezogen, jetzt in der Parkallee.",
        ),
        ("Ich habe einen Golf.", "Ich habe den Golf verkauft."),
        (
            "Ich arbeite als Köchin im Hotel Adler.",
            "Ich habe eine neue Stelle bei der Stadt angefangen.",
        ),
        ("Am Samstag machen wir eine Feier.", "Die Feier ist abgesagt."),
        ("Ich rauche jeden Tag zehn Zigaretten.", "Ich rauche nicht mehr."),
        ("Ich bin mit Jonas zusammen.", "Jonas und ich haben uns getrennt."),
        ("Ich wohne in Hamburg.", "Seit Mai wohne ich in Dresden."),
        ("Ich arbeite bei der Post.", "Ich arbeite nicht mehr bei der Post."),
        ("Wir wollen uns einen Hund holen.", "Wir holen uns doch keinen Hund."),
        (
            "Ich nehme die Stelle in Zürich an.",
            "Ich habe mich gegen die Stelle in Zürich entschieden.",
        ),
        ("Ich lebe in Graz.", "Bin vor zwei Wochen nach Linz umgezogen."),
        ("Ich spiele im Verein Handball.", "Ich habe mit Handball aufgehört."),
        ("Anna kommt an Weihnachten zu uns.", "Anna kommt an Weihnachten doch nicht."),
        ("Ich arbeite in einer Apotheke.", "Ich habe meinen Job verloren."),
        ("Wir haben im August eine Reise nach Rom gebucht.", "Die Reise nach Rom fällt aus."),
        ("Ich fahre einen alten Volvo.", "Wir haben den Volvo weggegeben."),
        ("Vivo en Sevilla.", "Me mudé a Valencia."),
        ("J'habite au 14 rue de la Sardine.", "J'ai déménagé au 3 quai de l'Yser."),
        ("J'habite à Brest.", "On a déménagé à Lyon hier."),
        ("J'habite à Brest.", "J'habite maintenant à Lyon."),
        ("Je travaille chez Renault.", "J'ai commencé à travailler chez Airbus."),
        ("J'ai une vieille Clio.", "J'ai vendu la Clio."),
        ("Moro na rua da Sardinha 14.", "Mudei-me para o cais da Yser 3."),
        ("Moro em Braga.", "Agora moro no Porto."),
        ("Trabalho na Galp.", "Comecei a trabalhar na EDP."),
        ("Tenho um barco.", "Vendi o barco."),
        ("A consulta é no dia 12 de maio.", "A consulta foi adiada para 21 de maio."),
        ("Trabajo en un banco en Bilbao.", "He dejado el trabajo."),
        ("En octubre vamos a Lisboa.", "Al final no vamos a Lisboa."),
        ("Me voy a mudar a Leeds en junio.", "Al final no me mudo."),
        ("Vivo en la calle Mayor.", "Nos hemos mudado, ahora vivimos en la calle Goya."),
        ("Tengo un Seat Ibiza.", "He vendido el Seat Ibiza."),
        ("Trabajo de camarera en el Hotel Sol.", "Empecé a trabajar en el ayuntamiento."),
        ("El sábado hacemos una fiesta.", "La fiesta se canceló."),
        ("Fumo diez cigarrillos al día.", "Ya no fumo."),
        ("Estoy saliendo con Pablo.", "Pablo y yo lo hemos dejado."),
        ("Vivo en Málaga.", "Ahora vivo en Zaragoza."),
        ("Trabajo en Correos.", "Ya no trabajo en Correos."),
        ("Vamos a adoptar un perro.", "Al final no vamos a adoptar un perro."),
        ("Voy a aceptar el puesto en Zúrich.", "He decidido no aceptar el puesto en Zúrich."),
        ("Vivo en Granada.", "Hace dos semanas me trasladé a Cádiz."),
        ("Juego al balonmano en un club.", "Dejé el balonmano."),
        ("Ana viene a casa en Navidad.", "Ana al final no viene en Navidad."),
        ("Trabajo en una farmacia.", "Me han despedido."),
        ("En agosto tenemos un viaje a Roma.", "Hemos cancelado el viaje a Roma."),
        ("Conduzco un Volvo viejo.", "Vendimos el Volvo."),
    ],
)
def test_a_state_is_over_in_other_languages_as_well(old: str, new: str) -> None:
    assert ("e1", "e6") in sure(old, *FILLING, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I'm moving to Leeds in June.", "It wasn't raining after all."),
        (
            "We're flying to Lisbon in October.",
            "The food in Lisbon is not that expensive after all, says Tom.",
        ),
        ("I'm buying a Skoda.", "I'm not selling the bike after all."),
        ("I live in York.", "I'm not moving after all."),
        ("Tom is visiting us in September.", "I'm not visiting the dentist after all."),
        ("Ich wohne in Bremen.", "Mein Bruder ist nach Köln gezogen."),
        ("Ich arbeite bei Siemens.", "Anna hat gekündigt."),
        ("Ich wohne in Bremen.", "Ich war gestern in Köln."),
        ("Ich wohne in Bremen.", "Ich ziehe vielleicht nach Köln."),
        ("Ich arbeite bei Siemens.", "Ich habe mein Handyabo gekündigt."),
        ("Ich wohne in Bremen.", "Ich ziehe doch nicht um."),
        ("Wir fliegen im Oktober nach Lissabon.", "Das war doch nicht so teuer."),
        ("Ich habe einen Golf.", "Ich habe das Fahrrad verkauft."),
        ("Vivo en Sevilla.", "Mi hermano se mudó a Valencia."),
        ("Trabajo en un banco.", "Ana ha dejado el trabajo."),
        ("Vivo en Sevilla.", "Ayer fui a Valencia."),
        ("Vivo en Sevilla.", "Quizás me mude a Valencia."),
        ("Vivo en Sevilla.", "Al final no me mudo."),
        ("En octubre vamos a Lisboa.", "Al final no llovió."),
        ("Tengo un Seat Ibiza.", "He vendido la bici."),
        ("Trabajo en un banco.", "He dejado el tabaco."),
        ("Ich bin in Köln geboren.", "Ich bin nach Bremen gezogen."),
        ("Nací en Valencia.", "Me mudé a Sevilla."),
        ("J'habite à Brest.", "J'ai déménagé le canapé."),
        ("J'habite à Brest.", "Nos voisins ont déménagé."),
        ("J'habite à Brest.", "J'ai failli déménager à Lyon."),
        ("J'habite à Brest.", "Maintenant, je vis dans la peur."),
        ("Je travaille chez Renault.", "J'ai commencé à travailler à 6 heures."),
        ("J'ai une vieille Clio.", "Je n'ai pas vendu la Clio."),
        ("Moro em Braga.", "Mudei de ideias."),
        ("Moro em Braga.", "Os meus pais mudaram-se para Faro."),
        ("Moro em Braga.", "O Paulo mudou-se para Faro."),
        ("Trabalho na Galp.", "O meu irmão perdeu o emprego."),
        ("Tenho um barco.", "Não vendi o barco."),
        ("A consulta é no dia 12 de maio.", "A festa foi adiada para 21 de maio."),
        ("Ich wohne in Bremen.", "Jetzt regnet es schon wieder in Köln."),
        ("Ich wohne in Bremen.", "Ich bin seit drei Tagen krank."),
        ("Ich wohne in Bremen.", "Anna ist jetzt in Hamburg im Urlaub."),
        ("Ich arbeite bei Siemens.", "Ich habe gestern den Vertrag vom Fitnessstudio gekündigt."),
        ("Ich habe einen Golf.", "Ich habe gestern Kuchen verkauft."),
        ("Ich trinke jeden Morgen Kaffee.", "Ich kann nicht mehr."),
        (
            "Ich trinke jeden Morgen Kaffee.",
            "Ich habe mich für den Tee entschieden, nicht für die Limo.",
        ),
        ("Am Samstag machen wir eine Feier.", "Das Konzert ist abgesagt."),
        (
            "Wir fliegen im Oktober nach Lissabon.",
            "Wir fliegen doch nicht mit dem alten Koffer, oder?",
        ),
        ("Ich habe mir ein Rad gekauft.", "Ich habe den Schlüssel verloren."),
        ("Ich bin mit Jonas zusammen.", "Anna und Tim haben sich getrennt."),
        ("Vivo en Sevilla.", "Ahora llueve en Valencia."),
        ("Vivo en Sevilla.", "Mi prima ahora vive en Valencia."),
        ("Trabajo en un banco.", "Ahora trabajo un rato más y salgo."),
        ("Tengo un Seat Ibiza.", "He vendido galletas en la escuela."),
        ("Trabajo en un banco.", "He perdido las llaves."),
        ("Bebo café por la mañana.", "Ya no puedo más."),
        ("El sábado hacemos una fiesta.", "El concierto se canceló."),
        ("Estoy saliendo con Pablo.", "Ana y Luis lo han dejado."),
        ("En agosto tenemos un viaje a Roma.", "Al final no llovió en Roma."),
        ("I'm moving to Leeds in June.", "My sister isn't moving after all."),
        ("We will repaint the kitchen at Easter.", "The kitchen is not that small after all."),
        ("I'm going to Oslo with Maja on the 4th.", "I decided not to eat meat."),
        ("I want to learn the piano.", "I'm not running the marathon after all."),
    ],
)
def test_what_is_of_somebody_or_something_else_ends_nothing(old: str, new: str) -> None:
    assert ("e1", "e6") not in sure(old, *FILLING, new)


@pytest.mark.parametrize(
    ("said", "question", "holds"),
    [
        (["Ich wohne in Bremen.", "Ich bin nach Köln gezogen."], "Wo wohne ich?", "Köln"),
        (["Vivo en Sevilla.", "Me mudé a Valencia."], "¿Dónde vivo?", "Valencia"),
    ],
)
def test_what_holds_is_read_before_what_no_longer_does_in_other_languages(
    said: list[str], question: str, holds: str
) -> None:
    memory = spoken(said[0], *FILLING, said[1], by="Mia")
    assert holds in memory.read(question).ranked[0].text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("choir rehearsal is on tuesdays at 8pm", "choir moved to thursdays from now on"),
        ("The choir rehearses on Tuesdays at 8 pm.", "Choir has moved to Thursdays."),
        ("Biscuit takes 5 mg of prednisolone.", "Prednisolone for Biscuit stopped as of today."),
        ("I work at Atelier Kerbrat in Douarnenez.", "Last day at Kerbrat today."),
        ("The party is on Saturday at 8.", "Party's off, Will is ill."),
        ("I weigh 71 kg.", "Down to 68 kg!"),
        ("My phone number is 06 11 22 33 44.", "I've got a new number: 07 55 66 77 88."),
    ],
)
def test_a_change_that_is_told_casually_takes_the_place_of_what_it_ends(old: str, new: str) -> None:
    assert sure(old, *FILLING, new) == [("e1", "e6")]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The choir concert is on Saturday.", "Choir moved to Thursdays."),
        ("Yoga is on Tuesdays, choir on Fridays.", "Pilates moved to Thursdays."),
        ("The choir rehearses on Tuesdays.", "The choir moved to the bigger hall."),
        ("Biscuit takes prednisolone.", "Aspirin for Biscuit stopped as of today."),
        ("I work at Kerbrat.", "Last day at Disneyland today!"),
        ("I work at Kerbrat.", "My last day at Kerbrat is on 30 June."),
        ("My sister works at Kerbrat.", "Last day at Kerbrat today."),
        ("The dinner is on Friday.", "The light's off."),
        ("I weigh 71 kg.", "The dog is down to 18 kg!"),
        ("I weigh 71 kg.", "Down to 68 kg of flour!"),
        ("I weigh 156 pounds.", "Down to 68 kg!"),
        ("My sister weighs 71 kg.", "Down to 68 kg!"),
        ("My phone number is 06 11 22 33 44.", "The vet has a new number: 07 55 66 77 88"),
        ("My house number is 14.", "new number: 07 55 66 77 88"),
    ],
)
def test_what_only_sounds_like_such_a_change_ends_nothing(old: str, new: str) -> None:
    assert sure(old, *FILLING, new) == []


def test_a_post_that_nobody_in_particular_gave_up_ends_no_sentence_without_one() -> None:
    said = "Dr. Huber ist in Pension, Dr. Novak hat die Praxis übernommen"
    assert sure("Cooked lentil soup for dinner, turned out great.", *FILLING, said) == []
