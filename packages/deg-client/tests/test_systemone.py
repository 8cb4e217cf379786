from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from clients import AnyClient
from deg_client import systemone
from loopback import Loopback, reply

WIRE = Path(__file__).parents[3] / "wire"

Connect = Callable[..., AnyClient]


def answered(**answers: dict[str, Any]) -> Any:
    usage = {"input_tokens": 40, "output_tokens": 0}
    return {"model": "deg-test", "answers": answers, "usage": usage}


def wire(name: str) -> Any:
    return json.loads((WIRE / f"{name}.json").read_text())


def test_the_golden_request_is_sent_and_its_answer_read(server: Loopback, connect: Connect) -> None:
    golden = wire("systemone.request")
    server.replies = [reply(wire("systemone.response"))]
    response = connect(server).systemone(
        golden["state"], golden["questions"], model=golden["model"], **golden["options"]
    )
    assert server.seen[0].json == golden
    assert response.answers["charged twice?"] == systemone.Noul(0.9375)
    assert response.answers["order"] == systemone.Extract(
        value=4471, span=(46, 50), confidence=0.875
    )
    assert response.usage.input_tokens == 180


def test_answers_are_typed_and_stand_under_their_ids(server: Loopback, connect: Connect) -> None:
    server.replies = [
        reply(
            answered(
                dup={"type": "noul", "noul": 0.9},
                team={
                    "type": "choice",
                    "choice": "billing",
                    "confidence": 0.6,
                    "probabilities": {"billing": 0.8, "tech": 0.2},
                },
                urgency={
                    "type": "score",
                    "score": 0.25,
                    "confidence": 0.5,
                    "legend": {"0": "can wait", "1": {"say": "today"}},
                    "probabilities": {"0": 0.75, "1": 0.25},
                },
                order={"type": "extract", "value": "A-17", "span": [0, 4], "confidence": 0.5},
                reply={"type": "generate", "text": "Sorry.", "output_tokens": 3},
            )
        )
    ]
    response = connect(server).systemone({"message": "twice"}, {"dup": {"type": "noul"}})
    assert response.answers == {
        "dup": systemone.Noul(0.9),
        "team": systemone.Choice("billing", 0.6, {"billing": 0.8, "tech": 0.2}),
        "urgency": systemone.Score(
            0.25, 0.5, {"0": "can wait", "1": {"say": "today"}}, {"0": 0.75, "1": 0.25}
        ),
        "order": systemone.Extract(value="A-17", span=(0, 4), confidence=0.5),
        "reply": systemone.Generate("Sorry.", 3),
    }
    assert response.request_id == server.seen[0].headers["x-request-id"]


def test_what_is_asked_is_sent(server: Loopback, connect: Connect) -> None:
    server.replies = [reply(answered())]
    questions = {"dup": {"type": "noul", "instructions": "Was it twice?"}}
    connect(server).systemone({"message": "twice"}, questions)
    assert server.seen[0].path == "/v1/systemone"
    assert server.seen[0].json == {
        "state": {"message": "twice"},
        "questions": questions,
        "model": "deg-latest",
    }
