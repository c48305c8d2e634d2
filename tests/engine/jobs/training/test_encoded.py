"""What is encoded stays on disk, and is encoded again if damaged or if the model's files change."""

import torch

from mezzotint.catalog.catalog import Catalog
from mezzotint.families.family import Conditioning
from mezzotint.families.model_sources import sources_of
from mezzotint.jobs.training.data import Geometry, untouched
from mezzotint.jobs.training.encoded import EncodedImages
from mezzotint.protocol import ModelRef
from mezzotint.training.dataset.reading import read_dataset


def encoded(folder, model):
    found = Catalog.standard().find(ModelRef(id=str(model)))
    folder.mkdir(exist_ok=True)
    geometry = Geometry(resolution=64, multiple=4, factor=2)
    return EncodedImages(folder, geometry, sources_of(found.checkpoint, found.detected))


def test_entries_are_found_again_and_are_the_same(tmp_path, dataset, tiny_pixart_folder):
    chosen = untouched(read_dataset(dataset, cancelled=lambda: False).images[0])
    first = encoded(tmp_path / "cache", tiny_pixart_folder)
    conditioning = Conditioning(guided=False, tensors={"text": torch.randn(1, 3, 8).bfloat16()}, lengths=(3,))
    assert not first.has_image(chosen) and not first.has_text(first.text(chosen))
    first.add_image(chosen, lambda pixels, seed: pixels.mean(0, keepdim=True) + seed % 7)
    first.add_text(first.text(chosen), conditioning)
    second = encoded(tmp_path / "cache", tiny_pixart_folder)
    assert second.has_image(chosen) and second.has_text(second.text(chosen))
    (a,), (b,) = first.trained([chosen]), second.trained([chosen])
    assert torch.equal(a.latents, b.latents) and a.shape == b.shape and b.conditioning.lengths == (3,)
    assert torch.equal(b.conditioning.tensors["text"], conditioning.tensors["text"])


def test_damaged_entries_are_encoded_again(tmp_path, dataset, tiny_pixart_folder):
    chosen = untouched(read_dataset(dataset, cancelled=lambda: False).images[0])
    encoded(tmp_path / "cache", tiny_pixart_folder).add_image(chosen, lambda pixels, _: pixels)
    (path,) = (tmp_path / "cache").iterdir()
    path.write_bytes(path.read_bytes()[:100])
    assert not encoded(tmp_path / "cache", tiny_pixart_folder).has_image(chosen)


def test_they_belong_to_the_size_and_to_the_mirror_image(tmp_path, dataset, tiny_pixart_folder):
    from dataclasses import replace

    chosen = untouched(read_dataset(dataset, cancelled=lambda: False).images[0])
    cache = encoded(tmp_path / "cache", tiny_pixart_folder)
    cache.add_image(chosen, lambda pixels, _: pixels)
    assert cache.has_image(chosen) and not cache.has_image(replace(chosen, flipped=True))
