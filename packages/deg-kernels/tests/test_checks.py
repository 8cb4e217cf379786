from __future__ import annotations

import pytest
import torch

from deg_kernels.checks import check, check_dtype, check_shape, check_together


def test_what_holds_passes() -> None:
    x = torch.zeros(2, 3)
    check(True, "x", "is fine")
    check_dtype((torch.float32,), x=x, y=None)
    check_shape("x", x, (None, 3))
    check_together(x=x, y=None, z=x, same_dtype=True)


def test_the_message_names_the_argument_and_what_was_wanted() -> None:
    x = torch.zeros(2, 3)
    with pytest.raises(ValueError, match=r"^x: is empty$"):
        check(False, "x", "is empty")
    with pytest.raises(ValueError, match=r"^x: has dtype float32, but int32 or bool is supported$"):
        check_dtype((torch.int32, torch.bool), x=x)
    with pytest.raises(ValueError, match=r"^x: has shape \(2, 3\), not \(any, 4\)$"):
        check_shape("x", x, (None, 4))
    with pytest.raises(ValueError, match=r"^x: has shape \(2, 3\), not \(2\)$"):
        check_shape("x", x, (2,))
    with pytest.raises(ValueError, match=r"^y: lies on meta, but x lies on cpu$"):
        check_together(x=x, y=x.to("meta"))
    with pytest.raises(ValueError, match=r"^y: has dtype float64, but x has float32$"):
        check_together(x=x, y=x.double(), same_dtype=True)
