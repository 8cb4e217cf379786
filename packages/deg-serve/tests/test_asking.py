from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from deg_serve.asking import (
    Field,
    choice_field,
    choice_of,
    extract_field,
    extracted_of,
    generate_field,
    generated_of,
    noul_field,
    noul_of,
    schema_of,
    score_field,
    score_of,
)
from deg_serve.faults import Fault
from oracle import Oracle

CONTEXT = "Order 4471: I was charged twice, please refund me today."


def fill(*fields: Field) -> dict[str, Any]:
    schema = schema_of(fields)
    assert schema is not None
    return Oracle().fill(CONTEXT, schema)


def test_a_noul_is_a_boolean_that_says_what_its_outcomes_mean() -> None:
    field = noul_field("Is it late?", yes="after noon", no="before")
    assert field.schema == {
        "description": "Is it late?\nYes means: after noon\nNo means: before",
        "type": "boolean",
    }


def test_a_choice_without_descriptions_is_an_enum_that_keeps_true_and_its_spelling_apart() -> None:
    field = choice_field("Which?", [("true", ""), (True, ""), ("no", "")])
    assert field.schema == {"description": "Which?", "enum": [True, "no", "true"]}


def test_a_choice_with_a_description_is_a_union_of_constants() -> None:
    field = choice_field("", [("b", "second"), ("a", "")])
    assert field.schema == {"oneOf": [{"const": "a"}, {"const": "b", "description": "second"}]}


def test_a_score_labels_its_levels() -> None:
    field = score_field("How late?", ["not", "", "very: hours"])
    assert field.schema == {
        "description": "How late?",
        "type": "integer",
        "minimum": 0,
        "maximum": 2,
        "x-levels": {"0": "not", "2": "very: hours"},
    }


def test_extract_and_generate_carry_their_limits() -> None:
    extract = extract_field({"value_type": "date", "minLength": None}, "When?")
    generate = generate_field({"max_tokens": 9, "maxLength": 80}, "A reply.")
    assert extract.schema == {
        "description": "When?",
        "type": ["string", "null"],
        "format": "date",
    }
    assert generate.schema == {
        "description": "A reply.",
        "type": "string",
        "x-generate": True,
        "maxLength": 80,
        "x-max-tokens": 9,
    }


def test_what_has_one_answer_is_not_asked() -> None:
    choice, score = choice_field("Which?", [("a", "")]), score_field("How?", ["calm"])
    assert schema_of([choice, score]) is None
    assert choice_of(choice, None).probabilities == score_of(score, None).probabilities == (1.0,)
    assert choice_of(choice, None).confidence == score_of(score, None).confidence == 1.0


@settings(deadline=None, max_examples=30)
@given(st.permutations(["refund", "support", "order", "today", "nobody"]))
def test_the_order_of_the_options_moves_no_probability(names: list[str]) -> None:
    def shares(order: list[str]) -> tuple[str, dict[str, float]]:
        field = choice_field("Which team?", [(name, f"about {name}") for name in order])
        chosen = choice_of(field, fill(field))
        return order[chosen.best], dict(zip(order, chosen.probabilities, strict=True))

    assert shares(names) == shares(sorted(names))


def test_the_same_options_asked_in_another_order_are_the_same_question() -> None:
    one = choice_field("Which?", [("a", "x"), ("b", "y")])
    other = choice_field("Which?", [("b", "y"), ("a", "x")])
    assert (one.name, one.schema) == (other.name, other.schema)


def test_the_schema_does_not_tell_the_order_of_the_questions() -> None:
    fields = [noul_field("Is it late?"), score_field("How late?", ["a", "b"]), noul_field("Paid?")]
    schema = schema_of(fields)
    assert schema is not None
    assert list(schema["properties"]) == list(schema_of(fields[::-1])["properties"])  # type: ignore[index]


def test_a_question_asked_twice_is_one_property() -> None:
    field, again = noul_field("Is it late?"), noul_field("Is it late?")
    schema = schema_of([field, again])
    assert schema is not None
    assert list(schema["properties"]) == [field.name]


@pytest.mark.parametrize("other", ["Is it Late?", "Is it late", "", "遅い?"])
def test_other_questions_have_other_names(other: str) -> None:
    assert noul_field("Is it late?").name != noul_field(other, yes="so").name


def test_the_name_says_what_is_asked_and_needs_no_escape() -> None:
    name = noul_field("Is 'a/b~c' späť, or is it not? " * 40).name
    assert name.startswith("is_a_b_c_späť_or_is_it_")
    assert len(name) < 64
    assert not {"/", "~"} & set(name)


def test_answers_are_read_from_the_response() -> None:
    noul, score = noul_field("charged twice"), score_field("How urgent?", ["can wait", "today"])
    extract, generate = extract_field({"value_type": "integer"}, "Order."), generate_field({}, "A.")
    response = fill(noul, score, extract, generate)
    assert noul_of(noul, response) == 0.75
    assert extracted_of(extract, response) == {"value": 4471, "span": [6, 10], "confidence": 0.875}
    assert generated_of(generate, response)["output_tokens"] == 6
    scored = score_of(score, response)
    assert scored.score == scored.probabilities[1]


def test_what_is_not_there_is_null_with_its_reason() -> None:
    field = extract_field({}, "The order.")
    schema = schema_of([field])
    assert schema is not None
    assert extracted_of(field, Oracle().fill("no number", schema)) == {
        "value": None,
        "span": None,
        "confidence": 0.75,
        "null_reason": "not_found",
    }


@pytest.mark.parametrize(
    ("probabilities", "score", "confidence"),
    [
        ((0.25, 0.5, 0.25), 1.0, 0.25),
        ((0.0, 0.0, 1.0), 2.0, 1.0),
        ((0.5, 0.0, 0.5), 1.0, 0.0),
        ((0.25, 0.75), 0.75, 0.5),
    ],
)
def test_score_and_its_confidence(
    probabilities: tuple[float, ...], score: float, confidence: float
) -> None:
    field = score_field("How?", [str(level) for level in range(len(probabilities))])
    assert field.mirrored is not None
    meta = {
        f"/{field.name}": {"probabilities": list(probabilities)},
        f"/{field.mirrored.name}": {"probabilities": list(probabilities[::-1])},
    }
    scored = score_of(field, {"value": {}, "meta": meta})
    assert (scored.score, scored.confidence) == pytest.approx((score, confidence))


def test_a_scale_from_its_other_end_has_the_same_answer() -> None:
    labels = ["can wait", "this week", "today"]
    scores = [score_field("How urgent?", each) for each in (labels, labels[::-1])]
    one, other = (score_of(score, fill(score)) for score in scores)
    assert one.probabilities == other.probabilities[::-1]
    assert one.score == pytest.approx(2 - other.score)
    # without labels there is no other end
    assert score_field("How urgent?", ["", ""]).mirrored is None


@pytest.mark.parametrize(
    ("field", "path"),
    [
        (extract_field({"pattern": "("}, "a"), (1, "pattern")),
        (extract_field({"value_type": "number", "maxLength": 3}, "a"), (1, "maxLength")),
        (generate_field({"max_tokens": 0}, "a"), (1, "max_tokens")),
        (noul_field("a" * 200_000), (1,)),
    ],
)
def test_what_cannot_be_filled_is_told_with_the_number_of_its_question(
    field: Field, path: tuple[int | str, ...]
) -> None:
    with pytest.raises(Fault) as caught:
        schema_of([noul_field("Is it late?"), field])
    assert caught.value.path == path


def test_an_unknown_type_of_value_is_refused() -> None:
    with pytest.raises(Fault, match="value_type"):
        extract_field({"value_type": "money"}, "a")
