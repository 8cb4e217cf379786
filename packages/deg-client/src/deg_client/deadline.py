"""How much time a call has left, all attempts and pauses together."""

from __future__ import annotations

import time

__all__ = ["Deadline"]

# longer than any connection takes that succeeds, and short enough to leave time for another
_CONNECT_SECONDS = 5.0

# zero would turn a socket to one that never waits
_LEAST_SECONDS = 0.001


class Deadline:
    """A point in time, `seconds` from now."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def remaining(self) -> float:
        """Return how many seconds are left; 0 when there are none."""
        return max(0.0, self._end - time.monotonic())

    def timeouts(self) -> dict[str, float | None]:
        """Return the timeouts of one attempt, for the `timeout` extension of its request."""
        return _Timeouts(self)


class _Timeouts(dict[str, float | None]):
    # the transport asks anew when it connects, writes and reads: each step may take what is left
    # then, where fixed timeouts would add up
    def __init__(self, deadline: Deadline) -> None:
        super().__init__()
        self._deadline = deadline

    def get(self, step: str, default: object = None) -> float:
        seconds = max(_LEAST_SECONDS, self._deadline.remaining())
        return min(_CONNECT_SECONDS, seconds) if step == "connect" else seconds
