"""ControlNets under a memory limit: planned, streamed, and the same image."""

from dataclasses import replace

import pytest
from flow_parity import request_of
from PIL import Image
from tiny_control import write_tiny_control

from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.protocol import ControlRef

LIMIT = 512 * 2**20


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("union", [0, 8])
def test_streamed_under_a_limit(tiny_sdxl_folder, tmp_path, union):
    net = write_tiny_control(tmp_path / "net", tiny_sdxl_folder, union=union)
    Image.radial_gradient("L").save(tmp_path / "control.png")
    control = ControlRef(image=str(tmp_path / "control.png"), model=str(net), type="tile", end=0.7)
    fields = {"steps": 2, "guidance_scale": 4.0, "quantization": "none", "text_quantization": "none"}
    request = request_of(tiny_sdxl_folder, tmp_path, **fields, controls=(control,))

    def run(**limits):
        return Engine(Catalog.standard()).generate(replace(request, **limits), lambda _: None, lambda: False)

    plain, tight = run(), run(vram_limit_bytes=LIMIT, memory="lowest")
    assert plain.images[0].sha256 == tight.images[0].sha256
    part = next(part for part in tight.plan.components if part.name == "controlnet")
    assert (part.resident_blocks < part.blocks or union) and "stage 1" in part.phases
    (stage,) = (phase for phase in tight.memory.phases if phase.name == "stage 1")
    assert 0 < stage.measured_bytes <= stage.predicted_bytes <= LIMIT
    assert tight.recoveries == ()
