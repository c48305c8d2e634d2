"""OFT files: what their layers may be, and what is refused before a tensor is read."""

import pytest
import torch
from lora_files import kohya_tensors, random_lora, write_lora
from torch import nn

from mezzotint.errors import ModelRefused
from mezzotint.families.lora.file import open_lora
from mezzotint.families.lora.matching import LayerIndex, fit, why_not
from mezzotint.families.lora.oft import LARGEST_BLOCK

OUTPUTS, INPUTS = "lora_unet_x.oft_blocks", "base_model.model.x.oft_R.weight"


def opened(tmp_path, tensors):
    return open_lora(write_lora(tmp_path / "a.safetensors", tensors))


@pytest.mark.parametrize(
    ("name", "shape", "fitting", "unfitting"),
    [
        (OUTPUTS, (3, 4, 4), [(12, 7), (12, 5, 3, 3)], [(8, 12), (24, 7)]),
        ("unet.x.oft_diag", (3, 4, 4), [(12, 7), (12, 5, 3, 3)], [(8, 12)]),
        (INPUTS, (3, 6), [(7, 12), (5, 12, 1, 1), (5, 3, 2, 2)], [(12, 8), (12, 24)]),
        (INPUTS, (1, 6), [(7, 12), (7, 4), (5, 9, 2, 2)], [(12, 6), (4, 3)]),
    ],
)
def test_one_side_of_a_weight_is_told_by_its_blocks(tmp_path, name, shape, fitting, unfitting):
    (layer,) = opened(tmp_path, {name: torch.ones(shape)}).layers
    assert all(layer.fits(one) for one in fitting) and not any(layer.fits(one) for one in unfitting)


@pytest.mark.parametrize(
    ("name", "shape", "words"),
    [
        (OUTPUTS, (2, 4, 4), r"'x' is for a weight with 8 outputs, a-model has \(5, 7\)"),
        (INPUTS, (2, 6), "'x' is for a weight with 8 inputs, a-model"),
        (INPUTS, (1, 6), "'x' is for a weight with a multiple of 4 inputs, a-model"),
    ],
)
def test_one_for_another_model_is_told_from_what_it_fits(tmp_path, name, shape, words):
    file = opened(tmp_path, {name: torch.ones(shape)})
    found = fit(file, LayerIndex({"unet": nn.ModuleDict({"x": nn.Linear(7, 5)})}, "unet"))
    with pytest.raises(AssertionError, match=words):
        raise AssertionError(why_not(file, found, "a-model"))


def test_widths_of_inputs_tell_the_model(tmp_path):
    layer = "mid_block_attentions_0_transformer_blocks_0_attn2_to_k"
    file = opened(tmp_path, {f"lora_unet_{layer}.oft_R.weight": torch.ones(512, 6)})
    assert file.base is not None and file.base.words == "SDXL"
    assert opened(tmp_path, {f"lora_unet_{layer}.oft_blocks": torch.ones(2, 640, 640)}).base is None


BOTH = kohya_tensors(random_lora({"unet": nn.ModuleDict({"x": nn.Linear(8, 6)})}, "."))
REFUSED = {
    "a BOFT": ({OUTPUTS: torch.ones(2, 3, 4, 4)}, r"a BOFT \(lora_unet_x.oft_blocks\), which cannot be applied"),
    "a BOFT of peft": ({"unet.x.boft_R": torch.ones(2, 3, 4, 4)}, "a BOFT"),
    "parts": ({OUTPUTS + ".0": torch.ones(2, 4, 4)}, "an OFT of kohya's scripts for FLUX, in parts"),
    "an earlier peft": ({"unet.x.oft_r": torch.ones(2, 4, 4)}, "an OFT of a version of peft before"),
    "embeddings": ({"text_encoder.x.oft_embedding_R.weight": torch.ones(2, 6)}, "an OFT of embeddings"),
    "magnitudes": ({INPUTS: torch.ones(2, 6), "x.dora_scale": torch.ones(6, 1)}, "an OFT with a DoRA's magnitudes"),
    "two": (BOTH | {OUTPUTS: torch.ones(2, 3, 3)}, "two LoRAs"),
    "no square": ({OUTPUTS: torch.ones(2, 4, 3)}, "do not fit together"),
    "no triangle": ({INPUTS: torch.ones(2, 5)}, "do not fit together"),
    "both sides": ({INPUTS: torch.ones(2, 6), "x.oft_blocks": torch.ones(2, 4, 4)}, "do not fit together"),
    "two forms": ({OUTPUTS: torch.ones(2, 4, 4), "lora_unet_x.oft_diag": torch.ones(2, 4, 4)}, "do not fit together"),
    "gains": ({OUTPUTS: torch.ones(2, 4, 4), "lora_unet_x.rescale": torch.ones(7, 1)}, "do not fit together"),
    "gains of R": (
        {"lora_unet_x.oft_diag": torch.ones(2, 4, 4), "lora_unet_x.rescale": torch.ones(8, 1)},
        "do not fit together",
    ),
    "gains alone": ({"lora_unet_x.rescale": torch.ones(8, 1)}, "has no 'oft_blocks' beside it"),
    "two sides": ({OUTPUTS: torch.ones(4, 4)}, "it has 3 sides"),
    "three sides": ({INPUTS: torch.ones(2, 6, 1)}, "it has 2 sides"),
    "no numbers": ({INPUTS: torch.ones(2, 0)}, "it has 2 sides"),
    "integers": ({INPUTS: torch.ones(2, 6, dtype=torch.int8)}, "a LoRA is of F16"),
    "scales": ({INPUTS: torch.ones(2, 6), "x.oft_R.scaled_oft": torch.ones(2)}, "one number"),
    "huge": ({OUTPUTS: torch.ones(1, LARGEST_BLOCK + 1, LARGEST_BLOCK + 1, dtype=torch.float16)}, "blocks of up to"),
}


@pytest.mark.parametrize(("tensors", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_applied_is_refused_in_a_line(tmp_path, tensors, message):
    with pytest.raises(ModelRefused, match=message) as caught:
        opened(tmp_path, tensors)
    assert "a.safetensors" in str(caught.value) and "\n" not in str(caught.value)
