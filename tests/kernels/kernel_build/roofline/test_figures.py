"""What the model says of rows: the roofline's times where it has them, and the planner's."""

import pytest

from kernel_build.roofline.bounds import expected
from kernel_build.roofline.cards import rates_of
from kernel_build.roofline.code import read_code
from kernel_build.roofline.figures import model_figure
from kernel_build.roofline.kernels import every


def test_rows_of_the_page_have_its_times():
    for work in (work for work in every() if work.result and not work.fp8 + work.mxfp8 + work.nvfp4):
        card = "H200" if work.wgmma else "RTX 4090"
        seconds, _ = expected(work, read_code()[work.label], rates_of(card))
        assert f"{1e6 * seconds:.0f} µs ({card})" in model_figure(work.result)


@pytest.mark.parametrize(
    ("what", "figure"),
    [
        ("FLUX.1, 4608x3072 to 12288: mezzotint nvfp4", "at least 208 µs (RTX 5090)"),
        ("FLUX.1, 4608x3072 to 12288: mezzotint int8", "527 µs (RTX 4090)"),
        ("FLUX.1, 4096 tokens: mezzotint int8-all", "312 µs (RTX 4090)"),
        ("autoencoder, 512x512x256 group norm, SiLU: mezzotint group norm", "350 µs (RTX 4090)"),
        ("FLUX.1's shape in bfloat16, 8 GB, copies slowed to 12 GB/s: mezzotint", "1.09 times the bound"),
        ("SDXL base, 1024x1024, 4 GB: mezzotint", "a peak of 3.6 GB"),
    ],
)
def test_what_is_expected(what, figure):
    assert figure in model_figure(what)


def test_loras_take_longer_and_gates_read_more():
    layer = "FLUX.1, 4608x3072 to 12288: mezzotint int8"
    assert _microseconds(layer) < _microseconds(f"{layer}, 3 LoRAs") < 1.2 * _microseconds(layer)


def _microseconds(what):
    return int(model_figure(what).split("µs (RTX 4090)")[0].split()[-1])


@pytest.mark.parametrize("what", ["", "nothing of the kind", "SDXL base, 1024x1024, many GB: mezzotint"])
def test_nothing_is_said_of_what_is_unknown(what):
    assert model_figure(what) == ""
