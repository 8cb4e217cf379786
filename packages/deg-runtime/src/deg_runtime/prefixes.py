"""An index of token sequences by their beginnings: which one shares the longest with another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

__all__ = ["PrefixIndex"]


class PrefixIndex:
    """Sequences by name, comparable at the multiples of *step* tokens.

    Each beginning is filed under a hash that follows from the one before it, so a look-up costs a
    step for each that agrees, however many sequences there are.
    """

    def __init__(self, step: int) -> None:
        self._step = step
        self._ids: dict[str, tuple[int, ...]] = {}
        self._names: dict[int, dict[str, None]] = {}

    def add(self, name: str, ids: tuple[int, ...]) -> None:
        """File *ids* under *name*."""
        self._ids[name] = ids
        for digest in self._digests(ids):
            self._names.setdefault(digest, {})[name] = None

    def remove(self, name: str) -> None:
        """Forget the sequence *name*."""
        for digest in self._digests(self._ids.pop(name)):
            names = self._names[digest]
            del names[name]
            if not names:
                del self._names[digest]

    def longest(self, ids: Sequence[int]) -> tuple[str, int] | None:
        """Return the sequence that shares the longest beginning with *ids*, and its length."""
        found = None
        for number, digest in enumerate(self._digests(ids), start=1):
            if digest not in self._names:
                break
            found = next(reversed(self._names[digest])), number * self._step
        if found is None:
            return None
        name, length = found
        # two beginnings may have one hash
        return found if self._ids[name][:length] == tuple(ids[:length]) else None

    def _digests(self, ids: Sequence[int]) -> Iterator[int]:
        digest = 0
        for end in range(self._step, len(ids) + 1, self._step):
            digest = hash((digest, tuple(ids[end - self._step : end])))
            yield digest
