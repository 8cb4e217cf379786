"""The texts of a record, as the runtime would write them: token for token what it would read."""

from __future__ import annotations

from dataclasses import dataclass

from deg_model import EncodedContext, Fork, Tokenizer, text_header, text_trunk
from deg_schema import FieldPlan, FillError, FillPlan, settle
from deg_train.gold_outcomes import gold_outcomes
from deg_train.records import Record, lookup

__all__ = ["GoldText", "GoldTexts", "gold_texts"]


@dataclass(frozen=True, slots=True)
class GoldText:
    """A text to be written.

    Attributes:
        field: What it is.
        fork: The known values, what asks for the text, and the text: what continues the document.
        targets: The tokens that come after the last `len(targets)` of the fork, each after one: the
            text, and what ends it.
    """

    field: FieldPlan
    fork: Fork
    targets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class GoldTexts:
    """The texts of a record that can be taught, and why others cannot, with their place."""

    texts: tuple[GoldText, ...] = ()
    untaught: tuple[str, ...] = ()


def gold_texts(
    record: Record, plan: FillPlan, context: EncodedContext, tokenizer: Tokenizer
) -> GoldTexts:
    """Return the texts that *record* has values of (contract 12.1, "generate").

    Each is written after all decided and copied values, in the layout of the runtime. A decided
    value that the record leaves open is not among them, as if the schema did not ask for it.

    Args:
        record: Its value is taken as right.
        plan: Of its schema.
        context: Its document.
        tokenizer: The base's.
    """
    if all(field.mode != "generate" for field in plan.fields):
        return GoldTexts()
    outcomes, still_open = gold_outcomes(record, plan)
    try:
        settled = settle(plan, outcomes)
    except FillError as error:
        return GoldTexts(untaught=(f"its texts: {error}",))
    known = [each for each in settled.known if each[0] not in still_open]
    # the trunk of texts begins with the document's own
    before = text_trunk(record.context, known, tokenizer)[len(context.ids) :]
    texts, untaught = [], []
    for text in settled.texts:
        value = lookup(record.value, text.source)
        if value is None:
            continue
        written, most = tokenizer.encode(value), text.field.max_tokens
        if most is not None and len(written) > most:
            untaught.append(f"{text.source}: {len(written)} tokens, 'x-max-tokens' allows {most}")
            continue
        header = text_header(text.field, text.pointer, tokenizer)
        fork = Fork((*before, *header, *written), (), "lm")
        texts.append(GoldText(text.field, fork, (*written, tokenizer.answer_end)))
    return GoldTexts(tuple(texts), tuple(untaught))
