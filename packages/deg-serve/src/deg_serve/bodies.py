"""Bodies: received within bounds of size and time, and decoded to the JSON that they carry."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import zstandard
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import Field, File, FormParser, parse_options_header
from starlette.requests import Request

from deg_serve.errors import BadBody, BodyTooLarge, SlowBody, UnsupportedBody

__all__ = ["BodyKind", "decode_body", "receive_body"]

# what RFC 8878 asks every decoder to have, and more than the usual encoder uses
_MAX_WINDOW = 8 << 20


@dataclass(frozen=True, slots=True)
class BodyKind:
    """How a body is to be decoded.

    Attributes:
        encoding: Of the content: `identity`, `gzip` or `zstd`.
        boundary: Between the parts of a form; `None` for JSON.
    """

    encoding: str
    boundary: bytes | None = None

    @classmethod
    def of(cls, headers: Mapping[str, str], *, forms: bool = False) -> BodyKind:
        """Read the kind of a body from the headers of its request.

        Args:
            headers: Of the request.
            forms: Whether a form with the JSON in its part `request` is taken too.

        Raises:
            UnsupportedBody: It is no kind that is read here.
        """
        encoding = headers.get("content-encoding", "identity").strip().lower() or "identity"
        if encoding not in _DECODERS:
            known = ", ".join(sorted(_DECODERS))
            raise UnsupportedBody(f"the encoding {encoding!r} is not read here: use one of {known}")
        name, parameters = parse_options_header(headers.get("content-type"))
        media_type = name.decode("latin-1").strip().lower()
        if forms and media_type == "multipart/form-data" and parameters.get(b"boundary"):
            return cls(encoding, parameters[b"boundary"])
        charset = parameters.get(b"charset", b"utf-8").decode("latin-1").lower()
        if not _is_json(media_type) or charset not in ("utf-8", "utf8", "us-ascii"):
            found = repr(headers.get("content-type", ""))
            raise UnsupportedBody(f"the body has to be application/json in UTF-8, not {found}")
        return cls(encoding)


async def receive_body(request: Request, *, max_bytes: int, seconds: float) -> bytes:
    """Receive a whole body.

    Raises:
        BodyTooLarge: It has more than *max_bytes*; nothing after them is kept.
        SlowBody: It takes longer than *seconds*.
        ClientDisconnect: The client hangs up.
    """
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > max_bytes:
        raise BodyTooLarge(max_bytes)
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for piece in request.stream():
                body += piece
                if len(body) > max_bytes:
                    raise BodyTooLarge(max_bytes)
    except TimeoutError:
        raise SlowBody(seconds) from None
    return bytes(body)


def decode_body(body: bytes, kind: BodyKind, *, max_bytes: int) -> bytes:
    """Return the JSON text that a body of *kind* carries.

    Raises:
        BadBody: It is not what *kind* says, or a form with more than the JSON.
        BodyTooLarge: There are more than *max_bytes* in it.
    """
    plain = _DECODERS[kind.encoding](body, max_bytes)
    if len(plain) > max_bytes:
        raise BodyTooLarge(max_bytes)
    return plain if kind.boundary is None else _part_of(plain, kind.boundary)


def _is_json(media_type: str) -> bool:
    return media_type == "application/json" or (
        media_type.startswith("application/") and media_type.endswith("+json")
    )


def _gunzip(body: bytes, max_bytes: int) -> bytes:
    plain = b""
    try:
        while body and len(plain) <= max_bytes:
            member = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
            plain += member.decompress(body, max_bytes + 1 - len(plain))
            if not member.eof and not member.unconsumed_tail:
                raise BadBody("the body ends within its gzip encoding")
            body = member.unused_data
    except zlib.error as error:
        raise BadBody(f"the body is no gzip: {error}") from None
    return plain


def _unzstd(body: bytes, max_bytes: int) -> bytes:
    decompressor = zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW)
    plain = bytearray()
    try:
        with decompressor.stream_reader(body, read_across_frames=True) as reader:
            while len(plain) <= max_bytes and (piece := reader.read(max_bytes + 1 - len(plain))):
                plain += piece
    except zstandard.ZstdError as error:
        raise BadBody(f"the body is no zstd: {error}") from None
    return bytes(plain)


_DECODERS: dict[str, Callable[[bytes, int], bytes]] = {
    "identity": lambda body, _: body,
    "gzip": _gunzip,
    "zstd": _unzstd,
}


def _part_of(form: bytes, boundary: bytes) -> bytes:
    """Return the part `request` of a form that has no other."""
    parts: list[tuple[bytes | None, bytes]] = []

    def take_field(field: Field) -> None:
        parts.append((field.field_name, field.value or b""))

    def take_file(file: File) -> None:
        file.file_object.seek(0)
        parts.append((file.field_name, file.file_object.read()))

    # nothing of a form is written to the disk
    config = {"MAX_MEMORY_FILE_SIZE": len(form) + 1}
    try:
        parser = FormParser(
            "multipart/form-data", take_field, take_file, boundary=boundary, config=config
        )
        parser.write(form)
        parser.finalize()
    except FormParserError as error:
        raise BadBody(f"the body is no form: {error}") from None
    found = [content for name, content in parts if name == b"request"]
    if len(found) != 1:
        raise BadBody("a form has one part 'request', which is the request as JSON")
    if len(parts) > 1:
        raise BadBody("this model reads text only: send no parts besides 'request'")
    return found[0]
