"""Whether a text tells a place, in some languages: by a word for one or what stands before it."""

from __future__ import annotations

import re

from demem_agent.later import pattern

__all__ = ["tells_place"]

_NO_PLACE = (
    r"(?!\d{1,2}(?:[:.h]\d\d)?\s?(?:[ap]m|o['’]clock|uhr|h)?\b(?!\s[A-Z])|noon|midnight|night|time"
    r"|last\b|next\b|all\b|least\b|first\b|general\b|fact\b|total\b|order\b|me\b|you\b|him\b"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:january|february|march|april|may|june|july"
    r"|august|september|october|november|december)\b|(?:morning|evening|afternoon|weekend)\b"
    r"|\d{4}\b|(?:januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember"
    r"|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre"
    r"|janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre|janeiro"
    r"|fevereiro|março|maio|junho|julho|setembro|outubro|novembro|dezembro)\b)"
)
_BEFORE = (
    r"in(?:side|to)?|at|to|from|near|on(?:to)?|under(?:neath)?|behind|beside|by|next to|above|below"
    r"|between|outside|over|opposite|around"
    r"|im|ins|am|ans|auf|unter|hinter|neben|bei|beim|über|zwischen|vor dem|vor der|zu|zur|zum|nach"
    r"|aus|an der"
    r"|dans|sur|sous|chez|derrière|devant|près d[eu]|à côté d[eu]|en|à|au|aux"
    r"|sobre|debajo de|detrás de|encima de|junto a|al lado de|cerca de|dentro de|desde"
    r"|n[oa]s?|em|debaixo d[eoa]|atrás d[eoa]|ao lado d[eoa]|perto d[eoa]|por cima d[eoa]"
    r"|nel(?:la|lo|l['’])?|sotto|sul(?:la)?|dietro|accanto a|vicino a|da"
    r"|op|onder|achter|naast|bij|uit|w|we|na|pod|obok|przy"
)
_PLACE = pattern(
    rf"\b(?:{_BEFORE})\s+(?:(?:the|a|an|my|our|his|her|de[rmn]?|die|das|einer?|einem|meine[mr]?|le|la"
    rf"|les|l['’]|mon|ma|el|los|las|mi|o|os|as|um|uma|il|lo|un|una|het)\s*)?{_NO_PLACE}\w\w+"
    r"|\b(?:upstairs|downstairs|outside|inside|here|there|home|online|abroad|oben|unten|draußen"
    r"|drinnen|hier|dort|zuhause|arriba|abajo|fuera|aquí|allí|ici|dehors|aqui|ali|lá|fora|qui|fuori"
    r"|thuis|buiten|tutaj)\b"
    r"|\b(?:street|road|avenue|lane|square|rua|rue|calle|via|avenida|praça|plaza|piazza|ulica"
    r"|\w+(?:straße|strasse|platz|gasse|weg|straat))\b",
    re.IGNORECASE,
)


def tells_place(text: str) -> bool:
    """Whether a text tells a place, by a word of it or by what stands before one."""
    return _PLACE.search(text) is not None
