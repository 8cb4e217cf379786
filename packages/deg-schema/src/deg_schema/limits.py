"""How large a schema may be: what keeps compilation bounded in time, depth and memory."""

__all__ = [
    "MAX_DEPTH",
    "MAX_FIELDS",
    "MAX_INTEGER_BITS",
    "MAX_NESTING",
    "MAX_OPTIONS",
    "MAX_PATTERN_DEPTH",
    "MAX_PATTERN_LENGTH",
    "MAX_SCORE_LEVELS",
    "MAX_TEXT",
    "MAX_VALUES",
]

# of the document: nested containers, values in all, characters of one text, bits of one integer
MAX_NESTING = 256
MAX_VALUES = 1_000_000
MAX_TEXT = 100_000
MAX_INTEGER_BITS = 4096

# of what is compiled, references followed
MAX_DEPTH = 48
MAX_FIELDS = 10_000

MAX_OPTIONS = 255
MAX_SCORE_LEVELS = 11

MAX_PATTERN_LENGTH = 4096
MAX_PATTERN_DEPTH = 32
