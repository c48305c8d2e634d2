"""Benchmark of our attention against torch's, shape by shape, in one run on one device.

Needs only torch. Run by `mezzotint bench attention`, and by `make gpu-check` on GPUs.
"""

import contextlib
import functools
import importlib.util
import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from mezzotint.attention.compiled import WAYS, CompiledAttention
from mezzotint.attention.masks import NO_MASKS, Masks, visible_keys
from mezzotint.attention.reference import attention_reference
from mezzotint.attention.stopwatch import milliseconds
from mezzotint.benchmarks.attention_shapes import SHAPES, Shape
from mezzotint.dispatch.library import LaunchFailed, Unavailable, Unsupported, open_installed

ASKED = ("flash", "flash-fp16", "int8", "int8-all", "int8-fp8")  # of our kernels
OURS = tuple(f"mezzotint {asked}" for asked in ASKED)
TRITON = "triton flex"  # torch's flex_attention, compiled to a kernel by torch.compile
BACKENDS = {
    "sdpa cudnn": SDPBackend.CUDNN_ATTENTION,
    "sdpa flash": SDPBackend.FLASH_ATTENTION,
    "sdpa efficient": SDPBackend.EFFICIENT_ATTENTION,
    "sdpa math": SDPBackend.MATH,
}
_CHECKED = 64  # number of queries of the last batch item whose results are checked
_MOST_INPUTS, _CACHE_BYTES = 24, 64 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchRow:
    """One implementation on one shape."""

    group: str
    shape: str
    batch: int
    heads: int
    kv_heads: int
    nq: int
    nk: int
    head_dim: int
    words: tuple[int, ...]  # number of keys that are not padding, per batch item; empty: all
    dtype: str
    implementation: str
    kernel: str | None  # name of our kernel
    milliseconds: float | None  # median of one call; None: not supported
    tflops: float | None  # 4 b h nq nk d (of gradients 10) over the time, including padding
    ratio: float | None  # speedup over the best of torch's own: above 1 is faster
    peak_bytes: int | None  # device memory beyond the inputs
    error: float | None  # relative RMS error against float32
    problem: str | None
    device: str
    torch: str


@dataclass(frozen=True, slots=True)
class Inputs:
    """Inputs of one call."""

    q: Tensor
    k: Tensor
    v: Tensor
    masks: Masks  # for our attention
    mask: Tensor | None  # for torch's attention


Attend = Callable[[Inputs], Any]  # a tensor, or gradients
Filter = Callable[[str, str], bool]  # whether to measure (shape, implementation); called right before measuring


@dataclass(frozen=True, slots=True)
class Implementation:
    """An attention implementation, and the name of our kernel that it runs, if any."""

    attend: Attend
    kernel_of: Callable[[Inputs], str | None] = lambda _: None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """What is measured of attention: the forward pass or its gradients."""

    suffix: str = ""  # of the names of shapes
    products: float = 1.0  # FLOPs in those of the forward
    captured: bool = True  # in a CUDA graph
    error: Callable[[Attend, Inputs], float]


def measure(
    shapes: Sequence[Shape], device: torch.device, dtype: torch.dtype, kernels: CompiledAttention | None
) -> Iterator[BenchRow]:
    """Yield a row per shape and implementation as it is measured, torch's own first."""
    found = implementations(device, kernels)
    for shape in shapes:
        yield from measure_shape(shape, found, device, dtype)


def measure_shape(
    shape: Shape,
    found: Mapping[str, Implementation],
    device: torch.device,
    dtype: torch.dtype,
    wanted: Filter | None = None,
    of: Pass | None = None,
) -> Iterator[BenchRow]:
    """Yield a row for each wanted implementation; `of` is the forward pass by default."""
    of = of or Pass(error=_error)
    inputs: list[Inputs] = []
    best: float | None = None
    for name, implementation in found.items():
        if wanted is not None and not wanted(shape.name + of.suffix, name):
            continue
        is_peer = name in BACKENDS
        with torch.cuda.device(device) if device.type == "cuda" else contextlib.nullcontext():
            inputs = inputs or _inputs(shape, device, dtype)
            row = _measure(shape, name, implementation, inputs, None if is_peer else best, of)
        if is_peer and row.milliseconds is not None:
            best = min(row.milliseconds, best or row.milliseconds)
        yield row


def backends_on(device: torch.device) -> dict[str, SDPBackend]:
    """Return SDPA's backends that may exist there."""
    anywhere = (SDPBackend.FLASH_ATTENTION, SDPBackend.MATH)
    return {name: each for name, each in BACKENDS.items() if device.type == "cuda" or each in anywhere}


def implementations(device: torch.device, kernels: CompiledAttention | None) -> dict[str, Implementation]:
    """Return torch's implementations, and ours if there are kernels."""
    found: dict[str, Implementation] = {}
    for name, backend in backends_on(device).items():
        found[name] = _by_sdpa(backend)
    if device.type != "cuda":
        found["reference"] = Implementation(
            lambda given: attention_reference(given.q, given.k, given.v, given.masks)[0]
        )
    if kernels is not None:
        for name, asked in zip(OURS, ASKED, strict=True):
            found[name] = by_kernels(kernels, asked)
    return found


def triton_implementation() -> Implementation | None:
    """Return attention in Triton, compiled per shape, which takes seconds; None without Triton."""
    if importlib.util.find_spec("triton") is None:
        return None
    from torch.nn.attention.flex_attention import flex_attention

    compiled = torch.compile(flex_attention, dynamic=False)

    def attend(given: Inputs) -> Tensor:
        if given.mask is not None:
            raise Unsupported("padding is not supported")
        return compiled(given.q, given.k, given.v, enable_gqa=given.q.shape[1] != given.k.shape[1])

    return Implementation(attend)


def _by_sdpa(backend: SDPBackend) -> Implementation:
    def attend(given: Inputs) -> Tensor:
        with sdpa_kernel([backend]):
            return torch.nn.functional.scaled_dot_product_attention(
                given.q, given.k, given.v, attn_mask=given.mask, enable_gqa=given.q.shape[1] != given.k.shape[1]
            )

    return Implementation(attend)


def by_kernels(kernels: CompiledAttention, asked: str = "flash", *, masked: bool = False) -> Implementation:
    """Return our implementation, one of `ASKED`; `masked`: with a key mask that hides nothing."""

    def masks_of(given: Inputs) -> Masks:
        return _all_seen(given.k.shape[0], given.k.shape[2], given.k.device) if masked else given.masks

    way = WAYS[asked]
    return Implementation(
        lambda given: kernels(given.q, given.k, given.v, masks_of(given), **way)[0],
        lambda given: kernels.kernel_name(given.q, given.k, given.v, masks_of(given), **way),
    )


@functools.lru_cache(maxsize=1)
def _all_seen(batch: int, keys: int, device: torch.device) -> Masks:
    return Masks(key_mask=torch.ones(batch, keys, dtype=torch.bool, device=device))


def _inputs(shape: Shape, device: torch.device, dtype: torch.dtype) -> list[Inputs]:
    """Draw enough inputs to exceed the device's cache, so that each call reads from memory."""
    cache = _CACHE_BYTES
    if device.type == "cuda":
        cache = 2 * int(getattr(torch.cuda.get_device_properties(device), "L2_cache_size", 0)) or cache
    count = min(_MOST_INPUTS, 1 + cache // (shape.elements * dtype.itemsize)) if device.type == "cuda" else 2
    generator = torch.Generator(device).manual_seed(0)

    def draw(heads: int, tokens: int) -> Tensor:
        size = (shape.batch, tokens, heads, shape.head_dim)
        return torch.randn(size, generator=generator, device=device, dtype=dtype).transpose(1, 2)

    masks = NO_MASKS
    if shape.words:
        masks = Masks(key_lengths=torch.tensor(shape.words, dtype=torch.int32, device=device))
    mask = visible_keys(masks, shape.nk)
    keys = shape.heads_of_keys
    return [
        Inputs(draw(shape.heads, shape.nq), draw(keys, shape.nk), draw(keys, shape.nk), masks, mask)
        for _ in range(count)
    ]


def _measure(
    shape: Shape, name: str, implementation: Implementation, inputs: Sequence[Inputs], best: float | None, of: Pass
) -> BenchRow:
    device, attend = inputs[0].q.device, implementation.attend
    time = peak = error = problem = kernel = None
    try:
        kernel = implementation.kernel_of(inputs[0])
        peak = _peak_bytes(attend, inputs[0])
        error = of.error(attend, inputs[0])
        if not math.isfinite(error):
            error, problem = None, "the result contains NaN"
        time = milliseconds([_bound(attend, given) for given in inputs], device, captured=of.captured)
    except (Unsupported, LaunchFailed, Unavailable, RuntimeError, ValueError) as failure:
        problem = str(failure).strip().partition("\n")[0][:200] or type(failure).__name__
        if device.type == "cuda":
            with contextlib.suppress(RuntimeError):  # raised again if the GPU is lost
                torch.cuda.empty_cache()
    return BenchRow(
        group=shape.group,
        shape=shape.name + of.suffix,
        batch=shape.batch,
        heads=shape.heads,
        kv_heads=shape.heads_of_keys,
        nq=shape.nq,
        nk=shape.nk,
        head_dim=shape.head_dim,
        words=shape.words,
        dtype=str(inputs[0].q.dtype).removeprefix("torch."),
        implementation=name,
        kernel=kernel,
        milliseconds=time,
        tflops=None if time is None else of.products * shape.products / time / 1e9,
        ratio=None if time is None or best is None else best / time,
        peak_bytes=peak,
        error=error,
        problem=problem,
        device=torch.cuda.get_device_name(device) if device.type == "cuda" else device.type,
        torch=torch.__version__,
    )


def _bound(attend: Attend, given: Inputs) -> Callable[[], object]:
    return lambda: attend(given)


def _peak_bytes(attend: Attend, given: Inputs) -> int | None:
    attend(given)  # warm up, so that one-time allocations of libraries are not counted
    if given.q.device.type != "cuda":
        return None
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated(given.q.device)
    torch.cuda.reset_peak_memory_stats(given.q.device)
    attend(given)
    torch.cuda.synchronize()
    return int(torch.cuda.max_memory_allocated(given.q.device) - before)


def _error(attend: Attend, given: Inputs) -> float:
    q, k, v = (each[-1:].float() for each in (given.q[:, :, :_CHECKED], given.k, given.v))
    lengths = given.masks.key_lengths
    exact = attention_reference(q, k, v, Masks(key_lengths=None if lengths is None else lengths[-1:]))[0]
    found = attend(given)[-1:, :, :_CHECKED].float()
    return float((found - exact).norm() / exact.norm())


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Silence torch's warnings about unsupported backends, which the rows report."""
    with warnings.catch_warnings(), torch.inference_mode():
        warnings.simplefilter("ignore")
        yield


def choose(groups: Sequence[str], device: torch.device) -> list[Shape]:
    """Return the shapes of these groups, by default all; on a CPU, small variants of them."""
    chosen = [shape for shape in SHAPES if not groups or shape.group in groups]
    return chosen if device.type == "cuda" else [shape.small() for shape in chosen]


def dtype_for(device: torch.device) -> torch.dtype:
    """Return the dtype in which models run on the device."""
    if device.type == "cuda" and torch.cuda.get_device_capability(device)[0] < 8:
        return torch.float16
    return torch.bfloat16 if device.type == "cuda" else torch.float32


def kernels_for(device: torch.device) -> tuple[CompiledAttention | None, str | None]:
    """Return our kernels, or the reason why they are not measured."""
    try:
        kernels = CompiledAttention(open_installed())
    except Unavailable as error:
        return None, str(error)
    if kernels.device_type != device.type:
        return None, f"our kernels run on {kernels.device_type}, and this device is {device}"
    return kernels, None
