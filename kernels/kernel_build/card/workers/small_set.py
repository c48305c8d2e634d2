"""A few small calls of every kind of kernel, to run under a sanitizer; each is checked against plain torch."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from kernel_build.card import stub as stubs
from kernel_build.card.protocol import Row, Teller
from mezzotint.attention.blocks.patterns import bigbird_table
from mezzotint.attention.blocks.table import BlockTable
from mezzotint.attention.compiled import CompiledAttention
from mezzotint.attention.compiled_backward import Attended, CompiledBackward
from mezzotint.attention.linear.compiled import CompiledLinearAttention
from mezzotint.attention.linear.reference import linear_reference
from mezzotint.attention.linear.self_test import LinearCase, linear_cases, linear_inputs
from mezzotint.attention.masks import NO_MASKS, Masks
from mezzotint.attention.reference import attention_gradients, attention_reference
from mezzotint.benchmarks.attention import kernels_for as attention_for
from mezzotint.benchmarks.fused_products import one_call
from mezzotint.benchmarks.product_shapes import CONVOLUTIONS, GATED, GROUP_NORMS, JOINED, ProductShape
from mezzotint.benchmarks.products import CHECKED
from mezzotint.benchmarks.products import kernels_for as products_for
from mezzotint.dispatch.library import Activation, BlockScaledLibrary, Preparation, open_installed
from mezzotint.normalization.compiled import CompiledGroupNorm
from mezzotint.quantization.block_floats import Mxfp8, Nvfp4, rounded_rows
from mezzotint.quantization.formats import Int4, Int8, LowRank4
from mezzotint.quantization.fp8 import Fp8
from mezzotint.quantization.fusion.around import Around, Norm, activated
from mezzotint.quantization.products.block_scaled import BlockScaledLinear
from mezzotint.quantization.products.compiled import CompiledLinear, QuantizedRows
from mezzotint.quantization.products.joined import gated_weight
from mezzotint.quantization.random_weights import random_quantized_weight
from mezzotint.quantization.svdquant.format import SvdQuant

_BLOCK_SCALES = 12  # major compute capability
_ALLOWED = 0.05  # relative to the RMS of the exact values
_SIZES = {  # queries, keys, head size
    "many keys": (200, 333, 64),
    "few keys": (200, 77, 64),
    "a wide head": (130, 190, 512),
    "an odd head": (100, 150, 72),
}
Call = Callable[[], tuple[Tensor, Tensor]]  # returns the result and the exact values


def run(teller: Teller, words: Sequence[str], stub: bool) -> None:
    """Report a row per call."""
    del words
    device = torch.device("cpu" if stub else "cuda:0")
    attention, problem = (stubs.attention(), None) if stub else attention_for(device)
    backward = stubs.attention_backward() if stub else CompiledBackward(open_installed())
    products, _ = (stubs.products(), None) if stub else products_for(device)
    norms = stubs.group_norm() if stub else CompiledGroupNorm(open_installed())
    linear = stubs.linear_attention() if stub else CompiledLinearAttention(open_installed())
    if attention is None or products is None:
        raise SystemExit(f"our kernels cannot be run: {problem}")
    with torch.inference_mode():
        for name, call in [
            *_attention(attention, device),
            *_gradients(backward, device),
            *_linear_attention(linear, device),
            *_products(products, device),
            *_around(products, norms, device),
            *_block_scaled(products.library, device),
        ]:
            if teller.wants(name):
                teller.row(_row(name, call))


def _row(name: str, call: Call) -> Row:
    try:
        found, exact = call()
        error = float((found.double() - exact.double()).norm() / exact.double().norm())
    except RuntimeError as failure:
        return Row(item=name, outcome="failed", problem=str(failure).partition("\n")[0])
    wrong = None if error <= _ALLOWED else f"error {error:.1e}, and {_ALLOWED} is allowed"
    return Row(item=name, outcome="failed" if wrong else "ok", problem=wrong, measured={"error": error})


def _attention(kernels: CompiledAttention, device: torch.device) -> Iterator[tuple[str, Call]]:
    generator = torch.Generator(device).manual_seed(0)

    def draw(heads: int, tokens: int, size: int) -> Tensor:
        return torch.randn(2, heads, tokens, size, generator=generator, device=device).bfloat16()

    def call(
        sizes: tuple[int, int, int], masks: Masks, int8: bool, table: BlockTable | None = None, values: bool = False
    ) -> tuple[Tensor, Tensor]:
        q, k, v = (draw(2, tokens, sizes[2]) for tokens in (sizes[0], sizes[1], sizes[1]))
        exact = attention_reference(q.float(), k.float(), v.float(), _shown(masks, table))[0]
        return kernels(q, k, v, masks, int8=int8, int8_values=values, table=table)[0], exact

    for name, sizes in _SIZES.items():
        yield f"attention, {name}", lambda sizes=sizes: call(sizes, NO_MASKS, False)  # type: ignore[misc]
    seen = torch.arange(333, device=device)[None] % 3 > 0
    lengths = torch.tensor([40, 333], dtype=torch.int32, device=device)
    masks = Masks(key_mask=seen.expand(2, -1).contiguous(), key_lengths=lengths, causal=True)
    yield "attention, masks", lambda: call((333, 333, 64), masks, False)
    yield "attention, 8 bits", lambda: call((200, 333, 64), NO_MASKS, True)
    yield "attention, all in 8 bits", lambda: call((200, 333, 64), NO_MASKS, True, values=True)
    yield "attention, an odd head all in 8 bits", lambda: call((200, 333, 72), NO_MASKS, True, values=True)
    table = _table(device)
    yield "attention, a block table", lambda: call((200, 200, 64), NO_MASKS, False, table)
    yield "attention, 8 bits, a block table", lambda: call((200, 200, 64), NO_MASKS, True, table)


def _table(device: torch.device) -> BlockTable:
    """A table with whole, partial and missing blocks, and rows of different lengths."""
    return bigbird_table(200, 0, random_blocks=1).to(device)


def _shown(masks: Masks, table: BlockTable | None) -> Masks:
    """Masks that also hide what the table does not show."""
    if table is None:
        return masks
    hidden = ~table.seen()
    return Masks(bias=torch.zeros_like(hidden, dtype=torch.float32).masked_fill(hidden, -torch.inf))


def _gradients(kernels: CompiledBackward, device: torch.device) -> Iterator[tuple[str, Call]]:
    generator = torch.Generator(device).manual_seed(0)

    def draw(tokens: int, size: int) -> Tensor:
        return torch.randn(2, 2, tokens, size, generator=generator, device=device).bfloat16()

    def call(sizes: tuple[int, int, int], masks: Masks, table: BlockTable | None = None) -> tuple[Tensor, Tensor]:
        q, k, v, gradient = (draw(tokens, sizes[2]) for tokens in (sizes[0], sizes[1], sizes[1], sizes[0]))
        scale, shown = sizes[2] ** -0.5, _shown(masks, table)
        out, lse = attention_reference(q, k, v, shown)
        of = Attended(q=q, k=k, v=v, masks=masks, scale=scale, out=out, lse=lse, table=table)
        exact = attention_gradients(gradient.float(), None, q.float(), k.float(), v.float(), shown, scale)[:3]
        return _joined(kernels(of, gradient, None)), _joined(exact)

    for name, sizes in _SIZES.items():
        yield f"gradients, {name}", lambda sizes=sizes: call(sizes, NO_MASKS)  # type: ignore[misc]
    lengths = torch.tensor([40, 333], dtype=torch.int32, device=device)
    yield "gradients, masks", lambda: call((333, 333, 64), Masks(key_lengths=lengths, causal=True))
    table = _table(device)
    yield "gradients, a block table", lambda: call((200, 200, 64), NO_MASKS, table)


def _linear_attention(kernels: CompiledLinearAttention, device: torch.device) -> Iterator[tuple[str, Call]]:
    def call(case: LinearCase) -> tuple[Tensor, Tensor]:
        q, k, v, masks = linear_inputs(case, 0, device, torch.bfloat16)
        return kernels(q, k, v, case.features, masks), linear_reference(q, k, v, case.features, masks)

    for case in linear_cases(device):
        yield f"linear attention, {case.name}", lambda case=case: call(case)  # type: ignore[misc]


def _joined(gradients: Sequence[Tensor]) -> Tensor:
    return torch.cat([each.flatten() for each in gradients])


def _products(kernels: CompiledLinear, device: torch.device) -> Iterator[tuple[str, Call]]:
    generator = torch.Generator(device).manual_seed(0)
    x = torch.randn(100, 320, generator=generator, device=device).bfloat16()

    def call(kind: Int8 | Int4 | LowRank4 | SvdQuant | Fp8) -> tuple[Tensor, Tensor]:
        weight = random_quantized_weight(kind, (136, 320), generator)
        exact = kind.product(x.float(), weight.tensors, weight.shape)  # rounds x as the kernels do
        return kernels(x, weight), exact

    yield "product, 8 bits", lambda: call(Int8(dynamic=True, group=64))
    yield "product, 4 bits", lambda: call(LowRank4(group=64))
    yield "product, 4 bits of both", lambda: call(Int4(group=64))
    yield "product, 4 bits of both by group", lambda: call(SvdQuant(group=64))
    if _multiplies_floats(device):
        yield "product, floats of 8 bits", lambda: call(Fp8(by_rows=True, inputs="quantized"))
    for activation in (Activation.GELU_TANH, Activation.GATED_GELU, Activation.GATED_SILU):
        name = f"product, {activation.name.lower().replace('_', ' ')}"
        yield name, lambda activation=activation: _activated(kernels, x, activation)  # type: ignore[misc]
    for preparation in (Preparation.AS_IT_IS, Preparation.GELU_TANH, Preparation.GEGLU):
        columns = 160 if preparation is Preparation.GEGLU else 320
        yield (
            f"rows, {preparation.name.lower().replace('_', ' ')}",
            lambda preparation=preparation, columns=columns: _rows(kernels, x, columns, preparation),  # type: ignore[misc]
        )


def _around(kernels: CompiledLinear, norms: CompiledGroupNorm, device: torch.device) -> Iterator[tuple[str, Call]]:
    """What is computed around products: as many rows as are compared."""

    def call(shape: ProductShape) -> tuple[Tensor, Tensor]:
        made = one_call(shape, device, torch.bfloat16, kernels, norms)
        return made.run(), made.exact() if made.exact is not None else torch.empty(0)

    def modulated() -> tuple[Tensor, Tensor]:
        x, gain, shift = (torch.randn(1, rows, 320, device=device).bfloat16() for rows in (100, 1, 1))
        norm = Norm(module=torch.nn.LayerNorm(320, elementwise_affine=False), gain=gain, shift=shift)
        rows = kernels.quantize(x[0], 320, 64, Preparation.LAYER_NORM, norm=norm)
        return _lengths(rows), norm.plain(x.float())[0].norm(dim=1)

    yield "rows, modulated", modulated
    yield "product, gate and residual", lambda: call(replace(GATED, rows=CHECKED, columns=320, outputs=136))
    yield "product, joined", lambda: call(replace(JOINED, rows=CHECKED, columns=128, outputs=384))
    yield "convolution", lambda: call(replace(CONVOLUTIONS[0], rows=CHECKED, columns=128, outputs=136, width=8))
    yield "group norm", lambda: call(replace(GROUP_NORMS[0], rows=2 * 99, columns=320))


def _block_scaled(library: object, device: torch.device) -> Iterator[tuple[str, Call]]:
    """Products that compute capability 12.x alone has."""
    if device.type != "cuda" or torch.cuda.get_device_capability(device)[0] != _BLOCK_SCALES:
        return
    assert isinstance(library, BlockScaledLibrary)  # noqa: S101  for mypy
    kernels, generator = BlockScaledLinear(library), torch.Generator(device).manual_seed(0)

    def call(format_: Mxfp8 | Nvfp4) -> tuple[Tensor, Tensor]:
        x = torch.randn(100, 256, generator=generator, device=device).bfloat16()
        weight = random_quantized_weight(format_, (136, 256), generator)
        exact = format_.product(rounded_rows(format_, x.float()), weight.tensors, weight.shape)
        return kernels(x, weight), exact

    yield "product, mxfp8", lambda: call(Mxfp8())
    yield "product, nvfp4", lambda: call(Nvfp4())


def _activated(kernels: CompiledLinear, x: Tensor, activation: Activation) -> tuple[Tensor, Tensor]:
    """Return a product with its activation, and the exact one."""
    kind = Int8(dynamic=True, group=64)
    weights = [
        random_quantized_weight(kind, (136, 320), torch.Generator(x.device).manual_seed(seed)) for seed in (0, 1)
    ]
    exact = activated(*(kind.product(x.float(), each.tensors, each.shape) for each in weights), activation=activation)
    both = gated_weight((weights[0], None), (weights[1], None))
    joined = both if activation >= Activation.GATED_GELU else weights[0]
    return kernels(x, joined, around=Around(activation=activation)), exact


def _multiplies_floats(device: torch.device) -> bool:
    """Whether the card has products of floats of 8 bits; the stub does."""
    if device.type != "cuda":
        return True
    major, minor = torch.cuda.get_device_capability(device)
    return (major, minor) == (8, 9) or major >= 12


def _rows(kernels: CompiledLinear, x: Tensor, columns: int, preparation: Preparation) -> tuple[Tensor, Tensor]:
    """Return row norms of the result and of the exact values: the rotation preserves them, so they are comparable."""
    rows = kernels.quantize(x, columns, 16, preparation)
    exact = x.float()
    if preparation is Preparation.GELU_TANH:
        exact = torch.nn.functional.gelu(exact, approximate="tanh")
    if preparation is Preparation.GEGLU:
        left, right = exact.chunk(2, dim=-1)
        exact = left * torch.nn.functional.gelu(right)
    return _lengths(rows), exact.norm(dim=1)


def _lengths(rows: QuantizedRows) -> Tensor:
    lengths: Tensor = (rows.values.float() * rows.scales[:, None]).norm(dim=1)
    return lengths
