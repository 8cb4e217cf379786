"""`POST /v1/decisions`: the Decisions API of OpenAI, as translation alone.

Besides what that API has, a question may be an `extract` or a `generate`, and `options` are those
of a fill. What is not known at the top of a request or in a question is refused, for it would
change the answer; what is not known in an item of the input is passed over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from deg_schema import Options, RequestError, parse_options
from deg_serve.apis import Api, ApiError, Call, ModelNames
from deg_serve.asking import Response, schema_of
from deg_serve.decision_input import render_input
from deg_serve.decision_questions import DecisionQuestion, read_questions
from deg_serve.faults import (
    Fault,
    Kind,
    Path,
    check_members,
    mapping_at,
    member,
    shown,
    text_at,
    text_or_null,
)
from deg_serve.json_body import load_object

__all__ = ["DECISIONS"]

_MODEL_NAMES = ("gpt-6-luna",)
_MEMBERS = (
    "model",
    "input",
    "questions",
    "prompt_cache_key",
    "prompt_cache_options",
    "safety_identifier",
    "options",
)
_TYPES: dict[int, str] = {
    401: "authentication_error",
    403: "permission_error",
    429: "rate_limit_error",
}
_CODES: dict[Kind, str] = {
    "missing": "missing_required_parameter",
    "type": "invalid_type",
    "value": "invalid_value",
    "unknown": "unknown_parameter",
    "too_many": "array_above_max_length",
    "too_few": "array_below_min_length",
    "json": "invalid_json",
}


class _DecisionsApi:
    def read(self, body: bytes, names: ModelNames) -> Call:
        try:
            return _read(load_object(body), names)
        except Fault as fault:
            param = _param(fault.path) or None
            error = self._body(fault.message, "invalid_request_error", param, _CODES[fault.kind])
        raise ApiError(400, error)

    def error(
        self, status: int, message: str, *, loc: str = "", code: str | None = None
    ) -> dict[str, Any]:
        kind = "server_error" if status >= 500 else _TYPES.get(status, "invalid_request_error")
        return self._body(message, kind, "input" if loc == "/context" else None, code)

    def _body(self, message: str, kind: str, param: str | None, code: str | None) -> dict[str, Any]:
        return {"error": {"message": message, "type": kind, "param": param, "code": code}}


DECISIONS: Api = _DecisionsApi()
"""The API that the `decisions` of the OpenAI clients speak."""


def _read(request: Mapping[str, Any], names: ModelNames) -> Call:
    check_members(request, _MEMBERS)
    model = text_at(request, "model")
    if not names.accepts(model, _MODEL_NAMES):
        known = ", ".join((names.latest, names.served, *_MODEL_NAMES))
        raise Fault(("model",), f"the model {shown(model)} is not served here: use one of {known}")
    _check_caching(request)
    given = member(request, "input")
    try:
        context = render_input(given)
    except Fault as fault:
        raise fault.within(("input",)) from None
    questions = read_questions(member(request, "questions"))
    try:
        schema = schema_of(question.field for question in questions)
    except Fault as fault:
        raise fault.within(("questions",)) from None
    options = _options(request.get("options"))
    return Call(context, schema, options, partial(_answer, questions, names.served))


def _check_caching(request: Mapping[str, Any]) -> None:
    text_or_null(request, "prompt_cache_key")
    text_or_null(request, "safety_identifier")
    caching = request.get("prompt_cache_options")
    if caching is not None:
        path = ("prompt_cache_options",)
        caching = mapping_at(caching, path, "'prompt_cache_options'")
        text_or_null(caching, "mode", path, among=("implicit", "explicit"))
        text_or_null(caching, "ttl", path, among=("30m",))


def _options(options: Any) -> Options:
    try:
        return parse_options({} if options is None else options)
    except RequestError as error:
        problem = error.problems[0]
        path: Path = ("options", *filter(None, problem.loc.split("/")))
        raise Fault(path, problem.msg) from None


def _answer(
    questions: Sequence[DecisionQuestion], model: str, response: Response
) -> dict[str, Any]:
    usage = response["usage"] if response is not None else {}
    read, written = usage.get("prompt_tokens", 0), usage.get("generated_tokens", 0)
    return {
        "model": model,
        "answers": [question.answer(response) for question in questions],
        "usage": {
            "input_tokens": read,
            # what is kept of a document is kept at no cost, so that no write is to be told
            "input_tokens_details": {
                "cached_tokens": usage.get("cached_tokens", 0),
                "cache_write_tokens": 0,
            },
            "output_tokens": written,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": read + written,
        },
    }


def _param(path: Path) -> str:
    """Spell a place as that API does: `input[0].content[1]`."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).removeprefix(".")
