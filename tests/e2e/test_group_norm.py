"""Images of U-Nets by the kernels of GroupNorm and SiLU, through the engine's one door."""

from dataclasses import replace

import numpy as np
import pytest
from card_jobs import pixels, request_of
from card_kernels import CardGroupNorm
from fake_group_norm import FakeGroupNorm, fake_group_norm_backend
from PIL import Image

from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.normalization.self_test import CASES
from mezzotint.protocol import KernelFallback, Notice

pytestmark = pytest.mark.usefixtures("every_device")

SELF_TEST = len(CASES)


@pytest.fixture
def stand_in(every_device):
    """The kernels' library, of that device."""
    return FakeGroupNorm if every_device == "cpu" else CardGroupNorm


@pytest.fixture
def job(tiny_sdxl_folder, tmp_path):
    return request_of(tiny_sdxl_folder, tmp_path=tmp_path, dtype="bfloat16", attention="sdpa", steps=2)


def run(library, request, events=None):
    engine = Engine(Catalog.standard(), group_norm=None if library is None else fake_group_norm_backend(library))
    return engine.generate(request, (events if events is not None else []).append, lambda: False)


def picture(result):
    return np.array(Image.open(result.images[0].path)).astype(int)


def test_the_kernels_make_the_image(job, stand_in):
    library, events = stand_in(), []
    plain, result = run(None, job), run(library, job, events)
    assert (plain.group_norm_calls, plain.group_norm_fallbacks) == (0, ())
    calls = library.launches[SELF_TEST:]
    assert result.group_norm_calls == len(calls) > 0
    assert {each.silu for each in calls} == {0, 1}, "before attention, and before convolutions"
    assert result.group_norm_fallbacks == ()
    assert np.abs(picture(result) - picture(plain)).mean() < 4


def test_a_launch_that_fails_is_told_and_recorded(job, stand_in):
    events = []
    result = run(stand_in("launch", after=SELF_TEST), job, events)
    assert result.group_norm_calls == 0
    assert result.group_norm_fallbacks[-1] == KernelFallback(reason="the launch failed", calls=1)
    assert "group_norm_fell_back" in [event.code for event in events if isinstance(event, Notice)]


def test_wrong_kernels_are_not_used(job, stand_in):
    library = stand_in("wrong")
    result = run(library, job)
    assert (result.group_norm_calls, len(library.launches)) == (0, 1)
    assert "the self-test failed" in result.group_norm_fallbacks[0].reason
    assert pixels(result) == pixels(run(None, job))


@pytest.mark.slow
@pytest.mark.parametrize("every_device", ["cuda:0"], indirect=True)
def test_streamed_blocks_call_them_as_often(job, stand_in):
    library = stand_in()
    resident = run(library, replace(job, vram_limit_bytes=2**30))
    result = run(library, replace(job, vram_limit_bytes=resident.plan.smallest_vram_bytes))
    assert result.group_norm_calls == resident.group_norm_calls > 0
    assert result.group_norm_fallbacks == ()
    assert pixels(result) == pixels(resident)
