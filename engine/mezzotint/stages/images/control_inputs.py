"""The control images of a stage, as its networks take them, and the masks of its regions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from PIL import Image

from mezzotint.families.control.settings import ControlSettings
from mezzotint.families.family import Conditioning
from mezzotint.images.canvas import fit
from mezzotint.protocol import Preprocess
from mezzotint.stages.controls import StageControl
from mezzotint.stages.images.input_images import InputImages
from mezzotint.stages.images.request_images import Size
from mezzotint.stages.setup import StageSetup

Encode = Callable[[Image.Image, torch.Generator | None], torch.Tensor]
Prepare = Callable[[Image.Image, Preprocess, str], Image.Image]  # of an image and its path, for errors


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlInputs:
    """The control images of n images that are denoised together."""

    settings: tuple[ControlSettings, ...]
    images: Mapping[str, torch.Tensor]  # by tensor name: `(n, 3 or 1, h, w)` with pixels from 0 to 1

    @classmethod
    def of(
        cls,
        controls: Sequence[StageControl],
        inputs: Sequence[InputImages],
        size: Size,
        prepare: Prepare,
        encode: Encode,
        generators: Sequence[torch.Generator],
    ) -> "ControlInputs":
        """Those of a stage of this size, in pixels; `encode(image, generator)` makes latents for transformers."""

        def shown(control: StageControl, each: InputImages, generator: torch.Generator) -> torch.Tensor:
            image = prepared(control, each, size, prepare)
            if control.settings.takes_latents:
                return encode(image, generator if control.settings.draws_latents else None)
            return _pixels(control, image)

        masks = {
            control.settings.mask: torch.cat([_mask(control, each, size) for each in inputs])
            for control in controls
            if control.settings.mask is not None
        }
        return cls(
            settings=tuple(control.settings for control in controls),
            images={
                control.settings.tensor: torch.cat(
                    [shown(control, *one) for one in zip(inputs, generators, strict=True)]
                )
                for control in controls
                if control.settings.is_shown_each_step
            }
            | masks,
        )

    def add_to(self, conditioning: Conditioning, device: torch.device, dtype: torch.dtype) -> Conditioning:
        """Return the conditioning with these images added, for both guidance halves, on a device."""
        halves = 2 if conditioning.guided else 1
        rows = {name: torch.cat([image] * halves).to(device, dtype) for name, image in self.images.items()}
        return replace(conditioning, tensors={**conditioning.tensors, **rows}, controls=self.settings)


def prepared(control: StageControl, inputs: InputImages, size: Size, prepare: Prepare) -> Image.Image:
    """A control image "RGB", fitted like an init image, then preprocessed."""
    fitted = _fitted(inputs.controls[control.index], inputs, size)
    return prepare(fitted, control.preprocess, inputs.controls_used[control.index].path)


def region_masks(inputs: InputImages, stage: StageSetup) -> list[Image.Image | None]:
    """The masks of regions, fitted to a stage like an init image; None for boxes."""
    size = stage.width, stage.height
    return [None if mask is None else _fitted(mask, inputs, size) for mask in inputs.region_masks]


def _fitted(image: Image.Image, inputs: InputImages, size: Size) -> Image.Image:
    if inputs.canvas is not None:
        return inputs.canvas.view_of(image, size)
    return fit(image, *size, Image.Resampling.LANCZOS)


def _pixels(control: StageControl, image: Image.Image) -> torch.Tensor:
    """An image "RGB" `(1, 3 or 1, h, w)` with pixels from 0 to 1."""
    pixels = np.asarray(image if control.channels > 1 else image.convert("L"), dtype=np.float32) / 255.0
    return torch.from_numpy(pixels).view(*image.size[::-1], control.channels).permute(2, 0, 1)[None].contiguous()


def _mask(control: StageControl, inputs: InputImages, size: Size) -> torch.Tensor:
    """Where an image prompt applies `(1, 1, h, w)`: 1 where the mask, fitted like an init image, is rather white."""
    mask = inputs.control_masks[control.index]
    if mask is None:
        return torch.ones(1, 1, *size[::-1])
    fitted = _fitted(mask.convert("RGB"), inputs, size).convert("L")
    return torch.from_numpy(np.asarray(fitted, dtype=np.float32) / 255.0 >= 0.5).float()[None, None]
