"""Laws of small networks, told from sizes other than those they were made of."""

import pytest
import torch
from small_networks import small_networks
from torch._subclasses.fake_tensor import FakeTensorMode
from traced_peaks import traced_peaks

from mezzotint.memory.footprints.fitting import worst_error
from mezzotint.memory.footprints.forward_calls import can_trace, is_text
from mezzotint.memory.footprints.live_memory import counted
from mezzotint.memory.footprints.tracing import trace
from mezzotint.memory.tiling import in_tiles

ELSEWHERE = {"CLIPTextModel": [(77, 1), (77, 3)], "CLIPTextModelWithProjection": [(77, 1), (77, 3)]}


@pytest.mark.slow
@pytest.mark.parametrize("class_name", list(small_networks()))
def test_laws_hold_at_other_sizes(class_name):
    build, tokens = small_networks()[class_name], 0 if is_text(class_name) else 40
    law = trace(build(), class_name, tokens).live
    sizes = ELSEWHERE.get(class_name, [(200, 1), (200, 3)])
    assert worst_error(law, traced_peaks(build(), class_name, sizes, tokens)) < 0.05


@pytest.mark.slow
def test_a_mask_costs_what_it_takes():
    build = small_networks()["T5EncoderModel"]
    padded, bare = (trace(build(), "T5EncoderModel", tokens).live.at(100, 2) for tokens in (100, 0))
    assert padded > bare * 1.2


def test_blocks_come_in_the_order_of_execution():
    network = small_networks()["UNet2DConditionModel"]()
    registered = [name for name, _ in network.named_children() if name.endswith(("blocks", "block"))]
    assert registered == ["down_blocks", "up_blocks", "mid_block"]
    order = [name.partition(".")[0] for name in trace(network, "UNet2DConditionModel", tokens=7).order]
    assert list(dict.fromkeys(order)) == ["down_blocks", "mid_block", "up_blocks"]


def test_progress_is_told():
    heard = []
    trace(small_networks()["T5EncoderModel"](), "T5EncoderModel", 0, heard.append)
    assert heard == sorted(heard)
    assert heard[-1] == 1


def test_classes_that_can_be_called():
    assert all(map(can_trace, small_networks()))
    assert not can_trace("HunyuanDiT2DModel")
    assert is_text("T5EncoderModel")
    assert not is_text("AutoencoderKL")


@pytest.mark.slow
def test_decoding_in_tiles_takes_a_tile_and_the_image():
    side, tile, factor = 96, 24, 2
    law = trace(small_networks()["AutoencoderKL"](), "AutoencoderKL", tokens=0).live
    with FakeTensorMode():
        network = small_networks()["AutoencoderKL"]().eval()
        latents = torch.zeros(1, 4, side, side)
        with counted() as memory:
            in_tiles(lambda part: network.decode(part).sample, latents, tile, takes=1, gives=factor)
    image = 4 * (3 + 1) * (side * factor) ** 2  # its colours and the sum of weights, in float32
    assert memory.peak == pytest.approx(2 * law.at(tile * tile) + image, rel=0.05)  # in 32 bits
    assert memory.peak < 0.25 * 2 * law.at(side * side)
