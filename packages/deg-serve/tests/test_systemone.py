from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from deg_schema import Options
from deg_serve.apis import ApiError, Call, ModelNames
from deg_serve.systemone import SYSTEMONE
from oracle import Oracle, golden_fill

NAMES = ModelNames("deg-stand-in")
NOUL = {"type": "noul", "instructions": "Is it late?"}


def read(**members: Any) -> Call:
    request = {"model": "jev-latest", "state": "It is late.", "questions": {"q": NOUL}, **members}
    return SYSTEMONE.read(json.dumps(request).encode(), NAMES)


def answers(**questions: Any) -> dict[str, Any]:
    call = read(questions=questions)
    response = None if call.schema is None else Oracle().fill(call.context, call.schema)
    by_id: dict[str, Any] = call.answer(response)["answers"]
    return by_id


def refusal(status: int, **members: Any) -> Any:
    with pytest.raises(ApiError) as caught:
        read(**members)
    assert caught.value.status == status
    return caught.value.body["detail"]


def test_the_golden_answer_is_that_of_the_golden_request(wire: Callable[[str], Any]) -> None:
    call = SYSTEMONE.read(json.dumps(wire("systemone.request")).encode(), NAMES)
    assert call.options.null_margin == 1.5
    assert call.answer(golden_fill(call.context, call.schema)) == wire("systemone.response")


@pytest.mark.parametrize(
    "model", ["deg-latest", "deg-stand-in", "jev-latest", "jev-preview", "clef-flash"]
)
def test_the_answer_carries_the_served_model(model: str) -> None:
    call = read(model=model)
    assert call.schema is not None
    assert call.answer(Oracle().fill("", call.schema))["model"] == "deg-stand-in"


@pytest.mark.parametrize(
    ("state", "context"),
    [
        ("It is\nlate.", "It is\nlate."),
        ({"b": "\u00e9", "a": [1, None]}, '{"b": "\u00e9", "a": [1, null]}'),
        (["x", 1.5], '["x", 1.5]'),
    ],
)
def test_a_state_is_read_as_the_contract_renders_it(state: Any, context: str) -> None:
    assert read(state=state).context == context


def test_answers_are_keyed_by_id_in_the_order_of_the_request() -> None:
    ids = ["zz/renamed~1", "", "Q \U0001f642", "\uc9c8\ubb38"]
    by_id = answers(**dict.fromkeys(ids, NOUL))
    assert list(by_id) == ids
    assert list(by_id.values()) == [{"type": "noul", "noul": 0.8}] * 4


@pytest.mark.parametrize(
    ("question", "description"),
    [
        ({"criteria": {"true": "so", "false": "not"}}, "Yes means: so\nNo means: not"),
        ({"instructions": "Is it?", "criteria": None}, "Is it?"),
        ({"instructions": "Is it?", "criteria": {"true": None}}, "Is it?"),
        (
            {"instructions": ["a", 1], "criteria": {"false": {"b": 1}}},
            '["a", 1]\nNo means: {"b": 1}',
        ),
    ],
)
def test_texts_may_be_json_and_criteria_one_sided(
    question: dict[str, Any], description: str
) -> None:
    call = read(questions={"q": {"type": "noul", **question}})
    assert call.schema is not None
    (field,) = call.schema["properties"].values()
    assert field["description"] == description


def test_a_choice_and_a_score_give_back_what_was_asked() -> None:
    by_id = answers(
        team={"type": "choice", "criteria": {"early": None, "late": {"is": "late"}}},
        anger={"type": "score", "instructions": "How?", "criteria": ["calm", {"label": "late"}]},
    )
    team, anger = by_id["team"], by_id["anger"]
    assert list(team["probabilities"]) == ["early", "late"]
    assert team["choice"] == "late"
    assert anger["legend"] == {"0": "calm", "1": {"label": "late"}}
    assert anger["score"] == anger["probabilities"]["1"] > 0.5


def test_what_has_one_answer_needs_no_model() -> None:
    questions = {
        "team": {"type": "choice", "criteria": {"only": None}},
        "anger": {"type": "score", "criteria": ["calm"]},
    }
    call = read(questions=questions)
    assert call.schema is None
    assert call.answer(None) == {
        "model": "deg-stand-in",
        "answers": {
            "team": {
                "type": "choice",
                "choice": "only",
                "confidence": 1.0,
                "probabilities": {"only": 1.0},
            },
            "anger": {
                "type": "score",
                "score": 0.0,
                "confidence": 1.0,
                "legend": {"0": "calm"},
                "probabilities": {"0": 1.0},
            },
        },
        "usage": {"input_tokens": 0, "output_tokens": 0},
    }


def test_what_is_not_known_is_passed_over() -> None:
    call = read(x_trace_id="a", seed=7, questions={"q": {**NOUL, "weight": 2}})
    assert call.schema is not None
    assert call.options == Options()


def test_options_are_those_of_a_fill() -> None:
    assert read(options={"date_order": "MDY"}).options == Options(date_order="MDY")


@pytest.mark.parametrize(
    ("members", "loc"),
    [
        ({"model": None}, ["model"]),
        ({"state": None}, ["state"]),
        ({"state": 3}, ["state"]),
        ({"state": {"a": "\ud800"}}, ["state", "a"]),
        ({"questions": []}, ["questions"]),
        ({"questions": {}}, ["questions"]),
        ({"questions": {"q": None}}, ["questions", "q"]),
        ({"questions": {"q": {}}}, ["questions", "q", "type"]),
        ({"questions": {"q": {"type": "boolean"}}}, ["questions", "q", "type"]),
        ({"questions": {"q": {"type": "noul"}}}, ["questions", "q", "instructions"]),
        ({"questions": {"q": {**NOUL, "instructions": 3}}}, ["questions", "q", "instructions"]),
        ({"questions": {"q": {**NOUL, "criteria": ["a"]}}}, ["questions", "q", "criteria"]),
        (
            {"questions": {"q": {**NOUL, "criteria": {"true": 1}}}},
            ["questions", "q", "criteria", "true"],
        ),
        ({"questions": {"q": {"type": "choice"}}}, ["questions", "q", "criteria"]),
        ({"questions": {"q": {"type": "choice", "criteria": {}}}}, ["questions", "q", "criteria"]),
        (
            {"questions": {"q": {"type": "choice", "criteria": ["a"]}}},
            ["questions", "q", "criteria"],
        ),
        ({"questions": {"q": {"type": "score", "criteria": []}}}, ["questions", "q", "criteria"]),
        (
            {"questions": {"q": {"type": "score", "criteria": {"0": "a"}}}},
            ["questions", "q", "criteria"],
        ),
        (
            {"questions": {"q": {"type": "score", "criteria": ["a", None]}}},
            ["questions", "q", "criteria", 1],
        ),
        ({"questions": {"q": {"type": "extract"}}}, ["questions", "q", "instructions"]),
        (
            {"questions": {"q": NOUL, "e": {**NOUL, "type": "extract", "pattern": "("}}},
            ["questions", "e", "pattern"],
        ),
        ({"options": {"seed": -1}}, ["options", "seed"]),
    ],
)
def test_what_is_not_in_order_is_told_with_its_place(
    members: dict[str, Any], loc: list[str | int]
) -> None:
    (detail,) = refusal(422, **members)
    assert detail["loc"] == ["body", *loc]
    assert isinstance(detail["type"], str)
    assert isinstance(detail["msg"], str)


def test_every_fault_is_told_at_once() -> None:
    faulty = {"a": {"type": "noul"}, "b": {"type": "choice"}, "c": NOUL}
    details = refusal(422, state=None, questions=faulty, options={"seed": "x"})
    assert [detail["loc"][1:] for detail in details] == [
        ["state"],
        ["questions", "a", "instructions"],
        ["questions", "b", "criteria"],
        ["options", "seed"],
    ]


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (
            {"type": "choice", "criteria": dict.fromkeys(map(str, range(256)))},
            "Too many choices. Must have at most 255 choices.",
        ),
        (
            {"type": "score", "criteria": list(map(str, range(11)))},
            "Too many score levels. Must have at most 10 levels.",
        ),
    ],
)
def test_too_many_outcomes_are_told_in_the_words_of_that_api(
    question: dict[str, Any], words: str
) -> None:
    (detail,) = refusal(422, questions={"q": question})
    assert (detail["type"], detail["msg"]) == ("too_long", words)


def test_the_largest_choice_and_score_are_taken() -> None:
    by_id = answers(
        team={"type": "choice", "criteria": dict.fromkeys(map(str, range(255)))},
        anger={"type": "score", "criteria": list(map(str, range(10)))},
    )
    assert len(by_id["team"]["probabilities"]) == 255
    assert len(by_id["anger"]["probabilities"]) == 10


def test_a_document_does_not_come_back_with_its_fault() -> None:
    (detail,) = refusal(422, model=3, state="s" * 2000)
    assert detail["input"] == 3
    (detail,) = refusal(422, questions={"q": {"type": "x" * 2000}})
    assert "input" not in detail


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"model": "jev-0"}, "Unknown model: jev-0"),
        ({"assets": {}}, "text only"),
        ({"questions": {"q": {"type": "box"}}}, "text only"),
    ],
)
def test_what_is_not_served_here_is_told(members: dict[str, Any], words: str) -> None:
    detail = refusal(400, **members)
    assert detail["error_type"] == "api_usage_error"
    assert words in detail["message"]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff", b"[" * 100_000])
def test_what_is_no_request_is_refused(body: bytes) -> None:
    with pytest.raises(ApiError) as caught:
        SYSTEMONE.read(body, NAMES)
    assert caught.value.status == 422
    assert caught.value.body["detail"][0]["loc"] == ["body"]


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, "authentication_error"),
        (403, "authentication_error"),
        (413, "api_usage_error"),
        (500, "server_error"),
    ],
)
def test_errors_have_the_shape_of_that_api(status: int, kind: str) -> None:
    assert SYSTEMONE.error(status, "no") == {"detail": {"error_type": kind, "message": "no"}}
