from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from deg_client import FieldMeta, Filled

GOLDEN = Path(__file__).parents[3] / "wire" / "fill.response.json"


def golden() -> Filled[dict[str, Any]]:
    return msgspec.json.decode(GOLDEN.read_bytes(), type=Filled[dict[str, Any]])


def test_a_response_of_a_server_is_read_whole() -> None:
    response = golden()
    assert response.value["order_number"] == "A-1047"
    assert response.meta["/order_number"].span == (6, 12)
    assert response.meta["/anger"].probabilities == (0.25, 0.5, 0.25)
    assert response.meta["/invoice_number"].null_reason == "not_found"
    assert response.usage.generated_tokens == 0


def test_the_meta_of_a_field_is_found_by_its_names() -> None:
    meta = {"/lines/0/a~1b": FieldMeta(mode="extract.span")}
    response = msgspec.structs.replace(golden(), meta=meta)
    assert response.at("lines", 0, "a/b").mode == "extract.span"
    with pytest.raises(KeyError):
        response.at("lines", 1, "a/b")


def test_every_word_of_meta_is_read() -> None:
    said = {"mode": "array", "items": 2, "dropped": 1, "limit": "maxItems", "null_detail": "x"}
    meta = msgspec.convert(said, FieldMeta)
    assert (meta.items, meta.dropped, meta.limit, meta.null_detail) == (2, 1, "maxItems", "x")


def test_a_newer_server_may_say_more() -> None:
    newer = {**msgspec.json.decode(GOLDEN.read_bytes()), "extra": {"new": 1}}
    assert msgspec.convert(newer, Filled[dict[str, Any]]).model == "deg-stand-in"
