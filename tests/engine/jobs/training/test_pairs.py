"""Pairs of noise and image: reproducible, kept on disk, and what the model itself makes of that noise."""

import pytest
import torch
from flow_parity import ours
from PIL import Image
from tiny_training import TinyTraining

from mezzotint.catalog.catalog import Catalog
from mezzotint.jobs.training.pairs import TeacherPairs
from mezzotint.protocol import ModelRef

PROMPTS = ("a red house", "a blue boat by the sea")


@pytest.fixture(scope="module")
def tiny(tiny_pixart_folder):
    return TinyTraining(tiny_pixart_folder, images=1)


@pytest.fixture
def pairs_in(tiny, tiny_pixart_folder):
    """Pairs made in a folder, and how many there were then after each file."""

    def call(folder, count=5, **how):
        folder.mkdir(exist_ok=True)
        made, done = (
            TeacherPairs(
                folder,
                tiny.family,
                Catalog.standard().find,
                ModelRef(id=str(tiny_pixart_folder)),
                PROMPTS,
                side=64,
                count=count,
                **how,
            ),
            [],
        )
        made.encode(tiny.model, lambda *_: None)
        made.make(tiny.model, 2, lambda *told: done.append(told), lambda: False)
        return made, done

    return call


@pytest.mark.slow
def test_they_are_the_same_again_and_made_once(pairs_in, tmp_path):
    first, done = pairs_in(tmp_path / "a")
    assert done == [(5, 5)]
    (file,) = (tmp_path / "a").iterdir()
    written = file.stat().st_mtime_ns
    again, other = pairs_in(tmp_path / "a")[0], pairs_in(tmp_path / "b")[0]
    assert file.stat().st_mtime_ns == written
    for number in range(5):
        assert torch.equal(first.pair(number).latents, again.pair(number).latents)
        torch.testing.assert_close(first.pair(number).latents, other.pair(number).latents)
    assert [each.latents.tolist() for each in first.batch(3, 2)] == [
        each.latents.tolist() for each in again.batch(3, 2)
    ]


def test_an_image_is_what_the_model_makes_of_that_noise(pairs_in, tiny, tiny_pixart_folder, tmp_path):
    made, _ = pairs_in(tmp_path / "a")
    from mezzotint.families.loading.networks import load_components
    from mezzotint.stages.images.decode import to_image

    load_components(tiny.model, ["vae"], on_bytes=lambda *_: None, cancelled=lambda: False, notify=lambda _: None)
    decoded = to_image(tiny.model, made.pair(1).latents[None])
    decoded.save(tmp_path / "decoded.png")
    alone = ours(tiny_pixart_folder, tmp_path, prompt=PROMPTS[1], seed=1, sampler="dpmpp_2m")
    assert abs(alone.astype(int) - Image.open(tmp_path / "decoded.png")).max() <= 1


def test_noise_of_a_pair_is_what_it_is_trained_with(pairs_in, tmp_path):
    made, _ = pairs_in(tmp_path / "a")
    pair = made.pair(3)
    assert torch.equal(pair.noise, torch.randn(pair.latents.shape, generator=torch.Generator().manual_seed(3)))
    assert not pair.conditioning.guided


@pytest.mark.slow
def test_images_with_new_noise_come_with_what_the_teacher_is_asked(pairs_in, tmp_path):
    kept, _ = pairs_in(tmp_path / "a")
    made, _ = pairs_in(tmp_path / "a", renews_noise=True)
    pair = made.pair(3)
    assert torch.equal(pair.latents, kept.pair(3).latents)
    assert pair.noise is None and kept.pair(3).teacher is None
    assert pair.teacher.guided and pair.teacher.sampling.guidance_scale > 1 and not pair.conditioning.guided
