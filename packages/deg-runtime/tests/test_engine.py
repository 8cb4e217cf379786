from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings, strategies as st
from jsonschema import Draft202012Validator

from deg_runtime import (
    ContextTooLong,
    DegError,
    Engine,
    FillError,
    Trace,
    contexts as contexts_module,
)
from deg_schema import (
    Options,
    Pointer,
    RequestError,
    SchemaError,
    compile_schema,
    is_format,
    parse_options,
    read_span,
    render_context,
)

# takes the best valid span wherever there is one; takes null wherever it may
EAGER, SHY = {"null_margin": -1e6}, {"null_margin": 1e6}

quick = settings(
    deadline=None,
    max_examples=50,
    derandomize=True,
    # an engine is made once: it keeps nothing between calls
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
few = settings(quick, max_examples=12)

LEAVES: list[dict[str, Any]] = [
    {"enum": ["red", "green", "blue"]},
    {"enum": ["a", 1, 2.5, True, None]},
    {"oneOf": [{"const": "x", "description": "the first"}, {"const": "y"}]},
    {"type": "boolean"},
    {"type": ["boolean", "null"]},
    {"type": "integer", "minimum": 1, "maximum": 5},
    {"type": ["integer", "null"], "minimum": 0, "maximum": 2, "x-levels": {"0": "none"}},
    {"type": "number"},
    {"type": "number", "minimum": 0, "exclusiveMaximum": 100},
    {"type": "integer", "multipleOf": 5},
    {"type": ["number", "null"], "multipleOf": 0.5},
    {"type": "string"},
    {"type": "string", "description": "the name of the person"},
    {"type": "string", "minLength": 2, "maxLength": 200},
    {"type": ["string", "null"], "pattern": "[a-z]"},
    {"type": "string", "format": "date"},
    {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]},
    {"type": "string", "format": "email"},
    {"type": "string", "format": "uri"},
    {"type": ["string", "null"], "format": "uuid"},
]
PIECES = (
    "Ann Müller paid 12.50 EUR",
    "on 3 May 2026, not 04/05/2026,",
    "at 2026-05-03T17:30:00+02:00",
    "1,234 or -5 or (7) or 10%",
    "write to ann@example.org or see https://example.org/a?b=c",
    "7c1e8a52-40bb-4d0e-9a63-2f1d6b90c7aa",
    "患者被给予250毫克静脉注射",
    "👩‍👩‍👧 paid 5",
    "e\u0301a\u0300 na\u00efve",
    "line\r\nnext\tcell\n",
    "\ufeff",
    "\x00",
    '"quoted" (and bracketed).',
)

names = st.sampled_from(["a", "b", "order id", "größe", "a/b", "m~n", "日期", "due", "x.y", ""])
objects = st.dictionaries(names, st.sampled_from(LEAVES), min_size=1, max_size=6)
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=20), max_size=6).map(" ".join)
contexts = texts | st.dictionaries(
    st.text(max_size=5), texts | st.integers() | st.none(), max_size=4
)
margins = st.sampled_from([None, -1e6, -3.0, 1e6])


def schema_of(leaves: Mapping[str, Any], required: list[str] | None = None) -> dict[str, Any]:
    return {"type": "object", "properties": dict(leaves), "required": required or []}


@st.composite
def schemas(draw: st.DrawFn) -> dict[str, Any]:
    leaves = dict(draw(objects))
    required = draw(st.lists(st.sampled_from(sorted(leaves)), unique=True))
    if draw(st.booleans()):
        inner = draw(objects)
        leaves["inner"] = schema_of(
            inner, draw(st.lists(st.sampled_from(sorted(inner)), unique=True))
        )
    return schema_of(leaves, required)


def value_at(response: Mapping[str, Any], pointer: str) -> Any:
    """Return the value at *pointer*, or `...` where there is none."""
    value = response["value"]
    for token in Pointer.parse(pointer).tokens:
        if token not in value:
            return ...
        value = value[token]
    return value


def outcomes(response: dict[str, Any] | FillError) -> dict[str, str]:
    """Return value and meta of each field as bytes that can be compared."""
    assert not isinstance(response, FillError)
    return {
        pointer: json.dumps([repr(value_at(response, pointer)), meta])
        for pointer, meta in response["meta"].items()
    }


def check_values(response: Mapping[str, Any], context: str, schema: Any, options: Options) -> None:
    for field in compile_schema(schema).fields:
        meta, value = response["meta"][field.pointer], value_at(response, field.pointer)
        if not field.mode.startswith("extract"):
            continue
        if meta["span"] is None:
            assert meta["null_reason"]
            assert value is (None if field.on_null == "null" else ...)
            continue
        start, end = meta["span"]
        assert 0 <= start < end <= len(context)
        assert 0 <= meta["confidence"] <= 1
        assert value == read_span(field, context[start:end], options).value
        if field.mode == "extract.span":
            assert value == context[start:end]


@quick
@given(schema=schemas(), context=contexts, margin=margins)
def test_a_response_is_valid_and_its_values_are_what_their_spans_say(
    engine: Engine, schema: dict[str, Any], context: Any, margin: float | None
) -> None:
    options = Options(null_margin=margin)
    (response,) = engine.fill_many([(context, schema)], options=options)
    if isinstance(response, FillError):
        fields = {field.pointer: field for field in compile_schema(schema).fields}
        assert fields[response.pointer].on_null == "forbid"
        return
    Draft202012Validator(schema).validate(response["value"])
    check_values(response, render_context(context), schema, options)
    assert json.loads(json.dumps(response)) == response


@few
@given(context=contexts)
def test_every_format_that_is_filled_is_of_that_format(engine: Engine, context: Any) -> None:
    formats = ("date", "date-time", "email", "uri", "uuid")
    schema = schema_of({name: {"type": "string", "format": name} for name in formats})
    value = engine.fill(context, schema, options=EAGER)["value"]
    assert all(is_format(name, text) for name, text in value.items())


def test_every_mode_is_filled_where_the_document_has_something_to_find(engine: Engine) -> None:
    schema = schema_of({f"f{number}": leaf for number, leaf in enumerate(LEAVES)})
    response = engine.fill(" ".join(PIECES), schema, options=EAGER)
    assert response["value"].keys() == schema["properties"].keys()
    modes = {meta["mode"] for meta in response["meta"].values()}
    assert {mode.partition(".")[0] for mode in modes} == {"decide", "extract"}
    assert len(modes) == 6
    check_values(response, " ".join(PIECES), schema, Options())


def test_a_response_names_the_model_and_counts_the_tokens_it_read(engine: Engine) -> None:
    context, schema = "Ann is here.", schema_of({"a": {"type": "string"}})
    response = engine.fill(context, schema)
    assert list(response) == ["model", "value", "meta", "usage", "plan"]
    assert response["model"] == engine.model_id == "tiny"
    num_context = len(engine.model.read(context).encoded.ids)
    assert response["usage"]["prompt_tokens"] > num_context
    assert response["usage"]["generated_tokens"] == 0
    assert response["plan"] == compile_schema(schema).fingerprint


def test_a_schema_without_fields_is_filled(engine: Engine) -> None:
    response = engine.fill("Ann", {"type": "object"})
    assert (response["value"], response["meta"]) == ({}, {})


ODD_CONTEXTS = [
    "i ⭢ j",
    "👩‍👩‍👧 paid 5",
    "line\r\nnext\tcell end﻿",
    "          Microsoft and Apple",
    "患者被给予250毫克静脉注射头孢,每日三次,持续一周。",
    "\ufeffstarts with a mark, e\u0301 and a\u0300",
    "𝔘𝔫𝔦 𝒸ℴ𝒹ℯ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🇫🇷",
    "nul \x00 inside",
]


@pytest.mark.parametrize("context", ODD_CONTEXTS)
def test_spans_count_code_points_and_values_are_exact_slices(engine: Engine, context: str) -> None:
    leaves = {
        name: {"type": "string", "description": name}
        for name in ("drug", "route", "frequency", "x", "who")
    }
    response = engine.fill(context, schema_of(leaves), options=EAGER)
    assert response["value"].keys() == leaves.keys()
    for name, value in response["value"].items():
        start, end = response["meta"][f"/{name}"]["span"]
        assert context[start:end] == value
        assert value == value.strip()


def test_spans_of_a_json_context_count_in_its_rendering(engine: Engine) -> None:
    context = {"name": "Zoë 東京", "items": [{"price": 12.5}], "note": 'said "no"\nand left'}
    schema = schema_of({"n": {"type": "number"}, "s": {"type": "string"}})
    response = engine.fill(context, schema, options=EAGER)
    text = json.dumps(context, ensure_ascii=False)
    start, end = response["meta"]["/n"]["span"]
    assert (text[start:end], response["value"]["n"]) == ("12.5", 12.5)
    check_values(response, text, schema, Options())


@few
@given(text=st.text(max_size=60))
def test_every_character_is_covered_by_tokens(engine: Engine, text: str) -> None:
    encoded = engine.model.read(text).encoded
    for start in range(len(text)):
        first, last = encoded.cover(start, start + 1)
        begin, end = encoded.span(first, last)
        assert begin <= start < end


ABSENT = {"type": "string", "format": "email"}


def test_an_optional_field_is_left_out(engine: Engine) -> None:
    schema = schema_of({"a": {"type": "string"}, "b": {"type": "string"}}, ["a"])
    response = engine.fill("a is ALPHA.", schema, options=SHY)
    assert response["value"].keys() == {"a"}
    assert response["meta"]["/b"]["null_reason"] == "not_found"
    assert response["meta"]["/b"]["span"] is None


@pytest.mark.parametrize("required", [True, False])
def test_a_nullable_field_is_null(engine: Engine, required: bool) -> None:
    leaf = {"type": ["string", "null"], "format": "email"}
    response = engine.fill("nobody", schema_of({"a": leaf}, ["a"] if required else []))
    assert response["value"] == {"a": None}
    assert response["meta"]["/a"]["null_reason"] == "not_found"


def test_a_required_field_without_a_value_is_an_error_that_says_what_to_do(engine: Engine) -> None:
    schema = schema_of({"who": schema_of({"mail": ABSENT}, ["mail"])}, ["who"])
    with pytest.raises(FillError, match="make it nullable") as raised:
        engine.fill("nobody", schema)
    assert raised.value.pointer == "/who/mail"


def test_an_optional_object_is_left_out_where_what_it_requires_is_not_there(
    engine: Engine,
) -> None:
    schema = schema_of({"who": schema_of({"mail": ABSENT}, ["mail"]), "is": {"type": "boolean"}})
    response = engine.fill("nobody", schema)
    assert response["value"].keys() == {"is"}
    assert response["meta"]["/who/mail"]["null_reason"] == "not_found"


def test_null_margin_moves_only_fields_that_may_be_null(engine: Engine) -> None:
    leaves = {f"f{number}": leaf for number, leaf in enumerate(LEAVES)}
    schema = schema_of(leaves | {"must": {"type": "string"}}, ["must"])
    eager, shy = (engine.fill(" ".join(PIECES), schema, options=one) for one in (EAGER, SHY))
    moved = {p for p, meta in eager["meta"].items() if meta != shy["meta"][p]}
    fields = compile_schema(schema).fields
    assert moved == {
        field.pointer
        for field in fields
        if field.mode.startswith("extract") and field.on_null != "forbid"
    }


def test_options_may_be_a_mapping_or_read_already(engine: Engine) -> None:
    context, schema = "on 03/05/2026", schema_of({"d": {"type": "string", "format": "date"}}, ["d"])
    given_as = {"date_order": "DMY"}
    response = engine.fill(context, schema, options=given_as)
    assert response["value"] == {"d": "2026-05-03"}
    assert response == engine.fill(context, schema, options=parse_options(given_as))


def test_a_date_of_two_readings_is_refused_without_an_order(engine: Engine) -> None:
    schema = schema_of({"d": {"type": ["string", "null"], "format": "date"}})
    meta = engine.fill("on 03/05/2026", schema, options=EAGER)["meta"]["/d"]
    assert (meta["null_reason"], meta["null_detail"]) == ("unparsable", "ambiguous_date")


def test_an_assumed_offset_is_told(engine: Engine) -> None:
    schema = schema_of({"t": {"type": "string", "format": "date-time"}}, ["t"])
    options = {"default_offset": "-05:00"}
    response = engine.fill("at 2026-05-03 17:30.", schema, options=options)
    assert response["value"] == {"t": "2026-05-03T17:30:00-05:00"}
    assert response["meta"]["/t"]["assumed_offset"] is True


def test_the_decimal_separator_is_the_callers(engine: Engine) -> None:
    schema = schema_of({"n": {"type": "number"}}, ["n"])
    values = [
        engine.fill("it is 1,234 m", schema, options={"decimal_separator": mark})["value"]["n"]
        for mark in ".,"
    ]
    assert values == [1234, 1.234]


@pytest.mark.parametrize("options", [{"null_margni": 1}, {"null_margin": "1"}, {"date_order": 1}])
def test_a_wrong_option_is_refused(engine: Engine, options: dict[str, Any]) -> None:
    with pytest.raises(RequestError, match=next(iter(options))):
        engine.fill("Ann", schema_of({"a": {"type": "string"}}), options=options)


@pytest.fixture(scope="module", params=[torch.float32, torch.bfloat16], ids=["fp32", "bf16"])
def wide(request: pytest.FixtureRequest, make_engine: Callable[..., Engine]) -> Engine:
    return make_engine(hidden=256, dtype=request.param)


@few
@given(leaves=objects, context=contexts, margin=margins, seed=st.integers(0, 99))
def test_the_schema_around_a_field_changes_no_byte_of_it(
    wide: Engine, leaves: dict[str, Any], context: Any, margin: float | None, seed: int
) -> None:
    options = Options(null_margin=margin)

    def filled(some: list[str]) -> dict[str, str]:
        schema = schema_of({name: leaves[name] for name in some})
        return outcomes(wide.fill(context, schema, options=options))

    draw = random.Random(seed)
    order = draw.sample(sorted(leaves), len(leaves))
    cut = draw.randrange(len(order) + 1)
    whole = filled(list(leaves))
    assert filled(order) == whole
    assert filled(order[:cut]) | filled(order[cut:]) == whole


@few
@given(requests=st.lists(st.tuples(contexts, objects), min_size=2, max_size=8), margin=margins)
def test_other_requests_change_no_byte(
    wide: Engine, requests: list[tuple[Any, dict[str, Any]]], margin: float | None
) -> None:
    options = Options(null_margin=margin)
    documents = [(context, schema_of(leaves)) for context, leaves in requests]
    alone = [wide.fill(context, schema, options=options) for context, schema in documents]
    together = wide.fill_many(documents[::-1], options=options)[::-1]
    assert json.dumps(together) == json.dumps(alone)


@pytest.mark.parametrize("num_others", [1, 7, 63])
def test_a_batch_moves_no_byte(wide: Engine, num_others: int) -> None:
    draw = random.Random(num_others)
    schema = schema_of({f"f{number}": leaf for number, leaf in enumerate(LEAVES[::3])})
    others = [
        (" ".join(draw.sample(PIECES, 3)), schema_of({"a": draw.choice(LEAVES)}))
        for _ in range(num_others)
    ]
    mine = (" ".join(PIECES), schema)
    alone = json.dumps(wide.fill(*mine))
    place = draw.randrange(num_others + 1)
    together = wide.fill_many([*others[:place], mine, *others[place:]])
    assert json.dumps(together[place]) == alone


def test_filling_again_changes_no_byte(engine: Engine) -> None:
    schema = schema_of({f"f{number}": leaf for number, leaf in enumerate(LEAVES)})
    first, second = (json.dumps(engine.fill(" ".join(PIECES), schema)) for _ in range(2))
    assert first == second


def test_a_request_fails_alone_with_what_fill_would_raise(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without_room(texts: Sequence[str], **more: Any) -> list[Any]:
        read = engine.contexts.read_many
        return [
            ContextTooLong(9, 9, 1) if text == "too long" else read([text])[0] for text in texts
        ]

    good = ("Ann is here", schema_of({"a": {"type": "string"}}))
    bad: list[tuple[Any, Any, Any]] = [
        ("nobody", schema_of({"m": ABSENT}, ["m"]), None),
        ("Ann", {"type": "object", "properties": {"a": {"type": "what"}}}, None),
        (5, good[1], None),
        ("Ann", good[1], {"speed": 9}),
        ("rows", schema_of({"rows": {"type": "array", "items": {"type": "string"}}}), None),
        ("too long", good[1], None),
    ]
    alone = engine.fill(*good)
    contexts = SimpleNamespace(read_many=without_room, batches=engine.contexts.batches)
    responses = Engine(engine.model, contexts).fill_many([bad[0], good, *bad[1:], good])
    assert [type(response) for response in responses] == [
        FillError,
        dict,
        SchemaError,
        RequestError,
        RequestError,
        FillError,
        ContextTooLong,
        dict,
    ]
    assert all(isinstance(one, DegError) for one in responses if not isinstance(one, dict))
    assert responses[1] == responses[-1] == alone
    for (context, schema, options), response in zip(
        bad[:4], responses[:1] + responses[2:5], strict=True
    ):
        with pytest.raises(type(response)) as raised:
            engine.fill(context, schema, options=options)
        assert str(raised.value) == str(response)


def test_nothing_to_fill_is_filled(engine: Engine) -> None:
    assert engine.fill_many([]) == []


def test_each_request_has_its_own_options(engine: Engine) -> None:
    schema = schema_of({"d": {"type": "string", "format": "date"}}, ["d"])
    dates = engine.fill_many(
        [("on 03/05/2026", schema, {"date_order": "MDY"}), ("on 03/05/2026", schema)],
        options={"date_order": "DMY"},
    )
    assert [one["value"]["d"] for one in dates] == ["2026-03-05", "2026-05-03"]


def test_each_document_is_read_once_whichever_requests_are_on_it(engine: Engine) -> None:
    trace = Trace()
    schema = schema_of({"a": {"type": "string"}})
    engine.fill_many([("Ann", schema), ("Bob", schema), ("Ann", schema)], trace=trace)
    one, other = (len(engine.model.encode(text).ids) for text in ("Ann", "Bob"))
    assert trace.context_tokens == one + other
    assert trace.num_requests == trace.rounds[0].rows == 3


@pytest.mark.parametrize("context", ["", " ", "\n\t  \r\n", "\u3000", "\x00", {}, [], "\ufeff"])
def test_a_context_of_nothing_holds_nothing(engine: Engine, context: Any) -> None:
    schema = schema_of({f"f{number}": leaf for number, leaf in enumerate(LEAVES)})
    response = engine.fill(context, schema)
    Draft202012Validator(schema).validate(response["value"])
    check_values(response, render_context(context), schema, Options())


def test_a_context_too_long_is_refused_with_the_numbers(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contexts_module, "free_bytes", lambda _: 1000)
    with pytest.raises(ContextTooLong, match=r"has \d+ tokens"):
        engine.fill("ab 1 " * 20, schema_of({"n": {"type": "number"}}))


def test_a_context_longer_than_the_base_was_trained_on_is_filled(
    make_engine: Callable[..., Engine],
) -> None:
    engine = make_engine(max_positions=256)
    schema = schema_of({"n": {"type": "number"}, "s": {"type": "string"}}, ["n", "s"])
    context = "ab 1 " * 200
    check_values(engine.fill(context, schema), context, schema, Options())


@pytest.mark.parametrize(
    "context",
    ["half \ud83d of a pair", {"a": ["\udc00"]}, {"a": float("nan")}, {"a": {1}}, 5, None],
)
def test_a_context_that_is_no_text_is_refused(engine: Engine, context: Any) -> None:
    with pytest.raises(RequestError):
        engine.fill(context, schema_of({"a": {"type": "string"}}))


def test_every_problem_of_a_schema_comes_at_once(engine: Engine) -> None:
    schema = schema_of({"a": {"type": "what"}, "b": {"type": "string", "x-genrate": True}})
    with pytest.raises(SchemaError) as raised:
        engine.fill("Ann", schema)
    assert len(raised.value.problems) == 2


def test_an_array_is_refused_where_the_checkpoint_was_not_trained_on_any(engine: Engine) -> None:
    leaves = {"a": {"type": "string"}, "rows": {"type": "array", "items": {"type": "string"}}}
    with pytest.raises(FillError, match="^/rows: the checkpoint 'tiny' was not trained on arrays"):
        engine.fill("Ann", schema_of(leaves))


def test_a_text_is_written_from_what_was_found(engine: Engine) -> None:
    leaves = {"a": {"type": "string"}, "b": {"type": "string", "x-generate": True, "maxLength": 5}}
    response = engine.fill("Ann", schema_of(leaves), options={"max_new_tokens": 8, **EAGER})
    assert response["value"].keys() == {"a", "b"}
    assert response["meta"]["/b"]["generated_tokens"] == response["usage"]["generated_tokens"] > 0


@pytest.mark.parametrize("leaf", [{"type": "number"}, {"type": "integer"}, {"type": "string"}])
def test_a_huge_number_is_exact_or_unparsable(
    make_engine: Callable[..., Engine], leaf: dict[str, Any]
) -> None:
    engine = make_engine(max_positions=8192)
    digits = "".join(random.Random(0).choices("123456789", k=8000))
    if leaf["type"] != "string":
        leaf = leaf | {"maximum": 10**1200}
    response = engine.fill(f"n = {digits}.", schema_of({"n": leaf}), options=EAGER)
    json.dumps(response)
    value = response["value"].get("n")
    assert value is None or str(value) in digits


@few
@given(schema=schemas(), context=contexts)
def test_filling_changes_neither_context_nor_schema(
    engine: Engine, schema: dict[str, Any], context: Any
) -> None:
    documents = copy.deepcopy([(context, schema)])
    engine.fill_many(documents)
    assert json.dumps(documents) == json.dumps([(context, schema)])
