"""LoRAs of a smaller rank."""

import pytest
import torch
from lora_files import Added, kohya_tensors, random_lora, write_lora
from safetensors.torch import load_file
from torch import nn

from mezzotint.checkpoints.header import read_header
from mezzotint.conversion.loras.resizing import resize_lora
from mezzotint.errors import Cancelled, ModelRefused, UsageError


@pytest.fixture
def lora(tmp_path):
    networks = {"unet": nn.Sequential(nn.Conv2d(4, 8, 3), nn.Linear(16, 6))}
    added = random_lora(networks, ".", rank=5, alpha=2.0)
    about = {"ss_tag_frequency": "{}", "sshs_model_hash": "1", "ss_network_dim": "5", "ss_network_alpha": "2.0"}
    return write_lora(tmp_path / "a.safetensors", kohya_tensors(added), about), added


def differences(path):
    """What each layer of a file adds."""
    tensors, found = load_file(path), {}
    for name in tensors:
        if name.endswith(".lora_down.weight"):
            stem = name.removesuffix(".lora_down.weight")
            parts = (tensors[f"{stem}.{part}"] for part in ("lora_down.weight", "lora_up.weight", "alpha"))
            down, up, alpha = parts
            found[stem] = Added(component="", name="", down=down, up=up, alpha=float(alpha)).difference()
    return found


def test_the_same_rank_adds_the_same(lora, tmp_path):
    path, _ = lora
    made = resize_lora(path, tmp_path / "b.safetensors", rank=5)
    assert made.kept > 1 - 1e-9 and (made.lowest_rank, made.highest_rank, made.layers) == (5, 5, 2)
    before, after = differences(path), differences(tmp_path / "b.safetensors")
    for name, each in before.items():
        torch.testing.assert_close(after[name], each, rtol=1e-4, atol=1e-5)
    said = read_header(tmp_path / "b.safetensors").metadata
    assert said == {
        "ss_tag_frequency": "{}",
        "ss_network_module": "networks.lora",
        "ss_network_dim": "5",
        "ss_network_alpha": "5",
    }


def test_a_lower_rank_keeps_less(lora, tmp_path):
    path, _ = lora
    shares = [resize_lora(path, tmp_path / f"{rank}.safetensors", rank=rank).kept for rank in (1, 2, 4)]
    assert shares == sorted(shares) and 0.2 < shares[0] < shares[-1] < 1
    lost = sum(
        float((a - b).square().sum())
        for a, b in zip(differences(path).values(), differences(tmp_path / "2.safetensors").values(), strict=True)
    )
    whole = sum(float(each.square().sum()) for each in differences(path).values())
    assert abs(1 - lost / whole - shares[1]) < 1e-5


def test_ranks_by_layer_for_a_share(lora, tmp_path):
    made = resize_lora(lora[0], tmp_path / "b.safetensors", keep=0.8, dtype=torch.float16)
    assert made.kept >= 0.8 and made.highest_rank < 5
    assert {each.dtype for each in read_header(tmp_path / "b.safetensors").tensors.values() if each.shape} == {"F16"}


def test_a_window_that_is_a_factor_of_its_own(tmp_path):
    (layer,) = random_lora({"unet": nn.Sequential(nn.Conv2d(4, 8, 3))}, ".", rank=3)
    mid = torch.randn(3, 3, 3, 3, generator=torch.Generator().manual_seed(5))
    cp = Added(component="unet", name="0", down=layer.down[:, :, :1, :1], up=layer.up, mid=mid, alpha=1.5)
    path = write_lora(tmp_path / "a.safetensors", kohya_tensors([cp]))
    resize_lora(path, tmp_path / "b.safetensors", rank=3)
    assert "lora_unet_0.lora_mid.weight" not in read_header(tmp_path / "b.safetensors").tensors
    (found,) = differences(tmp_path / "b.safetensors").values()
    torch.testing.assert_close(found, cp.difference(), rtol=1e-4, atol=1e-5)


def test_what_cannot_be(lora, tmp_path):
    path, _ = lora
    with pytest.raises(UsageError, match="exists already"):
        resize_lora(path, path, rank=2)
    with pytest.raises(UsageError, match="written as safetensors"):
        resize_lora(path, tmp_path / "b.pt", rank=2)
    with pytest.raises(Cancelled):
        resize_lora(path, tmp_path / "b.safetensors", rank=2, cancelled=lambda: True)
    dora = write_lora(tmp_path / "d.safetensors", load_file(path) | {"lora_unet_0.dora_scale": torch.ones(8, 1, 1, 1)})
    with pytest.raises(ModelRefused, match="'0' is a DoRA"):
        resize_lora(dora, tmp_path / "b.safetensors", rank=2)
    assert not (tmp_path / "b.safetensors").exists()
