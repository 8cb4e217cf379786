from __future__ import annotations

import pytest
import torch

from deg_model import default_taps, tap_features


@pytest.mark.parametrize(
    ("num_layers", "taps"), [(30, (10, 20, 30)), (4, (1, 2, 4)), (2, (1, 2)), (1, (1,))]
)
def test_taps_stand_at_each_third(num_layers: int, taps: tuple[int, ...]) -> None:
    assert default_taps(num_layers) == taps


def test_each_tap_is_normalised_by_itself() -> None:
    tapped = [torch.randn(5, 8).bfloat16() * scale for scale in (1, 100)]
    features_NK = tap_features(tapped)
    assert (features_NK.shape, features_NK.dtype) == ((5, 16), torch.float32)
    squares = features_NK.view(5, 2, 8).square().mean(-1)
    assert torch.allclose(squares, torch.ones(5, 2), atol=1e-3)
