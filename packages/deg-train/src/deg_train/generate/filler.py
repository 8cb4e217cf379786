"""Filler: sentences that answer nothing, put around a document to hide it in."""

from __future__ import annotations

from random import Random

__all__ = ["draw_paragraph"]

_SENTENCES = tuple(
    line.strip()
    for line in """
    This message and any attachment are confidential and meant only for the addressee.
    Please consider the environment before printing.
    Thank you for your patience while we look into this.
    If you have any questions, just reply to this message.
    The weather has been lovely around here lately.
    As discussed, I am sending over the details below.
    We value your feedback and read every comment.
    Opening hours may change around public holidays.
    Sorry for the late reply, it has been a hectic couple of weeks.
    Hope you are doing well and enjoyed the long weekend.
    Terms and conditions apply, see our site for the full text.
    The coffee machine on our floor is finally fixed.
    Unless noted otherwise, all figures are provisional.
    This notice replaces all earlier versions.
    Do not reply to this address, the mailbox is not watched.
    Everything below was copied from the old system, so please excuse the layout.
    The kids are back in school and the house is quiet again.
    We moved offices recently and some boxes are still unopened.
    For security reasons we never ask for your password.
    Kindly keep this page for your records.
    I typed this on my phone, so there may be typos.
    Copies are available on request.
    The management reserves the right to make changes.
    Nobody really knows why the lift keeps stopping between floors.
    Thanks in advance for sorting this out.
    Please handle with care.
    Let me know if anything is missing or unclear.
    A short summary follows; the full file is in the archive.
    We apologise for any inconvenience this may cause.
    Our team grew again this quarter, and we are still hiring.
    Forwarded as requested, see below.
    Some of these points were already raised in the last meeting.
    Traffic was terrible this morning, so we started a little late.
    Lunch was better than expected.
    Each page must be initialled by both parties.
    The printer was out of toner, hence the faint copy.
    By continuing you accept the use of cookies.
    More news in the next issue.
    Rumour has it that the canteen will close for repairs.
    It rained the whole time but nobody minded.
    Internal use only.
    Draft, not yet approved.
    See the other side for more.
    The attached scan is a bit blurry, I know.
    No action is needed if you have already answered.
    Keep out of reach of children.
    Quality is our promise to you.
    She asked me to pass this on to everyone on the list.
    We will come back to the other points later.
    Feel free to share this with colleagues.
    This is an automatically generated summary.
    Nothing else happened worth reporting.
    Old habits die hard, as they say.
    The committee thanked everyone for coming.
    Further details will be announced in due course.
    I still have not found my umbrella, by the way.
    Please read everything carefully before you sign.
    The band played two encores and the crowd loved it.
    Sent from my mobile device.
    Errors and omissions excepted.
    """.strip().splitlines()
)


def draw_paragraph(rng: Random) -> str:
    """Draw a paragraph of one to four sentences."""
    return " ".join(rng.sample(_SENTENCES, rng.choice((1, 1, 2, 2, 3, 4))))
