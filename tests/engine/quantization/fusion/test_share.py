"""What part of the linear layers of a family's blocks our integer products compute, and what they include."""

import pytest
import torch
from block_networks import FAMILIES, block_network, output_of
from fake_products import FakeProducts, fake_product_backends
from quantized_weights import relative

from mezzotint.dispatch.library import Unavailable
from mezzotint.quantization.fusion.share import counting_share
from mezzotint.quantization.products.self_test import CASES

SELF_TEST = len(CASES["kernels"])  # products
# At least these percents include something before, and after. Most of the rest has nothing there that a product could
# include: what attention gives is no norm's output, queries are no sum, Sana's feed-forward is of convolutions.
INCLUDED = {
    "pixart": (75, 40),
    "sd3": (70, 35),
    "flux": (70, 55),
    "flux2-klein": (65, 50),
    "chroma": (65, 60),
    "qwen-image": (90, 40),
    "z-image": (65, 40),
    "sana": (45, 30),
    "krea2": (65, 60),
    "sdxl": (60, 70),
}


@pytest.mark.parametrize("family", FAMILIES)
@torch.inference_mode()
def test_blocks_run_as_integer_products_with_what_surrounds_them(family):
    network, library = block_network(family), FakeProducts()
    session = fake_product_backends(library).session("cpu", "bfloat16", [network], lambda *_: None)
    with session.multiplying(), counting_share(network, session) as share:
        output_of(family, network)
    percents = [100 * share.part(flops) for flops in (share.integers, share.before, share.after)]
    assert percents[0] >= 95
    assert (percents[1] >= INCLUDED[family][0], percents[2] >= INCLUDED[family][1]) == (True, True), percents
    assert session.fallbacks == ()
    assert session.integers.calls == len(library.multiplied) - SELF_TEST
    assert session.integers.calls >= session.integers.fused_calls > 0


@pytest.mark.parametrize("family", FAMILIES)
@torch.inference_mode()
def test_fused_products_are_as_exact_as_those_of_torch(family):
    """Both round what they multiply; torch also rounds the norm, the activation, the gate's product."""
    exact = output_of(family, block_network(family, torch.float32))
    network = block_network(family)
    plain = output_of(family, network)
    session = fake_product_backends(FakeProducts()).session("cpu", "bfloat16", [network], lambda *_: None)
    with session.multiplying():
        found = output_of(family, network)
    assert relative(found, exact) < 1.3 * relative(plain, exact)


@torch.inference_mode()
def test_nothing_is_counted_without_kernels():
    network = block_network("flux")
    session = fake_product_backends(error=Unavailable("none")).session("cpu", "bfloat16", [network], lambda *_: None)
    with session.multiplying(), counting_share(network, session) as share:
        output_of("flux", network)
    assert share.total and not share.integers
    assert (share.part(share.total), share.part(0)) == (1, 0)
