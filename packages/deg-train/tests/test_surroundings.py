from __future__ import annotations

from random import Random

from hypothesis import given, settings, strategies as st

from deg_train.generate import ListSource
from deg_train.generate.surroundings import surrounded
from deg_train.records import check


@given(st.integers(0, 10**6), st.text(max_size=40), st.text(max_size=40))
@settings(deadline=None)
def test_every_place_moves_with_its_document(seed: int, before: str, after: str) -> None:
    record = SOURCE.sample(Random(seed))
    around = surrounded(record, before, after)
    check(around)
    assert around.context == before + record.context + after
    assert around.value == record.value
    for pointer, places in record.spans.items():
        moved = [around.context[slice(*place)] for place in around.spans[pointer]]
        assert moved == [record.context[slice(*place)] for place in places]


SOURCE = ListSource("train")
