"""Inpainting that runs out of memory, is stopped, or is not decoded: the same image, or one that can be finished."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from inpaint_requests import engine, image, mask, request_for, run

from mezzotint import paths
from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.errors import Cancelled, ImageRefused, OutOfMemory
from mezzotint.memory.device import open_device
from mezzotint.protocol import (
    DecodeRequest,
    Inpaint,
    Step,
)
from mezzotint.stages import pipeline
from mezzotint.stages.images.latent_mask import LatentMask
from mezzotint.stages.images.pending_decode import undecoded
from mezzotint.stages.models import model_cache

pytestmark = pytest.mark.usefixtures("every_device")

__all__ = ["engine", "image", "mask", "request_for"]  # fixtures


@pytest.mark.slow
def test_under_a_limit_and_after_a_shortage_it_is_the_same_image(
    engine, request_for, tiny_sdxl_folder, image, mask, monkeypatch
):
    request = request_for(tiny_sdxl_folder, image(), mask(), sampler="euler_a", inpaint=Inpaint(fill="noise"))
    request = replace(request, quantization="none", text_quantization="none")
    plain = run(engine, request)
    engine.close()  # what it keeps on a card would be measured with the next one's
    requests, at = [], [-1]

    def refuse(number, size):
        requests.append(size)
        return number == at[0]

    monkeypatch.setattr(model_cache, "open_device", partial(open_device, refuse=refuse))
    limited = replace(request, vram_limit_bytes=1536 * 2**20)
    assert run(Engine(Catalog.standard()), limited).images[0].sha256 == plain.images[0].sha256
    count = len(requests)
    for at[0] in range(0, count, max(1, count // 6)):
        assert run(Engine(Catalog.standard()), limited).images[0].sha256 == plain.images[0].sha256, at


@pytest.mark.slow
def test_a_step_that_is_done_again_is_the_same(engine, request_for, tiny_sdxl_folder, image, mask, monkeypatch):
    request = request_for(tiny_sdxl_folder, image(), mask(), sampler="dpmpp_2m_sde", strength=1.0)
    whole = run(engine, request)
    after, failed = LatentMask.after, []

    def short(self, schedule, latents, index):
        if index not in failed:
            failed.append(index)
            raise RuntimeError("CUDA out of memory. Tried to allocate 3.00 GiB")
        return after(self, schedule, latents, index)

    monkeypatch.setattr(LatentMask, "after", short)
    assert run(engine, request).images[0].sha256 == whole.images[0].sha256
    assert failed == [0, 1, 2, 3]


def test_an_image_that_was_not_decoded_is_put_together_later(
    engine, request_for, tiny_sdxl_folder, image, mask, monkeypatch
):
    size = (150, 100)
    inpaint = Inpaint(area="masked", left=20)
    request = request_for(tiny_sdxl_folder, image(size=size), mask((90, 40, 110, 60), size=size), inpaint=inpaint)

    def out_of_memory(*_):
        raise RuntimeError("CUDA out of memory. Tried to allocate 3.00 GiB")

    with monkeypatch.context() as patch:
        patch.setattr(pipeline, "to_image", out_of_memory)
        with pytest.raises(OutOfMemory):
            run(engine, request)
    (path,) = undecoded(paths.undecoded_folder())
    late = engine.decode(DecodeRequest(path=str(path)), lambda _: None, lambda: False)
    assert (late.width, late.height) == (170, 100)
    assert late.sha256 == run(engine, request).images[0].sha256


def test_left_behind_latents_wait_for_the_images_they_belong_to(
    engine, request_for, tiny_sdxl_folder, image, mask, monkeypatch
):
    request = request_for(tiny_sdxl_folder, image(), mask())
    with monkeypatch.context() as patch:
        patch.setattr(pipeline, "to_image", lambda *_: (_ for _ in ()).throw(MemoryError()))
        with pytest.raises((OutOfMemory, MemoryError)):
            run(engine, request)
    (path,) = undecoded(paths.undecoded_folder())
    Path(request.images[0].path).unlink()
    with pytest.raises(ImageRefused, match=r"init\.png"):
        engine.decode(DecodeRequest(path=str(path)), lambda _: None, lambda: False)
    assert path.exists()


def test_cancel_within_one_step(engine, request_for, tiny_sdxl_folder, image, mask, tmp_path):
    events = []
    with pytest.raises(Cancelled):
        run(
            engine,
            request_for(tiny_sdxl_folder, image(), mask(), steps=8, strength=1.0),
            events,
            cancelled=lambda: sum(isinstance(event, Step) for event in events) >= 2,
        )
    assert sum(isinstance(event, Step) for event in events) == 2
    assert not list(tmp_path.glob("out/*"))


def test_previews_come_with_every_step(engine, request_for, tiny_sdxl_folder, image, mask):
    events = []
    request = request_for(tiny_sdxl_folder, image(), mask(), previews=True, strength=1.0)
    plain = run(engine, replace(request, previews=False))
    assert run(engine, request, events).images[0].sha256 == plain.images[0].sha256
    assert all(event.preview for event in events if isinstance(event, Step))
