"""The image prompts of a stage: seen by their IP-Adapters or Redux once, before denoising."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import torch
from PIL import Image

from mezzotint.families.family import Conditioning, LoadedModel
from mezzotint.stages.controls import StageControl
from mezzotint.stages.images.control_inputs import Prepare
from mezzotint.stages.images.input_images import InputImages
from mezzotint.stages.models.placement import Placement

# Of the images that CLIP was trained with: arXiv 2103.00020's code.
_MEAN = (0.48145466, 0.4578275, 0.40821073)
_DEVIATION = (0.26862954, 0.26130258, 0.27577711)
_LONGEST = 16  # times the shorter side: beyond that, ends are cut off before the rest is resized


def with_image_prompts(
    conditioning: Conditioning,
    model: LoadedModel,
    controls: Sequence[StageControl],
    inputs: InputImages,
    prepare: Prepare,
    placement: Placement,
) -> Conditioning:
    """The conditioning with what image prompts among the controls become."""
    tensors = {}
    for control in controls:
        component = control.settings.component
        if control.settings.is_image_prompt:
            network = model.networks[component]
            seen = clip_pixels if control.settings.kind == "ip-adapter" else siglip_pixels
            image, path = inputs.controls[control.index], inputs.controls_used[control.index].path
            pixels = seen(prepare(image, control.preprocess, path), network.side)
            see = partial(network, pixels.to(model.device, model.dtype), guided=conditioning.guided)
            with placement.phase("encode", model, [component]) as working:
                tensors[control.settings.tensor] = working.retry_stateless(see)
    return replace(conditioning, tensors=conditioning.tensors | tensors) if tensors else conditioning


def clip_pixels(image: Image.Image, side: int) -> torch.Tensor:
    """An image "RGB" as CLIP takes it `(1, 3, side, side)`: its middle square, resized."""
    image = _without_ends(image)
    width, height = (_length(length, min(image.size), side) for length in image.size)
    resized = image.resize((width, height), Image.Resampling.BICUBIC)
    left, top = (width - side) // 2, (height - side) // 2
    return _scaled(resized.crop((left, top, left + side, top + side)), _MEAN, _DEVIATION)


def siglip_pixels(image: Image.Image, side: int) -> torch.Tensor:
    """An image "RGB" as SigLIP takes it `(1, 3, side, side)`: all of it, resized."""
    return _scaled(_without_ends(image).resize((side, side), Image.Resampling.BICUBIC), (0.5,) * 3, (0.5,) * 3)


def _scaled(image: Image.Image, mean: Sequence[float], deviation: Sequence[float]) -> torch.Tensor:
    pixels = np.asarray(image, dtype=np.float64) * (1 / 255)
    scaled = (pixels.astype(np.float32) - np.array(mean, np.float32)) / np.array(deviation, np.float32)
    return torch.from_numpy(scaled).permute(2, 0, 1)[None].contiguous()


def _without_ends(image: Image.Image) -> Image.Image:
    most = _LONGEST * min(image.size)
    if max(image.size) <= most:
        return image
    left, top = (max(0, (length - most) // 2) for length in image.size)
    return image.crop((left, top, image.width - left, image.height - top))


def _length(length: int, shortest: int, side: int) -> int:
    return side if length == shortest else int(side * length / shortest)
