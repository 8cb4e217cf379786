"""How the next token of a text is chosen among those that may come: the likeliest, or by lot."""

from __future__ import annotations

import hashlib
import random

import torch
from torch import Tensor

from deg_kernels import argmax
from deg_runtime.constraints import Draft
from deg_schema import Options

# V tokens

__all__ = ["Choice", "Likeliest", "Lot", "choice_of"]


class Likeliest:
    """Takes the token with the largest logit, the first of equals."""

    def __call__(self, logits_V: Tensor, draft: Draft) -> int:
        """Return the token that comes next."""
        token = int(argmax(logits_V[None]))
        if draft.admits(token):
            return token
        # only where the likeliest of all may not come, which is rare, all others are looked at
        admitted_V = draft.admitted_V().to(logits_V.device)
        return int(argmax(logits_V.masked_fill(~admitted_V, float("-inf"))[None]))


class Lot:
    """Draws a token by the probabilities of those that may come, from a stream of its own.

    Args:
        temperature: What logits are divided by.
        seed: The request's.
        pointer: The field's; another field's text leaves the stream as it is.
    """

    def __init__(self, temperature: float, seed: int | None, pointer: str) -> None:
        digest = hashlib.sha256(f"{seed} {pointer}".encode()).digest()
        self._temperature, self._stream = temperature, random.Random(digest)

    def __call__(self, logits_V: Tensor, draft: Draft) -> int:
        """Return the token that comes next."""
        logits_V = logits_V.double().cpu()
        weights_V = ((logits_V - logits_V.max()) / self._temperature).exp_()
        token = self._draw(weights_V)
        if draft.admits(token):
            return token
        # to draw anew among the others is to draw by their share
        logits_V = logits_V.masked_fill(~draft.admitted_V(), float("-inf"))
        return self._draw(((logits_V - logits_V.max()) / self._temperature).exp_())

    def _draw(self, weights_V: Tensor) -> int:
        sums_V = weights_V.cumsum(-1)
        lot = self._stream.random() * float(sums_V[-1])
        return int(torch.searchsorted(sums_V, lot, right=True).clamp(max=len(sums_V) - 1))


Choice = Likeliest | Lot
"""How a text's tokens are chosen."""


def choice_of(options: Options, pointer: str) -> Choice:
    """Return how the text at *pointer* is chosen."""
    if options.temperature > 0:
        return Lot(options.temperature, options.seed, pointer)
    return Likeliest()
