"""Whole jobs on a GPU that is not NVIDIA's: the processor's image, by the plain paths, which is told once."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from card_jobs import pixels, request_of, run
from card_kernels import CardNf4, card_backends
from fake_card.install import fake_card
from PIL import Image

from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.memory.machine.probe import Card, Surroundings, machine_facts

GIB = 2**30


def apart(result, other):
    """The largest difference of two images, of 255."""
    pair = [np.asarray(Image.open(each.images[0].path)).astype(int) for each in (result, other)]
    return int(np.abs(pair[0] - pair[1]).max())


def told(result):
    return sum("runs without Mezzotint's own kernels" in notice for notice in result.notices)


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
def test_apple_s_makes_the_very_image_of_the_processor(request, tmp_path, model, fields):
    job = request_of(request.getfixturevalue(model), tmp_path=tmp_path, **fields)
    plain = run(replace(job, device="cpu", vram_limit_bytes=None))
    with fake_card(2 * GIB, device_type="mps") as card:
        result = run(replace(job, device="mps"))
        assert told(result) == 1
        assert (result.device, result.device_name, result.attention) == ("mps", "Apple GPU", "sdpa")
        # Weights of 4 bits are multiplied by kernels of its own on a processor, whose sums run in another order.
        assert apart(result, plain) <= (job.quantization == "int4")
        assert card.operations["copy from host"] > 0


def test_amd_s_has_streams_and_bitsandbytes_and_says_once_that_it_lacks_our_kernels(
    tiny_pixart_folder, tmp_path, monkeypatch
):
    job = request_of(tiny_pixart_folder, tmp_path=tmp_path, quantization="int4")
    plain, gemm = run(replace(job, device="cpu")), CardNf4()
    with fake_card(2 * GIB) as card:
        as_amd_s(monkeypatch)
        engine = Engine(Catalog.standard(), **card_backends(nf4=gemm))
        results = [run(replace(job, device="cuda:0"), engine=engine) for _ in range(2)]
        engine.close()
        assert card.hazards == []
        assert len(card.streams) > 1
    assert [told(result) for result in results] == [1, 0]
    assert [result.attention for result in results] == ["sdpa", "sdpa"]
    assert gemm.calls > results[0].nf4_calls > 0
    assert {tuple(pixels(result)) for result in results} == {tuple(pixels(plain))}


def as_amd_s(monkeypatch):
    """Have the card's properties be those of an RX 7900 XTX, and torch be built for ROCm."""
    nvidia_s = torch.cuda.get_device_properties

    def properties(device=None):
        found = nvidia_s(device)
        found.gcnArchName, found.major, found.minor = "gfx1100", 11, 0
        return found

    monkeypatch.setattr(torch.version, "hip", "7.0", raising=False)
    monkeypatch.setattr(torch.cuda, "get_device_properties", properties)


@pytest.mark.slow
def test_a_card_of_its_own_memory_without_streams_is_streamed_to(tiny_pixart_folder, tmp_path):
    """As Intel's are planned for; no stand-in has torch's `xpu`."""
    job = request_of(tiny_pixart_folder, tmp_path=tmp_path)
    plain = run(replace(job, device="cpu"))
    intel = Card(
        name="Arc",
        architecture="xe",
        total_bytes=2 * GIB,
        free_bytes=2 * GIB,
        reclaimable_bytes=0,
        processors=32,
    )
    facts = partial(machine_facts, surroundings=Surroundings(card=lambda device: intel))
    with fake_card(2 * GIB, device_type="mps"):
        engine = Engine(Catalog.standard(), facts=facts)
        result = run(replace(job, device="mps", memory="lowest"), engine=engine)
        engine.close()
    assert any(part.resident_blocks < part.blocks for part in result.plan.components)
    assert result.plan.pinned_bytes == 0
    assert pixels(result) == pixels(plain)
