"""What holds for every request: how long, how many, how large, how sure."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Settings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a server does with every request.

    Attributes:
        window: The seconds that a request waits for others to be filled with.
        max_batch: The most requests that are filled together.
        max_pending: With as many requests waiting, the next is refused.
        timeout: The seconds after which a request is told to come again.
        engine_timeout: The seconds after which the engine counts as stuck, and the server ends.
        max_body: The most bytes of a body, as it is sent and decompressed.
        body_timeout: The seconds in which a body has to arrive.
        null_margin: How much likelier than nothing a value must be, in nats, where a request does
            not say so itself.
    """

    window: float = 0.005
    max_batch: int = 16
    max_pending: int = 256
    timeout: float = 60.0
    engine_timeout: float = 600.0
    max_body: int = 8 << 20
    body_timeout: float = 10.0
    null_margin: float = 0.0
