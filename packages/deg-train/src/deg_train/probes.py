"""What the sizes of a batch cost in memory, measured on the model with a few tiny passes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor

from deg_model import EncodedContext, Fork
from deg_train.batches import Batch, collate
from deg_train.memory import Costs, sizes
from deg_train.questions import Example, Question

# P probes, F sizes of a batch

__all__ = ["Measured", "costs_of", "measuring"]

# contexts, the tokens of each, and the forks of each: how many point, how many choose, their tokens
_PROBES = (
    (1, 8, 0, 1, 4),
    (1, 8, 1, 0, 8),
    (2, 16, 1, 1, 12),
    (1, 32, 2, 2, 4),
    (1, 24, 0, 4, 16),
    (3, 24, 1, 0, 6),
    (1, 48, 3, 0, 12),
    (2, 72, 1, 0, 8),
    (1, 96, 2, 1, 16),
    (1, 96, 1, 0, 4),
    (1, 64, 0, 2, 32),
    (1, 48, 1, 0, 72),
)


@dataclass(slots=True)
class Measured:
    """What a forward pass kept.

    Attributes:
        num_bytes: The bytes; on CUDA the most that were allocated meanwhile.
    """

    num_bytes: int = 0


@contextmanager
def measuring(device: torch.device, parameters: Iterable[Tensor] = ()) -> Iterator[Measured]:
    """Measure what the passes in this block keep for their backward passes.

    On the CPU that is the memory of the tensors that autograd saves, frozen weights among them.

    Args:
        device: Where the passes are computed.
        parameters: What is trained; it is there before and does not count.
    """
    measured = Measured()
    if device.type == "cuda":
        before = torch.cuda.memory_allocated(device)
        torch.cuda.reset_peak_memory_stats(device)
        yield measured
        measured.num_bytes = torch.cuda.max_memory_allocated(device) - before
        return
    standing = {parameter.untyped_storage().data_ptr() for parameter in parameters}
    storages: dict[int, int] = {}

    def pack(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in standing:
            storages[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        yield measured
    measured.num_bytes = sum(storages.values())


def costs_of(
    forward: Callable[[Batch, bool], Tensor],
    device: torch.device,
    parameters: Sequence[Tensor],
) -> Costs:
    """Measure what each size of a batch costs.

    Args:
        forward: Reads a batch, computing layers again or not, and returns its loss.
        device: Where it does.
        parameters: What is trained.
    """

    def kept(batch: Batch, recompute: bool) -> int:
        with measuring(device, parameters) as measured:
            # the graph must live to the end of the block, or its memory would be used again
            loss = forward(batch, recompute)
        del loss
        return measured.num_bytes

    batches = [_probe(*shape) for shape in _PROBES]
    (*whole, standing), (*inputs, _) = (
        _fitted(batches, [kept(batch, recompute) for batch in batches])
        for recompute in (False, True)
    )
    return Costs(tuple(whole), tuple(inputs), standing)


def _probe(num: int, width: int, num_pointing: int, num_choosing: int, own: int) -> Batch:
    context = EncodedContext((0,) * width, 0, (0,) * width, (0,) * width)
    fork = Fork((0,) * own, (), "extract")
    pointing = Question(fork, spans=((0, 1),))
    choosing = Question(Fork(fork.ids, (0, 1), "choice"), outcome=0)
    asked = (pointing,) * num_pointing + (choosing,) * num_choosing
    return collate([Example(context, asked)] * num)


def _fitted(batches: Sequence[Batch], num_bytes: Sequence[int]) -> list[float]:
    """Return what each size costs, by least squares, and last what none of them changes.

    Nothing is said to cost less than nothing: a size that would is left out.
    """
    sizes_PF = torch.tensor([[*sizes(b), 1.0] for b in batches], dtype=torch.float64)
    target_P1 = torch.tensor(num_bytes, dtype=torch.float64)[:, None]
    scale_F = sizes_PF.amax(0).clamp(min=1)
    used = list(range(sizes_PF.shape[1]))
    while True:
        design_PF = sizes_PF[:, used] / scale_F[used]
        found = torch.linalg.lstsq(design_PF, target_P1, driver="gelsd").solution[:, 0]
        least = int(found.argmin())
        if found[least] >= 0:
            break
        del used[least]
    costs_F = torch.zeros(len(scale_F), dtype=torch.float64)
    costs_F[used] = found / scale_F[used]
    return [float(cost) for cost in costs_F]
