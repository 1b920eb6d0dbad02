"""Whether a text names a time that needs no day beside it: "at 3pm", "on Tuesday", "12 May"."""

from __future__ import annotations

import re

from demem_agent.later import pattern

__all__ = ["NAMED", "names_time"]

#: A time of the day, a weekday, a day or month, or a year.
NAMED = pattern(
    r"\b\d{1,2}[:.h]\d{2}\b(?!\s*%)|\b\d{1,2} ?(?:[ap]\.?m\b|uhr\b|o['’]?clock\b)"
    r"|\b(?:noon|midday|midnight)\b"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:1[89]|20)\d\d\b"
    r"|\b(?:jan(?:uary)?|feb(?:ruary)?|march|mar|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.? (?:the )?\d{1,2}\b"
    r"|\b\d{1,2}(?:st|nd|rd|th)?\.? (?:of )?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
    r"|\b(?:in|by|since|until|every) (?:january|february|march|april|may|june|july|august"
    r"|september|october|november|december)\b"
    r"|\b\d{1,2}[/.]\d{1,2}[/.]\d{2,4}\b|\bat (?:half|quarter) (?:past|to)\b",
    re.IGNORECASE,
)


def names_time(text: str) -> bool:
    """Whether a text names a time of the day, a weekday or a date, in English."""
    return NAMED.search(text) is not None
