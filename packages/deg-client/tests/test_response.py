from __future__ import annotations

from pathlib import Path

import msgspec

from deg_client import FieldMeta, Response

GOLDEN = Path(__file__).parents[3] / "wire" / "fill.response.json"


def test_a_response_of_a_server_is_read_whole() -> None:
    response = msgspec.json.decode(GOLDEN.read_bytes(), type=Response)
    assert response.value["order_number"] == "A-1047"
    assert response.meta["/order_number"].span == (6, 12)
    assert response.meta["/anger"].probabilities == (0.25, 0.5, 0.25)
    assert response.meta["/invoice_number"].null_reason == "not_found"
    assert response.usage.generated_tokens == 0


def test_the_detail_of_a_missing_value_is_read() -> None:
    meta = {"mode": "extract.date", "null_reason": "unparsable", "null_detail": "ambiguous_date"}
    assert msgspec.convert(meta, FieldMeta).null_detail == "ambiguous_date"


def test_a_newer_server_may_say_more() -> None:
    newer = {**msgspec.json.decode(GOLDEN.read_bytes()), "extra": {"new": 1}}
    assert msgspec.convert(newer, Response).model == "deg-stand-in"
