"""Blocks with their norms, gates and residuals in the products, beside diffusers' own."""

import pytest
import torch
from block_networks import FAMILIES, block_network, output_of

from mezzotint.dispatch.library import Preparation
from mezzotint.quantization.feed_forward import fused
from mezzotint.quantization.fusion.around import Around
from mezzotint.quantization.fusion.blocks import BLOCKS, computing_fused, fused_blocks
from mezzotint.quantization.fusion.layers import Fusion
from mezzotint.quantization.products.operation import prepare_input
from mezzotint.quantization.products.products import integer_layers


class ExactProducts:
    """Products in x's dtype, with dequantized weights, in the order of diffusers."""

    def __init__(self):
        self.norms, self.endings = 0, 0

    def product(self, x, weight, bias, branch, preparation=Preparation.AS_IT_IS, around=Around()):  # noqa: B008
        if around.norm is not None:
            self.norms += 1
            x = around.norm.plain(x)
        y = torch.nn.functional.linear(prepare_input(x, preparation), weight.dequantized(x.dtype), bias)
        if around.ending is None:
            return y
        self.endings += 1
        return around.ending.plain(y)


# Of a step, how many products include a norm, and how many a gate or residual.
INCLUDED = {
    "pixart": (12, 9),  # three blocks; q, k, v and the feed-forward; two attentions and the feed-forward
    "sd3": (18, 7),  # of two blocks, one with a second attention, and one that ends the words
    "flux": (24, 10),  # two blocks of two streams and two of one
    "flux2-klein": (18, 10),
    "chroma": (16, 6),
    "qwen-image": (16, 8),
    "z-image": (20, 0),  # its sums follow norms of the outputs
    "sana": (6, 4),  # its feed-forward is of convolutions
    "krea2": (0, 4),  # its norms have weights less 1, in float32
    "sdxl": (40, 24),  # with weights and biases; no gates
}


@pytest.mark.parametrize("family", FAMILIES)
@torch.inference_mode()
def test_a_block_gives_what_diffusers_has_to_the_bit(family):
    network, kernels = block_network(family, torch.float32), ExactProducts()
    layers = list(integer_layers(network))
    for layer in layers:
        layer.products = kernels
    plain, fusion = output_of(family, network), Fusion(kernels, layers)
    with fused(fusion, [network], layers), computing_fused(fusion, [network]):
        assert output_of(family, network).equal(plain)
    assert (kernels.norms, kernels.endings) == INCLUDED[family]
    assert not any("forward" in vars(module) for module in network.modules())


def test_every_class_of_blocks_is_tested():
    found = {type(block).__name__ for family in FAMILIES for block in fused_blocks([block_network(family)])}
    assert found == set(BLOCKS) - {"ModulatedBlock"}
