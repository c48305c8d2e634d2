"""Benchmark of linear attention: our kernels against the same in plain torch, map by map."""

from collections.abc import Mapping

import torch
from torch import Tensor

from mezzotint.attention.linear.compiled import CompiledLinearAttention
from mezzotint.attention.linear.features import Efficient, Elu, FeatureMap, PositiveRandom, Relu
from mezzotint.attention.linear.operation import plain_linear_attention
from mezzotint.attention.linear.projections import orthogonal_projections
from mezzotint.benchmarks.attention import Attend, Implementation, Inputs, Pass
from mezzotint.benchmarks.attention_shapes import Shape

OURS, TORCH = "mezzotint linear attention", "torch"
_RANDOM_FEATURES = 256  # about d ln d for d = 64
SHAPES = (
    Shape(group="linear", name="Sana, 32x32", batch=2, heads=70, nq=1024, nk=1024, head_dim=32),
    Shape(group="linear", name="Sana, 128x128", batch=2, heads=70, nq=16384, nk=16384, head_dim=32),
    Shape(group="linear", name="64x64, heads of 64", batch=2, heads=16, nq=4096, nk=4096, head_dim=64),
    Shape(group="linear", name="64x64, heads of 128", batch=1, heads=24, nq=4096, nk=4096, head_dim=128),
)


def feature_maps(shape: Shape, device: torch.device) -> dict[str, FeatureMap]:
    """Return the maps that are measured on a shape, by name."""
    if "Sana" in shape.name:
        return {"relu": Relu()}
    projection = orthogonal_projections(1, _RANDOM_FEATURES, shape.head_dim, seed=0).to(device)
    performer = PositiveRandom(projection, shape.head_dim**-0.5)
    return {"relu": Relu(), "elu": Elu(), "performer": performer, "efficient": Efficient()}


def linear_implementations(features: FeatureMap, kernels: CompiledLinearAttention) -> Mapping[str, Implementation]:
    """Return torch's linear attention and ours."""

    def by_torch(given: Inputs) -> Tensor:
        return plain_linear_attention(given.q, given.k, given.v, features, given.masks)

    def by_us(given: Inputs) -> Tensor:
        return kernels(given.q, given.k, given.v, features, given.masks)

    return {TORCH: Implementation(by_torch), OURS: Implementation(by_us)}


def linear_pass(shape: Shape, name: str, features: FeatureMap) -> Pass:
    """Return what is measured: the products of maps that keep the head size, 2 b h (nq + nk) d (d + 1) FLOPs."""
    d = shape.head_dim
    operations = 2 * shape.batch * shape.heads * (shape.nq + shape.nk) * d * (d + 1)

    def error(attend: Attend, given: Inputs) -> float:
        q, k, v = (each.double() for each in (given.q, given.k, given.v))
        exact = plain_linear_attention(q, k, v, features, given.masks)
        return float((attend(given).double() - exact).norm() / exact.norm())

    return Pass(suffix=f", {name}", products=operations / shape.products, error=error)
