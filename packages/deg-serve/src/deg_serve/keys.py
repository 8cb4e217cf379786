"""The keys that open the server."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from pathlib import Path

from deg_serve.errors import NotAllowed

__all__ = ["Keys"]


class Keys:
    """The keys that requests may carry; only their digests are kept."""

    def __init__(self, keys: Iterable[str]) -> None:
        self._digests = [_digest(key) for key in keys]

    def __len__(self) -> int:
        return len(self._digests)

    @classmethod
    def read(cls, path: Path) -> Keys:
        """Read keys from a file: one a line, without empty lines and those that begin with `#`."""
        lines = (line.strip() for line in path.read_text(encoding="utf-8").splitlines())
        return cls(line for line in lines if line and not line.startswith("#"))

    @classmethod
    def parse(cls, text: str) -> Keys:
        """Read keys that commas separate."""
        return cls(key.strip() for key in text.split(",") if key.strip())

    def check(self, authorization: str | None, *, missing_status: int = 401) -> None:
        """Let a request pass by its `Authorization` header.

        Raises:
            NotAllowed: The header carries no key, or none of these.
        """
        scheme, _, key = (authorization or "").strip().partition(" ")
        if scheme.lower() != "bearer" or not key.strip():
            raise NotAllowed(
                "the request carries no key: send 'Authorization: Bearer KEY'", missing_status
            )
        digest = _digest(key.strip())
        # every key is compared, or the time it takes would tell which one is near
        matches = [hmac.compare_digest(digest, known) for known in self._digests]
        if not any(matches):
            raise NotAllowed("the key is not known here")


def _digest(key: str) -> bytes:
    # keys differ in length, and what is compared must not
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()
