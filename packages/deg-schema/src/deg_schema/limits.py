"""How large a schema may be: what keeps compilation bounded in time, depth and memory."""

__all__ = [
    "MAX_DEPTH",
    "MAX_FIELDS",
    "MAX_INTEGER_BITS",
    "MAX_MIN_ITEMS",
    "MAX_NESTING",
    "MAX_OPTIONS",
    "MAX_OPTIONS_IN_ALL",
    "MAX_PATTERN_COST",
    "MAX_PATTERN_DEPTH",
    "MAX_PATTERN_LENGTH",
    "MAX_PATTERN_SIZE",
    "MAX_PROBLEMS",
    "MAX_SCORE_LEVELS",
    "MAX_TEXT",
    "MAX_UNANCHORED_ITEMS",
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
MAX_OPTIONS_IN_ALL = 100_000
MAX_SCORE_LEVELS = 11

# of arrays: items that a schema may ask for, items that are counted where no limit is given
MAX_MIN_ITEMS = 10_000
MAX_UNANCHORED_ITEMS = 32

MAX_PATTERN_LENGTH = 4096
MAX_PATTERN_DEPTH = 32
# with every repetition written out as often as it must be there
MAX_PATTERN_SIZE = 4096
# of all patterns together, see `Pattern.cost`
MAX_PATTERN_COST = 50_000

# told at once
MAX_PROBLEMS = 10_000
