"""The numbers of a trace add up, and agree with what the response says of itself."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from deg_model import ArrayMode, Fork
from deg_runtime import Engine, Trace
from deg_runtime.cli import main

TEXT = "Ann paid 12.50 EUR, Bob 7 EUR. Both were late."
INNER = {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "boolean"}}
ROW = {
    "type": "object",
    "properties": {"who": {"type": ["string", "null"]}, "tags": INNER},
    "required": ["who", "tags"],
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "rows": {"type": "array", "minItems": 2, "maxItems": 3, "items": ROW},
        "late": {"type": "boolean"},
        "note": {"type": "string", "x-generate": True, "x-max-tokens": 7},
        "title": {"type": "string", "x-generate": True, "x-max-tokens": 7},
    },
    "required": ["rows", "late", "note", "title"],
}


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    return make_engine(arrays=ArrayMode("anchor"), cache_bytes=1 << 26)


def check_sums(trace: dict[str, Any], usage: dict[str, int]) -> None:
    asked = sum(each["tokens"] for each in trace["rounds"])
    assert trace["context_tokens"] + asked == usage["prompt_tokens"]
    assert trace["cached_tokens"] == usage.get("cached_tokens", 0)
    assert sum(each["rows"] for each in trace["writing"]) == 2
    assert sum(each["tokens"] for each in trace["writing"]) == usage["generated_tokens"]


def test_rounds_and_tokens_are_those_of_the_response(engine: Engine) -> None:
    for is_known in (False, True):
        trace = Trace()
        response = engine.fill(TEXT, SCHEMA, trace=trace)
        check_sums(trace.to_dict(), response["usage"])
        assert bool(trace.cached_tokens) == is_known


def test_each_nesting_is_a_round_of_all_that_is_asked_at_once(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer, asked = engine.model.answer, list[Fork]()

    def answering(forks: Sequence[Fork], contexts: Sequence[Any]) -> Any:
        asked.extend(forks)
        return answer(forks, contexts)

    monkeypatch.setattr(engine.model, "answer", answering)
    trace = Trace()
    response = engine.fill(TEXT, SCHEMA, trace=trace)
    num_rows = len(response["value"]["rows"])
    num_tags = sum(len(row["tags"]) for row in response["value"]["rows"])
    # where rows start and how many, and one field; a field and a count in each; a field in each
    assert [each.rows for each in trace.rounds] == [3, 2 * num_rows, num_tags]
    assert sum(each.rows for each in trace.rounds) == len(asked)
    assert sum(each.tokens for each in trace.rounds) == sum(len(fork.ids) for fork in asked)


def test_phases_take_no_longer_than_the_call_and_rounds_than_their_phase(engine: Engine) -> None:
    trace = Trace()
    began = time.perf_counter()
    engine.fill(TEXT, SCHEMA, trace=trace)
    milliseconds = (time.perf_counter() - began) * 1000
    assert list(trace.phases) == ["compile", "read", "ask", "write", "assemble"]
    assert 0 < sum(trace.phases.values()) <= milliseconds
    assert 0 < sum(each.milliseconds for each in trace.rounds) <= trace.phases["ask"]
    assert 0 < sum(each.milliseconds for each in trace.writing) <= trace.phases["write"]


def test_texts_go_on_from_the_document_where_the_model_writes_itself(engine: Engine) -> None:
    note = SCHEMA["properties"]["note"]
    alone = {"type": "object", "properties": {"note": note}, "required": ["note"]}
    trace = Trace()
    engine.fill(TEXT, alone, trace=trace)
    # nothing is known that would be read first
    assert trace.writing[0].context_tokens == 0 < trace.context_tokens
    engine.fill(TEXT, SCHEMA, trace=trace)
    assert trace.writing[1].context_tokens > 0


def test_a_trace_adds_up_over_requests_and_calls(engine: Engine) -> None:
    one, other, both = Trace(), Trace(), Trace()
    engine.fill(TEXT, SCHEMA, trace=one)
    engine.fill("Bob", SCHEMA, trace=other)
    engine.contexts.clear()
    engine.fill_many([(TEXT, SCHEMA), ("Bob", SCHEMA)], trace=both)
    assert both.num_requests == one.num_requests + other.num_requests == 2
    assert both.context_tokens == one.context_tokens + other.context_tokens
    for name in ("rows", "tokens"):
        each = [sum(getattr(r, name) for r in trace.rounds) for trace in (one, other, both)]
        assert each[2] == each[0] + each[1]
    engine.fill(TEXT, SCHEMA, trace=one)
    assert (one.num_requests, len(one.rounds), len(one.writing)) == (2, 6, 2)


def test_a_phase_that_fails_is_counted_too() -> None:
    trace = Trace()
    with pytest.raises(ValueError, match="no"), trace.phase("ask"):
        raise ValueError("no")
    assert trace.phases["ask"] > 0


def test_a_trace_is_json(engine: Engine) -> None:
    trace = Trace()
    engine.fill(TEXT, SCHEMA, trace=trace)
    told = json.loads(json.dumps(trace.to_dict()))
    assert told.keys() == Trace.__dataclass_fields__.keys()
    assert told["rounds"][0].keys() == {"rows", "tokens", "milliseconds"}
    names = {"rows", "steps", "tokens", "milliseconds", "context_tokens"}
    assert told["writing"][0].keys() == names


def test_the_command_prints_a_trace_that_adds_up(
    engine: Engine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document, schema = tmp_path / "text.txt", tmp_path / "schema.json"
    document.write_text(TEXT, encoding="utf-8")
    schema.write_text(json.dumps(SCHEMA), encoding="utf-8")
    command = ["fill", str(document), "--schema", str(schema), "--meta", "--trace"]
    assert main(command, load=lambda *_, **__: engine) == 0
    output = capsys.readouterr()
    response, trace = json.loads(output.out), json.loads(output.err)
    check_sums(trace, response["usage"])
    assert len(trace["rounds"]) == 3
    assert response["value"] == engine.fill(TEXT, SCHEMA)["value"]
