"""The playground: one page to try documents and schemas on, served from files of the package."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib.resources import files

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

__all__ = ["routes"]

_PAGE = "index.html"
_MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}
# nothing from elsewhere, nothing inline, and no text that becomes markup
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
_HEADERS = {
    # the names stay while the content changes with the version: asked each time, sent when changed
    "cache-control": "no-cache",
    "content-security-policy": _POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}


@dataclass(frozen=True, slots=True)
class _File:
    content: bytes
    media_type: str
    etag: str


def routes() -> list[BaseRoute]:
    """Return the routes of the page, at `/`, and of what it loads, below `/static/`."""
    known = _read_files()

    async def static(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in known or name == _PAGE:
            raise HTTPException(404, f"the playground has no file {name!r}")
        return _answer(request, known[name])

    return [Route("/", _page_of(known[_PAGE])), Route("/static/{name}", static)]


def _page_of(page: _File) -> Callable[[Request], Awaitable[Response]]:
    async def playground(request: Request) -> Response:
        return _answer(request, page)

    return playground


def _read_files() -> dict[str, _File]:
    folder = files("deg_serve").joinpath("static")
    known = {}
    for entry in folder.iterdir():
        suffix = entry.name[entry.name.rfind(".") :]
        if suffix in _MEDIA_TYPES:
            content = entry.read_bytes()
            etag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
            known[entry.name] = _File(content, _MEDIA_TYPES[suffix], etag)
    return known


def _answer(request: Request, file: _File) -> Response:
    headers = {**_HEADERS, "etag": file.etag}
    asked = request.headers.get("if-none-match", "")
    # a proxy that compresses may have weakened the tag
    if file.etag in (tag.strip().removeprefix("W/") for tag in asked.split(",")):
        return Response(status_code=304, headers=headers)
    return Response(file.content, media_type=file.media_type, headers=headers)
