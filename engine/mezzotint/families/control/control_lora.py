"""FLUX.1's Canny and Depth as LoRAs: they widen the layer that takes the latents, and change biases and norms, too.

Their low-rank products are applied like any LoRA's. The rest is small, and done while weights are loaded.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import ModelRefused
from mezzotint.families.family import ModelSources, Patch

if TYPE_CHECKING:
    from torch import Tensor

INPUT = "x_embedder.weight"
_WIDE = 128  # channels of tokens: of the latents, and the control image's
_INPUT = re.compile(r"(?:^|\.)(?:x_embedder|img_in)\.lora_(?:A|down)\.weight$")
_BIAS = re.compile(r"\.lora_(?:B|up)\.bias$")
_NORM = re.compile(r"\.(?:norm_(?:added_)?[qk]\.weight|(?:query|key)_norm\.(?:scale|weight))$")
_PREFIX = re.compile(r"^(?:base_model\.model\.|transformer\.|diffusion_model\.)+")


def is_control_lora(shapes: Mapping[str, tuple[int, ...]]) -> bool:
    """Whether these are the tensors of such a LoRA."""
    return any(_INPUT.search(name) and shape[-1:] == (_WIDE,) for name, shape in shapes.items())


def patching(names: Collection[str]) -> list[str]:
    """Those tensors of it that are no low-rank products."""
    return [name for name in names if _BIAS.search(name) or _NORM.search(name)]


def why_no_control_lora(sources: ModelSources, model: str) -> str | None:
    """Why a model cannot use it, as a clause; None if it can."""
    channels = sources.components["transformer"].config.get("in_channels") if sources.family == "flux" else None
    if channels is None or sources.detected.references or sources.takes_mask:
        return f"{plain(model, 100)} is not FLUX.1 dev or schnell, and it is a control LoRA for those"
    return None if channels == _WIDE // 2 else f"{plain(model, 100)} takes {channels} channels already; leave it out"


def with_control_lora(sources: ModelSources, patch: Patch) -> ModelSources:
    """The model whose transformer takes the latents of a control image, too."""
    source = sources.components["transformer"]
    config = {**source.config, "in_channels": _WIDE, "out_channels": _WIDE // 2}
    return replace(sources, components={**sources.components, source.name: replace(source, config=config, patch=patch)})


class Patches:
    """What becomes of a network's parameters as they are loaded."""

    def __init__(self, patch: Patch | None, shapes: Mapping[str, Collection[int]]) -> None:
        """`shapes`: of all parameters. Raises ModelRefused for a tensor that is not finite or fits none."""
        self._added: dict[str, Tensor] = {}
        self._instead: dict[str, Tensor] = {}
        self._shapes = shapes
        self._input = INPUT if patch is not None else ""
        if patch is not None:
            self._read(patch)

    @property
    def names(self) -> set[str]:
        """The parameters that change."""
        return {*self._added, *self._instead, *([self._input] if self._input else [])}

    def of(self, name: str, part: "Tensor") -> "Tensor":
        """A parameter as it is to be, by that of the model's file."""
        from torch.nn.functional import pad

        if name in self._instead:
            return self._instead[name]
        if name in self._added:
            return part.float() + self._added[name]
        missing = _WIDE - part.shape[-1] if name == self._input else 0
        return pad(part, (0, missing)) if missing > 0 else part  # which begin without effect

    def _read(self, patch: Patch) -> None:
        from mezzotint.checkpoints.header import read_header
        from mezzotint.checkpoints.read import read_tensors

        wanted = set(patching(read_header(patch.file).tensors))
        for name, tensor in read_tensors([patch.file], on_bytes=lambda _: None, cancelled=lambda: False, names=wanted):
            for parameter, part in self._placed(name, tensor.float()):
                if tuple(self._shapes.get(parameter, ())) != tuple(part.shape) or not bool(part.isfinite().all()):
                    raise ModelRefused(
                        f"{plain(patch.file, 300)}: '{plain(name, 80)}' is not finite, or for another model"
                    )
                if _BIAS.search(name):
                    self._added[parameter] = part * patch.scale
                else:
                    self._instead[parameter] = part

    def _placed(self, name: str, tensor: "Tensor") -> "list[tuple[str, Tensor]]":
        """The parameters that a tensor changes, in diffusers' or its original naming, and its part for each."""
        from mezzotint.families.flux1.names import TRANSFORMER
        from mezzotint.families.loading.original_names import Placement

        inner = _BIAS.sub(".bias", _PREFIX.sub("", name))
        placed = [Placement(component="", name=inner, form="whole")]
        if inner not in self._shapes:
            placed = [Placement(component="", name=one, form=form) for one, form in TRANSFORMER.place(inner)]
        return [(each.name, each.take(tensor)) for each in placed]
