"""What rows tell in fewer bytes: deflated, with a dictionary of what most of them have.

The dictionary is part of the format: a letter of it changed, and no row that was written with it
can be read.
"""

from __future__ import annotations

import zlib

__all__ = ["DICTIONARY", "squeezed", "unsqueezed"]

_WORDS = (
    "because think really something about would people there their which could other where "
    "after before through being those while should these between always never another nothing "
    "everything everyone together remember thought though without around again still right "
    "great things much many some more most were been what when with that this have from they "
    "will your just like time know good love make want going into over than then them very "
    "only also year week month today yesterday tomorrow morning evening night friend family "
    "work home school house money thanks thank you please sorry sounds amazing wonderful happy "
    "hope need help look looking feel feeling getting trying working doing having making "
    "started talking learning new old first last next little long best better it's I'm that's "
    "don't didn't can't you're we're I've I'll let's there's what's the and I you to of a in "
    "is it for my on me so but at be we are do not can had how did was has her his she he out "
    "up if or by an as I was going to I have been it was you know how about do you think have "
    "you ever I want to I need to I think that one of the for the in the of the on the to the "
    "and the with my at the it is this is that is there is "
)
#: What is likeliest stands at the end: it is reached with the fewest bits.
_BODIES = (
    '"certificate":{"candidates":[{"answers":["<demem:memory>\\n- "before":{"cover":[["e1",0,'
    '"asker":null,"at":null,"channel":null,"conditions":[],"credible":true,"id":"a1","kept":["e1"],'
    '"known":true,"lead":0,"query":"What "read":[["e1",0,"redacted":false,"reference":null,'
    '"rewards":[1.0],"slot":0,"supports":["e1"],"told":["reward"],"untested":[],"verdicts":[]}'
    '[[0,6],[1,64],[1,50],{"evidence_id":"e1","opened":false,"skipped":false,"slot":0}ingest'
)
_ITEM = (
    "2020-01-01T10:00:00+00:00 user assistant session_1 "
    "[0,[0,89],[0,10],[1,25],[0,9],null,[0,5],1.0,null,[1,2],[1,8],null,256][][[0,"
)
DICTIONARY = (_WORDS + _BODIES + _ITEM).encode("ascii")
_LEVEL = 9
#: Deflate without a header, which a sealed row does not need.
_BITS = -15
#: Bytes that a small window reaches over, with the dictionary: what is no longer comes out as short
#: in two thirds of the time, since a large one takes long to make.
_SMALL = 7_500 - len(DICTIONARY)
_SMALL_BITS, _SMALL_ROOM = -13, 7


def squeezed(plain: bytes) -> bytes:
    """Return bytes deflated."""
    is_small = len(plain) <= _SMALL
    bits, room = (_SMALL_BITS, _SMALL_ROOM) if is_small else (_BITS, _LEVEL)
    made = zlib.compressobj(_LEVEL, zlib.DEFLATED, bits, room, zdict=DICTIONARY)
    return made.compress(plain) + made.flush()


def unsqueezed(raw: bytes) -> bytes:
    """Return what :func:`squeezed` was given.

    Raises:
        ValueError: for anything else than it returned.
    """
    made = zlib.decompressobj(_BITS, zdict=DICTIONARY)
    try:
        plain = made.decompress(raw)
    except zlib.error as error:
        raise ValueError("it is not what was deflated") from error
    if not made.eof or made.unused_data:
        raise ValueError("it is more or less than what was deflated")
    return plain
