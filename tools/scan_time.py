"""Time the search for candidates in texts that repeat one piece, at one length and at its double.

    python tools/scan_time.py [--length 500000] [--worst 10]

A search that is linear in the text takes twice the time for twice the text. Each line is one kind
of field and one piece, the largest ratio first: the seconds at both lengths and their ratio.
"""

from __future__ import annotations

import argparse
import time

from deg_schema import FieldPlan, find_candidates, read_span
from deg_schema.request import Options

FIELDS = {
    "number": FieldPlan(("x",), "extract.number", "number"),
    "date": FieldPlan(("x",), "extract.date", "string", format="date"),
    "date-time": FieldPlan(("x",), "extract.date", "string", format="date-time"),
    "email": FieldPlan(("x",), "extract.span", "string", format="email"),
    "uri": FieldPlan(("x",), "extract.span", "string", format="uri"),
    "uuid": FieldPlan(("x",), "extract.span", "string", format="uuid"),
}
PIECES = [
    *(
        "1",
        "-",
        "1,",
        "1.",
        "1 ",
        "1\u00a0",
        "123 ",
        "1-",
        "1/2/",
        "(1",
        "( 1 )",
        "1e5",
        "x10^",
        "$",
    ),
    *(
        "\u2212",
        "*",
        "+1 555 ",
        "AB12 ",
        "minus ",
        "5 million ",
        "5 and a ",
        "EUR ",
        "\\",
        '"',
        "\n",
    ),
    *(
        "20240305",
        "2024-03-05",
        "2024-03-05/",
        "5 March ",
        "Mar 5 14:30:00 ",
        "mon ",
        "the ",
        "of ",
    ),
    *(
        "12:30 ",
        "T1000",
        "2024-03-05 14:30:00 ",
        "10:00 CET ",
        "p. m. ",
        "a@",
        "a.b@",
        "a-",
        "http://",
    ),
    *("http://x)", "2eb8aa08-", " ", "\u00bd", "\ud800", "x", "\u65e5"),
]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="time the search for candidates")
    parser.add_argument(
        "--length", type=int, default=500_000, help="characters of the shorter text"
    )
    parser.add_argument("--worst", type=int, default=10, help="lines to print")
    arguments = parser.parse_args()
    rows = []
    for name, field in FIELDS.items():
        find_candidates(field, "x 1 2024-03-05 14:30")
        for piece in PIECES:
            short, double = (
                seconds(field, (piece * length)[:length])
                for length in (arguments.length, 2 * arguments.length)
            )
            rows.append((double / max(short, 1e-3), short, double, name, piece))
    print("ratio  seconds  doubled  field      piece")
    for ratio, short, double, name, piece in sorted(rows, reverse=True)[: arguments.worst]:
        print(f"{ratio:5.2f}  {short:7.3f}  {double:7.3f}  {name:9}  {ascii(piece)}")
    slowest = max(rows, key=lambda row: row[2])
    print(f"slowest: {slowest[2]:.3f} s for {slowest[3]} and {ascii(slowest[4])}")
    print(f"{len(rows)} searches, {sum(row[0] > 3 for row in rows)} with a ratio above 3")


def seconds(field: FieldPlan, text: str) -> float:
    """Return the processor time that it takes to search *text* and to read the longest span."""
    started = time.process_time()
    spans = find_candidates(field, text)
    if spans:
        start, end = max(spans, key=lambda span: span[1] - span[0])
        read_span(field, text[start:end], Options())
    read_span(field, text, Options())
    return time.process_time() - started


if __name__ == "__main__":
    main()
