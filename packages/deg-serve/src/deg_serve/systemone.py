"""`POST /v1/systemone`: the System One API of TypeSafe, as translation alone.

Besides what that API has, a question may be an `extract` or a `generate`, and `options` are those
of a fill. Members that are not known are passed over, in a request as in a question. A request
that is not in order is answered with every fault, as 422, even where the hosted service says 400
with one text: too many options and a type of question that is not known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from deg_schema import Options, RequestError, parse_options
from deg_serve.apis import Api, ApiError, Call, ModelNames
from deg_serve.asking import Response, schema_of
from deg_serve.faults import NOTHING, Fault, Kind, Path, mapping_at, member, shown, text_at
from deg_serve.json_body import dump, load_object
from deg_serve.systemone_questions import NotServed, SystemOneQuestion, read_question

__all__ = ["SYSTEMONE"]

T = TypeVar("T")

_MODEL_NAMES = ("jev-latest", "jev-preview", "clef-flash")
_ERROR_TYPES = {
    401: "authentication_error",
    403: "authentication_error",
    429: "rate_limit_error",
    503: "service_unavailable_error",
}
_KINDS: dict[Kind, str] = {
    "missing": "missing",
    "type": "type_error",
    "value": "value_error",
    "unknown": "extra_forbidden",
    "too_many": "too_long",
    "too_few": "too_short",
    "json": "json_invalid",
}
_MAX_ECHO = 1000


class _SystemOneApi:
    def read(self, body: bytes, names: ModelNames) -> Call:
        try:
            return _read(load_object(body), names)
        except Fault as fault:
            raise _invalid([fault]) from None
        except NotServed as error:
            raise ApiError(400, self.error(400, str(error))) from None

    def error(
        self, status: int, message: str, *, loc: str = "", code: str | None = None
    ) -> dict[str, Any]:
        kind = "server_error" if status >= 500 else "api_usage_error"
        return {"detail": {"error_type": _ERROR_TYPES.get(status, kind), "message": message}}


SYSTEMONE: Api = _SystemOneApi()
"""The API that the TypeSafe clients speak."""


def _read(request: Mapping[str, Any], names: ModelNames) -> Call:
    faults: list[Fault] = []
    model = _try(faults, lambda: text_at(request, "model"))
    context = _try(faults, lambda: _state(request))
    questions = _questions(request, faults)
    options = _try(faults, lambda: _options(request.get("options")))
    schema = _try(faults, lambda: _schema(questions)) if not faults else None
    if faults or model is None or context is None or options is None:
        raise _invalid(faults)
    if not names.accepts(model, _MODEL_NAMES):
        raise NotServed(f"Unknown model: {shown(model)[1:-1]}")
    if request.get("assets") is not None:
        raise NotServed("This model reads text only: send no assets.")
    return Call(context, schema, options, partial(_answer, questions, names.served))


def _try(faults: list[Fault], read: Callable[[], T]) -> T | None:
    try:
        return read()
    except Fault as fault:
        faults.append(fault)
        return None


def _state(request: Mapping[str, Any]) -> str:
    state = member(request, "state")
    if not isinstance(state, (str, Mapping, list)):
        message = f"'state' must be a string, an object or an array, not {shown(state)}"
        raise Fault(("state",), message, "type", found=state)
    return state if isinstance(state, str) else dump(state)


def _questions(request: Mapping[str, Any], faults: list[Fault]) -> dict[str, SystemOneQuestion]:
    path = ("questions",)
    asked = _try(faults, lambda: mapping_at(member(request, "questions"), path, "'questions'"))
    if asked is not None and not asked:
        faults.append(Fault(path, "'questions' must have at least 1 question", "too_few"))
    questions: dict[str, SystemOneQuestion] = {}
    for name, question in (asked or {}).items():
        try:
            questions[name] = read_question(question)
        except Fault as fault:
            faults.append(fault.within((*path, name)))
    return questions


def _schema(questions: Mapping[str, SystemOneQuestion]) -> dict[str, Any] | None:
    try:
        return schema_of([question.field for question in questions.values()])
    except Fault as fault:
        number, *part = fault.path or (None,)
        name = list(questions)[number] if isinstance(number, int) else None
        path = () if name is None else (name, *part)
        raise Fault(("questions", *path), fault.message, fault.kind) from None


def _options(options: Any) -> Options:
    try:
        return parse_options({} if options is None else options)
    except RequestError as error:
        problem = error.problems[0]
        path: Path = ("options", *filter(None, problem.loc.split("/")))
        raise Fault(path, problem.msg) from None


def _answer(
    questions: Mapping[str, SystemOneQuestion], model: str, response: Response
) -> dict[str, Any]:
    usage = response["usage"] if response is not None else {}
    return {
        "model": model,
        "answers": {name: question.answer(response) for name, question in questions.items()},
        "usage": {
            "input_tokens": usage.get("prompt_tokens", 0),
            "output_tokens": usage.get("generated_tokens", 0),
        },
    }


def _invalid(faults: Sequence[Fault]) -> ApiError:
    return ApiError(422, {"detail": [_detail(fault) for fault in faults]})


def _detail(fault: Fault) -> dict[str, Any]:
    detail = {"type": _KINDS[fault.kind], "loc": ["body", *fault.path], "msg": fault.message}
    # a whole document is not to come back with every fault in it
    is_shown = fault.found is not NOTHING and len(dump(fault.found)) <= _MAX_ECHO
    return {**detail, "input": fault.found} if is_shown else detail
