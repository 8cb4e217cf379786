from __future__ import annotations

import torch

from deg_kernels.memory import dense


def test_a_tensor_in_order_is_not_copied() -> None:
    x = torch.zeros(4, 16)
    assert dense(x) is x


def test_another_order_or_address_is_copied() -> None:
    x = torch.arange(64.0).view(4, 16)
    for view in (x.T, x.view(-1)[1:33]):
        copy = dense(view)
        assert torch.equal(copy, view)
        assert copy.is_contiguous()
        assert copy.data_ptr() % 64 == 0
