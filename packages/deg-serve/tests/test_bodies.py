from __future__ import annotations

import gzip
import json
import socket
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
import zstandard

from deg_serve import Settings
from deg_serve.bodies import BodyKind, decode_body
from deg_serve.errors import BadBody, BodyTooLarge, UnsupportedBody
from deg_serve.protocol import BoundedHeads

JSON = {"content-type": "application/json"}
BOMB = b'{"context": "' + b"a" * (64 << 20) + b'"}'
ENCODERS: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "zstd": zstandard.compress}


@pytest.mark.parametrize(
    ("content_type", "status"),
    [
        ("application/json", 200),
        ("application/json; charset=UTF-8", 200),
        ("Application/vnd.deg+json", 200),
        ("application/json; charset=latin-1", 415),
        ("text/plain", 415),
        ("application/x-www-form-urlencoded", 415),
        ("multipart/form-data; boundary=b", 415),
        ("", 415),
    ],
)
def test_a_body_is_json(engine: Any, serve: Any, wire: Any, content_type: str, status: int) -> None:
    body = json.dumps(wire("fill.request")).encode()
    with serve(engine) as served:
        headers = {"content-type": content_type}
        response = served.http.post("/v1/fill", content=body, headers=headers)
    assert response.status_code == status


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_an_encoded_body_is_read(engine: Any, serve: Any, wire: Any, encoding: str) -> None:
    body = ENCODERS[encoding](json.dumps(wire("fill.request")).encode())
    with serve(engine) as served:
        headers = {**JSON, "content-encoding": encoding}
        response = served.http.post("/v1/fill", content=body, headers=headers)
    assert response.json() == wire("fill.response")


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_a_bomb_is_refused(engine: Any, serve: Any, encoding: str) -> None:
    body = ENCODERS[encoding](BOMB)
    assert len(body) < 1 << 17
    with serve(engine) as served:
        headers = {**JSON, "content-encoding": encoding}
        response = served.http.post("/v1/fill", content=body, headers=headers)
        assert served.fill("a").status_code == 200
    assert response.status_code == 413
    assert response.json()["detail"][0]["loc"] == ""


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_a_body_that_does_not_decode_is_refused(engine: Any, serve: Any, encoding: str) -> None:
    with serve(engine) as served:
        headers = {**JSON, "content-encoding": encoding}
        response = served.http.post("/v1/fill", content=b"{}", headers=headers)
    assert response.status_code == 400


def test_an_unknown_encoding_is_refused(engine: Any, serve: Any) -> None:
    with serve(engine) as served:
        headers = {**JSON, "content-encoding": "br"}
        response = served.http.post("/v1/fill", content=b"{}", headers=headers)
    assert response.status_code == 415
    assert "gzip, identity, zstd" in response.json()["detail"][0]["msg"]


@pytest.mark.parametrize("is_announced", [True, False])
def test_a_body_has_a_size(engine: Any, serve: Any, is_announced: bool) -> None:
    def pieces() -> Any:
        for _ in range(256):
            yield b"x" * (1 << 16)

    content = b"x" * (16 << 20) if is_announced else pieces()
    with serve(engine, Settings(max_body=1 << 20)) as served:
        response = served.http.post("/v1/fill", content=content, headers=JSON)
        assert served.fill("a").status_code == 200
    assert response.status_code == 413


def test_a_slow_body_is_refused(engine: Any, serve: Any) -> None:
    with serve(engine, Settings(body_timeout=0.2)) as served:
        place = urlsplit(served.url)
        with socket.create_connection((place.hostname, place.port), timeout=10) as slow:
            head = "POST /v1/fill HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
            slow.sendall(f"{head}Content-Length: 100\r\n\r\n{{".encode())
            # to the end: the connection is closed, as what still comes is no request
            answer = b"".join(iter(lambda: slow.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"connection: close" in answer.lower()
    assert engine.batches == []


def form(*parts: tuple[str, bytes]) -> bytes:
    pieces = [
        f'--b\r\nContent-Disposition: form-data; name="{name}"; filename="f"\r\n\r\n'.encode()
        + content
        + b"\r\n"
        for name, content in parts
    ]
    return b"".join([*pieces, b"--b--\r\n"])


FORM = BodyKind("identity", b"b")


def test_a_form_has_the_json_in_its_part_request() -> None:
    kind = BodyKind.of({"content-type": 'multipart/form-data; boundary="b"'}, forms=True)
    assert decode_body(form(("request", b'{"a": 1}')), kind, max_bytes=999) == b'{"a": 1}'


def test_only_system_one_takes_forms(engine: Any, serve: Any) -> None:
    headers = {"content-type": "multipart/form-data; boundary=b"}
    asked = form(("request", b'{"model": "other"}'))
    with serve(engine) as served:
        read = served.http.post("/v1/systemone", content=asked, headers=headers)
        refused = served.http.post("/v1/decisions", content=asked, headers=headers)
    assert read.status_code == 422
    assert refused.status_code == 415


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"no form",
        form(("other", b"{}")),
        form(("request", b"{}"), ("request", b"{}")),
        form(("request", b"{}"), ("asset-0", b"\x89PNG")),
        form(("request", b"{}"))[:-12],
    ],
)
def test_any_other_form_is_refused(body: bytes) -> None:
    with pytest.raises(BadBody):
        decode_body(body, FORM, max_bytes=999)


def test_a_form_without_a_boundary_is_no_form() -> None:
    with pytest.raises(UnsupportedBody):
        BodyKind.of({"content-type": "multipart/form-data"}, forms=True)


def test_gzip_members_and_zstd_frames_are_joined() -> None:
    for encoding, encode in ENCODERS.items():
        body = encode(b'{"a": ') + encode(b"1}")
        assert decode_body(body, BodyKind(encoding), max_bytes=8) == b'{"a": 1}'
        with pytest.raises(BodyTooLarge):
            decode_body(body, BodyKind(encoding), max_bytes=7)


def test_a_gzip_that_breaks_off_is_refused() -> None:
    body = gzip.compress(b'{"a": 1}')[:-4]
    with pytest.raises(BadBody, match="ends within"):
        decode_body(body, BodyKind("gzip"), max_bytes=99)


@pytest.mark.parametrize("head", [b"", b"POST /v1/fill HTTP/1.1\r\nHost: a\r\n"])
def test_a_head_that_does_not_arrive_is_not_waited_for(
    engine: Any, serve: Any, monkeypatch: pytest.MonkeyPatch, head: bytes
) -> None:
    monkeypatch.setattr(BoundedHeads, "head_seconds", 0.2)
    with serve(engine) as served:
        place = urlsplit(served.url)
        with socket.create_connection((place.hostname, place.port), timeout=10) as slow:
            slow.sendall(head)
            assert slow.recv(4096) == b""
        assert served.fill("a").status_code == 200
