"""The question that every operator must answer with zero: how many results depend on company?"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
from torch import Tensor

__all__ = ["num_rows_that_company_changes"]


def num_rows_that_company_changes(
    operator: Callable[[Tensor], Tensor], x_MK: Tensor, counts: Iterable[int] = (1, 2, 3, 5, 16, 17)
) -> int:
    """Count rows with other bits alone, in fewer rows, elsewhere in the batch or repeated."""
    together = operator(x_MK)
    num_rows = len(x_MK)

    def num_changed(rows: Tensor) -> int:
        differs = (operator(x_MK[rows]) != together[rows]).reshape(len(rows), -1)
        return int(differs.any(-1).sum())

    order = torch.randperm(num_rows, generator=torch.Generator().manual_seed(0))
    fewer = [order[:count].sort().values for count in counts if count <= num_rows]
    repeated = torch.cat([order, order[: num_rows // 2 + 1]])
    return sum(num_changed(rows) for rows in [*fewer, order, repeated])
