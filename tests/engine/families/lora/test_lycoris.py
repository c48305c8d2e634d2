"""LoHas and LoKrs, against what LyCORIS itself adds to weights.

`lycoris.safetensors` holds the factors of lycoris-lora 4.1.3's LohaModule and LokrModule for a linear layer and a
convolution, filled with random numbers, and what `get_weight` makes of them, which its `forward` adds.
"""

from pathlib import Path

import pytest
import torch
from lora_files import write_lora
from safetensors.torch import load_file
from torch import nn

from mezzotint.errors import ModelRefused
from mezzotint.families.loading.original_names import THIRDS
from mezzotint.families.lora.adapters import Adapters, FittingLora
from mezzotint.families.lora.file import open_lora
from mezzotint.families.lora.matching import Fit, LayerIndex, Target, fit

MADE = load_file(Path(__file__).parents[3] / "fixtures" / "lycoris.safetensors")
CASES = sorted({name.rpartition(":")[0] for name in MADE if name.endswith(":difference")})
LINEAR = "lokr:linear"


def network():
    torch.manual_seed(0)
    return nn.ModuleDict({"linear": nn.Linear(24, 16), "conv": nn.Conv2d(12, 16, 3, padding=1)})


def tensors_of(case, prefix="lora_unet_"):
    layer = case.partition(":")[2]
    return {name.replace(case, prefix + layer): MADE[name] for name in MADE if name.startswith(f"{case}.")}


@pytest.mark.parametrize("prefix", ["lora_unet_", "lycoris_", "diffusion_model."])
@pytest.mark.parametrize("case", CASES)
def test_a_weight_has_what_lycoris_adds(tmp_path, case, prefix):
    networks, layer = {"unet": network()}, case.partition(":")[2]
    file = open_lora(write_lora(tmp_path / "a.safetensors", tensors_of(case, prefix)))
    found = fit(file, LayerIndex(networks, "unet"))
    lora, adapters, plain = FittingLora(file=file, fit=found), Adapters(networks), networks["unet"][layer].weight
    adapters.hold([lora], lambda: False)
    adapters.apply([(lora, 0.8)])
    wanted = plain + 0.8 * MADE[f"{case}:difference"].view_as(plain)
    torch.testing.assert_close(networks["unet"][layer].weight, wanted, rtol=1e-5, atol=1e-6)


def test_rows_of_a_fused_layer_are_those_of_the_whole(tmp_path):
    factors = {"x.lokr_w1": torch.randn(4, 2), "x.lokr_w2": torch.randn(3, 4)}
    file = open_lora(write_lora(tmp_path / "a.safetensors", factors))
    networks = {"unet": nn.ModuleDict({name: nn.Linear(8, 4) for name in "qkv"})}
    targets = [
        Target(component="unet", name=name, shape=(4, 8), form=form) for name, form in zip("qkv", THIRDS, strict=True)
    ]
    found = Fit(pairs=tuple((file.layers[0], target) for target in targets), missing=(), misshapen=())
    assert all(target.is_meant(file.layers[0]) for target in targets)
    lora, adapters = FittingLora(file=file, fit=found), Adapters(networks)
    before = torch.cat([networks["unet"][name].weight for name in "qkv"])
    adapters.hold([lora], lambda: False)
    adapters.apply([(lora, 1.0)])
    after = torch.cat([networks["unet"][name].weight for name in "qkv"])
    torch.testing.assert_close(after - before, torch.kron(*factors.values()), rtol=1e-5, atol=1e-6)


REFUSED = {
    "missing": ({"x.hada_w1_a": torch.ones(4, 2), "x.hada_w1_b": torch.ones(2, 4)}, "has no 'hada_w2_a' beside it"),
    "missing of a LoKr": ({"x.lokr_w1": torch.ones(4, 2)}, "has no 'lokr_w2_a' beside it"),
    "unlike halves": (
        {f"x.hada_w{i}_a": torch.ones(4, 2) for i in (1, 2)}
        | {"x.hada_w1_b": torch.ones(2, 4), "x.hada_w2_b": torch.ones(2, 5)},
        "do not fit together",
    ),
    "ranks": ({"x.lokr_w1": torch.ones(2, 2), "x.lokr_w2_a": torch.ones(4, 3), "x.lokr_w2_b": torch.ones(2, 4)}, "fit"),
    "a left with a window": ({"x.lokr_w1": torch.ones(2, 2, 3, 3), "x.lokr_w2": torch.ones(4, 3)}, "fit together"),
    "two kinds": (
        {"x.lokr_w1": torch.ones(2, 2), "x.lokr_w2": torch.ones(4, 3), "x.lora_A.weight": torch.ones(2, 6)},
        "two LoRAs",
    ),
    "integers": ({"x.lokr_w1": torch.ones(2, 2, dtype=torch.int8), "x.lokr_w2": torch.ones(4, 3)}, "is I8"),
    "one side": ({"x.lokr_w1": torch.ones(2), "x.lokr_w2": torch.ones(4, 3)}, "2 or 4 sides"),
    "rank": (
        {"x.lokr_w1": torch.ones(1, 1), "x.lokr_w2_a": torch.ones(1, 4097), "x.lokr_w2_b": torch.ones(4097, 1)},
        "a rank up to",
    ),
}


@pytest.mark.parametrize(("tensors", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_is_refused(tmp_path, tensors, message):
    with pytest.raises(ModelRefused, match=message):
        open_lora(write_lora(tmp_path / "a.safetensors", tensors))


def test_one_of_another_shape_is_not_for_the_layer(tmp_path):
    file = open_lora(write_lora(tmp_path / "a.safetensors", tensors_of(LINEAR)))
    found = fit(file, LayerIndex({"unet": nn.ModuleDict({"linear": nn.Linear(24, 8)})}, "unet"))
    assert found.misshapen and not found.pairs
