"""A help desk bot whose users disagree: python examples/disagreeing_users.py

An employee and a contractor ask the same question and need different answers. By description it is
one topic, so they share a slot; what they say of its answers shows that one summary cannot serve
both. The memory splits the slot, keeps the certificate, and takes the split back when told to. No
model is called, and nothing here says when to split.
"""

from __future__ import annotations

from demem_agent import SlotMemory, SplitCertificate
from demem_agent.splitting import replay

HANDBOOK = (
    "Everyone gets a badge on the first day, at the reception in the north building.",
    "The canteen is open from eleven to two; contractors pay at the till, employees by badge.",
    "Laptops are replaced when they are broken or older than three years.",
    "Travel is booked two weeks ahead, trains before planes.",
    "Expenses are handed in by the fifth of the month after.",
    "The VPN asks for the badge number and a code from the phone.",
)

#: The same question by two people, and what each says would have been right.
TOLD = (
    (
        "An employee asks: how do I get a new laptop?",
        "order it in the intranet shop, and your team lead approves it within a day",
    ),
    (
        "A contractor asks: how do I get a new laptop?",
        "the agency that sent you sends one, since ours are never lent to outsiders",
    ),
)

#: Asked later, in other words, with the number of the answer above that is right.
LATER = (
    ("An employee asks: my laptop is broken, how do I get another?", 0),
    ("A contractor asks: my laptop is broken, how do I get another?", 1),
)


class HelpDesk:
    """A chatbot backend in small: it answers from memory, and tells it what users say of that."""

    def __init__(self) -> None:
        # A summary of 220 characters holds one of the two answers and not both. The bot sees only
        # the summary that it is routed to (the paper's protocol), so what a slot cannot hold is
        # missing from its answers.
        self.memory = SlotMemory(
            slots=3, initial_slots=1, slot_limit=220, read_limit=400, mode="strict"
        )
        self.memory.ingest_many([{"text": text, "source": "handbook"} for text in HANDBOOK])

    def ask(self, question: str) -> str:
        """Answer from memory."""
        return self.memory.answer(question).text

    def correct(self, question: str, right: str) -> SplitCertificate | None:
        """Answer, hear what would have been right, and return the certificate of a conflict."""
        return self.memory.feedback(self.memory.answer(question), correction=right).certificate

    def show(self, heading: str) -> None:
        """Print what all of them are answered now, and whether that is right."""
        print(f"\n{heading}: {len(self.memory.slots)} slot(s)")
        for question, n in [(TOLD[0][0], 0), (TOLD[1][0], 1), *LATER]:
            answer = self.ask(question)
            verdict = "right" if TOLD[n][1] in answer else "WRONG"
            print(f"  {verdict}  {question}\n         ... {answer[-80:]}")


def explain(certificate: SplitCertificate) -> None:
    """Print a certificate as a table: what each of the two loses if both share one content."""
    opens = f"slot {certificate.slot} is split, slot {certificate.new_slot} opens"
    print(f"\nCertificate {certificate.id}: {opens}")
    for context, question in zip(certificate.pair, certificate.queries, strict=True):
        print(f"  {context}: {question}")
    print(f"  {'if both shared ...':<20}{'first loses':>12}{'second loses':>14}")
    for candidate in certificate.candidates:
        first, second = candidate.losses
        print(f"  {candidate.name:<20}{first:>12.2f}{second:>14.2f}")
    radius = f"{certificate.radius:.2f}, over {certificate.threshold:.2f}"
    print(f"  the best of these still costs one of them {radius}")
    print(f"  {certificate.conditions}")
    print(f"  computed again from its own scores: {replay(certificate).decision}")


if __name__ == "__main__":
    desk = HelpDesk()
    told = [desk.correct(question, right) for question, right in TOLD]
    found = [certificate for certificate in told if certificate is not None]
    desk.show("After every user was heard once")
    for certificate in found:
        explain(certificate)
    for certificate in reversed(found):
        if certificate.decision == "split":
            desk.memory.undo(certificate.id)
    desk.show("After the undo")
    desk.memory.check()
