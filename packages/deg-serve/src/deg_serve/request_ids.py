"""The id that every response carries, so that a line of the log can be found again."""

from __future__ import annotations

import re
import uuid

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["RequestIds"]

_NAMES = (b"x-request-id", b"x-typesafe-request-id")
_SANE = re.compile(r"[A-Za-z0-9._:/+=-]{1,128}")


class RequestIds:
    """Adds `x-request-id` to every response: the one of the request, or a fresh one."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, and leave its id in `request.state.request_id`."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sent = Headers(scope=scope).get("x-request-id", "")
        request_id = sent if _SANE.fullmatch(sent) else uuid.uuid4().hex
        scope.setdefault("state", {})["request_id"] = request_id

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                ids = [(name, request_id.encode()) for name in _NAMES]
                message = {**message, "headers": [*message.get("headers", ()), *ids]}
            await send(message)

        await self._app(scope, receive, send_with_id)
