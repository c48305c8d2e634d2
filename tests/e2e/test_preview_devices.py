"""Small decoders on every device: no step waits for anything else than a preview, and none takes more memory."""

import pytest
from tiny_decoders import diffusers_file, tiny_autoencoder

from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.protocol import Cascade, GenerateRequest, ModelRef, Output, Sampling, Stage, Step


@pytest.mark.parametrize("model", ["tiny", "starter-dit"])
def test_each_step_has_a_preview(every_device, tiny_sdxl_folder, tmp_path, model):
    path = diffusers_file(tmp_path / "taesdxl.safetensors", tiny_autoencoder(blocks=(1, 1)))
    asked, decoder = (str(tiny_sdxl_folder), str(path)) if model == "tiny" else (model, "small")
    stage = Stage(model=ModelRef(id=asked), width=128, height=128, sampling=Sampling(steps=3))
    request = GenerateRequest(
        prompt="a red house",
        device=every_device,
        cascade=Cascade(stages=(stage,)),
        previews=True,
        output=Output(path=f"{tmp_path}/a.png", preview_decoder=decoder),
    )
    events = []
    Engine(Catalog.standard()).generate(request, events.append, lambda: False)
    assert len([event for event in events if isinstance(event, Step) and event.preview]) == 3
