"""A1111's fields of an init image and its mask."""

from dataclasses import dataclass

from mezzotint.api_server.fields import Fields
from mezzotint.api_server.pictures import image_bytes
from mezzotint.api_server.refusal import invalid
from mezzotint.images.untrusted import real

_STRENGTH = 0.75  # A1111's default
BLURS = ("mask_blur_x", "mask_blur_y")  # A1111's own values of mask_blur in each direction
_BLUR = 4  # pixels; A1111's default
_FILLS = ("blur", "original", "noise")  # by A1111's numbers: fill, original, latent noise


@dataclass(frozen=True, slots=True, kw_only=True)
class InitImage:
    """An image and its mask, as files in memory."""

    image: bytes
    mask: bytes | None
    invert_mask: bool


def init_image(fields: Fields) -> InitImage:
    """The images of a request. Raises Refusal for anything but one image."""
    images = fields.texts("init_images")
    if len(images) != 1:
        raise invalid("init_images", f"{len(images)} images are given; exactly one is needed")
    mask = fields.text("mask")
    return InitImage(
        image=image_bytes(images[0], "init_images[0]"),
        mask=image_bytes(mask, "mask") if mask else None,
        invert_mask=fields.flag("inpainting_mask_invert"),
    )


def init_options(fields: Fields, *, has_mask: bool) -> dict[str, object]:
    """The values of our options. Raises Refusal."""
    mode = fields.whole("resize_mode", 0, 0, 3)
    if mode > 1:
        raise invalid("resize_mode", f"{mode} is not supported; 0 and 1 crop the image to the size's shape")
    values: dict[str, object] = {"strength": fields.number("denoising_strength", _STRENGTH, 0, 1)}
    fill = fields.whole("inpainting_fill", 0, 0, 3)
    blur = fields.option("mask_blur", "inpaint-feather", _BLUR)
    for name in BLURS:
        fields.take_if(name, lambda value: not has_mask or real(value) == blur)
    inpaint = {
        "inpaint_feather": blur,
        "inpaint_padding": fields.option("inpaint_full_res_padding", "inpaint-padding", 0),
        "inpaint_area": "masked" if fields.flag("inpaint_full_res", True) else "whole",
    }
    if not has_mask:
        return values
    if fill == len(_FILLS):
        raise invalid("inpainting_fill", "3, latents of zero, is not supported; 2 starts from noise")
    return values | inpaint | {"inpaint_fill": _FILLS[fill]}
