"""Predictions in tiles: what each sees, and that tiles do not show."""

from dataclasses import replace

import pytest
import torch
from tiny_variant import shaken, variant_network

from mezzotint.errors import Cancelled
from mezzotint.families.control.settings import ControlSettings
from mezzotint.families.family import Conditioning
from mezzotint.families.pixart.family import PixArt
from mezzotint.memory import tiling
from mezzotint.protocol import Sampling
from mezzotint.stages.images.denoise_tiles import predict_in_tiles, refine_in_tiles
from mezzotint.stages.images.low_resolution import LowResolution


class Model:
    """Stands in for a loaded refiner of 8 x 8 latents."""

    dtype, passes, at_once, attention = torch.float32, "batched", 0, None

    def __init__(self, condition="concat"):
        self.networks = {"transformer": shaken(variant_network(condition=condition)).eval()}


class Stub:
    """Stands in for a family: keeps what it is asked, and answers by a function of a tile."""

    def __init__(self, answer):
        self.asked, self._answer = [], answer

    def predict(self, model, sample, timestep, conditioning):
        self.asked.append((sample.clone(), conditioning.tensors))
        return self._answer(sample)


def conditioning(images=1, guided=True):
    generator = torch.Generator().manual_seed(5)
    rows = images * (1 + guided)
    tensors = {"text": torch.randn(rows, 5, 12, generator=generator), "mask": torch.ones(rows, 5)}
    return Conditioning(guided=guided, tensors=tensors, sampling=Sampling(guidance_scale=3.0))


def latents(height, width, images=1):
    generator = torch.Generator().manual_seed(6)
    sample = torch.randn(images, 4, height, width, generator=generator)
    small = torch.randn(images, 4, height // 2, width // 2, generator=generator)
    return sample, LowResolution(latents=small, timesteps=torch.linspace(100, 200, images))


def predicted(family, sample, smaller, model=None, tile=8, cancelled=lambda: False, images=1):
    with torch.inference_mode():
        return refine_in_tiles(
            family,
            model or Model,
            sample,
            torch.tensor(500),
            conditioning(images),
            smaller=smaller,
            tile=tile,
            cancelled=cancelled,
        )


def stretched(sample):
    """Numbers of the rows and columns, by which tiles can be placed."""
    rows, columns = torch.meshgrid(*map(torch.arange, sample.shape[2:]), indexing="ij")
    return (1000 * rows + columns).float()


@pytest.mark.parametrize("condition", ["concat", "cross"])
@pytest.mark.parametrize("images", [1, 2])
def test_one_tile_is_the_whole_prediction_to_the_bit(condition, images):
    sample, smaller = latents(8, 8, images)
    model, family = Model(condition), PixArt()
    with torch.inference_mode():
        given = smaller.add_to(conditioning(images), torch.float32)
        whole = family.predict(model, sample, torch.tensor(500), given)
    assert torch.equal(predicted(family, sample, smaller, model, images=images), whole)


@pytest.mark.parametrize("condition", ["concat", "cross"])
def test_each_tile_is_predicted_as_an_image_of_its_own(condition):
    """Positions begin anew in each, and it is given its part of the smaller image."""
    sample, smaller = latents(8, 20)
    model, family = Model(condition), PixArt()
    found = predicted(family, sample, smaller, model)
    for left, alone in ((0, slice(0, 5)), (6, None), (12, slice(15, 20))):  # columns in no other tile
        part = LowResolution(latents=smaller.latents[..., left // 2 : left // 2 + 4], timesteps=smaller.timesteps)
        with torch.inference_mode():
            given = part.add_to(conditioning(), torch.float32)
            own = family.predict(model, sample[..., left : left + 8], torch.tensor(500), given)
        if alone is not None:
            torch.testing.assert_close(found[..., alone], own[..., alone.start - left : alone.stop - left])


def test_tiles_are_cut_at_the_same_places_of_both():
    sample, smaller = latents(20, 12)
    small = stretched(smaller.latents).expand_as(smaller.latents)
    place = torch.nn.functional.interpolate(small[:, :1], scale_factor=2, mode="nearest").expand_as(sample)
    family = Stub(torch.clone)
    found = predicted(family, place, LowResolution(latents=small, timesteps=smaller.timesteps))
    torch.testing.assert_close(found, place)
    assert len(family.asked) == 3 * 2
    for part, tensors in family.asked:
        assert part.shape[2:] == (8, 8)
        assert torch.equal(part[:, :, ::2, ::2], tensors["low_resolution"][:1])
        assert torch.equal(tensors["low_resolution"][0], tensors["low_resolution"][1])


def test_a_constant_prediction_has_no_edges():
    sample, smaller = latents(28, 22)
    found = predicted(Stub(lambda part: torch.full_like(part, 0.7)), sample, smaller)
    torch.testing.assert_close(found, torch.full_like(sample, 0.7), rtol=1e-6, atol=1e-6)


def test_the_order_of_the_tiles_does_not_matter(monkeypatch):
    sample, smaller = latents(20, 12)
    model, family, starts = Model(), PixArt(), tiling.starts
    forwards = predicted(family, sample, smaller, model)
    monkeypatch.setattr(tiling, "starts", lambda *sides: starts(*sides)[::-1])
    torch.testing.assert_close(predicted(family, sample, smaller, model), forwards, rtol=1e-5, atol=1e-6)


def test_an_image_that_is_not_half_is_resized_first():
    sample, smaller = latents(12, 20)
    odd = LowResolution(latents=torch.full((1, 4, 5, 9), 2.0), timesteps=smaller.timesteps)
    family = Stub(torch.clone)
    predicted(family, sample, odd)
    assert all(torch.equal(tensors["low_resolution"], torch.full((2, 4, 4, 4), 2.0)) for _, tensors in family.asked)


def test_it_stops_between_two_tiles():
    sample, smaller = latents(8, 20)
    family = Stub(torch.clone)
    with pytest.raises(Cancelled, match="between two tiles"):
        predicted(family, sample, smaller, cancelled=lambda: len(family.asked) == 2)
    assert len(family.asked) == 2


def test_every_tile_has_the_whole_prompt_and_its_part_of_the_images():
    """Control images have pixels and masks latents; a mask of words, which has the same name, is not cut."""
    sample = stretched(torch.zeros(1, 4, 12, 20)).expand(1, 4, -1, -1)
    pixels = sample[:, :3].repeat_interleave(2, 2).repeat_interleave(2, 3)
    given = conditioning()
    controls = (ControlSettings(component="controlnet", tensor="control_0", weight=1.0, start=0.0, end=1.0, mode=None),)
    images = {"masked": sample.repeat(2, 1, 1, 1), "mask": sample[:, :1].repeat(2, 1, 1, 1)}
    images["control_0"] = pixels.repeat(2, 1, 1, 1)
    family = Stub(torch.clone)
    for tensors in (given.tensors, given.tensors | images):
        asked = replace(given, tensors=tensors, controls=controls if "masked" in tensors else ())
        found = predict_in_tiles(family, Model, sample, torch.tensor(500), asked, tile=8, cancelled=lambda: False)
        torch.testing.assert_close(found, sample)
    assert len(family.asked) == 2 * 6
    for part, tensors in family.asked:
        assert torch.equal(tensors["text"], given.tensors["text"])
        if "masked" not in tensors:
            assert torch.equal(tensors["mask"], given.tensors["mask"])
            continue
        assert torch.equal(tensors["masked"][1:], part) and torch.equal(tensors["mask"][:1], part[:, :1])
        assert torch.equal(tensors["control_0"][:1, :, ::2, ::2], part[:, :3])
