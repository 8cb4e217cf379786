"""What users of such tools reported, as fills: with the default checkpoint where it takes sense."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from deg_model import DEFAULT_BASE, ArrayMode, cache_folder
from deg_runtime import Engine, SchemaError, load

TEXT = {"type": "string"}


@pytest.fixture(scope="module")
def trained() -> Engine:
    if not (cache_folder() / DEFAULT_BASE).is_dir():
        pytest.skip("the base weights were never fetched here")
    return load()


def schema_of(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def check_slices(response: dict[str, Any], context: str) -> None:
    for name, value in response["value"].items():
        start, end = response["meta"][f"/{name}"]["span"]
        assert context[start:end] == value


@pytest.mark.slow
def test_an_optional_field_that_is_not_there_is_left_out(trained: Engine) -> None:
    context = "Name: Ann Lee. Colour: green."
    response = trained.fill(context, schema_of(("name",), name=TEXT, email=TEXT))
    assert response["value"] == {"name": "Ann Lee"}
    assert response["meta"]["/email"]["null_reason"] == "not_found"


@pytest.mark.slow
def test_of_three_mentions_the_one_that_is_meant_is_marked(trained: Engine) -> None:
    context = "You paid $10 on Monday. Then a $10 refund fell due. A $10 fee applies."
    leaf = TEXT | {"description": "the amount of the refund, as written"}
    response = trained.fill(context, schema_of(refund=leaf))
    assert response["value"] == {"refund": "$10"}
    assert response["meta"]["/refund"]["span"] == [31, 34]


@pytest.mark.slow
def test_a_number_is_never_glued_to_the_date_before_it(trained: Engine) -> None:
    context = "admitted on 11/12/1999 under admission number 12345"
    leaf = {"type": "integer", "description": "admission number"}
    assert trained.fill(context, schema_of(number=leaf))["value"] == {"number": 12345}


@pytest.mark.parametrize("null_margin", [None, -1e6])
def test_spans_in_chinese_count_code_points(engine: Engine, null_margin: float | None) -> None:
    context = "患者被给予250毫克静脉注射头孢,每日三次,持续一周。"
    schema = schema_of(drug=TEXT, route=TEXT, frequency=TEXT)
    check_slices(engine.fill(context, schema, options={"null_margin": null_margin}), context)


@pytest.mark.parametrize(
    "context",
    [
        "i ⭢ j",
        "👩‍👩‍👧 paid 5",
        "line\r\nnext\tcell end\ufeff",
        "          Microsoft and Apple",
    ],
)
def test_spans_never_cut_a_code_point(engine: Engine, context: str) -> None:
    response = engine.fill(context, schema_of(x=TEXT), options={"null_margin": -1e6})
    assert response["value"]
    check_slices(response, context)


@pytest.mark.parametrize("least_likely", [-1e6, 1e6])
def test_a_number_of_8000_digits_is_exact_or_unparsable(
    engine: Engine, least_likely: float
) -> None:
    digits = "".join(random.Random(0).choices("123456789", k=8000))
    leaf: dict[str, Any] = {"type": "integer", "maximum": 10**1200}
    options = {"null_margin": least_likely}
    response = engine.fill(f"n = {digits}.", schema_of(n=leaf), options=options)
    assert response["value"] == {} or str(response["value"]["n"]) in digits
    # no other tool would read such a schema: its place is told
    with pytest.raises(SchemaError) as raised:
        engine.fill("n = 1.", schema_of(n=leaf | {"maximum": 10**5000}))
    assert [problem.loc for problem in raised.value.problems] == ["/properties/n/maximum"]


@pytest.mark.parametrize("num_others", [2, 16, 64])
def test_a_batch_moves_no_byte(make_engine: Callable[..., Engine], num_others: int) -> None:
    engine = make_engine(arrays=ArrayMode("anchor"), anchor_bias=-4.0)
    leaves = {
        "n": {"type": "number"},
        "s": TEXT,
        "c": {"enum": ["a", "b"]},
        "b": {"type": "boolean"},
    }
    rows = {"type": "array", "maxItems": 2, "items": schema_of(**leaves)}
    mine = ("Ann paid 12.50 EUR for 3 bolts.", schema_of(**leaves, rows=rows))
    alone = json.dumps(engine.fill(*mine))
    draw = random.Random(num_others)
    others = [
        (f"Bob {index} owes {index * 7}", schema_of(**{name: leaves[name]}))
        for index, name in enumerate(draw.choices(list(leaves), k=num_others))
    ]
    for _ in range(3):
        together = [mine, *others]
        draw.shuffle(together)
        responses = engine.fill_many(together)
        assert json.dumps(responses[together.index(mine)]) == alone
