"""What stands in for a card where there is none: tests/plugins' kernels on the processor, and small sizes.

Their times are of nothing; what they show is that gpu-check does all that it would do on a card.
"""

import importlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from kernel_build.card.forced import Instances
from mezzotint.attention.compiled import CompiledAttention
from mezzotint.benchmarks import attention_shapes, product_shapes
from mezzotint.benchmarks.attention_shapes import Shape
from mezzotint.benchmarks.product_shapes import LinearShape
from mezzotint.quantization.products.compiled import CompiledLinear

Found = TypeVar("Found")
_EVERY = 12  # of shapes one is measured
_TOKENS = 40


def attention() -> CompiledAttention:
    """Attention by the reference."""
    return CompiledAttention(importlib.import_module("fake_kernels").FakeKernels())


def products() -> CompiledLinear:
    """Products in 32 bits."""
    return CompiledLinear(importlib.import_module("fake_products").FakeProducts())


def emulated_attention() -> tuple[Any, Instances]:
    """The kernels on the emulator: the library, and its instances."""
    found: tuple[Any, Instances] = importlib.import_module("emulated_instances").emulated_attention()
    return found


def emulated_products() -> tuple[Any, Instances]:
    """The same of products."""
    found: tuple[Any, Instances] = importlib.import_module("emulated_instances").emulated_products()
    return found


def some(shapes: Sequence[Found]) -> list[Found]:
    """A few of them."""
    return list(shapes[::_EVERY])


def smallest_attention() -> list[Shape]:
    """For the emulator, which takes its time: with many keys, and with few."""
    sizes = {"batch": 1, "heads": 1, "kv_heads": 1, "nq": _TOKENS}
    wanted = ("SDXL, 64x64", "SDXL to words, 64x64")
    found = [shape for shape in attention_shapes.SHAPES if shape.name in wanted]
    return [replace(shape, **sizes, nk=min(shape.nk, 2 * _TOKENS)) for shape in found]  # type: ignore[arg-type]


def smallest_products() -> list[LinearShape]:
    """For the emulator."""
    first = next(shape for shape in product_shapes.SHAPES if isinstance(shape, LinearShape))
    return [replace(first, rows=_TOKENS, columns=128, outputs=64)]


def write_small_sdxl(folder: Path) -> None:
    """A model of SDXL's kind with hardly any weights."""
    importlib.import_module("small_recipes").write_small_sdxl(folder)
