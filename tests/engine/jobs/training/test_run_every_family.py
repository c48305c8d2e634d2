"""A model of every family learns, and our reader finds its LoRA's layers in it."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from flow_parity import ours
from tiny_chroma import write_tiny_chroma
from tiny_flux1 import write_tiny_flux
from tiny_flux2 import write_tiny_klein
from tiny_krea2 import write_tiny_krea2
from tiny_pixart import write_tiny_pixart
from tiny_qwen_image import write_tiny_edit, write_tiny_qwen_image
from tiny_sana import write_tiny_sana, write_tiny_sprint
from tiny_sd3 import write_tiny_sd3
from tiny_sd15 import write_tiny_sd15
from tiny_variant import write_tiny_variant
from tiny_z_image import write_tiny_z_image

from mezzotint.catalog.catalog import Catalog
from mezzotint.errors import UsageError
from mezzotint.jobs.training.planning import plan_before
from mezzotint.protocol import LoraRef


def _write_refiner(folder):
    return write_tiny_variant(write_tiny_pixart(folder / "base"), folder / "refiner", {"condition": "cross"})


MODELS = {
    "sd15": write_tiny_sd15,
    "z-image": partial(write_tiny_z_image, shift=6.0),
    "flux2-klein": partial(write_tiny_klein, distilled=False),
    "krea2": partial(write_tiny_krea2, distilled=False),
    "qwen-image": write_tiny_qwen_image,
    "flux": write_tiny_flux,
    "chroma": write_tiny_chroma,
    "sd3": write_tiny_sd3,
    "sana": write_tiny_sana,
}


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("family", MODELS)
def test_it_learns(family, train, request_of, tmp_path):
    model = MODELS[family](tmp_path / family)
    result, _ = train(request_of(model, steps=2, epochs=1, batch=1, rate=0.1))
    plain, tuned = (
        ours(model, tmp_path, steps=1, loras=loras).astype(int) for loras in ((), (LoraRef(path=result.lora),))
    )
    assert Path(result.lora).stat().st_size > 1000
    assert abs(plain - tuned).mean() > 0.1


@pytest.mark.slow
@pytest.mark.parametrize("family", MODELS)
def test_its_memory_is_planned(family, request_of, tmp_path):
    request = request_of(MODELS[family](tmp_path / family), batch=1)
    plain, again = (plan_before(each, Catalog.standard()) for each in (request, _checkpointed(request)))
    assert all(phase.peak > 0 for phase in plain.phases)
    assert again.phases[2].activations <= plain.phases[2].activations


@pytest.mark.parametrize(
    ("write", "name", "reason"),
    [
        (write_tiny_sd3, "stable-diffusion-3.5-large-turbo", "turbo, distilled to few steps: training undoes that"),
        (write_tiny_sprint, "sprint", "sprint, distilled"),
        (write_tiny_edit, "edit", "learns from pairs of images"),
        (partial(write_tiny_sd15, inpaint=True), "inpainting", "this is an inpainting model"),
        (_write_refiner, "refiner", r"this is a conditional refiner \(pixart sigma\)"),
    ],
)
def test_other_variants_are_refused_by_name_and_reason(train, request_of, tmp_path, write, name, reason):
    with pytest.raises(UsageError, match=reason):
        train(request_of(write(tmp_path / name)))


def _checkpointed(request):
    return replace(request, settings=replace(request.settings, checkpointing="blocks"))
