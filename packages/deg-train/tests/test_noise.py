from __future__ import annotations

from random import Random

from deg_train.generate.noise import scanned
from deg_train.records import Record


def record_of(num_lines: int) -> Record:
    line = "Please settle the outstanding sum within thirty days from today.\n"
    context = line * num_lines + "Signed by Ann Lee for us.\n" + line * num_lines
    start = context.index("Ann Lee")
    schema = {"type": "object", "properties": {"who": {"type": "string"}}}
    spans = {"/who": ((start, start + len("Ann Lee")),)}
    return Record(context, schema, {"who": "Ann Lee"}, spans, "made")


def test_letters_blanks_and_lines_are_misread() -> None:
    read = "".join(scanned(record_of(20), Random(seed)).context for seed in range(6))
    assert "thirty days" in read
    for wrong in ("thlrty", "sett1e", "frorn", "-\n", "  "):
        assert wrong in read


def test_a_value_and_the_words_beside_it_stay() -> None:
    for seed in range(30):
        assert "by Ann Lee for" in scanned(record_of(3), Random(seed)).context
