from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from clients import AnyClient
from deg_client import decisions
from loopback import Loopback, reply

WIRE = Path(__file__).parents[3] / "wire"
USAGE = {
    "input_tokens": 40,
    "input_tokens_details": {"cached_tokens": 16, "cache_write_tokens": 24},
    "output_tokens": 3,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 43,
}

Connect = Callable[..., AnyClient]


def answered(*answers: dict[str, Any]) -> Any:
    return {"model": "deg-test", "answers": answers, "usage": USAGE}


def wire(name: str) -> Any:
    return json.loads((WIRE / f"{name}.json").read_text())


def test_the_golden_request_is_sent_and_its_answer_read(server: Loopback, connect: Connect) -> None:
    golden = wire("decisions.request")
    server.replies = [reply(wire("decisions.response"))]
    response = connect(server).decisions(
        golden["input"], golden["questions"], model=golden["model"], **golden["options"]
    )
    assert server.seen[0].json == golden
    assert response.answers[3:] == (
        decisions.Extract(name="order", value=4471, span=(118, 122), confidence=0.875),
        decisions.Generate(
            name="reply", text="We refund the second charge today.", output_tokens=8
        ),
    )
    assert response.usage.total_tokens == 188


def test_decisions_are_typed(server: Loopback, connect: Connect) -> None:
    options = [{"value": "billing", "probability": 0.8}, {"value": True, "probability": 0.2}]
    levels = [{"value": 0, "label": "can wait", "probability": 1.0}]
    server.replies = [
        reply(
            answered(
                {"type": "predicate", "name": "dup", "probability": 0.9},
                {
                    "type": "choice",
                    "name": None,
                    "choice": "billing",
                    "confidence": 0.6,
                    "probabilities": options,
                },
                {
                    "type": "score",
                    "name": "urgency",
                    "score": 0.0,
                    "confidence": 1,
                    "probabilities": levels,
                },
                {"type": "refusal", "name": None},
            )
        )
    ]
    response = connect(server).decisions("I was charged twice.", [{"type": "predicate"}])
    assert response.answers == (
        decisions.Predicate(0.9, "dup"),
        decisions.Choice(
            "billing", 0.6, (decisions.Option("billing", 0.8), decisions.Option(True, 0.2))
        ),
        decisions.Score(0.0, 1.0, (decisions.Level(0, "can wait", 1.0),), "urgency"),
        decisions.Refusal(),
    )
    assert response.usage.input_tokens_details.cached_tokens == 16
    assert response.request_id == server.seen[0].headers["x-request-id"]


def test_the_extensions_are_typed(server: Loopback, connect: Connect) -> None:
    missing = {"value": None, "span": None, "confidence": 0.5, "null_reason": "not_found"}
    server.replies = [
        reply(
            answered(
                {"type": "extract", "name": "due", **missing},
                {"type": "generate", "name": "reply", "text": "Sorry.", "output_tokens": 3},
            )
        )
    ]
    response = connect(server).decisions("I was charged twice.", [{"type": "extract"}])
    assert response.answers == (
        decisions.Extract(name="due", value=None, confidence=0.5, null_reason="not_found"),
        decisions.Generate(name="reply", text="Sorry.", output_tokens=3),
    )


def test_what_is_asked_is_sent(server: Loopback, connect: Connect) -> None:
    server.replies = [reply(answered())]
    given = [{"role": "user", "content": "I was charged twice."}]
    questions = [{"type": "predicate", "instructions": "Was it twice?"}]
    connect(server).decisions(given, questions, date_order="DMY")
    connect(server).decisions(given, questions, model="deg-test")
    assert server.seen[0].path == "/v1/decisions"
    assert server.seen[0].json == {
        "input": given,
        "questions": questions,
        "model": "deg-latest",
        "options": {"date_order": "DMY"},
    }
    assert server.seen[1].json["model"] == "deg-test"
