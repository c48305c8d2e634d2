"""Small decoders on every device: no step waits for anything else than a preview, and none takes more memory."""

import pytest
from tiny_decoders import diffusers_file, tiny_autoencoder
from tiny_flux2 import write_tiny_klein

from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.protocol import Cascade, GenerateRequest, ModelRef, Output, Sampling, Stage, Step


@pytest.fixture
def steps_with_previews(tmp_path):
    """Counts the previews of three steps of a model by a decoder."""

    def build(model: str, decoder: str, device: str) -> int:
        stage = Stage(model=ModelRef(id=model), width=128, height=128, sampling=Sampling(steps=3))
        request = GenerateRequest(
            prompt="a red house",
            device=device,
            cascade=Cascade(stages=(stage,)),
            previews=True,
            output=Output(path=f"{tmp_path}/a.png", preview_decoder=decoder),
        )
        events = []
        Engine(Catalog.standard()).generate(request, events.append, lambda: False)
        return len([event for event in events if isinstance(event, Step) and event.preview])

    return build


def test_each_step_of_the_starter_has_a_preview(every_device, steps_with_previews):
    assert steps_with_previews("starter-dit", "small", every_device) == 3


def test_each_step_of_sdxl_has_a_preview(every_device, steps_with_previews, tiny_sdxl_folder, tmp_path):
    path = diffusers_file(tmp_path / "taesdxl.safetensors", tiny_autoencoder(blocks=(1, 1)))
    assert steps_with_previews(str(tiny_sdxl_folder), str(path), every_device) == 3


@pytest.mark.parametrize("every_device", ["cpu"], indirect=True)
def test_latents_of_flux2_are_sampled_in_patches(every_device, steps_with_previews, tmp_path):
    path = diffusers_file(tmp_path / "taef2.safetensors", tiny_autoencoder(8, blocks=(1, 1, 1, 1)))
    assert steps_with_previews(str(write_tiny_klein(tmp_path / "FLUX.2-klein-4B")), str(path), every_device) == 3
