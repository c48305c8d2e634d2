"""Decode latents to images, and encode images."""

from functools import partial

import numpy
import numpy.typing
import torch
from PIL import Image

from mezzotint.attention.session import finite
from mezzotint.errors import ImageOverflowed
from mezzotint.families.autoencoder import decode_latents, encode_pixels
from mezzotint.families.family import LoadedModel

_STRIP = 2**22  # pixels that are converted at a time


def to_image(model: LoadedModel, latents: torch.Tensor) -> Image.Image:
    """Decode latents `(1, c, h, w)` to an image."""
    decode = partial(decode_latents, model.networks["vae"], latents, model.vae_tile)
    return image_of(finite(model.attention, decode, "the decoded image"))


def image_of(pixels: torch.Tensor) -> Image.Image:
    """Pixels `(1, 3, h, w)`, about -1..1, as an image; raises ImageOverflowed for NaN.

    Strip by strip, so that a large image needs hardly more memory than its pixels.
    """
    strips = torch.split(pixels, max(1, _STRIP // pixels.shape[-1]), dim=2)
    return Image.fromarray(numpy.concatenate([_bytes_of(strip) for strip in strips]))


def _bytes_of(pixels: torch.Tensor) -> "numpy.typing.NDArray[numpy.uint8]":
    _check(pixels, "the decoded image")
    unit = (pixels * 0.5 + 0.5).clamp(0, 1)
    array = unit.cpu().permute(0, 2, 3, 1).float().numpy()
    return (array * 255).round().astype(numpy.uint8)[0]  # type: ignore[no-any-return]


def _check(made: torch.Tensor, what: str) -> None:
    if not bool(torch.isfinite(made).all()):
        raise ImageOverflowed(
            f"{what} contains NaN: the VAE's weights are damaged, or overflow in this dtype; try --dtype float32"
        )


def to_latents(
    model: LoadedModel,
    image: Image.Image,
    generator: torch.Generator | None,
    hidden: Image.Image | None = None,
    *,
    is_control: bool = False,
) -> torch.Tensor:
    """Encode an image of fitting size to latents `(1, c, h, w)`; the mode of the distribution without a generator.

    Pixels where `hidden`, a mask "L", is white become grey. Strides are those that diffusers gives init images or, if
    `is_control`, control images, as results depend on them in the last bits. Raises ImageOverflowed for NaN.
    """
    array = numpy.array(image.convert("RGB")).astype(numpy.float32)
    array /= 255.0
    pixels = 2.0 * torch.from_numpy(array[None].transpose(0, 3, 1, 2))  # channels-last strides, as in diffusers
    pixels.sub_(1.0)
    pixels = pixels.contiguous() if is_control else pixels
    if hidden is not None:
        pixels = pixels * (torch.from_numpy(numpy.array(hidden))[None, None] < 128)
    state = None if generator is None else generator.get_state()

    def encode() -> torch.Tensor:
        if generator is not None and state is not None:
            generator.set_state(state)  # a retry draws the same noise
        return encode_pixels(model.networks["vae"], pixels, generator, model.vae_tile)

    latents = finite(model.attention, encode, "the encoded image")
    _check(latents, "the encoded image")
    return latents.to(model.device)
