"""The factors of a LoRA's layers, in memory and read from a file (LoRA, arXiv 2106.09685)."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor

from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.read import read_tensors
from mezzotint.errors import ModelRefused, StorageError
from mezzotint.families.loading.original_names import Rows, swapped
from mezzotint.families.lora.file import LoraFile, LoraLayer
from mezzotint.families.lora.keys import Part

if TYPE_CHECKING:
    from mezzotint.families.lora.dialects import Dialect


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LoraFactors:
    """What a LoRA adds to a layer's weight: `alpha / r` times up down.

    down `(r, k)` or, of a convolution, `(r, c, kh, kw)`; up `(n, r)` or `(n, r, 1, 1)`.
    """

    down: Tensor
    up: Tensor
    alpha: float
    algorithm: ClassVar[str] = ""

    @property
    def rank(self) -> int:
        """r."""
        return len(self.down)

    @property
    def scale(self) -> float:
        """What the product of the factors is multiplied by."""
        return self.alpha / self.rank

    def folded(self) -> "LoraFactors":
        """The same update with alpha equal to the rank: the scale is in the factors."""
        return self.with_alpha(float(self.rank))

    def with_alpha(self, alpha: float) -> "LoraFactors":
        """The same update with another alpha than 0: the difference is in the factors, half in each.

        Exact if the alphas' ratio is a power of two; neither factor leaves the range of 16-bit numbers sooner than need
        be.
        """
        ratio = self.alpha / alpha
        if ratio == 1:
            return self
        root = 2.0 ** round(math.log2(abs(ratio)) / 2) if ratio else 1.0
        return LoraFactors(down=self.down.float() * root, up=self.up.float() * (ratio / root), alpha=alpha)

    def swapped(self) -> "LoraFactors":
        """The same for a weight with swapped halves."""
        return LoraFactors(down=self.down, up=swapped(self.up), alpha=self.alpha)

    @classmethod
    def fused(cls, parts: Iterable[tuple[Rows, "LoraFactors"]]) -> "LoraFactors":
        """The one layer of a fused weight."""
        return joined(parts)

    def tensors(self, name: str, dialect: "Dialect") -> dict[str, Tensor]:
        """Tensors by name: with an alpha if as by kohya's scripts, else with the scale in the factors."""
        if dialect.is_kohya:
            alpha = torch.tensor(self.alpha, dtype=torch.float32)
            return {
                f"{name}.lora_down.weight": self.down,
                f"{name}.lora_up.weight": self.up,
                f"{name}.alpha": alpha,
            }
        factors = self.folded()
        return {f"{name}.lora_A.weight": factors.down, f"{name}.lora_B.weight": factors.up}


def joined(parts: Iterable[tuple[Rows, LoraFactors]]) -> LoraFactors:
    """The LoRA of a fused layer, of which these are some rows: exactly what they add, and nothing to other rows.

    Parts that share down and scale keep their rank; otherwise the ranks are stacked, with zeros beside each part's up.
    """
    rows, several = zip(*parts, strict=True)
    first, start = several[0], 0
    is_shared = all(each.alpha == first.alpha and torch.equal(each.down, first.down) for each in several)
    if not is_shared:
        several = tuple(each.folded() for each in several)
    rank = first.rank if is_shared else sum(each.rank for each in several)
    up = several[0].up.new_zeros(rows[0].whole(len(first.up)), rank, *first.up.shape[2:])
    for place, each in zip(rows, several, strict=True):
        place.take(up)[:, start : start + each.rank] = each.up
        start += 0 if is_shared else each.rank
    if is_shared:
        return LoraFactors(down=first.down, up=up, alpha=first.alpha)
    return LoraFactors(down=torch.cat([each.down for each in several]), up=up, alpha=float(rank))


def check_plain(file: LoraFile) -> None:
    """Raise ModelRefused if a layer is no plain LoRA, which has two factors, or three with a window of its own."""
    for layer in file.layers:
        if "down" not in layer.names or layer.magnitude is not None:
            raise ModelRefused(
                f"{plain(file.path, 300)}: '{plain(layer.layer, 80)}' is {kind_of(layer)}; only plain LoRAs, of two "
                "factors for each layer, can be rewritten"
            )


def read_factors(file: LoraFile, layer: LoraLayer, cancelled: Callable[[], bool]) -> LoraFactors:
    """Read a layer of a plain LoRA. Raises ModelRefused if numbers are not finite."""
    tensors = read_layers(file, [layer], cancelled)
    parts = {part: tensors[name] for part, name in layer.names.items()}
    alpha = scale_of(file, layer, tensors) * layer.rank
    return LoraFactors(down=whole_down(parts), up=parts["up"], alpha=alpha)


def read_layers(
    file: LoraFile, layers: Iterable[LoraLayer], cancelled: Callable[[], bool], others: Iterable[str] = ()
) -> dict[str, Tensor]:
    """The tensors of some layers, and others, by name.

    Raises ModelRefused if numbers are not finite, StorageError if the file has changed since it was opened.
    """
    path, specs = file.path, file.header.tensors
    wanted = {name for layer in layers for name in layer.names.values()} | set(others)
    tensors = dict(read_tensors([path], on_bytes=_uncounted, cancelled=cancelled, names=wanted))
    if {name: specs[name].shape for name in wanted} != {name: tuple(each.shape) for name, each in tensors.items()}:
        raise StorageError(f"{plain(path, 300)} changed while it was read; try again")
    tensors = {name: each.half() if each.dtype.itemsize == 1 else each for name, each in tensors.items()}  # exactly
    for name, tensor in tensors.items():
        if not bool(torch.isfinite(tensor).all()):
            raise ModelRefused(
                f"{plain(path, 300)}: '{plain(name, 80)}' holds numbers that are not finite; it is damaged, download "
                "it again"
            )
    return tensors


def scale_of(file: LoraFile, layer: LoraLayer, tensors: Mapping[str, Tensor]) -> float:
    """What the product of a layer's factors is multiplied by: alpha over the rank, unless the metadata differs."""
    if not layer.rank:  # a LoKr of two full matrices
        return 1.0
    if "alpha" in layer.names:
        return float(tensors[layer.names["alpha"]].double().item()) / layer.rank
    written = file.alphas.get(layer.place)
    return 1.0 if written is None else written.scale(layer.layer, layer.rank)


def whole_down(parts: Mapping[Part, Tensor]) -> Tensor:
    """Down with the kernel window, which is a factor of its own in a CP decomposition (LyCORIS, arXiv 2309.14859)."""
    if "mid" not in parts:
        return parts["down"]
    return torch.einsum("orhw,rc->ochw", parts["mid"].float(), parts["down"].flatten(1).float())


def kind_of(layer: LoraLayer) -> str:
    """What the layer is: "a LoRA", "a DoRA", ..."""
    if layer.magnitude is not None:
        return "a DoRA"
    if layer.rotated is not None:
        return "an OFT"
    if "down" in layer.names:
        return "a LoRA"
    return "a LoHa" if any(part.startswith("hada_") for part in layer.names) else "a LoKr"


def _uncounted(_: int) -> None:
    """Ignore progress, since LoRAs are read quickly."""
