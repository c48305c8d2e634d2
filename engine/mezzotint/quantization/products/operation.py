"""The product with a quantized weight as a torch custom op, because torch.compile cannot trace our kernels.

Eager code calls the kernels directly, which costs less than going through torch's dispatcher.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional

from mezzotint.dispatch.library import Preparation
from mezzotint.quantization.block_floats import Mxfp8, Nvfp4
from mezzotint.quantization.codebook4 import Codebook4
from mezzotint.quantization.formats import Format, Int4, Int8, LowRank4, Nf4
from mezzotint.quantization.fp4 import Fp4
from mezzotint.quantization.fp8 import INPUTS, Fp8
from mezzotint.quantization.fusion.around import Around
from mezzotint.quantization.gguf_blocks import KINDS, GgufBlocks
from mezzotint.quantization.linear import Branch, QuantizedWeight, with_branch
from mezzotint.quantization.svdquant.format import SvdQuant

_ARGUMENTS = (
    "Tensor x, Tensor[] weight, int[] shape, str kind, int[] settings, Tensor? bias, Tensor? down, Tensor? up, "
    "int preparation"
)
_KINDS: Mapping[str, Callable[..., Format]] = {
    "int8": lambda dynamic, group: Int8(dynamic=bool(dynamic), group=group),
    "int4": lambda dynamic, group: Int4(dynamic=bool(dynamic), group=group),
    "codebook4": lambda dynamic, group: Codebook4(dynamic=bool(dynamic), group=group),
    "nf4": lambda double: Nf4(double=bool(double)),
    "fp8": lambda by_rows, inputs: Fp8(by_rows=bool(by_rows), inputs=INPUTS[inputs]),
    "mxfp8": lambda dynamic: Mxfp8(dynamic=bool(dynamic)),
    "nvfp4": lambda dynamic: Nvfp4(dynamic=bool(dynamic)),
    "gguf": lambda kind: GgufBlocks(kind=KINDS[kind]),
    "fp4": lambda double: Fp4(double=bool(double)),
    "lowrank4": lambda rank, group, dynamic: LowRank4(rank=rank, group=group, dynamic=bool(dynamic)),
    "svdquant": lambda rank, group, dynamic: SvdQuant(rank=rank, group=group, dynamic=bool(dynamic)),
}


_NOTHING = Around()
# The kind of each format, and its settings in the order of the above.
_SETTINGS: Mapping[type, tuple[str, ...]] = {
    Int8: ("int8", "dynamic", "group"),
    Int4: ("int4", "dynamic", "group"),
    Codebook4: ("codebook4", "dynamic", "group"),
    LowRank4: ("lowrank4", "rank", "group", "dynamic"),
    SvdQuant: ("svdquant", "rank", "group", "dynamic"),
    Nf4: ("nf4", "double"),
    Fp4: ("fp4", "double"),
    Mxfp8: ("mxfp8", "dynamic"),
    Nvfp4: ("nvfp4", "dynamic"),
}


class Products(Protocol):
    """The kernels that compute products in a job."""

    def product(
        self,
        x: Tensor,
        weight: QuantizedWeight,
        bias: Tensor | None,
        branch: Branch | None,
        preparation: Preparation = Preparation.AS_IT_IS,
        around: Around = _NOTHING,
    ) -> Tensor | None:
        """Return the product with the prepared x, including what is around it; None if torch must compute it."""


_current: ContextVar[Products | None] = ContextVar("products", default=None)


@contextmanager
def use_in_compiled_code(products: Products) -> Iterator[None]:
    """Make compiled code use these kernels inside the context."""
    before = _current.set(products)
    try:
        yield
    finally:
        _current.reset(before)


def prepare_input(x: Tensor, preparation: Preparation) -> Tensor:
    """Prepare x in torch: `(..., 2 k)` for GEGLU, otherwise `(..., k)`, to `(..., k)`."""
    if preparation is Preparation.GEGLU:
        a, b = x.chunk(2, dim=-1)
        return a * functional.gelu(b)
    if preparation is Preparation.GELU_TANH:
        return functional.gelu(x, approximate="tanh")
    return x


def compiled_product(
    x: Tensor, weight: QuantizedWeight, bias: Tensor | None, branch: Branch | None, preparation: Preparation
) -> Tensor:
    """Call the custom op, as compiled code does; it has no gradients."""
    tensors = [weight.tensors[name] for name in weight.format.part_specs(weight.shape)]
    kind, settings = _encode_format(weight.format)
    down, up = (None, None) if branch is None else (branch.down, branch.up)
    return torch.ops.mezzotint.product(  # type: ignore[no-any-return]
        x, tensors, list(weight.shape), kind, settings, bias, down, up, int(preparation)
    )


def _encode_format(format_: Format) -> tuple[str, list[int]]:
    if isinstance(format_, GgufBlocks):
        return "gguf", [KINDS.index(format_.kind)]
    if isinstance(format_, Fp8):
        return "fp8", [int(format_.by_rows), INPUTS.index(format_.inputs)]
    if type(format_) not in _SETTINGS:
        raise TypeError(f"compiled code does not support the format {format_}")
    kind, *names = _SETTINGS[type(format_)]
    return kind, [int(getattr(format_, name)) for name in names]


def _product(
    x: Tensor,
    weight: Sequence[Tensor],
    shape: Sequence[int],
    kind: str,
    settings: Sequence[int],
    bias: Tensor | None,
    down: Tensor | None,
    up: Tensor | None,
    preparation: int,
) -> Tensor:
    """Return `(..., n)`, contiguous; torch computes what the kernels cannot."""
    format_, size = _KINDS[kind](*settings), torch.Size(shape)
    whole = QuantizedWeight(
        format=format_, tensors=dict(zip(format_.part_specs(size), weight, strict=True)), shape=size
    )
    branch = None if down is None or up is None else Branch(down=down, up=up)
    products = _current.get()
    made = None if products is None else products.product(x, whole, bias, branch, Preparation(preparation))
    if made is None:
        rows = prepare_input(x, Preparation(preparation))
        y = format_.product(rows, whole.tensors, size)
        made = with_branch(y if bias is None else y + bias, rows, branch)
    return made.contiguous()


def _product_fake(x: Tensor, _: Sequence[Tensor], shape: Sequence[int], *__: object) -> Tensor:
    return x.new_empty((*x.shape[:-1], shape[0]))


def _declare() -> torch.library.Library:
    library = torch.library.Library("mezzotint", "FRAGMENT")  # type: ignore[no-untyped-call]
    library.define(f"product({_ARGUMENTS}) -> Tensor")  # type: ignore[no-untyped-call]
    library.impl("product", _product, "CompositeExplicitAutograd")  # type: ignore[no-untyped-call]
    torch.library.register_fake("mezzotint::product", _product_fake, lib=library)
    return library


_LIBRARY = _declare()  # torch unregisters the op once this is gone
