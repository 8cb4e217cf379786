"""Generated documents: templates filled with values, and questions about them."""

from __future__ import annotations

from deg_train.generate.documents import DocumentSource, Split, is_held_out
from deg_train.generate.faults import Fault, LibraryError
from deg_train.generate.kinds import HELD_OUT_KINDS, KINDS
from deg_train.generate.library import Library, check_library, load_library
from deg_train.generate.lists import ListSource, ListSplit

__all__ = [
    "HELD_OUT_KINDS",
    "KINDS",
    "DocumentSource",
    "Fault",
    "Library",
    "LibraryError",
    "ListSource",
    "ListSplit",
    "Split",
    "check_library",
    "is_held_out",
    "load_library",
]
