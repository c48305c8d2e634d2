"""ControlNets under a memory limit: planned, streamed, and the same image."""

from dataclasses import replace

import pytest
from flow_parity import request_of
from PIL import Image
from tiny_control import write_tiny_control

from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.protocol import ControlRef

AMPLE = 512 * 2**20


@pytest.mark.slow
@pytest.mark.parametrize("union", [0, 8])
def test_streamed_under_a_limit(tiny_sdxl_folder, tmp_path, union):
    net = write_tiny_control(tmp_path / "net", tiny_sdxl_folder, union=union)
    Image.radial_gradient("L").save(tmp_path / "control.png")
    control = ControlRef(image=str(tmp_path / "control.png"), model=str(net), type="tile", end=0.7)
    fields = {"steps": 2, "guidance_scale": 1.0, "quantization": "none", "text_quantization": "none"}
    # Large enough that this phase, not encoding, needs the most memory.
    request = request_of(tiny_sdxl_folder, tmp_path, side=192, vae_tile=64, **fields, controls=(control,))

    def run(**limits):
        return Engine(Catalog.standard()).generate(replace(request, **limits), lambda _: None, lambda: False)

    ample = run(vram_limit_bytes=AMPLE)
    least = ample.plan.smallest_vram_bytes
    tight = run(vram_limit_bytes=least)
    assert ample.images[0].sha256 == tight.images[0].sha256
    for result, limit in ((ample, AMPLE), (tight, least)):
        part = next(part for part in result.plan.components if part.name == "controlnet")
        assert "stage 1" in part.phases
        assert (part.resident_blocks < part.blocks) is (result is tight)
        (stage,) = (phase for phase in result.memory.phases if phase.name == "stage 1")
        assert 0 < stage.measured_bytes <= stage.predicted_bytes <= limit
        assert result.recoveries == ()
