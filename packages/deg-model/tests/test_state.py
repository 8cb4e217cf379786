from __future__ import annotations

import torch
from torch import Tensor

from deg_model import KeyValues, Recurrent, State
from deg_model.state import Moment


def keys(num: int, *, seed: int = 0) -> Tensor:
    return torch.randn(num, 2, 4, generator=torch.Generator().manual_seed(100 * seed + num))


def grown(*numbers: int) -> KeyValues:
    state = KeyValues.of(keys(numbers[0]), -keys(numbers[0]))
    for number in numbers[1:]:
        with torch.no_grad():
            state = state.extended(keys(number), -keys(number))
    return state


def test_what_is_added_follows_what_was_there() -> None:
    state = grown(5, 3, 1)
    assert torch.equal(state.keys_PGD, torch.cat([keys(5), keys(3), keys(1)]))
    assert torch.equal(state.values_PGD, -state.keys_PGD)
    assert len(state) == 9
    assert state.num_bytes == 2 * 9 * 2 * 4 * 4


def test_further_tokens_are_written_in_place() -> None:
    before = grown(5, 3)
    with torch.no_grad():
        after = before.extended(keys(1), keys(1))
    assert after.keys_PGD.data_ptr() == before.keys_PGD.data_ptr()
    assert len(before) == 8


def test_a_second_continuation_leaves_the_first_alone() -> None:
    before = grown(5, 3)
    with torch.no_grad():
        first = before.extended(keys(2, seed=1), keys(2, seed=1))
        kept = first.keys_PGD.clone()
        second = before.extended(keys(2, seed=2), keys(2, seed=2))
    assert torch.equal(first.keys_PGD, kept)
    assert torch.equal(second.keys_PGD[-2:], keys(2, seed=2))


def test_a_full_buffer_grows() -> None:
    state = grown(5, 60, 60, 60)
    assert torch.equal(state.keys_PGD, torch.cat([keys(5), keys(60), keys(60), keys(60)]))


def test_what_is_kept_is_a_copy() -> None:
    own = keys(4)
    state = KeyValues.of(own, own)
    own.zero_()
    assert torch.equal(state.keys_PGD, keys(4))


def test_gradients_reach_every_token() -> None:
    first, second = keys(2).requires_grad_(), keys(3).requires_grad_()
    state = KeyValues.of(first, first).extended(second, second)
    state.keys_PGD.sum().backward()
    assert torch.equal(first.grad, torch.ones(2, 2, 4))
    assert torch.equal(second.grad, torch.ones(3, 2, 4))


def test_a_row_of_a_pass_is_its_own() -> None:
    states, tails = torch.randn(3, 2, 4, 4), torch.randn(3, 6, 2)
    row = Recurrent(states, tails, 1)
    assert torch.equal(row.state_HKV, states[1])
    assert torch.equal(row.tail_CW, tails[1])
    assert row.num_bytes == (2 * 4 * 4 + 6 * 2) * 4
    assert Recurrent(None, tails).state_HKV is None


def test_a_state_holds_what_its_layers_hold() -> None:
    recurrent = Recurrent(None, torch.zeros(1, 6, 2))
    assert State((grown(3), recurrent), 3).num_bytes == 2 * 3 * 2 * 4 * 4 + 6 * 2 * 4
    assert (State().length, State().num_bytes) == (0, 0)


def test_what_has_room_is_not_copied_to_grow() -> None:
    with torch.no_grad():
        state = KeyValues.of(keys(5), keys(5), room=12)
        whole = state.extended(keys(3), keys(3)).extended(keys(4), keys(4), room=12)
        more = whole.extended(keys(1), keys(1), room=20)
    assert whole.keys_PGD.data_ptr() == state.keys_PGD.data_ptr()
    assert torch.equal(whole.keys_PGD, torch.cat([keys(5), keys(3), keys(4)]))
    assert whole.keys_PGD.untyped_storage().nbytes() == whole.num_bytes // 2
    assert more.keys_PGD.untyped_storage().nbytes() == 20 * 2 * 4 * 4


def test_an_earlier_moment_is_a_view_that_can_be_continued_otherwise() -> None:
    later = State((grown(5, 3), Recurrent(None, torch.ones(1, 6, 2))), 8)
    then = Recurrent(None, torch.zeros(1, 6, 2))
    state = later.at(Moment(6, {1: then}))
    attended, recurred = state.layers
    assert (state.length, len(attended), recurred) == (6, 6, then)
    assert attended.keys_PGD.data_ptr() == later.layers[0].keys_PGD.data_ptr()
    before = later.layers[0].keys_PGD.clone()
    with torch.no_grad():
        attended.extended(keys(2, seed=1), keys(2, seed=1))
    assert torch.equal(later.layers[0].keys_PGD, before)


def test_what_is_alone_lies_in_memory_of_its_own() -> None:
    pool = Recurrent(torch.randn(3, 2, 4, 4), torch.randn(3, 6, 2), 1)
    shared = State((grown(5, 60).first(7), pool), 7)
    own = shared.alone()
    for name in ("keys_PGD", "values_PGD"):
        assert torch.equal(getattr(own.layers[0], name), getattr(shared.layers[0], name))
    assert torch.equal(own.layers[1].state_HKV, pool.state_HKV)
    assert torch.equal(own.layers[1].tail_CW, pool.tail_CW)
    held = (own.layers[0].keys_PGD, own.layers[0].values_PGD, own.layers[1].states_IHKV)
    tail = own.layers[1].tails_ICW
    assert sum(t.untyped_storage().nbytes() for t in (*held, tail)) == own.num_bytes
    assert own.recurrent == {1: own.layers[1]}
