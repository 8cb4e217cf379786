"""How rows are cut on the CPU, so that the shape of every sum follows from a position alone.

Queries are cut at the multiples of 64 positions, counted from the start of the context. A query in
such a tile sees the keys of its own tile and of the one before as *near* keys, always 128 places
of which those after it are masked, and all keys before them as *far* keys, in segments that end at
the multiples of 1024. So the sums over keys have the same lengths and limits for a position in
whatever way its row came to be: read in one pass, as a fork, or token by token. What does differ
is how many queries share a product, and rows of a product are padded to a multiple of 16, within
which a row gets the same bits at any place (`deg_kernels.linear`).

Queries of several rows that continue one prefix share the products with its far keys, which are
read in place. Near keys are gathered, at most 128 of them for a tile of queries.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, groupby

import torch
from torch import Tensor

from deg_kernels.attention.rows import Rows

# N flat tokens, E query heads that share a key head, G key/value heads, A = E * G heads
# I tiles of a group, M padded queries of a tile, K near keys

__all__ = ["NEAR", "Group", "Plan", "Segment", "plan_tiles"]

TILE = 64
NEAR = 2 * TILE
SEGMENT = 1024
_ROW_GRID = 16
_MOST_SCORES = 1 << 22
_MOST_PADDING = 1.25


@dataclass(frozen=True, slots=True)
class Segment:
    """Far keys that lie together.

    Attributes:
        prefix: The prefix in which they lie; None if they reach into the row's own tokens.
        row: The row whose own tokens they reach, otherwise None.
        start: The position of the first.
        end: The position after the last.
    """

    prefix: int | None
    row: int | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Group:
    """Tiles with the same far keys, computed by the same products.

    Attributes:
        num_tiles: I.
        num_rows: M, the rows of each tile's products: queries times heads, padded.
        segments: The far keys.
        mask_IMC: What is added to the last C columns of the scores: 0, or -inf for unseen keys.
    """

    num_tiles: int
    num_rows: int
    segments: tuple[Segment, ...]
    mask_IMC: Tensor

    @property
    def num_far(self) -> int:
        """How many far keys there are."""
        return self.segments[-1].end - self.segments[0].start if self.segments else 0


@dataclass(frozen=True, slots=True)
class Plan:
    """All that is known of a pass before its numbers are: the same for every layer.

    Attributes:
        groups: The groups, in the order of their queries.
        query_index: For each row of the groups' products, which of the N * A queries it is.
        key_index: For each group's [G, I, K] near keys, which row of the gathered source it is.
        tails: The end of each prefix that the source holds: its index and first position.
        output_index: For each of the N * A outputs its row among the groups' products; for the
            tokens after the last row the row of zeros that follows these.
    """

    groups: tuple[Group, ...]
    query_index: Tensor
    key_index: Tensor
    tails: tuple[tuple[int, int], ...]
    output_index: Tensor


@dataclass(frozen=True, slots=True)
class _Tile:
    """Some queries of a row: *count* of them from its own token *first* on, in tile *number*."""

    row: int
    number: int
    first: int
    count: int
    segments: tuple[Segment, ...]
    num_rows: int


@dataclass(frozen=True, slots=True)
class _Pass:
    """The numbers that a plan is made from."""

    rows: Rows
    prefix_lengths: tuple[int, ...]
    num_tokens: int
    heads: int
    groups: int
    window: int | None
    dtype: torch.dtype

    @property
    def each(self) -> int:
        return self.heads // self.groups

    @property
    def starts(self) -> list[int]:
        return list(accumulate(self.rows.lengths, initial=0))

    def before(self, row: int) -> int:
        index = self.rows.prefixes[row]
        return 0 if index is None else self.prefix_lengths[index]


@lru_cache(maxsize=16)
def plan_tiles(
    rows: Rows,
    prefix_lengths: tuple[int, ...],
    *,
    num_tokens: int,
    heads: int,
    groups: int,
    window: int | None,
    dtype: torch.dtype,
) -> Plan:
    """Cut *rows* into tiles and say where every number of their products comes from."""
    cut = _Pass(rows, prefix_lengths, num_tokens, heads, groups, window, dtype)
    # a plan outlives the pass it is made in, and a later one may need gradients
    with torch.inference_mode(False):
        return _planned(cut, list(_grouped(cut)))


def _planned(cut: _Pass, grouped: list[list[_Tile]]) -> Plan:
    tails = _tails(cut, [tile for tiles in grouped for tile in tiles])
    source = _source_starts(cut, tails)
    groups, queries, keys = [], [], []
    for tiles in grouped:
        places_IM = _places(tiles, cut)
        groups.append(_group(tiles, cut, places_IM))
        queries.append(_query_index(tiles, cut, places_IM).flatten())
        keys.append(_key_index(tiles, cut, source).flatten())
    query_index = torch.cat([*queries, torch.zeros(0, dtype=torch.long)])
    is_real = query_index >= 0
    output_index = torch.full((cut.num_tokens * cut.heads,), len(query_index))
    output_index[query_index[is_real]] = is_real.nonzero()[:, 0]
    return Plan(
        tuple(groups),
        query_index.clamp_(min=0),
        torch.cat([*keys, torch.zeros(0, dtype=torch.long)]),
        tuple(tails.items()),
        output_index,
    )


def _grouped(cut: _Pass) -> Iterator[list[_Tile]]:
    tiles = [tile for row in range(len(cut.rows.lengths)) for tile in _tiles(row, cut)]

    def key(tile: _Tile) -> tuple[int, int, int]:
        # without far keys the rows share nothing, but their near keys lie alike
        far = tile.segments[-1] if tile.segments else None
        prefix, row = (far.prefix, far.row) if far else (None, None)
        return (
            _near_start(tile.number),
            -1 if prefix is None else prefix,
            -1 if row is None else row,
        )

    tiles.sort(key=lambda tile: (*key(tile), tile.num_rows))
    for _, alike in groupby(tiles, key=key):
        yield from _sized(list(alike), cut)


def _sized(tiles: Sequence[_Tile], cut: _Pass) -> Iterator[list[_Tile]]:
    """Cut tiles of rising size where padding to the largest or the scores would get too large."""
    group: list[_Tile] = []
    real = 0
    for tile in tiles:
        rows = (len(group) + 1) * tile.num_rows
        scores = rows * _num_columns(tile) * cut.groups
        if group and (scores > _MOST_SCORES or rows > _MOST_PADDING * (real + tile.num_rows)):
            yield group
            group, real = [], 0
        group.append(tile)
        real += tile.num_rows
    yield group


def _tiles(row: int, cut: _Pass) -> Iterator[_Tile]:
    before, length = cut.before(row), cut.rows.lengths[row]
    first = 0
    while first < length:
        number = (before + first) // TILE
        segments = tuple(_segments(row, number, cut))
        columns = NEAR + sum(segment.end - segment.start for segment in segments)
        most = max(_MOST_SCORES // (columns * cut.heads), -(-_ROW_GRID // cut.each))
        count = min((number + 1) * TILE - before, length, first + most) - first
        num_rows = -(-count * cut.each // _ROW_GRID) * _ROW_GRID
        yield _Tile(row, number, first, count, segments, num_rows)
        first += count


def _segments(row: int, number: int, cut: _Pass) -> Iterator[Segment]:
    before, index = cut.before(row), cut.rows.prefixes[row]
    end, start = _near_start(number), 0
    if cut.window is not None:
        start = max(0, number * TILE - cut.window + 1) // TILE * TILE
    while start < end:
        stop = min(start // SEGMENT * SEGMENT + SEGMENT, end)
        inside = stop <= before
        yield Segment(index if inside else None, None if inside else row, start, stop)
        start = stop


def _near_start(number: int) -> int:
    return max(0, number - 1) * TILE


def _num_columns(tile: _Tile) -> int:
    return NEAR + sum(segment.end - segment.start for segment in tile.segments)


def _places(tiles: list[_Tile], cut: _Pass) -> Tensor:
    """Return for each product row its head times the tile's queries plus its query, or -1."""
    places_M = torch.arange(max(tile.num_rows for tile in tiles))
    numbers_I1 = torch.tensor([cut.each * tile.count for tile in tiles])[:, None]
    return torch.where(places_M < numbers_I1, places_M, -1)


def _group(tiles: list[_Tile], cut: _Pass, places_IM: Tensor) -> Group:
    tile = tiles[0]
    start = end = _near_start(tile.number)
    if cut.window is not None and tile.segments:
        start = tile.segments[0].start
    keys_C = torch.arange(start, end + NEAR)
    counts_I1 = torch.tensor([tile.count for tile in tiles])[:, None]
    firsts_I1 = torch.tensor([cut.before(tile.row) + tile.first for tile in tiles])[:, None]
    # padding sees what the first query sees: to see nothing would be 0 / 0
    positions_IM1 = (firsts_I1 + places_IM.clamp(min=0) % counts_I1)[..., None]
    hidden_IMC = keys_C > positions_IM1
    if cut.window is not None:
        hidden_IMC |= keys_C <= positions_IM1 - cut.window
    mask_IMC = torch.zeros(hidden_IMC.shape, dtype=cut.dtype)
    mask_IMC.masked_fill_(hidden_IMC, float("-inf"))
    return Group(len(tiles), places_IM.shape[1], tile.segments, mask_IMC)


def _query_index(tiles: list[_Tile], cut: _Pass, places_IM: Tensor) -> Tensor:
    counts_I1 = torch.tensor([tile.count for tile in tiles])[:, None]
    firsts_I1 = torch.tensor([cut.starts[tile.row] + tile.first for tile in tiles])[:, None]
    tokens_IM, heads_IM = firsts_I1 + places_IM % counts_I1, places_IM // counts_I1
    first_heads_G11 = torch.arange(cut.groups)[:, None, None] * cut.each
    index_GIM = tokens_IM * cut.heads + first_heads_G11 + heads_IM
    return torch.where(places_IM < 0, -1, index_GIM)


def _tails(cut: _Pass, tiles: list[_Tile]) -> dict[int, int]:
    """Return for each prefix with near keys the position of the first one."""
    tails: dict[int, int] = {}
    for tile in tiles:
        index, start = cut.rows.prefixes[tile.row], _near_start(tile.number)
        if index is not None and start < cut.prefix_lengths[index]:
            tails[index] = min(start, tails.get(index, start))
    return tails


def _source_starts(cut: _Pass, tails: dict[int, int]) -> dict[int | None, int]:
    """Return where position 0 of each prefix, and as None the pass, would be in the source."""
    starts: dict[int | None, int] = {}
    # the source begins with a token of zeros, for the places after a row's last token
    end = 1
    for index, first in tails.items():
        starts[index] = end - first
        end += cut.prefix_lengths[index] - first
    return {**starts, None: end}


def _key_index(tiles: list[_Tile], cut: _Pass, source: dict[int | None, int]) -> Tensor:
    positions_K = _near_start(tiles[0].number) + torch.arange(NEAR)
    own, befores = cut.starts, [cut.before(tile.row) for tile in tiles]
    in_pass = [
        source[None] + own[tile.row] - before for tile, before in zip(tiles, befores, strict=True)
    ]
    in_tail = [source.get(cut.rows.prefixes[tile.row], 0) for tile in tiles]
    before_I1 = torch.tensor(befores)[:, None]
    end_I1 = before_I1 + torch.tensor([cut.rows.lengths[tile.row] for tile in tiles])[:, None]
    first_I1 = torch.where(
        positions_K < before_I1, torch.tensor(in_tail)[:, None], torch.tensor(in_pass)[:, None]
    )
    tokens_IK = torch.where(positions_K < end_I1, first_I1 + positions_K, 0)
    return tokens_IK * cut.groups + torch.arange(cut.groups)[:, None, None]
