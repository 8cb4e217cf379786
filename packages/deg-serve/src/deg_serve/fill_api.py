"""`POST /v1/fill`: the request of the contract, and the engine's response as it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from deg_schema import Problem, RequestError, parse_request
from deg_serve.apis import Api, ApiError, Call, ModelNames

__all__ = ["FILL"]


class _FillApi:
    def read(self, body: bytes, names: ModelNames) -> Call:
        try:
            request = parse_request(body)
        except RequestError as error:
            raise _refused(error.problems) from None
        if not names.accepts(request.model):
            known = f"{names.latest}, {names.served}"
            message = f"{request.model!r} is not loaded here: use one of {known}"
            raise _refused([Problem("/model", message)])
        return Call(request.context, request.schema, request.options, _as_it_is)

    def error(
        self, status: int, message: str, *, loc: str = "", code: str | None = None
    ) -> dict[str, Any]:
        return {"detail": [{"loc": loc, "msg": message}]}


FILL: Api = _FillApi()
"""The API of the contract, section 9."""


def _refused(problems: Iterable[Problem]) -> ApiError:
    detail = [{"loc": problem.loc, "msg": problem.msg} for problem in problems]
    return ApiError(422, {"detail": detail})


def _as_it_is(response: Mapping[str, Any] | None) -> dict[str, Any]:
    assert response is not None
    return dict(response)
