"""Qwen3.5-0.8B with random weights, written out from the operators of deg_kernels alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from gpu.measure import Bench
from torch import Tensor

import deg_kernels as kernels
from deg_kernels import NOWHERE, Prefix, Rows, StateRows

# N flat tokens, H hidden, A attention heads, G key/value heads, D head size, P tokens read, R rows
# S places in a pool, J heads of the delta rule, K key and value size, C channels, W taps of a tail

__all__ = ["EPS", "REAL", "TINY", "Memory", "Model", "Sizes"]

EPS = 1e-6
_TAPS = 4
_ROTATED_SHARE = 0.25


@dataclass(frozen=True, slots=True)
class Sizes:
    """What fixes the shape of every matrix; every fourth layer is attention."""

    num_layers: int
    hidden: int
    inner: int
    heads: int
    groups: int
    head_size: int
    state_heads: int
    state_size: int
    vocabulary: int

    @property
    def matrices(self) -> dict[str, tuple[int, int]]:
        """Outputs and inputs of each matrix; those with the same inputs are one."""
        values, queries = self.state_heads * self.state_size, self.heads * self.head_size
        keys = self.groups * self.head_size
        return {
            "delta in": (4 * values + 2 * self.state_heads, self.hidden),
            "delta out": (self.hidden, values),
            "attention in": (2 * queries + 2 * keys, self.hidden),
            "attention out": (self.hidden, queries),
            "mlp in": (2 * self.inner, self.hidden),
            "mlp out": (self.hidden, self.inner),
            "vocabulary": (self.vocabulary, self.hidden),
        }

    def is_attention(self, layer: int) -> bool:
        """Return whether a layer is attention rather than the delta rule."""
        return layer % 4 == 3


REAL = Sizes(24, 1024, 3584, 8, 2, 256, 16, 128, 248320)
"""Those of Qwen3.5-0.8B."""
TINY = Sizes(4, 64, 96, 4, 2, 64, 2, 32, 500)
"""Those of a dry run."""


@dataclass(frozen=True, slots=True)
class Memory:
    """What each layer remembers: keys and values of one row, states and tails of one or several."""

    length: int
    kv_2PGD: dict[int, Tensor]
    states_SJKK: dict[int, Tensor]
    tails_SCW: dict[int, Tensor]

    @property
    def kv_bytes(self) -> int:
        """The bytes of all keys and values."""
        return sum(_num_bytes(kv) for kv in self.kv_2PGD.values())

    @property
    def state_bytes(self) -> int:
        """The bytes of one row's states and tails."""
        pools = (*self.states_SJKK.values(), *self.tails_SCW.values())
        return sum(_num_bytes(pool[0]) for pool in pools)


@dataclass(frozen=True, slots=True, eq=False)
class _Call:
    """One pass through the layers: its rows, and what each layer collects of them."""

    memory: Memory | None
    rows: Rows
    state_rows: StateRows
    rotation: tuple[Tensor, Tensor]
    finals_SJKK: dict[int, Tensor] = field(default_factory=dict)
    kv_2NGD: dict[int, Tensor] = field(default_factory=dict)
    tails_RCW: dict[int, Tensor] = field(default_factory=dict)


class Model:
    """The stack over explicit memory."""

    def __init__(self, bench: Bench) -> None:
        self._sizes = sizes = TINY if bench.dry else REAL
        self._device = bench.device
        self._embedding_VH = _matrix(bench, sizes, "vocabulary")
        self._norm_H = bench.randn(sizes.hidden, scale=0.1)
        self._layers = [_layer(bench, sizes, index) for index in range(sizes.num_layers)]
        half = int(sizes.head_size * _ROTATED_SHARE) // 2
        self._frequencies = 1e7 ** -(torch.arange(half, device=bench.device) / half)

    @property
    def num_bytes(self) -> int:
        """The bytes of all weights."""
        layers = (tensor for layer in self._layers for tensor in layer.values())
        return sum(_num_bytes(tensor) for tensor in (self._embedding_VH, *layers))

    def operations(self, num_tokens: int, num_keys: int) -> int:
        """Return the operations of all layers; a multiplication and an addition are two.

        Args:
            num_keys: The keys that all tokens attend to, counted for each.
        """
        sizes, matrices = self._sizes, self._sizes.matrices
        total = 0
        for layer in range(sizes.num_layers):
            kind = "attention" if sizes.is_attention(layer) else "delta"
            names = (f"{kind} in", f"{kind} out", "mlp in", "mlp out")
            total += 2 * num_tokens * sum(n * k for n, k in (matrices[name] for name in names))
            if sizes.is_attention(layer):
                total += 4 * sizes.heads * sizes.head_size * num_keys
            else:
                total += 7 * sizes.state_heads * sizes.state_size**2 * num_tokens
        return total

    def read(self, ids_N: Tensor, memory: Memory | None = None) -> tuple[Tensor, Memory]:
        """Read on in one row; return the hidden states [N, H] and what is remembered."""
        sizes = self._sizes
        shape = (1, sizes.state_heads, sizes.state_size, sizes.state_size)
        state_layers = [i for i in range(sizes.num_layers) if not sizes.is_attention(i)]
        finals = {layer: torch.zeros(shape, device=self._device) for layer in state_layers}
        start = NOWHERE if memory is None else 0
        call = self._call([len(ids_N)], memory, [start], writes=[0], finals=finals)
        x_NH = self._forward(ids_N, call)
        kv = call.kv_2NGD
        if memory is not None:
            kv = {layer: torch.cat([memory.kv_2PGD[layer], kv[layer]], 1) for layer in kv}
        before = memory.length if memory else 0
        return x_NH, Memory(before + len(ids_N), kv, finals, call.tails_RCW)

    def fork(self, rows: Sequence[Tensor], memory: Memory) -> Sequence[Tensor]:
        """Return the hidden states of rows that each continue the memory, and leave nothing."""
        lengths = [len(ids) for ids in rows]
        call = self._call(lengths, memory, [0] * len(rows))
        return self._forward(torch.cat(list(rows)), call).split(lengths)

    def decoder(self, memory: Memory, num_rows: int) -> Callable[[Tensor], Tensor]:
        """Return a decode step, token ids [R] to the next ones, that updates states in place.

        The rows share the keys and values of the memory and have each their own states.
        """
        states, tails = (
            {layer: torch.cat([pool] * num_rows) for layer, pool in pools.items()}
            for pools in (memory.states_SJKK, memory.tails_SCW)
        )
        own, places = Memory(memory.length, memory.kv_2PGD, states, tails), list(range(num_rows))
        call = self._call([1] * num_rows, own, places, writes=places, finals=states)

        def step(ids_R: Tensor) -> Tensor:
            x_RH = self._forward(ids_R, call)
            for layer, tails_RCW in call.tails_RCW.items():
                tails[layer].copy_(tails_RCW)
            return kernels.argmax(kernels.linear(x_RH, self._embedding_VH))

        return step

    def _call(
        self,
        lengths: Sequence[int],
        memory: Memory | None,
        starts: Sequence[int],
        *,
        writes: Sequence[int] | None = None,
        finals: dict[int, Tensor] | None = None,
    ) -> _Call:
        before, prefix = (memory.length, 0) if memory else (0, None)
        positions_N = torch.cat([torch.arange(before, before + length) for length in lengths])
        angles_NC = positions_N.to(self._device)[:, None] * self._frequencies
        rotation = angles_NC.cos()[:, None].bfloat16(), angles_NC.sin()[:, None].bfloat16()
        rows = Rows(tuple(lengths), (prefix,) * len(lengths))
        state_rows = StateRows.of(lengths, starts=starts, writes=writes)
        return _Call(memory, rows, state_rows, rotation, finals or {})

    def _forward(self, ids_N: Tensor, call: _Call) -> Tensor:
        x_NH = F.embedding(ids_N, self._embedding_VH)
        for index, layer in enumerate(self._layers):
            mixer = self._attention if self._sizes.is_attention(index) else self._delta
            h_NH = kernels.rms_norm_centred(x_NH, layer["norm"], EPS)
            x_NH = x_NH + mixer(index, h_NH, call)
            h_NH = kernels.rms_norm_centred(x_NH, layer["mlp norm"], EPS)
            gate_NI, up_NI = kernels.linear(h_NH, layer["mlp in"]).chunk(2, -1)
            x_NH = x_NH + kernels.linear(kernels.silu(gate_NI) * up_NI, layer["mlp out"])
        return kernels.rms_norm_centred(x_NH, self._norm_H, EPS)

    def _attention(self, index: int, h_NH: Tensor, call: _Call) -> Tensor:
        layer, heads, size = self._layers[index], self._sizes.heads, self._sizes.head_size
        keys = self._sizes.groups * size
        q_NC, k_NC, v_NC = kernels.linear(h_NH, layer["in"]).split(
            [2 * heads * size, keys, keys], -1
        )
        q_NAD, gate_NAD = q_NC.unflatten(-1, (heads, 2 * size)).chunk(2, -1)
        k_NGD, v_NGD = (each.unflatten(-1, (-1, size)) for each in (k_NC, v_NC))
        q_NAD = kernels.rms_norm_centred(q_NAD.contiguous(), layer["q norm"], EPS)
        k_NGD = kernels.rms_norm_centred(k_NGD.contiguous(), layer["k norm"], EPS)
        # a step that is repeated writes to one place, or its addresses would not fit a graph
        kv_2NGD = torch.stack([_rotated(k_NGD, *call.rotation), v_NGD], out=call.kv_2NGD.get(index))
        call.kv_2NGD[index] = kv_2NGD
        prefixes = [Prefix(*call.memory.kv_2PGD[index])] if call.memory else []
        out_NAD = kernels.fork_attention(
            _rotated(q_NAD, *call.rotation), kv_2NGD[0], kv_2NGD[1], call.rows, prefixes
        )
        out_NAD = out_NAD * kernels.sigmoid(gate_NAD)
        return kernels.linear(out_NAD.flatten(1), layer["out"])

    def _delta(self, index: int, h_NH: Tensor, call: _Call) -> Tensor:
        layer, sizes = self._layers[index], self._sizes
        heads, size, memory = sizes.state_heads, sizes.state_size, call.memory
        qkv_NC, z_NC, b_NJ, a_NJ = kernels.linear(h_NH, layer["in"]).split(
            [3 * heads * size, heads * size, heads, heads], -1
        )
        qkv_NC, call.tails_RCW[index] = kernels.short_conv(
            qkv_NC.contiguous(),
            layer["taps"],
            memory and memory.tails_SCW[index],
            call.state_rows,
            activation="silu",
        )
        q_NJK, k_NJK, v_NJK = (
            each.unflatten(-1, (heads, size)).contiguous() for each in qkv_NC.chunk(3, -1)
        )
        out_NJK = kernels.fork_delta_rule(
            q_NJK,
            k_NJK,
            v_NJK,
            -layer["decay"] * kernels.softplus(a_NJ.float() + layer["decay bias"]),
            kernels.sigmoid(b_NJ).contiguous(),
            memory and memory.states_SJKK[index],
            call.state_rows,
            finals_FJKV=call.finals_SJKK.get(index),
        )
        z_NJK = z_NC.unflatten(-1, (heads, size)).contiguous()
        out_NJK = kernels.rms_norm_gated(out_NJK, layer["out norm"], z_NJK, EPS)
        return kernels.linear(out_NJK.flatten(1), layer["out"])


def _layer(bench: Bench, sizes: Sizes, index: int) -> dict[str, Tensor]:
    kind = "attention" if sizes.is_attention(index) else "delta"
    layer = {name: bench.randn(sizes.hidden, scale=0.1) for name in ("norm", "mlp norm")}
    for name in ("in", "out"):
        layer[name] = _matrix(bench, sizes, f"{kind} {name}")
        layer[f"mlp {name}"] = _matrix(bench, sizes, f"mlp {name}")
    if kind == "attention":
        return layer | {
            name: bench.randn(sizes.head_size, scale=0.1) for name in ("q norm", "k norm")
        }
    return layer | {
        "taps": bench.randn(3 * sizes.state_heads * sizes.state_size, _TAPS, scale=0.5),
        "decay": bench.randn(sizes.state_heads, dtype=torch.float32).exp(),
        "decay bias": bench.randn(sizes.state_heads, dtype=torch.float32),
        "out norm": 1 + bench.randn(sizes.state_size, scale=0.1),
    }


def _matrix(bench: Bench, sizes: Sizes, name: str) -> Tensor:
    num_outputs, num_inputs = sizes.matrices[name]
    # outputs about as large as inputs
    return bench.randn(num_outputs, num_inputs, scale=num_inputs**-0.5)


def _rotated(x_NAD: Tensor, cos_N1C: Tensor, sin_N1C: Tensor) -> Tensor:
    half = cos_N1C.shape[-1]
    left, right, rest = x_NAD.split([half, half, x_NAD.shape[-1] - 2 * half], -1)
    turned = (left * cos_N1C - right * sin_N1C, right * cos_N1C + left * sin_N1C, rest)
    return torch.cat(turned, -1)


def _num_bytes(tensor: Tensor) -> int:
    return tensor.numel() * tensor.element_size()
