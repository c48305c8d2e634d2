"""Which of a job's networks get their weights laid out for the kernels of GroupNorm."""

from types import SimpleNamespace

import pytest
import torch
from diffusers import AutoencoderKL
from fake_group_norm import FakeGroupNorm, fake_group_norm_backend
from torch import nn

from mezzotint.stages.models.layout import lay_out


def model_of(dtype):
    blocks = {"down_block_types": ("DownEncoderBlock2D",), "up_block_types": ("UpDecoderBlock2D",)}
    vae = AutoencoderKL(block_out_channels=(32,), norm_num_groups=8, **blocks)
    networks = {"vae": vae.to(dtype), "other": nn.Sequential(nn.Conv2d(8, 8, 3), nn.GroupNorm(2, 8)).to(dtype)}
    return SimpleNamespace(networks=networks, on_disk={})


def laid_out(network):
    layers = [each for each in network.modules() if isinstance(each, nn.Conv2d) and each.kernel_size != (1, 1)]
    return {each.weight.is_contiguous(memory_format=torch.channels_last) for each in layers}


@pytest.mark.parametrize(
    ("library", "dtype", "wanted"),
    [
        (FakeGroupNorm(), "bfloat16", {True}),
        (FakeGroupNorm(), "float32", {False}),
        (FakeGroupNorm("wrong"), "bfloat16", {False}),
    ],
    ids=["kernels", "32 bits", "wrong kernels"],
)
def test_weights_are_laid_out_where_kernels_normalize(library, dtype, wanted):
    model = model_of(getattr(torch, dtype))
    lay_out([model], fake_group_norm_backend(library), "cpu", dtype)
    assert laid_out(model.networks["vae"]) == wanted
    assert (laid_out(model.networks["other"]), model.on_disk) == ({False}, {})
