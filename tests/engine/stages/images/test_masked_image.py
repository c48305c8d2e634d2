"""What an inpainting network sees, tensor by tensor."""

import torch
from PIL import Image

from mezzotint.families.family import Conditioning
from mezzotint.stages.images.inpaint_canvas import CanvasCrop
from mezzotint.stages.images.masked_image import MaskedImage, all_hidden

LATENTS = torch.arange(8.0).reshape(1, 2, 2, 2)


def inputs_of(crop, channels=1):
    asked = []

    def encode(image, hidden):
        asked.append((image, hidden))
        return LATENTS

    return MaskedImage.of(crop, encode, 4, channels), asked


def test_a_latent_is_masked_where_its_first_pixel_is():
    mask = Image.new("L", (8, 8))
    mask.paste(255, (1, 1, 8, 8))
    crop = CanvasCrop(image=Image.new("RGB", (8, 8), "red"), mask=mask, opacity=mask)
    inputs, asked = inputs_of(crop)
    assert inputs.mask.tolist() == [[[[0.0, 0.0], [0.0, 1.0]]]]
    assert inputs.latents is LATENTS
    assert asked == [(crop.image, mask)]


def test_a_latent_may_have_a_channel_for_each_pixel():
    mask = Image.new("L", (8, 8))
    mask.putpixel((6, 1), 255)  # in the latent of row 0 and column 1, the pixel of row 1 and column 2
    inputs, _ = inputs_of(CanvasCrop(image=Image.new("RGB", (8, 8), "red"), mask=mask, opacity=mask), channels=16)
    assert inputs.mask.shape == (1, 16, 2, 2)
    assert inputs.mask.nonzero().tolist() == [[0, 4 + 2, 0, 1]]


def test_without_a_mask_all_is_hidden():
    inputs, _ = inputs_of(all_hidden((8, 8)))
    assert inputs.mask.tolist() == [[[[1.0, 1.0], [1.0, 1.0]]]]


def test_it_stands_beside_each_half_of_the_guidance_image_by_image():
    one, two = (MaskedImage(mask=torch.full((1, 1, 2, 2), value), latents=LATENTS * value) for value in (0.0, 1.0))
    both = MaskedImage.together([one, two])
    for guided, order in ((True, [0.0, 1.0, 0.0, 1.0]), (False, [0.0, 1.0])):
        text = torch.zeros(len(order), 3, 4)
        made = both.add_to(Conditioning(guided=guided, tensors={"text": text}), torch.bfloat16)
        assert made.tensors["text"] is text
        assert made.tensors["mask"].dtype == made.tensors["masked"].dtype == torch.bfloat16
        assert made.tensors["mask"][:, 0, 0, 0].tolist() == order
        assert made.tensors["masked"][:, 1, 1, 1].tolist() == [7 * value for value in order]
