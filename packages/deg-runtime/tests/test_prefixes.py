from __future__ import annotations

from hypothesis import given, strategies as st

from deg_runtime.prefixes import PrefixIndex

IDS = st.lists(st.integers(0, 1), max_size=20).map(tuple)


@given(sequences=st.lists(IDS, max_size=6), ids=IDS, step=st.integers(1, 4))
def test_the_longest_common_beginning_is_found(
    sequences: list[tuple[int, ...]], ids: tuple[int, ...], step: int
) -> None:
    index = PrefixIndex(step)
    for number, sequence in enumerate(sequences):
        index.add(str(number), sequence)
    lengths = [
        length
        for sequence in sequences
        for length in range(step, min(len(sequence), len(ids)) + 1, step)
        if sequence[:length] == ids[:length]
    ]
    found = index.longest(ids)
    assert (found[1] if found else 0) == max(lengths, default=0)
    if found:
        assert sequences[int(found[0])][: found[1]] == ids[: found[1]]


@given(sequences=st.lists(IDS, min_size=1, max_size=6), step=st.integers(1, 4))
def test_what_is_removed_is_not_found(sequences: list[tuple[int, ...]], step: int) -> None:
    index = PrefixIndex(step)
    for number, sequence in enumerate(sequences):
        index.add(str(number), sequence)
    for number in range(len(sequences)):
        index.remove(str(number))
        assert all((index.longest(ids) or ("", 0))[0] != str(number) for ids in sequences)
    assert not index._names


def test_two_beginnings_with_one_hash_are_told_apart() -> None:
    index = PrefixIndex(1)
    # the hash of -1 is that of -2
    index.add("other", (-1,))
    assert index.longest((-2,)) is None
    assert index.longest((-1,)) == ("other", 1)
