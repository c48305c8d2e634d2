"""Stand-ins for a GPU: the CPU kernels of tests/plugins, and small sizes.

Their timings are meaningless; a stub run only shows that gpu-check performs every step it would on a GPU.
"""

import importlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from kernel_build.card.forced import Instances
from mezzotint.attention.compiled import CompiledAttention
from mezzotint.attention.compiled_backward import CompiledBackward
from mezzotint.attention.linear.compiled import CompiledLinearAttention
from mezzotint.benchmarks import attention_shapes, product_shapes
from mezzotint.benchmarks.attention_shapes import Shape
from mezzotint.benchmarks.product_shapes import LinearShape
from mezzotint.normalization.compiled import CompiledGroupNorm
from mezzotint.quantization.products.compiled import CompiledLinear

Found = TypeVar("Found")
_EVERY = 12  # one shape in this many is measured
_TOKENS = 40


def attention() -> CompiledAttention:
    """Return attention computed by the reference implementation."""
    return CompiledAttention(importlib.import_module("fake_kernels").FakeKernels())


def attention_backward() -> CompiledBackward:
    """Return attention's gradients computed in plain torch."""
    return CompiledBackward(importlib.import_module("fake_backward").FakeBackward())


def linear_attention() -> CompiledLinearAttention:
    """Return linear attention computed in float64."""
    return CompiledLinearAttention(importlib.import_module("fake_linear_attention").FakeLinearAttention())


def group_norm() -> CompiledGroupNorm:
    """Return GroupNorm computed in float64."""
    return CompiledGroupNorm(importlib.import_module("fake_group_norm").FakeGroupNorm())


def products() -> CompiledLinear:
    """Return linear layers computed in float32."""
    return CompiledLinear(importlib.import_module("fake_products").FakeProducts())


def emulated_attention() -> tuple[Any, Instances]:
    """Return the emulated attention library and its instances."""
    found: tuple[Any, Instances] = importlib.import_module("emulated_instances").emulated_attention()
    return found


def emulated_products() -> tuple[Any, Instances]:
    """Return the emulated linear library and its instances."""
    found: tuple[Any, Instances] = importlib.import_module("emulated_instances").emulated_products()
    return found


def some(shapes: Sequence[Found]) -> list[Found]:
    """Return every `_EVERY`th shape."""
    return list(shapes[::_EVERY])


def smallest_attention() -> list[Shape]:
    """Return small shapes for the slow emulator: one with many keys, one with few."""
    sizes = {"batch": 1, "heads": 1, "kv_heads": 1, "nq": _TOKENS}
    wanted = ("SDXL, 64x64", "SDXL to words, 64x64")
    found = [shape for shape in attention_shapes.SHAPES if shape.name in wanted]
    return [replace(shape, **sizes, nk=min(shape.nk, 2 * _TOKENS)) for shape in found]  # type: ignore[arg-type]


def smallest_products() -> list[LinearShape]:
    """Return a small shape for the slow emulator."""
    first = next(shape for shape in product_shapes.SHAPES if isinstance(shape, LinearShape))
    return [replace(first, rows=_TOKENS, columns=128, outputs=64)]


def write_small_sdxl(folder: Path) -> None:
    """Write an SDXL model with tiny weights."""
    importlib.import_module("small_recipes").write_small_sdxl(folder)
