"""Several layers by one product of the kernels themselves, on the emulator, beside their layers."""

import pytest
import torch
from fake_products import EmulatedProducts, FakeProducts
from quantized_weights import relative, seeded

from mezzotint.quantization.formats import Int8
from mezzotint.quantization.fusion.around import Around, Norm
from mezzotint.quantization.linear import Heads, JoinedWeight, linear
from mezzotint.quantization.products.compiled import CompiledLinear
from mezzotint.quantization.products.joined import joined_weight, may_join
from mezzotint.quantization.random_weights import random_quantized_weight

SIZES = (128, 256, 128)


@pytest.mark.requires_command("g++", "sudo apt-get install g++")
@pytest.mark.parametrize("library", [FakeProducts, EmulatedProducts])
def test_queries_keys_and_values_of_a_normalized_input(library):
    parts = [
        random_quantized_weight(Int8(dynamic=True, group=16), (size, 64), torch.Generator().manual_seed(size))
        for size in SIZES
    ]
    angles = seeded(20, 32)
    weight = seeded(64).half()
    heads = Heads(
        size=64,
        parts=(True, True, False),
        norms=(weight, None, None),
        epsilon=1e-6,
        rotations=torch.stack([angles.cos(), angles.sin()], dim=-1),
    )
    biases = (seeded(128).half(), None, seeded(128, seed=1).half())
    joined = JoinedWeight(
        format=parts[0].format, tensors={}, shape=torch.Size((512, 64)), parts=tuple(parts), biases=biases, heads=heads
    )
    norm = Norm(module=torch.nn.LayerNorm(64, elementwise_affine=False), gain=seeded(2, 1, 64).half())
    x = seeded(2, 20, 64).half()
    with torch.inference_mode():
        found = CompiledLinear(library())(x, joined, around=Around(norm=norm)).float().split(SIZES, dim=-1)
        read = Norm(module=norm.module, gain=norm.gain.float()).plain(x.float())
        wanted = [
            linear(read, each, None if own is None else own.float()) for each, own in zip(parts, biases, strict=True)
        ]
    for number in range(2):
        by_head = torch.nn.functional.rms_norm(wanted[number].unflatten(-1, (-1, 64)), (64,), eps=1e-6)
        by_head = by_head * (weight.float() if number == 0 else 1)
        pairs = torch.view_as_complex(by_head.unflatten(-1, (-1, 2))) * torch.polar(
            torch.ones(20, 1, 32), angles[:, None]
        )
        wanted[number] = torch.view_as_real(pairs).flatten(-3)
    assert all(relative(*pair) < 5e-3 for pair in zip(found, wanted, strict=True))


@pytest.mark.requires_command("g++", "sudo apt-get install g++")
@pytest.mark.parametrize("library", [FakeProducts, EmulatedProducts])
def test_without_norms_and_rotations_it_is_that_of_each_layer_to_the_bit(library):
    parts = [
        random_quantized_weight(Int8(dynamic=True, group=16), (size, 80), torch.Generator().manual_seed(size))
        for size in (64, 192, 320)
    ]
    layers = list(zip(parts, (seeded(64).half(), None, seeded(320).half()), strict=True))
    x, kernels = seeded(1, 70, 80).half(), CompiledLinear(library())
    with torch.inference_mode():
        found = kernels(x, joined_weight(layers)).split([64, 192, 320], dim=-1)
        assert all(one.equal(kernels(x, *layer)) for one, layer in zip(found, layers, strict=True))


@pytest.mark.parametrize(
    ("columns", "joined"),
    [(320, True), (640, True), (1152, True), (2432, True), (2240, False), (448, False), (96, False)],
)
def test_narrow_tiles_are_for_narrow_layers(columns, joined):
    """Of SD 1.5 (320), SDXL, PixArt, Stable Diffusion 3.5 Large, and Sana (2240)."""
    assert may_join(columns) is joined


def test_a_layer_has_whole_heads():
    heads = Heads(size=128, parts=(True, True, False), norms=(None, None, None), epsilon=1e-6)
    assert (may_join(320, heads), may_join(384, heads)) == (False, True)
