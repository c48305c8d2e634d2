"""What the model says of each row of RESULTS.md: times by the roofline, peaks and times by the planner."""

import functools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from kernel_build.roofline.bounds import expected, runs_on
from kernel_build.roofline.cards import rates_of
from kernel_build.roofline.code import StepCode, read_code
from kernel_build.roofline.kernels import Work, convolution_of, every, products_of, rows_of
from mezzotint.benchmarks.attention_shapes import SHAPES as ATTENTION
from mezzotint.benchmarks.product_shapes import FUSED, GATED, ConvolutionShape, ImageShape, LinearShape, RowsShape
from mezzotint.benchmarks.product_shapes import SHAPES as PRODUCTS

CARDS = ("RTX 3090", "RTX 4090", "RTX 5090", "H200")
_GB = 2**30
_NOTHING = StepCode(all=0, hmma=0, imma=0, ex2=0, ldsm=0, ldgsts=0)  # of kernels that are not counted
_LORA_RANKS = 3 * 16
_RAM = 32 * _GB
# 10.5 TFLOP of convolutions at 70 % of the peak take 91 ms, 11 GB of norms (three passes of 3.7 GB) 11 ms, the rest 7.
_DECODED, _DECODING = "SDXL's VAE, decoding 1024x1024: mezzotint", "110 ms (RTX 4090)"
_MODELS = {"SDXL base": ("sdxl",), "SDXL base + refiner": ("sdxl", "sdxl-refiner")}


def model_figure(what: str) -> str:
    """What the model says of a row; empty if it knows none."""
    works = [work for (result, _), work in _works().items() if result == what]
    if works:
        return _times(works)
    if what == _DECODED:
        return _DECODING
    if what.endswith("mezzotint") and ", copies " in what:
        from mezzotint.memory.planning.costs import REACHED

        return f"{1 / min(REACHED.values()):.2f} times the bound if copies take longer than computing"
    name, _, limit = what.removesuffix(" GB: mezzotint").rpartition(", ")
    models = _MODELS.get(name.partition(",")[0])
    return "" if models is None or not limit.isdigit() else _planned(models, int(limit))


def _times(works: Sequence[Work]) -> str:
    """Microseconds at least on each GPU that has the products of one of these kernels."""
    table, parts = read_code(), []
    for card in map(rates_of, CARDS):
        times = [expected(work, table.get(work.label, _NOTHING), card)[0] for work in works if runs_on(work, card)]
        parts += [f"{1e6 * min(times):.0f} µs ({card.name})"] if times else []
    return f"at least {', '.join(parts)}"


@functools.cache
def _works() -> dict[tuple[str, bool], Work]:
    """All kernels on all shapes of the benchmarks, by the row of the results, and whether they are Hopper's own."""
    works = (*_attention(), *_products(), *every())
    return {(work.result, work.wgmma > 0): work for work in works if work.result}


def _attention() -> Iterator[Work]:
    for shape in ATTENTION:
        whole, half, size = float(shape.products), shape.products / 2, float(shape.elements)

        ours = f"{shape.name}: mezzotint"
        yield _work(f"{ours} flash", 2 * size, f16=whole)
        yield _work(f"{ours} flash-fp16", 3.5 * size, f16=half, f16_sums=half)
        yield _work(f"{ours} int8", 4 * size, f16_sums=half, int8=half)
        yield _work(f"{ours} int8-all", 4 * size, int8=whole)
        yield _work(f"{ours} int8-fp8", 4 * size, int8=half, fp8=half / 2)  # 16-bit sums: twice the rate
        yield _work(f"{shape.name}, gradients: mezzotint flash", 4 * size, f16=2.5 * whole)


def _products() -> Iterator[Work]:
    for shape in (*PRODUCTS, *FUSED):
        yield from _of_rows(shape) if isinstance(shape, RowsShape) else _of_linear(shape)


def _of_rows(shape: RowsShape) -> Iterator[Work]:
    if isinstance(shape, ImageShape):  # read for mean and variance, then again
        yield _work(f"{shape.name}: mezzotint group norm", 1.5 * shape.bytes)
    else:
        yield rows_of(shape)


def _of_linear(shape: LinearShape) -> Iterator[Work]:
    if isinstance(shape, ConvolutionShape):
        yield convolution_of(shape)
        return
    residual = 2.0 * shape.rows * shape.outputs if shape.name == GATED.name else 0.0
    yield from (replace(work, bytes=work.bytes + residual) for work in products_of(shape))
    int8 = next(work for work in products_of(shape) if work.int8)
    yield replace(int8, result=f"{int8.result}, gated")
    branch = 2.0 * _LORA_RANKS * shape.rows * (shape.columns + shape.outputs)
    yield replace(int8, f16=branch, result=f"{int8.result}, 3 LoRAs")


def _work(result: str, size: float, **operations: float) -> Work:
    """Work whose instructions are not counted."""
    return Work(name="", shape="", label="", step="", steps=0, bytes=size, result=result, **operations)


@functools.cache
def _planned(models: tuple[str, ...], gigabytes: int) -> str:
    """The planned peak on a card with that memory and the speed of a typical GPU."""
    from mezzotint.memory.footprints.shipped import shipped
    from mezzotint.memory.machine.probe import ordinary_machine
    from mezzotint.memory.planning.planner import plan
    from mezzotint.memory.planning.task import task_of

    found = plan(task_of([shipped(name) for name in models]), ordinary_machine(gigabytes * _GB, _RAM))
    return f"a peak of {found.peak_vram_bytes / _GB:.1f} GB, on an RTX 3060"
