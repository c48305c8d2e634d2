"""Live memory, counted alike with and without memory behind the tensors."""

import pytest
import torch
from small_networks import small_networks
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn import functional
from traced_peaks import traced_peaks

from mezzotint.attention.operation import attention
from mezzotint.memory.footprints.forward_calls import is_text, known_call
from mezzotint.memory.footprints.live_memory import GRAIN, attention_operations, counted
from mezzotint.memory.footprints.tracing import HALF


def test_what_is_let_go_is_counted_no_more():
    x = torch.zeros(1024)
    with counted() as memory:
        y = x + 1
        z = y * 2
        del y
        w = z - 1
    assert memory.peak == 2 * 4096
    assert memory.live == 2 * 4096
    del z, w
    assert memory.live == 0


def test_views_weights_and_what_is_written_in_place_are_not_counted():
    weight = torch.nn.Linear(16, 16)
    x = torch.zeros(16, 16)
    with counted() as memory:
        x.view(4, 64)[1:].add_(1)
        torch.relu_(x)
        weight.weight.t()
    assert memory.peak == 0


def test_sizes_are_rounded_up_as_allocators_do():
    with counted() as memory:
        kept = [torch.zeros(1), torch.zeros(GRAIN // 4 + 1)]
    assert memory.live == 3 * GRAIN
    assert kept


@pytest.mark.parametrize("fake", [False, True])
def test_attention_is_its_output(fake):
    with FakeTensorMode() if fake else torch.no_grad():
        q, k, v = torch.zeros(2, 4, 96, 32), torch.zeros(2, 4, 64, 32), torch.zeros(2, 4, 64, 16)
        with counted() as memory:
            output = functional.scaled_dot_product_attention(q, k, value=v)
    assert output.shape == (2, 4, 96, 16)
    assert memory.peak == 2 * 4 * 96 * 16 * 4
    assert memory.operations == attention_operations(q.shape, k.shape) == 4 * 8 * 96 * 64 * 32


def test_our_own_attention_is_its_output_too():
    with FakeTensorMode():
        q, k, v = (torch.zeros(1, 4, 96, 32) for _ in range(3))
        with counted() as memory:
            attention(q, k, v, implementation="flash")
    assert memory.peak == 4 * 96 * 32 * 4
    assert memory.operations == 4 * 4 * 96 * 96 * 32


def test_operations_of_products_and_convolutions():
    x, image = torch.zeros(8, 16), torch.zeros(1, 3, 8, 8)
    linear, window = torch.nn.Linear(16, 4), torch.nn.Conv2d(3, 5, 3, padding=1)
    with counted() as memory:
        linear(x)
    assert memory.operations == 2 * 8 * 16 * 4
    with counted() as memory:
        window(image)
    assert memory.operations == 2 * 64 * 3 * 9 * 5


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("class_name", list(small_networks()))
def test_prediction_is_what_a_real_pass_takes(class_name):
    size = 24 if is_text(class_name) else 16
    network = small_networks()[class_name]().to(HALF).eval()
    for module in network.modules():
        module.requires_grad_(False)
    with counted() as memory:
        known_call(class_name, network, size, 2, 7)
    # Tables that are no buffers lie beside the network here; on a card they are made anew, and are predicted so.
    tables = sum(x.nbytes for m in network.modules() for x in vars(m).values() if isinstance(x, torch.Tensor))
    (point,) = traced_peaks(network, class_name, [(size, 2)], tokens=7)
    assert memory.peak * 0.99 <= point.value <= memory.peak * 1.01 + tables


@pytest.mark.slow
def test_a_tensor_that_is_held_without_need_shows():
    def peak(hold):
        network = small_networks()["UNet2DConditionModel"]()
        held = []
        if hold:
            network.down_blocks[0].register_forward_hook(lambda _, __, out: held.append(out[0] + 0))
        (point,) = traced_peaks(network, "UNet2DConditionModel", [(16, 1)], tokens=7)
        return point.value

    assert peak(hold=True) - peak(hold=False) >= 32 * 8 * 8 * HALF.itemsize
