"""Make Triton's interpreter compute bf16 as a GPU does; import before a kernel runs.

The interpreter of Triton 3.7 to 3.9 keeps bf16 as its bits in uint16 and computes with those bits
as if they were integers, cuts fp32 off instead of rounding it to bf16, and multiplies tiles with a
BLAS that gives a row other bits at another place in the tile. None of it is so on a GPU.

It also looks through the whole language at every call of a function in a kernel, which takes
longer than the call; here it does so once.
"""

import os
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter

__all__ = ["to_bfloat16_bits", "to_float32"]

if os.environ.get("TRITON_INTERPRET") != "1":
    raise RuntimeError("set TRITON_INTERPRET=1 before triton is imported")

_Builder = interpreter.InterpreterBuilder
_Handle = interpreter.TensorHandle
_CASTS = ("si_to_fp", "ui_to_fp", "fp_to_si", "fp_to_ui", "fp_ext", "fp_trunc")

_plain_cast = _Builder.cast_impl
_plain_fp_to_fp = _Builder.create_fp_to_fp
_plain_dot = _Builder.create_dot
_plain_binary = _Builder.binary_op
_plain_unary = _Builder.unary_op
_plain_fma = _Builder.create_fma


def to_float32(bits: np.ndarray) -> np.ndarray:
    """Return the fp32 numbers that bf16 *bits* stand for, exactly."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def to_bfloat16_bits(numbers: np.ndarray) -> np.ndarray:
    """Return fp32 *numbers* as bf16 bits, rounded to nearest, ties to even; NaN stays NaN."""
    bits = np.array(numbers, dtype=np.float32).view(np.uint32)
    rounded = ((bits + np.uint32(0x7FFF) + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(numbers), np.uint16(0x7FC0), rounded)


def _is_bfloat16(handle: Any) -> bool:
    return bool(handle.dtype.scalar == tl.bfloat16)


def _numbers(handle: Any) -> np.ndarray:
    return to_float32(handle.data) if _is_bfloat16(handle) else handle.data


def _cast(self: Any, source: Any, target: Any) -> Any:
    if _is_bfloat16(source):
        wide = _Handle(to_float32(source.data), tl.float32)
        return wide if target.scalar == tl.float32 else _cast(self, wide, target)
    if target.scalar == tl.bfloat16:
        return _Handle(to_bfloat16_bits(source.data.astype(np.float32)), tl.bfloat16)
    return _plain_cast(self, source, target)


def _fp_to_fp(self: Any, source: Any, target: Any, rounding: Any) -> Any:
    types = (source.dtype.scalar, target.scalar)
    has_fp8 = any(each.primitive_bitwidth == 8 for each in types)
    nearest = rounding in (None, interpreter._ir.ROUNDING_MODE.RTNE)
    if tl.bfloat16 in types and nearest and not has_fp8:
        return _cast(self, source, target)
    return _plain_fp_to_fp(self, source, target, rounding)


def _dot(self: Any, a: Any, b: Any, start: Any, precision: Any, imprecise: Any) -> Any:
    scalar = a.dtype.scalar
    if not scalar.is_floating() or scalar.primitive_bitwidth == 8:
        return _plain_dot(self, a, b, start, precision, imprecise)
    total = start.data.astype(np.float32)
    if scalar == tl.float32:
        for k in range(a.data.shape[-1]):
            total += a.data[..., :, k : k + 1] * b.data[..., k : k + 1, :]
    else:
        # products of bf16 are exact in fp64, and so is their sum unless exponents lie 2^30 apart
        product = _numbers(a).astype(np.float64) @ _numbers(b).astype(np.float64)
        total = (product + total).astype(np.float32)
    return _Handle(total.astype(start.data.dtype), start.dtype.scalar)


def _binary(self: Any, left: Any, right: Any, operation: Callable[..., Any]) -> Any:
    if not _is_bfloat16(left):
        return _plain_binary(self, left, right, operation)
    result = operation(to_float32(left.data), to_float32(right.data))
    if result.dtype == np.bool_:
        return _Handle(result, tl.int1)
    return _Handle(to_bfloat16_bits(result), tl.bfloat16)


def _unary(self: Any, operand: Any, operation: Callable[..., Any]) -> Any:
    if not _is_bfloat16(operand):
        return _plain_unary(self, operand, operation)
    return _Handle(to_bfloat16_bits(operation(to_float32(operand.data))), tl.bfloat16)


def _fma(self: Any, x: Any, y: Any, z: Any) -> Any:
    if not _is_bfloat16(x):
        return _plain_fma(self, x, y, z)
    return _Handle(to_bfloat16_bits(_numbers(x) * _numbers(y) + _numbers(z)), tl.bfloat16)


def _rsqrt(self: Any, operand: Any) -> Any:
    return self.unary_op(operand, lambda numbers: 1 / np.sqrt(numbers))


def _reduce_in_bfloat16(self: Any, inputs: Any) -> Any:
    if any(each.dtype.scalar == tl.bfloat16 for each in inputs):
        raise NotImplementedError("reduce in fp32: the interpreter would reduce the bits of bf16")
    return _plain_reduce(self, inputs)


def _call(self: Any, *args: Any, **kwargs: Any) -> Any:
    # a launch prepares `tl` for its time, and `tl.core` has been prepared below
    return self.rewrite()(*args, **kwargs)


_plain_reduce = interpreter.ReduceOps.apply_impl
interpreter.ReduceOps.apply_impl = _reduce_in_bfloat16
_Builder.cast_impl = _cast
_Builder.create_fp_to_fp = _fp_to_fp
_Builder.create_dot = _dot
_Builder.binary_op = _binary
_Builder.unary_op = _unary
_Builder.create_fma = _fma
_Builder.create_rsqrt = _rsqrt
for _name in _CASTS:
    # the plain ones call the cast that they were defined with
    setattr(_Builder, f"create_{_name}", lambda self, source, target: _cast(self, source, target))

# what the interpreter does at the first call of a function, and again at every other
interpreter._patch_lang(SimpleNamespace(__globals__={"core": tl.core}))
interpreter.InterpretedFunction.__call__ = _call
