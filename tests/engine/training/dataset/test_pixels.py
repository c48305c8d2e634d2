"""Pixels and masks as tensors: the same as PIL and torch make of them."""

import numpy as np
import pytest
import torch
from PIL import Image

from mezzotint.errors import ImageRefused, UsageError
from mezzotint.training.dataset.buckets import bucket_for, crop_for
from mezzotint.training.dataset.pixels import load_mask, load_pixels

SIZE = (96, 64)


@pytest.fixture
def saved(tmp_path, image_of):
    def save(picture, mask=None, size=None, **how):
        path = tmp_path / "a.png"
        picture.save(path, **how)
        if mask is not None:
            mask.save(tmp_path / "a_mask.png")
        width, height = size or picture.size
        return image_of(width=width, height=height, path=path, mask=tmp_path / "a_mask.png" if mask else None)

    return save


def crop_of(image, area=64 * 64, multiple=8):
    return crop_for(image.width, image.height, bucket_for(image.width, image.height, area=area, multiple=multiple))


def noise(size=SIZE):
    return Image.effect_noise(size, 60).convert("RGB")


def test_an_image_of_its_buckets_size_is_taken_as_it_is(saved):
    picture = noise((64, 64))
    image = saved(picture)
    pixels = load_pixels(image, crop_of(image), flip=False)
    assert pixels.shape == (3, 64, 64) and pixels.dtype == torch.float32
    assert torch.equal(
        ((pixels + 1) * 127.5).round().to(torch.uint8).permute(1, 2, 0), torch.from_numpy(np.array(picture))
    )
    assert pixels.is_contiguous()


def test_black_is_minus_one_and_white_one(saved):
    for colour, value in (("black", -1), ("white", 1)):
        image = saved(Image.new("RGB", SIZE, colour))
        assert torch.equal(load_pixels(image, crop_of(image), flip=False).unique(), torch.tensor([float(value)]))


def test_the_middle_is_scaled(saved):
    picture = noise((200, 100))
    image = saved(picture)
    pixels = load_pixels(image, crop_for(200, 100, (64, 64)), flip=False)
    expected = picture.resize((64, 64), Image.Resampling.LANCZOS, box=(50, 0, 150, 100))
    assert torch.equal(
        ((pixels + 1) * 127.5).round().to(torch.uint8).permute(1, 2, 0), torch.from_numpy(np.array(expected))
    )


def test_flipped_left_to_right(saved):
    image = saved(noise(), Image.effect_noise(SIZE, 60))
    crop = crop_of(image)
    for load in (load_pixels, load_mask):
        assert torch.equal(load(image, crop, flip=True), load(image, crop, flip=False).flip(-1))


def test_orientation_and_transparency(saved):
    exif = Image.Exif()
    exif[274] = 6
    image = saved(Image.new("RGBA", SIZE, (0, 0, 0, 0)), size=SIZE[::-1], exif=exif)
    crop = crop_of(image)
    assert crop.height > crop.width
    assert torch.equal(load_pixels(image, crop, flip=False), torch.ones(3, crop.height, crop.width))


def test_a_file_that_was_replaced_is_refused(saved):
    image = saved(noise())
    noise((32, 32)).save(image.path)
    with pytest.raises(ImageRefused, match="a.png was changed meanwhile .it is 32x32, no longer 96x64.: start again"):
        load_pixels(image, crop_of(image), flip=False)


def test_a_damaged_file_is_refused(saved):
    image = saved(noise())
    image.path.write_bytes(image.path.read_bytes()[:2000])
    with pytest.raises(ImageRefused, match="a.png is damaged or incomplete"):
        load_pixels(image, crop_of(image), flip=False)


# ---- masks


def half(size=SIZE, mode="L", light=255):
    mask = Image.new(mode, size)
    mask.paste(light if mode == "L" else "white", (size[0] // 2, 0, *size))
    return mask


def test_without_a_mask_everything_counts(saved):
    image = saved(noise())
    crop = crop_of(image)
    assert torch.equal(load_mask(image, crop, flip=False), torch.ones(1, crop.height, crop.width))


@pytest.mark.parametrize("size", [SIZE, (48, 32), (960, 640)])
def test_a_mask_is_cropped_as_its_image_is_whatever_its_own_size(saved, size):
    image = saved(noise(), half(size))
    mask = load_mask(image, crop_for(*SIZE, (32, 32)), flip=False)
    assert mask.shape == (1, 32, 32) and mask.dtype == torch.float32
    assert torch.equal(mask[0, :, :15], torch.zeros(32, 15))
    assert torch.equal(mask[0, :, 17:], torch.ones(32, 15))


def test_greys_weigh_in_between(saved):
    image = saved(noise(), half(light=51))
    assert load_mask(image, crop_of(image), flip=False).unique().tolist() == pytest.approx([0, 0.2])


def test_a_mask_of_another_shape_is_refused(saved):
    image = saved(noise(), half((64, 64)))
    with pytest.raises(UsageError, match="they must have the same aspect ratio"):
        load_mask(image, crop_of(image), flip=False)
