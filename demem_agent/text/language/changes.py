"""Words by which people say that something has changed, or ask for how it was: one short table.

A row is a language, a column what its words tell. To add a language, add its row; words are matched
whole, in any case, and "..." stands for up to three words between two parts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Literal, get_args

from demem_agent.later import pattern

__all__ = [
    "Sign",
    "adds",
    "asks_of_now",
    "asks_of_the_past",
    "denied",
    "depends",
    "negates",
    "signs",
    "tells",
]

Sign = Literal[
    "changed",
    "renews",
    "denies",
    "refuses",
    "closes",
    "adds",
    "depends",
    "negates",
    "event",
    "many",
    "likes",
    "past",
    "now",
    "turns",
    "withdraws",
    "anew",
    "amounts",
]

#: ``changed``: what is said holds from now on. ``renews``: the same of a number, a date or a time.
#: ``denies``: what stands after it held before. ``refuses``: it is not so. ``closes``: nothing else
#: is so.
#: ``adds``: it comes to what held before. ``depends``: it holds under a condition. ``negates``:
#: off, no longer. ``event``: it happened once. ``many``: what is done or liked beside other things.
#: ``likes``: somebody likes it, or does not. ``past`` and ``now``: what a question asks for.
#: ``turns``: something may begin or be over, which ``slots/successions`` tells. ``withdraws``: the
#: same of what its speaker may take back. ``anew``: a value may be another one from now on, which
#: ``slots/successions/anew`` tells. ``amounts``: the same, of a number alone.
_SIGNS: Mapping[str, Mapping[Sign, str]] = {
    "English": {
        "anew": "gave notice|handed in|handed back|handed over|goodbye|ditched|got the job"
        "|appointed|taken on|going with|first day|first week|first shift|day one|week one|start"
        "|starts|started|starting|begin|begins|began|hired|joined|joining|signed|accepted"
        "|said yes|took it|leaving|last day|last shift|cancelled|canceled|now|nowadays"
        "|these days|new|turned|turns|turning|switched|switching|changed|moved|went|gone over"
        "|ported|took over|takes over|taken over|taking over|has the|retired|resigned|quit|died"
        "|passed|closed|upped|ups|raised|lowered|bumped|reduced|cut|increased|goes up|go up"
        "|going up|going down|goes down|go down|rises|rose|drops|dropped|falls|fell|up to"
        "|down to|put me|puts me|left|gave|paid|repaid|remaining|still open|to pay|instead|since"
        "|january|february|march|april|june|july|august|september|october|november|december"
        "|next month|from may|replaced|replaces",
        "amounts": "prices|price|rates"
        "|so|only|makes|makes it|that makes|asks|asking|charges|demands|put it up"
        "|wants|will be|going to be|birthday|celebrated",
        "changed": "now|nowadays|no longer|anymore|instead|from now on|these days"
        "|lately|changed|switched|moved|replaced|increased|decreased|reduced|raised"
        "|lowered|extended|postponed|rescheduled|pushed back|revised|adjusted|grown|grew|used to"
        "|back to|reached|upgraded|swapped|it turns out|turns out that|became|become",
        "renews": "new|recently|recent|updated|update|improved|dropped|went up|went down|growth"
        "|now|just|latest|fell|rose|expanded|already|up to|by now|total",
        "refuses": "not|never|no|neither|nor|none|isn't|wasn't|aren't|don't|doesn't|didn't|hasn't"
        "|haven't|cannot|can't|unable",
        "closes": "only|exclusively|solely|entirely|nothing but|nobody but|never|at all|instead",
        "denies": "not|no longer|instead of|rather than|never|isn't|wasn't|don't|doesn't|didn't"
        "|used to|from|quit|stopped|left|sold",
        "adds": "also|too|as well|another|besides|both|in addition|one more|other|else"
        "|additionally",
        "depends": "if|when|whenever|while|unless|during|in case|on weekends|at night|except",
        "negates": "no longer|anymore|turn off|turned off|turn ... off|turning ... off|is off"
        "|are off|switch off|switch ... off|switched off|disable|disabled|stopped|i quit"
        "|quit my|quit the|quit being|just quit|have quit|i've quit"
        "|cancelled|canceled|dislike|dislikes|muted|no need|get rid of",
        "many": "like|likes|love|loves|enjoy|enjoys|liked|loved|enjoyed|visited|visit|tried|try"
        "|bought|read|watched|met|saw|played|made|cooked|ate|recommend|recommended|including"
        "|such as|for example|some|many|few",
        "likes": "i like|we like|really like|likes|i love|we love|loves|enjoy|enjoys|adore"
        "|adores|hate|hates",
        "past": "used to|before|previously|originally|original|at first|formerly|former"
        "|earlier|initially|initial|back then|in the past|ago|previous|last time|until|prior",
        "now": "now|current|currently|still|at the moment|these days|today|nowadays|at present"
        "|presently|latest|most recent|most recently|anymore|up to date|right now",
        "turns": "moved|relocated|job|position|role|jobs|careers|employer|employers|started working"
        "|started work|began working|began work|hired|promoted to|switched|changed|migrated"
        "|upgraded|transferred|sold|sell|gave|given|rid of|traded|donated|threw|pawned|scrapped"
        "|rehomed|returned|quit|stepped down|deleted|uninstalled|unsubscribed|stopped|no longer"
        "|any longer|any more|anymore|cancelled|canceled|cancel|called ... off|call ... off"
        "|called off|call off|is off|are off|broke up|broken up|split up|divorced|separated"
        "|swapped|exchanged|replaced|left|resigned|fired|laid off|made redundant|let go|retired"
        "|died|passed away|finished|completed|submitted|handed in|dropped|bought|rented"
        "|postponed|rescheduled|pushed|shifted|brought forward|after all|decided not"
        "|decided against|ended up not|not happening|isn't happening|fell through|changed my mind"
        "|changed our minds|last day|down to|up to|new number|new phone number|new mobile number"
        "|new cell number|discontinued|s off|withdrawing|withdrew|withdrawn|pulling out|pulled out"
        "|pull out"
        "|backing out|backed out|bowing out|bowed out"
        "|plan|plans|rebooked|new date|new time|new day|goes up|go up|going up|went up|goes down"
        "|going down|went down|goes back|back to|rises|rose|raised|increased|increases|drops"
        "|dropped|falls|fell|lowered|reduced|cut to|upped|gone up|gone down"
        "|left|remaining|lost|stolen|ran away|dead|gone|escaped|broke|broken"
        "|first day|first week|week one|day one|day 1|said yes|put off|delayed|bumped|slipped|is"
        " now|till",
        "withdraws": "scratch that|strike that|correction|i mean|meant|misspoke|i was wrong"
        "|got that wrong|that was wrong|a mistake|my mistake|my bad|make it|make that"
        "|take that back|it's now|it is now|update|actually|oops|typo|mistyped|oh|sorry|wait|no"
        "|nope|changed",
        "event": "yesterday|tonight|last night|last week|last weekend|last month|last year|ago"
        "|this morning|the other day|tomorrow|next week|next weekend|next month|on monday"
        "|on tuesday|on wednesday|on thursday|on friday|on saturday|on sunday|went|happened",
    },
    "German": {
        "anew": "stelle|gekündigt|schluss|letzter|fing|übergeben|abgemeldet|erster tag"
        "|erster arbeitstag|erste woche|letzter tag|letzter arbeitstag|fange|fängt|beginne"
        "|beginnt|unterschrieben|zugesagt|angenommen|umzug|eingezogen|umgezogen|hört|höre|jetzt"
        "|nun|inzwischen|mittlerweile|neuerdings|ab|seit|neue|neuer|neuen|geworden|wurde|wird"
        "|gewechselt|wechsle|hochgesetzt|runtergesetzt|angehoben|gesteigert|gesenkt|reduziert"
        "|umgestellt|versetzt|steigt|sinkt|klettert|fällt|hoch|rauf|runter|bleiben|bleibt|noch"
        "|übrig|offen|pension|rente|weg|gegangen|aufgehört|ausgezogen|weggezogen|gestorben"
        "|stattdessen|statt|anstatt|lieber|dafür|absetzen|weglassen|zurückgezahlt|zurückbezahlt"
        "|abbezahlt|abgezahlt|beglichen|getilgt",
        "amounts": "preise|preis"
        "|macht|also|verlangt|will|erhöht|gestiegen|geburtstag|feierten|feierte",
        "withdraws": "nein|warte|quatsch|doch|sorry",
        "changed": "jetzt|nun|nicht mehr|stattdessen|inzwischen|mittlerweile|neuerdings|ab sofort"
        "|eigentlich|geändert|gewechselt|umgezogen|verschoben|ersetzt|erhöht|gesenkt",
        "renews": "neu|neue|neuen|neuer|neues|kürzlich|gestiegen|gefallen|verbessert|gerade",
        "refuses": "nicht|nie|niemals|kein|keine|keinen|weder",
        "closes": "nur|ausschließlich|allein|nie|niemals|stattdessen",
        "denies": "nicht|kein|keine|keinen|statt|anstatt|anstelle|nicht mehr",
        "adds": "auch|außerdem|zusätzlich|noch ein|noch eine|ebenfalls",
        "depends": "wenn|falls|während|sobald|außer|nachts",
        "negates": "nicht mehr|nie|niemals|ausgeschaltet|aufgehört",
        "many": "mag|liebe|liebt|gern|gerne|besucht|gekauft|gelesen|gesehen",
        "turns": "gezogen|umgezogen|weggezogen|zurückgezogen|hingezogen|wohne|wohnen|wohnt|lebe"
        "|lebt|jetzt|nun|inzwischen|mittlerweile|neuerdings|seit|angefangen|angetreten|begonnen"
        "|bekommen|gefunden|angenommen|gewechselt|gekündigt|verloren|aufgegeben|geschmissen"
        "|hingeschmissen|entlassen|gefeuert|rente|pension|verkauft|weggegeben|abgegeben|verschenkt"
        "|entsorgt|weggeworfen|abbestellt|gelöscht|abgesagt|storniert|abgemeldet|ausgefallen"
        "|gestrichen|gestorben|fällt ... aus|fallen ... aus|aufgehört|entschieden|doch nicht"
        "|doch kein|doch keine|doch keinen|nicht mehr|keine ... mehr|keinen ... mehr|kein ... mehr"
        "|getrennt|schluss gemacht|sage ... ab|sagen ... ab|zurück|steige ... aus|steigen ... aus"
        "|geändert|verlegt|umgebucht|verschoben|planänderung|neuer termin|neues datum|steigt|stieg"
        "|sinkt|sank|fällt|fiel|beträgt|liegt|erhöht|gesenkt|reduziert|gestiegen|gesunken"
        "|angehoben|auf"
        "|noch|übrig|weggelaufen|gestohlen|eingegangen|kaputt"
        "|erster tag|erster arbeitstag|letzter tag|letzter arbeitstag|zugesagt|vorgezogen"
        "|vorverlegt"
        "|verlegen|verschieben",
        "likes": "mag|mögen|liebe|lieben|liebt|gern|gerne|hasse|hasst",
        "past": "früher|vorher|zuvor|ursprünglich|zuerst|damals|ehemals|anfangs|ehemalig",
        "now": "jetzt|nun|aktuell|derzeit|momentan|zurzeit|heute|noch|inzwischen|heutzutage",
        "event": "gestern|morgen|letzte woche|letztes jahr|heute morgen",
    },
    "Spanish": {
        "anew": "adiós|ya no|asignado|asignada|pasamos|primer día|primera semana|último día"
        "|empiezo|empieza|empecé|empezó|comienzo|firmé|firmado|cogido|contratado|acepté"
        "|dije que sí|dejado|dejo|mudamos|instalados|instalado|instalada|jubila|baja|ahora|ya"
        "|actualmente|desde|a partir|nueva|nuevo|cumplido|cumplió|cambiado|cambiada|cambié"
        "|pasado|pasada|pasé|sube|subió|bajó|pasa|aumenta|quedan|falta|faltan|jubilado|jubilada"
        "|jubiló|se fue|se ha ido|se va|en su lugar|mejor|en vez|en lugar|devuelto|devolví|pagado"
        "|saldado|liquidado",
        "amounts": "precios"
        "|cobra|pide|quiere|así que|son|celebrado|cumple|queda|subido|bajado|va a|será",
        "withdraws": "espera|perdón|no",
        "changed": "ahora|ya no|en vez|en lugar|actualmente|desde ahora|cambié|cambiado|mudé"
        "|mudado|en realidad|aplazado|subido|bajado",
        "renews": "nuevo|nueva|recientemente|mejorado|acabo de",
        "refuses": "no|nunca|jamás|ni|ningún|ninguna",
        "closes": "solo|sólo|solamente|únicamente|exclusivamente|nunca|jamás",
        "denies": "no|ya no|en vez de|en lugar de|nunca",
        "adds": "también|además|otro|otra",
        "depends": "si|cuando|mientras|salvo|excepto|de noche",
        "negates": "ya no|nunca|apagado",
        "many": "gusta|gustan|encanta|encantan|visité|compré|leí|vi",
        "turns": "mudé|mudamos|mudó|mudaron|mudado|trasladé|trasladamos|trasladó|trasladado"
        "|ahora|desde|empezado|empecé|empezó|comencé|conseguí|encontré|conseguido|contrataron"
        "|contratado|cambié|dejé|dejamos|dejó|dejado|perdí|perdido|perdió|despedido|despidieron"
        "|renuncié|renunciado|renunció|jubilé|jubilado|vendido|vendí|vendimos|vendió|regalado"
        "|regalé|regalamos|donado|doné|tirado|tiré|cancelado|cancelé|cancelamos|canceló"
        "|cancelada|suspendido|suspendió|anulado|anulé|devuelto|devolví|muerto|murió"
        "|al final no|finalmente no|ya no|decidido no|decidí no|decidimos no|roto|rompimos|rompí"
        "|cortamos|separado|separamos|retiro|retirado|renuncio|me bajo"
        "|cambiaron|cambiado|cambió|movieron|aplazaron|adelantaron|retrasaron|cambio de plan"
        "|cambio de planes|nueva fecha|nueva hora|sube|baja|pasa|subió|bajó|pasó|subido|bajado"
        "|pasado|vuelve|aumenta|aumentó"
        "|queda|quedan|muerto|escapó|escapado|rompió"
        "|primer día|último día|dije que sí|aplaza|aplazado|aplazada|retrasa|retrasado|retrasada"
        "|adelanta|adelantado|adelantada|pospone|pospuesto|pospuesta|movido|cambia",
        "likes": "gusta|gustan|encanta|encantan|adoro|prefiero|odio",
        "past": "antes|anteriormente|originalmente|al principio|antiguamente|antiguo",
        "now": "ahora|actualmente|hoy|todavía|aún|hoy en día|en este momento",
        "event": "ayer|mañana|anoche|la semana pasada|el año pasado",
    },
    "French": {
        "anew": "embauché|embauchée|engagé|engagée|adieu|quitte|passés|résilié|premier jour"
        "|première semaine|dernier jour|commence|commencé|démarre|signé|accepté|dit oui|pris"
        "|emménagé|installés|part|maintenant|désormais|dorénavant|dès|depuis|à partir|nouvelle"
        "|nouveau|nouvel|a eu|fêté|avoir|passé|passée|changé|basculé|passe|monte|augmente|baisse"
        "|baissé|mis|reste|restent|retraite|parti|partie|démissionné|déménagé|quitté|à la place"
        "|plutôt|au lieu|janvier|février|mars|avril|juin|juillet|septembre|octobre|novembre"
        "|décembre|remboursé|soldé",
        "amounts": "prix"
        "|donc|du coup|ça fait|demande|prend|veut|prendra|fêter|fête|sera|va|augmenté",
        "withdraws": "attends|attendez|pardon|enfin",
        "changed": "maintenant|désormais|ne ... plus|au lieu|dorénavant|changé|déménagé|remplacé"
        "|en fait|reporté|augmenté|baissé",
        "renews": "nouveau|nouvel|nouvelle|récemment|amélioré|viens de",
        "refuses": "ne ... pas|ne ... jamais|jamais|aucun|aucune",
        "closes": "seulement|uniquement|exclusivement|jamais|plutôt",
        "denies": "ne ... pas|ne ... plus|pas|plutôt que|au lieu de|jamais",
        "adds": "aussi|également|en plus|un autre|une autre",
        "depends": "si|quand|lorsque|pendant que|sauf|la nuit",
        "negates": "ne ... plus|jamais|éteint",
        "many": "aime|adore|visité|acheté|vu",
        "turns": "déménagé|emménagé|aménagé|maintenant|désormais|commencé|changé|trouvé|embauché"
        "|embauchée|quitté|perdu|lâché|démissionné|viré|virée|licencié|licenciée|retraite|vendu"
        "|jeté"
        "|annulé|annulée|annulés|annulées|supprimé|supprimée|reporté|reportée|décalé|décalée"
        "|résilié"
        "|arrêté|rompu|retire|désiste|renonce"
        "|décalé|déplacé|avancé|changement|nouvelle date|nouvelle heure|passe|passera|passé|passée"
        "|monte|descend|augmente|baisse|revient|tombe"
        "|reste|mort|morte|échappé|échappée|volé|volée|enfui|enfuie|cassé|cassée"
        "|premier jour|dernier jour|dit oui|repoussé|repoussée|avancée|déplacée|sera",
        "likes": "aime|aimons|aiment|adore|adorons|préfère|déteste",
        "past": "avant|auparavant|autrefois|à l'origine|au début|jadis|ancien|ancienne",
        "now": "maintenant|actuellement|aujourd'hui|encore|en ce moment|toujours|à présent",
        "event": "hier|demain|la semaine dernière|l'année dernière|ce matin",
    },
    "Italian": {
        "turns": "spostato|spostata|rimandato|rimandata|rinviato|rinviata|anticipato|anticipata"
        "|posticipato|posticipata|slitta",
        "anew": "addio|lascio|disdetta|passate|cominciato|primo giorno|prima settimana"
        "|ultimo giorno|inizio|inizia|comincio|comincia|iniziato|firmato|preso|presa|assunto"
        "|assunta|accettato|trasloco|traslocato|disdetto|passati|ora|adesso|ormai|da|dal|dalla"
        "|nuova|nuovo|compiuto|compie|compì|cambiato|passato|passata|sale|passa|scende|aumenta"
        "|salito|salita|portato|portata|abbassato|abbassata|alzato|messo|messa|restano|resta"
        "|rimangono|mancano|pensione|andato|andata|smesso|lasciato|partito|partita|trasferito"
        "|trasferita|invece|al suo posto|restituito|saldato|estinto",
        "amounts": "prezzi"
        "|fa|fatto|festeggiato|quindi|siamo|viene|vuole|chiede|sarà|aumentato|aumentata",
        "changed": "ora|adesso|non ... più|invece|ormai|cambiato|trasferito|spostato",
        "renews": "nuovo|nuova|recentemente|migliorato|appena",
        "refuses": "non|mai|nessun|nessuna|né",
        "closes": "solo|soltanto|solamente|esclusivamente|mai|invece",
        "denies": "non|invece di|mai",
        "adds": "anche|inoltre|un altro|un'altra",
        "depends": "se|quando|mentre|tranne|di notte",
        "negates": "non ... più|spento",
        "many": "piace|piacciono|adoro|visitato|comprato|visto",
        "past": "prima|in precedenza|originariamente|all'inizio|un tempo",
        "now": "ora|adesso|attualmente|oggi|ancora|in questo momento",
        "event": "ieri|domani|la settimana scorsa|l'anno scorso",
    },
    "Portuguese": {
        "anew": "adeus|deixo|deixei|colocado|colocada|já não|passei|passámos|primeiro dia"
        "|primeira semana|último dia|último turno|começo|começa|comecei|começou|assinei"
        "|contratado|contratada|aceitei|disse que sim|sair|saio|cancelei|casa nova|mudámos"
        "|mudamos|mudou|agora|já|atualmente|desde|nova|novo|fez|mudei|sobe|desce|passa|aumentou"
        "|subiu|baixou|passou|restam|resta|faltam|em vez|reformou|aposentou",
        "amounts": "completou|faz|ficam|ficamos|são|quer|pede|cobra|nasceram|será|vai",
        "withdraws": "espera|desculpa|não",
        "changed": "agora|já não|em vez|atualmente|mudei|mudou|passei|adiado",
        "renews": "novo|nova|recentemente|melhorou|acabei de",
        "refuses": "não|nunca|jamais|nenhum|nenhuma|nem",
        "closes": "só|somente|apenas|exclusivamente|nunca|jamais",
        "denies": "não|em vez de|nunca|já não",
        "adds": "também|além disso|outro|outra",
        "depends": "se|quando|enquanto|exceto|à noite",
        "negates": "já não|nunca|desligado",
        "many": "gosto|gosta|adoro|visitei|comprei|vi",
        "turns": "mudei|mudámos|mudámo|mudamo|mudou|mudaram|agora|comecei|começou|começámos"
        "|começamos|arranjei|consegui|encontrei|aceitei|contratado|contratada|deixei|deixámos"
        "|deixou|perdi"
        "|perdeu|larguei|largou|despedi|despedido|despedida|demiti|reformei|aposentei|vendi"
        "|vendemos"
        "|vendeu|cancelei|cancelámos|cancelou|anulei|anulámos|anulou|deitei fora|acabei|terminei"
        "|cancelado|cancelada|cancelados|canceladas|adiado|adiada|adiados|adiadas|anulado|anulada"
        "|antecipado|antecipada|remarcado|remarcada|desmarcado|desmarcada|desisto|desisti|retiro-me"
        "|mudaram|alterou|alteraram|adiaram|adiou|anteciparam|remarcaram|remarcou|trocaram|mudança"
        "|nova data|nova hora|sobe|desce|passa|subiu|desceu|passou|volta|aumenta|aumentou|baixou"
        "|resta|restam|sobra|sobram|ficam|ficaram|morreu|fugiu|roubado|roubada|partiu-se"
        "|primeiro dia|último dia|disse que sim",
        "likes": "gosto|gosta|gostamos|adoro|adora|prefiro|odeio",
        "past": "antes|anteriormente|originalmente|no início|antigamente",
        "now": "agora|atualmente|hoje|ainda|no momento",
        "event": "ontem|amanhã|a semana passada|o ano passado",
    },
    "Dutch": {
        "anew": "nieuwe|voortaan|vanaf|terugbetaald|afbetaald|afgelost|begint|verhoogt|verhoogd",
        "changed": "nu|niet meer|voortaan|in plaats|inmiddels|tegenwoordig|veranderd|verhuisd",
        "renews": "nieuw|nieuwe|onlangs|gestegen|gedaald|verbeterd|net",
        "refuses": "niet|nooit|geen|noch",
        "closes": "alleen|uitsluitend|slechts|enkel|nooit",
        "denies": "niet|geen|in plaats van|nooit",
        "adds": "ook|bovendien|nog een",
        "depends": "als|wanneer|terwijl|tenzij|behalve",
        "negates": "niet meer|nooit|uitgeschakeld",
        "many": "graag|houd van|bezocht|gekocht|gelezen|gezien",
        "past": "vroeger|eerder|voorheen|oorspronkelijk|eerst|destijds",
        "now": "nu|momenteel|vandaag|nog|tegenwoordig|op dit moment",
        "event": "gisteren|morgen|vorige week|vorig jaar",
    },
}

_EVERY: tuple[Sign, ...] = get_args(Sign)
#: Words between the two parts of a phrase such as "ne ... plus".
_BETWEEN = r"(?:\W+\w+){0,3}?\W+"
#: What ``re.IGNORECASE`` takes for another letter than ``str.lower`` does.
_ODD = pattern("[İıſ]")
_LETTERS = pattern(r"[^\W\d_]+")
#: Words after one that denies, in which what held before is named.
_DENIED = 3
_WORD = pattern(r"\w+")
#: "first" asks for the past at the end of a question or before a verb, not in "the first sprint".
_FIRST = pattern(r"(?<!\bthe )(?<!\bmy )(?<!\bour )\bfirst\b(?=\W*$| \w+(?:ed)?\b)", re.I)


def tells(text: str, sign: Sign) -> bool:
    """Whether a text has one of the words of a sign, in any language of the table.

    Most phrases are one word: to look those up is much faster than one pattern of all of them.
    """
    if _is_odd(text):
        return _pattern(sign).search(text) is not None
    words = _WORD.findall(text.lower())
    if not _single(sign).isdisjoint(words):
        return True
    longer = _longer(sign)
    return any(longer[word].search(text) for word in longer.keys() & words)


def signs(text: str, words: Iterable[str]) -> frozenset[Sign]:
    """Return the signs that a text may have, by its words in lower case: all others it has not.

    This is much faster than to look for each sign; for those it leaves, :func:`tells` is asked.
    """
    if _is_odd(text):
        return frozenset(_EVERY)
    found: set[Sign] = set()
    by_word = _by_word()
    for word in by_word.keys() & words:
        found |= by_word[word]
    return frozenset(found)


def denied(text: str) -> Iterable[str]:
    """Yield the few words after each that denies, in lower case: what no longer holds."""
    low = text.casefold()
    for found in _pattern("denies").finditer(low):
        for nth, word in enumerate(_WORD.finditer(low, found.end())):
            if nth >= _DENIED:
                break
            yield word[0]


def negates(text: str) -> bool:
    """Whether a text says that something is off, or no longer so."""
    return tells(text, "negates")


def adds(text: str) -> bool:
    """Whether a text says that it comes to what was said before."""
    return tells(text, "adds")


def depends(text: str) -> bool:
    """Whether a text holds under a condition that it names."""
    return tells(text, "depends")


def asks_of_the_past(question: str) -> bool:
    """Whether a question asks for how something was; one that asks for now as well does not."""
    if asks_of_now(question):
        return False
    return tells(question, "past") or _FIRST.search(question) is not None


def asks_of_now(question: str) -> bool:
    """Whether a question asks for how something is now."""
    return tells(question, "now")


def _is_odd(text: str) -> bool:
    """Whether a text has letters of which ``re.IGNORECASE`` and ``str.lower`` make others."""
    if text.isascii():
        return False
    return _ODD.search(text) is not None or text.casefold() != text.lower()


@cache
def _pattern(sign: Sign) -> re.Pattern[str]:
    return _any_of(_phrases(sign))


@cache
def _longer(sign: Sign) -> Mapping[str, re.Pattern[str]]:
    """Return what finds the phrases of a sign that are more than one word, by the longest word of
    each, without which it is in no text.
    """
    by_word: dict[str, list[str]] = {}
    for phrase in _phrases_of_words(sign):
        longest = max(_WORD.findall(phrase), key=len)
        by_word.setdefault(longest, []).append(phrase)
    return {word: _any_of(phrases) for word, phrases in by_word.items()}


def _any_of(phrases: Iterable[str]) -> re.Pattern[str]:
    longest_first = sorted(phrases, key=len, reverse=True)
    parts = "|".join(map(_part, longest_first))
    return re.compile(rf"(?<!\w)(?:{parts})(?!\w)", re.IGNORECASE)


@cache
def _single(sign: Sign) -> frozenset[str]:
    """Return the phrases of a sign that are one word."""
    return frozenset(phrase for phrase in _phrases(sign) if _WORD.fullmatch(phrase))


def _phrases_of_words(sign: Sign) -> Iterable[str]:
    return [phrase for phrase in _phrases(sign) if not _WORD.fullmatch(phrase)]


@cache
def _by_word() -> Mapping[str, set[Sign]]:
    """Return the signs by the longest word of each phrase, without which it is in no text."""
    found: dict[str, set[Sign]] = {}
    for sign in _EVERY:
        for phrase in _phrases(sign):
            longest = max(_LETTERS.findall(phrase), key=len)
            found.setdefault(longest, set()).add(sign)
    return found


def _phrases(sign: Sign) -> Iterable[str]:
    """Return the phrases of a sign in all languages, each once."""
    phrases: dict[str, None] = {}
    for language in _SIGNS.values():
        for phrase in language.get(sign, "").split("|"):
            if phrase:
                phrases[phrase] = None
    return phrases


def _part(phrase: str) -> str:
    return re.escape(phrase).replace(r"\ \.\.\.\ ", _BETWEEN)
