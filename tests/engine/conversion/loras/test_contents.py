"""What is told about a LoRA file."""

import torch
from lora_files import dotted_tensors, kohya_tensors, random_lora, write_lora
from torch import nn

from mezzotint.conversion.loras.contents import contents

NETWORKS = {"unet": nn.Sequential(nn.Conv2d(4, 8, 3), nn.Linear(16, 6)), "text_encoder": nn.Sequential(nn.Linear(3, 4))}


def test_layers_ranks_alphas_and_formats(tmp_path):
    tensors = kohya_tensors(random_lora(NETWORKS, "unet", rank=3, alpha=1.5))
    tensors |= kohya_tensors(random_lora(NETWORKS, "text", rank=2, alpha=1.0))
    path = write_lora(tmp_path / "a.safetensors", tensors | {"mystery": torch.ones(1)}, {"modelspec.title": "x"})
    found = contents(path)
    assert (found.kinds, found.layers) == ({"LoRA": 3}, {"denoiser": 2, "text_encoder": 1})
    assert (found.ranks, found.alphas, found.formats) == ((2, 3), (1.0, 1.5), ("F32",))
    assert (found.base, found.families, found.unknown) == ("", (), ("mystery",))
    assert found.bytes == path.stat().st_size and found.metadata == {"modelspec.title": "x"}


def test_alphas_of_the_metadata_and_none(tmp_path):
    tensors = dotted_tensors(random_lora(NETWORKS, "unet", rank=3))
    assert contents(write_lora(tmp_path / "a.safetensors", tensors)).alphas == (3.0,)
    told = {"lora_adapter_metadata": '{"unet.lora_alpha": 6, "unet.r": 3}'}
    assert contents(write_lora(tmp_path / "b.safetensors", tensors, told)).alphas == (6.0,)


def test_other_kinds(tmp_path):
    stem = "lora_unet_mid_block_attentions_0_transformer_blocks_0_attn2_to_k"
    tensors = {f"{stem}.lokr_w1": torch.ones(2, 2), f"{stem}.lokr_w2": torch.ones(4, 1024)}
    tensors |= {f"{stem}_oft.oft_blocks": torch.ones(2, 4, 4)}
    tensors |= {f"{stem}_dora.{part}": torch.ones(*shape) for part, shape in
                {"lora_down.weight": (2, 3), "lora_up.weight": (4, 2), "dora_scale": (4, 1)}.items()}  # fmt: skip
    found = contents(write_lora(tmp_path / "a.safetensors", tensors))
    assert found.kinds == {"LoKr": 1, "OFT": 1, "DoRA": 1} and found.ranks == (2,)
    assert (found.base, found.families) == ("SDXL", ("sdxl",))
