"""The compact upscaler: its formula, and the same as spandrel's network with the same weights."""

import pytest
import torch
from torch.nn.functional import interpolate

from mezzotint.upscaling.compact import Compact, compact_for
from mezzotint.upscaling.other_kinds import other_kind


def shapes(network):
    return {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}


@pytest.fixture
def network():
    torch.manual_seed(7)
    return Compact(8, 3, 2).eval().requires_grad_(False)


def test_without_weights_it_repeats_pixels(network):
    for parameter in network.parameters():
        parameter.zero_()
    image = torch.rand(1, 3, 5, 7)
    assert torch.equal(network(image), interpolate(image, scale_factor=2.0))


@pytest.mark.requires_package("spandrel")
def test_it_is_the_published_network(network, tmp_path):
    other = other_kind(tmp_path, network.state_dict())
    image = torch.rand(1, 3, 9, 6)
    assert (other.architecture, other.scale) == ("RealESRGAN Compact", 2)
    torch.testing.assert_close(network(image), other.network.eval()(image))


@pytest.mark.parametrize(("width", "depth", "scale"), [(8, 3, 2), (24, 0, 4), (4, 1, 1)])
def test_it_is_recognised_by_its_shapes(width, depth, scale):
    found = compact_for(shapes(Compact(width, depth, scale)))
    assert found is not None and found.scale == scale and len(found.body) == 2 * depth + 3


@pytest.mark.parametrize(
    "change",
    [
        {"body.0.weight": (8, 4, 3, 3)},
        {"body.0.weight": (8,)},
        {"body.2.weight": (8, 8, 5, 5)},
        {"body.8.weight": (13, 8, 3, 3)},
        {"other": (1,)},
        {"body.0.weight": (10**9, 3, 3, 3)},
    ],
)
def test_others_are_not_taken_for_it(change):
    assert compact_for(shapes(Compact(8, 3, 2)) | change) is None
    assert compact_for({}) is None
