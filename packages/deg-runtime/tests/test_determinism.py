"""One question, one answer: the same bits whatever stands around it, on every family."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch import Tensor

from deg_model import ArrayMode, ContextState, Fork, SpanScores
from deg_runtime import Contexts, DegError, Engine

ROW = {
    "who": {"type": "string"},
    "paid": {"type": ["number", "null"]},
    "late": {"type": "boolean"},
    "tags": {"type": "array", "maxItems": 2, "items": {"type": "string"}},
}
PROPERTIES: dict[str, Any] = {
    "total": {"type": "number"},
    "due": {"type": "string", "format": "date"},
    "name": {"type": ["string", "null"], "minLength": 2},
    "kind": {"enum": ["bill", "letter", None]},
    "anger": {"type": "integer", "minimum": 0, "maximum": 3},
    "rows": {
        "type": "array",
        "minItems": 1,
        "maxItems": 2,
        "items": {"type": "object", "properties": ROW, "required": ["who"]},
    },
    "flags": {"type": "array", "maxItems": 2, "items": {"enum": ["new", "old"]}},
}
DOCUMENT = "Ann paid 12.50 EUR on 3 May 2026, Bob 7 EUR. Both were late."
SHORT = ("Ann", "on 4 May 2026 or so", "7", "", "Bob owes 3 EUR. Ann owes 4 EUR.")

Raw = dict[tuple[Any, ...], tuple[Tensor, ...]]


@pytest.fixture(
    scope="module",
    params=[
        (family, dtype)
        for family in ("llama", "qwen3.5", "lfm2")
        for dtype in (torch.float32, torch.bfloat16)
    ],
    ids=lambda pair: f"{pair[0]}-{str(pair[1]).removeprefix('torch.')}",
)
def any_engine(request: pytest.FixtureRequest, make_engine: Callable[..., Engine]) -> Engine:
    family, dtype = request.param
    return make_engine(family=family, dtype=dtype, arrays=ArrayMode("anchor"), anchor_bias=-4.0)


@pytest.fixture
def raw_of(
    any_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Sequence[Any]], tuple[list[str], Raw]]:
    """Return what each request is answered, as bytes, and what the heads said to each question."""
    answer, said = any_engine.model.answer, Raw()

    def recording(forks: Sequence[Fork], contexts: Sequence[ContextState]) -> Any:
        answers = answer(forks, contexts)
        for fork, context, one in zip(forks, contexts, answers, strict=True):
            said[context.encoded.ids, fork] = _tensors(one)
        return answers

    def fill(requests: Sequence[Any]) -> tuple[list[str], Raw]:
        said.clear()
        responses = any_engine.fill_many(requests)
        assert not any(isinstance(response, DegError) for response in responses)
        return [json.dumps(response) for response in responses], Raw(said)

    monkeypatch.setattr(any_engine.model, "answer", recording)
    return fill


def _tensors(answer: Tensor | SpanScores) -> tuple[Tensor, ...]:
    if isinstance(answer, Tensor):
        return (answer,)
    starts = range(min(4, len(answer.log_start)))
    return answer.log_start, torch.tensor(answer.log_null), answer.log_end(starts)


def check_same(mine: Raw, whole: Raw) -> None:
    """Every question that was asked in *mine* was asked in *whole* and answered with its bits."""
    assert mine
    assert mine.keys() <= whole.keys()
    for question, tensors in mine.items():
        for one, other in zip(tensors, whole[question], strict=True):
            assert torch.equal(one, other)


def asking(*names: str, shuffled: random.Random | None = None) -> tuple[str, dict[str, Any]]:
    properties = {name: PROPERTIES[name] for name in names or PROPERTIES}
    if shuffled:
        row = dict(shuffled.sample(sorted(ROW.items()), len(ROW)))
        rows = properties["rows"] | {"items": properties["rows"]["items"] | {"properties": row}}
        properties |= {"rows": rows}
        properties = dict(shuffled.sample(sorted(properties.items()), len(properties)))
    return DOCUMENT, {"type": "object", "properties": properties}


def found(response: str) -> dict[str, str]:
    """Return what a response says of each property of the root, in bytes that can be compared."""
    parsed = json.loads(response)
    said: dict[str, Any] = {}
    for pointer, meta in parsed["meta"].items():
        said.setdefault(pointer.split("/")[1], {})[pointer] = meta
    return {
        name: json.dumps([parsed["value"].get(name, "left out"), metas], sort_keys=True)
        for name, metas in said.items()
    }


def test_ten_repeats(any_engine: Engine, raw_of: Any) -> None:
    responses, raw = raw_of([asking()])
    assert '"/rows/0/who"' in responses[0]
    for _ in range(9):
        again, said = raw_of([asking()])
        assert again == responses
        check_same(said, raw)


def test_five_orders_of_the_properties(raw_of: Any) -> None:
    (response,), raw = raw_of([asking()])
    for seed in range(5):
        (shuffled,), said = raw_of([asking(shuffled=random.Random(seed))])
        assert found(shuffled) == found(response)
        check_same(said, raw)


def test_a_schema_split_in_two_and_one_property_at_a_time(raw_of: Any) -> None:
    (response,), raw = raw_of([asking()])
    names = list(PROPERTIES)
    for parts in ([names[:3], names[3:]], [[name] for name in names]):
        split: dict[str, str] = {}
        for part in parts:
            (one,), said = raw_of([asking(*part)])
            split |= found(one)
            check_same(said, raw)
        assert split == found(response)


@pytest.mark.parametrize("num_others", [1, 5, 63])
def test_alone_and_among_others(raw_of: Any, num_others: int) -> None:
    (response,), raw = raw_of([asking()])
    draw = random.Random(num_others)
    others = [(draw.choice(SHORT), asking(draw.choice(list(PROPERTIES)[:5]))[1]) for _ in range(63)]
    place = draw.randrange(num_others + 1)
    requests = others[:num_others]
    together, said = raw_of([*requests[:place], asking(), *requests[place:]])
    assert together[place] == response
    check_same(raw, said)


def test_one_thread_and_two(raw_of: Any) -> None:
    responses, raw = raw_of([asking()])
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        again, said = raw_of([asking()])
    finally:
        torch.set_num_threads(threads)
    assert again == responses
    check_same(said, raw)


@pytest.fixture
def remembering(any_engine: Engine) -> Engine:
    return Engine(any_engine.model, Contexts(any_engine.model))


def test_a_context_that_was_kept(any_engine: Engine, remembering: Engine, raw_of: Any) -> None:
    longer = f"{DOCUMENT} {DOCUMENT} {DOCUMENT}"
    for context in (DOCUMENT, longer, DOCUMENT):
        (response,), _ = raw_of([(context, asking()[1])])
        first = remembering.fill(context, asking()[1])
        first["usage"].pop("cached_tokens", None)
        assert json.dumps(first) == response
    usage = remembering.fill(DOCUMENT, asking()[1])["usage"]
    assert usage["cached_tokens"] == len(any_engine.model.encode(DOCUMENT).ids)


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_options_changes_no_bit(any_engine: Engine, seed: int) -> None:
    kinds = ["bill", "letter", "reminder of a bill", 3, 12, False, None]
    sorts = ["x", "y", "z"]

    def filled(kinds: list[Any], sorts: list[str]) -> dict[str, Any]:
        described = [{"const": name, "description": f"a {name}"} for name in sorts]
        properties = {"kind": {"enum": kinds}, "sort": {"oneOf": described}}
        response = any_engine.fill(DOCUMENT, {"type": "object", "properties": properties})
        metas = response["meta"]
        for pointer, options in (("/kind", kinds), ("/sort", sorts)):
            # each number with its option
            numbers = metas[pointer]["probabilities"]
            metas[pointer]["probabilities"] = dict(
                zip(map(json.dumps, options), numbers, strict=True)
            )
        return {"value": response["value"], "meta": metas}

    rng = random.Random(seed)
    turned = filled(rng.sample(kinds, len(kinds)), rng.sample(sorts, len(sorts)))
    assert turned == filled(kinds, sorts)
