"""LoHa and LoKr layers of a LoRA file: target shape and what they add to the weight (LyCORIS, arXiv 2309.14859)."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from mezzotint.families.lora.keys import Part

if TYPE_CHECKING:
    from torch import Tensor

    from mezzotint.quantization.lycoris import Hadamard, Kronecker

Shape = tuple[int, ...]


def is_lycoris(parts: Iterable[Part]) -> bool:
    """Whether these are parts of a LoHa or LoKr layer."""
    return any(part.startswith(("hada_", "lokr_")) for part in parts)


def shape_of(shapes: Mapping[Part, Shape]) -> tuple[int, Shape]:
    """Divisor of alpha (0 if nothing is scaled) and shape of the weight, from the shapes of the factors.

    Raises KeyError naming a missing part, ValueError if the factors do not fit together.
    """
    if any(part.startswith("hada_") for part in shapes):
        rank, shape = _product(shapes["hada_w1_a"], shapes["hada_w1_b"], shapes.get("hada_t1"))
        _, second = _product(shapes["hada_w2_a"], shapes["hada_w2_b"], shapes.get("hada_t2"))
        if shape != second:
            raise ValueError(shape, second)
        return rank, shape
    rank, left = 0, shapes.get("lokr_w1")
    if left is None:
        rank, left = _product(shapes["lokr_w1_a"], shapes["lokr_w1_b"])
    right = shapes.get("lokr_w2")
    if right is None:
        rank, right = _product(shapes["lokr_w2_a"], shapes["lokr_w2_b"], shapes.get("lokr_t2"))
    if len(left) != 2:
        raise ValueError(left)
    return rank, (left[0] * right[0], left[1] * right[1], *right[2:])


def added_by(tensors: "Mapping[Part, Tensor]", window: Shape, scale: float) -> "Hadamard | Kronecker":
    """What factors, whose shapes fit, add to a weight `(n, k, *window)`."""
    from mezzotint.quantization.lycoris import Hadamard, Kronecker

    if "hada_w1_a" in tensors:
        one = _factors(tensors["hada_w1_a"], tensors["hada_w1_b"], tensors.get("hada_t1"), window)
        two = _factors(tensors["hada_w2_a"], tensors["hada_w2_b"], tensors.get("hada_t2"), window)
        return Hadamard(ups=(one[0], two[0]), downs=(one[1], two[1]), scale=scale)
    left, right = tensors.get("lokr_w1"), tensors.get("lokr_w2")
    if left is None:
        left = tensors["lokr_w1_a"].float() @ tensors["lokr_w1_b"].float()
    if right is None:
        up, down = _factors(tensors["lokr_w2_a"], tensors["lokr_w2_b"], tensors.get("lokr_t2"), window)
        right = up.float() @ down.flatten(1).float()
    return Kronecker(left=left, right=right.reshape(len(right), -1, *window), scale=scale)


def _product(up: Shape, down: Shape, core: Shape | None = None) -> tuple[int, Shape]:
    """Rank and shape of `up down`; in a Tucker decomposition up is transposed, and the core has the window."""
    if core is None and len(up) == len(down) == 2 and up[1] == down[0]:
        return down[0], (up[0], down[1])
    if core is not None and len(core) == 4 and len(up) == len(down) == 2 and core[:2] == (up[0], down[0]):
        return down[0], (up[1], down[1], *core[2:])
    raise ValueError(up, down, core)


def _factors(up: "Tensor", down: "Tensor", core: "Tensor | None", window: Shape) -> "tuple[Tensor, Tensor]":
    """Return up `(n, r)` and down `(r, k, *window)`."""
    import torch

    if core is None:
        return up, down.reshape(len(down), -1, *window)
    return up.T, torch.einsum("ijhw,jk->ikhw", core.float(), down.float()).reshape(len(up), -1, *window)
