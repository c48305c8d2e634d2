"""Which layers of a model a LoRA finds, and when it is not for that model."""

from types import SimpleNamespace

import pytest
import torch
from lora_files import write_lora
from torch import nn

from mezzotint.families.lora.file import open_lora
from mezzotint.families.lora.matching import LayerIndex, fit, why_not


class Small(nn.Module):
    def __init__(self, layers_per_block=None):
        super().__init__()
        self.config = SimpleNamespace(layers_per_block=layers_per_block)
        self.conv_in = nn.Conv2d(4, 8, 3)
        self.mid_block = nn.ModuleDict({"attentions": nn.ModuleList([nn.ModuleDict({"proj_in": nn.Linear(8, 6)})])})
        self.norm = nn.LayerNorm(8)


@pytest.fixture
def index():
    text = nn.ModuleDict({"text_model": nn.ModuleDict({"fc1": nn.Linear(5, 7)})})
    return LayerIndex({"unet": Small([2, 2]), "text_encoder": text, "vae": nn.Linear(3, 3)}, "unet")


def lora(tmp_path, **shapes):
    tensors = {}
    for name, (n, k, *window) in shapes.items():
        tensors[f"{name}.lora_down.weight"] = torch.ones(2, k, *window)
        tensors[f"{name}.lora_up.weight"] = torch.ones(n, 2, *[1] * len(window))
    return open_lora(write_lora(tmp_path / "a.safetensors", tensors))


def test_layers_are_found_in_either_naming(index, tmp_path):
    file = lora(
        tmp_path,
        lora_unet_input_blocks_0_0=(8, 4, 3, 3),
        lora_unet_mid_block_attentions_0_proj_in=(6, 8, 1, 1),
        lora_te1_text_model_fc1=(7, 5),
    )
    found = fit(file, index)
    assert {(target.component, target.name) for _, target in found.pairs} == {
        ("unet", "conv_in"),
        ("unet", "mid_block.attentions.0.proj_in"),
        ("text_encoder", "text_model.fc1"),
    }
    assert why_not(file, found, "small") is None
    assert fit(lora(tmp_path, lora_unet_middle_block_1_proj_in=(6, 8)), index).pairs


def test_a_transformer_has_no_original_names():
    assert LayerIndex({"transformer": Small()}, "transformer").find("denoiser", "input_blocks_0_0") == ()


def test_what_is_for_the_third_encoder_is_for_t5_where_that_is_the_second():
    t5 = nn.ModuleDict({"encoder": nn.ModuleDict({"q": nn.Linear(5, 7)})})
    index = LayerIndex({"transformer": Small(), "text_encoder_2": t5}, "transformer")
    (found,) = index.find("text_encoder_3", "encoder_q")
    assert (found.component, found.name) == ("text_encoder_2", "encoder.q")
    both = LayerIndex({"transformer": Small(), "text_encoder_2": t5, "text_encoder_3": t5}, "transformer")
    assert [one.component for one in both.find("text_encoder_3", "encoder_q")] == ["text_encoder_3"]


def test_other_shapes_are_of_another_model(index, tmp_path):
    file = lora(tmp_path, lora_unet_conv_in=(8, 4, 3, 3), lora_unet_mid_block_attentions_0_proj_in=(6, 9))
    why = why_not(file, fit(file, index), "small")
    assert why is not None and "(6, 9), small has (6, 8)" in why and "is for another model" in why


def test_few_layers_in_common_are_too_few(index, tmp_path):
    others = {f"lora_unet_down_blocks_{i}_attn2_to_k": (8, 768) for i in range(3)}
    file = lora(tmp_path, lora_unet_conv_in=(8, 4, 3, 3), **others)
    why = why_not(file, fit(file, index), "small")
    assert why is not None and "has 1 of its 4 layers" in why and "Stable Diffusion 1" in why
    half = lora(tmp_path, lora_unet_conv_in=(8, 4, 3, 3), lora_unet_other=(3, 3))
    assert why_not(half, fit(half, index), "small") is None
    assert [layer.layer for layer in fit(half, index).missing] == ["other"]


def test_norms_take_none(index, tmp_path):
    assert fit(lora(tmp_path, lora_unet_norm=(8, 8)), index).missing


# ---- layers that are numbered, as cloneofsimo's scripts do


class Attended(nn.Module):
    """As a U-Net's blocks are named today; their modules are in another order than the numbers."""

    def __init__(self):
        super().__init__()
        self.config = SimpleNamespace(layers_per_block=1)

        def attention(width):
            sides = {"to_q": width, "to_k": 3, "to_v": 3}
            layers = {name: nn.Linear(taken, width, bias=False) for name, taken in sides.items()}
            return nn.ModuleDict({**layers, "to_out": nn.ModuleList([nn.Linear(width, width)])})

        def block(width):
            ff = nn.ModuleDict({"net": nn.ModuleList([nn.ModuleDict({"proj": nn.Linear(width, 4 * width)})])})
            parts = {"attn2": attention(width), "ff": ff, "attn1": attention(width)}
            inner = nn.ModuleDict({"transformer_blocks": nn.ModuleList([nn.ModuleDict(parts)])})
            return nn.ModuleDict({"attentions": nn.ModuleList([inner])})

        self.mid_block, self.up_blocks = block(16), nn.ModuleList([nn.ModuleDict(), block(8)])
        self.down_blocks = nn.ModuleList([block(4)])


def numbered(tmp_path, sides, place="unet"):
    tensors = {}
    for number, (rows, taken) in enumerate(sides):
        tensors |= {f"{place}:{number}:down": torch.ones(2, taken), f"{place}:{number}:up": torch.ones(rows, 2)}
    return open_lora(write_lora(tmp_path / "numbered.safetensors", tensors | {"<s1>": torch.ones(1, 5)}))


def sides_of(*widths):
    for width in widths:
        attention = [(width, width), (width, 3), (width, 3), (width, width)]
        yield from (*attention, (4 * width, width), *attention)


def test_numbers_go_down_up_and_then_to_the_middle(tmp_path):
    unet = Attended()
    file = numbered(tmp_path, sides_of(4, 8, 16))
    found = fit(file, LayerIndex({"unet": unet}, "unet"))
    assert why_not(file, found, "m") is None and not found.missing and file.unknown == ("<s1>",)
    placed = {layer.layer: target.name for layer, target in found.pairs}
    block = "up_blocks.1.attentions.0.transformer_blocks.0"
    assert placed["number_9"] == f"{block}.attn1.to_q"
    assert placed["number_13"] == f"{block}.ff.net.0.proj"
    assert placed["number_16"] == f"{block}.attn2.to_v"
    assert placed["number_26"] == "mid_block.attentions.0.transformer_blocks.0.attn2.to_out.0"


def test_text_encoders_are_numbered_as_their_attention_is_made(tmp_path):
    projections = {f"{name}_proj": nn.Linear(4, 4) for name in ("q", "k", "v", "out")}
    layers = nn.ModuleList([nn.ModuleDict({"self_attn": nn.ModuleDict(projections)})])
    text = nn.ModuleDict({"encoder": nn.ModuleDict({"layers": layers})})
    found = fit(
        numbered(tmp_path, [(4, 4)] * 4, "text_encoder"), LayerIndex({"unet": Small(), "text_encoder": text}, "unet")
    )
    assert [target.name[-6:] for _, target in sorted(found.pairs, key=lambda pair: pair[0].layer)] == [
        "k_proj",
        "v_proj",
        "q_proj",
        "t_proj",
    ]


@pytest.mark.parametrize("widths", [(4, 8), (4, 8, 16, 16)])
def test_those_of_a_model_with_more_or_fewer_layers_are_not_applied(tmp_path, widths):
    file = numbered(tmp_path, sides_of(*widths))
    found = fit(file, LayerIndex({"unet": Attended()}, "unet"))
    assert not found.pairs and "lacks 'number_0'" in (why_not(file, found, "m") or "")


# ---- layers of other shapes


def test_first_layers_that_take_more_are_for_the_latents_alone(index, tmp_path):
    wide = LayerIndex({"unet": nn.ModuleDict({"conv_in": nn.Conv2d(9, 8, 3), "other": nn.Linear(9, 8)})}, "unet")
    file = lora(tmp_path, lora_unet_conv_in=(8, 4, 3, 3))
    found = fit(file, wide)
    assert [(layer.layer, target.shape) for layer, target in found.wider] == [("conv_in", (8, 9, 3, 3))]
    assert found.pairs == found.wider and why_not(file, found, "m") is None
    narrow = lora(tmp_path, lora_unet_other=(8, 4))
    assert why_not(narrow, fit(narrow, wide), "m") is not None, "no first layer"


def test_a_few_layers_of_other_shapes_are_left_out(tmp_path):
    model = LayerIndex({"unet": nn.ModuleDict({f"x{number}": nn.Linear(4, 4) for number in range(12)})}, "unet")
    for odd, refused in ((1, False), (2, True)):
        file = lora(tmp_path, **{f"lora_unet_x{number}": (4, 5 if number < odd else 4) for number in range(12)})
        found = fit(file, model)
        assert len(found.misshapen) == odd and len(found.pairs) == 12 - odd
        assert (why_not(file, found, "m") is not None) is refused
