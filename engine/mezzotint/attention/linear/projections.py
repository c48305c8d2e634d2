"""Random projections, which models store: decompositions differ between machines, and so do the numbers drawn there."""

import torch
from torch import Tensor


def orthogonal_projections(heads: int, features: int, head_dim: int, seed: int) -> Tensor:
    """Rows that are orthogonal in groups of `head_dim`, each as long as a Gaussian vector: `(heads, features, d)`.

    Each row alone is Gaussian, so estimates stay unbiased; together they vary less (arXiv 2009.14794, section 2.4).
    """
    generator = torch.Generator().manual_seed(seed)
    groups = -(-features // head_dim)

    def gaussian(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator, dtype=torch.float64, device="cpu")

    directions, triangle = torch.linalg.qr(gaussian(heads, groups, head_dim, head_dim))
    signs = triangle.diagonal(dim1=-2, dim2=-1).sign()  # without them, rows would not be uniform
    rows = (directions * signs[..., None, :]).mT.flatten(1, 2)[:, :features]
    lengths = gaussian(heads, features, head_dim).norm(dim=-1, keepdim=True)
    drawn: Tensor = rows * lengths
    return drawn.float()
