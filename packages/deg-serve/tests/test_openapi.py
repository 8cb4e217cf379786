from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
import uvicorn
from hypothesis import settings
from jsonschema import Draft202012Validator
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from deg_runtime import Event, FieldDone, Filled
from deg_schema import (
    Decided,
    DegError,
    FieldPlan,
    FillError,
    Generated,
    Items,
    Missing,
    Options,
    Outcome,
    assemble,
    compile_schema,
)
from deg_serve import Keys, Settings, create_app
from deg_serve.openapi import document

WIRE = Path(__file__).parents[3] / "wire"
DOCUMENT = document("deg-stand-in")
SCHEMAS = DOCUMENT["components"]["schemas"]

REQUESTS = {
    "fill": "FillRequest",
    "decisions": "DecisionRequest",
    "systemone": "SystemOneRequest",
}
RESPONSES = {
    "fill": "FillResponse",
    "decisions": "DecisionResponse",
    "systemone": "SystemOneResponse",
    "models": "Models",
    "rejected": "Problems",
}


def wire(name: str) -> Any:
    return json.loads((WIRE / f"{name}.json").read_text())


def golden(kind: str) -> list[str]:
    return sorted(path.name.split(".")[0] for path in WIRE.glob(f"*.{kind}.json"))


def closed(schema: Any) -> Any:
    """Let no object have a member that is not written down."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    strict = {key: closed(value) for key, value in schema.items()}
    if isinstance(schema.get("properties"), dict) and schema.get("type") == "object":
        strict.setdefault("additionalProperties", False)
    return strict


CLOSED = {"$defs": closed(SCHEMAS)}


def validator(schema: Any) -> Draft202012Validator:
    text = json.dumps({**schema, **CLOSED}).replace("#/components/schemas/", "#/$defs/")
    strict = json.loads(text)
    Draft202012Validator.check_schema(strict)
    return Draft202012Validator(strict)


def media_types() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield each body that the document describes, with its place and its type."""
    for path, item in DOCUMENT["paths"].items():
        for operation in item.values():
            bodies = [operation.get("requestBody", {}), *operation["responses"].values()]
            for body in bodies:
                for name, media in body.get("content", {}).items():
                    yield path, name, media
    for place, response in DOCUMENT["components"]["responses"].items():
        for name, media in response["content"].items():
            yield place, name, media


EXAMPLES = [
    pytest.param(media, id=f"{place}-{number}")
    for number, (place, name, media) in enumerate(media_types())
    if "example" in media and name == "application/json"
]


def test_it_is_openapi() -> None:
    schemathesis.openapi.from_dict(DOCUMENT).validate()


def test_it_names_the_served_model() -> None:
    text = json.dumps(document("deg-other"))
    assert "{model_id}" not in text
    assert document("deg-other")["components"]["schemas"]["ModelId"]["const"] == "deg-other"


def test_every_reference_leads_somewhere() -> None:
    references = json.dumps(DOCUMENT).split('"$ref": "')[1:]
    for reference in references:
        node: Any = DOCUMENT
        for token in reference.split('"')[0].removeprefix("#/").split("/"):
            node = node[token]


def test_every_component_is_used() -> None:
    text = json.dumps(DOCUMENT)
    named_in_words = {"FieldEvent", "TextEvent"}
    for kind in ("schemas", "responses", "headers"):
        for name in DOCUMENT["components"][kind].keys() - named_in_words:
            assert f'"#/components/{kind}/{name}"' in text


@pytest.mark.parametrize("media", EXAMPLES)
def test_its_examples_are_of_their_schemas(media: dict[str, Any]) -> None:
    validator(media["schema"]).validate(media["example"])


@pytest.mark.parametrize("name", [name for name in golden("request") if name != "rejected"])
def test_golden_requests_are_of_their_schemas(name: str) -> None:
    validator(SCHEMAS[REQUESTS[name]]).validate(wire(f"{name}.request"))


@pytest.mark.parametrize("name", golden("response"))
def test_golden_responses_are_of_their_schemas(name: str) -> None:
    validator(SCHEMAS[RESPONSES[name]]).validate(wire(f"{name}.response"))


def test_a_rejected_request_is_not_of_its_schema() -> None:
    assert not validator(SCHEMAS["FillRequest"]).is_valid(wire("rejected.request"))


def test_every_status_of_an_api_has_its_shape_of_error() -> None:
    shapes = {"fill": "Problems", "decisions": "DecisionError", "systemone": "SystemOneError"}
    for api, shape in shapes.items():
        responses = DOCUMENT["paths"][f"/v1/{api}"]["post"]["responses"]
        for status in responses.keys() - {"200"}:
            name = responses[status]["$ref"].rpartition("/")[2]
            (media,) = DOCUMENT["components"]["responses"][name]["content"].values()
            assert media["schema"] == {"$ref": f"#/components/schemas/{shape}"}, (api, status)


class StandIn:
    """Answers every question with what its field admits, and knows no document."""

    model_id = "deg-stand-in"

    def fill_many(
        self, requests: Sequence[tuple[str, Mapping[str, Any], Options]]
    ) -> list[dict[str, Any] | DegError]:
        return [self.fill(schema) for _, schema, _ in requests]

    def stream(
        self, context: str, schema: Mapping[str, Any], *, options: Options
    ) -> Iterator[Event]:
        response = self.fill(schema)
        for pointer, meta in response["meta"].items():
            yield FieldDone(pointer, meta)
        yield Filled(response)

    def fill(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        plan = compile_schema(schema)
        outcomes: dict[str, Outcome] = {
            field.pointer: outcome_of(field) for field in plan.fields if not field.item_steps
        }
        outcomes |= {array.pointer: Items(0) for array in plan.arrays if not array.item_steps}
        try:
            # a text that is written here may be none that the schema admits
            return assemble(
                plan, {"type": "object"}, outcomes, model=self.model_id, prompt_tokens=61
            )
        except FillError:
            # a required value that is in no document is the one thing that a caller causes a 500 by
            return assemble(
                compile_schema(NOTHING_REQUIRED),
                NOTHING_REQUIRED,
                {"/there": Decided((0.5, 0.5))},
                model=self.model_id,
                prompt_tokens=61,
            )


NOTHING_REQUIRED = {"type": "object", "properties": {"there": {"type": "boolean"}}}


def outcome_of(field: FieldPlan) -> Outcome:
    if field.num_outcomes:
        return Decided((1 / field.num_outcomes,) * field.num_outcomes)
    return Generated("text", 1) if field.mode == "generate" else Missing("not_found", 0.5)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    app = create_app(StandIn())
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="on"))
    listener = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    thread.join()


CHECKS = [
    schemathesis.checks.not_a_server_error,
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
]


def test_the_server_hands_it_out(url: str) -> None:
    assert httpx.get(f"{url}/openapi.json", trust_env=False).json() == DOCUMENT


@schemathesis.openapi.from_dict(DOCUMENT).parametrize()
@settings(max_examples=20, deadline=None, derandomize=True, database=None)
def test_no_request_gets_what_the_document_does_not_say(
    case: schemathesis.Case[Any], url: str
) -> None:
    case.call_and_validate(base_url=url, checks=CHECKS)


def test_the_events_of_a_stream_are_of_their_schemas(engine: Any, serve: Any) -> None:
    schemas = {"field": "FieldEvent", "text": "TextEvent", "response": "FillResponse"}
    with serve(engine) as served:
        response = served.fill(headers={"accept": "text/event-stream"})
    seen = set()
    for block in response.text.removesuffix("\n\n").split("\n\n"):
        event, data = block.removeprefix("event: ").split("\ndata: ")
        validator(SCHEMAS[schemas[event]]).validate(json.loads(data))
        seen.add(event)
    assert seen == schemas.keys()


KEY = {"authorization": "Bearer key", "content-type": "application/json"}


@pytest.mark.parametrize("api", ["fill", "decisions", "systemone"])
@pytest.mark.parametrize(
    ("status", "headers", "content"),
    [
        (401, {}, b"{}"),
        (401, {"authorization": "Bearer other"}, b"{}"),
        (415, KEY | {"content-type": "text/plain"}, b"{}"),
        (413, KEY, b" " * 2000),
        (400, KEY | {"content-encoding": "gzip"}, b"{}"),
        (429, KEY, b"{}"),
    ],
)
def test_what_is_refused_unread_is_as_the_document_says(
    engine: Any, serve: Any, api: str, status: int, headers: dict[str, str], content: bytes
) -> None:
    if (api, status, headers) == ("systemone", 401, {}):
        status = 403
    settings = Settings(max_body=1000, max_pending=0 if status == 429 else 8)
    with serve(engine, settings, keys=Keys(["key"])) as served:
        response = served.http.post(f"/v1/{api}", headers=headers, content=content)
    assert response.status_code == status
    reference = DOCUMENT["paths"][f"/v1/{api}"]["post"]["responses"][str(status)]["$ref"]
    described = DOCUMENT["components"]["responses"][reference.rpartition("/")[2]]
    validator(described["content"]["application/json"]["schema"]).validate(response.json())
    assert described["headers"].keys() <= response.headers.keys()
