"""The texts of `x-generate` fields: each a row of one decode batch, written within its limits."""

from __future__ import annotations

import codecs
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from deg_model import DegModel, State, Writer, text_header, text_trunk
from deg_runtime.constraints import Draft, UnwritableText
from deg_runtime.memory import free_bytes
from deg_runtime.sampling import Choice, choice_of
from deg_runtime.token_tree import Vocabulary
from deg_runtime.trace import Trace
from deg_schema import FieldPlan, FillError, Generated, JsonScalar, Options

# R rows, V vocabulary

__all__ = ["OnPiece", "Page", "Pieces", "Text", "text_pieces", "write_texts"]

OnPiece = Callable[[int, str, str], None]
"""`on_piece(page, pointer, piece)`: what was written of the text at *pointer* of a page."""
Pieces = Generator[tuple[int, str, str], None, list[list[Generated | FillError]]]
"""Yields what `OnPiece` is told, and returns what was written."""

_MOST_ROWS = 64
# of the free memory, for what new rows remember
_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Text:
    """A text to be written.

    Attributes:
        field: What it is.
        pointer: Where it will stand; the writer is told so, and the stream of its lots hangs on it.
    """

    field: FieldPlan
    pointer: str


@dataclass(frozen=True, slots=True)
class Page:
    """The texts of a request, and what they are written from.

    Attributes:
        context: The document.
        known: Pointers with the values that were decided or copied, in the order of the schema.
        texts: The texts.
        options: The request's.
        state: What the writer remembers of the document; None where it has not read it yet.
    """

    context: str
    known: tuple[tuple[str, JsonScalar], ...]
    texts: tuple[Text, ...]
    options: Options = Options()
    state: State | None = None


def write_texts(
    model: DegModel,
    pages: Sequence[Page],
    *,
    on_piece: OnPiece | None = None,
    trace: Trace | None = None,
) -> list[list[Generated | FillError]]:
    """Write the texts of all *pages*; each is what it would be alone.

    Args:
        model: Its writer writes.
        pages: The requests.
        on_piece: Called with each piece as it is written, whole characters alone.
        trace: Told how many rows, steps and tokens it took.

    Returns:
        For each text of each page what was written, or why nothing can be.

    Raises:
        WeightsError: The writer's weights are gone or damaged.
    """
    pieces = text_pieces(model, pages, trace=trace)
    while True:
        try:
            piece = next(pieces)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        if on_piece:
            on_piece(*piece)


def text_pieces(model: DegModel, pages: Sequence[Page], *, trace: Trace | None = None) -> Pieces:
    """Write the texts as `write_texts` does, and yield what it tells of each piece."""
    began = time.perf_counter()
    results: list[list[Generated | FillError | None]] = [[None] * len(p.texts) for p in pages]
    writer = model.writer
    waiting = _rows(writer, pages, results)
    rows = list(_admitted(waiting, 0, model.device))
    num_rows, num_steps, num_tokens = len(rows), 0, 0
    num_read = sum(row.num_read for row in rows)
    with writer.decoder() as decoder:
        while rows:
            logits_RV, states = decoder.extend([r.ids for r in rows], [r.state for r in rows])
            for row, logits_V, state in zip(rows, logits_RV, states, strict=True):
                piece = row.step(logits_V, state)
                if piece:
                    yield row.page, row.text.pointer, piece
                if row.draft.is_over:
                    results[row.page][row.place] = row.result()
            num_steps, num_tokens = num_steps + 1, num_tokens + len(rows)
            left = [row for row in rows if not row.draft.is_over]
            new = list(_admitted(waiting, len(left), model.device)) if len(left) < len(rows) else []
            rows, num_rows = left + new, num_rows + len(new)
            num_read += sum(row.num_read for row in new)
    if trace is not None:
        trace.wrote(num_rows, num_steps, num_tokens, began, context_tokens=num_read)
    return [[one for one in page if one is not None] for page in results]


@dataclass(slots=True)
class _Row:
    """A text while it is written, with what the writer is to read next and what it remembers.

    The first one of a page says how many tokens the writer read before it.
    """

    page: int
    place: int
    text: Text
    draft: Draft
    choice: Choice
    ids: Sequence[int]
    state: State
    num_read: int
    decoder: codecs.IncrementalDecoder = field(
        default_factory=codecs.getincrementaldecoder("utf-8")
    )

    def step(self, logits_V: Tensor, state: State) -> str:
        """Add the next token and return the characters that it completes."""
        before = len(self.draft.text)
        token = self.choice(logits_V, self.draft)
        self.draft.add(token)
        self.ids, self.state = (token,), state
        return self.decoder.decode(self.draft.text[before:])

    def result(self) -> Generated:
        """Return the text, which is over."""
        return Generated(self.draft.text.decode(), self.draft.num_tokens)


def _rows(
    writer: Writer, pages: Sequence[Page], results: Sequence[list[Generated | FillError | None]]
) -> Iterator[_Row]:
    """Yield a row for each text that can be written, its page's trunk read when it comes up."""
    vocabulary = _vocabulary_of(writer)
    last_trunk: tuple[int, ...] = ()
    state = State()
    for number, page in enumerate(pages):
        drafts = [_draft(text, page.options, vocabulary) for text in page.texts]
        trunk = text_trunk(page.context, page.known, writer.tokenizer)
        for place, (text, draft) in enumerate(zip(page.texts, drafts, strict=True)):
            if isinstance(draft, FillError):
                results[number][place] = draft
                continue
            num_read = 0
            if trunk != last_trunk:
                before = State() if page.state is None else page.state
                last_trunk, state = trunk, writer.read(trunk[before.length :], before)
                num_read = len(trunk) - before.length
            header = text_header(text.field, text.pointer, writer.tokenizer)
            choice = choice_of(page.options, text.pointer)
            yield _Row(number, place, text, draft, choice, header, state, num_read)


def _admitted(waiting: Iterator[_Row], num_rows: int, device: torch.device) -> Iterator[_Row]:
    """Yield the rows that memory has room for beside *num_rows* others, at least one in all."""
    room = _SHARE * free_bytes(device)
    while num_rows < _MOST_ROWS and (num_rows == 0 or room > 0):
        row = next(waiting, None)
        if row is None:
            return
        yield row
        num_rows += 1
        # a row copies what is remembered of its page
        room -= row.state.num_bytes


def _draft(text: Text, options: Options, vocabulary: Vocabulary) -> Draft | FillError:
    budget = text.field.max_tokens or options.max_new_tokens
    try:
        return Draft(text.field.constraints, budget, vocabulary)
    except UnwritableText as error:
        return FillError(str(error), text.pointer)


_VOCABULARIES: WeakKeyDictionary[Writer, Vocabulary] = WeakKeyDictionary()


def _vocabulary_of(writer: Writer) -> Vocabulary:
    if writer not in _VOCABULARIES:
        tokenizer = writer.tokenizer
        _VOCABULARIES[writer] = Vocabulary(
            tokenizer.token_bytes, tokenizer.answer_end, writer.vocab_size
        )
    return _VOCABULARIES[writer]
