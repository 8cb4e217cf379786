from __future__ import annotations

from datetime import timedelta
from random import Random

from hypothesis import given, strategies as st

from deg_schema import Options, compile_schema, read_span
from deg_train.generate.setting import Setting, draw_setting
from deg_train.generate.values import make_value

SEEDS = st.integers(0, 2**32)


@given(SEEDS)
def test_a_document_writes_its_numeric_dates_in_one_way(seed: int) -> None:
    rng = Random(seed)
    setting = Setting(draw_setting(rng).today, style=seed)
    texts = [make_value("date_numeric", rng, setting) for _ in range(8)]
    assert len({char for text in texts for char in text if not char.isdigit()}) == 1


@given(SEEDS)
def test_sums_of_a_document_have_one_currency(seed: int) -> None:
    rng = Random(seed)
    setting = Setting(draw_setting(rng).today, style=seed)
    texts = [make_value("money", rng, setting) for _ in range(8)]
    assert len({"".join(c for c in text if c not in "0123456789., ") for text in texts}) == 1


@given(SEEDS)
def test_most_days_of_a_document_lie_near_its_own(seed: int) -> None:
    rng = Random(seed)
    setting = Setting(draw_setting(rng).today, style=1)
    days = [setting.draw_date(rng) - setting.today for _ in range(40)]
    assert sum(abs(day) <= timedelta(days=60) for day in days) >= 20


def test_a_date_can_be_read_whatever_the_setting() -> None:
    schema = {"type": "object", "properties": {"d": {"type": "string", "format": "date"}}}
    field = compile_schema(schema).fields[0]
    rng = Random(3)
    for _ in range(300):
        text = make_value("date", rng, draw_setting(rng))
        assert read_span(field, text, Options()).reason is None, text
