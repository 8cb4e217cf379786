"""Generated documents: templates filled with values, and questions about them."""

from __future__ import annotations

from deg_train.generate.bare import BareSource
from deg_train.generate.contradictions import ContradictionSource
from deg_train.generate.documents import DocumentSource, Split, is_held_out
from deg_train.generate.faults import Fault, LibraryError
from deg_train.generate.foreign import ForeignSource
from deg_train.generate.further import FurtherSource
from deg_train.generate.kinds import HELD_OUT_KINDS, KINDS
from deg_train.generate.library import Library, check_library, load_library
from deg_train.generate.lists import ListSource, ListSplit
from deg_train.generate.long import LongSource, LongSplit
from deg_train.generate.statements import StatementSource
from deg_train.generate.wider import (
    CHANGES,
    DECIDED_SHARES,
    DOCUMENT_SHARES,
    INTENT_SHARES,
    LIST_SHARES,
    QUESTION_SHARES,
    WiderSource,
)

__all__ = [
    "CHANGES",
    "DECIDED_SHARES",
    "DOCUMENT_SHARES",
    "HELD_OUT_KINDS",
    "INTENT_SHARES",
    "KINDS",
    "LIST_SHARES",
    "QUESTION_SHARES",
    "BareSource",
    "ContradictionSource",
    "DocumentSource",
    "Fault",
    "ForeignSource",
    "FurtherSource",
    "Library",
    "LibraryError",
    "ListSource",
    "ListSplit",
    "LongSource",
    "LongSplit",
    "Split",
    "StatementSource",
    "WiderSource",
    "check_library",
    "is_held_out",
    "load_library",
]
