"""Linear attention by the explicit matrix of all weights, in float64, straight from the formulas: the reference."""

import math

import torch
from torch import Tensor

from mezzotint.attention.linear.features import Efficient, Elu, FeatureMap, PositiveRandom, RandomFourier, Relu
from mezzotint.attention.masks import NO_MASKS, Masks, visible_keys


def linear_reference(q: Tensor, k: Tensor, v: Tensor, features: FeatureMap, masks: Masks = NO_MASKS) -> Tensor:
    """Same as `linear_attention`, `(b, h, nq, d)` in float64, in quadratic time; hidden keys must be finite too."""
    q, k, v = (each.double() for each in (q, k, v))
    k, v = (each.repeat_interleave(q.shape[1] // each.shape[1], dim=1) for each in (k, v))
    seen = visible_keys(masks, k.shape[2])
    shown = k.new_ones(1, 1, 1, k.shape[2]) if seen is None else seen.to(k)
    weights = _weights(features, q, k, shown.mT) * shown
    return _normalized(features, weights) @ v


def _weights(features: FeatureMap, q: Tensor, k: Tensor, shown: Tensor) -> Tensor:
    """Weights `(b, h, nq, nk)` before they are divided."""
    if isinstance(features, Efficient):
        tokens = torch.exp(k) * shown
        return q.softmax(-1) @ (tokens / tokens.sum(-2, keepdim=True).clamp(min=1e-300)).mT
    if isinstance(features, PositiveRandom):
        return _favor(features, q, k, shown)
    if isinstance(features, RandomFourier):
        projection = features.sigma.double() * features.projection.double()
        q, k = (each / each.norm(dim=-1, keepdim=True).clamp(min=1e-12) for each in (q, k))
        differences = (q @ projection.mT)[..., :, None, :] - (k @ projection.mT)[..., None, :, :]
        return differences.cos().mean(-1)  # sin sin + cos cos
    apart = torch.where if isinstance(features, Elu) else None
    q, k = (each.clamp(min=0) if apart is None else apart(each > 0, each + 1, each.exp()) for each in (q, k))
    return q @ k.mT


def _favor(features: PositiveRandom, q: Tensor, k: Tensor, shown: Tensor) -> Tensor:
    projection = features.projection.double()
    q, k = (math.sqrt(features.scale) * each for each in (q, k))
    of_q, of_k = (each @ projection.mT - each.square().sum(-1, keepdim=True) / 2 for each in (q, k))
    top = of_k.masked_fill(shown == 0, -math.inf).amax((-2, -1), keepdim=True).nan_to_num(neginf=0.0)
    of_q, of_k = torch.exp(of_q - of_q.amax(-1, keepdim=True)), torch.exp(of_k - top)
    return (of_q + features.epsilon) @ (of_k + features.epsilon).mT / projection.shape[-2]


def _normalized(features: FeatureMap, weights: Tensor) -> Tensor:
    total = weights.sum(-1, keepdim=True)
    if isinstance(features, Efficient):
        return weights
    if isinstance(features, RandomFourier):
        return weights / total.clamp(min=features.floor)
    if isinstance(features, Elu | Relu):
        total = total + features.epsilon
    return weights / total.masked_fill(total == 0, 1.0)
