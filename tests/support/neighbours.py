"""Questions beside one that was corrected: others in nearly its words, and itself in other words.

All were written before the rules that tell them apart; the unseen ones were not looked at while
these were made.
"""

from __future__ import annotations

__all__ = ["NEIGHBOURS", "PARAPHRASES", "TOLD", "UNSEEN_NEIGHBOURS", "UNSEEN_PARAPHRASES"]

#: What is remembered, said by Odile.
TOLD = (
    "Summer is allergic to walnuts",
    "the gate code is 7391",
    "the wifi code is tuyau-88",
    "Biscuit eats at seven",
    "Graça arrives on Friday the 17th",
    "the rent of the flat is 685 euros",
    "the rent of the workshop is 400 euros",
    "Will plays the bassoon",
    "Adèle gave 14 kg of honey",
    "the dentist is Dr Lagadec",
    "the vet is Dr Quéméner",
    "colleague Mark does the casework",
    "Rosa is a diver, Ana works at the bakery",
)

#: What was asked and corrected, the correction, and another question that it does not answer.
NEIGHBOURS = (
    ("What is Mark allergic to?", "Nothing, as far as I know.", "What is Will allergic to?"),
    ("What is Mark allergic to?", "Nothing, as far as I know.", "What is Mark's dog allergic to?"),
    ("Who is the dentist?", "Dr Mevel", "Who was the dentist before?"),
    ("Who is the dentist?", "Dr Mevel", "Who is Graça's dentist?"),
    ("What medicine does Ana take?", "Aspirin", "What medicine must Ana not take?"),
    ("What medicine does Ana take?", "Aspirin", "What medicine does Ana's father take?"),
    ("When does Graça arrive?", "On Sunday the 19th", "When does Will arrive?"),
    ("When does Graça arrive?", "On Sunday the 19th", "When does Graça's husband arrive?"),
    ("When does Graça arrive?", "On Sunday the 19th", "Where does Graça arrive?"),
    ("What instrument does Will play?", "The oboe", "What instrument does Summer play?"),
    ("What instrument does Will play?", "The oboe", "What instrument did Will play as a child?"),
    ("What is the gate code?", "8888", "What is the gate code of the workshop?"),
    ("What is the gate code?", "8888", "What was the gate code in January?"),
    ("What is the rent of the flat?", "700 euros", "What was the rent of the flat before?"),
    ("How much honey did Adèle give?", "16 kg", "How much honey did Eulalie give?"),
)
UNSEEN_NEIGHBOURS = (
    ("Where does Rosa live?", "In Brest", "Where does Ana live?"),
    ("Where does Rosa live?", "In Brest", "Where does Rosa's brother live?"),
    ("Where does Rosa live?", "In Brest", "Where did Rosa live in 2019?"),
    ("Where does Rosa live?", "In Brest", "Why does Rosa live there?"),
    ("Who feeds the cat?", "Yves", "Who must never feed the cat?"),
    ("Who feeds the cat?", "Yves", "Who feeds Mark's cat?"),
    ("Who feeds the cat?", "Yves", "When does the cat feed?"),
    ("How old is Clement?", "23", "How old is Clement's girlfriend?"),
    ("How old is Clement?", "23", "How old is Yann?"),
    ("What did Ana pay for the piano?", "900 euros", "What did Ben pay for the piano?"),
    ("What did Ana pay for the piano?", "900 euros", "What did Ana's mother pay for the piano?"),
    ("When is choir rehearsal?", "Thursdays at eight", "Where is choir rehearsal?"),
    ("When is choir rehearsal?", "Thursdays at eight", "When was choir rehearsal last year?"),
    ("When is choir rehearsal?", "Thursdays at eight", "When is Hervé's choir rehearsal?"),
    ("What may the dog eat?", "Chicken and rice", "What may the dog not eat?"),
)

#: What was asked and corrected, the correction, and the same question in other words.
PARAPHRASES = (
    ("What is Mark allergic to?", "Nothing, as far as I know.", "What allergies does Mark have?"),
    (
        "What is Mark allergic to?",
        "Nothing, as far as I know.",
        "Is Mark allergic to anything?",
    ),
    ("Who is the dentist?", "Dr Mevel", "Who is my dentist?"),
    ("Who is the dentist?", "Dr Mevel", "What is the dentist called?"),
    ("What medicine does Ana take?", "Aspirin", "Which medicine is Ana taking?"),
    ("What medicine does Ana take?", "Aspirin", "What's Ana's medicine?"),
    ("When does Graça arrive?", "On Sunday the 19th", "When is Graça arriving?"),
    ("When does Graça arrive?", "On Sunday the 19th", "On which day does Graça arrive?"),
    ("What instrument does Will play?", "The oboe", "Which instrument is Will playing?"),
    ("What instrument does Will play?", "The oboe", "What is Will's instrument?"),
    ("What is the gate code?", "8888", "Tell me the code of the gate"),
    ("What is the gate code?", "8888", "what's the current gate code"),
    ("What is the rent of the flat?", "700 euros", "How much is the rent of the flat?"),
    ("What is the rent of the flat?", "700 euros", "What do I pay as rent for the flat?"),
    ("How much honey did Adèle give?", "16 kg", "How many kilos of honey did Adèle give?"),
)
UNSEEN_PARAPHRASES = (
    ("Where does Rosa live?", "In Brest", "Where is Rosa living?"),
    ("Where does Rosa live?", "In Brest", "In which town does Rosa live now?"),
    ("Where does Rosa live?", "In Brest", "where does rosa live these days"),
    ("Who feeds the cat?", "Yves", "Who is feeding the cat?"),
    ("Who feeds the cat?", "Yves", "Who's the one that feeds the cat?"),
    ("How old is Clement?", "23", "What age is Clement?"),
    ("How old is Clement?", "23", "What is Clement's age?"),
    ("How old is Clement?", "23", "how old is clement now?"),
    ("What did Ana pay for the piano?", "900 euros", "How much did Ana pay for the piano?"),
    ("What did Ana pay for the piano?", "900 euros", "What did Ana's piano cost?"),
    ("When is choir rehearsal?", "Thursdays at eight", "When do we have choir rehearsal?"),
    ("When is choir rehearsal?", "Thursdays at eight", "What day is choir rehearsal?"),
    ("When is choir rehearsal?", "Thursdays at eight", "At what time is the choir rehearsal?"),
    ("What may the dog eat?", "Chicken and rice", "What is the dog allowed to eat?"),
    ("What may the dog eat?", "Chicken and rice", "What can the dog eat?"),
)
