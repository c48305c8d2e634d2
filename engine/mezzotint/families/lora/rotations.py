"""By what an OFT layer rotates a weight: orthogonal matrices from skew-symmetric ones (arXiv 2306.07280, 2506.19847).

Only differences from the identity are computed, which keeps small rotations exact.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor

from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import ModelRefused
from mezzotint.families.lora.file import LoraLayer
from mezzotint.families.lora.keys import Part
from mezzotint.families.lora.matching import Target, rows_for
from mezzotint.quantization.oft import Rotation


def rotations(path: Path, layer: LoraLayer, parts: Mapping[Part, Tensor], targets: Sequence[Target]) -> list[Rotation]:
    """What a layer does to each of its targets; raises ModelRefused if groups of outputs are of several targets."""
    if "oft_R" in parts:
        blocks = _from_triangles(parts["oft_R"], is_scaled="scaled_oft" in parts)
        return [
            Rotation(blocks=blocks if _is_transposed(layer, target) else blocks.mT, of_inputs=True)
            for target in targets
        ]
    blocks = _of_outputs(parts)
    found = [_for_rows(blocks, target) for target in targets]
    if any(each is None for each in found):
        raise ModelRefused(
            f"{plain(path, 300)}: '{plain(layer.layer, 80)}' rotates outputs together that the model has in several "
            "layers; use an OFT that was made for this model"
        )
    return [Rotation(blocks=each, of_inputs=False) for each in found if each is not None]


def _is_transposed(layer: LoraLayer, target: Target) -> bool:
    """Whether W is multiplied by R, instead of by its transpose as peft does: OneTrainer does that to convolutions."""
    return len(target.shape) == 4 and layer.names["oft_R"].startswith("lora_")


def _from_triangles(upper: Tensor, *, is_scaled: bool) -> Tensor:
    """R less the identity, `(b, m, m)`, from upper triangles Q `(b, m (m - 1) / 2)`.

    R is the Cayley transform as a series of five terms, as peft and OneTrainer have it by default.
    """
    numbers = upper.shape[1]
    size = (1 + math.isqrt(1 + 8 * numbers)) // 2
    rows, columns = torch.triu_indices(size, size, 1)
    q = upper.new_zeros(len(upper), size, size, dtype=torch.float32)
    q[:, rows, columns] = upper.float() / (math.sqrt(numbers) if is_scaled else 1)
    q = q - q.mT
    square = q @ q
    return 2 * (q + square + square @ q) + square @ square


def _of_outputs(parts: Mapping[Part, Tensor]) -> Tensor:
    """What multiplies groups of outputs, less the identity, `(b, m, m)`: R transposed, times `rescale` by output."""
    if "oft_diag" in parts:  # R itself
        whole = parts["oft_diag"].float().mT
        return whole - torch.eye(whole.shape[1])
    q = _skew(parts["oft_blocks"].float(), float(parts["alpha"].double().item()) if "alpha" in parts else 0.0)
    turned = _cayley(q).mT
    if "rescale" not in parts:
        return turned
    gains = parts["rescale"].float().reshape(*turned.shape[:2], 1)
    return gains * turned + (gains - 1) * torch.eye(turned.shape[1])


def _skew(blocks: Tensor, constraint: float) -> Tensor:
    """Blocks less their transposes; their norm is limited to the constraint (alpha) times the outputs, if it is not 0.

    As kohya's scripts and LyCORIS have it.
    """
    q = blocks - blocks.mT
    most, norm = constraint * q.shape[0] * q.shape[1], float(q.norm())
    return q * (most / norm) if 0 < most < norm else q


def _cayley(q: Tensor) -> Tensor:
    """(I + Q) (I - Q)^-1, less the identity; there always is an inverse."""
    solved: Tensor = torch.linalg.solve(torch.eye(q.shape[1]) - q, 2 * q)
    return solved


def _for_rows(blocks: Tensor, target: Target) -> Tensor | None:
    """The blocks for a target's rows; None if those are no whole groups."""
    select = rows_for(target)
    if select is None:
        return blocks
    size = blocks.shape[1]
    rows = select(torch.arange(len(blocks) * size))
    firsts = rows[::size]
    together = (firsts[:, None] + torch.arange(size)).flatten()
    if not torch.equal(rows, together) or bool((firsts % size).any()):
        return None
    return blocks[firsts // size]
