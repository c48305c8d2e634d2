"""Blocks with their norms, gates and residuals in the products, beside diffusers' own."""

import pytest
import torch
from block_networks import FAMILIES, arguments_of, block_network, output_of
from diffusers.models.attention_processor import AttnProcessor2_0

from mezzotint.dispatch.library import Preparation
from mezzotint.quantization.feed_forward import fused
from mezzotint.quantization.fusion.around import Around, activated
from mezzotint.quantization.fusion.blocks import BLOCKS, computing_fused, fused_blocks
from mezzotint.quantization.fusion.layers import Fusion
from mezzotint.quantization.linear import GatedWeight
from mezzotint.quantization.products.operation import prepare_input
from mezzotint.quantization.products.products import integer_layers


class ExactProducts:
    """Products in x's dtype, with dequantized weights, in the order of diffusers."""

    def __init__(self):
        self.norms, self.endings, self.gated = 0, 0, 0

    def product(self, x, weight, bias, branch, preparation=Preparation.AS_IT_IS, around=Around()):  # noqa: B008
        if around.norm is not None:
            self.norms += 1
            x = around.norm.plain(x)
        if isinstance(weight, GatedWeight):
            self.gated += 1
            return activated(*self._pair(x, weight), activation=around.activation)
        y = torch.nn.functional.linear(prepare_input(x, preparation), weight.dequantized(x.dtype), bias)
        y = activated(y, activation=around.activation)
        if around.ending is None:
            return y
        self.endings += 1
        return around.ending.plain(y)

    def _pair(self, x, weight):
        """Value and gate, by one product where they are one layer's rows: another would sum in another order."""
        parts = list(zip(weight.parts, weight.biases, strict=True))
        places = [
            part.tensors["weight"].data_ptr() - part.tensors["weight"].untyped_storage().data_ptr() for part, _ in parts
        ]
        if not any(places):
            return [self.product(x, *part, None) for part in parts]
        turned = places[0] > 0
        parts = parts[::-1] if turned else parts
        biases = None if parts[0][1] is None else torch.cat([bias for _, bias in parts])
        both = torch.nn.functional.linear(x, torch.cat([part.dequantized(x.dtype) for part, _ in parts]), biases)
        return both.chunk(2, dim=-1)[:: -1 if turned else 1]


# Of a step, how many products include a norm, how many a gate or residual, and how many are gated units.
INCLUDED = {
    "pixart": (12, 9, 0),  # three blocks; q, k, v and the feed-forward; two attentions and the feed-forward
    "sd3": (18, 7, 0),  # of two blocks, one with a second attention, and one that ends the words
    "flux": (24, 10, 0),  # two blocks of two streams and two of one
    "flux2-klein": (18, 10, 4),
    "chroma": (16, 6, 0),
    "qwen-image": (16, 8, 0),
    "z-image": (16, 0, 4),  # its sums follow norms of the outputs
    "sana": (6, 4, 0),  # its feed-forward is of convolutions
    "krea2": (10, 4, 4),  # with norms whose weights are stored less 1
    "sdxl": (40, 24, 8),  # with weights and biases; no gates
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
    assert (kernels.norms, kernels.endings, kernels.gated) == INCLUDED[family]
    assert not any("forward" in vars(module) for module in network.modules())


class SessionProcessor(AttnProcessor2_0):
    """Notes the lengths of words that it is given, as our attention takes them."""

    given = None

    def __call__(self, *args, key_lengths=None, **others):
        self.given = key_lengths
        return super().__call__(*args, **others)


@torch.inference_mode()
def test_pixart_s_blocks_pass_lengths_of_words_on():
    network, kernels = block_network("pixart", torch.float32), ExactProducts()
    layers, given, lengths = list(integer_layers(network)), arguments_of("pixart", network), torch.tensor([3, 7])
    given["cross_attention_kwargs"] = {"key_lengths": lengths}
    for block in network.transformer_blocks:
        block.attn1.processor, block.attn2.processor = SessionProcessor(), SessionProcessor()
    for layer in layers:
        layer.products = kernels
    plain, fusion = output_of("pixart", network, given=given), Fusion(kernels, layers)
    with fused(fusion, [network], layers), computing_fused(fusion, [network]):
        assert output_of("pixart", network, given=given).equal(plain)
    assert kernels.norms == INCLUDED["pixart"][0]
    assert all(block.attn2.processor.given is lengths for block in network.transformer_blocks)


def test_every_class_of_blocks_is_tested():
    found = {type(block).__name__ for family in FAMILIES for block in fused_blocks([block_network(family)])}
    assert found == set(BLOCKS) - {"ModulatedBlock"}
