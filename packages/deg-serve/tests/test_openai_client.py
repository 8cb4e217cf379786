"""The OpenAI client as it is published, against a running server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import httpx
import openai
import pytest
from openai import AsyncOpenAI, OpenAI

from deg_serve import Keys
from oracle import Oracle

QUESTIONS: list[Any] = [
    {"type": "predicate", "name": "twice", "instructions": "The customer was charged twice."},
    {
        "type": "choice",
        "name": "team",
        "instructions": [
            {"type": "input_text", "text": "Which team?"},
            {"type": "input_json", "data": {"shop": "one"}},
        ],
        "choices": [{"value": "billing", "description": "charged twice"}, {"value": False}],
    },
    {
        "type": "score",
        "instructions": "How urgent?",
        "levels": [{"label": "no"}, {"label": "today"}],
    },
]
CONVERSATION: list[Any] = [
    {"role": "system", "content": "Answer in a day."},
    {"role": "developer", "content": [{"type": "input_text", "text": "Refunds take 30 days."}]},
    {
        "type": "message",
        "role": "user",
        "content": [
            {
                "type": "input_text",
                "text": "I was charged twice.",
                "prompt_cache_breakpoint": {"mode": "explicit"},
            },
            {"type": "input_json", "data": [{"order": 4471}]},
        ],
    },
    {"type": "function_call", "call_id": "a", "name": "look_up", "arguments": "{}", "id": "fc_1"},
    {"type": "function_call_output", "call_id": "a", "output": "2 charges", "status": "completed"},
    {"type": "custom_tool_call", "call_id": "b", "name": "run", "input": "ls", "namespace": "shop"},
    {
        "type": "custom_tool_call_output",
        "call_id": "b",
        "output": [{"type": "input_text", "text": "a file"}],
    },
    {
        "role": "assistant",
        "phase": "final_answer",
        "content": [
            {"type": "output_text", "text": "I see both."},
            {"type": "refusal", "refusal": "I cannot refund."},
        ],
    },
]


@pytest.fixture
def oracle() -> Oracle:
    return Oracle()


@pytest.fixture
def url(serve: Any, oracle: Oracle) -> Iterator[str]:
    with serve(oracle) as served:
        yield f"{served.url}/v1"


@pytest.fixture
def client(url: str) -> Iterator[OpenAI]:
    transport = httpx.Client(trust_env=False)
    with OpenAI(base_url=url, api_key="local", max_retries=0, http_client=transport) as client:
        yield client


def create(client: OpenAI, **how: Any) -> Any:
    return client.decisions.create(
        **{"model": "gpt-6-luna", "input": "I was charged twice.", "questions": QUESTIONS, **how}
    )


def test_every_answer_is_read(client: OpenAI) -> None:
    decision = create(client)
    twice, team, urgent = decision.answers
    assert (twice.type, twice.name, twice.probability) == ("predicate", "twice", 4 / 7)
    assert (team.choice, team.probabilities[1].value) == ("billing", False)
    assert urgent.probabilities[1].label == "today"
    assert urgent.name is None
    assert decision.model == "deg-stand-in"
    assert decision.usage.total_tokens == decision.usage.input_tokens > 0
    assert decision.usage.input_tokens_details.cached_tokens == 4


def test_every_item_is_read_in_order(client: OpenAI, oracle: Oracle) -> None:
    create(client, input=CONVERSATION)
    ((context, _, _),) = oracle.asked
    assert context.split("\n\n") == [
        "[system]\nAnswer in a day.",
        "[developer]\nRefunds take 30 days.",
        '[user]\nI was charged twice.\n[{"order": 4471}]',
        "[call 1: look_up]\n{}",
        "[output of call 1: look_up]\n2 charges",
        "[call 2: shop.run]\nls",
        "[output of call 2: shop.run]\na file",
        "[assistant]\nI see both.\nI cannot refund.",
    ]


def test_the_raw_response_carries_the_request_id(client: OpenAI) -> None:
    raw = client.decisions.with_raw_response.create(
        model="deg-latest",
        input="a",
        questions=QUESTIONS,
        extra_headers={"x-request-id": "req-7"},
    )
    assert raw.headers["x-request-id"] == raw.headers["x-typesafe-request-id"] == "req-7"
    assert raw.parse()._request_id == "req-7"
    with client.decisions.with_streaming_response.create(
        model="deg-latest", input="a", questions=QUESTIONS
    ) as streamed:
        assert len(streamed.parse().answers) == 3


def test_the_asynchronous_client_gets_the_same(client: OpenAI, url: str) -> None:
    async def ask() -> Any:
        transport = httpx.AsyncClient(trust_env=False)
        async with AsyncOpenAI(base_url=url, api_key="local", http_client=transport) as client:
            return await client.decisions.create(
                model="gpt-6-luna", input="I was charged twice.", questions=QUESTIONS
            )

    assert asyncio.run(ask()).to_dict() == create(client).to_dict()


def test_options_and_caching_are_taken(client: OpenAI, oracle: Oracle) -> None:
    create(
        client,
        prompt_cache_key="k",
        prompt_cache_options={"mode": "explicit", "ttl": "30m"},
        safety_identifier="u",
        extra_body={"options": {"null_margin": 2.0}},
    )
    assert oracle.asked[0][2].null_margin == 2.0


def test_our_own_kinds_of_question_are_answered(client: OpenAI) -> None:
    number = {"type": "extract", "instructions": "The order.", "value_type": "integer"}
    reply = {"type": "generate", "instructions": "A reply.", "max_tokens": 20}
    order, text = create(client, input="order 4471", questions=[number, reply]).answers
    assert (order.type, order.value, order.span) == ("extract", 4471, [6, 10])
    assert (text.type, text.output_tokens) == ("generate", 6)


@pytest.mark.parametrize(
    ("how", "param"),
    [
        ({"model": "gpt-5"}, "model"),
        ({"questions": []}, "questions"),
        (
            {
                "input": [
                    {
                        "role": "user",
                        "content": [{"type": "input_image", "image_url": "https://a/b.png"}],
                    }
                ]
            },
            "input[0].content[0]",
        ),
    ],
)
def test_a_refusal_is_a_bad_request(client: OpenAI, how: dict[str, Any], param: str) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        create(client, **how)
    assert (caught.value.type, caught.value.param) == ("invalid_request_error", param)
    assert caught.value.request_id


def test_a_wrong_key_is_an_authentication_error(serve: Any, oracle: Oracle) -> None:
    with (
        serve(oracle, keys=Keys(["right"])) as served,
        httpx.Client(trust_env=False) as transport,
    ):
        base_url = f"{served.url}/v1"
        right = OpenAI(base_url=base_url, api_key="right", http_client=transport)
        assert create(right).answers
        with pytest.raises(openai.AuthenticationError) as caught:
            create(right.with_options(api_key="wrong"))
    assert caught.value.code == "invalid_api_key"


def test_the_models_are_listed(client: OpenAI) -> None:
    assert {model.id for model in client.models.list()} >= {"deg-latest", "deg-stand-in"}
