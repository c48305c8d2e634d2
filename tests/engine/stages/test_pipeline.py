"""A job is left before the next block of any of its networks."""

import pytest
from diffusers.models.attention import BasicTransformerBlock
from diffusers.models.resnet import ResnetBlock2D
from transformers.models.clip.modeling_clip import CLIPEncoderLayer

from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.errors import Cancelled
from mezzotint.protocol import (
    Cascade,
    Decoding,
    Encoding,
    GenerateRequest,
    ModelRef,
    Output,
    Sampling,
    Stage,
)


@pytest.mark.parametrize(("part", "after"), [("text_encoder", Encoding), ("unet", Encoding), ("vae", Decoding)])
def test_cancel_within_one_block(tiny_sdxl_folder, tmp_path, monkeypatch, part, after):
    """A block takes as long as it wants; the one during which it is cancelled is the last."""
    kind = {"text_encoder": CLIPEncoderLayer, "unet": BasicTransformerBlock, "vae": ResnetBlock2D}[part]
    events, begun, plain = [], [], kind.forward

    def slow(block, *args, **kwargs):
        begun.extend([block] * isinstance(events[-1], after))
        return plain(block, *args, **kwargs)

    engine = Engine(Catalog.standard())
    stage = Stage(model=ModelRef(id=str(tiny_sdxl_folder)), width=64, height=64, sampling=Sampling(steps=2))
    request = GenerateRequest(
        prompt="a red house", seed=7, cascade=Cascade(stages=(stage,)), output=Output(path=f"{tmp_path}/")
    )
    monkeypatch.setattr(kind, "forward", slow)
    with pytest.raises(Cancelled, match="between two blocks"):
        engine.generate(request, events.append, lambda: bool(begun))
    assert len(begun) == 1
    monkeypatch.undo()
    assert engine.generate(request).images
