"""Whole jobs on a GPU that is not NVIDIA's: the processor's picture, by the plain paths, which is told once."""

from dataclasses import replace

import pytest
from card_jobs import pixels, request_of, run
from fake_card.install import fake_card

GIB = 2**30


@pytest.mark.slow_after(1)
@pytest.mark.parametrize(
    ("model", "fields"),
    [
        ("tiny_pixart_folder", {}),
        ("tiny_pixart_folder", {"vram_limit_bytes": GIB}),
        ("tiny_pixart_folder", {"quantization": "int8"}),
        ("tiny_pixart_folder", {"quantization": "int4"}),
        ("tiny_sdxl_folder", {}),
        ("tiny_sdxl_folder", {"sampler": "dpmpp_2m"}),
    ],
)
def test_apple_s_makes_the_very_picture_of_the_processor(request, tmp_path, model, fields):
    job = request_of(request.getfixturevalue(model), tmp_path=tmp_path, **fields)
    plain = run(replace(job, device="cpu", vram_limit_bytes=None))
    with fake_card(2 * GIB, device_type="mps") as card:
        result = run(replace(job, device="mps"))
        assert (result.device, result.device_name, result.attention) == ("mps", "Apple GPU", "sdpa")
        assert pixels(result) == pixels(plain)
        assert card.operations["copy from host"] > 0
