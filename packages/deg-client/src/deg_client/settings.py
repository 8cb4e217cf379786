"""What a client is told once: where the server is, the key, and how long and how often to try."""

from __future__ import annotations

import math
import os
import ssl
from dataclasses import dataclass, field

import httpx

from deg_client.errors import InvalidSetting

__all__ = ["DEFAULT_TIMEOUT", "Settings", "check_timeout"]

DEFAULT_TIMEOUT = 60.0

_DEFAULT_URL = "http://127.0.0.1:8790"


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings that are in order; the key is kept out of `repr`."""

    base_url: str
    api_key: str | None = field(repr=False)
    timeout: float
    retries: int

    @classmethod
    def read(
        cls, base_url: str | None, api_key: str | None, timeout: float, retries: int
    ) -> Settings:
        """Take what is `None` from `DEG_BASE_URL` and `DEG_API_KEY`.

        Raises:
            InvalidSetting: One of them could serve no call.
        """
        # an empty variable is one that somebody unset
        base_url = base_url or os.environ.get("DEG_BASE_URL") or _DEFAULT_URL
        api_key = api_key or os.environ.get("DEG_API_KEY") or None
        if api_key is not None and not (api_key.isascii() and api_key.isprintable()):
            # the key itself stays out of the message, which may be logged
            raise InvalidSetting("the key holds a character that no HTTP header can; copy it again")
        if type(retries) is not int or retries < 0:
            raise InvalidSetting(f"'retries' is a whole number of at least 0, not {retries!r}")
        return cls(_check_url(base_url), api_key, check_timeout(timeout), retries)

    def verify(self) -> ssl.SSLContext | bool:
        """Return how certificates are checked: by the authorities that httpx trusts."""
        if self.base_url.startswith("https:"):
            return True
        # reading the authorities takes longer than many calls; without them none is trusted
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def check_timeout(seconds: float) -> float:
    """Return *seconds* if a call can take them as its time.

    Raises:
        InvalidSetting: They are not positive, or not finite.
    """
    if not (math.isfinite(seconds) and seconds > 0):
        raise InvalidSetting(f"'timeout' is a positive number of seconds, not {seconds!r}")
    return float(seconds)


def _check_url(text: str) -> str:
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL as error:
        raise InvalidSetting(f"the address {text!r} is no URL: {error}") from error
    if url.userinfo:
        raise InvalidSetting("the address holds a password, which errors would show; use 'api_key'")
    if url.scheme not in ("http", "https") or not url.host:
        raise InvalidSetting(f"the address {text!r} must be as 'http://127.0.0.1:8790' is")
    if url.query or url.fragment:
        raise InvalidSetting(f"the address {text!r} must end before its '?' or '#'")
    return str(url).rstrip("/")
