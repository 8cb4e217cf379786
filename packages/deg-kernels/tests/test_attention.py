from __future__ import annotations

import pytest
import torch
from torch import Tensor

from deg_kernels import Prefix, Rows, fork_attention, naive_fork_attention

# A = 6 heads, G = 2 key/value heads, so that three heads share a key head
DTYPES = [torch.float32, torch.bfloat16]
TOLERANCE = {torch.float32: 1e-5, torch.bfloat16: 3e-2}
Qkv = tuple[Tensor, Tensor, Tensor]


def draw(num: int, *, size: int = 64, dtype: torch.dtype = torch.float32) -> Qkv:
    generator = torch.Generator().manual_seed(1000 * size + num)
    q, k, v = (torch.randn(num, heads, size, generator=generator) for heads in (6, 2, 2))
    return q.to(dtype), k.to(dtype), v.to(dtype)


def part(qkv: Qkv, start: int, end: int) -> Qkv:
    q, k, v = qkv
    return q[start:end], k[start:end], v[start:end]


def after(prefix: Prefix, own: Qkv) -> Qkv:
    """Return the prefix and *own* as one row; nobody asks for the prefix's own outputs."""
    q, k, v = own
    before_q = torch.ones(len(prefix), *q.shape[1:], dtype=q.dtype)
    return (
        torch.cat([before_q, q]),
        torch.cat([prefix.keys_PGD, k]),
        torch.cat([prefix.values_PGD, v]),
    )


@pytest.fixture(params=[1, 2])
def num_threads(request: pytest.FixtureRequest) -> object:
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("window", [None, 1, 50, 300])
@pytest.mark.parametrize("size", [16, 64, 128, 256, 512])
def test_it_agrees_with_the_reference(size: int, window: int | None, dtype: torch.dtype) -> None:
    prefixes = [Prefix(*draw(num, size=size, dtype=dtype)[1:]) for num in (0, 64, 1200)]
    qkv = draw(210, size=size, dtype=dtype)
    rows = Rows((5, 0, 130, 1, 70), (1, 0, None, 2, 2))
    expected = naive_fork_attention(*qkv, rows, prefixes, window=window)
    found = fork_attention(*qkv, rows, prefixes, window=window)
    torch.testing.assert_close(found, expected, atol=TOLERANCE[dtype], rtol=TOLERANCE[dtype])


def test_a_scale_of_ones_own_is_used() -> None:
    qkv, rows = draw(9), Rows((9,), (None,))
    expected = naive_fork_attention(*qkv, rows, scale=0.5)
    torch.testing.assert_close(fork_attention(*qkv, rows, scale=0.5), expected)


def test_tokens_after_the_last_row_get_zeros() -> None:
    found = fork_attention(*draw(9), Rows((4, 2), (None, None)))
    assert found[:6].abs().min() > 0
    assert not found[6:].any()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("window", [None, 90])
def test_a_row_has_the_same_bits_alone_and_beside_others(
    window: int | None, dtype: torch.dtype, num_threads: int
) -> None:
    prefixes = [Prefix(*draw(num, dtype=dtype)[1:]) for num in (300, 20)]
    qkv, rows = draw(250, dtype=dtype), Rows((3, 150, 64, 1, 32), (0, None, 0, 1, 0))
    together = fork_attention(*qkv, rows, prefixes, window=window)
    start = 0
    for length, index in zip(rows.lengths, rows.prefixes, strict=True):
        end = start + length
        own = None if index is None else 0
        alone = fork_attention(
            *part(qkv, start, end),
            Rows((length,), (own,)),
            [] if index is None else [prefixes[index]],
            window=window,
        )
        assert torch.equal(alone, together[start:end])
        start = end


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("num_before", [1, 63, 64, 190, 1030])
def test_a_fork_has_the_bits_of_one_pass(
    num_before: int, dtype: torch.dtype, num_threads: int
) -> None:
    prefix = Prefix(*draw(num_before, dtype=dtype)[1:])
    own = draw(140, dtype=dtype)
    fork = fork_attention(*own, Rows((140,), (0,)), [prefix])
    whole = fork_attention(*after(prefix, own), Rows((num_before + 140,), (None,)))
    assert torch.equal(whole[num_before:], fork)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("window", [None, 70])
def test_token_by_token_has_the_bits_of_a_fork(
    window: int | None, dtype: torch.dtype, num_threads: int
) -> None:
    prefix, own = Prefix(*draw(120, dtype=dtype)[1:]), draw(12, dtype=dtype)
    fork = fork_attention(*own, Rows((12,), (0,)), [prefix], window=window)
    _, keys, values = after(prefix, own)
    for token in range(12):
        grown = Prefix(keys[: 120 + token], values[: 120 + token])
        one = part(own, token, token + 1)
        found = fork_attention(*one, Rows((1,), (0,)), [grown], window=window)
        assert torch.equal(found[0], fork[token])


@pytest.mark.parametrize("dtype", DTYPES)
def test_two_threads_give_the_bits_of_one(dtype: torch.dtype) -> None:
    prefix, qkv, rows = Prefix(*draw(700, dtype=dtype)[1:]), draw(96, dtype=dtype), None
    rows = Rows((32, 32, 32), (0, 0, 0))
    found = []
    for num_threads in (1, 2):
        torch.set_num_threads(num_threads)
        found.append(fork_attention(*qkv, rows, [prefix]))
    torch.set_num_threads(1)
    assert torch.equal(*found)


def test_what_later_tokens_hold_changes_nothing() -> None:
    q, k, v = draw(100)
    expected = fork_attention(q, k, v, Rows((100,), (None,)))
    k[90:], v[90:] = 1e4, float("nan")
    found = fork_attention(q, k, v, Rows((90,), (None,)))
    assert torch.equal(found[:90], expected[:90])


def test_gradients_are_those_of_the_reference() -> None:
    prefix, rows = Prefix(*(t.requires_grad_() for t in draw(200)[1:])), Rows((40, 5), (0, None))
    qkv = tuple(t.requires_grad_() for t in draw(45))
    leaves = [*qkv, prefix.keys_PGD, prefix.values_PGD]
    weight = torch.linspace(-1, 1, 64)
    found, expected = (
        torch.autograd.grad((attend(*qkv, rows, [prefix]) @ weight).sum(), leaves)
        for attend in (fork_attention, naive_fork_attention)
    )
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4)


def test_gradients_on_or_off_give_the_same_bits() -> None:
    prefix, qkv, rows = Prefix(*draw(200)[1:]), draw(40), Rows((40,), (0,))
    with torch.no_grad():
        expected = fork_attention(*qkv, rows, [prefix])
    assert torch.equal(fork_attention(*qkv, rows, [prefix]), expected)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"q": draw(4, size=48)[0]}, "q_NAD: head size 48"),
        ({"q": draw(4)[0].half()}, "q_NAD: has dtype float16"),
        ({"k": draw(4)[1].bfloat16()}, "keys_NGD: has dtype bfloat16"),
        ({"k": draw(5)[1]}, "keys_NGD: has shape"),
        ({"v": draw(5)[2]}, "values_NGD: has shape"),
        ({"q": draw(4)[0][:, :5]}, "keys_NGD: has 2 heads"),
        ({"rows": Rows((5,), (None,))}, "rows: reach to token 5 of 4"),
        ({"rows": Rows((-1,), (None,))}, "rows: a row has a negative length"),
        ({"rows": Rows((4,), (1,))}, "rows: row 0 continues prefix 1 of 1"),
        ({"rows": Rows((4,), ())}, "rows: 1 lengths, but 0 prefixes"),
        ({"prefix": Prefix(*draw(3, size=16)[1:])}, r"prefixes\[0\].keys_PGD: has shape"),
        ({"window": 0}, "window: 0 tokens"),
    ],
)
def test_bad_input_is_refused_by_name(changes: dict[str, object], message: str) -> None:
    q, k, v = draw(4)
    given = {"q": q, "k": k, "v": v, "rows": Rows((4,), (0,)), "prefix": Prefix(k, v)}
    given |= {"window": None, **changes}
    with pytest.raises(ValueError, match=message):
        fork_attention(
            *(given[name] for name in ("q", "k", "v", "rows")),
            [given["prefix"]],
            window=given["window"],
        )
