"""Fit how probably a later line takes the place of an earlier one.

    python benchmarks/fit_supersession.py --data FOLDER [--files 2 17 19] [--json]

FOLDER has VehicleMemBench (``benchmarks/vehicle_data.py``). Two kinds of talk are fitted on,
weighing the same; what tells of states that end (``turned``, ``withdrawn``) is fitted after that,
on talk of a third kind that is made up as well, with all other weights as they are.

One is made up here, from a seed: people tell where they live, what they do, how much of something
they have, what is set to what, and facts of others; later some of it changes, in several wordings.
Between these stand lines that hold beside each other: likings, pets, events of different days,
rules for different conditions, plans. The other is what was said in the cars of half the files:
where a decision rests on a line of somebody, and one of the same person that was said before
contradicts it, the one has taken the place of the other; other pairs have not, but for those that
set something to another number, which nobody has judged: they are left out.

The other files, Letta's updates, LoCoMo, LongMemEval and BEAM are not looked at. Shown are the
weights that ``demem_agent/slots/successions/model.py`` has, and of each source what is found at
the confidence from which a line counts as superseded, each time with a fifth of its talks left out
of the fit.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from vehicle_data import Car, load

from demem_agent import SlotMemory, Turn
from demem_agent.slots.placement import Arrival
from demem_agent.slots.successions.lineage import HOLDS
from demem_agent.slots.successions.signals import ALIKE, Signals
from demem_agent.slots.successions.succeeding import Pair, pairs

Floats = NDArray[np.float64]

#: Half of the files; the others are what the model is judged on.
FILES = (2, 17, 19, 24, 30, 37)
TALKS = 150
#: What changes in a talk that is made up.
CHANGES = 7
FOLDS = 5
PENALTY = 1.0
STEPS = 60
#: What the intercept is raised by, in log-odds: so that about one line in a hundred of what was
#: said in these cars, where hardly anything changes, is taken for a change.
RAISED = 0.9
SEED = 0
#: Signals at the end that tell of states that end and of what is taken back: they are fitted last.
TURNS = 2
NAMES = tuple(field.name for field in fields(Signals))


# Talk that is made up


@dataclass(frozen=True, slots=True)
class Kind:
    """Something that people tell: how it is said first, how later, and what it is said of."""

    first: tuple[str, ...]
    later: tuple[str, ...]
    values: tuple[str, ...]
    others: tuple[str, ...] = ("",)


PLACES = tuple(
    "Porto Lisbon Hamburg Leeds Utrecht Geneva Malmö Kraków Denver Austin Osaka Perth".split()
)
PEOPLE = tuple(
    """Nadia Okafor|Ben Hartley|Ines Duarte|Tomas Lind|Priya Raman|Colin Marsh|Freya Holt
    |Hugo Bastien|Mina Sato|Owen Pryce|Lena Vogt|Marco Silvestri""".replace("\n    ", "").split("|")
)
NUMBERS = tuple(map(str, (3, 4, 5, 7, 8, 12, 15, 18, 20, 24, 30, 45, 60, 72, 80, 95, 120, 350)))
COUNTS = (*NUMBERS, "1,200", "1,500", "2,300", "4,800")
DAYS = tuple("Monday Tuesday Wednesday Thursday Friday Saturday".split())
TIMES = ("8 AM", "9:30 AM", "noon", "2 PM", "3:15 PM", "5 PM", "7:30 PM")
DATES = ("March 3", "March 14", "April 2", "April 20", "May 9", "June 1", "June 27")
JOBS = ("a nurse", "a tram driver", "a baker", "a tax clerk", "a welder", "a librarian")
COLOURS = tuple("blue green red orange purple white yellow grey".split())
THINGS = tuple("tea coffee hiking chess pottery jazz sushi gardening climbing painting".split())
TITLES = ("Dune", "Emma", "Ulysses", "Middlemarch", "Beloved", "Persuasion")
DEVICES = (
    *("seat heating", "screen brightness", "radio volume", "fan speed", "thermostat", "oven"),
    *("backlight", "massage level", "map zoom"),
)
SWITCHES = ("lane assist", "night mode", "the fog lamp", "the alarm", "auto pay", "read receipts")
SUBJECTS = (
    *("a grant for young sculptors", "a lecture on coastal birds", "a guide to old bridges"),
    *("a choir for shift workers", "a film about beekeeping", "a repair café by the harbour"),
)
#: What takes many words to say.
MATTERS = (
    *("the history of harbour towns in the north", "how bees find their way home at dusk"),
    *("coastal erosion and what it does to villages", "wooden bridges and those who mend them"),
    *("night trains and quiet stations", "small theatres run by retired teachers"),
    *("medieval music for lutes and voices", "cheap housing for young families"),
)
TONGUES = ("Spanish", "Finnish", "Korean", "Welsh", "Polish")
PURPOSES = ("the picnic", "the budget review", "the choir trip", "the garden project", "the exam")

CHANGING = (
    Kind(
        ("I live in {v}.", "My flat is in {v}.", "We have a place in {v}, close to the park."),
        (
            *("I live in {v} now.", "I moved to {v} last month.", "We have just moved to {v}."),
            *("My new flat is in {v}.", "I no longer live in {o}; it's {v} now."),
        ),
        PLACES,
    ),
    Kind(
        ("I work as {v}.", "I'm {v} at the moment.", "My job is being {v}."),
        (
            *("I work as {v} now.", "I've become {v}.", "I changed jobs, I'm {v} now."),
            "I quit being {o} and started as {v}.",
        ),
        JOBS,
    ),
    Kind(
        (
            *("The {x} is set to {v}.", "Set the {x} to {v}.", "I like the {x} at {v}."),
            *("I usually keep the {x} at {v}.", "Let me put the {x} at {v}, that is comfortable."),
        ),
        (
            *("Set the {x} to {v}.", "Actually, {v} is better for the {x}.", "Change it: {x} {v}."),
            *("I prefer the {x} at {v} these days.", "{o} is too much for the {x}, make it {v}."),
            "Let me turn the {x} to {v} instead.",
        ),
        NUMBERS,
        DEVICES,
    ),
    Kind(
        ("I want {x} on.", "Turn on {x}.", "Please keep {x} on while I drive."),
        ("Turn off {x}.", "I don't want {x} anymore.", "{x} is off now, it annoys me."),
        ("",),
        SWITCHES,
    ),
    Kind(
        (
            *("I have {v} followers on my page.", "My page has about {v} followers."),
            "I've got {v} followers so far.",
        ),
        (
            *("I'm at {v} followers now.", "My page just reached {v} followers."),
            *("I think my page is close to {v} followers now.", "Followers went up to {v}."),
        ),
        COUNTS,
    ),
    Kind(
        (
            *("The draft has {v} words so far.", "I have written {v} words of the draft."),
            "My draft stands at {v} words.",
        ),
        (
            *("The draft has grown to {v} words.", "The draft now contains {v} words."),
            "I got the draft up to {v} words this week.",
        ),
        COUNTS,
    ),
    Kind(
        (
            *("The deadline for {x} is {v}.", "I have to finish {x} by {v}."),
            "We set {v} as the deadline for {x}, which should give us enough time.",
        ),
        (
            *("The deadline for {x} was moved to {v}.", "The deadline for {x} is {v} now."),
            *("They extended the deadline for {x} to {v}.", "{x} has to be done by {v}, not {o}."),
        ),
        DATES,
        PURPOSES,
    ),
    Kind(
        (
            *("My meeting about {x} is at {v}.", "I scheduled the call about {x} for {v}."),
            "Let's talk about {x} at {v}.",
        ),
        (
            *("The meeting about {x} was moved to {v}.", "The call about {x} is at {v} instead."),
            "We rescheduled the meeting about {x} from {o} to {v}.",
        ),
        TIMES,
        PURPOSES,
    ),
    Kind(
        ("My favourite colour is {v}.", "I love the lamp in {v}.", "{v} is my favourite colour."),
        (
            *("My favourite colour is {v} now.", "I used to like {o}, but lately I prefer {v}."),
            "I'd rather have the lamp in {v} these days.",
        ),
        COLOURS,
    ),
    Kind(
        (
            *("My class is on {v}.", "I go to the pottery class every {v}."),
            "My choir practice is every {v} evening.",
        ),
        (
            *("My class is on {v} now.", "The pottery class moved to {v}."),
            "My choir practice has changed to {v} evening.",
        ),
        DAYS,
    ),
    Kind(
        (
            *("My running record over 5 km is {v} minutes.", "I pay {v} euros for the gym."),
            *("My test coverage is {v}%.", "I work remotely {v} days a month."),
        ),
        (
            *("My running record over 5 km is now {v} minutes.", "The gym costs {v} euros now."),
            *("My test coverage has increased to {v}%.", "It is {v} days a month of remote work."),
        ),
        NUMBERS,
    ),
)
#: The same in sentences in which much else is said.
CHANGING += (
    Kind(
        ("I've completed {v} {x} exercises.", "I'm done with {v} {x} exercises."),
        (
            *("I recently completed {v} {x} exercises.", "I've got through {v} {x} exercises now."),
            "I've already completed {v} {x} exercises with good results.",
        ),
        NUMBERS,
        ("algebra", "grammar", "counterpoint", "chess endgame"),
    ),
    Kind(
        ("my {x} has reached {v}%.", "I've brought my {x} to {v}%."),
        ("my {x} has recently improved to {v}%.", "my {x} went up to {v}%.", "My {x}: now {v}%."),
        NUMBERS,
        ("mock exam score", "seat occupancy", "recycling rate", "delivery rate"),
    ),
    Kind(
        ("I have a deadline of {v} for {x}.", "I want to meet my {v} deadline for {x}."),
        (
            *("I need to plan for the new {x} deadline of {v}.", "{x} has a new deadline: {v}."),
            "I'm not sure that I can meet the new {v} deadline for {x}.",
        ),
        DATES,
        PURPOSES,
    ),
    Kind(
        ("I have secured {v} {x} for the fair.", "I have {v} {x} for the fair."),
        ("I have secured {v} {x} for the fair.", "the number of {x} for the fair rose to {v}."),
        NUMBERS,
        ("stalls", "speakers", "volunteers", "sponsors"),
    ),
    Kind(
        ("my friend {x} has moved to {v}.", "my friend {x} lives in {v}."),
        (
            *("my friend {x} just moved back to {v}.", "my friend {x} actually moved to {v}."),
            "my friend {x} lives in {v} now.",
        ),
        PLACES,
        PEOPLE,
    ),
    Kind(
        (
            "I've put up posters, which has brought in {v} {x} and some letters.",
            "We are at {v} {x} for the fair, with 2 tables set.",
        ),
        (
            "I'm thinking of the recent growth of {x}, which has now reached {v}.",
            "I'm glad about the new total of {v} {x} on our list.",
        ),
        NUMBERS,
        ("signatures", "donations", "recipes", "bookings"),
    ),
    Kind(
        ("my goal is {v} pages per week.", "I want to write {v} pages per week."),
        ("my goal was adjusted to {v} pages per week.", "my weekly goal is {v} pages now."),
        NUMBERS,
    ),
)
#: What somebody says of themselves in the same few words, first and later.
OWN = (
    *("I live in {v}", "I work in {v}", "I study in {v}", "My office is in {v}"),
    *("My bank is in {v}", "My sister lives in {v}", "I keep my boat in {v}"),
    "I take the train to {v}",
)
CHANGING += tuple(
    Kind((f"{said}.",), (f"{said} now.", f"{said} these days.", f"{said} instead."), PLACES)
    for said in OWN
)
#: A state of somebody that is followed by another, or is over, in words that the two do not share.
TURNING = (
    Kind(
        ("I live in {v}.", "We live in {v}, near the river.", "My flat is in {v}."),
        ("I moved to {v}.", "We have moved to {v}.", "Just moved into a house in {v}!"),
        PLACES,
    ),
    Kind(
        ("My cousin lives in {v}.", "My cousin has lived in {v} for years."),
        ("My cousin moved to {v}.", "my cousin has relocated to {v}."),
        PLACES,
    ),
    Kind(
        ("I work at a garage in {v}.", "I work for the council of {v}."),
        ("I found a new job in {v}.", "I started working for a bakery in {v}.", "I quit my job."),
        PLACES,
    ),
    Kind(
        ("I have {x}.", "I've got {x}, as you know.", "We bought {x} last year."),
        ("I sold {x}.", "I gave away {x}.", "We got rid of {x}, it took up too much space."),
        ("",),
        ("a kayak", "an old piano", "a caravan", "a sewing machine", "a drone"),
    ),
    Kind(
        ("I go to {x} every week.", "I really enjoy {x} these days."),
        ("I gave up {x}.", "I stopped going to {x}.", "I quit {x}.", "I don't do {x} anymore."),
        ("",),
        ("karate", "the chess club", "evening classes", "the allotment", "aqua fitness"),
    ),
    Kind(
        ("We are planning {x} for {v}.", "We booked {x} for {v}.", "{x} is on {v}."),
        ("We cancelled {x}.", "{x} has been called off.", "We had to call off {x}."),
        DATES,
        ("the boat trip", "the garden party", "the hike", "the reunion"),
    ),
    Kind(
        ("I use Kestrel for {x}.", "I do my {x} with Kestrel."),
        ("I switched from Kestrel to Wren.", "I replaced Kestrel with Wren."),
        ("",),
        ("invoices", "drawings"),
    ),
)
#: What a speaker says, and takes back in the next line.
TAKEN_BACK = (
    Kind(
        ("The rehearsal is on {v}.", "Let's meet on {v} by the pier."),
        (
            "Scratch that, {v}.",
            "Sorry, I meant {v}.",
            "Actually, make it {v}.",
            "Actually it's {v}.",
        ),
        DAYS,
    ),
    Kind(
        ("My train leaves at {v}.", "The doors open at {v}."),
        ("Correction: {v}.", "Oops, I meant {v}.", "Wait, it's {v} now.", "Make that {v}."),
        ("8 AM", "9:30 AM", "2 PM", "3:15 PM", "5 PM", "7:30 PM"),
    ),
    Kind(
        ("My locker is number {v}.", "You need {v} eggs for it."),
        ("Correction: {v}.", "I meant {v}.", "Strike that, it's {v}."),
        NUMBERS,
    ),
)
#: The same words, where nothing is taken back.
KEPT = (
    Kind(
        ("The quiz is on {v}.",),
        ("Actually, it's a lovely hall.", "I meant to bring cake.", "Sorry, I'm a bit late."),
        DAYS,
    ),
    Kind(
        ("The ferry leaves at {v}.",),
        ("Wait, it's raining now.", "I mean it, thank you.", "Correction fluid is sold out."),
        ("8 AM", "5 PM"),
    ),
)
#: How facts about somebody begin that only one thing is true of.
FRAMES = (
    *("{p} teaches an evening course on {v}.", "{p} runs a newsletter about {v}."),
    *("{p} leads a working group on {v}.", "{p} and Ada Mint composed an opera about {v}."),
    *("{p} chairs a trust for {v}.", "{p} and Ada Mint are making a film on {v}."),
    *("{p} is writing a thesis on {v}.", "{p} won the Lindqvist medal for {v}."),
)
#: Facts that a narrator tells of people: what changes is who, with whom, or what.
TOLD = (
    *(
        Kind(
            (frame,),
            (frame, frame, f"{frame[:-1]} rather than {{o}}.", frame.replace(" {v}", " only {v}")),
            MATTERS,
        )
        for frame in FRAMES
    ),
    Kind(
        ("{p} was raised in {v}.", "{p} was raised by an aunt in {v}."),
        ("{p} was raised in {v}.", "{p} was raised by two uncles in {v}."),
        PLACES,
    ),
    Kind(
        ("{p} speaks Greek, Dutch and {v}.", "{p} can read Greek, Dutch and {v}."),
        ("{p} only speaks {v}.", "{p} only reads {v}, and speaks no other tongue."),
        TONGUES,
    ),
    Kind(
        ("{p} is at home in {v}.", "{p} is good at {v}."),
        (
            *("{x} is at home in {v}, while {p} only knows {o}.", "{p} is not good at {o}."),
            "{x} is good at {o}, while {p} is good at {v}.",
        ),
        TONGUES,
        PEOPLE,
    ),
    Kind(
        ("{p} has a stall for {v}.", "{p} has sold pictures of {v} at a fair."),
        (
            *("{p} has never had a stall.", "{p} has never sold pictures at a fair."),
            *("{p} has no stall and only sells by post.", "{p} did not sell any pictures."),
        ),
        THINGS,
    ),
    Kind(
        ("{v} organised {x}.", "{v} was the first to suggest {x}."),
        ("{v}, not {o}, organised {x}.", "{v} organised {x}.", "It was {v} who organised {x}."),
        PEOPLE,
        SUBJECTS,
    ),
    Kind(
        ("{p} and {v} worked together on {x}.", "{p} and {v} founded {x}."),
        (
            *("{p} and {v} worked together on {x}.", "{p} founded {x} with {v}, not with {o}."),
            "{p} never worked with {o}; instead {p} and {v} worked together on {x}.",
        ),
        PEOPLE,
        SUBJECTS,
    ),
    Kind(
        ("{p} and Ada Mint both studied in {v}.", "{p} studied in {v}, where {p} met Ada Mint."),
        ("{p} and Ada Mint both studied in {v}.", "{p} studied in {v}, not in {o}."),
        PLACES,
    ),
    Kind(
        ("{p} is {v}.", "{p} works as {v} in a small town."),
        ("{p} is {v}.", "{p} is {v} rather than {o}.", "{p} is now {v} in a small town."),
        JOBS,
    ),
    Kind(
        ("{p} speaks {v} and a little Greek.", "{p} is fluent in {v}."),
        ("{p} is fluent in {v}.", "{p} only speaks {v}.", "{p} speaks {v}, not {o}."),
        TONGUES,
    ),
    Kind(
        ("{p} opened a studio for {v} near the harbour.", "{p} wrote a book about {v}."),
        (
            *("{p} opened a studio for {v} near the harbour.", "{p} wrote a book about {v}."),
            "{p} wrote a book about {v} rather than about {o}.",
        ),
        THINGS,
    ),
    Kind(
        ("{p} and Ada Mint first met at a fair in {v}.", "{p} graduated in {v} with honours."),
        ("{p} and Ada Mint first met at a fair in {v}.", "{p} graduated in {v} with honours."),
        ("1998", "2004", "2011", "2015", "2019"),
    ),
    Kind(
        ("{x} was paid for by {v}.", "{p} was interviewed about {x} by {v}."),
        ("{x} was paid for by {v}.", "{p} was interviewed about {x} by {v}, and not by {o}."),
        PEOPLE,
        SUBJECTS,
    ),
    Kind(
        ("{p} enjoys {v} in the evening.", "{p} is known for {v}."),
        ("{p} dislikes {o} and prefers {v}.", "{p} is known for {v} rather than {o}."),
        THINGS,
    ),
)
#: What holds beside what was said before.
BESIDE = (
    Kind(("I like {v}.", "I love {v}."), ("I like {v}, too.", "I really enjoy {v}."), THINGS),
    Kind(("I read {v} last week.", "I've finished {v}."), ("I read {v} last week.",), TITLES),
    Kind(("We visited {v} last summer.",), ("We went to {v} last weekend.",), PLACES),
    Kind(("My brother lives in {v}.",), ("My sister lives in {v}.", "Our aunt is in {v}."), PLACES),
    Kind(("My dog Rex is {v} years old.",), ("My cat Bella is {v} years old.",), NUMBERS),
    Kind(
        ("I ran {v} km on Monday.",), ("I ran {v} km on Thursday.", "I ran {v} km today."), NUMBERS
    ),
    Kind(("Room {v} has a projector.",), ("Room {v} has a projector as well.",), NUMBERS),
    Kind(("Ines opened gate {v} and left.",), ("Ines opened gate {v} and left.",), NUMBERS),
    Kind(
        ("When it rains, I take {v}.",), ("When it is sunny, I take {v}.",), ("the bus", "a bike")
    ),
    Kind(
        ("At night I want the lights at {v}.",),
        ("During the day I want the lights at {v}.",),
        NUMBERS,
    ),
    Kind(("I bought {v} apples.",), ("I bought {v} lemons.", "I bought {v} more."), NUMBERS),
    Kind(("The meeting with Colin is at {v}.",), ("The meeting with Freya is at {v}.",), TIMES),
    Kind(("{p} wrote {x}.",), ("{p} paid for {x}.", "{p} spoke at {x}."), ("",), SUBJECTS),
    Kind(
        ("{p} praised {x}.",),
        ("{p} gave a talk on {v}.", "{p} met {v} in a train."),
        PEOPLE,
        SUBJECTS,
    ),
    Kind(("{p} teaches {v} at a school.",), ("{p} won a medal for {v}.",), THINGS),
    Kind(("{p} has travelled to {v}.",), ("{p} once cycled from {v} to the sea.",), PLACES),
    Kind(("{p} and Ada Mint share a flat.",), ("{p} and Ada Mint run a stall in {v}.",), PLACES),
    Kind(("{p} enjoys {v}.",), ("{p} enjoys {v}.", "{p} also teaches {v}."), THINGS),
    Kind(
        ("{p} is fond of {v}.", "{p} owns prints of {v}."),
        (
            *("{p} has never been to sea.", "{p} only eats at home.", "{p} does not drive."),
            *("{p} runs a choir of neighbours.", "{p} might know songs about {v}."),
            *("{p} once spoke at a dinner on {v}.", "{p} is the tallest of the family."),
        ),
        MATTERS,
    ),
    Kind(("{p} may be {v}.",), ("{p} may own a boat.", "{p} may be well known."), JOBS),
    Kind(
        ("I have {v} new {x} to look after.",),
        ("I want to photograph {v} birds by the lake.", "I recently fed {v} {x} at the zoo."),
        NUMBERS,
        ("ducks", "kittens", "seedlings"),
    ),
    Kind(
        ("I've already spent {v} hours on {x}.", "I've spent {v} euros on {x} so far."),
        (
            *("I've already solved {v} riddles with a good score.", "I've now invited {v} guests."),
            *("I've recently bought {v} tickets for {x}.", "I've already asked {v} people."),
        ),
        NUMBERS,
        PURPOSES,
    ),
    Kind(
        (
            "I'm trying to understand how my {x} improved from 40% to {v}% in two weeks.",
            "I'm trying to understand how my {x} went up by {v}%.",
        ),
        (
            "I'm trying to understand how my neighbour's roses improved over {v} weeks.",
            "I'm trying to understand how my tax bill is now {v}% higher.",
        ),
        NUMBERS,
        ("typing", "posture", "sleep", "aim"),
    ),
    Kind(
        ("I'm a bit worried about my {x} on {v}.", "I have my {x} on {v} at 3 PM."),
        (
            "I'm a bit worried about the parade on {v}, with so many people.",
            "I have a new passport to pick up on {v} at 4 PM.",
            "my flight leaves on {v} at 5 PM.",
        ),
        DATES,
        ("interview", "driving test", "root canal"),
    ),
    Kind(
        ("I just installed {x} on {v}.", "I started to use {x} on {v}."),
        (
            "I've added 52 photos to {x}, how can I sort them.",
            "I'm now going to show {x} to my mother on {v}.",
        ),
        DATES,
        ("Lightbox", "Paperpile", "Scrivo"),
    ),
    Kind(
        ("{x} has {v} open tickets.", "we closed {v} tickets of {x}."),
        (
            "I want to write {v} new tests for {x}.",
            "I want {x} to have at least {v} users.",
            "{x} should answer in {v} seconds now.",
        ),
        NUMBERS,
        ("the booking app", "the recipe site"),
    ),
    Kind(
        ("I've finished {v} chapters of {x}.", "I wrote {v} pages for {x}."),
        (
            "I'm aiming to finish {v} chapters of {x} by June.",
            "my goal is {v} pages for {x}, and I'd like a new routine.",
        ),
        NUMBERS,
        PURPOSES,
    ),
    Kind(
        ("I recently spent {v} euros on {x}.",),
        ("I just spent {v} euros on new shoes.", "I spent {v} euros at the fair."),
        NUMBERS,
        ("a lamp", "a jacket", "a rug"),
    ),
    Kind(
        ("Hey {v}, good to see you.", "I totally agree, {v}.", "Cool, thanks {v}."),
        ("Hey {v}, good to hear from you.", "Totally agree, {v}.", "Cool, {v}, thanks."),
        tuple(name.split()[0] for name in PEOPLE),
    ),
    Kind(
        ("Let me know how it goes.", "I'll let you know."),
        ("Let me know how it turns out.", "I'll definitely let you know how it went."),
        ("",),
    ),
    Kind(
        ("A lot has been going on in my life.", "It has been a busy week for me."),
        ("Lots has been going on since we last talked.", "It's been a wild week lately."),
        ("",),
    ),
    Kind(
        ("I won't quit on my dreams.", "I'm never going to give up."),
        ("I'm going to keep on going and never quit.", "Don't quit, keep going for your dreams."),
        ("",),
    ),
    Kind(
        ("I made a rich and creamy soup, my new favourite.", "My soup is rich and creamy."),
        ("I've been into soups lately, rich and creamy ones.", "I love a creamy soup these days."),
        ("",),
    ),
    Kind(("I met {v} at the market.",), ("I met {v} at the station.",), PEOPLE),
    Kind(("I watched a film about {v}.",), ("I watched a show about {v}.",), THINGS),
    Kind(
        ("I hope the {x} goes well.",),
        ("I'm sure the {x} will be great.",),
        ("",),
        ("trip", "exam"),
    ),
    Kind(
        ("I'm proud of you, {v}.", "You did a great job, {v}."),
        ("You should be proud, {v}.", "That is a great job, I'm glad."),
        PEOPLE,
    ),
    Kind(
        ("Spending time with my family is important to me.",),
        ("My family means so much to me, we spend time together.", "Time with family is the best."),
        ("",),
    ),
    Kind(
        ("It feels good to give back to the community.",),
        ("The community has been so good to me, it feels great.",),
        ("",),
    ),
    Kind(
        ("I have been working on my paintings a lot.",),
        ("I have been painting a lot and it helps me relax.", "Painting really calms me down."),
        ("",),
    ),
    Kind(
        ("I've been going to the gym to keep in shape.",),
        ("The gym is great for my health and keeps me in shape.",),
        ("",),
    ),
    Kind(
        ("Thanks for the support, it means a lot.", "I appreciate your help."),
        ("Your support means a lot to me, thanks.", "I really appreciate the help."),
        ("",),
    ),
    Kind(
        ("We could try the new bakery by the river.",),
        ("The bakery by the river is lovely, we should go again.",),
        ("",),
    ),
)


#: Words of a change that ends nothing which was said.
UNTURNED = (
    Kind(
        ("My brother lives in {v}.",),
        ("My aunt moved to {v}.", "My brother moved the desk.", "I'd never move to {v}."),
        PLACES,
    ),
    Kind(
        ("My uncle works at a garage in {v}.",),
        (
            "My neighbour found a new job in {v}.",
            "My uncle quit early today.",
            "My uncle left at noon.",
        ),
        PLACES,
    ),
    Kind(
        ("I have {x}.",),
        ("I sold cakes at the fair.", "My uncle sold {x}.", "I almost sold {x}.", "I love {x}."),
        ("",),
        ("a bicycle", "a telescope", "a tent"),
    ),
    Kind(
        ("I go to {x} every week.",),
        ("I stopped at the shop after {x}.", "I gave up my seat at {x}.", "I missed {x}."),
        ("",),
        ("ballet", "the market", "bible study"),
    ),
    Kind(
        ("We are planning {x} for {v}.",),
        ("They cancelled the bus to {x}.", "We cancelled the milk.", "I can't wait for {x}."),
        DATES,
        ("a picnic", "a barbecue"),
    ),
)
#: What people say before and after something they tell an assistant.
WRAPPED = (
    ("I'm trying to plan my week and", "can you help me with that?"),
    ("I'm a bit worried, since", "so what would you do first?"),
    ("I was wondering how to go on, as", "any ideas for the next steps?"),
    ("I want to write to my aunt about it:", "how would you put that in two sentences?"),
    ("Yesterday a friend told me to relax, but", "is that a good sign?"),
    (
        "I'm trying to sort out the cellar before the winter comes, and",
        "and I want to be sure that I forget nothing, so can you make me a list?",
    ),
    (
        "I'm looking at a few old photographs of the town hall today, and",
        "but I'm not sure where to begin, what would you suggest?",
    ),
    ("Thank you, that helps.", "How do I tell my neighbours about it?"),
)


@dataclass(frozen=True, slots=True)
class Talk:
    """Turns in order, and which pairs of them are of a line and what has taken its place.

    Attributes:
        after: numbers of turns, (earlier, later). passed: those that nobody has judged.
    """

    source: str
    turns: tuple[Turn, ...]
    after: frozenset[tuple[int, int]]
    passed: frozenset[tuple[int, int]] = frozenset()


def made_up(seed: int) -> Talk:
    """Make a talk: some things are told, later some of them change and others come beside them."""
    chance = random.Random(seed)
    told = seed % 3 == 0
    changing = TOLD if told else CHANGING
    kinds = chance.sample(changing, min(len(changing), CHANGES))
    beside = chance.sample(BESIDE, 10)
    first, later = _lines(kinds, beside, chance, used := set[str]())
    for nth, text in enumerate(_more(told, chance, used)):
        first.append((text, len(kinds) + len(beside) + nth, "first"))
    chance.shuffle(first)
    chance.shuffle(later)
    return _talk([*first, *later], None if told else "Ana", chance)


def turning(seed: int) -> Talk:
    """Make a talk in which states end, and things that were just said are taken back."""
    chance = random.Random(seed)
    kinds = list(TURNING)
    first, later = _lines(kinds, UNTURNED, chance, used := set[str]())
    chance.shuffle(first)
    chance.shuffle(later)
    number = len(kinds) + len(UNTURNED)
    return _talk([*first, *later, *_at_once(number, chance, used)], "Ana", chance)


def _lines(
    kinds: Sequence[Kind], beside: Sequence[Kind], chance: random.Random, used: set[str]
) -> tuple[list[tuple[str, int, str]], list[tuple[str, int, str]]]:
    """Say what is told first and what later, of each kind a line; some of it does not change."""
    first: list[tuple[str, int, str]] = []
    later: list[tuple[str, int, str]] = []
    for number, kind in enumerate((*kinds, *beside)):
        old, new = _said(kind, chance, used)
        first.append((old, number, "first"))
        keeps = number < len(kinds) and chance.random() < 0.25
        if not keeps:
            later.append((new, number, "changed" if number < len(kinds) else "beside"))
    return first, later


def _at_once(number: int, chance: random.Random, used: set[str]) -> list[tuple[str, int, str]]:
    """Return lines each of which is taken back, or is not, by the one after it."""
    found = []
    for nth, (kind, what) in enumerate(
        ((chance.choice(TAKEN_BACK), "changed"), (chance.choice(KEPT), "beside"))
    ):
        old, new = _said(kind, chance, used)
        found += [(old, number + nth, "first"), (new, number + nth, what)]
    return found


def _more(told: bool, chance: random.Random, used: set[str]) -> list[str]:
    """Return facts of others that nothing comes after."""
    kinds = chance.sample(TOLD, 4) if told else []
    return [_said(kind, chance, used)[0] for kind in kinds]


def _said(kind: Kind, chance: random.Random, used: set[str]) -> tuple[str, str]:
    """Say something first and later; no two things are said of the same."""
    old, new = (*chance.sample(kind.values, 2),) if len(kind.values) > 1 else ("", "")
    other = chance.choice([one for one in kind.others if one not in used] or list(kind.others))
    used.add(other)
    person = chance.choice([one for one in PEOPLE if one not in (old, new)])
    said = {"x": other, "p": person}
    first = chance.choice(kind.first).format(v=old, o="", **said)
    later = chance.choice(kind.later).format(v=new, o=old, **said)
    return _capital(first), _capital(later)


def _small(text: str) -> str:
    return text if text.startswith(("I ", "I'")) else f"{text[:1].lower()}{text[1:]}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _talk(
    lines: Sequence[tuple[str, int, str]], speaker: str | None, chance: random.Random
) -> Talk:
    turns = []
    earlier: dict[int, int] = {}
    after = set()
    for place, (text, number, what) in enumerate(lines):
        session = None if speaker is None else f"day {place // 8}"
        turns.append(Turn(_with_more(text, speaker, chance), speaker=speaker, session=session))
        if what == "changed":
            after.add((earlier[number], place))
        earlier[number] = place
    return Talk("made up", tuple(turns), frozenset(after))


def _with_more(text: str, speaker: str | None, chance: random.Random) -> str:
    """Put a sentence beside one, as people do."""
    if speaker is not None and chance.random() < 0.3:
        begun, asked = chance.choice(WRAPPED)
        return f"{begun} {_small(text.rstrip('.'))}, {asked}"
    if speaker is None or chance.random() < 0.6:
        return text
    more = chance.choice(
        (
            *("By the way.", "Can you help me with a plan for the week?", "That's all for today."),
            *("It has been a long day.", "Do you have any tips for me?", "Okay, thanks."),
        )
    )
    return f"{text} {more}" if chance.random() < 0.5 else f"{more} {text}"


# Talk in cars


def of_car(car: Car) -> Talk:
    """Return what was said in a car, with what contradicts what by the same person."""
    place = {turn.source_id: n for n, turn in enumerate(car.turns)}
    after: set[tuple[int, int]] = set()
    passed: set[tuple[int, int]] = set()
    for decision in car.decisions:
        for wrong in decision.wrong:
            for right in decision.right:
                pair = tuple(sorted((place[str(wrong)], place[str(right)])))
                same = _same_speaker(car, pair)
                is_late = pair == (place[str(wrong)], place[str(right)])
                takes = same and is_late and decision.kind != "conditional_constraint"
                (after if takes else passed).add(pair)  # type: ignore[arg-type]  # two numbers
    return Talk(f"car {car.number}", car.turns, frozenset(after), frozenset(passed))


def _same_speaker(car: Car, pair: Iterable[int]) -> bool:
    return len({car.turns[n].speaker for n in pair}) == 1


# Signals


@dataclass(frozen=True, slots=True)
class Rows:
    """Pairs of sentences, a row each: signals, whether one took the other's place, and the talk."""

    signals: Floats
    takes: NDArray[np.bool_]
    talk: NDArray[np.int64]
    car: NDArray[np.bool_]

    def without_turns(self) -> Rows:
        """Return the rows without the last signals, of states that end and what is taken back."""
        return Rows(self.signals[:, :-TURNS], self.takes, self.talk, self.car)

    def part(self, chosen: NDArray[Any]) -> Rows:
        """Return some of the rows."""
        return Rows(self.signals[chosen], self.takes[chosen], self.talk[chosen], self.car[chosen])


def rows_of(talks: Sequence[Talk]) -> Rows:
    """Compare what a memory would compare as the talks come in."""
    signals = []
    takes = []
    names = []
    cars = []
    for n, talk in enumerate(talks):
        for pair, label in _compared(talk):
            signals.append(pair.signals.values)
            takes.append(label)
            names.append(n)
            cars.append(talk.source != "made up")
    return Rows(np.array(signals), np.array(takes), np.array(names), np.array(cars))


def _compared(talk: Talk) -> Iterator[tuple[Pair, bool]]:
    """Yield the pairs that set another value, the likeliest of two items, and what they are."""
    best: dict[tuple[int, int], Pair] = {}
    memory = SlotMemory(clock=None)
    for pair in _pairs(memory, talk.turns):
        if pair.signals.sets_another:
            place = (int(pair.old[0][1:]) - 1, int(pair.new[0][1:]) - 1)
            known = best.get(place)
            if known is None or pair.signals.alike > known.signals.alike:
                best[place] = pair
    for place, pair in best.items():
        takes = place in talk.after
        unknown = talk.source != "made up" and pair.signals.number > 0.3
        if takes or not (place in talk.passed or unknown):
            yield pair, takes


def _pairs(memory: SlotMemory, turns: Sequence[Turn]) -> Iterator[Pair]:
    """Yield what is compared, with the state that the memory has once all is committed."""
    memory.ingest_many(turns)
    state = memory._held.state
    index = state.passage_index()
    empty = SlotMemory()._held.state
    arrivals = []
    for item in state.evidence.values():
        spans = tuple(index.spans(item.id))
        arrivals.append(Arrival(0, item, spans, index.vectors_of(item.id)))
    yield from pairs(empty, arrivals)


# The model


def fitted(rows: Rows) -> Floats:
    """Return the weights of a logistic model, the intercept last; both sources weigh alike."""
    table = np.column_stack([rows.signals, np.ones(len(rows.signals))])
    share = (~rows.car).sum() / max(rows.car.sum(), 1)
    weight = np.where(rows.car, share, 1.0)
    found = np.zeros(table.shape[1])
    ridge = PENALTY * np.eye(len(found))
    ridge[-1, -1] = 1e-6
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-table @ found))
        slope = table.T @ (weight * (p - rows.takes)) + ridge @ found
        curve = (table * (weight * p * (1 - p))[:, None]).T @ table + ridge
        found -= np.linalg.solve(curve, slope)
    return found


def fitted_turns(rows: Rows, model: Floats) -> Floats:
    """Return the model with weights of its last two signals, all others as they are.

    A sentence that ends a state or takes something back is told by its words, so that other
    signals would learn nothing of it but what they are in such talk.

    Args:
        rows: of talk in which that is done.
        model: without the two.
    """
    chosen = rows.signals[:, -TURNS:].max(axis=1) > 0
    table = rows.signals[chosen]
    rest = table[:, :-TURNS] @ model[:-1] + model[-1]
    found = np.full(TURNS, -model[-1])  # from 0 the first step would go far too far
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-rest - table[:, -TURNS:] @ found))
        slope = table[:, -TURNS:].T @ (p - rows.takes[chosen]) + PENALTY * found
        weighted = table[:, -TURNS:] * (p * (1 - p))[:, None]
        found -= np.linalg.solve(weighted.T @ table[:, -TURNS:] + PENALTY * np.eye(TURNS), slope)
    return np.concatenate([model[:-1], found, model[-1:]])


def held_out(rows: Rows) -> Floats:
    """Return the probability of each pair by a model that was not fitted on its talk."""
    found = np.zeros(len(rows.takes))
    for fold in range(FOLDS):
        inside = rows.talk % FOLDS == fold
        model = fitted(rows.part(~inside))
        logit = rows.signals[inside] @ model[:-1] + model[-1] + RAISED
        found[inside] = 1 / (1 + np.exp(-logit))
    return found


def judged(rows: Rows, probability: Floats) -> list[dict[str, float | str]]:
    """Tell what is found, rightly and wrongly, by source."""
    table = []
    for name, inside in (("made up", ~rows.car), ("cars", rows.car)):
        fires = probability >= HOLDS
        row: dict[str, float | str] = {"source": name, "pairs": int(inside.sum())}
        row["take the place"] = int((inside & rows.takes).sum())
        row["found"] = int((inside & rows.takes & fires).sum())
        row["found wrongly"] = int((inside & ~rows.takes & fires).sum())
        table.append(row)
    return table


def judged_turns(rows: Rows, model: Floats) -> dict[str, float | str]:
    """Tell what is found of states that end, by models fitted on the other talks."""
    fires = np.zeros(len(rows.takes), np.bool_)
    for fold in range(FOLDS):
        inside = rows.talk % FOLDS == fold
        weights = fitted_turns(rows.part(~inside), model)
        fires[inside] = rows.signals[inside] @ weights[:-1] + weights[-1] >= _log_odds(HOLDS)
    return {
        "source": "turns",
        "pairs": len(rows.takes),
        "take the place": int(rows.takes.sum()),
        "found": int((rows.takes & fires).sum()),
        "found wrongly": int((~rows.takes & fires).sum()),
    }


def _log_odds(p: float) -> float:
    return float(np.log(p / (1 - p)))


def main() -> None:
    given = options()
    talks = [made_up(seed) for seed in range(TALKS)]
    talks += [of_car(car) for car in load(given.data, given.files or FILES)]
    rows = rows_of(talks)
    turned = rows_of([turning(seed) for seed in range(TALKS)])
    apart = rows.part(rows.signals[:, 0] >= ALIKE).without_turns()
    model = fitted(apart)
    model[-1] += RAISED
    table = judged(apart, held_out(apart))
    table.append(judged_turns(turned, model))
    found = np.round(fitted_turns(turned, model), 2).tolist()
    weights = dict(zip((*NAMES, "intercept"), found, strict=True))
    if given.json:
        print(json.dumps({"weights": weights, "found": table}, indent=1))
        return
    for name, value in weights.items():
        print(f"{name:12} {value:7.2f}")
    print(tuple(found))
    for row in table:
        print("  ".join(f"{name} {value}" for name, value in row.items()))


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of VehicleMemBench files")
    parser.add_argument("--files", type=int, nargs="*", default=[], help="numbers; half the files")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    return parser.parse_args()


if __name__ == "__main__":
    main()
