"""States that begin and things that are over, as it is said in other languages than English.

They are German, Spanish, French and Portuguese.

The rules are those of :mod:`~demem_agent.slots.successions.states` and ``endings`` for English,
written by hand and as narrow: "Ich bin nach Köln gezogen", "me mudé a Valencia", "ich habe
gekündigt", "al final no vamos". Whose state it is tells the verb or the pronoun.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import cache
from typing import Literal

from demem_agent.later import dataclass, pattern
from demem_agent.slots.successions.foreign_said import (
    Language,
    Over,
    goes_to,
    is_journey,
    said_before,
)
from demem_agent.slots.successions.whose import same_person
from demem_agent.text.language.languages import are_surely_english, stop_words
from demem_agent.text.language.words import stems

__all__ = [
    "ForeignEnding",
    "begun_abroad",
    "ended_abroad",
    "first_day_abroad",
    "stated_abroad",
    "told_abroad_by",
]

Kind = Literal["home", "work"]

_WORD = pattern(r"[^\W\d_]+")
#: Words by which a state is asked for or told.
_TOLD_BY: Mapping[Kind, Mapping[Language, str]] = {
    "home": {
        "german": "wohne wohnen wohnt lebe leben gezogen umgezogen wohnung zuhause adresse",
        "spanish": "vivo vivimos vive mudé mudado piso casa dirección",
        "french": "habite habitons vis vivons loge déménagé emménagé appartement maison adresse",
        "portuguese": "moro moramos mora vivo vivemos vive mudei mudou casa apartamento morada",
    },
    "work": {
        "german": "arbeite arbeiten arbeitet job stelle jobbe angestellt",
        "spanish": "trabajo trabajamos trabaja puesto empleo",
        "french": "travaille travaillons bosse travail boulot poste emploi embauché",
        "portuguese": "trabalho trabalhamos trabalha emprego cargo",
    },
}
#: What makes a change none: it is supposed, long past, hoped for or denied.
_NOT_SO: Mapping[Language, re.Pattern[str]] = {
    "german": pattern(
        r"\b(?:vielleicht|würde\w*|wäre\w*|hätte\w*|könnte\w*|wenn|falls|fast|beinahe|nie|niemals"
        r"|damals|früher|als (?:ich|wir|kind)|vor (?:vielen|\w+) jahren|ob|überleg\w*|geplant"
        r"|plane\w*|will|wollen|möchte\w*|möglicherweise|geboren)\b",
        re.IGNORECASE,
    ),
    "spanish": pattern(
        r"\b(?:quizás?|tal vez|a lo mejor|si|casi|nunca|jamás|antes|hace \w+ años|cuando era"
        r"|ojalá|quiero|queremos|quisiera|pienso|pensando|planeando|podría\w*|debería\w*"
        r"|me gustaría|nac[íi]\w*)\b",
        re.IGNORECASE,
    ),
    "french": pattern(
        r"\b(?:peut-être|si|presque|failli|jamais|autrefois|quand (?:j['’]étais|on était)"
        r"|il y a \w+ ans|veux|veut|voudrais|aimerais|pense|pensons|envisage\w*|rêve|pourrai\w*"
        r"|devrai\w*|serai\w*|née?)\b",
        re.IGNORECASE,
    ),
    "portuguese": pattern(
        r"\b(?:talvez|se (?:eu|nós|calhar|tudo)|quase|nunca|jamais|antes|há \w+ anos|quando era"
        r"|oxalá|quero|queremos|quer|queria|gost\w+ de|penso|pensar|pensando|pensamos|planeio"
        r"|planej\w+|podia|devia|deveria|nasci|nasceu)\b",
        re.IGNORECASE,
    ),
}
_POST = r"\b(?:bei|beim|als|in|im|für|am|an)\b"
_LATELY = r"(?:jetzt|nun|inzwischen|mittlerweile|neuerdings|seit)"
_BEGINS: Mapping[Language, Mapping[Kind, re.Pattern[str]]] = {
    "german": {
        "home": pattern(
            r"\b(?:bin|sind|ist)\b[^.!?]*\b(?:um|weg|hin|her|zurück)?gezogen\b"
            rf"|\b{_LATELY}\b[^.!?,;]*\b(?:wohn|leb)(?:e|en|t)\b"
            rf"|\b(?:wohn|leb)(?:e|en|t)\b[^.!?,;]*\b{_LATELY}\b",
            re.IGNORECASE,
        ),
        "work": pattern(
            r"\b(?:stelle|job|arbeit|position)\b[^.!?]*\b(?:angefangen|angetreten|begonnen|bekommen"
            r"|gefunden|angenommen)\b"
            rf"|\b{_LATELY}\b[^.!?,;]*\barbeite[nt]?\b[^.!?,;]*{_POST}"
            rf"|\barbeite[nt]?\b[^.!?,;]*\b{_LATELY}\b[^.!?,;]*{_POST}"
            rf"|\barbeite[nt]?\b[^.!?,;]*{_POST}[^.!?,;]*\b{_LATELY}\b"
            r"|\b(?:angefangen|begonnen)[^.!?]*zu arbeiten\b"
            r"|\b(?:arbeitgeber|job|stelle)\b[^.!?]*\bgewechselt\b",
            re.IGNORECASE,
        ),
    },
    "spanish": {
        "home": pattern(
            r"\b(?:me|nos|se) (?:(?:he|hemos|ha|han) )?(?:mud(?:é|amos|ó|aron|ado)"
            r"|traslad(?:é|amos|ó|aron|ado))\b"
            r"|\bahora (?:vivo|vivimos|vive|viven)\b|\b(?:vivo|vivimos|vive|viven) ahora\b"
            r"|\bdesde [^.!?,;]{1,20} (?:vivo|vivimos|vive|viven)\b",
            re.IGNORECASE,
        ),
        "work": pattern(
            r"\b(?:(?:he|hemos|ha) empezado|empec[ée]|empezó|comencé|comenzó) a trabajar\b"
            r"|\b(?:ahora (?:trabajo|trabajamos|trabaja)|(?:trabajo|trabaja) ahora)"
            r" (?:en|de|como|para)\b"
            r"|\b(?:empec[ée]|conseguí|encontré|tengo|acepté|he (?:empezado|conseguido|encontrado"
            r"|aceptado))(?: \w+){0,2} (?:trabajo|puesto|empleo)\b"
            r"|\b(?:me|le) (?:contrataron|han contratado)\b|\bcambié de trabajo\b",
            re.IGNORECASE,
        ),
    },
    "french": {
        "home": pattern(
            r"\b(?:ai|avons|a|as|ont|suis|sommes|est)(?: \w+)? (?:dé|em|a)ménagée?s?"
            r"(?= (?:à|a|au|aux|en|dans|chez|hier|avec|rue)\b| \d|\s*(?:[.!,;]|$))"
            r"|\b(?:habite|habitons|vis|vivons|vit) (?:maintenant|désormais)"
            r"(?= (?:à|au|aux|en|chez|près|rue)\b| \d)"
            r"|\b(?:maintenant|désormais),? (?:(?:je|on|nous) |j['’])"
            r"(?:habite|habitons|vis|vit|vivons)(?= (?:à|au|aux|en|chez|près|rue)\b| \d)",
            re.IGNORECASE,
        ),
        "work": pattern(
            r"\b(?:ai|avons|a) (?:commencé à travailler(?! à \d| tôt| tard| ce )"
            r"|changé de (?:travail|boulot|poste|employeur)|été embauchée?"
            r"|trouvé un (?:nouveau )?(?:travail|boulot|emploi|poste))\b"
            r"|\b(?:travaille|travaillons) (?:maintenant|désormais) (?:chez|à|au|pour|comme|dans)\b"
            r"|\b(?:maintenant|désormais),? (?:je |on )?travaille (?:chez|à|au|pour|comme|dans)\b",
            re.IGNORECASE,
        ),
    },
    "portuguese": {
        "home": pattern(
            r"\b(?:mud(?:ei-me|ámo-nos|amo-nos|ou-se|aram-se)"
            r"|(?:me|nos|se) mud(?:ei|[aá]mos|ou|aram)) (?:para|pra|pro)\b"
            r"(?! (?:[oa] )?(?:quarto|sala|lado|outr[oa] lugar)\b)"
            r"|\bmud(?:ei|ámos|amos|ou) de (?:casa|apartamento|cidade)\b"
            r"|\b(?:agora (?:moro|moramos|mora|vivo|vivemos|vive)"
            r"|(?:moro|moramos|mora|vivo|vivemos|vive) agora)"
            r" (?:em(?! paz)|no|na|nos|nas|perto|ao)\b",
            re.IGNORECASE,
        ),
        "work": pattern(
            r"\bcome(?:cei|çou|çámos|çamos) a trabalhar\b|\bmudei de (?:trabalho|emprego)\b"
            r"|\b(?:arranjei|consegui|encontrei|aceitei)(?: um)?(?: novo)?"
            r" (?:trabalho|emprego|cargo)\b"
            r"|\bfui contratad[oa]\b"
            r"|\bagora (?:trabalho|trabalhamos|trabalha) (?:em|no|na|nos|nas|para|como)\b"
            r"|\b(?:trabalho|trabalha) agora (?:em|no|na|nos|nas|para|como)\b",
            re.IGNORECASE,
        ),
    },
}
_HOLDS: Mapping[Language, Mapping[Kind, re.Pattern[str]]] = {
    "german": {
        "home": pattern(
            r"\b(?:wohn|leb)(?:e|en|t)\b[^.!?;]*\b(?:in|im|bei|am|an|auf)\b"
            r"|\b(?:meine|unsere) (?:wohnung|adresse) ist\b",
            re.IGNORECASE,
        ),
        "work": pattern(
            r"\b(?:arbeite[nt]?|jobbe[nt]?)\b[^.!?;]*\b(?:in|im|bei|beim|als|für|am|an|auf|mit)\b"
            r"|\b(?:bin|ist)\b[^.!?;]*\bangestellt\b|\b(?:habe|hat)\b[^.!?;]*\b(?:stelle|job)\b",
            re.IGNORECASE,
        ),
    },
    "spanish": {
        "home": pattern(
            r"\b(?:vivo|vivimos|vive|viven) (?:\w+ ){0,2}?(?:en|cerca)\b"
            r"|\b(?:mi|nuestra) (?:casa|dirección) (?:es|está)\b",
            re.IGNORECASE,
        ),
        "work": pattern(
            r"\b(?:trabajo|trabajamos|trabaja) (?:\w+ ){0,2}?(?:en|de|como|para|con)\b"
            r"|\btengo (?:un )?(?:trabajo|puesto|empleo)\b",
            re.IGNORECASE,
        ),
    },
    "french": {
        "home": pattern(
            r"\b(?:habite|habitons|vis|vit|vivons|loge|logeons)"
            r"(?: \d|(?: \w+){0,2}? (?:à|au|aux|en|dans|chez|près|rue)\b)"
            r"|\b(?:mon|notre) (?:adresse|appartement|appart) est\b",
            re.IGNORECASE,
        ),
        "work": pattern(
            r"\b(?:travaille|travaillons|bosse)(?: \w+){0,2}?"
            r" (?:à|au|chez|en|dans|pour|comme|avec)\b"
            r"|\bai un (?:travail|boulot|emploi|poste)\b",
            re.IGNORECASE,
        ),
    },
    "portuguese": {
        "home": pattern(
            r"\b(?:moro|moramos|mora|vivo|vivemos|vive)(?: \w+){0,2}?"
            r" (?:em|no|na|nos|nas|perto|ao)\b"
            r"|\b(?:minha|nossa) (?:casa|morada) (?:é|fica)\b",
            re.IGNORECASE,
        ),
        "work": pattern(
            r"\b(?:trabalho|trabalhamos|trabalha)(?: \w+){0,2}?"
            r" (?:em|no|na|nos|nas|como|para|com)\b"
            r"|\btenho (?:um )?(?:trabalho|emprego)\b",
            re.IGNORECASE,
        ),
    },
}
#: A post that is over; no other thing is named beside it.
_JOBLESS: Mapping[Language, re.Pattern[str]] = {
    "german": pattern(
        r"\b(?:[Hh]abe?|[Hh]aben|[Hh]at)\b"
        r"(?: (?:[a-zäöüß]+|Woche|Monat|Jahr|Montag|Dienstag|Mittwoch|Donnerstag|Freitag))*?"
        r" gekündigt\b|\b[Mm]ir wurde gekündigt\b"
        r"|\b(?i:job|stelle|arbeit)\b[^.!?]*\b(?:gekündigt|verloren|aufgegeben|geschmissen"
        r"|hingeschmissen|verlassen)\b|\bwurde (?:entlassen|gefeuert)\b|\bin (?:Rente|Pension)\b"
    ),
    "spanish": pattern(
        r"\b(?:he dejado|dejé|he perdido|perdí|ha dejado|dejó|perdió|hemos dejado)"
        r" (?:el|mi|su|nuestro) (?:trabajo|empleo|puesto)\b|\bme han despedido\b|\bme despidieron\b"
        r"|\b(?:he renunciado|renuncié|renunció)(?=\s*(?:[.!,;]|$)| al? (?:trabajo|puesto))"
        r"|\bme (?:he jubilado|jubilé)\b",
        re.IGNORECASE,
    ),
    "french": pattern(
        r"\b(?:ai|a|avons) (?:quitté|perdu|lâché) (?:mon|le|son|notre) (?:travail|boulot|emploi"
        r"|poste|job)\b|\b(?:ai|a) démissionné\b|\b(?:ai|a) été (?:viré|licencié)e?\b"
        r"|\bai pris ma retraite\b",
        re.IGNORECASE,
    ),
    "portuguese": pattern(
        r"(?<!não )\b(?:deixei|perdi|larguei|deixou|perdeu|largou) (?:o )?(?:meu |seu )?"
        r"(?:trabalho|emprego)\b|\b(?:despedi|demiti|reformei)-me\b|\bfui despedid[oa]\b"
        r"|\bme (?:demiti|aposentei)\b",
        re.IGNORECASE,
    ),
}
#: That something is over, with what it is: all that stands in these groups; and as what it was
#: said before.
_ENDS: Mapping[Language, tuple[tuple[re.Pattern[str], Over], ...]] = {
    "german": (
        (
            pattern(
                r"\b(?:habe?n?|hat)\b(?P<what>[^.!?;]+?)\b(?:verkauft|weggegeben|abgegeben|verschenkt"
                r"|entsorgt|weggeworfen)\b",
                re.IGNORECASE,
            ),
            "thing",
        ),
        (
            pattern(
                r"\b(?:habe?n?|hat)\b(?P<what>[^.!?;]+?)\b(?:gekündigt|abbestellt|gelöscht|abgesagt"
                r"|storniert)\b",
                re.IGNORECASE,
            ),
            "event",
        ),
        (
            pattern(
                r"\b(?:habe?n?|hat)\b(?P<what>[^.!?;]+?)\b(?:aufgegeben|abgemeldet)\b",
                re.IGNORECASE,
            ),
            "habit",
        ),
        (
            pattern(
                r"^(?P<what>[^.!?;]+?)\b(?:ist|sind|wurden?)(?: \w+){0,2} (?:abgesagt|ausgefallen"
                r"|gestrichen|storniert)\b",
                re.IGNORECASE,
            ),
            "event",
        ),
        (
            pattern(
                r"^(?P<what>[^.!?;]+?)\b(?:ist|sind|wurden?)(?: \w+){0,2} (?:verkauft|gestorben)\b",
                re.IGNORECASE,
            ),
            "thing",
        ),
        (
            pattern(r"^(?P<what>[^.!?;]+?)\b(?:fällt|fallen)\b[^.!?;]*\baus\b", re.IGNORECASE),
            "event",
        ),
        (
            pattern(r"\b(?:sage|sagen|blase|blasen)\b(?P<what>[^.!?;]+?)\bab\b", re.IGNORECASE),
            "event",
        ),
        (
            pattern(
                r"\bziehe[n]? (?:mich|uns) (?:von|vom|aus)\b(?P<what>[^.!?;]+?)\bzurück\b"
                r"|\btrete[n]? (?:von|vom)\b(?P<rest>[^.!?;]+?)\bzurück\b"
                r"|\bsteige[n]? (?:bei|beim|aus)\b(?P<more>[^.!?;]+?)\baus\b",
                re.IGNORECASE,
            ),
            "event",
        ),
        (pattern(r"\bmit (?P<what>[^.!?;]+?) aufgehört\b", re.IGNORECASE), "habit"),
        (
            pattern(
                r"\bgegen (?P<what>[^.!?;]+?) entschieden\b"
                r"|\bentschieden,?(?P<rest>[^.!?;]*?)\b(?:nicht|kein\w*)\b(?P<more>[^.!?;]*)",
                re.IGNORECASE,
            ),
            "habit",
        ),
        (
            pattern(
                r"^(?P<what>[^.!?;]+?)\b(?:doch (?:nicht|kein\w*)|nicht mehr|kein\w* mehr)\b"
                r"(?P<more>[^.!?;]*)",
                re.IGNORECASE,
            ),
            "habit",
        ),
        (
            pattern(
                r"^(?P<what>[^.!?;]*?)\b(?:haben|hat|habe)\b[^.!?;]*"
                r"\b(?:getrennt|schluss gemacht)\b",
                re.IGNORECASE,
            ),
            "habit",
        ),
    ),
    "spanish": (
        (
            pattern(
                r"\b(?:(?:he|hemos|ha|han) (?:vendido|regalado|donado|tirado|devuelto)"
                r"|vend(?:í|imos|ió)|regal(?:é|amos|ó)|don(?:é|amos|ó)|tir(?:é|amos|ó)"
                r"|devolv(?:í|imos|ió)) (?P<what>[^.!?;,]+)",
                re.IGNORECASE,
            ),
            "thing",
        ),
        (
            pattern(
                r"\b(?:(?:he|hemos|ha|han) (?:cancelado|anulado)|(?:cancel|anul)(?:é|amos|ó))"
                r" (?P<what>[^.!?;,]+)"
                r"|\b(?:me retiro|me he retirado|renuncio|renuncié|me bajo) (?:del?|al?)"
                r" (?P<rest>[^.!?;,]+)",
                re.IGNORECASE,
            ),
            "event",
        ),
        (
            pattern(
                r"\b(?:(?:he|hemos|ha|han) (?:dejado(?: de)?|terminado con|roto con)"
                r"|dej(?:é|amos|ó)(?: de)?|romp(?:í|imos|ió) con|cort(?:é|ó) con)"
                r" (?P<what>[^.!?;,]+)",
                re.IGNORECASE,
            ),
            "habit",
        ),
        (
            pattern(
                r"^(?P<what>[^.!?;]+?) (?:se (?:ha )?(?:cancel|suspend|anul)\w+|está cancelad\w"
                r"|ya no se hace)",
                re.IGNORECASE,
            ),
            "event",
        ),
        (
            pattern(r"^(?P<what>[^.!?;]+?) (?:se )?(?:ha )?(?:murió|muert[oa]\b)", re.IGNORECASE),
            "thing",
        ),
        (
            pattern(
                r"^(?P<what>[^.!?;]*?)\b(?:al final no|finalmente no|ya no)\b(?P<more>[^.!?;]*)",
                re.IGNORECASE,
            ),
            "habit",
        ),
        (
            pattern(
                r"\b(?:(?:he|hemos|ha) decidido|decid(?:í|imos|ió)) no (?P<what>[^.!?;]+)",
                re.IGNORECASE,
            ),
            "habit",
        ),
        (
            pattern(
                r"^(?P<what>[^.!?;]*?)(?:\blo (?:hemos|han) dejado\b|\b(?:hemos|han) roto\b"
                r"|\brompimos\b|\bcortamos\b|\bnos (?:hemos separado|separamos)\b)",
                re.IGNORECASE,
            ),
            "habit",
        ),
    ),
    "french": (
        (
            pattern(r"\b(?:ai|avons|a|ont) (?:vendu|jeté) (?P<what>[^.!?;,]+)", re.IGNORECASE),
            "thing",
        ),
        (
            pattern(
                r"\b(?:ai|avons|a|ont) (?:annulé|résilié) (?P<what>[^.!?;,]+)"
                r"|\b(?:me retire|me désiste|renonce) (?:du|de|des|au|aux|à) (?P<rest>[^.!?;,]+)",
                re.IGNORECASE,
            ),
            "event",
        ),
        (
            pattern(
                r"\b(?:ai|avons|a|ont) (?:arrêté(?: de)?|rompu avec) (?P<what>[^.!?;,]+)",
                re.IGNORECASE,
            ),
            "habit",
        ),
        (
            pattern(
                r"^(?P<what>[^.!?;]+?) (?:est|sont|a été|ont été)(?: \w+)?"
                r" (?:annul|supprim|report|décal)ée?s?\b",
                re.IGNORECASE,
            ),
            "event",
        ),
    ),
    "portuguese": (
        (
            pattern(
                r"(?<!não )\b(?:vend(?:i|emos|eu)|deit(?:ei|ámos|ou) fora) (?P<what>[^.!?;,]+)",
                re.IGNORECASE,
            ),
            "thing",
        ),
        (
            pattern(
                r"(?<!não )\b(?:(?:cancel|anul)(?:ei|ámos|ou)|(?:desisto|desisti) d[aoe]s?"
                r"|retiro-me d[aoe]s?) (?P<what>[^.!?;,]+)",
                re.IGNORECASE,
            ),
            "event",
        ),
        (
            pattern(
                r"(?<!não )\b(?:deix(?:ei|ámos|ou) de|(?:acabei|terminei) com) (?P<what>[^.!?;,]+)",
                re.IGNORECASE,
            ),
            "habit",
        ),
        (
            pattern(
                r"^(?P<what>[^.!?;]+?) (?:foi|foram|ficou|fica|está|estão)(?: \w+)? (?<!não )"
                r"(?:cancelad|adiad|anulad|antecipad|remarcad|desmarcad)[oa]s?\b",
                re.IGNORECASE,
            ),
            "event",
        ),
    ),
}
#: What of an ending tells nothing of what it is that is over.
_LIGHT: Mapping[Language, frozenset[str]] = {
    "german": frozenset(
        """gehen geht gehe gehst machen mache macht haben sein werden kommt alten alte alter altes
        neuen neue ganz endlich leider gestern heute letzte woche monat jahr schon doch nun jetzt
        seit bei mehr gerade immer uns mich mir dich sich ihn ihr wieder tag tage arbeite
        arbeiten""".split()
    ),
    "spanish": frozenset(
        """voy vamos va van ir hago hacemos hacer hace tengo tener viejo vieja nuevo nueva ayer hoy
        semana mes año pasado pasada ya ahora también yo trabajo trabajar último última""".split()
    ),
    "french": frozenset(
        """aller va vais faire fait être avoir vieux vieille nouveau nouvelle ancien ancienne hier
        semaine mois an année dernier dernière encore aussi travailler travail mon ma mes""".split()
    ),
    "portuguese": frozenset(
        """ir vou vamos fazer faço ter tenho velho velha novo nova antigo antiga ontem hoje semana
        mês ano passado passada já agora também trabalho trabalhar último última""".split()
    ),
}
#: What says nothing that could be over: it is past already, asked or denied itself.
_OPEN: Mapping[Language, re.Pattern[str]] = {
    "german": pattern(
        r"\b(?:nicht|kein\w*|war|waren|hatten?|habe?n?\b[^.!?;]*\b(?:ge|ver)\w+(?:t|en)(?=\W*$)"
        r"|überleg\w*|vielleicht|würde\w*)\b",
        re.IGNORECASE,
    ),
    "spanish": pattern(
        r"\b(?:no|nunca|fui|fue|fuimos|era|había|estuve|estuvimos|quizás?|tal vez|compré)\b",
        re.IGNORECASE,
    ),
    "french": pattern(
        r"\b(?:pas|jamais|étais|était|avais|avait|peut-être|(?:ai|avons|a|ont) \w+(?:é|i|u|is))\b"
        r"|\bn['’]",
        re.IGNORECASE,
    ),
    "portuguese": pattern(
        r"\b(?:não|nunca|fui|foi|fomos|era|havia|estive|talvez|comprei)\b", re.IGNORECASE
    ),
}
#: What has been got for later is not past.
_GOT = pattern(
    r"\b(?:gebucht|reserviert|geplant|gekauft|abonniert|reservado|comprado"
    r"|marcad[oa]|reservad[oa]|réservée?|prévue?)\b"
)
#: Share of the words that name what is over that an earlier sentence has at least.
MOST = 0.6
_PAST_ENDS = pattern(r"\b(?:war|waren|hatten?|hätte\w*|fue|fueron|era|llovió)\b", re.IGNORECASE)
_SPEAKER: Mapping[Language, re.Pattern[str]] = {
    "german": pattern(
        r"\b(?:ich|wir|mir|uns)\b|^\W*(?:bin|habe?|wohne|arbeite|haben|sind)\b", re.IGNORECASE
    ),
    "spanish": pattern(
        r"\b(?:yo|nosotros|me|nos|he|hemos|vivo|vivimos|trabajo|trabajamos|tengo|tenemos|voy|vamos"
        r"|estoy|estamos|hago|hacemos|soy|somos|conduzco|juego|fumo|ya no \w+(?:o|amos|emos|imos)"
        r"|al final no \w+(?:o|oy|amos|emos|imos)|\w+(?:é|í|imos|amos))\b",
        re.IGNORECASE,
    ),
    "french": pattern(
        r"\b(?:je|nous|on|moi|mon|notre)\b|\bj['’]|^\W*(?:ai|suis|avons|sommes)\b", re.IGNORECASE
    ),
    "portuguese": pattern(
        r"\b(?:eu|nós|me|minha|nossa|moro|moramos|vivo|vivemos|trabalho|trabalhamos|tenho|temos|vou"
        r"|vamos|estou|sou|fui|vend(?:i|emos)|cancelei|anulei|comecei|deixei|deitei|mudei|perdi"
        r"|larguei|arranjei|consegui|encontrei|aceitei|acabei|terminei|\w+ámos)\b|-(?:me|nos)\b",
        re.IGNORECASE,
    ),
}
_OTHER: Mapping[Language, re.Pattern[str]] = {
    "german": pattern(
        r"^\W*(?:(?:mein|unser)\w* )?(?P<who>[A-ZÄÖÜ]\w+) (?:ist|hat|wohnt|lebt|arbeitet|zieht"
        r"|kommt|geht|fährt|fliegt|macht)\b|\b(?P<they>[Ee]r|[Ss]ie)\b"
    ),
    "spanish": pattern(
        r"^\W*(?:(?:[Mm]i|[Nn]uestr[oa]) )?(?P<who>(?!(?:Se|Ya|Al|El|La|En)\b)[A-Za-zÁÉÍÓÚáéíóúñ]+)"
        r" (?:se|ha|vive|trabaja|viene|va|ya|al final|dejó|vendió|perdió)\b|\b(?P<they>él|ella)\b"
    ),
    "french": pattern(
        r"^\W*(?:(?:[Mm]on|[Mm]a|[Mm]es|[Nn]otre) (?!appart|adresse))?"
        r"(?P<who>(?!(?i:je|on|nous|la|les?|une?|mon|ma|notre)\b)[A-Za-zÀ-ÿ]+)"
        r" (?:a|ont|est|habite|vit|travaille|va)\b|\b(?P<they>ils?|elles?)\b"
    ),
    "portuguese": pattern(
        r"^\W*(?:[AaOo]s? )?(?:(?i:minha|meu|nossa|nosso) (?!casa|morada))?"
        r"(?P<who>(?!(?i:eu|nós|já|agora|ontem|hoje|afinal|não|me|minha|nossa)\b)[A-Za-zÀ-ÿ]{2,})"
        r" (?:se|mudou|mora|vive|trabalha|começou|vendeu|deixou|perdeu|cancelou|vai|já)\b"
        r"|\b(?P<they>el[ea]s?)\b"
    ),
}


@dataclass(frozen=True, slots=True)
class ForeignEnding:
    """That something is over for somebody, as it is said in another language than English.

    Attributes:
        kinds: ("work",) for a post; of what is named, as what it was said before.
        who: "" for the speaker, "*" for he or she, a name, or None where nobody is named.
        words: words and stems by which what is over is found, whatever language it is taken to be
            in; none for a post that is not named.
        told: the words that name it, of which an earlier sentence has most.
    """

    kinds: tuple[Literal["work"] | Over]
    who: str | None
    words: frozenset[str]
    told: tuple[str, ...]
    language: Language

    def ends(self, said: str, _: frozenset[str]) -> bool:
        """Whether an earlier sentence says what is over by this."""
        (kind,) = self.kinds
        if kind == "work":
            if self.told and not set(self.told) <= set(_WORD.findall(said.lower())):
                return False
            return self.who is not None and stated_abroad(said, "work") == self.who
        is_journey_there = kind == "event" and self._is_journey_to(said)
        if not (is_journey_there or said_before(said, kind, self.language)):
            return False
        if _OPEN[self.language].search(said) and not _GOT.search(said):
            return False
        who = _who(said, self.language)
        if None not in (who, self.who) and not same_person(who or "", self.who or ""):
            return False
        held = set(stems(_WORD.findall(said.lower()), self.language))
        shared = [word for word in self.told if word in held]
        return is_journey_there or len(shared) >= math.ceil(len(self.told) * MOST)

    def _is_journey_to(self, said: str) -> bool:
        """Whether it is a journey that is over, and a sentence tells of where it goes."""
        rest = [word for word in self.told if not is_journey(word, self.language)]
        return len(rest) < len(self.told) and goes_to(said, rest, self.language)


@cache
def told_abroad_by(kind: Kind) -> frozenset[str]:
    """Return stems by which a state is asked for or told."""
    found: set[str] = set()
    for language, words in _TOLD_BY[kind].items():
        found.update(stems(words.split(), language))
    return frozenset(found)


def begun_abroad(said: str) -> tuple[Kind, str] | None:
    """Return which state of whom is told to have begun; None where none is."""
    if _is_english(said):
        return None
    for language, kinds in _BEGINS.items():
        if _NOT_SO[language].search(said) or _DENIES[language].search(said):
            continue
        for kind, begins in kinds.items():
            who = _who(said, language) if begins.search(said) else None
            if who is not None:
                return kind, who
    return None


_NAMED = r"(?:la |le |el |a |o |der )?(?P<what>[A-ZÀ-Ý][\w'’&-]*(?: [A-ZÀ-Ý][\w'’&-]*)*)"
#: A first and a last day of work, by the name of who it is for.
_FIRST_DAY = pattern(
    rf"^\W*(?:(?i:heute )?(?i:(?:mein )?erster (?:arbeits)?tag)) (?i:bei|beim) {_NAMED}"
    rf"|^\W*(?:(?i:mon )?(?i:premier jour)) (?i:chez) {_NAMED.replace('what', 'chez')}"
    r"|^\W*(?i:(?:hoy )?(?:mi )?primer día de trabajo en) "
    rf"{_NAMED.replace('what', 'en')}"
    r"|^\W*(?i:(?:hoje )?(?:o )?(?:meu )?primeiro dia de trabalho n[ao]) "
    rf"{_NAMED.replace('what', 'na')}"
    r"|\b[Hh]abe? bei [A-Z][\w -]*? zugesagt\b|\b[Aa]i dit oui à [A-ZÀ-Ý][^.!?]*\bcommence\b"
    r"|\b[Dd]ije que sí a [A-ZÀ-Ý][^.!?]*\b(?:empiezo|empezaré)\b"
    r"|\b[Dd]isse que sim à? [A-ZÀ-Ý][^.!?]*\b(?:começo|começarei)\b"
)
_LAST_DAY: Mapping[Language, re.Pattern[str]] = {
    "german": pattern(rf"^\W*(?i:(?:mein )?letzter (?:arbeits)?tag (?:bei|beim)) {_NAMED}"),
    "spanish": pattern(rf"^\W*(?i:(?:mi )?último día de trabajo en) {_NAMED}"),
    "french": pattern(rf"^\W*(?i:(?:mon )?dernier jour chez) {_NAMED}"),
    "portuguese": pattern(rf"^\W*(?i:(?:o )?(?:meu )?último dia de trabalho n[ao]) {_NAMED}"),
}


def first_day_abroad(said: str) -> bool:
    """Whether somebody tells of a first day of work, or an offer accepted, by the name."""
    return not _is_english(said) and _FIRST_DAY.search(said) is not None


_DENIES: Mapping[Language, re.Pattern[str]] = {
    "german": pattern(r"\b(?:nicht|kein\w*)\b", re.IGNORECASE),
    "spanish": pattern(r"\bno\b", re.IGNORECASE),
    "french": pattern(r"\b(?:pas|jamais|plus)\b|\bn['’]", re.IGNORECASE),
    "portuguese": pattern(r"\b(?:não|nunca)\b", re.IGNORECASE),
}


def stated_abroad(said: str, kind: Kind) -> str | None:
    """Return who is told to be in a state of a kind; None where nobody is."""
    if _is_english(said):
        return None
    for language, kinds in _HOLDS.items():
        if _DENIES[language].search(said):
            continue
        if kinds[kind].search(said) or _BEGINS[language][kind].search(said):
            return _who(said, language)
    return None


def ended_abroad(said: str) -> ForeignEnding | None:
    """Return what a sentence says to be over; None where it says nothing of the kind."""
    if _is_english(said):
        return None
    for language, jobless in _JOBLESS.items():
        if _NOT_SO[language].search(said) or _PAST_ENDS.search(said):
            continue
        if jobless.search(said):
            who = _who(said, language)
            return ForeignEnding(("work",), who, frozenset(), (), language)
        last_day = _LAST_DAY[language].search(said)
        if last_day is not None:
            name = _WORD.findall(last_day["what"].lower())
            words = frozenset([*name, *stems(name)])
            return ForeignEnding(("work",), "", words, tuple(name), language)
        for form, over in _ENDS[language]:
            found = form.search(said)
            if found is not None:
                return _named(said, found, language, over)
    return None


def _is_english(said: str) -> bool:
    return are_surely_english(_WORD.findall(said.lower()))


def _named(said: str, found: re.Match[str], language: Language, over: Over) -> ForeignEnding | None:
    what = " ".join(part for part in found.groupdict().values() if part)
    plain = _telling(what, language)
    told = tuple(dict.fromkeys(stems(plain, language)))
    who = _who(said, language)
    if over == "thing" and who in plain:  # it is itself what is over
        who = None
    words = frozenset([*told, *plain, *stems(plain)])
    return ForeignEnding((over,), who, words, told, language) if told else None


def _telling(what: str, language: Language) -> list[str]:
    left_out = stop_words(language) | _LIGHT[language]
    return [word for word in _WORD.findall(what.lower()) if word not in left_out]


def _who(said: str, language: Language) -> str | None:
    """Return of whom a sentence is, as :func:`~demem_agent.slots.successions.whose.whose` does."""
    other = _OTHER[language].search(said)
    if other is not None and other["who"] and not _SPEAKER[language].match(other["who"]):
        return other["who"].lower()
    if _SPEAKER[language].search(said):
        return ""
    return "*" if other is not None else None
