"""Benchmark of attention's gradients: our backward kernels against SDPA's; the forward is not counted."""

import contextlib
import functools
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from mezzotint.attention.compiled import CompiledAttention
from mezzotint.attention.compiled_backward import Attended, CompiledBackward
from mezzotint.attention.masks import Masks
from mezzotint.attention.reference import attention_gradients
from mezzotint.benchmarks.attention import Attend, Implementation, Inputs, Pass, backends_on
from mezzotint.benchmarks.attention_shapes import SHAPES, Shape
from mezzotint.dispatch.library import Unsupported

OURS = "mezzotint flash"
_GROUPS = ("sdxl", "pixart", "flux", "cross")  # what is trained
_QUERIES = 1024  # of the exact gradients that are computed at a time


def gradient_shapes() -> list[Shape]:
    """Return the shapes whose gradients are measured."""
    return [shape for shape in SHAPES if shape.group in _GROUPS]


def gradient_implementations(
    device: torch.device, forward: CompiledAttention, backward: CompiledBackward
) -> dict[str, Implementation]:
    """Return SDPA's backends and ours; each runs the forward once for an input, then only the backward."""
    found = {name: _kept(functools.partial(_sdpa, backend)) for name, backend in backends_on(device).items()}
    return found | {OURS: _kept(functools.partial(_ours, forward, backward))}


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Silence torch's warnings about unsupported backends, which the rows report; gradients are enabled."""
    with warnings.catch_warnings(), torch.enable_grad():
        warnings.simplefilter("ignore")
        yield


def _kept(prepare: Callable[[Inputs], Callable[[], Any]]) -> Implementation:
    """Keep the forwards of the inputs of one shape."""
    kept: dict[int, tuple[Inputs, Callable[[], Any]]] = {}

    def derive(given: Inputs) -> Any:  # noqa: ANN401  gradients of q, k and v
        if id(given) not in kept:
            if any(other.q.shape != given.q.shape or other.k.shape != given.k.shape for other, _ in kept.values()):
                kept.clear()
            kept[id(given)] = given, prepare(given)
        return kept[id(given)][1]()

    return Implementation(derive)


def _sdpa(backend: SDPBackend, given: Inputs) -> Callable[[], Any]:
    q, k, v = inputs = [each.detach().requires_grad_() for each in (given.q, given.k, given.v)]
    with sdpa_kernel([backend]):
        out = torch.nn.functional.scaled_dot_product_attention(
            q, k, v, attn_mask=given.mask, enable_gqa=q.shape[1] != k.shape[1]
        )
    return lambda: torch.autograd.grad(out, inputs, _gradient(given), retain_graph=True)


def _ours(forward: CompiledAttention, backward: CompiledBackward, given: Inputs) -> Callable[[], Any]:
    q, k, v, masks, scale = given.q, given.k, given.v, given.masks, given.q.shape[-1] ** -0.5
    out, lse = forward(q, k, v, masks, with_lse=True)
    if lse is None:
        raise Unsupported("the kernel gives no logarithm of sums")
    of = Attended(q=q, k=k, v=v, masks=masks, scale=scale, out=out, lse=lse)
    return lambda: backward(of, _gradient(given), None)


def _gradient(given: Inputs) -> Tensor:
    """The gradient of the output: as random as the queries."""
    return given.q


def _error(derive: Attend, given: Inputs) -> float:
    """Largest relative RMS error of the three gradients, of the last batch item's first head of keys."""
    group = given.q.shape[1] // given.k.shape[1]
    found: Sequence[Tensor] = derive(given)
    pairs = zip((found[0][-1:, :group], found[1][-1:, :1], found[2][-1:, :1]), _exact(given, group), strict=True)
    return max(float((ours.float() - exact).norm() / exact.norm()) for ours, exact in pairs)


def _exact(given: Inputs, group: int) -> tuple[Tensor, Tensor, Tensor]:
    lengths = given.masks.key_lengths
    masks = Masks(key_lengths=None if lengths is None else lengths[-1:])
    k, v = (each[-1:, :1].float() for each in (given.k, given.v))
    whole = [torch.split(each[-1:, :group].float(), _QUERIES, dim=2) for each in (_gradient(given), given.q)]
    parts = [
        attention_gradients(gradient, None, q, k, v, masks, q.shape[-1] ** -0.5)[:3]
        for gradient, q in zip(*whole, strict=True)
    ]
    of_q, of_k, of_v = zip(*parts, strict=True)
    return torch.cat(of_q, dim=2), sum(of_k, torch.zeros_like(k)), sum(of_v, torch.zeros_like(v))


GRADIENTS = Pass(suffix=", gradients", products=2.5, captured=False, error=_error)
