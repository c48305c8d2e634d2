"""Floats whose blocks share a scale: as ComfyUI's library makes them and turns them back, in tiles and not."""

import pytest
import torch
from packed_layers import KINDS
from quantized_weights import relative, seeded
from skip_rules import skip_module_without

from mezzotint.errors import ModelRefused
from mezzotint.families.loading.original_names import THIRDS
from mezzotint.families.loading.stored_layers import WholeLayer, rows_of
from mezzotint.quantization.block_floats import Mxfp8, Nvfp4, tiled, tiled_size, untiled

skip_module_without("comfy_kitchen")

EACH = pytest.mark.parametrize("format_", [Mxfp8(), Nvfp4()], ids=lambda each: each.scheme)
SHAPE = (160, 192)


@EACH
def test_it_rounds_as_comfyui_does(format_):
    weight = seeded(*SHAPE) * torch.logspace(-3, 2, SHAPE[0])[:, None]
    parts, theirs = KINDS[format_.scheme](weight)
    ours = format_.quantize(weight)
    off = ours["weight"].view(torch.uint8) != parts["weight"].view(torch.uint8)
    assert off.float().mean() < 1e-3  # numbers half way between two
    assert relative(format_.dequantize(ours, weight.shape, torch.float32), theirs) < 1e-3


@EACH
@pytest.mark.parametrize("weight", [torch.zeros(16, 64), torch.full((16, 64), 1e-20), seeded(16, 64) * 1e4])
def test_zeros_tiny_and_large_numbers_come_back_finite(format_, weight):
    back = format_.dequantize(format_.quantize(weight), weight.shape, torch.float32)
    assert bool(torch.isfinite(back).all())
    assert relative(back, weight) < 0.2


@EACH
def test_a_product_is_that_of_the_weight(format_):
    weight, x = seeded(*SHAPE), seeded(3, SHAPE[1], seed=1)
    tensors = format_.quantize(weight)
    back = format_.dequantize(tensors, weight.shape, torch.float32)
    torch.testing.assert_close(format_.product(x, tensors, weight.shape), x @ back.T)
    for name, wanted in format_.part_specs(SHAPE).items():
        assert (tuple(tensors[name].shape), tensors[name].dtype) == (wanted.shape, wanted.dtype)


@EACH
def test_thirds_of_rows_are_the_thirds_of_the_weight(format_):
    weight = seeded(12, 64)
    tensors = format_.quantize(weight)
    whole = WholeLayer(weight_name="qkv.weight", format=format_, shape=(12, 64), tensors=tensors, bytes=100)
    parts = [rows_of(whole, part) for part in THIRDS]
    back = [format_.dequantize(part.tensors, torch.Size(part.shape), torch.float32) for part in parts]
    assert torch.equal(torch.cat(back), format_.dequantize(tensors, weight.shape, torch.float32))


@EACH
def test_rows_hold_whole_blocks(format_):
    assert format_.shape_problem((8, 64)) is None
    assert "are not a multiple" in (format_.shape_problem((8, 72)) or "")
    assert "dimensions" in (format_.shape_problem((8, 64, 1, 1)) or "")


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (128, 4), (129, 5), (300, 12)])
def test_tiles_are_laid_side_by_side_again(rows, columns):
    from comfy_kitchen.float_utils import to_blocked

    scales = torch.arange(rows * columns).view(rows, columns)
    tiles = to_blocked(scales)
    assert tiles.numel() == tiled_size(rows, columns)
    assert untiled(tiles, rows, columns).equal(scales)
    assert tiled(scales).flatten().equal(tiles.flatten())


def test_numbers_that_cannot_be_are_refused():
    for format_ in (Mxfp8(), Nvfp4()):
        with pytest.raises(ModelRefused, match="contains NaN"):
            format_.quantize(torch.full((1, 64), float("nan")))
