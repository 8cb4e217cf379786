from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from deg_schema import Options
from deg_serve.apis import ApiError, Call, ModelNames
from deg_serve.decisions import DECISIONS
from oracle import Oracle, golden_fill

NAMES = ModelNames("deg-stand-in")
PREDICATE = {"type": "predicate", "name": "late", "instructions": "It is late."}


def read(**members: Any) -> Call:
    request = {"model": "deg-latest", "input": "It is late.", "questions": [PREDICATE], **members}
    return DECISIONS.read(json.dumps(request).encode(), NAMES)


def answers(*questions: dict[str, Any]) -> list[dict[str, Any]]:
    call = read(questions=questions)
    response = None if call.schema is None else Oracle().fill(call.context, call.schema)
    listed: list[dict[str, Any]] = call.answer(response)["answers"]
    return listed


def refusal(**members: Any) -> dict[str, Any]:
    with pytest.raises(ApiError) as caught:
        read(**members)
    assert caught.value.status == 400
    error: dict[str, Any] = caught.value.body["error"]
    assert error.keys() == {"message", "type", "param", "code"}
    assert error["type"] == "invalid_request_error"
    return error


def choice(*values: Any, **members: Any) -> dict[str, Any]:
    choices = [{"value": value} for value in values]
    return {"type": "choice", "instructions": "Which?", "choices": choices, **members}


def score(*labels: str) -> dict[str, Any]:
    levels = [{"label": label} for label in labels]
    return {"type": "score", "instructions": "How late?", "levels": levels}


def test_the_golden_answer_is_that_of_the_golden_request(wire: Callable[[str], Any]) -> None:
    call = DECISIONS.read(json.dumps(wire("decisions.request")).encode(), NAMES)
    assert call.options.null_margin == 1.5
    assert call.answer(golden_fill(call.context, call.schema)) == wire("decisions.response")


@pytest.mark.parametrize("model", ["deg-latest", "deg-stand-in", "gpt-6-luna"])
def test_the_answer_carries_the_served_model(model: str) -> None:
    call = read(model=model)
    assert call.schema is not None
    assert call.answer(Oracle().fill("", call.schema))["model"] == "deg-stand-in"


def test_answers_stand_in_the_order_of_the_questions() -> None:
    late, early = answers(PREDICATE, {"type": "predicate", "instructions": "Is it early?"})
    assert late == {"type": "predicate", "name": "late", "probability": 0.8}
    assert early == {"type": "predicate", "name": None, "probability": 0.6}


def test_a_choice_gives_back_values_of_their_own_type() -> None:
    (answer,) = answers(choice("true", True, "late", name="c"))
    assert [each["value"] for each in answer["probabilities"]] == ["true", True, "late"]
    assert answer["choice"] == "late"
    assert sum(each["probability"] for each in answer["probabilities"]) == pytest.approx(1)


def test_a_score_gives_back_labels_and_the_level_to_expect() -> None:
    (answer,) = answers(score("it is early", "it is late"))
    shares = answer["probabilities"]
    assert [(each["value"], each["label"]) for each in shares] == [
        (0, "it is early"),
        (1, "it is late"),
    ]
    assert answer["score"] == shares[1]["probability"] > 0.5


def test_names_and_neighbours_move_no_answer() -> None:
    (alone,) = answers(choice("early", "late"))
    *_, among = answers(
        PREDICATE, score("a", "b"), {**choice("early", "late"), "name": "\U0001f3af"}
    )
    assert among == {**alone, "name": "\U0001f3af"}


def test_usage_tells_what_was_read_written_and_kept() -> None:
    call = read()
    usage = {"prompt_tokens": 50, "generated_tokens": 7, "cached_tokens": 30}
    assert call.schema is not None
    response = {**Oracle().fill("a", call.schema), "usage": usage}
    assert call.answer(response)["usage"] == {
        "input_tokens": 50,
        "input_tokens_details": {"cached_tokens": 30, "cache_write_tokens": 0},
        "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 57,
    }


def test_options_are_those_of_a_fill() -> None:
    options = {
        "null_margin": 1.5,
        "array_decode": "hybrid",
        "temperature": 0.5,
        "seed": 7,
        "date_order": "DMY",
        "default_offset": "+02:00",
    }
    assert read(options=options).options == Options(**options)  # type: ignore[arg-type]
    assert read(options=None).options == Options()


def test_caching_and_safety_are_taken() -> None:
    read(prompt_cache_key="k", prompt_cache_options={"mode": "explicit", "ttl": "30m"})
    read(prompt_cache_key=None, prompt_cache_options=None, safety_identifier=None)
    part = {"type": "input_text", "text": "a", "prompt_cache_breakpoint": {"mode": "explicit"}}
    assert read(input=[{"role": "user", "content": [part]}]).context == "a"


def test_four_hundred_questions_are_taken() -> None:
    questions = [{"type": "predicate", "instructions": f"It is {n}."} for n in range(400)]
    call = read(questions=questions)
    assert call.schema is not None
    assert len(call.schema["properties"]) == 400


def test_the_largest_choice_and_score_are_taken() -> None:
    assert len(answers(choice(*map(str, range(255))))[0]["probabilities"]) == 255
    assert len(answers(score(*map(str, range(10))))[0]["probabilities"]) == 10


IMAGE = {"type": "input_image", "image_url": "data:image/png;base64,AA=="}


@pytest.mark.parametrize(
    ("members", "param", "code"),
    [
        ({"model": "gpt-5"}, "model", "invalid_value"),
        ({"model": 3}, "model", "invalid_type"),
        ({"input": 3}, "input", "invalid_type"),
        ({"input": []}, "input", "array_below_min_length"),
        ({"input": [{"role": "user", "content": [IMAGE]}]}, "input[0].content[0]", "invalid_value"),
        ({"input": "\ud800"}, "input", "invalid_value"),
        ({"questions": None}, "questions", "invalid_type"),
        ({"questions": []}, "questions", "array_below_min_length"),
        ({"questions": [PREDICATE] * 401}, "questions", "array_above_max_length"),
        ({"questions": [PREDICATE] * 2}, "questions[1].name", "invalid_value"),
        ({"questions": ["a"]}, "questions[0]", "invalid_type"),
        ({"questions": [{"instructions": "a"}]}, "questions[0].type", "missing_required_parameter"),
        ({"questions": [{"type": "noul"}]}, "questions[0].type", "invalid_value"),
        (
            {"questions": [{"type": "predicate"}]},
            "questions[0].instructions",
            "missing_required_parameter",
        ),
        (
            {"questions": [{**PREDICATE, "instructions": " "}]},
            "questions[0].instructions",
            "invalid_value",
        ),
        (
            {"questions": [{**PREDICATE, "instructions": [IMAGE]}]},
            "questions[0].instructions[0]",
            "invalid_value",
        ),
        ({"questions": [{**PREDICATE, "nmae": "a"}]}, "questions[0].nmae", "unknown_parameter"),
        ({"questions": [{**PREDICATE, "name": 3}]}, "questions[0].name", "invalid_type"),
        ({"questions": [choice("a")]}, "questions[0].choices", "array_below_min_length"),
        (
            {"questions": [choice(*map(str, range(256)))]},
            "questions[0].choices",
            "array_above_max_length",
        ),
        ({"questions": [choice("a", "a")]}, "questions[0].choices[1].value", "invalid_value"),
        ({"questions": [choice("a", 1)]}, "questions[0].choices[1].value", "invalid_type"),
        ({"questions": [score("a")]}, "questions[0].levels", "array_below_min_length"),
        ({"questions": [score(*"abcdefghijk")]}, "questions[0].levels", "array_above_max_length"),
        (
            {"questions": [{**score("a", "b"), "levels": [{"label": "a"}, {}]}]},
            "questions[0].levels[1].label",
            "missing_required_parameter",
        ),
        (
            {"questions": [{"type": "extract", "instructions": "a", "pattern": "("}]},
            "questions[0].pattern",
            "invalid_value",
        ),
        (
            {"questions": [{"type": "generate", "instructions": "a", "max_tokens": 0}]},
            "questions[0].max_tokens",
            "invalid_value",
        ),
        ({"options": {"temperature": 1}}, "options.seed", "invalid_value"),
        ({"options": {"beam": 1}}, "options.beam", "invalid_value"),
        ({"stream": True}, "stream", "unknown_parameter"),
        ({"prompt_cache_options": {"ttl": "1h"}}, "prompt_cache_options.ttl", "invalid_value"),
        ({"safety_identifier": 3}, "safety_identifier", "invalid_type"),
    ],
)
def test_what_is_not_in_order_names_its_parameter(
    members: dict[str, Any], param: str, code: str
) -> None:
    error = refusal(**members)
    assert (error["param"], error["code"]) == (param, code)


@pytest.mark.parametrize("name", ["model", "input", "questions"])
def test_what_is_missing_is_named(name: str) -> None:
    request = {"model": "deg-latest", "input": "a", "questions": [PREDICATE]}
    del request[name]
    with pytest.raises(ApiError) as caught:
        DECISIONS.read(json.dumps(request).encode(), NAMES)
    assert caught.value.body["error"]["param"] == name
    assert caught.value.body["error"]["code"] == "missing_required_parameter"


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff", b"[" * 100_000])
def test_what_is_no_request_is_refused(body: bytes) -> None:
    with pytest.raises(ApiError) as caught:
        DECISIONS.read(body, NAMES)
    assert (caught.value.status, caught.value.body["error"]["param"]) == (400, None)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, "authentication_error"),
        (413, "invalid_request_error"),
        (429, "rate_limit_error"),
        (503, "server_error"),
    ],
)
def test_errors_have_the_shape_of_that_api(status: int, kind: str) -> None:
    assert DECISIONS.error(status, "no", loc="/context", code="c") == {
        "error": {"message": "no", "type": kind, "param": "input", "code": "c"}
    }
