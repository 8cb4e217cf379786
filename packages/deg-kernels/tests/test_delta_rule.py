from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from deg_kernels import NOWHERE, StateRows, fork_delta_rule, naive_fork_delta_rule
from deg_kernels.delta_rule import cpu
from state_inputs import DeltaInputs, DeltaSizes, delta_inputs, spans

# J value heads, K key size, V value size, F places
LENGTHS = [5, 0, 1, 30, 17, 9, 30]
STARTS = [0, 1, NOWHERE, 0, 2, 2, 1]
SIZES = [DeltaSizes(4, 4, 128, 128), DeltaSizes(2, 4, 64, 32), DeltaSizes(1, 3, 16, 8)]
DTYPES = [torch.float32, torch.bfloat16]
every_kind = pytest.mark.parametrize(
    ("sizes", "dtype"), [(sizes, dtype) for sizes in SIZES for dtype in DTYPES], ids=str
)


def run(
    tokens: tuple[Tensor, ...],
    pool: Tensor | None,
    lengths: list[int],
    starts: list[int] | None = None,
    offsets: list[int] | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the outputs and every row's final state."""
    rows = StateRows.of(lengths, starts=starts, offsets=offsets, writes=range(len(lengths)))
    finals_FJKV = torch.full((len(lengths), *state_shape(tokens)), torch.nan)
    return fork_delta_rule(*tokens, pool, rows, finals_FJKV=finals_FJKV), finals_FJKV


def state_shape(tokens: tuple[Tensor, ...]) -> tuple[int, int, int]:
    return tokens[2].shape[1], tokens[0].shape[2], tokens[2].shape[2]


def batch(sizes: DeltaSizes, dtype: torch.dtype) -> tuple[DeltaInputs, Tensor, Tensor, Tensor]:
    inputs, pool = delta_inputs(sum(LENGTHS), sizes, dtype), sizes.pool(3)
    return inputs, pool, *run(inputs[:], pool, LENGTHS, STARTS)


@every_kind
def test_a_row_alone_has_the_bits_it_has_in_a_batch(sizes: DeltaSizes, dtype: torch.dtype) -> None:
    inputs, pool, out, finals = batch(sizes, dtype)
    for row, span in enumerate(spans(LENGTHS)):
        alone, final = run(inputs[span], pool, [LENGTHS[row]], [STARTS[row]])
        assert torch.equal(alone, out[span])
        assert torch.equal(final[0], finals[row])


@every_kind
def test_the_order_of_rows_and_repeated_rows_change_no_bit(
    sizes: DeltaSizes, dtype: torch.dtype
) -> None:
    inputs, pool, out, finals = batch(sizes, dtype)
    order = [3, 6, 0, 3, 5, 1, 2, 4, 5, 5]
    where = spans(LENGTHS)
    tokens = torch.cat([torch.arange(where[row].start, where[row].stop) for row in order])
    lengths, starts = [LENGTHS[row] for row in order], [STARTS[row] for row in order]
    again, finals_again = run(inputs[tokens], pool, lengths, starts)
    assert torch.equal(again, out[tokens])
    assert torch.equal(finals_again, finals[order])


@every_kind
@pytest.mark.parametrize("prefix", [1, 37, 64])
def test_forks_give_the_bits_of_one_pass(
    sizes: DeltaSizes, dtype: torch.dtype, prefix: int
) -> None:
    inputs = delta_inputs(prefix + sum(LENGTHS), sizes, dtype)
    trunk = inputs[:prefix]
    _, state = run(trunk, None, [prefix])
    before = state.clone()
    forks, finals = run(inputs[prefix:], state, LENGTHS, [0] * len(LENGTHS))
    assert torch.equal(state, before)
    for row, span in enumerate(spans(LENGTHS)):
        own = slice(prefix + span.start, prefix + span.stop)
        whole = tuple(torch.cat(pair) for pair in zip(trunk, inputs[own], strict=True))
        one_pass, final = run(whole, None, [prefix + LENGTHS[row]])
        assert torch.equal(one_pass[prefix:], forks[span])
        assert torch.equal(final[0], finals[row])


@every_kind
@pytest.mark.parametrize("cuts", [[70], [64, 6], [1, 2, 67], [33, 31, 6]])
def test_a_cut_anywhere_changes_no_bit(
    sizes: DeltaSizes, dtype: torch.dtype, cuts: list[int]
) -> None:
    inputs = delta_inputs(70, sizes, dtype)
    expected, expected_state = run(inputs[:], None, [70])
    state, outs = None, []
    for span, length in zip(spans(cuts), cuts, strict=True):
        start = NOWHERE if state is None else 0
        out, state = run(inputs[span], state, [length], [start])
        outs.append(out)
    assert torch.equal(torch.cat(outs), expected)
    assert torch.equal(state, expected_state)


@every_kind
def test_decoding_in_place_gives_the_bits_of_a_fork(sizes: DeltaSizes, dtype: torch.dtype) -> None:
    lengths, num_rows = [6] * 3, 3
    inputs, pool = delta_inputs(sum(lengths), sizes, dtype), sizes.pool(num_rows)
    expected, finals = run(inputs[:], pool, lengths, [0, 1, 2])
    rows = StateRows.of([1] * num_rows, starts=range(num_rows), writes=range(num_rows))
    for step in range(6):
        tokens = torch.arange(step, sum(lengths), 6)
        out = fork_delta_rule(*inputs[tokens], pool, rows, finals_FJKV=pool)
        assert torch.equal(out, expected[tokens])
    assert torch.equal(pool, finals)


@every_kind
def test_padding_is_exact(sizes: DeltaSizes, dtype: torch.dtype) -> None:
    inputs = delta_inputs(20, sizes, dtype)
    out, finals = run(inputs[:], None, [6, 9], offsets=[0, 8])
    expected = [run(inputs[:6], None, [6]), run(inputs[8:17], None, [9])]
    assert torch.equal(out[:6], expected[0][0])
    assert torch.equal(out[8:17], expected[1][0])
    assert torch.equal(finals, torch.cat([final for _, final in expected]))
    assert not out[6:8].any()
    assert not out[17:].any()


@every_kind
def test_a_token_without_decay_and_amount_changes_nothing(
    sizes: DeltaSizes, dtype: torch.dtype
) -> None:
    inputs, pool = delta_inputs(9, sizes, dtype), sizes.pool(1)
    inputs.tokens[3][6:] = 0
    inputs.tokens[4][6:] = 0
    out, final = run(inputs[:6], pool, [6], [0])
    padded, padded_final = run(inputs[:], pool, [9], [0])
    assert torch.equal(padded[:6], out)
    assert torch.equal(padded_final, final)


def test_how_the_work_is_cut_changes_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = DeltaSizes(2, 4, 64, 32)
    inputs, pool, out, finals = batch(sizes, torch.bfloat16)
    for num_bytes, num_tokens in [(1, 1), (1, 512), (3 * 4 * 4 * 64 * 32, 16)]:
        monkeypatch.setattr(cpu, "_GROUP_BYTES", num_bytes)
        monkeypatch.setattr(cpu, "_BLOCK_TOKENS", num_tokens)
        again, finals_again = run(inputs[:], pool, LENGTHS, STARTS)
        assert torch.equal(again, out)
        assert torch.equal(finals_again, finals)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_second_thread_changes_no_bit(dtype: torch.dtype) -> None:
    sizes = DeltaSizes(3, 3, 128, 128)
    inputs, pool = delta_inputs(9, sizes, dtype), sizes.pool(3)
    results = []
    num_threads = torch.get_num_threads()
    try:
        for count in (1, 2):
            torch.set_num_threads(count)
            results.append(run(inputs[:], pool, [3, 1, 5], [0, 1, 2]))
    finally:
        torch.set_num_threads(num_threads)
    assert torch.equal(results[0][0], results[1][0])
    assert torch.equal(results[0][1], results[1][1])


def test_the_layout_in_memory_changes_no_bit() -> None:
    sizes = DeltaSizes(2, 2, 64, 64)
    q, k, v, g, beta = delta_inputs(20, sizes, torch.bfloat16)[:]
    mixed = torch.cat([q, k, v], 1)
    views = (mixed[:, :2], mixed[:, 2:4], mixed[:, 4:], g.t().contiguous().t(), beta)
    expected, expected_state = run((q, k, v, g, beta), None, [20])
    out, state = run(views, None, [20])
    assert torch.equal(out, expected)
    assert torch.equal(state, expected_state)


def test_rows_leave_states_only_where_asked() -> None:
    sizes = DeltaSizes(1, 2, 16, 8)
    inputs, pool = delta_inputs(6, sizes, torch.float32), sizes.pool(4)
    before = pool.clone()
    rows = StateRows.of([2, 2, 0, 2], starts=[0, 1, 1, NOWHERE], writes=[NOWHERE, 2, 3, NOWHERE])
    fork_delta_rule(*inputs[:], pool, rows, finals_FJKV=pool)
    assert torch.equal(pool[:2], before[:2])
    assert torch.equal(pool[3], before[1])
    assert not torch.equal(pool[2], before[2])


@pytest.mark.parametrize("lengths", [[], [0, 0]])
def test_rows_without_tokens_give_nothing(lengths: list[int]) -> None:
    sizes = DeltaSizes(1, 2, 16, 8)
    out, finals = run(delta_inputs(0, sizes, torch.float32)[:], None, lengths)
    assert out.shape == (0, 2, 8)
    assert not finals.any()


@every_kind
def test_it_agrees_with_the_reference_in_fp64(sizes: DeltaSizes, dtype: torch.dtype) -> None:
    inputs, pool, out, finals = batch(sizes, dtype)
    rows = StateRows.of(LENGTHS, starts=STARTS, writes=range(len(LENGTHS)))
    true_finals = torch.zeros_like(finals, dtype=torch.float64)
    true = naive_fork_delta_rule(*inputs[:], pool.double(), rows, finals_FJKV=true_finals)
    tolerance = 1e-5 if dtype == torch.float32 else 1e-2
    torch.testing.assert_close(out.double(), true, rtol=tolerance, atol=tolerance)
    torch.testing.assert_close(finals.double(), true_finals, rtol=1e-5, atol=1e-5)


def test_the_reference_has_gradients() -> None:
    sizes = DeltaSizes(1, 2, 16, 8)
    tokens = tuple(x.requires_grad_() for x in delta_inputs(4, sizes, torch.float32)[:])
    pool = sizes.pool(1).requires_grad_()
    out = naive_fork_delta_rule(*tokens, pool, StateRows.of([4], starts=[0]))
    out.square().sum().backward()
    assert all(x.grad is not None and x.grad.any() for x in (*tokens, pool))


def arguments() -> dict[str, Any]:
    sizes = DeltaSizes(2, 4, 16, 8)
    q, k, v, g, beta = delta_inputs(5, sizes, torch.bfloat16)[:]
    pool, finals = sizes.pool(2), sizes.pool(1)
    rows = StateRows.of([2, 3], starts=[0, 1], writes=[NOWHERE, 0])
    return {
        "q_NHK": q,
        "k_NHK": k,
        "v_NJV": v,
        "g_NJ": g,
        "beta_NJ": beta,
        "states_SJKV": pool,
        "rows": rows,
        "finals_FJKV": finals,
    }


@pytest.mark.parametrize(
    ("name", "change", "problem"),
    [
        ("q_NHK", lambda x: x.half(), "has dtype float16"),
        ("q_NHK", lambda x: x[0], "has shape"),
        ("q_NHK", lambda x: x[..., :12], "key size 12 is not one of"),
        ("k_NHK", lambda x: x.float(), "has dtype float32, but q_NHK has bfloat16"),
        ("k_NHK", lambda x: x[:, :1], "has shape"),
        ("v_NJV", lambda x: x[:, :3], "has 3 heads, no multiple of 2 key heads"),
        ("v_NJV", lambda x: x[..., :6], "value size 6 is no multiple of 8"),
        ("v_NJV", lambda x: x[:4], "has shape"),
        ("g_NJ", lambda x: x.bfloat16(), "has dtype bfloat16"),
        ("g_NJ", lambda x: x[:4], "has shape"),
        ("beta_NJ", lambda x: x.double(), "has dtype float64"),
        ("beta_NJ", lambda x: x[:, :3], "has shape"),
        ("states_SJKV", lambda x: x.bfloat16(), "has dtype bfloat16"),
        ("states_SJKV", lambda x: x[:, :3], "has shape"),
        ("states_SJKV", lambda x: x.transpose(0, 1).contiguous().transpose(0, 1), "contiguous"),
        ("states_SJKV", lambda x: x.to("meta"), "lies on meta, but q_NHK lies on cpu"),
        ("finals_FJKV", lambda x: x[..., :4], "has shape"),
        ("rows", lambda _: StateRows.of([6]), "reach to token 6 of 5"),
    ],
)
def test_what_does_not_fit_is_named(name: str, change: Callable[[Any], Any], problem: str) -> None:
    given = arguments()
    given[name] = change(given[name])
    with pytest.raises(ValueError, match=f"^{name}: .*{problem}"):
        fork_delta_rule(**given)


def test_places_outside_their_pools_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^starts: place 1 is not in a pool of 0$"):
        fork_delta_rule(**arguments() | {"states_SJKV": None})
    with pytest.raises(ValueError, match=r"^writes: place 0 is not in a pool of 0$"):
        fork_delta_rule(**arguments() | {"finals_FJKV": None})


def test_a_gradient_is_refused() -> None:
    given = arguments()
    given["v_NJV"].requires_grad_()
    with pytest.raises(ValueError, match=r"^v_NJV: requires a gradient"):
        fork_delta_rule(**given)
    with torch.no_grad():
        assert not fork_delta_rule(**given).requires_grad
