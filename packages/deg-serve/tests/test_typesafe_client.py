"""The TypeSafe client as it is published, against a running server."""

from __future__ import annotations

import asyncio
import importlib.util
import sys
from collections.abc import Iterator
from typing import Any, Literal

import pytest
import typesafe_sdk
from typesafe_sdk import AsyncTypeSafeClient, Choice, Noul, Score, TypeSafeClient

from deg_serve import Keys
from oracle import Oracle

HAS_ZSTD = sys.version_info >= (3, 14) or importlib.util.find_spec("backports") is not None
QUESTIONS = {
    "dup/1": Noul(instructions="The customer was charged twice.", criteria={"true": None}),
    "team": Choice(instructions=["Which team?"], criteria={"billing": "charged", "tech": None}),
    "urgency": Score(instructions="How urgent?", criteria=["no", {"label": "today"}]),
}
STATE = {"message": "I was charged twice."}


@pytest.fixture
def oracle() -> Oracle:
    return Oracle()


@pytest.fixture
def url(serve: Any, oracle: Oracle, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    for name in ("HTTP_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with serve(oracle) as served:
        yield served.url


def test_every_answer_is_read(url: str) -> None:
    with TypeSafeClient(api_key="local", base_url=url) as client:
        response = client.system_one(state=STATE, questions=QUESTIONS)
    assert response.nouls["dup/1"].noul == pytest.approx(4 / 7)
    assert response.choices["team"].choice == "billing"
    assert response.scores["urgency"].legend == {0: "no", 1: {"label": "today"}}
    assert response.model == "deg-stand-in"
    assert response.usage.input_tokens > 0
    assert response.request_id


@pytest.mark.parametrize(
    "compression",
    [
        False,
        pytest.param(
            "zstd", marks=pytest.mark.skipif(not HAS_ZSTD, reason="the zstd extra is not there")
        ),
    ],
)
def test_long_bodies_are_read(
    url: str, oracle: Oracle, compression: Literal["zstd", False]
) -> None:
    state = {"message": "I was charged twice. " * 400}
    with TypeSafeClient(api_key="local", base_url=url, compression=compression) as client:
        response = client.system_one(state=state, questions=QUESTIONS)
    assert response.choices["team"].choice == "billing"
    assert len(oracle.asked[0][0]) > 8000


def test_the_asynchronous_client_gets_the_same(url: str) -> None:
    async def ask() -> Any:
        async with AsyncTypeSafeClient(api_key="local", base_url=url) as client:
            return await client.system_one(state=STATE, questions=QUESTIONS)

    with TypeSafeClient(api_key="local", base_url=url) as client:
        response = client.system_one(state=STATE, questions=QUESTIONS)
    assert asyncio.run(ask()).answers == response.answers


def test_the_models_are_listed(url: str) -> None:
    with TypeSafeClient(api_key="local", base_url=url) as client:
        assert {model.name for model in client.models.list().models} >= {
            "deg-latest",
            "deg-stand-in",
        }


def test_a_refusal_names_what_is_wrong(url: str) -> None:
    with TypeSafeClient(api_key="local", base_url=url, model="jev-0") as client:
        with pytest.raises(typesafe_sdk.TypeSafeBadRequestError, match="Unknown model: jev-0"):
            client.system_one(state=STATE, questions=QUESTIONS)
        many = Choice(criteria=dict.fromkeys(map(str, range(256))))
        with pytest.raises(
            typesafe_sdk.TypeSafeUnprocessableEntityError, match="at most 255 choices"
        ):
            client.system_one(state=STATE, questions={"q": many})


def test_a_wrong_key_is_an_authentication_error(serve: Any, oracle: Oracle) -> None:
    with serve(oracle, keys=Keys(["right"])) as served:
        with TypeSafeClient(api_key="right", base_url=served.url) as client:
            assert client.system_one(state=STATE, questions=QUESTIONS).answers
        with (
            TypeSafeClient(api_key="wrong", base_url=served.url) as client,
            pytest.raises(typesafe_sdk.TypeSafeAuthenticationError),
        ):
            client.system_one(state=STATE, questions=QUESTIONS)
