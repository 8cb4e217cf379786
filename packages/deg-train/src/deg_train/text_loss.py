"""The losses of written texts, token by token, under a frozen head.

They are the cross-entropy of each next token, and, against forgetting, how far what would be
written is from what a frozen base would write. The logits of a text over a whole vocabulary would
outweigh everything else that a step keeps, so they are computed a block of tokens at a time, with
their gradient, and dropped: the head takes no gradient, so nothing else is needed later (as in
Liger Kernel, Hsu et al., 2024).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

# N tokens to be predicted, V vocabulary, H hidden

__all__ = ["next_token_losses", "text_divergences", "text_losses", "text_places"]

_BLOCK = 128


def text_places(
    answers: Sequence[int], targets: Sequence[Sequence[int]], device: torch.device
) -> Tensor:
    """Return the flat token [N] that each target comes after, one text after another.

    Args:
        answers: Of each text, the place of its last token among the flat ones.
        targets: Of each text, the tokens that come next, the last one after that place.
        device: Where to.
    """
    places = [
        torch.arange(answer - len(each) + 1, answer + 1, device=device)
        for answer, each in zip(answers, targets, strict=True)
    ]
    return torch.cat(places)


def text_losses(
    final_NH: Tensor, head_VH: Tensor, answers: Sequence[int], targets: Sequence[Sequence[int]]
) -> tuple[Tensor, int]:
    """Return the mean loss of each text's tokens [R], and how many would be written as they are.

    Args:
        final_NH: The last hidden state of every flat token, fp32.
        head_VH: The head over the vocabulary.
        answers: Of each text, the place of its last token among the flat ones.
        targets: Of each text, the tokens that come next, the last one after that place.
    """
    places_N = text_places(answers, targets, final_NH.device)
    target_N = torch.tensor([token for each in targets for token in each], device=final_NH.device)
    losses_N, right_N = next_token_losses(final_NH[places_N], head_VH, target_N)
    lengths = [len(each) for each in targets]
    num_right = sum(bool(own_N.all()) for own_N in torch.split(right_N, lengths))
    return _means(losses_N, lengths), num_right


def text_divergences(
    final_NH: Tensor,
    base_NH: Tensor,
    head_VH: Tensor,
    answers: Sequence[int],
    targets: Sequence[Sequence[int]],
) -> Tensor:
    """Return the mean over each text's tokens [R] of KL(base || trained), in nats (12.7).

    Args:
        final_NH: The last hidden state of every flat token, fp32.
        base_NH: The same of the frozen base.
        head_VH: The head over the vocabulary, of both.
        answers: Of each text, the place of its last token among the flat ones.
        targets: Of each text, the tokens that come next, the last one after that place.
    """
    places_N = text_places(answers, targets, final_NH.device)
    each_N = _Divergence.apply(  # type: ignore[no-untyped-call]
        final_NH[places_N], base_NH[places_N], head_VH
    )
    return _means(each_N, [len(each) for each in targets])


def next_token_losses(
    hidden_NH: Tensor, head_VH: Tensor, target_N: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the cross-entropy [N] of each target in nats, and whether it is the likeliest [N]."""
    losses_N, right_N = _NextToken.apply(hidden_NH, head_VH, target_N)  # type: ignore[no-untyped-call]
    return losses_N, right_N


class _NextToken(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, hidden: Tensor, head: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        losses, right, grads = [], [], []
        for own, wanted in zip(
            torch.split(hidden, _BLOCK), torch.split(target, _BLOCK), strict=True
        ):
            logits = (own.to(head.dtype) @ head.T).float()
            number = torch.arange(len(wanted), device=wanted.device)
            log_probability = logits.log_softmax(-1)
            losses.append(-log_probability[number, wanted])
            right.append(logits.argmax(-1) == wanted)
            if ctx.needs_input_grad[0]:
                surplus = log_probability.exp_()
                surplus[number, wanted] -= 1
                grads.append((surplus.to(head.dtype) @ head).to(hidden.dtype))
        if grads:
            ctx.save_for_backward(torch.cat(grads))
        is_right = torch.cat(right)
        ctx.mark_non_differentiable(is_right)
        return torch.cat(losses), is_right

    @staticmethod
    def backward(ctx: Any, grad: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        (own,) = ctx.saved_tensors
        return own * grad[:, None], None, None


class _Divergence(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, hidden: Tensor, base: Tensor, head: Tensor) -> Tensor:
        found, grads = [], []
        for own, its in zip(torch.split(hidden, _BLOCK), torch.split(base, _BLOCK), strict=True):
            log_p, log_q = (
                (each.to(head.dtype) @ head.T).float().log_softmax(-1) for each in (its, own)
            )
            found.append((log_p.exp() * (log_p - log_q)).sum(-1))
            if ctx.needs_input_grad[0]:
                surplus = log_q.exp_() - log_p.exp_()
                grads.append((surplus.to(head.dtype) @ head).to(hidden.dtype))
        if grads:
            ctx.save_for_backward(torch.cat(grads))
        return torch.cat(found)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        (own,) = ctx.saved_tensors
        return own * grad[:, None], None, None


def _means(each_N: Tensor, lengths: Sequence[int]) -> Tensor:
    return torch.stack([own_N.mean() for own_N in torch.split(each_N, list(lengths))])
