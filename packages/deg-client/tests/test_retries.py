from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from email.utils import formatdate

import pytest

from clients import AnyClient
from deg_client import DeadlineExceeded, InvalidSetting, ServerBusy, ServerFailed, ServerUnreachable
from loopback import STREAM, Loopback, Reply, reply

LISTED = {"data": [{"id": "deg-test"}]}
AT_ONCE = {"retry_after_ms": "1"}

Connect = Callable[..., AnyClient]


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503])
def test_a_passing_error_is_tried_again(server: Loopback, connect: Connect, status: int) -> None:
    server.replies = [reply({}, status, **AT_ONCE), reply({}, status, **AT_ONCE), reply(LISTED)]
    assert connect(server).models()[0].id == "deg-test"
    assert len(server.seen) == 3
    assert len({seen.headers["x-request-id"] for seen in server.seen}) == 1


def test_no_more_is_tried_than_was_said(server: Loopback, connect: Connect) -> None:
    server.replies = [reply({}, 503, **AT_ONCE)]
    with pytest.raises(ServerFailed):
        connect(server, retries=1).models()
    assert len(server.seen) == 2


@pytest.mark.parametrize("status", [400, 404, 409, 413, 422])
def test_a_lasting_error_is_not_tried_again(
    server: Loopback, connect: Connect, status: int
) -> None:
    server.replies = [reply({}, status, **AT_ONCE)]
    with pytest.raises(Exception, match=f"status {status}"):
        connect(server).models()
    assert len(server.seen) == 1


def test_the_server_may_say_that_trying_again_is_useless(
    server: Loopback, connect: Connect
) -> None:
    server.replies = [reply({}, 500, x_should_retry="false")]
    with pytest.raises(ServerFailed):
        connect(server).models()
    assert len(server.seen) == 1


def test_the_pause_is_as_long_as_the_server_asks(server: Loopback, connect: Connect) -> None:
    server.replies = [reply({}, 429, retry_after="0.3"), reply(LISTED)]
    start = time.monotonic()
    connect(server).models()
    assert 0.3 <= time.monotonic() - start < 2


def test_a_pause_beyond_the_deadline_is_not_waited_for(server: Loopback, connect: Connect) -> None:
    server.replies = [reply({}, 429, retry_after=formatdate(time.time() + 60, usegmt=True))]
    start = time.monotonic()
    with pytest.raises(ServerBusy) as caught:
        connect(server, timeout=5).models()
    assert time.monotonic() - start < 2
    assert caught.value.retry_after == pytest.approx(60, abs=5)


def test_a_connection_that_breaks_is_tried_again(server: Loopback, connect: Connect) -> None:
    # the length says more than comes
    server.replies = [Reply(headers={"content-length": "50"}, pieces=[b"{"]), reply(LISTED)]
    assert connect(server).models()[0].id == "deg-test"


def test_a_server_that_never_answers_takes_the_deadline_and_no_more(
    server: Loopback, connect: Connect
) -> None:
    start = time.monotonic()
    with pytest.raises(DeadlineExceeded, match=r"within 0\.5 seconds") as caught:
        connect(server, timeout=0.5, retries=2).models()
    assert 0.45 < time.monotonic() - start < 1.0
    assert isinstance(caught.value, TimeoutError)
    assert caught.value.request_id == server.seen[0].headers["x-request-id"]


@pytest.mark.slow
def test_three_seconds_with_two_retries_are_three_seconds(
    server: Loopback, connect: Connect
) -> None:
    start = time.monotonic()
    with pytest.raises(DeadlineExceeded):
        connect(server, timeout=3, retries=2).models()
    assert 2.9 < time.monotonic() - start < 3.5


def test_a_call_may_have_a_deadline_of_its_own(server: Loopback, connect: Connect) -> None:
    start = time.monotonic()
    with pytest.raises(DeadlineExceeded):
        connect(server, timeout=60).models(timeout=0.3)
    assert time.monotonic() - start < 1


def test_an_answer_in_dribbles_does_not_outlast_the_deadline(
    server: Loopback, connect: Connect
) -> None:
    server.replies = [Reply(pieces=_dribbles(server))]
    start = time.monotonic()
    with pytest.raises(DeadlineExceeded):
        connect(server, timeout=0.4).models()
    assert time.monotonic() - start < 1


def test_a_stream_has_the_same_deadline(server: Loopback, connect: Connect) -> None:
    server.replies = [Reply(headers=STREAM, pieces=_dribbles(server))]
    start = time.monotonic()
    with pytest.raises(DeadlineExceeded):
        list(connect(server, timeout=0.4).stream("a", {"type": "object", "properties": {}}))
    assert time.monotonic() - start < 1


def test_pauses_count_against_the_deadline(server: Loopback, connect: Connect) -> None:
    # the second pause would end after the deadline; a slow machine has 0.8 s for the two attempts
    server.replies = [reply({}, 503, retry_after="1.2")]
    start = time.monotonic()
    with pytest.raises(ServerFailed):
        connect(server, timeout=2, retries=100).models()
    assert time.monotonic() - start < 2
    assert len(server.seen) == 2


def test_no_server_is_tried_again(connect: Connect) -> None:
    with Loopback() as gone:
        client = connect(gone, retries=1)
    start = time.monotonic()
    with pytest.raises(ServerUnreachable) as caught:
        client.models()
    assert not isinstance(caught.value, DeadlineExceeded)
    assert time.monotonic() - start > 0.3


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf")])
def test_a_deadline_is_a_positive_number(
    server: Loopback, connect: Connect, timeout: float
) -> None:
    with pytest.raises(InvalidSetting, match="'timeout'"):
        connect(server).models(timeout=timeout)


def _dribbles(server: Loopback) -> Iterator[bytes]:
    while not server.released.wait(0.05):
        yield b" "
