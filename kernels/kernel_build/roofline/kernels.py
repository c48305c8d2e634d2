"""The kernels of the library on one typical shape each: operations, bytes and steps."""

from dataclasses import dataclass, replace
from functools import partial

from mezzotint.benchmarks.attention_shapes import SHAPES as ATTENTION
from mezzotint.benchmarks.attention_shapes import Shape
from mezzotint.benchmarks.linear_attention import SHAPES as LINEAR_ATTENTION
from mezzotint.benchmarks.product_shapes import CONVOLUTIONS, ConvolutionShape, LinearShape, ProductShape, RowsShape
from mezzotint.benchmarks.product_shapes import SHAPES as PRODUCTS

_SEEN = 0.25  # of the blocks of a block table
_WARP_ROWS = 16  # of one product
_WARP_TILE = 64  # rows and columns of a warp in a product of matrices, and columns of a step


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A kernel on a shape."""

    name: str
    shape: str
    label: str  # of the instance, as in registers.txt
    step: str  # what a warp does in one step
    steps: float  # of all warps; 0: none that is counted
    bytes: float  # read and written, each once
    f16: float = 0.0  # operations on 16-bit numbers with 32-bit sums
    f16_sums: float = 0.0  # with 16-bit sums
    int8: float = 0.0
    int4: float = 0.0
    fp8: float = 0.0  # 8-bit floats with 32-bit sums
    mxfp8: float = 0.0  # with block scales
    nvfp4: float = 0.0
    wgmma: float = 0.0  # on 16-bit numbers with 32-bit sums, by four warps
    result: str = ""  # the row of RESULTS.md

    @property
    def operations(self) -> float:
        """All operations."""
        return self.f16 + self.f16_sums + self.int8 + self.int4 + self.fp8 + self.mxfp8 + self.nvfp4 + self.wgmma


def every() -> tuple[Work, ...]:
    """All kernels."""
    rows, layer = (_product_shape(name) for name in ("4608x3072 layer norm", "4608x3072 to 12288"))
    assert isinstance(rows, RowsShape) and isinstance(layer, LinearShape)  # noqa: S101  for mypy
    return (*_attention(), *_linear_attention(), rows_of(rows), *products_of(layer), convolution_of(CONVOLUTIONS[1]))


def _attention() -> tuple[Work, ...]:
    sdxl, flux, words = (_shape(name) for name in ("SDXL, 64x64", "FLUX.1, 4096 tokens", "SDXL to words, 64x64"))
    small = _forward(sdxl, "attention forward, heads of 64", "64.Shape.2.4.64.2.1.0.64", 32, 64)
    large = _forward(flux, "attention forward, heads of 128", "128.Shape.1.8.64.2.1.0.128", 16, 64)
    masked = _forward(flux, "block table, a quarter of the blocks", "128.Shape.1.4.64.2.1.1.128", 16, 64)
    return (
        replace(small, result=f"{sdxl.name}: mezzotint flash"),
        replace(large, result=f"{flux.name}: mezzotint flash"),
        _hopper(sdxl, groups=3, keys=128),
        _hopper(flux, groups=2, keys=176),
        _few_keys(words),
        _few_queries(_shape("few queries of many tokens")),
        _half_sums(sdxl, 64),
        _half_sums(flux, 128),
        _int8_scores(sdxl, 64),
        _int8_scores(flux, 128),
        replace(masked, f16=_SEEN * masked.f16, steps=_SEEN * masked.steps),
        _backward(sdxl),
    )


def _shape(name: str) -> Shape:
    return next(each for each in ATTENTION if each.name == name)


def _forward(shape: Shape, name: str, label: str, rows: int, keys: int) -> Work:
    return Work(
        name=name,
        shape=shape.name,
        label=f"float16_{shape.head_dim}:attention_forward.__half.{label}.ForwardParams",
        step=f"{rows} queries, {keys} keys",
        steps=shape.batch * shape.heads * (shape.nq / rows) * (shape.nk / keys),
        bytes=2.0 * shape.elements,
        f16=float(shape.products),
    )


def _hopper(shape: Shape, groups: int, keys: int) -> Work:
    d = shape.head_dim
    return Work(
        name=f"Hopper's attention forward, heads of {d}",
        shape=shape.name,
        label=f"hopper_float16_{d}:attention_hopper.__half.{d}.HopperShape.{groups}.{keys}.HopperParams",
        step=f"{_WARP_ROWS} queries, {keys} keys",
        steps=shape.batch * shape.heads * (shape.nq / _WARP_ROWS) * -(-shape.nk // keys),
        bytes=2.0 * shape.elements,
        wgmma=shape.products * -(-shape.nk // keys) * keys / shape.nk,
        result=f"{shape.name}: mezzotint flash",
    )


def _few_keys(shape: Shape) -> Work:
    keys = 80
    padded = shape.products * keys / shape.nk
    return Work(
        name="few keys",
        shape=shape.name,
        label="float16_64:attention_short_keys.__half.64.4.80.ForwardParams",
        step=f"{_WARP_ROWS} queries, all of {keys} keys",
        steps=shape.batch * shape.heads * shape.nq / _WARP_ROWS,
        bytes=2.0 * shape.elements,
        f16=padded,
        result=f"{shape.name}: mezzotint flash",
    )


def _few_queries(shape: Shape) -> Work:
    """In 8 parts of the keys, whose sums in 32 bits are written and read; queries fill tiles of 64."""
    parts, rows = 8, shape.batch * shape.heads * shape.nq
    work = _forward(shape, "few queries, keys in 8 parts", "128.Shape.1.4.64.2.1.0.128", _WARP_ROWS, 64)
    filled = -(-shape.nq // 64) * 64 / shape.nq
    sums = 2.0 * parts * rows * (4 * shape.head_dim + 8)
    return replace(
        work,
        steps=filled * work.steps,
        bytes=work.bytes + sums,
        f16=filled * work.f16,
        result=f"{shape.name}: mezzotint flash",
    )


def _half_sums(shape: Shape, head_dim: int) -> Work:
    return Work(
        name=f"sums in float16, heads of {head_dim}",
        shape=shape.name,
        label=f"float16_{head_dim}:attention_half_sums.__half.{head_dim}.Shape.1.8.64.2.1.0.Int8Params",
        step=f"{_WARP_ROWS} queries, 64 keys",
        steps=shape.batch * shape.heads * (shape.nq / _WARP_ROWS) * (shape.nk / 64),
        bytes=3.5 * shape.elements,  # values are read twice before, and their copies written
        f16=shape.products / 2,
        f16_sums=shape.products / 2,
        result=f"{shape.name}: mezzotint flash-fp16",
    )


def _int8_scores(shape: Shape, head_dim: int) -> Work:
    return Work(
        name=f"8-bit scores, heads of {head_dim}",
        shape=shape.name,
        label=f"float16_{head_dim}:attention_int8.__half.{head_dim}.Shape.1.8.64.2.1.0.Int8Params",
        step=f"{_WARP_ROWS} queries, 64 keys",
        steps=shape.batch * shape.heads * (shape.nq / _WARP_ROWS) * (shape.nk / 64),
        bytes=4.0 * shape.elements,  # half of it copies of q, k and v in the workspace, written and read
        f16_sums=shape.products / 2,
        int8=shape.products / 2,
        result=f"{shape.name}: mezzotint int8",
    )


def _backward(shape: Shape) -> Work:
    return Work(
        name="attention backward, heads of 64",
        shape=shape.name,
        label="backward_float16_64:backward_pass.attention_backward.__half.64.Shape.1.8.64.2.64.BackwardParams",
        step=f"{_WARP_ROWS} keys, 64 queries",
        steps=shape.batch * shape.heads * (shape.nk / _WARP_ROWS) * (shape.nq / 64),
        bytes=2.0 * 2 * shape.elements,
        f16=2.5 * shape.products,  # five products instead of two
        result=f"{shape.name}, gradients: mezzotint flash",
    )


def _linear_attention() -> tuple[Work, ...]:
    shape = next(each for each in LINEAR_ATTENTION if each.name == "Sana, 128x128")
    return tuple(
        Work(
            name=f"linear attention, {words}",
            shape=shape.name,
            label=f"passes:linear_attention.{function}.__half.0.LinearAttentionParams",
            step=step,
            steps=0.0,
            bytes=shape.elements,  # half of 2 bytes of each: k and v, or q and the output
            f16=parts * 2.0 * shape.batch * shape.heads * shape.nq * shape.head_dim * (shape.head_dim + 8),
        )
        for words, function, step, parts in (
            ("summary", "summarize_keys", "64 tokens", 1),
            ("application", "apply_summary", "64 features", 2),  # to the high and the low part
        )
    )


def _product_shape(name: str) -> ProductShape:
    return next(each for each in PRODUCTS if each.name == f"FLUX.1, {name}")


def rows_of(shape: RowsShape) -> Work:
    """Rows that are prepared, rotated and rounded."""
    return Work(
        name="quantize rows",
        shape=shape.name,
        label="rows:quantize.quantize_rows.__half.1.QuantizeParams",
        step="all of a row (no products)",
        steps=0.0,
        bytes=float(shape.bytes),
        result=f"{shape.name}: mezzotint rows",
    )


def products_of(shape: LinearShape) -> tuple[Work, ...]:
    """Products of each scheme."""
    halves, product = 1 / 2, partial(_product, shape)
    return (
        product("int8", "int8:gemm.linear_product.__half.8", 1.0),
        product("int4-lowrank", "int4:gemm.linear_product.__half.4", halves + 1 / 64),
        product("int4-codebook", "codebook:gemm.codebook_linear_product.__half", halves + 1 / 16, "4.2.4.8.4"),
        product("int4-rot", "w4a4:gemm.int4_linear_product.__half", halves, x_bytes=halves),
        product(
            "svdquant", "svdquant:gemm.grouped_linear_product.__half", halves + 2 / 64, "2.4.4.4.3", halves + 4 / 64
        ),
        product("fp8", "fp8:gemm.fp8_linear_product.__half", 1.0, "2.4.4.4.3"),
        _block_scaled(shape, "mxfp8", 1, 1 + 1 / 32),
        _block_scaled(shape, "nvfp4", 2, halves + 1 / 16),
    )


_OPERATIONS = {"int4-rot": "int4", "svdquant": "int4", "fp8": "fp8", "mxfp8": "mxfp8", "nvfp4": "nvfp4"}


def _product(
    shape: LinearShape,
    scheme: str,
    instance: str,
    weight_bytes: float,
    shape_words: str = "2.2.4.8.3",
    x_bytes: float = 1.0,
) -> Work:
    """One layer; bytes are those of a number with its share of scales."""
    _, _, m_tiles, n_tiles, _ = map(int, shape_words.split("."))
    rows, outputs = 16 * m_tiles, 8 * n_tiles
    columns = _WARP_TILE * (2 if _OPERATIONS.get(scheme) in ("int4", "nvfp4") else 1)  # as many bytes
    return Work(
        name=f"{scheme} product",
        shape=shape.name,
        label=f"float16_{instance}.Shape.{shape_words}.LinearParams",
        step=f"{rows} rows, {outputs} outputs, {columns} columns; and 16 of the branch",
        steps=(shape.rows / rows) * (shape.outputs / outputs) * (shape.columns / columns),
        bytes=weight_bytes * shape.columns * shape.outputs
        + shape.rows * (x_bytes * shape.columns + 2.0 * shape.outputs),
        result=f"{shape.name}: mezzotint {scheme}",
        **{_OPERATIONS.get(scheme, "int8"): float(shape.operations)},
    )


def convolution_of(shape: ConvolutionShape) -> Work:
    """A convolution with 8-bit inputs; rounding is counted: they are read in 16 bits, and written and read in 8."""
    plain = _product(shape, "int8", "convolution:gemm.convolution_product.__half", 9.0, "2.4.4.4.3", x_bytes=4.0)
    return replace(
        plain,
        name="int8 3x3 convolution",
        step=plain.step.partition(";")[0],
        steps=9 * plain.steps,
        result=f"{shape.name}: mezzotint int8 convolution",
    )


def _block_scaled(shape: LinearShape, scheme: str, format_: int, number_bytes: float) -> Work:
    """One layer, both sides of which have block scales."""
    label = f"float16:block_scaled.block_scaled_linear_product.__half.{format_}.gemm.Shape.4.2.4.8.3.BlockScaledParams"
    return replace(_product(shape, scheme, "", number_bytes, x_bytes=number_bytes), label=label)
