"""Threads: a document quoted in a mail, forwarded, or pasted into a chat."""

from __future__ import annotations

from random import Random

from deg_train.generate.edits import start_lines
from deg_train.generate.filler import draw_paragraph
from deg_train.generate.surroundings import surrounded
from deg_train.records import Record

__all__ = ["in_chat", "in_thread"]

_OPENINGS = (
    "You wrote:\n",
    "Begin forwarded message:\n\n",
    "-----Original Message-----\n",
    "---------- Forwarded message ----------\n",
    "*** quoted text ***\n",
    "Their mail from last week:\n",
    "On that day they wrote:\n\n",
)
_GREETINGS = ("Hi,\n\n", "Hello,\n\n", "Dear all,\n\n", "FYI\n\n", "Hey,\n", "")
_SIGNATURES = (
    "\n\n--\nSent from my phone",
    "\n\nBest regards",
    "\n\nThanks and all the best\n-- \nPlease consider the environment before printing",
    "\n\nCheers",
    "\n\n____________________\nThis message is confidential.",
    "",
)
_PREFIXES = ("> ", "> ", ">", ">> ", "> > ", "| ")


def in_thread(record: Record, rng: Random) -> Record:
    """Quote the document in a mail: an answer above it, or below, and signatures."""
    quoted = record
    for _ in range(1 if rng.random() < 0.8 else 2):
        prefix = rng.choice(_PREFIXES)
        # a value over several lines cannot be quoted: then it is forwarded as it stands
        quoted = start_lines(quoted, prefix) or quoted
        if rng.random() < 0.3:
            quoted = surrounded(quoted, f"{prefix}{draw_paragraph(rng)}\n{prefix}\n")
    answer = rng.choice(_GREETINGS) + draw_paragraph(rng) + rng.choice(_SIGNATURES)
    opening = rng.choice(_OPENINGS)
    if rng.random() < 0.7:
        after = "\n" + rng.choice(_SIGNATURES).strip("\n") if rng.random() < 0.3 else ""
        return surrounded(quoted, f"{answer}\n\n{opening}", after)
    return surrounded(quoted, opening, f"\n\n{answer}")


_SPEAKERS = (("A", "B"), ("Me", "You"), ("user", "assistant"), ("Agent", "Visitor"), ("<x>", "<y>"))
_ASKS = (
    "can you paste it here?",
    "what does it say?",
    "send me the whole thing please",
    "I can't open the file, could you copy the text?",
    "ok show me",
)
_GIVES = ("sure, here it is", "here:", "one second... this:", "copied below", "there you go")
_THANKS = ("thanks!", "got it", "ok, let me read that", "perfect", "hm, I see")


def in_chat(record: Record, rng: Random) -> Record:
    """Paste the document into a chat, with some small talk around it."""
    one, other = rng.choice(_SPEAKERS)
    sign = rng.choice((": ", "> ", " - ", " | "))
    talk = [f"{one}{sign}{draw_paragraph(rng)}"] if rng.random() < 0.5 else []
    talk += [f"{one}{sign}{rng.choice(_ASKS)}", f"{other}{sign}{rng.choice(_GIVES)}"]
    after = f"\n{one}{sign}{rng.choice(_THANKS)}"
    if rng.random() < 0.4:
        after += f"\n{other}{sign}{draw_paragraph(rng)}"
    return surrounded(record, "\n".join(talk) + rng.choice(("\n", "\n\n")), after)
