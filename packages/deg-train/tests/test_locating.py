from __future__ import annotations

from typing import Any

from hypothesis import given, strategies as st

from deg_schema import Options, compile_schema
from deg_train.locating import Located, locate

ROW = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "price": {"type": "number"},
        "parts": {"type": "array", "items": {"type": "string"}},
    },
}
SCHEMA = {
    "type": "object",
    "properties": {
        "day": {"type": "string", "format": "date"},
        "buyer": {"type": "string"},
        "rows": {"type": "array", "items": ROW},
    },
}


def find(context: str, value: dict[str, Any], **given: tuple[tuple[int, int], ...]) -> Located:
    places = {f"/{k}": v for k, v in given.items()}
    return locate(compile_schema(SCHEMA), context, value, places, Options())


def said(context: str, found: Located) -> dict[str, list[str]]:
    return {p: [context[slice(*place)] for place in places] for p, places in found.spans.items()}


def test_a_date_is_found_in_any_spelling_and_every_place_counts() -> None:
    context = "3 May 2026, again: 2026-05-03, not 2026-05-04"
    assert said(context, find(context, {"day": "2026-05-03"})) == {
        "/day": ["3 May 2026", "2026-05-03"]
    }


def test_a_text_is_no_part_of_a_word() -> None:
    context = "Annabel and Ann, Ann-Marie"
    assert find(context, {"buyer": "Ann"}).spans == {"/buyer": ((12, 15), (17, 20))}


def test_a_number_may_stand_in_a_word_if_nowhere_else() -> None:
    assert find("K77 177 77A", {"buyer": "77"}).spans == {"/buyer": ((1, 3), (8, 10))}
    assert find("K77 77", {"buyer": "77"}).spans == {"/buyer": ((4, 6),)}


def test_a_given_place_is_kept() -> None:
    assert find("Ann Ann", {"buyer": "Ann"}, buyer=((4, 7),)).spans == {"/buyer": ((4, 7),)}


def test_what_is_not_there_is_missing() -> None:
    found = find("Ann", {"buyer": "Eve", "day": "2026-01-01", "rows": [{"name": "nut"}]})
    assert set(found.missing) == {"/buyer", "/day", "/rows/0/name"}
    assert found.spans == {}


def test_equal_rows_find_each_its_own_place() -> None:
    context = "prices 3.50\nbolt 3.50\nnut 3.50\nbolt 3.50\n"
    rows = [{"name": n, "price": 3.5} for n in ("bolt", "nut", "bolt")]
    spans = find(context, {"rows": rows}).spans
    assert [spans[f"/rows/{i}/name"][0][0] for i in range(3)] == [12, 22, 31]
    assert [spans[f"/rows/{i}/price"][0][0] for i in range(3)] == [17, 26, 36]


def test_items_in_items_lie_inside_theirs() -> None:
    context = "A: x, y\nB: x, z\n"
    rows = [{"name": "A", "parts": ["x", "y"]}, {"name": "B", "parts": ["x", "z"]}]
    spans = find(context, {"rows": rows}).spans
    assert spans["/rows/0/parts/0"] == ((3, 4),)
    assert spans["/rows/1/parts/0"] == ((11, 12),)


@given(
    st.lists(
        st.tuples(st.sampled_from(["bolt", "nut", "saw"]), st.integers(1, 99)),
        min_size=1,
        max_size=8,
    )
)
def test_printed_rows_are_found_in_order(rows: list[tuple[str, int]]) -> None:
    lines = [f"{name} at {price}.50" for name, price in rows]
    context = "\n".join(lines)
    value = {"rows": [{"name": name, "price": price + 0.5} for name, price in rows]}
    spans = find(context, value).spans
    start = 0
    for index, line in enumerate(lines):
        assert spans[f"/rows/{index}/name"][0][0] == start
        assert spans[f"/rows/{index}/price"][0][1] == start + len(line)
        start += len(line) + 1
